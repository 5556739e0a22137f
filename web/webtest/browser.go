package webtest

import (
	"bytes"
	"context"
	cryptorand "crypto/rand"
	"io"
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

	"baoco/app"
	"baoco/app/apptest"
	"baoco/web"
)

const SomePassword = "mật khẩu rất dài"

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
	return &Browser{w.T, w.URL, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, http.Header{}}
}

func (b *Browser) Send(method, path string, form url.Values) Answer {
	b.t.Helper()
	request, err := http.NewRequest(method, b.Base+path, strings.NewReader(form.Encode()))
	apptest.Must(b.t, err)
	for name, values := range b.Header {
		request.Header[name] = values
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := b.Client.Do(request)
	apptest.Must(b.t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	apptest.Must(b.t, err)
	return Answer{response.StatusCode, response.Header, string(body)}
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

// Goes checks that an answer sends the browser on.
func (a Answer) Goes(t testing.TB, to string) {
	t.Helper()
	if a.Status != http.StatusSeeOther || a.Header.Get("Location") != to {
		t.Errorf("%d to %q, want 303 to %q\n%s", a.Status, a.Header.Get("Location"), to, a.Body)
	}
}

func (w *World) User(accountID int64, name string, role app.Role) app.User {
	w.T.Helper()
	u, err := w.Service.CreateUser(context.Background(), accountID, app.UserCreate{Name: name, Password: SomePassword, Role: role}, time.Now())
	apptest.Must(w.T, err)
	return u
}

func (b *Browser) SignIn(name string) *Browser {
	b.t.Helper()
	b.Post("/login", "name", name, "password", SomePassword).Goes(b.t, "/")
	return b
}

// Cookie is the Set-Cookie of a name; empty where there is none.
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

// Submit posts a form that counts once, as if it was shown just now.
func (b *Browser) Submit(path string, pairs ...string) Answer {
	b.t.Helper()
	return b.Post(path, append([]string{"once", FormKey()}, pairs...)...)
}

// FormKey is the key of a form that is shown now.
func FormKey() string { return strconv.FormatInt(time.Now().Unix(), 10) + "-" + cryptorand.Text() }

var OnceField = regexp.MustCompile(`name="once" value="([^"]+)"`)

// Once is the key of the form on a page.
func (b *Browser) Once(path string) string {
	b.t.Helper()
	found := OnceField.FindStringSubmatch(b.Get(path).Body)
	if found == nil {
		b.t.Fatalf("%s has no form that is sent once", path)
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
	request, err := http.NewRequest("POST", b.Base+path, &body)
	apptest.Must(b.t, err)
	for name, values := range b.Header {
		request.Header[name] = values
	}
	request.Header.Set("Content-Type", form.FormDataContentType())
	response, err := b.Client.Do(request)
	apptest.Must(b.t, err)
	defer response.Body.Close()
	answered, err := io.ReadAll(response.Body)
	apptest.Must(b.t, err)
	return Answer{response.StatusCode, response.Header, string(answered)}
}

// Sum is the hidden field by which the second form names the file of the first.
func (a Answer) Sum(t testing.TB) string {
	t.Helper()
	m := regexp.MustCompile(`name="sum" value="([0-9a-f]{64}-\d*)"`).FindStringSubmatch(a.Body)
	if m == nil {
		t.Fatalf("%d, nothing to confirm\n%s", a.Status, a.Body)
	}
	return m[1]
}

// SecondAccount makes another customer.
func (w *World) SecondAccount() int64 {
	w.T.Helper()
	a, err := w.Service.CreateAccount(context.Background(), "second", time.Now())
	apptest.Must(w.T, err)
	return a.ID
}

func (b *Browser) SignInWith(name, password string) Answer {
	return b.Post("/login", "name", name, "password", password)
}

var secretText = regexp.MustCompile(`<pre id="secret"[^>]*>([^<]+)</pre>`)

// Secret is what a page shows once.
func (a Answer) Secret(t testing.TB) string {
	t.Helper()
	found := secretText.FindStringSubmatch(a.Body)
	if found == nil {
		t.Fatalf("%d: nothing is shown once\n%s", a.Status, a.Body)
	}
	return found[1]
}

// Serving is a server as serve starts it.
func (w *World) Serving(in app.Installation) *Browser {
	w.T.Helper()
	server := httptest.NewServer(web.New(web.Config{Service: w.Service, Version: "1.2.3", Installation: in}))
	w.T.Cleanup(server.Close)
	b := w.Browser()
	b.Base = server.URL
	return b
}
