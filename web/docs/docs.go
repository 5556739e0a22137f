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
	"strconv"
	"sync"

	"baoco/app"
	"baoco/web/wire"
)

// Server answers with the description of the HTTP interface.
type Server struct {
	responder *wire.Responder
	document  []byte
	lang      app.Lang // where neither the visitor nor the browser names one
	english   func() *reference
	viet      func() *reference
}

// New makes the server of an OpenAPI document in JSON.
func New(responder *wire.Responder, document []byte, lang app.Lang) *Server {
	return &Server{responder, document, lang,
		sync.OnceValue(func() *reference { return newReference(document, nil, words(app.English)) }),
		sync.OnceValue(func() *reference { return newReference(document, vietnamese(), words(app.Vietnamese)) })}
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
	s.write(w, "application/json", s.document)
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

// page writes the page of an operation, or the one that leads to all where that is nil.
func (s *Server) page(w http.ResponseWriter, r *http.Request, o *operation) {
	lang, other := s.langOf(r), app.Vietnamese
	if lang == app.Vietnamese {
		other = app.English
	}
	var b bytes.Buffer
	if err := pages.Execute(&b, struct {
		*reference
		Operation *operation
		Lang      app.Lang
		Other     app.Lang
	}{s.in(lang), o, lang, other}); err != nil {
		panic(err) // the template fits its data
	}
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("Vary", "Accept-Language")
	s.write(w, "text/html; charset=utf-8", b.Bytes())
}

func (s *Server) write(w http.ResponseWriter, contentType string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	_, _ = w.Write(body)
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
