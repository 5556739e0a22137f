package webtest

import (
	"bufio"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app/apptest"
)

type event struct{ name, ID, Data string }

// Listener is an open stream of events.
type Listener struct {
	t      testing.TB
	Status int
	Events chan event // closed once the stream has ended
	Stop   context.CancelFunc
}

func (b *Browser) Listen(path string, header ...string) *Listener {
	b.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	b.t.Cleanup(stop)
	request, err := http.NewRequestWithContext(ctx, "GET", b.Base+path, nil)
	apptest.Must(b.t, err)
	maps.Copy(request.Header, apptest.Header(header))
	response, err := b.Client.Do(request)
	apptest.Must(b.t, err)
	l := &Listener{b.t, response.StatusCode, make(chan event, 100), stop}
	go func() {
		defer close(l.Events)
		defer response.Body.Close()
		var e event
		lines := bufio.NewScanner(response.Body)
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "event":
				e.name = value
			case "id":
				e.ID = value
			case "data":
				e.Data += strings.ReplaceAll(value, "&#43;", "+") // html/template escapes it
			case "":
				l.Events <- e
				e = event{}
			}
		}
	}()
	return l
}

// Next returns the next event of a name, and skips other events. The test ends at the event
// ended, unless it is the name.
func (l *Listener) Next(name string) event { l.t.Helper(); return l.All(name)[0] }

// All returns the next event of each name. They may come in any order.
func (l *Listener) All(names ...string) []event {
	l.t.Helper()
	found := make([]event, len(names))
	timeout := time.After(30 * time.Second)
	for slices.ContainsFunc(found, func(e event) bool { return e.name == "" }) {
		select {
		case e, open := <-l.Events:
			i := slices.Index(names, e.name)
			switch {
			case !open || e.name == "ended" && i < 0:
				l.t.Fatalf("the stream ended before %v", names)
			case i >= 0 && found[i].name == "":
				found[i] = e
			}
		case <-timeout:
			l.t.Fatalf("not all of %v within 30 s", names)
		}
	}
	return found
}
