package web_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/web"
)

// endless is a body without end, of one form field, that counts what is read of
// it.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	if e.read == 0 {
		copy(p, "name=")
	}
	e.read += len(p)
	return len(p), nil
}

// timed is an answer for which times can be set, and mean nothing.
type timed struct{ *httptest.ResponseRecorder }

func (timed) SetReadDeadline(time.Time) error  { return nil }
func (timed) SetWriteDeadline(time.Time) error { return nil }

// TestEveryBodyIsBounded sends every action a body without end.
func TestEveryBodyIsBounded(t *testing.T) {
	t.Parallel()
	w := newStillWorld(t)
	w.user(1, "lan", app.RoleOwner)
	key := w.apiKey(app.ScopeFull)
	h := web.New(web.Config{Service: w.service, Limit: 1000})
	session := from(h, "192.0.2.1:1", "POST", "/login", "name=lan&password="+strings.ReplaceAll(somePassword, " ", "+"), "Content-Type", "application/x-www-form-urlencoded")
	session.goes(t, "/")
	cookie, _, _ := strings.Cut(session.cookie("baoco"), ";")
	var actions []string
	for _, route := range web.Routes(w.service) {
		if !strings.HasPrefix(route, "GET ") {
			actions = append(actions, route)
		}
	}
	if len(actions) < 60 {
		t.Fatalf("there are only %d actions", len(actions))
	}
	open := []string{"/login", "/logout", "/setup/1", "/look"}
	const spare = 4 << 10 // what a reader takes at once beyond what it needs
	for _, action := range actions {
		method, path, _ := strings.Cut(regexp.MustCompile(`\{[a-z]+\}`).ReplaceAllString(action, "1"), " ")
		body := &endless{}
		request := httptest.NewRequest(method, path, io.NopCloser(body))
		request.Header.Set("Cookie", cookie)
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		most, refused := 64<<10, http.StatusRequestEntityTooLarge
		switch {
		case slices.Contains(open, path):
			most = 8 << 10 // anybody can send it
		case strings.HasPrefix(path, "/api/v1/"):
			request.Header.Set("Authorization", "Bearer "+key)
			request.Header.Set("Content-Type", "application/json")
			refused = 0 // where a body is ignored, it isn't read
		case strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/bank/"):
			most, refused = 1<<20, http.StatusUnauthorized
		case path == "/tools/signature":
			most, refused = 300<<10, http.StatusUnprocessableEntity
		case path == "/transactions/import":
			most, refused = 0, http.StatusUnprocessableEntity // it isn't multipart
		}
		recorder := httptest.NewRecorder()
		h.ServeHTTP(timed{recorder}, request)
		if body.read > most+spare || refused != 0 && recorder.Code != refused {
			t.Errorf("%s %s: %d bytes are read, answered %d", method, path, body.read, recorder.Code)
		}
		if refused == 0 && body.read > 0 && recorder.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("%s %s: %d after %d bytes", method, path, recorder.Code, body.read)
		}
	}
}

// TestCutForm: a form that ends too early isn't one with empty fields, which
// would switch a webhook off.
func TestCutForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	hook, _ := w.webhook("http://127.0.0.1:1/", app.WebhookIn)
	b := w.browser().signIn("lan")
	path := "/webhooks/1/toggle"
	for _, body := range []string{strings.Repeat("x", 64<<10) + "=1&active=1", "active=1%"} {
		request, err := http.NewRequest("POST", b.base+path, strings.NewReader(body))
		must(t, err)
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		response, err := b.client.Do(request)
		must(t, err)
		response.Body.Close()
		if response.StatusCode < 400 {
			t.Errorf("a form that can't be read: %d", response.StatusCode)
		}
	}
	if got, err := w.service.Webhook(t.Context(), 1, hook.ID); err != nil || !got.IsActive {
		t.Errorf("the webhook is active: %v, %v", got.IsActive, err)
	}
}

// TestOneRouteForAMethodAndPath: a second one would never be reached.
func TestOneRouteForAMethodAndPath(t *testing.T) {
	t.Parallel()
	refused := func(routes ...string) (refused bool) {
		defer func() { refused = recover() != nil }()
		web.MuxOf(routes...)
		return false
	}
	if refused("GET /a", "POST /a", "GET /b") {
		t.Error("different routes are refused")
	}
	if !refused("GET /a", "POST /a", "GET /a") {
		t.Error("the same route twice isn't refused")
	}
}
