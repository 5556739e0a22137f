package api_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/services"
	"baoco/web"
	"baoco/web/webtest"
)

// eventReader reads the stream as a library for server-sent events does.
type eventReader struct {
	url, key string
	opened   func()   // is called when a stream begins
	last     string   // the id to come back with
	ids      []string // of the events
}

// read reads until ctx ends, until most events have come, or the stream ends.
func (r *eventReader) read(ctx context.Context, most int) error {
	request, err := http.NewRequestWithContext(ctx, "GET", r.url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+r.key)
	if r.last != "" {
		request.Header.Set("Last-Event-ID", r.last)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("answered %s", response.Status)
	}
	r.opened()
	lines := bufio.NewScanner(response.Body)
	id, data := r.last, ""
	for most > 0 && lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			id = value
		case "data":
			data = value
		case "":
			if lines.Text() != "" {
				continue // a comment
			}
			if r.last = id; data != "" {
				r.ids, data = append(r.ids, id), ""
				most--
			}
		}
	}
	return lines.Err()
}

// A reader whose connection is cut again and again, while several sources, people and
// processes record at once, gets each transaction once, in order, as who asks for the
// list with since_id.
func TestEventStreamIsCut(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	began := make(chan struct{})
	r := &eventReader{url: w.Serve(web.Config{Limit: 1_000_000}).Base + eventStream, key: w.APIKey(access.ScopeRead),
		opened: sync.OnceFunc(func() { close(began) })}
	const each = 120
	var recording sync.WaitGroup
	for _, s := range []inbound.Source{w.Native(), w.Native(), w.Sepay()} {
		recording.Go(func() {
			<-began
			for n := range each {
				x := apptest.Transfer{ID: strconv.Itoa(1000*int(s.ID) + n), Number: fmt.Sprint("FT", s.ID, n), Amount: 1000 * s.ID}
				body := apptest.Batch(x.Native())
				if s.Provider == "sepay" {
					body = x.Sepay()
				}
				if a, err := w.Send("POST", s.URLPath(), body, apptest.Credentials(s, body, time.Now())...); err != nil || a.Status != http.StatusOK {
					t.Errorf("a call: %v %d %s", err, a.Status, a.Body)
				}
			}
		})
	}
	for name, service := range map[string]*services.All{"here": w.Services, "there": w.Admin()} {
		recording.Go(func() {
			<-began
			for n := range each {
				_, _, err := service.Inbound.RecordByHand(t.Context(), 1, inbound.TransactionCreate{Incoming: inbound.Incoming{
					EventID: fmt.Sprint(name, n), Gateway: "ACB", AccountNumber: apptest.SomeAccount, Type: app.Out, Amount: 1, Time: time.Now(),
				}}, time.Now())
				if err != nil {
					t.Errorf("recorded %s: %v", name, err)
				}
			}
		})
	}
	cuts := 0
	for ; cuts < 20 || len(r.ids) < 5*each; cuts++ {
		if cuts > 1000 {
			t.Fatalf("after %d connections only %d of %d transactions", cuts, len(r.ids), 5*each)
		}
		if cuts == 0 {
			apptest.Must(t, r.read(t.Context(), 1))
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(300))*time.Millisecond)
		_ = r.read(ctx, random.IntN(40)) // it is cut
		cancel()
	}
	recording.Wait()
	var listed []string
	for {
		since := "0"
		if len(listed) > 0 {
			since = listed[len(listed)-1]
		}
		var page struct{ Transactions []struct{ ID string } }
		w.API("GET", "/api/v1/transactions?per_page=100&since_id="+since, "", http.StatusOK, &page)
		if len(page.Transactions) == 0 {
			break
		}
		for _, one := range page.Transactions {
			listed = append(listed, one.ID)
		}
	}
	if len(listed) != 5*each || !slices.Equal(r.ids, listed) {
		t.Errorf("%d connections brought %d events, the list has %d; they differ: %v %v", cuts, len(r.ids), len(listed), r.ids, listed)
	}
	t.Logf("%d connections", cuts)
}

// A reader who was away gets everything, quickly. Streams in which nothing happens cost
// little.
func TestEventStreamsCostLittle(t *testing.T) {
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	source, rows := w.Native(), 0
	for range apptest.Rounds(5, 100) {
		var call []string
		for range 1000 {
			rows++
			call = append(call, apptest.Transfer{ID: strconv.Itoa(rows)}.Native())
		}
		w.Wants(webtest.Counts{Recorded: len(call)}, source, apptest.Batch(call...))
	}
	key := w.APIKey(access.ScopeRead)
	r := &eventReader{url: w.URL + eventStream + "?since_id=0", key: key, opened: func() {}}
	began := time.Now()
	apptest.Must(t, r.read(t.Context(), rows))
	if !slices.IsSortedFunc(r.ids, func(a, b string) int { x, _ := strconv.Atoi(a); y, _ := strconv.Atoi(b); return x - y }) ||
		len(r.ids) != rows || r.last != strconv.Itoa(rows) {
		t.Errorf("%d events, the last %s", len(r.ids), r.last)
	}
	t.Logf("%d events in %v", rows, time.Since(began))

	const streams = 50
	before := inUse()
	ctx, hangUp := context.WithCancel(t.Context())
	var open sync.WaitGroup
	for range streams {
		request, err := http.NewRequestWithContext(ctx, "GET", w.URL+eventStream, nil)
		apptest.Must(t, err)
		request.Header.Set("Authorization", "Bearer "+key)
		response, err := http.DefaultClient.Do(request)
		apptest.Must(t, err)
		open.Go(func() { _, _ = io.Copy(io.Discard, response.Body); response.Body.Close() })
	}
	cost := (inUse() - before) / streams
	hangUp()
	open.Wait()
	if t.Logf("%d bytes a stream, with its client", cost); cost > 100<<10 {
		t.Errorf("a stream costs %d bytes", cost)
	}
}

// inUse is the memory of heap and stacks.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
