package web_test

import (
	"bytes"
	"compress/gzip"
	"html"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"baoco/app"
)

// unpacked is the body of an answer as a browser reads it.
func (a answer) unpacked(t *testing.T) string {
	t.Helper()
	if a.header.Get("Content-Encoding") != "gzip" {
		return a.body
	}
	r, err := gzip.NewReader(strings.NewReader(a.body))
	must(t, err)
	body, err := io.ReadAll(r)
	must(t, err)
	return string(body)
}

// maxFirstPage is how many bytes the first page may be with all that it loads.
const maxFirstPage = 60 << 10

func TestFirstPageIsSmall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.link("ACB", someAccount)
	for range 10 {
		w.pay(1, itoa(int64(w.rows("transactions"))), strings.Repeat("MBVCB.5482931177.NGUYEN VAN A chuyen tien ", 4))
	}
	b := w.browser().signIn("lan")
	b.header = http.Header{"Accept-Encoding": {"gzip, deflate, br"}, "Sec-Fetch-Site": {"none"}}
	page := b.get("/")
	sum, seen := len(page.body), map[string]bool{}
	t.Logf("/: %d bytes, %d on the way", len(page.unpacked(t)), len(page.body))
	for _, m := range regexp.MustCompile(`"(/static/[^"#]*)`).FindAllStringSubmatch(page.unpacked(t), -1) {
		path := html.UnescapeString(m[1])
		if seen[path] {
			continue
		}
		seen[path] = true
		a := b.get(path)
		a.wantStatus(t, http.StatusOK)
		if a.header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: Vary %q", path, a.header.Get("Vary"))
		}
		t.Logf("%s: %d bytes, %d on the way", path, len(a.unpacked(t)), len(a.body))
		sum += len(a.body)
	}
	t.Logf("all: %d", sum)
	if len(seen) < 5 {
		t.Errorf("the page loads %d files; the test doesn't see them", len(seen))
	}
	if sum > maxFirstPage {
		t.Errorf("the first page is %d bytes with all that it loads, more than %d", sum, maxFirstPage)
	}
}

// A static file is the same whether compressed or not, and has a tag of its own
// either way.
func TestStaticEncodings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tags := map[string]bool{}
	plain := w.do("GET", "/static/app.css", "", "Accept-Encoding", "identity")
	for _, c := range []struct {
		accepts string
		gzip    bool
	}{{"gzip", true}, {"br, GZIP;q=0.5", true}, {"gzip;q=0", false}, {"gzip; q=0.000", false}, {"br", false}, {"identity", false}} {
		a := w.do("GET", "/static/app.css", "", "Accept-Encoding", c.accepts)
		if got := a.header.Get("Content-Encoding") == "gzip"; got != c.gzip || a.unpacked(t) != plain.body {
			t.Errorf("%q: gzip %v, %d bytes", c.accepts, got, len(a.body))
		}
		tag := a.header.Get("ETag")
		tags[tag] = true
		if again := w.do("GET", "/static/app.css", "", "Accept-Encoding", c.accepts, "If-None-Match", tag); again.status != http.StatusNotModified {
			t.Errorf("%q: %d for its own tag", c.accepts, again.status)
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
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	b := w.browser().signIn("lan")
	for _, c := range []struct {
		site, accepts string
		gzip          bool
	}{{"none", "gzip", true}, {"same-origin", "gzip", true}, {"cross-site", "gzip", false}, {"same-site", "gzip", false}, {"", "gzip", false}, {"none", "br", false}} {
		b.header = http.Header{"Accept-Encoding": {c.accepts}}
		if c.site != "" {
			b.header.Set("Sec-Fetch-Site", c.site)
		}
		a := b.get("/transactions")
		if got := a.header.Get("Content-Encoding") == "gzip"; got != c.gzip || !strings.Contains(a.unpacked(t), "</html>") {
			t.Errorf("%+v: gzip %v", c, got)
		}
	}
	b.header = http.Header{"Accept-Encoding": {"gzip"}, "Sec-Fetch-Site": {"same-origin"}}
	if a := b.post("/webhooks", "name", "shop", "webhook_url", "https://shop.vn/x", "type", "ALL"); a.header.Get("Content-Encoding") != "" || !bytes.Contains([]byte(a.body), []byte("whsec_")) {
		t.Errorf("the page with the secret: %d %q", a.status, a.header.Get("Content-Encoding"))
	}
}
