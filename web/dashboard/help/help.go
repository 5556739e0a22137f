// Package help has the pages of the help. They are Markdown, in one folder for each
// language, so that they can be read in the repository too. For that their links are
// relative.
package help

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"baoco/app"
	"baoco/app/fold"
	"baoco/app/inbound"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

//go:embed vi en
var files embed.FS

// File returns a page or a picture by its name in the folder of a language, or an error if
// there is no such file.
func File(name string, lang app.Lang) ([]byte, error) {
	return files.ReadFile(string(lang) + "/" + name)
}

// First is the page that leads to all others.
const First = "first-hour"

// Source returns the Markdown of a page, or an error if there is no such page.
func Source(name string, lang app.Lang) ([]byte, error) {
	return File(name+".md", lang)
}

// Names lists the names of all pages.
func Names() (list []string) {
	pages, _ := fs.Glob(files, "en/*.md") // the pattern is valid
	for _, page := range pages {
		list = append(list, strings.TrimSuffix(path.Base(page), ".md"))
	}
	return list
}

var (
	prose = regexp.MustCompile(`(?m)^\pL.*?(?:[.?!](?: |$)|$)`)
	links = regexp.MustCompile(`\[([^]]*)]\([^)]*\)`)
)

// Sentence is the first sentence of a page, without its links.
func Sentence(name string, lang app.Lang) string {
	markdown, _ := Source(name, lang)
	return strings.TrimSpace(links.ReplaceAllString(prose.FindString(string(markdown)), "$1"))
}

// Title returns the heading of a page, or the error of Source.
func Title(name string, lang app.Lang) (string, error) {
	markdown, err := Source(name, lang)
	line, _, _ := strings.Cut(string(markdown), "\n")
	return strings.TrimPrefix(line, "# "), err
}

// Search names the pages that have every word of query, with or without accents. Pages
// whose title has them come first. It is empty for a query without words.
func Search(query string, lang app.Lang) (list []string) {
	words := strings.Fields(fold.String(query))
	if len(words) == 0 {
		return nil
	}
	has := func(text string) bool {
		text = fold.String(text)
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
	}
	var others []string
	for _, name := range Names() {
		markdown, _ := Source(name, lang)
		if title, _ := Title(name, lang); has(title) {
			list = append(list, name)
		} else if has(string(markdown)) {
			others = append(others, name)
		}
	}
	return append(list, others...)
}

// OfProvider names the page about a kind of source, or the page about inbound calls if the kind
// has no page of its own.
func OfProvider(kind inbound.ProviderKind) string {
	switch kind.Group {
	case inbound.PhoneApps:
		return "sms"
	case inbound.OwnPrograms:
		return "own-program"
	}
	name, _, _ := strings.Cut(string(kind.Provider), "-") // casso and casso-v2 share a page
	if _, err := Source(name, app.Vietnamese); err != nil {
		return "inbound"
	}
	return name
}

// Render makes HTML of a page. goldmark leaves out HTML in the page.
func Render(name string, lang app.Lang) (template.HTML, error) {
	page, err := Source(name, lang)
	if err != nil {
		return "", err
	}
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table))
	tree := markdown.Parser().Parse(text.NewReader(page))
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Link:
			if entering {
				n.Destination = destination(string(n.Destination))
			}
		case *ast.Image:
			if entering {
				n.Destination = fmt.Appendf(nil, "/docs/help/%s/%s", lang, n.Destination)
			}
		}
		return ast.WalkContinue, nil
	})
	var b bytes.Buffer
	err = markdown.Renderer().Render(&b, page, tree)
	return template.HTML(b.String()), err
}

// destination is the address in the dashboard of a link of the Markdown.
func destination(to string) []byte {
	if name, page := strings.CutSuffix(to, ".md"); page {
		return []byte("/help/" + name)
	}
	return []byte(strings.Replace(to, "../../../../testdata/receivers", "#samples", 1)) // the page shows the samples at its end
}
