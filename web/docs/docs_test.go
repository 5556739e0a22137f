package docs_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"baoco/web/api"
	"baoco/web/webtest"
)

// document is what of an OpenAPI document the pages show.
type document struct {
	Tags  []struct{ Name, Description string }
	Paths map[string]map[string]json.RawMessage
}

// Programs get the document without a key, whatever site their page is of.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	a, err := w.Send("GET", "/openapi.json", "")
	if err != nil || a.Status != http.StatusOK || a.Body != string(api.OpenAPIJSON("dev")) && a.Body != string(api.OpenAPIJSON("test")) {
		t.Fatalf("%d, %d bytes: %v", a.Status, len(a.Body), err)
	}
	if a.Header.Get("Access-Control-Allow-Origin") != "*" || a.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%v", a.Header)
	}
}

// The document and its pages are compressed where that is asked for, and not sent again to whoever has them.
func TestPagesAreSentOnce(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	for _, path := range []string{"/openapi.json", "/docs", "/docs/listTransactions?lang=vi"} {
		plain := w.Do("GET", path, "", "Accept-Encoding", "identity")
		packed := w.Do("GET", path, "", "Accept-Encoding", "br, gzip")
		if packed.Header.Get("Content-Encoding") != "gzip" || packed.Unpacked(t) != plain.Body || len(packed.Body) > len(plain.Body)/2 {
			t.Errorf("%s: %d bytes of %d, %v", path, len(packed.Body), len(plain.Body), packed.Header)
		}
		for _, a := range []webtest.Answer{plain, packed} {
			tag := a.Header.Get("ETag")
			again := w.Do("GET", path, "", "If-None-Match", tag, "Accept-Encoding", cmp.Or(a.Header.Get("Content-Encoding"), "identity"))
			if tag == "" || again.Status != http.StatusNotModified || again.Body != "" {
				t.Errorf("%s: %d to the tag %q", path, again.Status, tag)
			}
		}
		if plain.Header.Get("ETag") == packed.Header.Get("ETag") {
			t.Errorf("%s has the same tag for other bytes", path)
		}
	}
	if en, vi := w.Do("GET", "/docs?lang=en", ""), w.Do("GET", "/docs?lang=vi", ""); en.Header.Get("ETag") == vi.Header.Get("ETag") {
		t.Error("both languages have the same tag")
	}
}

// Each operation has a page, with its fields, that the first page leads to.
func TestReference(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	page := func(path string, header ...string) string {
		t.Helper()
		a, err := w.Send("GET", path, "", header...)
		if err != nil || a.Status != http.StatusOK {
			t.Fatalf("%s: %d %v", path, a.Status, err)
		}
		a.Hides(t, "<script", "ZgotmplZ", "%!")
		return a.Body
	}
	first := page("/docs")
	if !strings.Contains(first, `href="/docs/llms.txt"`) || !strings.Contains(page("/docs/llms.txt"), "(/docs)") {
		t.Error("the reference and the help don't lead to each other")
	}
	var d document
	if err := json.Unmarshal(api.OpenAPIJSON("dev"), &d); err != nil {
		t.Fatal(err)
	}
	n := 0
	for path, methods := range d.Paths {
		for method, raw := range methods {
			var o struct{ OperationID, Summary string }
			if json.Unmarshal(raw, &o) != nil || o.OperationID == "" {
				continue
			}
			n++
			if !strings.Contains(first, `href="/docs/`+o.OperationID+`?lang=en"`) {
				t.Errorf("/docs doesn't lead to %s", o.OperationID)
			}
			if got := page("/docs/" + o.OperationID); !strings.Contains(got, "<b>"+strings.ToUpper(method)+"</b> <code>"+path+"</code>") {
				t.Errorf("%s: no %s %s", o.OperationID, method, path)
			}
		}
	}
	if n < 60 {
		t.Errorf("%d operations", n)
	}
	created := page("/docs/createWebhook")
	for _, part := range []string{"An API key of scope full. 300 requests a minute", "<code>webhook_url</code>",
		"&#34;IN&#34; | &#34;OUT&#34; | &#34;ALL&#34;",
		"<code>webhook.bank_account_id</code>", "≤ 2048 characters", "<h3>201</h3>", "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="} {
		if !strings.Contains(created, part) {
			t.Errorf("createWebhook: no %s", part)
		}
	}
	// What is said of a schema is also said where it may be null.
	for _, part := range []string{"a shop that was made for SePay", "Its own headers, by their names: at most five"} {
		if !strings.Contains(created, part) {
			t.Errorf("createWebhook doesn't say %q", part)
		}
	}
	if strings.Contains(page("/docs/getHealth"), "An API key") {
		t.Error("getHealth asks for a key")
	}
	viet := page("/docs/createWebhook?lang=vi")
	if !strings.Contains(viet, `<html lang="vi">`) || !strings.Contains(viet, "Khoá API có phạm vi full. 300 lần gọi mỗi phút") {
		t.Error("the page is not in Vietnamese")
	}
	if !strings.Contains(page("/docs", "Accept-Language", "vi"), `<html lang="vi">`) {
		t.Error("the browser's language is not taken")
	}
	if a, err := w.Send("GET", "/docs/nothing", ""); err != nil || a.Status != http.StatusNotFound {
		t.Errorf("an unknown operation: %d %v", a.Status, err)
	}
}

