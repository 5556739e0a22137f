// Package dashboard is the pages for people, made on the server: its table of
// pages, their handlers and templates, the live pages and the sessions.
//
// # To write a page
//
// A page is a row of the table in routes.go, a handler in the file of its noun, a
// struct of what it shows, and the template page-<name> in the folder of its subject
// below templates. The handler takes a visit, which knows who is asking, makes one or a few calls
// of Service, and ends with [Server.render]. A template gets a view: its Data is
// the struct, its methods are the words of the visitor's language. The exported methods
// of both are there for templates.
//
// Names say what they are: bankForm is the form of a bank account as it was entered, bankData
// what its page shows, pageBank finds the bank account that the path names, and showBank
// shows its page, whose last argument is why what was sent is refused; nil: it isn't.
//
// An action is a POST that makes one call of Service, the same as the API and the
// command line make, and ends with [Server.redirect] to a page, which says once
// what was done. If the rules refuse it, the handler gives the error to the
// function that shows the form, which gives it to [Server.render]: so the
// visitor finds their form again and reads what is wrong (form.go). Of what the path names,
// the table says which function that is (page.go). What can't be
// undone is a confirmation (form.go). What must not be done twice, or shows a
// secret, counts once (once.go).
//
// The rows that come while somebody looks are event streams: live.go, counter_live.go.
//
// # What uses what
//
// routes.go, with the table, stands above the pages, and the pages stand above the frame:
// this file, page.go (a row of the table), permission.go, view.go, words.go, form.go,
// list.go, once.go, session.go, step.go (a step of the guide), live.go, eventstream.go,
// slip.go (paper of 58 mm) and static.go. New, in routes.go, gives the frame the table, the
// parts and the steps. Of the pages it knows only that of the guide, which shows a refused
// form of a step.
package dashboard

import (
	"crypto/sha256"
	"embed"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/delivery"
	"baoco/app/services"
	"baoco/app/upkeep"
	"baoco/web/wire"

	"github.com/alexedwards/scs/v2"
)

//go:embed templates static
var dashboardFiles embed.FS

// Config is what a Server works with.
type Config struct {
	Services     *services.All
	Version      string
	Closing      <-chan struct{}     // closed when the server stops: live pages end
	Installation upkeep.Installation // how serve was started
	RecentLog    *RecentLog          // nil: none is shown
	Lang         app.Lang            // if neither the visitor nor the browser names one; empty: English

	// EncodeTransaction makes the JSON of a transaction as the API has it.
	EncodeTransaction func(t app.Transaction, zone *time.Location) any
}

// Server answers the dashboard.
type Server struct {
	*wire.Responder
	Config
	sessions     *scs.SessionManager
	throttle     signInThrottle
	changes      *wire.Feed[delivery.NewestIDs]
	tests        testCounts
	bots         foundBots
	positionKey  [sha256.Size]byte // random, see position
	eventStreams wire.Lasting
	testPayments wire.Buckets[int64] // by account
	requests     wire.Buckets[int64] // payment requests, by user
	pushed       wire.Buckets[int64] // phones added and tests sent to them, by user
	held         heldFiles

	// See routes.go.
	table []page
	parts map[string]part
	steps []guideStep
}

// visit is one request of the dashboard.
type visit struct {
	*http.Request
	words
	w         http.ResponseWriter
	user      access.User // zero if nobody is signed in
	account   app.Account
	only      string   // the bank accounts that the visitor is limited to, in words; empty: all
	backDepth int      // see depthBelowPage
	form      sentForm // zero where the form doesn't count once
	// of the form that was sent, or that is to be sent next: see FormVersion
	formVersion string
	live        bool               // the page is kept up to date
	newest      delivery.NewestIDs // of a live page, read before anything else of it
}

// operator tells whether the visitor runs the installation, as the owners of its
// first account do.
func (v *visit) operator() bool { return v.may(ownerOnly) && v.account.ID == app.DefaultAccountID }

