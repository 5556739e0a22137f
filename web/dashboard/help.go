package dashboard

import (
	"bytes"
	"cmp"
	"embed"
	"html/template"
	"strings"

	"baoco/app"
	"baoco/web/wire"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// The help is Markdown, one folder for each language, so that it can be read on
// the repository's page as well. Its links are relative, as they must be there.

//go:embed help
var helpFiles embed.FS

// helpPage is a page of the help, in the language of the visitor. The first is the
// one that leads to all others.
func (s *Server) helpPage(v *visit) error {
	name := cmp.Or(v.PathValue("page"), "first-hour")
	title, err := helpTitle(name, v.Lang)
	if err != nil {
		return wire.ErrNothingHere()
	}
	content, err := renderHelp(name, v.Lang)
	if err != nil {
		return err
	}
	data := struct {
		Content   template.HTML
		Receivers []receiver // shown below the page
	}{Content: content}
	if name == "receiver" {
		data.Receivers = receivers(app.Webhook{URL: "https://shop.vn/baoco"}, "", v.Lang)
	}
	return s.render(v, "help", "help", app.Text{EN: title, VI: title}, data)
}

// helpSource is the Markdown of a page.
func helpSource(name string, lang app.Lang) ([]byte, error) {
	return helpFiles.ReadFile("help/" + string(lang) + "/" + name + ".md")
}

// helpTitle is the heading of a page.
func helpTitle(name string, lang app.Lang) (string, error) {
	source, err := helpSource(name, lang)
	line, _, _ := strings.Cut(string(source), "\n")
	return strings.TrimPrefix(line, "# "), err
}

// providerHelp names the page about a kind of source: the one about calls that come
// in, where the kind has none of its own.
func providerHelp(kind app.ProviderKind) string {
	switch kind.Group {
	case app.PhoneApps:
		return "sms"
	case app.OwnPrograms:
		return "own-program"
	}
	name, _, _ := strings.Cut(string(kind.Provider), "-") // casso and casso-v2 share a page
	if _, err := helpSource(name, app.Vietnamese); err != nil {
		return "inbound"
	}
	return name
}

// renderHelp makes HTML of a page. goldmark leaves out HTML that stands in it.
func renderHelp(name string, lang app.Lang) (template.HTML, error) {
	source, err := helpSource(name, lang)
	if err != nil {
		return "", err
	}
	markdown := goldmark.New()
	page := markdown.Parser().Parse(text.NewReader(source))
	_ = ast.Walk(page, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, is := n.(*ast.Link); is && entering {
			link.Destination = helpLink(string(link.Destination))
		}
		return ast.WalkContinue, nil
	})
	var b bytes.Buffer
	err = markdown.Renderer().Render(&b, source, page)
	return template.HTML(b.String()), err
}

// helpLink is where a link of the Markdown leads in the dashboard.
func helpLink(to string) []byte {
	if name, page := strings.CutSuffix(to, ".md"); page {
		return []byte("/help/" + name)
	}
	return []byte(strings.Replace(to, "../../../../testdata/receivers", "#samples", 1)) // these are shown below the page
}
