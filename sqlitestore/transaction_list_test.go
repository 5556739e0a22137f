package sqlitestore_test

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/services"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestListingsEqualAScan compares pages under random filters, orders and sizes
// with what a scan of all rows gives, over several blocks and days of two
// accounts, with gaps between the ids.
func TestListingsEqualAScan(t *testing.T) {
	t.Parallel()
	path := create(t)
	h := newHistory(t, path, 7)
	defer h.store.Close()
	ctx := context.Background()
	random := rand.New(rand.NewPCG(3, 4))
	for n := 0; n < 3*4096; n += 500 {
		if n == 3000 || n == 4500 || n == 11000 { // between, shops aren't told of one
			_, err := h.service.Ledger.ToggleBankAccount(ctx, 1, h.banks[0].ID, h.now)
			must(t, err)
			_, err = h.service.Ledger.ToggleBankAccount(ctx, 2, h.banks[3].ID, h.now)
			must(t, err)
		}
		if n == 8500 || n == 11500 {
			h.skipIDs()
		}
		source := h.sources[3*random.IntN(2)] // one of each account
		call := inbound.Call{AccountID: source.AccountID, Source: source, Channel: app.ChannelCall, Body: []byte("{}"),
			ReceivedAt: h.now.Add(time.Duration(n) * time.Minute)}
		for i := range 500 {
			late := time.Duration(random.IntN(60*24)) * time.Minute // not quite in order
			if random.IntN(1000) == 0 {
				late += 100 * 24 * time.Hour
			}
			call.Elements = append(call.Elements, inbound.Incoming{
				EventID: fmt.Sprint("e", n+i), Gateway: "ACB", AccountNumber: fmt.Sprint("100", random.IntN(3)),
				Type:   []app.Direction{app.In, app.Out}[random.IntN(2)],
				Amount: 1000 * (1 + random.Int64N(50)), Content: fmt.Sprintf("Đơn hàng %d của khách quen", random.IntN(300)),
				Time: call.ReceivedAt.Add(-late),
			})
		}
		recording, err := h.service.Inbound.RecordTransactions(ctx, call)
		must(t, err)
		must(t, h.store.Write(ctx, func(exec func(string, ...any) error) error { // codes of a few orders, none, and of before there were patterns
			return exec(`UPDATE transactions SET code = CASE id % 3 WHEN 0 THEN 'DH' || (id % 40 + 1000) WHEN 1 THEN '' END WHERE code IS NULL`)
		}))
		if recording.Recorded != 500 {
			t.Fatalf("%d of 500 recorded", recording.Recorded)
		}
		if n == 4000 { // nothing is indexed
			checkListings(t, h, path, random, apptest.Rounds(3, 40))
		}
		for steps := 0; 4000 < n && n < 9000 && steps < 4; steps++ { // the rest isn't
			_, err := h.store.IndexSearch(ctx)
			must(t, err)
		}
	}
	mixDeliveries(t, path)
	count := map[app.DeliveryState]int{}
	for _, state := range statesOf(t, path) {
		count[state]++
	}
	for _, state := range app.TransactionStates {
		if count[state] < 100 {
			t.Fatalf("only %d transactions are %s", count[state], state)
		}
	}
	checkListings(t, h, path, random, apptest.Rounds(12, 250))
}

// Where a file has one account an index alone counts what meets a condition.
func TestIndexCountsOneAccount(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, create(t), services.Config{})
	defer w.Close()
	w.Link("ACB", apptest.SomeAccount)
	const rows = 30
	for i := range rows {
		_, _, err := w.Services.Inbound.RecordByHand(t.Context(), 1, inbound.TransactionCreate{Incoming: inbound.Incoming{
			EventID: fmt.Sprint("e", i), Gateway: "ACB", AccountNumber: apptest.SomeAccount, Type: app.In, Amount: int64(1 + i%3),
			Content: []string{"pay for tea", "coffee"}[i%2], Time: time.Now(), NotRepeat: true,
		}}, time.Now())
		must(t, err)
		if i == rows/2 {
			_, err := w.Store.IndexSearch(t.Context()) // the others aren't indexed
			must(t, err)
		}
	}
	for _, few := range []int{1, 1000} {
		w.Store.FewIDs(few)
		for _, f := range []app.TransactionFilter{
			{Query: "tea"}, {Query: "coffee"}, {MinAmount: 2}, {MaxAmount: 2}, {MinAmount: 2, MaxAmount: 2}, {Query: "tea", MinAmount: 2},
			{Query: "tea", Type: app.Out}, {MinAmount: 1, SinceID: new(int64(20)), Sort: app.SortID},
		} {
			f.Page = app.Page{Number: 1, Size: 20}
			got, err := w.Store.Transactions(t.Context(), 1, f)
			must(t, err)
			checkPage(t, f, got, scan(allTransactions(t, w.Store.Transactions, 1), nil, f))
		}
	}
}

