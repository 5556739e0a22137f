package web_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/web"
	"baoco/web/api"
	"baoco/web/webtest"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
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
	w := webtest.NewStillWorld(t)
	w.User(1, "lan", access.RoleOwner)
	key := w.APIKey(access.ScopeFull)
	h := web.New(web.Config{Services: w.Services, Limit: 1000})
	session := webtest.From(h, "192.0.2.1:1")("POST", "/login", "name=lan&password="+strings.ReplaceAll(apptest.SomePassword, " ", "+"),
		"Content-Type", "application/x-www-form-urlencoded")
	session.Goes(t, "/")
	cookie, _, _ := strings.Cut(session.Cookie("baoco"), ";")
	var actions []string
	for _, route := range web.Routes(w.Services) {
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
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	hook, _ := w.Webhook("http://127.0.0.1:1/", delivery.WebhookIn)
	b := w.Browser().SignIn("lan")
	path := "/webhooks/1/toggle"
	for _, body := range []string{strings.Repeat("x", 64<<10) + "=1&active=1", "active=1%"} {
		request, err := http.NewRequest("POST", b.Base+path, strings.NewReader(body))
		apptest.Must(t, err)
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		response, err := b.Client.Do(request)
		apptest.Must(t, err)
		response.Body.Close()
		if response.StatusCode < 400 {
			t.Errorf("a form that can't be read: %d", response.StatusCode)
		}
	}
	if got, err := w.Services.Deliveries.Webhook(t.Context(), 1, hook.ID); err != nil || !got.IsActive {
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

func TestOpenAPIHasEveryRoute(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI("test"))
	apptest.Must(t, err)
	described := map[string]bool{}
	w := webtest.NewWorld(t)
	for path, item := range doc.Paths.Map() {
		var methods []string
		for method := range item.Operations() {
			described[method+" "+path] = true
			if methods = append(methods, method); method == "GET" {
				methods = append(methods, "HEAD")
			}
		}
		slices.Sort(methods)
		a, err := w.Send("OPTIONS", strings.NewReplacer("{id}", "1", "{token}", "x").Replace(path), "")
		apptest.Must(t, err)
		if got := a.Header.Get("Allow"); got != strings.Join(methods, ", ") {
			t.Errorf("%s answers to %s, not to %s", path, got, methods)
		}
	}
	served := map[string]bool{}
	for _, route := range web.Routes(w.Services) {
		_, path, _ := strings.Cut(route, " ")
		if strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/bank/") || path == "/healthz" || path == "/readyz" {
			served[route] = true
		}
	}
	if diff := cmp.Diff(served, described); diff != "" {
		t.Errorf("what is served (-) and openapi.yaml (+) differ:\n%s", diff)
	}
}

// A panic behind the first byte breaks the connection: a part of an answer must
// not look like a whole one.
func TestPanicBehindTheFirstByte(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before func(w http.ResponseWriter)
		status int // 0: the connection breaks
	}{
		"before it":        {func(http.ResponseWriter) {}, http.StatusInternalServerError},
		"after the header": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusOK) }, 0},
		"after a byte":     {func(w http.ResponseWriter) { _, _ = w.Write([]byte("a part")) }, 0},
	} {
		server := httptest.NewUnstartedServer(web.Outermost(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			test.before(w)
			panic("a fault")
		})))
		server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
		server.Start()
		status, text := 0, []byte(nil)
		response, err := http.Get(server.URL)
		if err == nil {
			if text, err = io.ReadAll(response.Body); err == nil {
				status = response.StatusCode
			}
		}
		if status != test.status || test.status == 0 && bytes.Contains(text, []byte("code")) {
			t.Errorf("%s: %d %s %v", name, status, text, err)
		}
		server.Close()
	}
}
