// Package docs serves the description of the HTTP interface: the document for programs, and
// pages made from it for people. Nobody needs a key for them, and the pages work without
// scripts.
package docs

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"net/http"
	"sync"

	"baoco/app"
	"baoco/web/wire"
)

// Server answers with the description of the HTTP interface.
type Server struct {
	responder *wire.Responder
	document  func() wire.File
	lang      app.Lang // where neither the visitor nor the browser names one
	english   func() *reference
	viet      func() *reference
	pages     sync.Map // files, by pageKey
}

type pageKey struct {
	lang      app.Lang
	operation *operation // nil: the page that leads to all
}

// New makes the server of an OpenAPI document in JSON.
func New(responder *wire.Responder, document []byte, lang app.Lang) *Server {
	return &Server{responder: responder, lang: lang,
		document: sync.OnceValue(func() wire.File { return wire.NewFile("application/json", document) }),
		english:  sync.OnceValue(func() *reference { return newReference(document, nil, words(app.English)) }),
		viet:     sync.OnceValue(func() *reference { return newReference(document, vietnamese(), words(app.Vietnamese)) })}
}

// Routes is the table as the mux takes it.
func (s *Server) Routes() []wire.Route {
	return []wire.Route{
		{Method: "GET", Path: "/openapi.json", Handler: s.openAPI},
		{Method: "GET", Path: "/docs", Handler: s.index},
		{Method: "GET", Path: "/docs/{operation}", Handler: s.operation},
	}
}

// openAPI answers pages of other sites too: it holds nothing of the installation.
func (s *Server) openAPI(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Referrer-Policy", "no-referrer")
	s.document().Serve(w, r)
}

func (s *Server) index(w http.ResponseWriter, r *http.Request) { s.page(w, r, nil) }

func (s *Server) operation(w http.ResponseWriter, r *http.Request) {
	o := s.in(s.langOf(r)).byID[r.PathValue("operation")]
	if o == nil {
		s.responder.WriteError(w, r, wire.ErrNothingHere())
		return
	}
	s.page(w, r, o)
}

// langOf is the language of a page: that of the address, of the browser, or of the server.
func (s *Server) langOf(r *http.Request) app.Lang {
	switch chosen := app.Lang(r.URL.Query().Get("lang")); chosen {
	case app.English, app.Vietnamese:
		return chosen
	}
	return wire.AcceptedLang(r, s.lang)
}

func (s *Server) in(lang app.Lang) *reference {
	if lang == app.Vietnamese {
		return s.viet()
	}
	return s.english()
}

// page writes the page of an operation, or the one that leads to all where that is nil. It is made
// when it is asked for first.
func (s *Server) page(w http.ResponseWriter, r *http.Request, o *operation) {
	key := pageKey{s.langOf(r), o}
	file, made := s.pages.Load(key)
	if !made {
		file, _ = s.pages.LoadOrStore(key, s.newPage(key))
	}
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Vary", "Accept-Language")
	file.(wire.File).Serve(w, r)
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

	// policy lets the page use what stands in it.
	policy = "default-src 'none'; style-src 'sha256-" + styleDigest() + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

func styleDigest() string {
	sum := sha256.Sum256([]byte(pageCSS))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// vietnamese is the texts of the document in Vietnamese, by the English ones.
func vietnamese() map[string]string {
	var texts map[string]string
	if err := json.Unmarshal(translations, &texts); err != nil {
		panic(err) // it is a part of the program
	}
	return texts
}