// checkListings compares listings of both accounts under so many filters.
func checkListings(t *testing.T, h *history, path string, random *rand.Rand, filters int) {
	t.Helper()
	states := statesOf(t, path)
	edges := apptest.Rounds(40, 300) // mixDeliveries repeats itself after 37
	for _, account := range []int64{1, 2} {
		all := allTransactions(t, h.store.Transactions, account)
		var banks []int64
		for _, b := range h.banks {
			if b.AccountID == account {
				banks = append(banks, b.ID)
			}
		}
		for _, limit := range []access.BankAccountLimit{{}, {On: true, IDs: banks[:1]}, {On: true, IDs: banks[1:]}} {
			shows := slices.DeleteFunc(slices.Clone(all),
				func(tr app.Transaction) bool { return limit.On && !slices.Contains(limit.IDs, tr.BankAccountID) })
			ctx := access.SeeingOnly(context.Background(), limit)
			for _, f := range append(edgeFilters(shows, edges), randomFilters(random, shows, filters)...) {
				h.store.FewIDs([]int{1, 100, 100_000}[random.IntN(3)])
				got, err := h.store.Transactions(ctx, account, f)
				must(t, err)
				checkPage(t, f, got, scan(shows, states, f))
			}
			filters, edges = min(filters, apptest.Rounds(10, 30)), apptest.Rounds(8, 300) // fewer with a limit
		}
	}
}

// checkPage compares a page with all that a filter leaves.
func checkPage(t *testing.T, f app.TransactionFilter, got app.TransactionPage, all []*app.Transaction) {
	t.Helper()
	total := int64(len(all))
	switch {
	case got.Total == app.Uncounted:
		if f.Page.CountTo == 0 || total <= f.Page.CountTo {
			t.Errorf("%s: uncounted, but there are %d", shown(f), total)
		}
		all = all[:min(total, f.Page.CountTo)]
	case got.Total != total:
		t.Errorf("%s: total %d, want %d", shown(f), got.Total, total)
	}
	var want app.Flow
	for _, tr := range all {
		if sum := &want.In; tr.Type == app.In {
			sum.Count, sum.Total = sum.Count+1, sum.Total+tr.Amount
		} else {
			want.Out.Count, want.Out.Total = want.Out.Count+1, want.Out.Total+tr.Amount
		}
	}
	switch counted := f.Sums && got.Total != app.Uncounted; {
	case counted != (got.Sums != nil), counted && *got.Sums != want:
		t.Errorf("%s: sums %+v of %d, want %+v", shown(f), got.Sums, got.Total, want)
	}
	from := min(int64(len(all)), f.Page.Offset())
	page := []int64{}
	for _, tr := range all[from:min(int64(len(all)), from+int64(f.Page.Size))] {
		page = append(page, tr.ID)
	}
	if d := gocmp.Diff(page, idsOf(got.Rows)); d != "" {
		t.Errorf("%s (-scanned +got):\n%s", shown(f), d)
	}
}

func shown(f app.TransactionFilter) string {
	since := int64(-1)
	if f.SinceID != nil {
		since = *f.SinceID
	}
	return fmt.Sprintf("%+v since %d", f, since)
}

