// Package dashboard has the pages for people, which the server makes: the table of
// pages, their handlers and templates, the live pages and the sessions.
//
// # To write a page
//
// A page consists of a row of the table in routes.go, a handler in the file of its noun, a
// struct of what it shows, and the template page-<name> in the folder of its subject
// below templates. The handler takes a visit, which knows who the visitor is, makes a few
// calls of services, and ends with [Server.render]. A template gets a view: its Data is the
// struct, and its methods write texts in the visitor's language. The exported methods of
// both are for templates.
//
// Names follow a pattern: bankForm is the form of a bank account as it was entered, bankData
// is what its page shows, pageBank finds the bank account that the path names, and showBank
// shows its page. The last argument of showBank is why a form was refused; nil: none was.
//
// An action is a POST that makes one call of a service, the same call as the API and the
// command line make, and ends with [Server.redirect] to a page, which says once
// what was done. If the rules refuse the action, the handler passes the error to the
// function that shows the form, which passes it to [Server.render]: so the visitor gets the
// form again, with what they entered and what is wrong (form.go). For an action on one
// thing, the table names this function (page.go). An action that can't be undone is a
// confirmation (form.go). The form of an action that must not be done twice, or that shows a
// secret, counts once (once.go).
//
// Event streams keep an open page up to date: live.go, counter_live.go.
//
// # What uses what
//
// routes.go, with the table, uses the pages, and the pages use the frame:
// this file, page.go (a row of the table), permission.go, view.go, words.go, form.go,
// list.go, once.go, session.go, step.go (a step of the guide), live.go, eventstream.go,
// slip.go (paper of 58 mm) and static.go. New, in routes.go, gives the frame the table, the
// parts and the steps. The frame knows only one page, the guide, which shows a refused form
// of a step.
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

// Config is what a Server needs.
type Config struct {
	Services     *services.All
	Version      string
	Closing      <-chan struct{}     // closed when the server stops; then event streams end
	Installation upkeep.Installation // how serve was started
	RecentLog    *RecentLog          // nil: none is shown
	Lang         app.Lang            // used if neither the visitor nor the browser names a language; empty: English

	// EncodeTransaction makes the API's JSON of a transaction.
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
	positionKey  [sha256.Size]byte // random; see position
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
	only      string   // the names of the bank accounts that the visitor is limited to; empty: all
	backDepth int      // see depthBelowPage
	form      sentForm // zero: the form doesn't count once
	// of the form that was sent, else of the form that the page shows: see FormVersion
	formVersion string
	live        bool               // the page is kept up to date
	newest      delivery.NewestIDs // of a live page, read before its rows
}

// operator reports whether the visitor runs the installation, as an owner of its first account.
func (v *visit) operator() bool { return v.may(ownerOnly) && v.account.ID == app.DefaultAccountID }

