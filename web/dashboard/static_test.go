package dashboard_test

import (
	"bytes"
	"html"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/web/webtest"
)

// maxFirstPage is how many bytes the first page may be with all that it loads.
const maxFirstPage = 60 << 10

func TestFirstPageIsSmall(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	for range 10 {
		w.Pay(1, itoa(int64(w.Rows("transactions"))), strings.Repeat("MBVCB.5482931177.NGUYEN VAN A chuyen tien ", 4))
	}
	b := w.Browser().SignIn("lan")
	b.Header = http.Header{"Accept-Encoding": {"gzip, deflate, br"}, "Sec-Fetch-Site": {"none"}}
	page := b.Get("/")
	sum, seen := len(page.Body), map[string]bool{}
	t.Logf("/: %d bytes, %d on the way", len(page.Unpacked(t)), len(page.Body))
	for _, m := range regexp.MustCompile(`"(/static/[^"#]*)`).FindAllStringSubmatch(page.Unpacked(t), -1) {
		path := html.UnescapeString(m[1])
		if seen[path] {
			continue
		}
		seen[path] = true
		a := b.Get(path)
		a.WantStatus(t, http.StatusOK)
		if a.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: Vary %q", path, a.Header.Get("Vary"))
		}
		t.Logf("%s: %d bytes, %d on the way", path, len(a.Unpacked(t)), len(a.Body))
		sum += len(a.Body)
	}
	t.Logf("all: %d", sum)
	if len(seen) < 5 {
		t.Errorf("the page loads %d files; the test doesn't see them", len(seen))
	}
	if sum > maxFirstPage {
		t.Errorf("the first page is %d bytes with all that it loads, more than %d", sum, maxFirstPage)
	}
}

// TestOldBrowsers: tablets and phones that get no newer browser than Safari 15 or Chrome
// 102 have none of these.
func TestOldBrowsers(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("static/*.js")
	apptest.Must(t, err)
	for _, file := range append(files, "../pay/page.js") {
		if strings.Contains(file, "htmx") {
			continue
		}
		script, err := os.ReadFile(file)
		apptest.Must(t, err)
		for _, missing := range []string{
			"AbortSignal.timeout(", "AbortSignal.any(", "structuredClone(", "findLast(", "toSorted(", "toReversed(", "Object.groupBy(",
			"Promise.withResolvers(", "Array.fromAsync(", "showPopover(", "(?<=", "(?<!", "static {", ".at(", "Object.hasOwn(",
			"checkVisibility(",
		} {
			if bytes.Contains(script, []byte(missing)) {
				t.Errorf("%s uses %s", file, missing)
			}
		}
		if n := bytes.Count(script, []byte("requestSubmit(")); n != bytes.Count(script, []byte("if (form.requestSubmit)")) {
			t.Errorf("%s uses requestSubmit where it may be missing", file)
		}
	}
	// A rule for several elements isn't applied to any where one of its selectors isn't known.
	for _, file := range []string{"static/app.css", "static/counter.css", "static/slip.css", "../pay/page.css"} {
		style, err := os.ReadFile(file)
		apptest.Must(t, err)
		for _, rule := range regexp.MustCompile(`[^{}/]*:has\([^{}]*\{`).FindAllString(string(style), -1) {
			for inner := regexp.MustCompile(`\([^()]*\)`); inner.MatchString(rule); {
				rule = inner.ReplaceAllString(rule, "")
			}
			if strings.Contains(rule, ",") {
				t.Errorf("%s has :has() among other selectors: %s", file, strings.TrimSpace(rule))
			}
		}
	}
}

// A static file is the same whether compressed or not, and has a tag of its own
// either way.
func TestStaticEncodings(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	tags := map[string]bool{}
	plain := w.Do("GET", "/static/app.css", "", "Accept-Encoding", "identity")
	for _, c := range []struct {
		accepts string
		gzip    bool
	}{{"gzip", true}, {"br, GZIP;q=0.5", true}, {"gzip;q=0", false}, {"gzip; q=0.000", false}, {"br", false}, {"identity", false}} {
		a := w.Do("GET", "/static/app.css", "", "Accept-Encoding", c.accepts)
		if got := a.Header.Get("Content-Encoding") == "gzip"; got != c.gzip || a.Unpacked(t) != plain.Body {
			t.Errorf("%q: gzip %v, %d bytes", c.accepts, got, len(a.Body))
		}
		tag := a.Header.Get("ETag")
		tags[tag] = true
		if again := w.Do("GET", "/static/app.css", "", "Accept-Encoding", c.accepts, "If-None-Match",
			tag); again.Status != http.StatusNotModified {
			t.Errorf("%q: %d for its own tag", c.accepts, again.Status)
		}
	}
	if len(tags) != 2 {
		t.Errorf("tags %v, want one for each encoding", tags)
	}
}

// A page is compressed for its visitor, never because another site asked for
// it, and never as the answer to a form.
func TestPageEncodings(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	for _, c := range []struct {
		site, accepts string
		gzip          bool
	}{{"none", "gzip", true}, {"same-origin", "gzip", true}, {"cross-site", "gzip", false}, {"same-site", "gzip", false}, {"", "gzip", false},
		{"none", "br", false}} {
		b.Header = http.Header{"Accept-Encoding": {c.accepts}}
		if c.site != "" {
			b.Header.Set("Sec-Fetch-Site", c.site)
		}
		a := b.Get("/transactions")
		if got := a.Header.Get("Content-Encoding") == "gzip"; got != c.gzip || !strings.Contains(a.Unpacked(t), "</html>") {
			t.Errorf("%+v: gzip %v", c, got)
		}
	}
	b.Header = http.Header{"Accept-Encoding": {"gzip"}, "Sec-Fetch-Site": {"same-origin"}}
	if a := b.Submit("/webhooks", "name", "shop", "webhook_url", "https://shop.vn/x", "type", "ALL"); a.Header.Get("Content-Encoding") != "" ||
		!bytes.Contains([]byte(a.Body), []byte("whsec_")) {
		t.Errorf("the page with the secret: %d %q", a.Status, a.Header.Get("Content-Encoding"))
	}
}