// mixDeliveries has deliveries of each kind of what can become of them: every
// one is pending after it was recorded.
func mixDeliveries(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_busy_timeout=5000")
	must(t, err)
	defer db.Close()
	for _, query := range []string{
		// Most are delivered; some are resent, and some of these again.
		`UPDATE deliveries SET state = 1, due_ms = NULL WHERE id % 37 > 1`,
		`UPDATE deliveries SET state = 2, due_ms = NULL WHERE id % 37 > 30`,
		`UPDATE deliveries SET state = 3, due_ms = NULL WHERE id % 37 > 34`,
		`INSERT INTO deliveries (account_id, webhook_id, transaction_id, state, attempts, retry, created_ms, single)
			SELECT account_id, webhook_id, transaction_id, id % 4, 0, 0, 0, 0 FROM deliveries WHERE id % 37 IN (2, 31, 33) OR id % 37 = 35
			AND id % 3 = 0`,
		`INSERT INTO deliveries (account_id, webhook_id, transaction_id, state, attempts, retry, created_ms, single)
			SELECT account_id, webhook_id, transaction_id, id % 4, 0, 0, 0, 0 FROM deliveries WHERE created_ms = 0 AND id % 2`,
		// As cancelling does.
		`INSERT INTO transactions_unsent SELECT account_id, transaction_id FROM deliveries WHERE state = 3 ON CONFLICT DO NOTHING`,
	} {
		_, err := db.Exec(query)
		must(t, err)
	}
}

// statesOf works out the state of every transaction from its deliveries.
func statesOf(t *testing.T, path string) map[int64]app.DeliveryState {
	t.Helper()
	last := map[int64]map[int64]int64{} // of transactions, by webhook
	pending := map[int64]bool{}
	for _, row := range peek(t, path, `SELECT transaction_id, webhook_id, state FROM deliveries WHERE state <> 3 ORDER BY id`) {
		id, hook, state := row[0].(int64), row[1].(int64), row[2].(int64)
		if last[id] == nil {
			last[id] = map[int64]int64{}
		}
		last[id][hook] = state
		pending[id] = pending[id] || state == 0
	}
	states := map[int64]app.DeliveryState{}
	for _, row := range peek(t, path, `SELECT id FROM transactions`) {
		id := row[0].(int64)
		state := app.DeliveryDelivered
		if len(last[id]) == 0 {
			state = app.DeliveryUnsent
		}
		if pending[id] {
			state = app.DeliveryPending
		}
		for _, s := range last[id] {
			if s == 2 {
				state = app.DeliveryFailed
			}
		}
		states[id] = state
	}
	return states
}

func allTransactions(t *testing.T, list func(context.Context, int64, app.TransactionFilter) (app.TransactionPage, error),
	account int64) []app.Transaction {
	t.Helper()
	var all []app.Transaction
	since := int64(0)
	for {
		found, err := list(context.Background(), account,
			app.TransactionFilter{Sort: app.SortID, SinceID: &since, Page: app.Page{Number: 1, Size: 1000}})
		must(t, err)
		page := found.Rows
		if len(page) == 0 {
			return all
		}
		all = append(all, page...)
		since = page[len(page)-1].ID
	}
}

// edgeFilters are those that chance seldom makes: filters by date that most
// transactions meet, and listings that end amid the deliveries of each of some
// transactions, or between blocks.
func edgeFilters(all []app.Transaction, n int) (list []app.TransactionFilter) {
	late := all[len(all)*9/10].ID
	// The sums of a few transactions, which lie in more blocks than a page needs:
	// the last id is in the third block, and long ago.
	gap := slices.IndexFunc(all, func(t app.Transaction) bool { return t.ID > 1_000_000 })
	list = append(list, app.TransactionFilter{BankAccountID: all[0].BankAccountID, Type: all[0].Type, UntilID: all[max(gap, 1)-1].ID,
		Page: app.Page{Number: 1, Size: 10}})
	for _, f := range []app.TransactionFilter{{Query: "đơn"}, {MinAmount: 1}, {DeliveryState: app.DeliveryDelivered, MaxAmount: 49_000}} {
		f.UntilID, f.Sort, f.Page = late, app.SortDateDesc, app.Page{Number: 1, Size: 10}
		list = append(list, f)
	}
	for i, m := range []app.SearchMeaning{meaning(all[0], true, false), meaning(all[0], false, true), meaning(all[0], true, true)} {
		for _, f := range []app.TransactionFilter{{}, {MinAmount: all[0].Amount + 1}, {BankAccountID: all[len(all)-1].BankAccountID},
			{DeliveryState: app.DeliveryFailed}, {UntilID: late}} {
			f.Query, f.Or, f.Sums, f.Page = "hàng 27", m, true, app.Page{Number: 1, Size: 50, CountTo: []int64{0, 20, 2000}[i]}
			list = append(list, f)
		}
	}
	for i, last := range all[len(all)/2 : len(all)/2+n] {
		f := app.TransactionFilter{DeliveryState: app.DeliveryFailed, UntilID: last.ID, Page: app.Page{Number: 1, Size: 100, CountTo: 8}}
		list = append(list, f)
		if i < 60 {
			f.DeliveryState, f.MinAmount, f.Query, f.Page.CountTo = "", 40_000, "hàng 12", int64(1+i)
			list = append(list, f)
		}
	}
	return list
}

