package dashboard

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/payer"
	"baoco/app/payment"
	"baoco/web/dashboard/help"
	"baoco/web/wire"
)

// view is what every template gets.
type view struct {
	words
	faults
	Theme    string // light or dark; empty: the browser decides
	Title    string
	Section  string // the section of the navigation
	Path     string // see pathBack
	User     access.User
	Account  app.Account
	Owner    bool // may change everything
	Operator bool
	Only     string // see visit.only
	Flash    string
	Guide    bool   // the forms lead back to the guide
	Live     string // position of the page, if it is live
	Version  string
	Data     any
	Inner    template.HTML // the page, for the layout

	formVersion string // see FormVersion
}

func (v view) ShopName(product string) string { return v.Account.ShopName(product) }

// TabTitle is the title without the isolation of names, which tabs show as boxes.
func (v view) TabTitle() string {
	return strings.NewReplacer("\u2068", "", "\u2069", "").Replace(v.Title)
}

func (s *Server) view(v *visit, section string, title app.Text, data any) view {
	page := view{
		formVersion: v.formVersion,
		words:       v.words, Theme: chosenTheme(v.Request), Title: title.In(v.Lang), Section: section, Path: v.pathBack(),
		User: v.user, Account: v.account, Owner: v.may(ownerOnly), Operator: v.operator(), Only: v.only, Flash: s.takeFlash(v),
		Guide: v.inGuide(), Version: s.Version, Data: data,
	}
	if v.live {
		page.Live = s.position(v.newest)
	}
	return page
}

// May reports whether the visitor has a permission. It returns an error if p is no permission.
func (v view) May(p permission) (bool, error) {
	if !slices.Contains(granted[access.RoleOwner], p) {
		return false, fmt.Errorf("no permission is called %q", p)
	}
	return may(v.User.Role, p), nil
}

// pageHead is the head of a page: its template, page-<name>, its section of the navigation,
// and its title.
type pageHead struct {
	name, section string
	title         app.Text
}

// render writes a page within the layout. wrong is why the form that was sent, or the
// filter in the address, is refused; nil: it isn't. The page says why, with the status
// of wrong. If wrong is an error of the server, render returns it.
func (s *Server) render(v *visit, wrong error, head pageHead, data any) error {
	if errors.Is(wrong, app.ErrFormUsed) {
		return s.redirect(v, v.form.page, app.ErrFormUsed.Text)
	}
	f, status, err := refusedForm(wrong, v.Lang)
	if err != nil {
		return err
	}
	if step := s.stepOf(head.name); step != "" && v.inGuide() {
		return s.showGuide(v, step, data, wrong)
	}
	page := s.view(v, head.section, head.title, data)
	page.faults = f
	return s.layOut(v, status, head.name, page)
}

// refusedForm returns what is wrong with a form, and the status of its page. If wrong is an
// error of the server, it returns wrong.
func refusedForm(wrong error, lang app.Lang) (f faults, status int, _ error) {
	if wrong == nil {
		return f, http.StatusOK, nil
	}
	e := wire.AsError(wrong)
	if status = wire.StatusOf(e.Code); status >= 500 {
		return f, status, wrong
	}
	return faultsOf(e, lang), status, nil
}

// layOut writes a page within the layout.
func (s *Server) layOut(v *visit, status int, name string, page view) (err error) {
	if page.Inner, err = s.showPart(page, "page-"+name, page.Data); err != nil {
		return err
	}
	return s.write(v, status, "layout", page)
}

// partView is what a template about one thing on the page gets.
type partView[T any] struct {
	view
	Of T
}

// part makes a part of a page. sent is the form of the part, as it was entered, if it was
// refused; else nil.
type part func(s *Server, v *visit, page view, sent any) (template.HTML, error)

// pageParts is embedded in the data of a page that has parts: see routes.go.
type pageParts struct {
	Refused string // the name of the refused form, of the page or of a part; empty: none was refused
	sent    any    // the refused form, as it was entered
	write   func(page view, name string) (template.HTML, error)
}

// partsOf makes the pageParts of a page.
func (s *Server) partsOf(v *visit, refused string, sent any) pageParts {
	return pageParts{refused, sent, func(page view, name string) (template.HTML, error) {
		if name != refused {
			return s.parts[name](s, v, page, nil)
		}
		return s.parts[name](s, v, page, sent)
	}}
}

func (p pageParts) Part(page view, name string) (template.HTML, error) { return p.write(page, name) }

// showPart executes the template name with the view of a page and other data.
func (s *Server) showPart(page view, name string, data any) (template.HTML, error) {
	page.Data = data
	var content strings.Builder
	err := templates().ExecuteTemplate(&content, name, page)
	return template.HTML(content.String()), err // a template has escaped it
}

// write executes a template, and sends its result only if there was no error.
func (s *Server) write(v *visit, status int, name string, data any) error {
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	body := b.Bytes()
	h := v.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Add("Vary", "Accept-Encoding, Sec-Fetch-Site")
	if compressible(v.Request) {
		body = compressed(body)
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	v.w.WriteHeader(status)
	_, _ = v.w.Write(body)
	return nil
}

// templates are the layout, the parts and the pages, in one set. A set for each page, with
// a copy of layout and parts, would need seven times the memory (3 MB). They are parsed
// when the first page is shown: without visitors a server doesn't need them.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(templateFuncs).ParseFS(dashboardFiles, "templates/*/*.html"))
})

// templateFuncs are the functions of the templates.
var templateFuncs = template.FuncMap{
	"static":       staticURL,
	"bankName":     app.BankShortName,
	"payerOf":      payer.Of,
	"helpTitle":    help.Title,
	"providerHelp": help.OfProvider,
	"pages": func(v view, p pages) any {
		return struct {
			view
			pages
		}{v, p}
	},
	"sessions": func(v view, list []access.Session, path string) any {
		return struct {
			words
			List []access.Session
			Path string
		}{v.words, list, path}
	},
	"likely": func(t app.Transaction, likely []payment.Request) payment.UnmatchedTransaction {
		return payment.UnmatchedTransaction{Transaction: t, Likely: likely}
	},
	"part": func(v view, of any) any {
		return struct {
			view
			Of any
		}{v, of}
	},
	"more": func(n int) int { return n + 1 },
}

// chosenLang is the language that the visitor chose, else the browser's, else the
// installation's.
func (s *Server) chosenLang(r *http.Request) app.Lang {
	if c, err := r.Cookie("lang"); err == nil && (app.Lang(c.Value) == app.Vietnamese || app.Lang(c.Value) == app.English) {
		return app.Lang(c.Value)
	}
	return wire.AcceptedLang(r, s.Lang)
}

func chosenTheme(r *http.Request) string {
	if c, err := r.Cookie("theme"); err == nil && (c.Value == "light" || c.Value == "dark") {
		return c.Value
	}
	return ""
}
