package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/payment"
	"baoco/app/services"
)

// A bank account has at most 100 receiving numbers, each once, and no content prefix that hides payment codes.
func TestReceivingRefused(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, apptest.NewFile(t), services.Config{})
	t.Cleanup(w.Close)
	w.Link("ACB", "1000")
	w.Link("ACB", "2000")
	w.CodePattern("DHX")
	numbers := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprint("96A", i))
		}
		return strings.Join(list, "\n")
	}
	for _, c := range []struct {
		field           string // empty: it is taken
		numbers, prefix string
	}{
		{"", numbers(100), ""}, {"receiving_numbers", numbers(101), ""}, {"receiving_numbers", "96A\n96B\n96 A = A", ""},
		{"receiving_numbers", "96A/1", ""}, {"receiving_numbers", "96A = " + strings.Repeat("ầ", 51), ""},
		{"content_prefix", "", "DH"}, {"content_prefix", "", "dhx"}, {"content_prefix", "", "DHX1"}, {"", "", "DX"},
		{"content_prefix", "", "ABCDEFGHIJKLM"}, {"", "", "ABCDEFGHIJKL"},
	} {
		_, err := w.Services.Ledger.SetBankAccountReceiving(t.Context(), 1, 1,
			app.BankAccountReceiving{ReceivingNumbers: c.numbers, ContentPrefix: c.prefix})
		if e, refused := err.(*app.Error); refused != (c.field != "") || refused && (len(e.Fields) != 1 || e.Fields[0].Field != c.field) {
			t.Errorf("%.40q, %q: %v, want a fault of %q", c.numbers, c.prefix, err, c.field)
		}
	}
	_, err := w.Services.Ledger.SetBankAccountReceiving(t.Context(), 1, 2, app.BankAccountReceiving{ReceivingNumbers: "96A"})
	apptest.Must(t, err)
	for _, taken := range []string{"96A", "2000"} {
		_, err := w.Services.Ledger.SetBankAccountReceiving(t.Context(), 1, 1, app.BankAccountReceiving{ReceivingNumbers: taken})
		if app.CodeOf(err) != app.CodeAlreadyExists {
			t.Errorf("%s of another bank account: %v", taken, err)
		}
	}
}

// A receiving number stays as long as one thing is limited to it, whichever it is.
func TestReceivingNumberInUse(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, apptest.NewFile(t), services.Config{})
	t.Cleanup(w.Close)
	w.Link("ACB", "1000")
	set := func(numbers string) error {
		_, err := w.Services.Ledger.SetBankAccountReceiving(t.Context(), 1, 1, app.BankAccountReceiving{ReceivingNumbers: numbers})
		return err
	}
	now := time.Now()
	for what, begin := range map[string]func() func() error{
		"a webhook": func() func() error {
			hook, _, err := w.Services.Deliveries.CreateWebhook(t.Context(), 1, delivery.WebhookCreate{Name: "till", URL: "https://shop.vn/a",
				Type: delivery.WebhookAll, ReceivingNumber: "96A"}, now)
			apptest.Must(t, err)
			return func() error { return w.Services.Deliveries.DeleteWebhook(t.Context(), 1, hook.ID, now) }
		},
		"a counter screen": func() func() error {
			link, _, err := w.Services.Payments.CreateCounterLink(t.Context(), 1, payment.CounterLinkCreate{Name: "till",
				ReceivingNumber: "96A"}, now)
			apptest.Must(t, err)
			return func() error { return w.Services.Payments.RevokeCounterLink(t.Context(), 1, link.ID, now) }
		},
		"a user": func() func() error {
			thu := w.User(1, "thu", access.RoleCashier)
			limit := func(l access.BankAccountLimit) error {
				_, err := w.Services.Access.LimitUser(t.Context(), 1, thu.ID, l)
				return err
			}
			apptest.Must(t, limit(access.BankAccountLimit{On: true, IDs: []int64{1}, ReceivingNumber: "96A"}))
			return func() error { return limit(access.BankAccountLimit{}) }
		},
	} {
		apptest.Must(t, set("96A\n96B"))
		end := begin()
		if err := set("96B"); app.CodeOf(err) != app.CodeConflict {
			t.Errorf("of %s: %v", what, err)
		}
		apptest.Must(t, set("96B\n96A = A"))
		apptest.Must(t, end())
		apptest.Must(t, set("96B"))
	}
}