func randomFilters(random *rand.Rand, all []app.Transaction, n int) (list []app.TransactionFilter) {
	for range n {
		list = append(list, randomFilter(random, all))
	}
	return list
}

func randomFilter(random *rand.Rand, all []app.Transaction) app.TransactionFilter {
	maybe := func() bool { return random.IntN(3) == 0 }
	f := app.TransactionFilter{
		Sort: []app.TransactionSort{app.SortID, app.SortIDDesc, app.SortDate, app.SortDateDesc}[random.IntN(4)],
		Page: app.Page{Number: 1 + random.Int64N(20), Size: 1 + random.IntN(100)},
	}
	if maybe() {
		f.Page.Number = 1 + random.Int64N(300)
	}
	if random.IntN(2) == 0 {
		f.Page.CountTo = []int64{10, 100, 500, 2000}[random.IntN(4)]
		f.Page.Number = 1 + random.Int64N(12)
		f.Sort = app.SortIDDesc
	}
	f.Sums = random.IntN(2) == 0
	if maybe() {
		f.DeliveryState = app.TransactionStates[random.IntN(4)]
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
	if random.IntN(6) == 0 {
		f.MaxAmount = max(some.Amount, f.MinAmount+random.Int64N(9000))
	}
	if maybe() {
		f.Query = []string{"don hang 1", "ĐƠN", "hàng 27", "12", "%", "none such", "\"", "uen\n",
			"đơn hàng 27 của khách", "don hang 127 cua khach que", "don hang 27 cua khach lạ"}[random.IntN(11)]
	}
	if f.Query != "" && maybe() {
		f.Or = meaning(some, random.IntN(2) == 0, random.IntN(2) == 0)
		if maybe() {
			f.Or.Code = all[random.IntN(len(all))].Code.Text
		}
	}
	if random.IntN(6) == 0 {
		f.Code = some.Code.Text
	}
	if maybe() {
		id := some.ID
		f.SinceID, f.Sort = &id, app.SortID
	}
	if maybe() {
		f.UntilID = all[random.IntN(len(all))].ID
	}
	return f
}

// meaning is a search text's that means the amount or the bank account of a
// transaction.
func meaning(of app.Transaction, amount, bank bool) (m app.SearchMeaning) {
	if amount {
		m.Amount = of.Amount
	}
	if bank {
		m.BankAccounts = []app.BankAccount{{ID: of.BankAccountID}, {ID: of.BankAccountID + 1}}
	}
	return m
}

// searchTexts are the search texts of contents and numbers, since the same few are
// looked through under thousands of filters.
var searchTexts sync.Map

func searchText(of *app.Transaction) string {
	key := [2]string{of.Content, of.Number}
	if text, found := searchTexts.Load(key); found {
		return text.(string)
	}
	text := app.SearchText(of.Content, of.Number)
	searchTexts.Store(key, text)
	return text
}

// scan is the plain meaning of a filter. It points into all.
func scan(all []app.Transaction, states map[int64]app.DeliveryState, f app.TransactionFilter) (matching []*app.Transaction) {
	query := strings.TrimSuffix(app.SearchText(f.Query, ""), "\n")
	// meant tells whether a transaction is what the search text of the filter means.
	meant := func(t *app.Transaction) bool {
		return strings.Contains(searchText(t), query) || t.Amount == f.Or.Amount || f.Or.Code != "" && t.Code.Text == f.Or.Code ||
			slices.ContainsFunc(f.Or.BankAccounts, func(b app.BankAccount) bool { return b.ID == t.BankAccountID })
	}
	for i := range all {
		t := &all[i]
		if f.BankAccountID != 0 && t.BankAccountID != f.BankAccountID || f.Type != "" && t.Type != f.Type ||
			!f.From.IsZero() && t.Time.Before(f.From) || !f.To.IsZero() && !t.Time.Before(f.To) ||
			f.Code != "" && t.Code.Text != f.Code || t.Amount < f.MinAmount || f.MaxAmount != 0 && t.Amount > f.MaxAmount ||
			f.UntilID != 0 && t.ID > f.UntilID ||
			f.DeliveryState != "" && states[t.ID] != f.DeliveryState || f.SinceID != nil && t.ID <= *f.SinceID ||
			!meant(t) {
			continue
		}
		matching = append(matching, t)
	}
	slices.SortFunc(matching, func(a, b *app.Transaction) int {
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
	return matching
}

func idsOf(list []app.Transaction) []int64 {
	ids := make([]int64, 0, len(list))
	for _, t := range list {
		ids = append(ids, t.ID)
	}
	return ids
}

// TestPagesOfWholeDays compares pages by date with a scan where rows stand at the very
// ends of days: of those that the filter cuts, and of those that grew since the first
// page was shown.
func TestPagesOfWholeDays(t *testing.T) {
	t.Parallel()
	path := create(t)
	h := newHistory(t, path, 7)
	defer h.store.Close()
	begin := app.Day(20_000).Start(time.FixedZone("", 7*3600))
	record := func(times ...time.Time) {
		t.Helper()
		elements := h.elements(len(times), "1000")
		for i := range elements {
			elements[i].Time = times[i]
		}
		call := h.callOf(elements)
		call.ReceivedAt = begin.AddDate(0, 1, 0)
		_, err := h.service.Inbound.RecordTransactions(t.Context(), call)
		must(t, err)
	}
	ends := []time.Duration{0, time.Second, 12 * time.Hour, 24*time.Hour - 2*time.Second, 24*time.Hour - time.Second}
	for day := range 3 {
		for _, end := range ends {
			record(begin.AddDate(0, 0, day).Add(end))
		}
	}
	middle := begin.AddDate(0, 0, 1)
	check := func(until int64) {
		t.Helper()
		all := allTransactions(t, h.store.Transactions, 1)
		states := statesOf(t, path)
		for _, from := range []time.Time{{}, middle, middle.Add(time.Second)} {
			for _, to := range []time.Time{{}, middle.Add(24*time.Hour - time.Second), middle.Add(24 * time.Hour)} {
				for number := range int64(8) {
					for _, sort := range []app.TransactionSort{app.SortDate, app.SortDateDesc} {
						f := app.TransactionFilter{From: from, To: to, UntilID: until, Sort: sort, Sums: true, Page: app.Page{Number: number + 1, Size: 2}}
						got, err := h.store.Transactions(t.Context(), 1, f)
						must(t, err)
						checkPage(t, f, got, scan(all, states, f))
					}
				}
			}
		}
	}
	check(0)
	newest := func() int64 { return peek(t, path, `SELECT max(id) FROM transactions`)[0][0].(int64) }
	for _, end := range ends {
		until := newest()
		record(middle.Add(end))
		check(until)
	}
	until := newest() // since then there came more than are looked at, the last one in the middle
	record(slices.Repeat([]time.Time{begin.AddDate(0, 0, 9)}, 5000)...)
	record(middle)
	check(until)

	f := app.TransactionFilter{Query: "n1", UntilID: until, Page: app.Page{Number: 1, Size: 100}}
	some := scan(allTransactions(t, h.store.Transactions, 1), statesOf(t, path), f)
	for _, more := range []int64{-1, 0, 1} { // exactly as many as are counted
		f.Page.CountTo = int64(len(some)) + more
		got, err := h.store.Transactions(t.Context(), 1, f)
		must(t, err)
		checkPage(t, f, got, some)
	}
}
