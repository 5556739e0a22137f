package sqlitestore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/fold"
	"baoco/app/inbound"
	"baoco/sqlitestore"

	gocmp "github.com/google/go-cmp/cmp"
)

// attemptWords are in transactions from always to never.
var attemptWords = []string{"don", "don hang 27 cua khach quen", "hàng 27 của khách xa", "àng 2 của khách quen\nFT", "ĐƠN hàng",
	"khách quen", "khach moi", "don hang 27 ", "FT12", "ft777", "1", "9k", "~", "baoco test", "test", "%", "\"", "none such"}

// TestHistoryEqualsAScan compares pages under random filters with what a scan
// of all attempts gives: of two accounts, over several blocks, with attempts
// that come long after others of younger transactions, with samples, with
// transactions that aren't indexed yet, and with gaps between the ids.
func TestHistoryEqualsAScan(t *testing.T) {
	t.Parallel()
	path := create(t)
	h := newHistory(t, path, 11)
	defer h.store.Close()
	random := rand.New(rand.NewPCG(5, 6))
	rounds, filters := apptest.Rounds(8, 30), apptest.Rounds(40, 300)
	for n := range rounds {
		h.now = h.now.Add(time.Hour)
		if n%8 == 5 {
			h.skipIDs()
		}
		h.recordWords(random, n)
		if n < rounds*3/4 { // the rest isn't indexed
			for range 2 {
				_, err := h.store.IndexSearch(t.Context())
				must(t, err)
			}
		}
		h.settleMany(random)
		h.resendSome(random)
	}
	for _, account := range []int64{1, 2} {
		all := allAttempts(t, h.store, account)
		if len(all) < rounds*250 {
			t.Fatalf("only %d attempts", len(all))
		}
		for range filters {
			f := randomHistoryFilter(random, all)
			h.store.FewIDs([]int{1, 100, 100_000}[random.IntN(3)])
			got, total, err := h.store.History(t.Context(), account, f)
			must(t, err)
			want, wantTotal := scanHistory(all, f)
			if total != wantTotal {
				t.Errorf("%s: total %d, want %d", shownFilter(f), total, wantTotal)
			}
			if d := gocmp.Diff(want, attemptIDs(got)); d != "" {
				t.Fatalf("%s (-scanned +got):\n%s", shownFilter(f), d)
			}
		}
	}
}

// recordWords records 500 transactions of account 1 or 2 with words of all
// frequencies.
func (h *history) recordWords(random *rand.Rand, round int) {
	h.t.Helper()
	source := h.sources[round%len(h.sources)] // the order of commits must not decide how many rows an account has
	call := inbound.Call{AccountID: source.AccountID, Source: source, Channel: app.ChannelCall, Body: []byte("{}"), ReceivedAt: h.now}
	for i := range 500 {
		n := round*500 + i
		content := fmt.Sprintf("Đơn hàng %d của", random.IntN(100))
		switch {
		case random.IntN(30) == 0:
			content += " khách quen"
		case random.IntN(400) == 0:
			content += " khách mới 9k"
		}
		call.Elements = append(call.Elements, inbound.Incoming{
			EventID: fmt.Sprint("w", n), Gateway: "ACB", AccountNumber: fmt.Sprint("100", random.IntN(3)), Number: fmt.Sprint("FT", n),
			Type: []app.Direction{app.In, app.Out}[random.IntN(2)], Amount: 1000 * (1 + random.Int64N(50)), Content: content, Time: h.now,
		})
	}
	_, err := h.service.Inbound.RecordTransactions(context.Background(), call)
	must(h.t, err)
}

// settleMany makes most of the attempts that are due, in any order, and leaves
// some for much later.
func (h *history) settleMany(random *rand.Rand) {
	h.t.Helper()
	for _, hook := range h.hooks {
		for _, retries := range []bool{false, true} {
			due, err := h.service.Deliveries.Due(context.Background(), delivery.DueFilter{WebhookID: hook.ID, Retries: retries, Limit: 600}, h.now)
			must(h.t, err)
			due = slices.DeleteFunc(due, func(delivery.Outgoing) bool { return random.IntN(20) == 0 })
			random.Shuffle(len(due), func(i, j int) { due[i], due[j] = due[j], due[i] })
			var all sync.WaitGroup
			for worker := range 32 { // so that they share commits
				all.Go(func() {
					for i := worker; i < len(due); i += 32 {
						r := delivery.Result{StartedAt: h.now.Add(time.Duration(i) * time.Second), StatusCode: 200}
						if due[i].ID%4 == 0 {
							r.StatusCode, r.Error = 500, delivery.ErrorHTTPStatus
						}
						if _, err := h.service.Deliveries.Settle(context.Background(), due[i], r); err != nil {
							h.t.Error(err)
						}
					}
				})
			}
			all.Wait()
		}
	}
}