// policy lets a page load files of the binary and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// visiting wraps a page: it sets the headers, finds out who is visiting and
// refuses who may not.
func (s *Server) visiting(p page, backDepth int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin") // with no-referrer a form of the page would say "Origin: null"
		h.Set("Cache-Control", "no-store")
		if s.isToUseHTTPS(r, p) {
			http.Redirect(w, r, s.Installation.BaseURL+r.URL.RequestURI(), http.StatusSeeOther)
			return
		}
		v := &visit{Request: r, words: words{s.chosenLang(r), s.Services.Ledger.Zone(), time.Now()}, w: w, backDepth: backDepth}
		if err := s.welcome(v, p); err != nil {
			s.pageError(v, err)
			return
		}
		if p.Takes != open && v.user.ID == 0 {
			s.askToSignIn(v, p)
			return
		}
		if s.leadToEnrol(v, p) {
			return
		}
		if err := s.act(v, p); err != nil {
			s.pageError(v, err)
		}
	}
}

// isToUseHTTPS tells whether somebody who signs in, or is signed in, came to a page over
// HTTP and is to use the HTTPS of the base URL. At the host of the base URL nobody is led
// there: a proxy that says HTTP to every visit would make that a loop.
func (s *Server) isToUseHTTPS(r *http.Request, p page) bool {
	signsIn := p.Takes != open || p.kind.signsIn
	return s.SecureHost != "" && signsIn && r.Method != http.MethodPost && !wire.Secure(r) && !s.AtSecureHost(r)
}

// act reads the form of an action, and lets the page answer.
func (s *Server) act(v *visit, p page) error {
	if err := v.readForm(p); err != nil {
		return err
	}
	if v.Method == http.MethodPost && p.Takes != open { // a form that arrives slowly may outlast its session
		switch err := s.stillAllowed(v); {
		case errors.Is(err, wire.ErrRevoked):
			s.askToSignIn(v, p)
			return nil
		case err != nil:
			return err
		}
	}
	if p.kind.once && !s.readSentForm(v, p) {
		return s.formExpired(v)
	}
	if v.live = p.kind.live; v.live {
		if clean := cleanAddress(v.URL); clean != "" {
			return s.redirect(v, clean, app.Text{})
		}
		// Read before the page is, so that nothing is missing in both page and stream.
		var err error
		if v.newest, err = s.Services.Deliveries.NewestIDs(v.Context()); err != nil {
			return err
		}
	}
	return p.handle(s, v)
}

// readForm reads the whole form of an action before anything is done. A form that
// is too large or cut off must not pass for one with empty fields.
func (v *visit) readForm(p page) error {
	if v.Method != http.MethodPost || p.kind.file > 0 {
		return nil
	}
	err := v.ParseForm()
	if err == nil {
		err = v.ParseMultipartForm(maxForm)
	}
	if err == nil || errors.Is(err, http.ErrNotMultipart) {
		return nil
	}
	return wire.BodyError(err)
}

// welcome finds out who is visiting.
func (s *Server) welcome(v *visit, p page) (err error) {
	if v.user, err = s.signedIn(v.Context()); err != nil {
		return err
	}
	v.Request = v.WithContext(app.ActingAs(v.Context(), app.Actor{
		Way: app.WayDashboard, ID: v.user.ID, Name: v.user.Name, Address: s.ClientAddr(v.Request).String(), At: v.now,
		Generation: v.user.Generation,
	}))
	if v.user.ID == 0 {
		return nil
	}
	if v.account, err = s.Services.Ledger.Account(v.Context(), v.user.AccountID); err != nil {
		return err
	}
	if err := s.Services.Access.SeeSession(v.Context(), s.storedToken(v), s.ClientAddr(v.Request).String(), v.now); err != nil {
		return err
	}
	if !v.may(p.Takes) {
		return errNotYours
	}
	if p.Takes == open { // such as the link of a counter screen, which alone decides what it shows
		return nil
	}
	return s.limitBankAccounts(v)
}

// limitBankAccounts lets a visitor see nothing but the bank accounts that the user is limited to,
// from here on: the storage asks the context.
func (s *Server) limitBankAccounts(v *visit) error {
	if !v.user.Limit.On {
		return nil
	}
	v.Request = v.WithContext(access.SeeingOnly(v.Context(), v.user.Limit))
	banks, err := s.Services.Ledger.BankAccounts(v.Context(), v.account.ID)
	v.only = v.limitText(v.user.Role, v.user.Limit, banks)
	return err
}

// errNotYours refuses what is for other roles.
var errNotYours = app.Refused(app.CodeForbidden, app.Text{
	EN: "This is not for your role. Ask an owner.", VI: "Vai trò của bạn không dùng được phần này. Hãy hỏi chủ cửa hàng.",
})

