package web_test

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"baoco/app"
)

// This file has what the tests of the history's pages share.

// moody is a receiver that answers as it is told to, and keeps what it got.
type moody struct {
	url    string
	mu     sync.Mutex
	status int
	body   string
	got    []received
}

type received struct {
	path   string
	header http.Header
	body   string
}

func newMoody(t *testing.T, status int, body string) *moody {
	m := &moody{status: status, body: body}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.got = append(m.got, received{r.URL.RequestURI(), r.Header.Clone(), string(b)})
		w.WriteHeader(m.status)
		_, _ = io.WriteString(w, m.body)
	}))
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

func (m *moody) answers(status int, body string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.status, m.body = status, body
}

func (m *moody) calls() []received {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]received{}, m.got...)
}

// pay records money in on the bank account someAccount and gives the
// transaction's id. id is the provider's.
func (w *world) pay(accountID int64, id, content string) int64 {
	w.t.Helper()
	tr, _, err := w.service.RecordByHand(context.Background(), accountID, app.Incoming{
		EventID: id, Gateway: "ACB", AccountNumber: someAccount, Number: "FT" + id, Type: app.In, Amount: 1549000, Content: content, Time: time.Now(),
	}, []byte("{}"), app.IdempotencyKey{}, time.Now())
	must(w.t, err)
	return tr.ID
}

// attempts are those of an account, newest first, once there are n.
func (w *world) attempts(accountID int64, n int) (list []app.Attempt) {
	w.t.Helper()
	eventually(w.t, fmt.Sprintf("%d attempts", n), func() bool {
		var err error
		list, _, err = w.service.History(context.Background(), accountID, app.HistoryFilter{Page: app.Page{Number: 1, Size: 100}})
		must(w.t, err)
		return len(list) >= n
	})
	return list
}

// exhaust makes the attempts that are left of a webhook's deliveries at once;
// all of them fail.
func (w *world) exhaust(webhookID int64, r app.Result) {
	w.t.Helper()
	ctx := context.Background()
	for {
		due, err := w.service.Due(ctx, webhookID, time.Now().Add(24*time.Hour), nil, 100, true)
		must(w.t, err)
		if len(due) == 0 {
			return
		}
		for _, o := range due {
			r.StartedAt = time.Now()
			_, err := w.service.Settle(ctx, o, r)
			must(w.t, err)
		}
	}
}

var serverError = app.Result{Duration: 142 * time.Millisecond, StatusCode: 500, Error: app.ErrorHTTPStatus, Body: []byte("Fatal error"), Phases: app.Phases{DNS: 2e6, Connect: 5e6, Wait: 135e6}}

// preText is the text of an element of a page, as a browser reads it.
func preText(t *testing.T, page, id string) string {
	t.Helper()
	found := regexp.MustCompile(`(?s)<pre id="` + id + `"[^>]*>(.*?)</pre>`).FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("there is no %s on the page:\n%s", id, page)
	}
	return html.UnescapeString(found[1])
}

// formFields are the hidden fields of the form that posts to a path.
func formFields(t *testing.T, page, path string) (pairs []string) {
	t.Helper()
	_, form, found := strings.Cut(page, `method="post" action="`+path+`"`)
	form, _, ends := strings.Cut(form, "</form>")
	if !found || !ends {
		t.Fatalf("no form posts to %s:\n%s", path, page)
	}
	for _, f := range regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`).FindAllStringSubmatch(form, -1) {
		pairs = append(pairs, f[1], html.UnescapeString(f[2]))
	}
	return pairs
}