// Assistants find every page of the help, in both languages, with a sentence about it. Whoever
// has a page already isn't sent it again.
func TestHelpForAssistants(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	index, err := w.Send("GET", "/docs/llms.txt", "")
	if err != nil || index.Status != http.StatusOK || index.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Fatalf("%d %v: %v", index.Status, index.Header, err)
	}
	files, err := filepath.Glob("../dashboard/help/??/*.md")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		path := "/docs" + strings.TrimPrefix(file, "../dashboard")
		title, _, _ := strings.Cut(strings.TrimPrefix(string(want), "# "), "\n")
		line := regexp.MustCompile(`(?m)^- ` + regexp.QuoteMeta("["+title+"]("+path+")") + `: \pL.{10,300}[.?!:]$`)
		if !line.MatchString(index.Body) {
			t.Errorf("no line about %s", path)
		}
		page, err := w.Send("GET", path, "")
		if err != nil || page.Body != string(want) || page.Header.Get("Content-Type") != "text/markdown; charset=utf-8" {
			t.Errorf("%s: %d %v", path, page.Status, err)
		}
		again, err := w.Send("GET", path, "", "If-None-Match", page.Header.Get("ETag"))
		if err != nil || again.Status != http.StatusNotModified {
			t.Errorf("%s again: %d %v", path, again.Status, err)
		}
	}
	for _, path := range []string{"/docs/help/en/nothing.md", "/docs/help/en/install", "/docs/help/fr/install.md",
		"/docs/help/en/..%2fvi%2finstall.md"} {
		if a, err := w.Send("GET", path, ""); err != nil || a.Status != http.StatusNotFound {
			t.Errorf("%s: %d %v", path, a.Status, err)
		}
	}
}

// Every text of the document has its Vietnamese, and there is no other.
func TestTranslations(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("vi.json")
	if err != nil {
		t.Fatal(err)
	}
	var texts map[string]string
	if err := json.Unmarshal(file, &texts); err != nil {
		t.Fatal(err)
	}
	var d any
	if err := json.Unmarshal(api.OpenAPIJSON("dev"), &d); err != nil {
		t.Fatal(err)
	}
	var look func(v any, name string)
	look = func(v any, name string) {
		switch v := v.(type) {
		case map[string]any:
			for key, value := range v {
				if key != "example" && key != "examples" {
					look(value, key)
				}
			}
		case []any:
			for _, value := range v {
				look(value, "")
			}
		case string:
			if name != "description" && name != "summary" {
				return
			}
			english := strings.TrimSpace(v)
			if texts[english] == "" {
				t.Errorf("vi.json has no %q", english)
			}
			texts[english] = "-" // it is used
		}
	}
	look(d, "")
	for _, tag := range d.(map[string]any)["tags"].([]any) {
		texts[tag.(map[string]any)["name"].(string)] = "-"
	}
	for english, text := range texts {
		if text != "-" {
			t.Errorf("the document has no %q", english)
		}
	}
}
