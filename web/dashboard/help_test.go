package dashboard_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"baoco/app/access"
	"baoco/app/delivery"
	"baoco/app/provider"
	"baoco/app/stream"
	"baoco/web/webtest"
)

var (
	markdownHeading = regexp.MustCompile(`(?m)^#+ `)
	markdownLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	markdownCode    = regexp.MustCompile("(?m)^    .*$|`[^`]*`")
	markdownItalic  = regexp.MustCompile(`(?:^|[^*])\*([^*\n]+)\*(?:[^*]|$)`)
	shownPicture    = regexp.MustCompile(`<img src="(/docs/[^"]+)" alt="([^"]*)"`)
	shownLink       = regexp.MustCompile(`href="([^"]+)"`)
)

// helpPages are the names of the pages in Vietnamese.
func helpPages(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("help/vi/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".md"))
	}
	return names
}

func markdownFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Both languages have the same pages, with the same headings and links. What a
// page writes in italics stands so in the dashboard.
func TestHelpFiles(t *testing.T) {
	t.Parallel()
	names := helpPages(t)
	if files, err := filepath.Glob("help/en/*.md"); err != nil || len(files) != len(names) {
		t.Errorf("%d pages in English, %d in Vietnamese, %v", len(files), len(names), err)
	}
	var said strings.Builder
	for _, pattern := range []string{"*.go", "templates/*/*.html", "../../app/*.go", "../../app/*/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				said.WriteString(markdownFile(t, file))
			}
		}
	}
	overview := markdownFile(t, "help/vi/first-hour.md")
	for _, name := range names {
		vi, en := markdownFile(t, "help/vi/"+name+".md"), markdownFile(t, "help/en/"+name+".md")
		for what, pattern := range map[string]*regexp.Regexp{"headings": markdownHeading, "links": markdownLink} {
			a, b := pattern.FindAllString(vi, -1), pattern.FindAllString(en, -1)
			if !slices.Equal(a, b) {
				t.Errorf("%s: the %s differ: %q in Vietnamese, %q in English", name, what, a, b)
			}
		}
		for lang, text := range map[string]string{"vi": vi, "en": en} {
			for _, italic := range markdownItalic.FindAllStringSubmatch(markdownCode.ReplaceAllString(text, ""), -1) {
				if !strings.Contains(said.String(), `"`+italic[1]+`"`) {
					t.Errorf("%s/%s: nothing in the dashboard is named %q", lang, name, italic[1])
				}
			}
		}
		if name != "first-hour" && !strings.Contains(overview, "("+name+".md)") {
			t.Errorf("first-hour doesn't lead to %s", name)
		}
	}
}

