package provider_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/command"
	"baoco/app/provider"
	"baoco/app/services"
	"baoco/scheduler"
	"baoco/web"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestProviderIsOneFile: a provider that is one file (madeup_test.go) and one
// line is in the command line, the API, the dashboard and in catching up. It
// changes Kinds, so it doesn't run beside other tests.
func TestProviderIsOneFile(t *testing.T) {
	before := provider.Kinds
	t.Cleanup(func() { provider.Kinds = before })
	provider.Kinds = append(slices.Clone(before), provider.MadeUp) // the one line

	last := string(before[len(before)-1].Provider)

	ctx := context.Background()
	var asked []string
	poller := scheduler.NewPoller(nil, time.UTC, "test", roundTrip(func(r *http.Request) (*http.Response, error) {
		asked = append(asked, r.URL.String()+" "+r.Header.Get("Authorization"))
		body := `{"paid":[{"id":"1","account":"19354957","bank":"ACB","vnd":5000,"at":"2026-11-20 10:00:00"},{"id":"2","account":"19354957"` +
			`,"bank":"ACB","vnd":"7000"}]}`
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}))
	w := apptest.Open(t, apptest.NewFile(t), services.Config{Poll: poller.Poll})
	t.Cleanup(w.Close)
	w.Link("ACB", "19354957")

	// The command line.
	run := func(args ...string) string {
		t.Helper()
		var out, stderr bytes.Buffer
		if code := command.Run(ctx, append([]string{"baoco"}, args...), strings.NewReader("made-up-key\n"), &out, &stderr); code != 0 {
			t.Fatalf("%q: exit %d: %s", args, code, &stderr)
		}
		return out.String()
	}
	help := run("source", "add", "--help")
	for _, want := range []string{last + " or made-up", "bearer or apikey (made-up)", "(sepay, casso, casso-v2, made-up)"} {
		if !strings.Contains(help, want) {
			t.Errorf("the help of source add lacks %q", want)
		}
	}
	added := run("source", "add", "--db", w.Path, "--provider", "made-up", "--name", "mine", "--api-key-file", "-", "-o", "json")
	var source struct {
		ID      int64
		URLPath string `json:"url_path"`
		Secret  string
	}
	apptest.Must(t, json.Unmarshal([]byte(added), &source))
	if shown := run("source", "show", "--db", w.Path, "1"); !strings.Contains(shown, "Open made-up.example.") {
		t.Errorf("source show lacks the set-up: %s", shown)
	}

	server := httptest.NewServer(web.New(web.Config{Services: w.Services}))
	t.Cleanup(server.Close)
	jar, err := cookiejar.New(nil)
	apptest.Must(t, err)
	client := &http.Client{Jar: jar, Timeout: time.Minute}
	do := func(method, path, contentType, body, authorization string) string {
		t.Helper()
		r, err := http.NewRequest(method, server.URL+path, strings.NewReader(body))
		apptest.Must(t, err)
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		answer, err := client.Do(r)
		apptest.Must(t, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		apptest.Must(t, err)
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("%s %s: %d %s", method, path, answer.StatusCode, text)
		}
		return string(text)
	}
	wants := func(what, text string, list ...string) {
		t.Helper()
		for _, want := range list {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q", what, want)
			}
		}
	}

	// Its call, and the API.
	wants("the answer to a call", do("POST", source.URLPath, "application/json",
		`{"paid":[{"id":"1","account":"19354957","bank":"ACB","vnd":5000,"at":"2026-11-20 10:00:00"}]}`, "Bearer "+source.Secret), `"recorded":1`)
	_, key, err := w.Services.Access.CreateAPIKey(ctx, 1, access.APIKeyCreate{Name: "test", Scope: access.ScopeFull}, time.Now())
	apptest.Must(t, err)
	wants("the API's list of sources", do("GET", "/api/v1/sources", "", "", "Bearer "+key), `"provider":"made-up"`)
	document := run("openapi")
	wants("the description of the API", document, `"`+last+`", "made-up"]`)

	// Catching up: what the call told is known.
	caught, err := w.Services.Inbound.CatchUpSource(ctx, 1, source.ID, time.Now())
	apptest.Must(t, err)
	if caught.Recorded != 1 || caught.Duplicates != 1 {
		t.Errorf("caught up: %+v", caught)
	}
	if want := []string{"https://made-up.example/v9/list?after= Key made-up-key"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}

	// The dashboard: its group, its form, its set-up and its name.
	const password = "correct horse battery"
	_, err = w.Services.Access.CreateUser(ctx, 1, access.UserCreate{Name: "lan", Password: password, Role: access.RoleOwner}, time.Now())
	apptest.Must(t, err)
	do("POST", "/login", "application/x-www-form-urlencoded", url.Values{"name": {"lan"}, "password": {password}}.Encode(), "")
	kinds := do("GET", "/inbound/sources/new", "", "", "")
	gateways, _, _ := strings.Cut(kinds[strings.Index(kinds, "Payment gateways"):], "</section>")
	wants("the dashboard's payment gateways", gateways, "Made-Up Pay", "made-up.example, all accounts", "provider=made-up")
	wants("the form of a source", do("GET", "/inbound/sources/new?provider=made-up", "", "", ""), "Add source: Made-Up Pay")
	wants("the page of a source", do("GET", "/inbound/sources/1", "", "", ""), "Made-Up Pay", "Enter this URL.")
}