// resendSome sends old transactions again, and samples.
func (h *history) resendSome(random *rand.Rand) {
	h.t.Helper()
	ctx := context.Background()
	for _, hook := range h.hooks {
		if random.IntN(2) == 0 {
			_, err := h.service.Deliveries.TestWebhook(ctx, hook.AccountID, hook.ID, h.now)
			must(h.t, err)
		}
		list, total, err := h.store.History(ctx, hook.AccountID, delivery.HistoryFilter{WebhookID: hook.ID, Page: app.Page{Number: 1, Size: 1}})
		must(h.t, err)
		if total == 0 {
			continue
		}
		for range 3 {
			_, err := h.service.Deliveries.Resend(ctx, hook.AccountID, 1+random.Int64N(list[0].ID), app.IdempotencyKey{}, h.now)
			if code := app.CodeOf(err); err != nil && code != app.CodeNotFound && code != app.CodeDeliveryPending {
				h.t.Error(err)
			}
		}
	}
}

// scannedAttempt is an attempt with what a search looks at.
type scannedAttempt struct {
	delivery.Attempt
	text string
}

func allAttempts(t *testing.T, store *sqlitestore.Store, account int64) (all []scannedAttempt) {
	t.Helper()
	for number := int64(1); ; number++ {
		page, total, err := store.History(t.Context(), account, delivery.HistoryFilter{Page: app.Page{Number: number, Size: 1000}})
		must(t, err)
		for _, a := range page {
			all = append(all, scannedAttempt{a, app.SearchText(a.Payload.Content, a.Payload.TransactionNumber)})
		}
		if len(page) == 0 {
			if int64(len(all)) != total {
				t.Fatalf("%d attempts of %d", len(all), total)
			}
			return all
		}
	}
}

func randomHistoryFilter(random *rand.Rand, all []scannedAttempt) delivery.HistoryFilter {
	maybe := func() bool { return random.IntN(4) == 0 }
	f := delivery.HistoryFilter{Page: app.Page{Number: 1 + random.Int64N(3), Size: 1 + random.IntN(40),
		CountTo: []int64{0, 0, 1, 30, 500, 100_000}[random.IntN(6)]}}
	if maybe() {
		f.Page.Number = 1 + random.Int64N(200)
	}
	some := all[random.IntN(len(all))]
	if maybe() {
		f.WebhookID = some.Delivery.WebhookID
	}
	if maybe() {
		good := random.IntN(2) == 0
		f.OK = &good
	}
	if maybe() {
		f.Type = some.Payload.TransferType
	}
	if maybe() {
		f.From = some.Result.StartedAt
	}
	if maybe() {
		f.To = all[random.IntN(len(all))].Result.StartedAt
	}
	if maybe() {
		f.UntilID = all[random.IntN(len(all))].ID
	}
	if random.IntN(12) == 0 {
		f.TransactionID = some.Delivery.TransactionID
	}
	if random.IntN(12) == 0 {
		f.DeliveryID = some.Delivery.ID
	}
	if random.IntN(3) > 0 {
		f.Query = attemptWords[random.IntN(len(attemptWords))]
	}
	return f
}

// fits is the plain meaning of a filter.
func fits(a scannedAttempt, f delivery.HistoryFilter) bool {
	return (f.WebhookID == 0 || a.Delivery.WebhookID == f.WebhookID) && (f.OK == nil || a.Result.OK() == *f.OK) &&
		(f.Type == "" || a.Payload.TransferType == f.Type) && (f.From.IsZero() || !a.Result.StartedAt.Before(f.From)) &&
		(f.To.IsZero() || a.Result.StartedAt.Before(f.To)) && (f.UntilID == 0 || a.ID <= f.UntilID) &&
		(f.TransactionID == 0 || a.Delivery.TransactionID == f.TransactionID) && (f.DeliveryID == 0 || a.Delivery.ID == f.DeliveryID) &&
		strings.Contains(a.text, fold.String(f.Query))
}

func scanHistory(all []scannedAttempt, f delivery.HistoryFilter) (page []int64, total int64) {
	matching := []int64{}
	for _, a := range all { // newest first
		if fits(a, f) {
			matching = append(matching, a.ID)
		}
	}
	from := min(len(matching), int(f.Page.Offset()))
	total = int64(len(matching))
	kept := f.WebhookID == 0 && f.OK == nil && f.Type == "" && f.From.IsZero() && f.To.IsZero() && f.TransactionID == 0 &&
		f.DeliveryID == 0 && f.Query == ""
	if !kept && f.Page.CountTo > 0 && total > f.Page.CountTo {
		total = app.Uncounted
	}
	return matching[from:min(len(matching), from+f.Page.Size)], total
}

func attemptIDs(list []delivery.Attempt) []int64 {
	ids := make([]int64, 0, len(list))
	for _, a := range list {
		ids = append(ids, a.ID)
	}
	return ids
}

func shownFilter(f delivery.HistoryFilter) string {
	ok := "any"
	if f.OK != nil {
		ok = fmt.Sprint(*f.OK)
	}
	f.OK = nil
	return fmt.Sprintf("%+v, ok %s", f, ok)
}
