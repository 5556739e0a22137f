package alert_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/services"
	"baoco/app/stream"
	"baoco/app/upkeep"

	"github.com/google/go-cmp/cmp"
)

// attempt makes the attempt of the next due delivery of a webhook.
func attempt(w *apptest.World, webhookID int64, status int, at time.Time) {
	w.T.Helper()
	due, err := w.Services.Deliveries.Due(w.T.Context(), delivery.DueFilter{WebhookID: webhookID, Retries: true, Limit: 1}, at)
	apptest.Must(w.T, err)
	if len(due) == 0 {
		due, err = w.Services.Deliveries.Due(w.T.Context(), delivery.DueFilter{WebhookID: webhookID, Limit: 1}, at)
		apptest.Must(w.T, err)
	}
	if len(due) != 1 {
		w.T.Fatalf("%d deliveries are due", len(due))
	}
	_, err = w.Services.Deliveries.Settle(w.T.Context(), due[0], result(status, at))
	apptest.Must(w.T, err)
}

func result(status int, at time.Time) delivery.Result {
	r := delivery.Result{StartedAt: at, StatusCode: status}
	if status != http.StatusOK {
		r.Error = delivery.ErrorHTTPStatus
	}
	return r
}

// attentionOf lists what needs attention, of some kinds.
func attentionOf(w *apptest.World, at time.Time, kinds ...alert.AttentionKind) []string {
	w.T.Helper()
	all, err := w.Services.Alerts.Attention(w.T.Context(), 1, upkeep.Installation{}, at)
	apptest.Must(w.T, err)
	texts := []string{}
	for _, a := range all {
		if slices.Contains(kinds, a.Kind) {
			texts = append(texts, strings.NewReplacer("\u2068", "", "\u2069", "").Replace(a.Text.VI))
		}
	}
	return texts
}

// A webhook needs attention from the first failure of a delivery until it is
// delivered. Alerts are sent from the third failure in a row. Test sends that fail
// count for neither.
func TestWebhookAttention(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, apptest.NewFile(t), services.Config{})
	defer w.Close()
	w.Link("ACB", apptest.SomeAccount)
	hook, _ := w.Webhook("https://shop.vn/", delivery.WebhookAll)
	now := time.Now()
	says := func(what string, want ...string) {
		t.Helper()
		if d := cmp.Diff(append([]string{}, want...), attentionOf(w, now, alert.AttentionWebhook, alert.AttentionRetry)); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
	mended := func(what string, want bool) {
		t.Helper()
		h, err := w.Services.Deliveries.DeliveryHealth(t.Context(), 1, now)
		apptest.Must(t, err)
		if h.Unmended == want {
			t.Errorf("%s: %+v", what, h)
		}
	}
	test := func(status int) {
		t.Helper()
		o, err := w.Store.AddTest(t.Context(), 1, hook.ID,
			func(delivery.Webhook) delivery.Payload { return delivery.Payload{TransferType: app.In} }, now)
		apptest.Must(t, err)
		_, err = w.Services.Deliveries.Settle(t.Context(), o, result(status, now))
		apptest.Must(t, err)
	}
	// next waits for the next attempt, and gives how the page names its time.
	next := func(status int) string {
		t.Helper()
		attempt(w, hook.ID, status, now)
		health, err := w.Services.Deliveries.WebhookHealth(t.Context(), 1, hook.ID, now)
		apptest.Must(t, err)
		at := health.RetryAt
		if at.IsZero() {
			return ""
		}
		return at.In(w.Services.Ledger.Zone()).Format("15:04:05")
	}
	for range 4 {
		test(500)
	}
	says("tests")
	mended("tests", true)
	w.Record("1")
	now = now.Add(time.Second)
	says("nothing was attempted yet")
	retry := next(500)
	says("one failure", "Webhook “shop”: 1 giao dịch chưa báo được cho cửa hàng, thử lại lúc "+retry+".")
	mended("one failure", false)
	test(500)
	test(500)
	says("tests after one failure", "Webhook “shop”: 1 giao dịch chưa báo được cho cửa hàng, thử lại lúc "+retry+".")
	now = now.Add(10 * time.Second)
	says("the time has come", "Webhook “shop”: 1 giao dịch chưa báo được cho cửa hàng, đang thử lại.")
	retry = next(500)
	says("two failures", "Webhook “shop”: 1 giao dịch chưa báo được cho cửa hàng, thử lại lúc "+retry+".")
	now = now.Add(time.Minute)
	next(500)
	says("three failures", "Webhook “shop” không gửi được: 9 lần gửi gần nhất đều thất bại.")
	for range 4 {
		test(500)
	}
	says("and tests", "Webhook “shop” không gửi được: 13 lần gửi gần nhất đều thất bại.")
	now = now.Add(10 * time.Minute)
	next(200)
	says("delivered")
	mended("delivered", true)

	w.Record("2")
	now = now.Add(time.Minute)
	for range 6 {
		next(500)
		now = now.Add(10 * time.Minute)
	}
	says("given up", "Webhook “shop” không gửi được: 6 lần gửi gần nhất đều thất bại.")
	mended("given up", false)
	test(200)
	says("a test succeeds")
	mended("a test succeeds", false)
	_, err := w.Services.Deliveries.ToggleWebhook(t.Context(), 1, hook.ID, now)
	apptest.Must(t, err)
	says("turned off")
	if slices.Contains(alert.Kinds, alert.AttentionRetry) {
		t.Error("one failure wakes somebody")
	}
}

