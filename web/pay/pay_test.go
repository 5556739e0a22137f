package pay_test

import (
	"bytes"
	"image/png"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/payment"
	"baoco/web/webtest"
)

// newShop is an installation with a bank account and a pattern of codes.
func newShop(t *testing.T) *webtest.World {
	t.Helper()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	w.CodePattern("DH")
	return w
}

// pay records money in.
func pay(w *apptest.World, id string, amount int64, content string) {
	w.T.Helper()
	_, _, err := w.Services.Inbound.RecordByHand(w.T.Context(), 1, inbound.TransactionCreate{Incoming: inbound.Incoming{
		EventID: id, Gateway: "ACB", AccountNumber: apptest.SomeAccount, Number: "FT" + id,
		Type: app.In, Amount: amount, Content: content, Time: time.Now(),
	}}, time.Now())
	apptest.Must(w.T, err)
}

// Whoever has the link sees what to transfer, what is still due and that it is paid, in
// their language, and nothing else of the shop.
func TestPage(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	name := "Tạp hoá Lan"
	_, err := w.Services.Ledger.UpdateAccount(t.Context(), 1, app.AccountUpdate{Name: &name})
	apptest.Must(t, err)
	r := w.PaymentRequest(payment.RequestCreate{Amount: 200_000, Reference: "HD-1042", ExpiresIn: time.Hour,
		ReturnURL: "https://shop.vn/orders/1042?a=1&b=2"})
	page := func(header ...string) webtest.Answer {
		t.Helper()
		a, err := w.Send("GET", r.URLPath(), "", header...)
		apptest.Must(t, err)
		a.WantStatus(t, http.StatusOK)
		a.Hides(t, "HD-1042", "FTa1", "FTa2", "khach hang", "/login", "<img", "undefined", "%!")
		for _, name := range []string{"Set-Cookie", "Last-Modified"} {
			if a.Header.Get(name) != "" {
				t.Errorf("%s: %s", name, a.Header.Get(name))
			}
		}
		for name, want := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
			"X-Robots-Tag": "noindex, nofollow", "X-Content-Type-Options": "nosniff"} {
			if a.Header.Get(name) != want {
				t.Errorf("%s: %q", name, a.Header.Get(name))
			}
		}
		if csp := a.Header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; style-src 'sha256-") ||
			strings.Contains(csp, "unsafe") {
			t.Errorf("the policy is %s", csp)
		}
		return a
	}
	asked := page()
	asked.Shows(t, `<html lang="en">`, "Pay by bank transfer", "200,000\u00a0₫", apptest.SomeAccount, "NGUYEN VAN A", r.Code,
		`data-copy="200000"`, "<svg", "Pay before", `href="https://shop.vn/orders/1042?a=1&b=2"`,
		`<noscript><meta http-equiv="refresh" content="5"></noscript>`)
	if len(asked.Body) > 20_000 {
		t.Errorf("the page has %d bytes", len(asked.Body))
	}
	page("Accept-Language", "vi-VN").Shows(t, `<html lang="vi">`, "Chuyển khoản để thanh toán", "200.000\u00a0₫", "Sao chép nội dung")
	if a, err := w.Send("GET", r.URLPath()+"?lang=vi", ""); err != nil || !strings.Contains(a.Body, "Quay lại cửa hàng") {
		t.Errorf("in Vietnamese: %s, %v", a.Body, err)
	}
	pay(w.World, "a1", 200, "khach hang "+r.Code)
	page().Shows(t, "Still due 199,800\u00a0₫</h1>", "Received so far: 200\u00a0₫ of 200,000\u00a0₫", `data-copy="199800"`, "<svg")
	pay(w.World, "a2", 199_800, r.Code)
	paid := page()
	full, err := w.Services.Payments.PaymentRequest(t.Context(), 1, r.ID)
	apptest.Must(t, err)
	paid.Shows(t, "Payment received", "200,000\u00a0₫", `class="button" href="https://shop.vn/`, "<bdi>Tạp hoá Lan</bdi>",
		`<dt>Received</dt><dd>`+app.WriteTime(full.PaidAt, w.Services.Ledger.Zone()).In(app.English), "<dd>"+r.Code+"</dd>",
		"<bdi>NGUYEN VAN A</bdi>",
		"<dt>Amount</dt><dd>200,000\u00a0₫", "<dt>Received so far</dt><dd>200,000\u00a0₫")
	paid.Hides(t, "<svg", apptest.SomeAccount, "<dt>Receipt", "Too much")
	pay(w.World, "a3", 5000, r.Code)
	page().Shows(t, "This is more than asked for", "<dt>Too much</dt><dd>5,000\u00a0₫", "<dt>Received so far</dt><dd>205,000\u00a0₫")
	if a, err := w.Send("GET", r.URLPath()+"/qr.png", ""); err != nil || a.Status != http.StatusConflict {
		t.Errorf("the code of a paid request: %d, %v", a.Status, err)
	}

	r = w.PaymentRequest(payment.RequestCreate{Amount: 1000, Reference: "HD-1042"})
	a, err := w.Send("GET", r.URLPath()+"/qr.png", "")
	apptest.Must(t, err)
	if picture, err := png.Decode(bytes.NewReader([]byte(a.Body))); err != nil || picture.Bounds().Dx() < 200 ||
		a.Header.Get("Content-Type") != "image/png" {
		t.Errorf("the picture: %v, %v", a.Header, err)
	}
	_, err = w.Services.Payments.CancelPaymentRequest(t.Context(), 1, r.ID, time.Now())
	apptest.Must(t, err)
	cancelled := page()
	cancelled.Shows(t, "The shop has cancelled this payment. Don’t transfer money for it.")
	cancelled.Hides(t, "<svg", apptest.SomeAccount)
	pay(w.World, "b1", 400, r.Code)
	page().Shows(t, "Ask the shop about the money that it has received: 400\u00a0₫")
	pay(w.World, "b2", 600, r.Code)
	page().Shows(t, "Received, but too late")
	page().Hides(t, "more than asked for")
	pay(w.World, "b3", 70, r.Code)
	page().Shows(t, "Received, but too late", "This is more than asked for. Ask the shop about the difference of 70\u00a0₫.")

	r = w.PaymentRequest(payment.RequestCreate{Amount: 1000, Reference: "HD-1042", ExpiresIn: time.Minute})
	w.Change(`UPDATE payment_requests SET expires_at = expires_at - 3600`)
	ended := page()
	ended.Shows(t, "This payment has expired", "If you have just paid, this page shows it once the money has come.")
	ended.Hides(t, "<svg", apptest.SomeAccount, "Still due")
	w.Change(`UPDATE payment_requests SET received = 400, transfers = 1 WHERE id = ?`, r.ID)
	page().Shows(t, "Received so far: 400\u00a0₫", "Still due: 600\u00a0₫")
}

