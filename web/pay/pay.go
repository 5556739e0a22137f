// Package pay is the page of a payment request, for the payer: the VietQR code, the transfer
// to make, the amount that is still due, and "paid" as soon as the money is recorded. Later
// the page proves the payment: a receipt has its address. It shows only the name of the
// shop, and works without JavaScript. Everybody who has the address may pay, so everybody
// sees the same, also a user from whom some bank accounts are hidden.
//
// The page is one answer, which includes its style and its script: phones on a slow network
// load nothing more. It holds one event stream open, which says only that the request has
// changed; then the page requests itself again and replaces the parts that differ.
package pay

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"html/template"
	"net/http"
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/payment"
	"baoco/app/services"
	"baoco/app/vietqr"
	"baoco/web/wire"
)

// Config is what a Server needs.
type Config struct {
	Services *services.All
	Closing  <-chan struct{} // closed when the server stops; then event streams end
	Lang     app.Lang        // used if neither the visitor nor the browser names a language
}

// Server answers the pages of payment requests.
type Server struct {
	*wire.Responder
	Config
	changes      *wire.Feed[change]
	eventStreams wire.Lasting
}

// change has the numbers that change when a payment request of any account changes.
type change struct{ transaction, payments int64 }

// liveInterval is how often the change is read while a page is open. So pages also show
// changes by another process.
const liveInterval = 250 * time.Millisecond

// New makes the server of the pages.
func New(responder *wire.Responder, c Config) *Server {
	c.Lang = cmp.Or(c.Lang, app.English)
	s := &Server{Responder: responder, Config: c}
	s.changes = wire.NewFeed(func(ctx context.Context) (change, error) {
		n, err := c.Services.Deliveries.NewestIDs(ctx)
		return change{n.TransactionID, n.PaymentChanges}, err
	}, liveInterval, c.Services.Inbound.Recorded, s.Log)
	return s
}

// Routes are the routes of the pages.
func (s *Server) Routes() []wire.Route {
	return []wire.Route{
		{Method: "GET", Path: "/pay/{token}", Handler: s.answering(s.page)},
		{Method: "GET", Path: "/pay/{token}/qr.png", Handler: s.answering(s.image)},
		{Method: "GET", Path: "/pay/{token}/live", Lasts: true, Handler: s.answering(s.live)},
	}
}

type visit struct {
	*http.Request
	words
	w       http.ResponseWriter
	request payment.Request
}

// answering makes the handler of a page: it finds the payment request, and limits guesses of
// tokens like guesses of API keys.
func (s *Server) answering(handle func(v *visit) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Robots-Tag", "noindex, nofollow")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		v := &visit{Request: r, words: words{wire.ChosenLang(r, s.Lang), s.Services.Ledger.Zone(), time.Now()}, w: w}
		ctx, cancel := context.WithTimeout(r.Context(), wire.RequestTimeout)
		var err error
		v.request, err = s.Services.Payments.PaymentRequestByToken(ctx, r.PathValue("token"))
		cancel()
		if app.CodeOf(err) == app.CodeNotFound {
			if _, wait, ok := s.Failures.Take(s.Client(r), wire.FailurePace, v.now); !ok {
				wire.RateLimited(w, r, wire.FailurePace.PerMinute, wait)
				err = app.Refused(app.CodeRateLimited,
					app.Text{EN: "Too many requests. Wait a minute and try again.", VI: "Quá nhiều yêu cầu. Hãy đợi một phút rồi thử lại."})
			}
		}
		if err == nil {
			err = handle(v)
		}
		if err != nil {
			s.refuse(v, err)
		}
	}
}

// refuse answers an error with a page, and logs it.
func (s *Server) refuse(v *visit, err error) {
	status, _ := s.ErrorBody(v.w, v.Request, err)
	text := wire.AsError(err).Text
	if status == http.StatusNotFound {
		text = app.Text{EN: "There is no payment at this address. Check the link, or ask the shop for a new one.",
			VI: "Không có yêu cầu thanh toán nào ở địa chỉ này. Hãy xem lại đường dẫn hoặc hỏi cửa hàng."}
	}
	s.write(v, status, "error", text.In(v.Lang))
}

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string

	templates = template.Must(template.New("").Funcs(template.FuncMap{
		"css": func() template.CSS { return template.CSS(pageCSS) },
		"js":  func() template.JS { return template.JS(pageJS) },
	}).Parse(pageHTML))

	// policy lets the page use its own style and script, and request itself.
	policy = "default-src 'none'; style-src " + wire.PolicyDigest(pageCSS) + "; script-src " + wire.PolicyDigest(pageJS) +
		"; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

func (s *Server) write(v *visit, status int, name string, data any) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, struct {
		words
		Data any
	}{v.words, data}); err != nil {
		panic(err) // the templates fit their data
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	v.w.WriteHeader(status)
	_, _ = v.w.Write(b.Bytes())
}

type pageData struct {
	payment.Request
	Shop    string // the shop's name; empty: it has none
	Status  app.PaymentStatus
	State   string // the page requests itself again when the state changes
	Payable bool
	QR      template.HTML // an SVG
	Content string
	Live    string // address of the event stream
	Image   string // address of the picture of the code
	Other   app.Lang
}