// A stream needs attention once it has failed for a minute, and while its secret is
// lost; not while it is switched off.
func TestStreamAttention(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, apptest.NewFile(t), services.Config{})
	defer w.Close()
	st, _ := w.Stream(stream.Create{})
	began := time.Date(2026, 11, 21, 3, 59, 30, 0, time.UTC)
	says := func(what string, at time.Time, want ...string) {
		t.Helper()
		if d := cmp.Diff(append([]string{}, want...), attentionOf(w, at, alert.AttentionStream)); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
	settle := func(failing time.Time, problem app.Text) {
		t.Helper()
		apptest.Must(t, w.Services.Streams.SettleStream(t.Context(), stream.Progress{StreamID: st.ID, FailingSince: failing, Problem: problem}))
	}
	says("new", began)
	settle(began, app.Text{EN: "No stream keeps it.", VI: "Chưa có stream nào giữ."})
	says("under a minute", began.Add(59*time.Second))
	says("a minute", began.Add(time.Minute), "Luồng “ledger” không gửi được từ 10:59:30 21/11/2026. Chưa có stream nào giữ.")
	settle(time.Time{}, app.Text{})
	says("it works again", began.Add(time.Hour))
	_, err := w.Services.Streams.ToggleStream(t.Context(), 1, st.ID, began)
	apptest.Must(t, err)
	settle(began, app.Text{EN: "x", VI: "x"}) // of an attempt that was under way
	says("switched off", began.Add(time.Hour))
	w.Change(`UPDATE streams SET secret = x''`)
	says("switched off, and its secret lost", began.Add(time.Hour))
}

// A source that is silent for a day is strange only after seven days in a row with
// transactions.
func TestSilenceAfterBusyDays(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		days []int // before the last call, with a transaction
		want bool
	}{
		{"seven days", []int{0, 1, 2, 3, 4, 5, 6}, true},
		{"six days", []int{0, 1, 2, 3, 4, 5}, false},
		{"a day without", []int{0, 1, 2, 4, 5, 6, 7, 8}, false},
		{"none on the last day", []int{1, 2, 3, 4, 5, 6, 7}, false},
		{"and the day after", []int{-1, 0, 1, 2, 3, 4, 5}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := apptest.Open(t, apptest.NewFile(t), services.Config{})
			defer w.Close()
			w.Link("ACB", apptest.SomeAccount)
			w.Native()
			last := now.Add(-25 * time.Hour)
			w.Change(`UPDATE sources SET last_call_at = ?`, last.Unix())
			for _, day := range c.days {
				id := fmt.Sprint("d", day)
				_, _, err := w.Services.Inbound.RecordByHand(t.Context(), 1, inbound.TransactionCreate{Incoming: inbound.Incoming{
					EventID: id, Gateway: "ACB", AccountNumber: apptest.SomeAccount, Number: id, Type: app.In, Amount: 1000,
					Time: last.AddDate(0, 0, -day),
				}}, now)
				apptest.Must(t, err)
			}
			if got := attentionOf(w, now, alert.AttentionSource); (len(got) == 1) != c.want {
				t.Errorf("%q, want one: %v", got, c.want)
			}
		})
	}
}
