package dashboard_test

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/payment"
	"baoco/web/webtest"
)

var verdictText = regexp.MustCompile(`<p class="verdict">([^<]*)</p>`)

// A card shows what money means in the language of the cashier. From which amount on
// money without a bill is small, the account says.
func TestVerdictTexts(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		w.CodePattern("DH")
		w.User(1, "thu", access.RoleCashier)
		var screens []*webtest.PipeConn
		for _, lang := range []string{"en", "vi"} {
			cookies := signInTo(w, "thu")
			sendTo(w, cookies, "POST", "/look", url.Values{"lang": {lang}, "back": {"/"}})
			c, hangUp := w.Open(cookies, "/live/counter?since=0", false)
			defer func() { hangUp(); <-c.Ended }()
			screens = append(screens, c)
		}
		n := 0
		shown := func(amount int64, content string) (texts [2]string) {
			t.Helper()
			n++
			paid(w.World.World, fmt.Sprint("v", n), amount, content)
			time.Sleep(time.Second)
			synctest.Wait()
			for i, c := range screens {
				all := strings.Split(c.Text(), "event: money")
				if len(all) != n+1 {
					t.Fatalf("%d cards after %d payments", len(all)-1, n)
				}
				if found := verdictText.FindStringSubmatch(all[n]); found != nil {
					texts[i] = found[1]
				}
			}
			return texts
		}
		shows := func(amount int64, content, en, vi string) {
			t.Helper()
			if got, want := shown(amount, content), [2]string{en, vi}; got != want {
				t.Errorf("%d for %q: the cards show %q, want %q", amount, content, got, want)
			}
		}
		looks := func(amount int64, content string) {
			t.Helper()
			for _, got := range shown(amount, content) {
				if slices.Contains([]string{"", "Paid in full", "Đủ tiền"}, got) || strings.ContainsAny(got, "0123456789") {
					t.Errorf("%d for %q: the card shows %q", amount, content, got)
				}
			}
		}
		bill := w.PaymentRequest(payment.RequestCreate{Amount: 200_000})
		shows(200, bill.Code, "Not enough: received only 200\u00a0₫, still due 199,800\u00a0₫",
			"Thiếu: mới nhận 200\u00a0₫, còn thiếu 199.800\u00a0₫")
		shows(199_800, bill.Code, "In full: 200,000\u00a0₫", "Đủ 200.000\u00a0₫") // the last of two
		shows(5000, bill.Code, "Too much: 5,000\u00a0₫ (received 205,000\u00a0₫)", "Thừa 5.000\u00a0₫ (đã nhận 205.000\u00a0₫)")
		_, err := w.Services.Ledger.UpdateAccount(t.Context(), 1, app.AccountUpdate{PaymentTolerance: new(int64(1000))})
		apptest.Must(t, err)
		bill = w.PaymentRequest(payment.RequestCreate{Amount: 200_000})
		shows(199_000, bill.Code, "Paid in full", "Đủ tiền")
		looks(1, bill.Code) // with a QR code that somebody else has photographed
		late := w.PaymentRequest(payment.RequestCreate{Amount: 200_000, ExpiresIn: time.Minute})
		time.Sleep(2 * time.Minute)
		looks(200_000, late.Code)
		shows(5000, late.Code, "Too late: the bill was cancelled or had expired · Too much: 5,000\u00a0₫",
			"Tiền đến muộn: đơn đã huỷ hoặc hết hạn · Thừa 5.000\u00a0₫")
		cancelled := w.PaymentRequest(payment.RequestCreate{Amount: 200_000})
		_, err = w.Services.Payments.CancelPaymentRequest(t.Context(), 1, cancelled.ID, time.Now())
		apptest.Must(t, err)
		looks(200, cancelled.Code)
		looks(199_800, cancelled.Code)

		const small, nho = "A small amount: look at it twice", "Số tiền nhỏ, hãy xem kỹ"
		below := func(amount int64) {
			t.Helper()
			_, err := w.Services.Ledger.UpdateAccount(t.Context(), 1, app.AccountUpdate{SmallAmount: &amount})
			apptest.Must(t, err)
		}
		shows(999, "khong ma", small, nho)
		shows(1500, "khong ma", "", "")
		below(2000)
		shows(1500, "khong ma", small, nho)
		shows(2000, "khong ma", "", "")
		below(0)
		shows(1, "khong ma", "", "")
	})
}
