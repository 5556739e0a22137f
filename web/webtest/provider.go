package webtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/web"

	"github.com/google/go-cmp/cmp"
)

// Sends makes a call of a source, like its provider.
func (w *World) Sends(s inbound.Source, body string) Answer {
	w.T.Helper()
	return w.Do("POST", s.URLPath(), body, apptest.Credentials(s, body, time.Now())...)
}

// Counts are the counts in the answer to an accepted call.
type Counts struct {
	Recorded, Duplicates, Unassigned, Conflicts, Rejected int
	MayRepeat                                             int `json:"may_be_repeat"`
}

var (
	Recorded   = Counts{Recorded: 1}
	Duplicate  = Counts{Duplicates: 1}
	Unassigned = Counts{Unassigned: 1}
	Conflict   = Counts{Conflicts: 1}
	Rejected   = Counts{Rejected: 1}
)

// CountsOf returns the counts of a recording.
func CountsOf(r inbound.Recording) Counts {
	return Counts{r.Recorded, r.Duplicates, r.Unassigned, r.Conflicts, r.Rejected, r.MayBeRepeats}
}

func (a Answer) Counts(t testing.TB) Counts {
	t.Helper()
	var got struct {
		Success, Status *bool
		Messages        string
		Counts
	}
	if err := json.Unmarshal([]byte(a.Body), &got); err != nil || a.Status != http.StatusOK || got.Success == nil || !*got.Success ||
		got.Status == nil || !*got.Status || got.Messages == "" {
		t.Fatalf("not an accepted call: %d %s", a.Status, a.Body)
	}
	return got.Counts
}

// Wants makes a call and checks the counts in the answer.
func (w *World) Wants(want Counts, s inbound.Source, body string) {
	w.T.Helper()
	if got := w.Sends(s, body).Counts(w.T); got != want {
		w.T.Errorf("got %+v, want %+v, for %.300s", got, want, body)
	}
}

// Names sends one transfer in the source's format and checks the counts in the answer.
func (w *World) Names(want Counts, s inbound.Source, x apptest.Transfer) {
	w.T.Helper()
	body := apptest.Batch(x.Native())
	if s.Provider == "sepay" {
		body = x.Sepay()
	}
	w.Wants(want, s, body)
}

// Peers returns the same installation with a listener that takes the client's address from
// the header X-Test-Peer.
func (w *World) Peers() *World {
	handler := web.New(web.Config{Services: w.Services})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if peer := r.Header.Get("X-Test-Peer"); peer != "" {
			r.RemoteAddr = peer + ":4711"
		}
		handler.ServeHTTP(rw, r)
	}))
	w.T.Cleanup(server.Close)
	other := *w
	other.URL = server.URL
	return &other
}

// Peer returns the n-th address of a client; at most 30 failing calls from one address are
// answered 401.
func Peer(n int) string { return fmt.Sprintf("198.51.%d.%d", n/250, n%250+1) }

// shop is a receiver that answers 200 and keeps the transactions that it received.
type shop struct {
	URL      string
	mu       sync.Mutex
	received []string // path and transaction id
}

func NewShop(t testing.TB) *shop {
	s := &shop{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body struct{ Transactions []struct{ ID string } }
		b, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(b, &body)
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, x := range body.Transactions {
			s.received = append(s.received, r.URL.Path+" "+x.ID)
		}
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

func (s *shop) Heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(slices.Values(s.received))
}

// Waits waits for deliveries, and checks that the shop received exactly want, each once, and
// that no other delivery was queued.
func (s *shop) Waits(w *World, want ...string) {
	w.T.Helper()
	if n := w.Rows("deliveries"); n != len(want) {
		w.T.Errorf("%d deliveries were queued, want %d", n, len(want))
	}
	w.Until("deliveries", func() bool { return len(s.Heard()) >= len(want) })
	if diff := cmp.Diff(slices.Sorted(slices.Values(want)), s.Heard(),
		cmp.Transformer("", func(l []string) []string { return append([]string{}, l...) })); diff != "" {
		w.T.Errorf("deliveries (-want +got):\n%s", diff)
	}
}

// WantsRefusal makes a native call that can't be read, and checks the refusal.
func (w *World) WantsRefusal(s inbound.Source, body string, status int, code app.Code, field string) {
	w.T.Helper()
	a := w.Sends(s, body)
	v := a.JSON(w.T)
	if a.Status != status || v["code"] != string(code) || v["status"] != false || v["messages"] == "" {
		w.T.Errorf("%.100q: %d %s, want %d %s", body, a.Status, a.Body, status, code)
	}
	errors, _ := v["errors"].(map[string]any)
	if message, _ := errors[field].(string); field != "" && message == "" {
		w.T.Errorf("%.100q: %s, want an error of %s", body, a.Body, field)
	}
}

// Texts forwards a text like the phone of a source, and checks the counts in the answer.
func (w *World) Texts(want Counts, s inbound.Source, x apptest.PhoneText) {
	w.T.Helper()
	body := map[app.Provider]func() string{
		"capcom6": x.Capcom6, "sms-to-url": x.SMSToURL, "smsforwarder": func() string { return x.Forwarder(s, time.Now()).Encode() },
	}[s.Provider]()
	w.Wants(want, s, body)
}

// API makes a request of the management API with a key of full scope and reads
// the answer into v.
func (w *World) API(method, path, body string, status int, v any) {
	w.T.Helper()
	a := w.Do(method, path, body, "Authorization", "Bearer "+w.APIKey(access.ScopeFull))
	if a.Status != status {
		w.T.Fatalf("%s %s %s: %d %s, want %d", method, path, body, a.Status, a.Body, status)
	}
	if v != nil {
		apptest.Must(w.T, json.Unmarshal([]byte(a.Body), v))
	}
}

// Tallies reads every event again, and checks that the outcomes of its elements add up to
// the counts from when it was recorded.
func (w *World) Tallies() {
	w.T.Helper()
	for _, e := range w.Events() {
		list, _ := w.Reads(e.ID)
		var r inbound.Recording
		for _, s := range list {
			r.Add(s.State, 0)
		}
		got, want := CountsOf(r), Counts{e.Recorded, e.Duplicates, e.Unassigned, e.Conflicts, e.Rejected, int(e.OpenBy.MayBeRepeats)}
		if got != want {
			w.T.Errorf("event %d is read as %+v and was counted as %+v", e.ID, got, want)
		}
	}
}