// policy is the Content-Security-Policy: a page loads files of the binary and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// visiting makes the handler of a page: it sets the headers, finds out who the visitor is, and
// refuses a visitor who may not see the page.
func (s *Server) visiting(p page, backDepth int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin") // with no-referrer the browser would send "Origin: null" with a form
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

// isToUseHTTPS reports whether a page for signing in, or for signed-in users, was asked for over
// HTTP and must be opened at the HTTPS base URL. At the host of the base URL it returns false:
// behind a proxy that reports HTTP for every visit, the redirect would be a loop.
func (s *Server) isToUseHTTPS(r *http.Request, p page) bool {
	signsIn := p.Takes != open || p.kind.signsIn
	return s.SecureHost != "" && signsIn && r.Method != http.MethodPost && !wire.Secure(r) && !s.AtSecureHost(r)
}

// act reads the form of an action, and lets the page answer.
func (s *Server) act(v *visit, p page) error {
	if err := v.readForm(p); err != nil {
		return err
	}
	if v.Method == http.MethodPost && p.Takes != open { // the session may end while a form arrives slowly
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
		// The ids are read before the page's rows, so that the page or the stream has each row.
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

// welcome finds out who the visitor is, and refuses one without the permission of the page.
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
	if p.Takes == open { // for example, only the link of a counter screen decides what it shows
		return nil
	}
	return s.limitBankAccounts(v)
}

// limitBankAccounts puts the visitor's limit into the context: from here on the storage shows
// only the bank accounts of the limit.
func (s *Server) limitBankAccounts(v *visit) error {
	if !v.user.Limit.On {
		return nil
	}
	v.Request = v.WithContext(access.SeeingOnly(v.Context(), v.user.Limit))
	banks, err := s.Services.Ledger.BankAccounts(v.Context(), v.account.ID)
	v.only = v.limitText(v.user.Role, v.user.Limit, banks)
	return err
}

// errNotYours refuses a page for other roles.
var errNotYours = app.Refused(app.CodeForbidden, app.Text{
	EN: "This is not for your role. Ask an owner.", VI: "Vai trò của bạn không dùng được phần này. Hãy hỏi chủ cửa hàng.",
})

// errOtherSite refuses a form that a page of another site sent.
var errOtherSite = app.Refused(app.CodeForbidden, app.Text{
	EN: "This form was sent from another site, so nothing was done. Open the page here and send it again.",
	VI: "Biểu mẫu được gửi từ trang web khác nên chưa có gì được thực hiện. Hãy mở trang ở đây rồi gửi lại.",
})

// redirect ends an action: the browser loads the page at to, which shows the flash once.
func (s *Server) redirect(v *visit, to string, flash app.Text) error {
	if flash.EN != "" {
		s.sessions.Put(v.Context(), "flash", flash.In(v.Lang))
	}
	http.Redirect(v.w, v.Request, to, http.StatusSeeOther)
	return nil
}

// done returns err if the action was refused, else it is redirect.
func (s *Server) done(v *visit, err error, to string, flash app.Text) error {
	if err != nil {
		return err
	}
	return s.redirect(v, to, flash)
}

// takeFlash returns the flash once, to a page that the browser loads: a live page that
// updates itself would take the flash of another page. Without a signed-in user it
// returns nothing.
func (s *Server) takeFlash(v *visit) string {
	if v.Header.Get(liveHeader) != "" || v.user.ID == 0 {
		return ""
	}
	return s.sessions.PopString(v.Context(), "flash")
}

// Refuse answers a browser's request that has no handler with the page of err.
func (s *Server) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	s.withSession(s.visiting(page{handle: func(*Server, *visit) error { return err }}, 0)).ServeHTTP(w, r)
}

type errorData struct {
	Status    int
	RequestID string
	Forbidden bool   // somebody with another role may see it
	Above     string // the page above an address that takes only forms; empty: it is another error
	Counter   bool   // the address is of a counter link, and nobody is signed in
}

// title is the heading of the page.
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

// pageError answers with a page that says what is wrong, and where the visitor can go. Errors
// of the server are logged here, once. A connection that the browser closed is no error.
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
	v.live = v.live && status >= 500 // a page that doesn't exist needs no updates
	page := s.view(v, "", data.title(), data)
	page.faults = faultsOf(e, v.Lang)
	if err := s.layOut(v, status, "error", page); err != nil {
		s.Log.Error("error page failed", "request_id", wire.RequestID(v.Request), "err", err)
	}
}

// pathID is the id in the path; 0, the id of nothing, if the path has no valid id.
func (v *visit) pathID() int64 {
	id, _ := wire.ParseID(v.PathValue("id"))
	return id
}

// named finds the element of a list that has the id in the path. It returns err, with which
// the list was read, or none if no element has the id.
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

// localPath returns to if it is a path of this server, else "/".
func localPath(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Host != "" || u.Scheme != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") ||
		strings.Contains(to, "\\") {
		return "/"
	}
	return to
}