// A token can't be found by trying, and whoever tries is slowed down; who has one always
// passes.
func TestTokens(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	r := w.PaymentRequest(payment.RequestCreate{Amount: 200_000})
	statuses := map[int]int{}
	for i := range 60 {
		token := "guess" + strconv.Itoa(i)
		if i == 0 {
			token = strings.ToLower(r.Token)
		}
		for _, path := range []string{"", "/qr.png", "/live"} {
			a, err := w.Send("GET", "/pay/"+token+path, "")
			apptest.Must(t, err)
			statuses[a.Status]++
			a.Hides(t, r.Code, apptest.SomeAccount, token)
			if a.Status == http.StatusTooManyRequests && a.Header.Get("Retry-After") == "" {
				t.Error("it doesn't say when to try again")
			}
		}
	}
	if statuses[http.StatusNotFound] < 30 || statuses[http.StatusNotFound] > 40 || statuses[http.StatusTooManyRequests] < 140 ||
		len(statuses) != 2 {
		t.Errorf("the answers to guesses: %v", statuses)
	}
	a, err := w.Send("GET", r.URLPath(), "")
	apptest.Must(t, err)
	a.WantStatus(t, http.StatusOK)
	for method, status := range map[string]int{"HEAD": http.StatusOK, "POST": http.StatusMethodNotAllowed,
		"DELETE": http.StatusMethodNotAllowed} {
		if a, err := w.Send(method, r.URLPath(), ""); err != nil || a.Status != status {
			t.Errorf("%s: %d, %v", method, a.Status, err)
		}
	}
}

// Open pages hear at once of what happens to their request, by whomever it happens, and
// of nothing else.
func TestLive(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	r, other := w.PaymentRequest(payment.RequestCreate{Amount: 200_000}), w.PaymentRequest(payment.RequestCreate{Amount: 200_000})
	var pages []*webtest.Listener
	for range 10 {
		pages = append(pages, opened(t, w, r))
	}
	if eleventh := w.Browser().Listen(r.URLPath() + "/live"); eleventh.Status != http.StatusServiceUnavailable {
		t.Errorf("an eleventh page of one request: %d", eleventh.Status)
	}
	for range 10 {
		opened(t, w, other)
	}
	is := func(state string, within time.Duration) {
		t.Helper()
		begun := time.Now()
		for _, p := range pages {
			if got := p.Next("state").Data; got != state {
				t.Errorf("the page hears %q, want %q", got, state)
			}
		}
		if took := time.Since(begun); took > within {
			t.Errorf("%s after %v", state, took)
		}
	}
	is("open 0 true", time.Minute)
	pay(w.World, "other", 200_000, other.Code)
	pay(w.World, "first", 200, r.Code)
	is("underpaid 200 true", 5*time.Second)
	admin := w.Admin()
	_, err := admin.Payments.CancelPaymentRequest(apptest.Acting(t.Context()), 1, r.ID, time.Now())
	apptest.Must(t, err)
	is("cancelled 200 false", 5*time.Second)
	pages[0].Stop()
	reopened(t, w, r)
}

// A page hears that its request has expired in the second after its last one.
func TestLiveExpiry(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		w.CodePattern("DH")
		r := w.PaymentRequest(payment.RequestCreate{Amount: 5000, ExpiresIn: 3 * time.Minute})
		c, hangUp := w.Open(nil, r.URLPath()+"/live", false)
		defer func() { hangUp(); <-c.Ended }()
		time.Sleep(3*time.Minute - time.Second)
		synctest.Wait()
		if strings.Contains(c.Text(), "expired") {
			t.Error("too early")
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if !strings.Contains(c.Text(), "data: expired 0 false\n") {
			t.Errorf("the page heard\n%s", c.Text())
		}
	})
}
