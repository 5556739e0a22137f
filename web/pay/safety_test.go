package pay_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/payment"
	"baoco/web"
	"baoco/web/webtest"
)

// opened is one more open page of a request.
func opened(t *testing.T, w *webtest.World, r payment.Request) *webtest.Listener {
	t.Helper()
	l := w.Browser().Listen(r.URLPath() + "/live")
	if l.Status != http.StatusOK {
		t.Errorf("one more page of request %d: %d", r.ID, l.Status)
	}
	return l
}

// reopened waits until one more page of a request can be open.
func reopened(t *testing.T, w *webtest.World, r payment.Request) {
	t.Helper()
	apptest.Eventually(t, "a place for one more page", func() bool {
		l := w.Browser().Listen(r.URLPath() + "/live")
		defer l.Stop()
		return l.Status == http.StatusOK
	})
}

// The pages of one client are bounded too. What is closed gives its place back.
func TestLiveBounds(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	var first *webtest.Listener
	for range 10 {
		r := w.PaymentRequest(payment.RequestCreate{Amount: 200_000})
		for range 10 {
			if l := opened(t, w, r); first == nil {
				first = l
			}
		}
	}
	more := w.PaymentRequest(payment.RequestCreate{Amount: 200_000})
	if l := w.Browser().Listen(more.URLPath() + "/live"); l.Status != http.StatusServiceUnavailable {
		t.Errorf("the 101st page of one client: %d", l.Status)
	}
	first.Stop()
	reopened(t, w, more)
}

// A page hears of each part that comes, and nothing of what leaves its request as it is.
func TestLiveState(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		w.CodePattern("DH")
		r := w.PaymentRequest(payment.RequestCreate{Amount: 5000})
		c, hangUp := w.Open(nil, r.URLPath()+"/live", false)
		defer func() { hangUp(); <-c.Ended }()
		for i, content := range []string{r.Code, r.Code, "khong ma"} {
			pay(w.World.World, fmt.Sprint(i), 200, content)
			time.Sleep(5 * time.Minute)
			synctest.Wait()
		}
		states := regexp.MustCompile(`event: state\ndata: (.*)\n`).FindAllStringSubmatch(c.Text(), -1)
		var heard []string
		for _, s := range states {
			heard = append(heard, s[1])
		}
		if got := strings.Join(heard, ", "); got != "open 0 true, underpaid 200 true, underpaid 400 true" {
			t.Errorf("the page heard %s", got)
		}
	})
}

// No answer stays in a cache or runs what the shop or a stranger has written, and none
// loads anything from elsewhere.
func TestSafety(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.Change(`UPDATE bank_accounts SET account_name = '<img src=x onerror=1>'`)
	r := w.PaymentRequest(payment.RequestCreate{Amount: 200_000})
	get := func(path string, status int) webtest.Answer {
		t.Helper()
		a, err := w.Send("GET", path, "")
		apptest.Must(t, err)
		a.WantStatus(t, status)
		if got := a.Header.Values("Cache-Control"); len(got) != 1 || got[0] != "no-store" {
			t.Errorf("%d: Cache-Control is %q", a.Status, got)
		}
		return a
	}
	digest := func(a webtest.Answer, element string) string {
		t.Helper()
		found := regexp.MustCompile(`(?s)<`+element+`>(.*?)</`+element+`>`).FindAllStringSubmatch(a.Body, -1)
		if len(found) != 1 {
			t.Fatalf("the page has %d elements %s", len(found), element)
		}
		sum := sha256.Sum256([]byte(found[0][1]))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	page := get(r.URLPath(), http.StatusOK)
	page.Hides(t, "<img", "<link", "<script ", "style=")
	if !strings.Contains(page.Body, "&lt;img src=x onerror=1&gt;") {
		t.Errorf("the page doesn't show the name: %s", page.Body)
	}
	policy := "default-src 'none'; style-src " + digest(page, "style") + "; script-src " + digest(page, "script") +
		"; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	answers := []webtest.Answer{page, get(r.URLPath()+"/qr.png", http.StatusOK), get(r.URLPath()+"/live", http.StatusOK),
		get("/pay/x", http.StatusNotFound)}
	for range 60 {
		a, err := w.Send("GET", "/pay/x", "")
		apptest.Must(t, err)
		if a.Status == http.StatusTooManyRequests {
			break
		}
	}
	for i, a := range append(answers, get("/pay/x", http.StatusTooManyRequests)) {
		if got := a.Header.Values("Content-Security-Policy"); len(got) != 1 || got[0] != policy {
			t.Errorf("answer %d: the policy is\n%s, want\n%s", i, got, policy)
		}
	}
}

