package webtest

import (
	"bytes"
	cryptorand "crypto/rand"
	"html"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/web"
)

// Browser is a visitor of the dashboard, with cookies and without scripts.
type Browser struct {
	t      testing.TB
	Base   string
	Client *http.Client
	Header http.Header // sent with every request
}

func (w *World) Browser() *Browser {
	w.T.Helper()
	jar, err := cookiejar.New(nil)
	apptest.Must(w.T, err)
	return &Browser{w.T, w.URL, &http.Client{Jar: jar, Timeout: time.Minute, Transport: client.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, http.Header{}}
}

func (b *Browser) Send(method, path string, form url.Values) Answer {
	b.t.Helper()
	contentType := ""
	if form != nil {
		contentType = "application/x-www-form-urlencoded"
	}
	return b.send(method, path, contentType, strings.NewReader(form.Encode()))
}

func (b *Browser) send(method, path, contentType string, body io.Reader) Answer {
	b.t.Helper()
	request, err := http.NewRequest(method, b.Base+path, body)
	apptest.Must(b.t, err)
	maps.Copy(request.Header, b.Header)
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	a, err := answered(b.Client.Do(request))
	apptest.Must(b.t, err)
	return a
}

func (b *Browser) Get(path string) Answer { b.t.Helper(); return b.Send("GET", path, nil) }

func (b *Browser) Post(path string, pairs ...string) Answer {
	b.t.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return b.Send("POST", path, form)
}

// Goes checks that an answer redirects the browser to a URL.
func (a Answer) Goes(t testing.TB, to string) {
	t.Helper()
	if a.Status != http.StatusSeeOther || a.Header.Get("Location") != to {
		t.Errorf("%d to %q, want 303 to %q\n%s", a.Status, a.Header.Get("Location"), to, a.Body)
	}
}

func (b *Browser) SignIn(name string) *Browser {
	b.t.Helper()
	b.Post("/login", "name", name, "password", apptest.SomePassword).Goes(b.t, "/")
	return b
}

// Cookie returns the Set-Cookie header of a name; empty: none.
func (a Answer) Cookie(name string) string {
	for _, c := range a.Header.Values("Set-Cookie") {
		if strings.HasPrefix(c, name+"=") {
			return c
		}
	}
	return ""
}

func (a Answer) WantStatus(t testing.TB, status int) {
	t.Helper()
	if a.Status != status {
		t.Errorf("%d, want %d\n%s", a.Status, status, a.Body)
	}
}

// Submit posts a form that can be sent once, as if it had just been shown.
func (b *Browser) Submit(path string, pairs ...string) Answer {
	b.t.Helper()
	return b.Post(path, append([]string{"once", FormKey()}, pairs...)...)
}

// FormKey returns the key of a form that is shown now.
func FormKey() string { return strconv.FormatInt(time.Now().Unix(), 10) + "-" + cryptorand.Text() }

var onceField = regexp.MustCompile(`name="once" value="([^"]+)"`)

// Once gets a page and returns the key of its form.
func (b *Browser) Once(path string) string { b.t.Helper(); return b.Get(path).Once(b.t) }

// Once returns the key of the form on a page; if it has no form, the test ends.
func (a Answer) Once(t testing.TB) string {
	t.Helper()
	found := onceField.FindStringSubmatch(a.Body)
	if found == nil {
		t.Fatalf("%d, no form that counts once\n%s", a.Status, a.Body)
	}
	return found[1]
}

// Upload sends a form with a file.
func (b *Browser) Upload(path, name, file string, pairs ...string) Answer {
	b.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i := 0; i < len(pairs); i += 2 {
		apptest.Must(b.t, form.WriteField(pairs[i], pairs[i+1]))
	}
	if name != "" {
		part, err := form.CreateFormFile("file", name)
		apptest.Must(b.t, err)
		_, err = io.WriteString(part, file)
		apptest.Must(b.t, err)
	}
	apptest.Must(b.t, form.Close())
	return b.send("POST", path, form.FormDataContentType(), &body)
}

// Serve starts another server over the same services, and returns a browser for it.
func (w *World) Serve(config web.Config) *Browser {
	w.T.Helper()
	config.Services = w.Services
	server := httptest.NewServer(web.New(config))
	w.T.Cleanup(server.Close)
	b := w.Browser()
	b.Base = server.URL
	return b
}

// Hides checks that a page contains none of texts.
func (a Answer) Hides(t testing.TB, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(a.Body, text) {
			t.Errorf("%d, the page says %q\n%s", a.Status, text, a.Body)
		}
	}
}

// Shows checks that a page contains all of texts.
func (a Answer) Shows(t testing.TB, texts ...string) {
	t.Helper()
	page := html.UnescapeString(a.Body)
	for _, text := range texts {
		if !strings.Contains(page, text) {
			t.Errorf("%d, the page does not say %q\n%s", a.Status, text, a.Body)
		}
	}
}
