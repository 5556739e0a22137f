// Package docs serves the description of the HTTP interface: the document for programs, and
// pages made from it for people; and the help as Markdown for assistants. Nobody needs a key
// for them, and the pages work without scripts.
package docs

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"sync"

	"baoco/app"
	"baoco/web/dashboard/help"
	"baoco/web/wire"
)

// Server answers with the description of the HTTP interface and the help.
type Server struct {
	responder *wire.Responder
	document  []byte
	lang      app.Lang // used if neither the visitor nor the browser names a language
	english   func() *reference
	viet      func() *reference
	files     sync.Map // by the pageKey of a page, or by name
}

type pageKey struct {
	lang      app.Lang
	operation *operation // nil: the index page
}

// New makes the server of an OpenAPI document in JSON.
func New(responder *wire.Responder, document []byte, lang app.Lang) *Server {
	return &Server{responder: responder, lang: lang, document: document,
		english: sync.OnceValue(func() *reference { return newReference(document, nil, words(app.English)) }),
		viet:    sync.OnceValue(func() *reference { return newReference(document, vietnamese(), words(app.Vietnamese)) })}
}

// Routes are the routes of the description and the help.
func (s *Server) Routes() []wire.Route {
	return []wire.Route{
		{Method: "GET", Path: "/openapi.json", Handler: s.openAPI},
		{Method: "GET", Path: "/docs", Handler: s.index},
		{Method: "GET", Path: "/docs/{operation}", Handler: s.operation},
		{Method: "GET", Path: "/docs/llms.txt", Handler: s.llms},
		{Method: "GET", Path: "/docs/help/{lang}/{page}", Handler: s.help},
	}
}

// openAPI answers with the document. Pages of other sites may read it, since it has nothing of
// the installation.
func (s *Server) openAPI(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	s.serve(w, r, "openapi", func() wire.File { return wire.NewFile("application/json", s.document) })
}

func (s *Server) index(w http.ResponseWriter, r *http.Request) { s.page(w, r, nil) }

func (s *Server) operation(w http.ResponseWriter, r *http.Request) {
	o := s.in(wire.ChosenLang(r, s.lang)).byID[r.PathValue("operation")]
	if o == nil {
		s.responder.WriteError(w, r, wire.ErrNothingHere())
		return
	}
	s.page(w, r, o)
}

func (s *Server) in(lang app.Lang) *reference {
	if lang == app.Vietnamese {
		return s.viet()
	}
	return s.english()
}

// page answers with the page of an operation, or with the index page if o is nil.
func (s *Server) page(w http.ResponseWriter, r *http.Request, o *operation) {
	key := pageKey{wire.ChosenLang(r, s.lang), o}
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("Vary", "Accept-Language")
	s.serve(w, r, key, func() wire.File { return s.newPage(key) })
}

func (s *Server) newPage(key pageKey) wire.File {
	other := app.Vietnamese
	if key.lang == app.Vietnamese {
		other = app.English
	}
	var b bytes.Buffer
	if err := pages.Execute(&b, struct {
		*reference
		Operation *operation
		Lang      app.Lang
		Other     app.Lang
	}{s.in(key.lang), key.operation, key.lang, other}); err != nil {
		panic(err) // the template fits its data
	}
	return wire.NewFile("text/html; charset=utf-8", b.Bytes())
}

// serve answers with a file, which it makes at the first request. There are only some hundred
// keys, so the files need no bound.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, key any, newFile func() wire.File) {
	file, made := s.files.Load(key)
	if !made {
		file, _ = s.files.LoadOrStore(key, newFile())
	}
	w.Header().Set("Referrer-Policy", "no-referrer")
	file.(wire.File).Serve(w, r)
}

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed vi.json
	translations []byte

	pages = template.Must(template.New("").Funcs(template.FuncMap{
		"css":  func() template.CSS { return template.CSS(pageCSS) },
		"list": func(values ...any) []any { return values },
	}).Parse(pageHTML))

	// policy lets the page use its own style.
	policy = "default-src 'none'; style-src " + wire.PolicyDigest(pageCSS) + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// vietnamese is the texts of the document in Vietnamese, by the English texts.
func vietnamese() map[string]string {
	var texts map[string]string
	if err := json.Unmarshal(translations, &texts); err != nil {
		panic(err) // the file is part of the program
	}
	return texts
}

// llms answers with a list of all pages for people, for assistants, by the convention llms.txt.
func (s *Server) llms(w http.ResponseWriter, r *http.Request) {
	s.serve(w, r, "llms.txt", llmsIndex)
}

func llmsIndex() wire.File {
	var b bytes.Buffer
	b.WriteString("# baoco\n\n> Notifies a shop in Vietnam of every bank transaction, from its own server: money comes in, " +
		"is recorded once, and is told by signed webhooks, on a till and by messages.\n\n" +
		"## API\n\n- [OpenAPI](/openapi.json): Every endpoint, field and error.\n" +
		"- [Reference](/docs): The same as pages.\n")
	for _, section := range []struct {
		lang app.Lang
		name string
	}{{app.English, "Help"}, {app.Vietnamese, "Hướng dẫn"}} {
		fmt.Fprintf(&b, "\n## %s\n\n", section.name)
		for _, name := range help.Names() {
			title, _ := help.Title(name, section.lang) // every page exists in both languages
			fmt.Fprintf(&b, "- [%s](/docs/help/%s/%s.md): %s\n", title, section.lang, name, help.Sentence(name, section.lang))
		}
	}
	return wire.NewFile("text/plain; charset=utf-8", b.Bytes())
}

var helpTypes = map[string]string{".md": "text/markdown; charset=utf-8", ".webp": "image/webp"}

// help answers with the Markdown of a page of the help, or with one of its pictures. Nobody
// needs to sign in, since they have nothing of this installation.
func (s *Server) help(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("page")
	data, err := help.File(name, app.Lang(r.PathValue("lang")))
	if err != nil {
		s.responder.WriteError(w, r, wire.ErrNothingHere())
		return
	}
	s.serve(w, r, r.URL.Path, func() wire.File { return wire.NewFile(helpTypes[path.Ext(name)], data) })
}