func (s *Server) page(v *visit) error {
	r := v.request
	account, err := s.Services.Ledger.Account(v.Context(), r.AccountID)
	if err != nil {
		return err
	}
	data := pageData{Request: r, Shop: account.ShopName(""), Status: r.Status(v.now), State: r.Shown(v.now),
		Payable: r.Payable(v.now), Live: r.URLPath() + "/live", Image: r.URLPath() + "/qr.png", Other: app.English}
	if v.Lang == app.English {
		data.Other = app.Vietnamese
	}
	if data.Payable {
		transfer, text, err := r.Transfer()
		if err != nil {
			return err
		}
		code, err := vietqr.Code(text)
		if err != nil {
			return err
		}
		data.QR, data.Content = template.HTML(vietqr.SVG(code)), transfer.Content
	}
	s.write(v, http.StatusOK, "page", data)
	return nil
}

// image answers with a picture of the VietQR code, which a phone can save and open in its
// banking app.
func (s *Server) image(v *visit) error {
	if !v.request.Payable(v.now) {
		return payment.ErrEnded
	}
	_, text, err := v.request.Transfer()
	if err != nil {
		return err
	}
	code, err := vietqr.Code(text)
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "image/png")
	v.w.Header().Set("Content-Disposition", `inline; filename="vietqr-`+v.request.Code+`.png"`)
	_, _ = v.w.Write(code.PNG())
	return nil
}

// The number of open event streams is bounded: in all, of one client and of one payment
// request. When connections run out, these event streams are closed first, since anybody may
// open such a page. Many phones of a network may share one address.
const (
	maxEventStreams          = 500
	maxEventStreamsOfClient  = 100
	maxEventStreamsOfRequest = 10

	readPause = 200 * time.Millisecond // the shortest time between two reads of the request for an event stream
	liveBeat  = 4 * time.Second        // the longest time between two events; after 12 seconds without one the page says so
)

var errTooManyEventStreams = app.Refused(app.CodeUnavailable, app.Text{
	EN: "Too many of these pages are open. The page loads itself again.",
	VI: "Đang mở quá nhiều trang như vậy. Trang sẽ tự tải lại.",
})

// live streams the state of the request, at first and whenever it changes.
func (s *Server) live(v *visit) error {
	bounds := []wire.Bound{
		{Of: "payment pages", Most: s.Share(maxEventStreams, 4)},
		{Of: "client", ID: s.Client(v.Request), Most: s.Share(maxEventStreamsOfClient, 16)},
		{Of: "payment request", ID: v.request.ID, Most: maxEventStreamsOfRequest},
	}
	if !s.eventStreams.Take(bounds, s.Log, v.now) {
		return errTooManyEventStreams
	}
	defer s.eventStreams.Give(bounds)
	defer wire.Dispensable(v.Context())()
	s.changes.Subscribe()
	defer s.changes.Unsubscribe()
	stream := wire.OpenEventStream(v.w, v.Request, s.Closing, func() error { return nil }, liveBeat)
	defer stream.Close()
	quiet := func() error { return nil }
	sent, spoke := "", time.Time{}
	for {
		_, _, changed := s.changes.State()
		most := liveBeat
		r, err := s.Services.Payments.PaymentRequestByToken(v.Context(), v.request.Token)
		now := time.Now()
		name := "state"
		if r.Shown(now) == sent {
			name = "alive"
		}
		if err != nil { // the storage failed: without events the page says so
			changed, most = nil, time.Second
		} else if name == "state" || now.Sub(spoke) >= liveBeat/2 {
			sent, spoke = r.Shown(now), now
			if err := stream.Event(name, "", sent); err != nil {
				return nil // the page connects again
			}
		}
		if end := r.ExpiresAt.Add(time.Second).Sub(now); !r.ExpiresAt.IsZero() && end > 0 {
			most = min(most, end)
		}
		if err := stream.Wait(nil, readPause, quiet); err != nil {
			return nil
		}
		if err := stream.Wait(changed, most, quiet); err != nil {
			return nil
		}
	}
}

type words struct {
	Lang app.Lang
	zone *time.Location
	now  time.Time
}

// T is the text in the visitor's language.
func (w words) T(en, vi string) string { return app.Text{EN: en, VI: vi}.In(w.Lang) }

// Money writes an amount.
func (w words) Money(amount int64) string {
	return app.GroupDigits(amount, w.Lang) + "\u00a0₫"
}

// When writes an instant with its day, since the payer may keep a picture of the page.
func (w words) When(t time.Time) string { return app.WriteTime(t, w.zone).In(w.Lang) }

// copied is a value with a button that copies it.
type copied struct {
	words
	Shown, Value, Label string
}

// Copy shows a value with a button that copies it; label names the button.
func (w words) Copy(shown, value, label string) copied { return copied{w, shown, value, label} }

// BankName is the usual name of a bank.
func (w words) BankName(code string) string { return app.BankShortName(code) }
