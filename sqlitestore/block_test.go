package sqlitestore_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestListingsEqualAScan compares pages under random filters, orders and sizes
// with what a scan of all rows gives, over several blocks and days of two
// accounts.
func TestListingsEqualAScan(t *testing.T) {
	path := create(t)
	h := newHistory(t, path, 7)
	defer h.store.Close()
	ctx := context.Background()
	random := rand.New(rand.NewPCG(3, 4))
	for n := 0; n < 3*4096; n += 500 {
		source := h.sources[random.IntN(len(h.sources))]
		call := app.InboundCall{AccountID: source.AccountID, Source: source, Channel: app.ChannelCall, Body: []byte("{}"), ReceivedAt: h.now.Add(time.Duration(n) * time.Minute)}
		for i := range 500 {
			late := time.Duration(random.IntN(60*24)) * time.Minute // not quite in order
			if random.IntN(1000) == 0 {
				late += 100 * 24 * time.Hour
			}
			call.Elements = append(call.Elements, app.Incoming{
				EventID: fmt.Sprint("e", n+i), Gateway: "ACB", AccountNumber: fmt.Sprint("100", random.IntN(3)), Type: []app.Direction{app.In, app.Out}[random.IntN(2)],
				Amount: 1000 * (1 + random.Int64N(50)), Content: fmt.Sprintf("Đơn hàng %d", random.IntN(300)), Time: call.ReceivedAt.Add(-late),
			})
		}
		recording, err := h.service.RecordTransactions(ctx, call)
		must(t, err)
		if recording.Recorded != 500 {
			t.Fatalf("%d of 500 recorded", recording.Recorded)
		}
		if n < 9000 { // the rest isn't indexed
			_, err := h.store.IndexSearch(ctx)
			must(t, err)
		}
	}
	filters := 300
	if testing.Short() {
		filters = 50
	}
	for _, account := range []int64{1, 2} {
		all := allTransactions(t, h.store.Transactions, account)
		for range filters {
			f := randomFilter(random, h, account, all)
			got, total, err := h.store.Transactions(ctx, account, f)
			must(t, err)
			want, wantTotal := scan(all, f)
			if total != wantTotal {
				t.Errorf("%+v: total %d, want %d", f, total, wantTotal)
			}
			if d := gocmp.Diff(idsOf(want), idsOf(got)); d != "" {
				t.Errorf("%+v (-scanned +got):\n%s", f, d)
			}
		}
	}
}

func allTransactions(t *testing.T, list func(context.Context, int64, app.TransactionFilter) ([]app.Transaction, int64, error), account int64) []app.Transaction {
	t.Helper()
	var all []app.Transaction
	since := int64(0)
	for {
		page, _, err := list(context.Background(), account, app.TransactionFilter{Sort: app.SortID, SinceID: &since, Page: app.Page{Number: 1, Size: 1000}})
		must(t, err)
		if len(page) == 0 {
			return all
		}
		all = append(all, page...)
		since = page[len(page)-1].ID
	}
}

func randomFilter(random *rand.Rand, h *history, account int64, all []app.Transaction) app.TransactionFilter {
	maybe := func() bool { return random.IntN(3) == 0 }
	f := app.TransactionFilter{
		Sort: []app.TransactionSort{app.SortID, app.SortIDDesc, app.SortDate, app.SortDateDesc}[random.IntN(4)],
		Page: app.Page{Number: 1 + random.IntN(20), Size: 1 + random.IntN(100)},
	}
	if maybe() {
		f.Page.Number = 1 + random.IntN(300)
	}
	some := all[random.IntN(len(all))]
	if maybe() {
		f.BankAccountID = some.BankAccountID
	}
	if maybe() {
		f.Type = some.Type
	}
	if maybe() {
		f.From = some.Time
	}
	if maybe() {
		f.To = all[random.IntN(len(all))].Time
		if maybe() {
			f.To = f.To.Truncate(24 * time.Hour).Add(-7 * time.Hour) // a local midnight
		}
	}
	if random.IntN(6) == 0 {
		f.MinAmount = some.Amount
	}
	if maybe() {
		f.Query = []string{"don hang 1", "ĐƠN", "hàng 27", "12", "%", "none such", "\"", "g 1\n"}[random.IntN(8)]
	}
	if maybe() {
		id := some.ID
		f.SinceID, f.Sort = &id, app.SortID
	}
	return f
}

// scan is the plain meaning of a filter.
func scan(all []app.Transaction, f app.TransactionFilter) ([]app.Transaction, int64) {
	matching := slices.Clone(all)
	matching = slices.DeleteFunc(matching, func(t app.Transaction) bool {
		return f.BankAccountID != 0 && t.BankAccountID != f.BankAccountID || f.Type != "" && t.Type != f.Type ||
			!f.From.IsZero() && t.Time.Before(f.From) || !f.To.IsZero() && !t.Time.Before(f.To) ||
			t.Amount < f.MinAmount || f.SinceID != nil && t.ID <= *f.SinceID ||
			!strings.Contains(app.SearchText(t.Content, t.Number), app.SearchText(f.Query, "")[:len(app.SearchText(f.Query, ""))-1])
	})
	slices.SortFunc(matching, func(a, b app.Transaction) int {
		switch f.Sort {
		case app.SortID:
			return cmp.Compare(a.ID, b.ID)
		case app.SortDate:
			return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.ID, b.ID))
		case app.SortDateDesc:
			return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(b.ID, a.ID))
		}
		return cmp.Compare(b.ID, a.ID)
	})
	from := min(len(matching), int(f.Page.Offset()))
	return matching[from:min(len(matching), from+f.Page.Size)], int64(len(matching))
}

func idsOf(list []app.Transaction) []int64 {
	ids := make([]int64, 0, len(list))
	for _, t := range list {
		ids = append(ids, t.ID)
	}
	return ids
}