// errOtherSite refuses a form that another site had a browser send.
var errOtherSite = app.Refused(app.CodeForbidden, app.Text{
	EN: "This form was sent from another site, so nothing was done. Open the page here and send it again.",
	VI: "Biểu mẫu được gửi từ trang web khác nên chưa có gì được thực hiện. Hãy mở trang ở đây rồi gửi lại.",
})

// redirect ends an action: the browser loads a page, which shows the flash once.
func (s *Server) redirect(v *visit, to string, flash app.Text) error {
	if flash.EN != "" {
		s.sessions.Put(v.Context(), "flash", flash.In(v.Lang))
	}
	http.Redirect(v.w, v.Request, to, http.StatusSeeOther)
	return nil
}

// done is redirect after an action that may have been refused: err is why, and is given back.
func (s *Server) done(v *visit, err error, to string, flash app.Text) error {
	if err != nil {
		return err
	}
	return s.redirect(v, to, flash)
}

// takeFlash gives the flash once, to a page that the browser loads: a live page
// that asks for itself anew would take that of another page. One of a session that
// has ended is given to nobody.
func (s *Server) takeFlash(v *visit) string {
	if v.Header.Get(liveHeader) != "" || v.user.ID == 0 {
		return ""
	}
	return s.sessions.PopString(v.Context(), "flash")
}

// Refuse answers a browser whose request no handler is for.
func (s *Server) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	s.withSession(s.visiting(page{handle: func(*Server, *visit) error { return err }}, 0)).ServeHTTP(w, r)
}

type errorData struct {
	Status    int
	RequestID string
	Forbidden bool   // somebody with another role may see it
	Above     string // page above an address that only takes forms; empty: it isn't one
	Counter   bool   // the link of a counter screen, opened by nobody who is signed in
}

// title heads the page.
func (d errorData) title() app.Text {
	switch {
	case d.Status == http.StatusNotFound:
		return app.Text{EN: "This page was not found", VI: "Không tìm thấy trang này"}
	case d.Above != "":
		return app.Text{EN: "There is no page at this address", VI: "Địa chỉ này không có trang để xem"}
	case d.Forbidden:
		return app.Text{EN: "You may not see this page", VI: "Bạn không có quyền xem trang này"}
	}
	return app.Text{EN: "This did not work", VI: "Chưa thực hiện được"}
}

// pageError answers with a page that says what is wrong, and where the visitor
// can go. Errors of the server are logged here, once; that a browser went away is none.
func (s *Server) pageError(v *visit, err error) {
	e := wire.AsError(err)
	status := wire.StatusFor(v.Request, e)
	if status >= 500 && e.Err != nil {
		s.Log.Error("page failed", "request_id", wire.RequestID(v.Request), "route", wire.RouteOf(v.Request), "remote", s.ClientAddr(v.Request),
			"status", status, "err", err)
	}
	if status == http.StatusServiceUnavailable {
		v.w.Header().Set("Retry-After", strconv.Itoa(wire.UnavailableRetry))
	}
	data := errorData{
		Status: status, RequestID: wire.RequestID(v.Request), Forbidden: errors.Is(err, errNotYours) && v.user.ID != 0,
		Counter: v.user.ID == 0 && strings.HasPrefix(v.URL.Path, "/counter/"),
	}
	if e.Code == app.CodeMethodNotAllowed {
		data.Above = s.pageAbove(v.URL.Path)
	}
	v.live = v.live && status >= 500 // what isn't there would be loaded anew with each change
	page := s.view(v, "", data.title(), data)
	page.faults = faultsOf(e, v.Lang)
	if err := s.layOut(v, status, "error", page); err != nil {
		s.Log.Error("error page failed", "request_id", wire.RequestID(v.Request), "err", err)
	}
}

// pathID is the id in the path; 0, which names nothing, where it is none.
func (v *visit) pathID() int64 {
	id, _ := wire.ParseID(v.PathValue("id"))
	return id
}

// named finds, in a list that was read with err, what has the id in the path.
// Where nothing has it the error is none.
func named[T any](v *visit, list []T, err error, id func(T) int64, none error) (found T, _ error) {
	if err != nil {
		return found, err
	}
	want := v.pathID()
	for _, one := range list {
		if id(one) == want {
			return one, nil
		}
	}
	return found, none
}

// localPath is the path to go back to; "/" if to could lead to another host.
func localPath(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Host != "" || u.Scheme != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") ||
		strings.Contains(to, "\\") {
		return "/"
	}
	return to
}
