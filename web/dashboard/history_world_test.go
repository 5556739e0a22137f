package dashboard_test

import (
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"baoco/app/delivery"
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

var serverError = delivery.Result{Duration: 142 * time.Millisecond, StatusCode: 500, Error: delivery.ErrorHTTPStatus,
	Body: []byte("Fatal error"), Phases: delivery.Phases{DNS: 2e6, Connect: 5e6, Wait: 135e6}}

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