// Whoever has a link to nothing reads so in their language, or in that of the server.
func TestNothingThere(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	english, vietnamese := w.Browser(), w.Serve(web.Config{Version: "test", Lang: app.Vietnamese})
	for _, b := range []*webtest.Browser{english, vietnamese} {
		for lang, says := range map[string]string{"en": "There is no payment at this address.",
			"vi": "Không có yêu cầu thanh toán nào ở địa chỉ này."} {
			b.Header = http.Header{"Accept-Language": {lang}}
			b.Get("/pay/x").Shows(t, `<html lang="`+lang+`">`, says)
		}
		b.Header = http.Header{}
	}
	for b, says := range map[*webtest.Browser]string{english: "There is no payment at this address.",
		vietnamese: "Không có yêu cầu thanh toán nào ở địa chỉ này."} {
		a := b.Get("/pay/x")
		a.WantStatus(t, http.StatusNotFound)
		a.Shows(t, says)
		a.Hides(t, "request_id", `"status"`)
	}
}

// While the bank account takes no money for the shop, the page asks for none.
func TestSuspended(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	r := w.PaymentRequest(payment.RequestCreate{Amount: 200_000})
	pay(w.World, "1", 200, r.Code)
	page := func() webtest.Answer {
		t.Helper()
		a, err := w.Send("GET", r.URLPath(), "")
		apptest.Must(t, err)
		a.WantStatus(t, http.StatusOK)
		return a
	}
	picture := func(status int) {
		t.Helper()
		a, err := w.Send("GET", r.URLPath()+"/qr.png", "")
		apptest.Must(t, err)
		a.WantStatus(t, status)
	}
	toggle := func() {
		t.Helper()
		_, err := w.Services.Ledger.ToggleBankAccount(t.Context(), 1, 1, time.Now())
		apptest.Must(t, err)
	}
	for i, change := range []func(){toggle, toggle, func() { w.Unlinks(1) }} {
		change()
		a := page()
		if i == 1 {
			a.Shows(t, "<svg", apptest.SomeAccount)
			picture(http.StatusOK)
			continue
		}
		a.Shows(t, "The shop doesn’t take money on this bank account now", "Received so far: 200\u00a0₫")
		a.Hides(t, "<svg", apptest.SomeAccount, r.Code, `data-copy="`, "has expired")
		picture(http.StatusConflict)
	}
}

// A distinct amount is what the payer is asked for, and paid in full by it.
func TestDistinctAmount(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	yes := true
	_, err := w.Services.Ledger.UpdateAccount(t.Context(), 1, app.AccountUpdate{DistinctAmounts: &yes})
	apptest.Must(t, err)
	r := w.PaymentRequest(payment.RequestCreate{Amount: 200_000, ExpiresIn: time.Hour, DistinctAmount: true})
	page := func() webtest.Answer {
		t.Helper()
		a, err := w.Send("GET", r.URLPath(), "")
		apptest.Must(t, err)
		return a
	}
	asked := page()
	asked.Shows(t, fmt.Sprintf(`data-copy="%d"`, r.TransferAmount), app.GroupDigits(r.TransferAmount, app.English)+"\u00a0₫")
	asked.Hides(t, `data-copy="200000"`)
	pay(w.World, "1", r.TransferAmount, "khong ma")
	paid := page()
	paid.Shows(t, "Payment received", app.GroupDigits(r.TransferAmount, app.English)+"\u00a0₫")
	paid.Hides(t, "This is more than asked for")
}