// The links lead to files where the Markdown is read as files: on the
// repository's page.
func TestMarkdownLinks(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"help/*/*.md", "../../README.md", "../../.github/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %q, %v", pattern, found, err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		for _, link := range markdownLink.FindAllStringSubmatch(markdownFile(t, file), -1) {
			if strings.HasPrefix(link[1], "https://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), link[1])); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// Every picture that a page shows is there in its language, small enough for a telephone, and
// says what it shows. There is no other.
func TestHelpPictures(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleCashier)
	b := w.Browser().SignIn("lan")
	files, err := filepath.Glob("help/*/*.webp")
	if err != nil || len(files) < 6 {
		t.Fatalf("%q, %v", files, err)
	}
	shown := map[string]bool{}
	for _, lang := range []string{"vi", "en"} {
		b.Post("/look", "lang", lang)
		for _, name := range helpPages(t) {
			for _, picture := range shownPicture.FindAllStringSubmatch(b.Get("/help/"+name).Body, -1) {
				file := strings.TrimPrefix(picture[1], "/docs/")
				a := b.Get(picture[1])
				switch {
				case a.Status != http.StatusOK || a.Header.Get("Content-Type") != "image/webp" || a.Body != markdownFile(t, file):
					t.Errorf("%s/%s: %s: %d %v", lang, name, picture[1], a.Status, a.Header)
				case len(a.Body) > 60<<10:
					t.Errorf("%s has %d bytes", file, len(a.Body))
				case !strings.HasPrefix(file, "help/"+lang) || picture[2] == "":
					t.Errorf("%s/%s shows %s as %q", lang, name, file, picture[2])
				}
				shown[file] = true
			}
		}
	}
	for _, file := range files {
		if !shown[file] {
			t.Errorf("no page shows %s", file)
		}
	}
}

// A viewer reads every page in both languages, and its links lead on.
func TestHelpPages(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleCashier)
	b := w.Browser().SignIn("lan")
	for _, lang := range []string{"vi", "en"} {
		b.Post("/look", "lang", lang)
		for _, name := range helpPages(t) {
			a := b.Get("/help/" + name)
			a.WantStatus(t, http.StatusOK)
			_, article, _ := strings.Cut(a.Body, "<article")
			article, _, _ = strings.Cut(article, "</article>")
			heading, _, _ := strings.Cut(markdownFile(t, "help/"+lang+"/"+name+".md"), "\n")
			if strings.Contains(article, "|--") {
				t.Errorf("%s/%s: a table is shown as it is written", lang, name)
			}
			if !strings.Contains(article, "<h1>"+strings.TrimPrefix(heading, "# ")+"</h1>") {
				t.Errorf("%s/%s isn't headed %q", lang, name, heading)
			}
			if strings.Contains(article, "raw HTML omitted") {
				t.Errorf("%s/%s has HTML in it", lang, name)
			}
			for _, link := range shownLink.FindAllStringSubmatch(article, -1) {
				switch {
				case strings.HasPrefix(link[1], "/help/"):
					b.Get(link[1]).WantStatus(t, http.StatusOK)
				case strings.HasPrefix(link[1], "#"):
					if !strings.Contains(a.Body, `id="`+link[1][1:]+`"`) {
						t.Errorf("%s/%s: nothing is at %s", lang, name, link[1])
					}
				case !strings.HasPrefix(link[1], "https://"):
					t.Errorf("%s/%s: %s leads nowhere", lang, name, link[1])
				}
			}
		}
	}
	if a, first := b.Get("/help"), b.Get("/help/first-hour"); !strings.Contains(a.Body, "<h1>The first hour</h1>") ||
		!strings.Contains(first.Body, "<h1>The first hour</h1>") {
		t.Error("/help isn't the first hour")
	}
	for _, path := range []string{"/help/none", "/help/first-hour.md", "/help/..%2Fvi%2Fsms", "/help/%00"} {
		b.Get(path).WantStatus(t, http.StatusNotFound)
	}
}

// Where somebody stops to think, a link leads to the page about it.
func TestHelpAtHand(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	created := b.Post("/webhooks", "once", webtest.FormKey(), "name", "shop", "webhook_url", "https://shop.vn/", "type", "IN")
	created.Shows(t, `href="/help/receiver"`)
	added := b.Post("/inbound/sources", "once", webtest.FormKey(), "provider", "casso-v2", "name", "Casso")
	added.Shows(t, `href="/help/casso"`)
	for path, names := range map[string][]string{
		"/webhooks/1": {"receiver"}, "/inbound/sources/1": {"casso"}, "/settings/alerts": {"alerts"}, "/system": {"backup", "upgrade", "replica"},
		"/settings": {"counter", "users", "install"}, "/transactions/import": {"statement"}, "/transactions?q=nothing": {"search"},
		"/inbound/refused": {"inbound"},
		"/tools/signature": {"receiver-401"}, "/keys": {"api"}, "/streams": {"streams"},
	} {
		for _, name := range names {
			b.Get(path).Shows(t, `href="/help/`+name+`"`)
		}
	}
	for _, kind := range provider.Kinds { // each has its own page, not the one about calls in general
		a := b.Get("/inbound/sources/new?provider=" + string(kind.Provider))
		if !strings.Contains(a.Body, `href="/help/`) || strings.Contains(a.Body, `href="/help/inbound"`) {
			t.Errorf("the form of %s leads to no page about it", kind.Provider)
		}
	}
}

// Each form at which somebody stops to think has a link to its help.
func TestFormsLinkToHelp(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Webhook("https://shop.vn/", delivery.WebhookAll)
	w.Sends(w.Native(), `{}`)
	w.Stream(stream.Create{})
	b := w.Browser().SignIn("lan")
	for path, page := range map[string]string{
		"/webhooks/new": "receiver", "/webhooks/1/rotate": "receiver", "/webhooks/1/replay": "delivery", "/tools/signature": "receiver-401",
		"/streams/new": "streams", "/streams/1": "streams", "/streams/1/edit": "streams", "/streams/1/rotate": "streams",
		"/banks/new": "first-hour", "/inbound/sources/new": "first-hour", "/inbound/sources/new?provider=sepay": "sepay",
		"/inbound/sources/1/rotate": "own-program", "/inbound/events/1": "inbound",
		"/transactions/import": "statement", "/settings/alerts": "alerts", "/keys": "api", "/settings": "users", "/system": "backup",
	} {
		b.Get(path).Shows(t, `<a class="to-help" href="/help/`+page+`">`)
	}
}

// The help is searched without accents, in the language of the visitor; a page that has
// the words in its title comes first.
func TestHelpSearch(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleCashier)
	b := w.Browser().SignIn("lan")
	found := func(query string) (list []string) {
		for _, m := range regexp.MustCompile(`<li><a class="to-help" href="/help/([^"]*)"`).FindAllStringSubmatch(
			b.Get("/help?q="+url.QueryEscape(query)).Body, -1) {
			list = append(list, m[1])
		}
		return list
	}
	if list := found("  COUNTER   screen "); len(list) < 2 || list[0] != "counter" {
		t.Errorf("found %v", list)
	}
	b.Get("/help?q=zzzz").Shows(t, "No page has these words.", `value="zzzz"`)
	b.Get("/help?q="+strings.Repeat("a", 101)).Hides(t, "No page has these words.")
	b.Post("/look", "lang", "vi", "back", "/help")
	if list := found("man hinh quay"); len(list) < 2 || list[0] != "counter" {
		t.Errorf("without accents: %v", list)
	}
}
