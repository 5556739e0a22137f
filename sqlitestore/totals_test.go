package sqlitestore_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/services"
	"baoco/app/upkeep"
	"baoco/sqlitestore"

	"github.com/google/go-cmp/cmp"
)

// history makes random events on a file, many at once, as a busy day does.
type history struct {
	t       *testing.T
	store   *sqlitestore.Store
	service *services.All
	random  *rand.Rand
	sources []inbound.Source
	banks   []app.BankAccount
	hooks   []delivery.Webhook
	now     time.Time // moves across two midnights in Ho Chi Minh City
	seq     int
}

func newHistory(t *testing.T, path string, seed uint64) *history {
	h := &history{t: t, now: time.Date(2026, 11, 20, 16, 30, 0, 0, time.UTC)}
	h.reopen(path)
	h.populate(seed, 1, h.account())
	return h
}

// account creates one.
func (h *history) account() int64 {
	h.t.Helper()
	a, err := h.service.Ledger.CreateAccount(context.Background(), "another", h.now)
	must(h.t, err)
	return a.ID
}

// populate has random events happen on accounts: it gives them bank accounts,
// sources and webhooks.
func (h *history) populate(seed uint64, accounts ...int64) {
	h.t.Helper()
	ctx := context.Background()
	h.random = rand.New(rand.NewPCG(seed, 1))
	for _, account := range accounts {
		for i := range 3 {
			b, err := h.service.Inbound.LinkBankAccount(ctx, account,
				inbound.BankAccountLink{Bank: "ACB", AccountNumber: fmt.Sprint("100", i), AccountName: "A",
					BankAccountReceiving: app.BankAccountReceiving{ReceivingNumbers: fmt.Sprintf("VA%d0=Till\nVA%d1", i, i)}}, h.now)
			must(h.t, err)
			h.banks = append(h.banks, b.BankAccount)
		}
		for i := range 2 {
			src, err := h.service.Inbound.AddSource(ctx, account, inbound.SourceAdd{Provider: "native", Name: fmt.Sprint(i)}, h.now)
			must(h.t, err)
			h.sources = append(h.sources, src)
			hook, _, err := h.service.Deliveries.CreateWebhook(ctx, account,
				delivery.WebhookCreate{Name: "w", URL: "https://shop.vn/w", Type: []delivery.WebhookType{delivery.WebhookAll, delivery.WebhookIn}[i]},
				h.now)
			must(h.t, err)
			h.hooks = append(h.hooks, hook)
		}
	}
}

// reopen serves the file, which nobody has open.
func (h *history) reopen(path string) {
	w := apptest.Open(h.t, path, services.Config{
		Send: func(context.Context, delivery.Outgoing) delivery.Result {
			return delivery.Result{StartedAt: h.now, StatusCode: 200}
		},
		Alert: func(context.Context, alert.Channel, alert.Message) error { return nil },
	})
	h.store, h.service = w.Store, w.Services
}

// leap has the ids go on a million further, as after a restore.
func (h *history) skipIDs() {
	h.t.Helper()
	must(h.t, h.store.Write(context.Background(), func(exec func(string, ...any) error) error {
		return exec(`UPDATE sqlite_sequence SET seq = seq + 1000000`)
	}))
}

// call makes a call of one to five elements, some of them repeats, conflicts,
// unknown accounts or unreadable.
func (h *history) call() inbound.Call {
	source := h.sources[h.random.IntN(len(h.sources))]
	call := inbound.Call{AccountID: source.AccountID, Source: source, Channel: app.ChannelCall, Body: []byte("{}"), ReceivedAt: h.now}
	for range 1 + h.random.IntN(5) {
		h.seq++
		e := inbound.Incoming{
			EventID: fmt.Sprint(h.seq), Gateway: "ACB", AccountNumber: fmt.Sprint("100", h.random.IntN(3)),
			Number: fmt.Sprint("N", h.random.IntN(h.seq+1)), Type: []app.Direction{app.In, app.Out}[h.random.IntN(2)],
			Amount: 1 + h.random.Int64N(app.MaxAmount), Time: h.now.Add(-time.Duration(h.random.IntN(200)) * time.Minute),
		}
		e.SubAccount = "VA" + e.AccountNumber[3:] + fmt.Sprint(h.seq%4) // half of them are entered
		switch h.random.IntN(10) {
		case 0: // perhaps a repeat, mostly a conflict
			e.EventID = fmt.Sprint(1 + h.random.IntN(h.seq))
		case 1:
			e.AccountNumber = "999"
		case 2:
			e.Fault = &app.FieldError{Field: "transferAmount", Text: app.AmountRule}
		case 3:
			e.Amount, e.Number = 50000, "same" // the same transfer from two sources
		case 4:
			e.Time = h.now.Add(20 * time.Hour) // dated tomorrow
		}
		call.Elements = append(call.Elements, e)
	}
	return call
}

func (h *history) step() {
	ctx := context.Background()
	h.now = h.now.Add(time.Duration(h.random.IntN(9)) * time.Minute)
	switch h.random.IntN(8) {
	default: // several at once, so that they share a commit
		var all sync.WaitGroup
		for range 1 + h.random.IntN(12) {
			call := h.call()
			all.Go(func() {
				if _, err := h.service.Inbound.RecordTransactions(ctx, call); err != nil {
					h.t.Error(err)
				}
				// One that fails shares the commit too.
				_, _, err := h.service.Inbound.RecordByHand(ctx, call.AccountID, inbound.TransactionCreate{Incoming: inbound.Incoming{
					EventID: "x", Gateway: "ACB", AccountNumber: "no such", Type: app.In, Amount: 1,
				}}, call.ReceivedAt)
				if app.CodeOf(err) != app.CodeValidation {
					h.t.Errorf("recording on an unknown account: %v", err)
				}
			})
		}
		all.Wait()
	case 0:
		b := h.banks[h.random.IntN(len(h.banks))]
		_, err := h.service.Ledger.ToggleBankAccount(ctx, b.AccountID, b.ID, h.now)
		must(h.t, err)
	case 1, 2:
		h.deliver()
	case 3:
		hook := h.hooks[h.random.IntN(len(h.hooks))]
		_, err := h.service.Deliveries.TestWebhook(ctx, hook.AccountID, hook.ID, h.now)
		must(h.t, err)
	case 4:
		_, err := h.service.Upkeep.Prune(ctx, upkeep.PruneLimits{Inbound: 3 * time.Hour, History: 3 * time.Hour}, h.now)
		must(h.t, err)
	}
}

// deliver settles some due deliveries, with success or without.
func (h *history) deliver() {
	ctx := context.Background()
	for _, hook := range h.hooks {
		due, err := h.service.Deliveries.Due(ctx, delivery.DueFilter{WebhookID: hook.ID, Retries: h.random.IntN(2) == 0, Limit: 10}, h.now)
		must(h.t, err)
		for _, o := range due {
			r := delivery.Result{StartedAt: h.now, StatusCode: 200}
			if h.random.IntN(3) == 0 {
				r.StatusCode, r.Error = 500, delivery.ErrorHTTPStatus
			}
			_, err := h.service.Deliveries.Settle(ctx, o, r)
			must(h.t, err)
		}
	}
}

// The machine of these tests stands elsewhere than the shop. It is set once,
// since goroutines of a store read it whenever they look at a file.
func init() {
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		panic(err)
	}
	time.Local = zone
}

// TestTotalsEqualTheirRows recounts every kept total from the rows after a
// random history, while the process runs in another zone.
func TestTotalsEqualTheirRows(t *testing.T) {
	t.Parallel()
	for seed := range uint64(apptest.Rounds(1, 4)) {
		path := create(t)
		h := newHistory(t, path, seed)
		for range 120 {
			h.step()
		}
		checkTotals(t, path, 7*3600)
		// A changed zone counts the days again.
		must(t, h.store.SetZone(context.Background(), "Asia/Tokyo"))
		checkTotals(t, path, 9*3600)
		must(t, h.store.Close())
	}
}

// checkTotals compares totals with rows; offset is the zone's, in seconds east
// of UTC.
func checkTotals(t *testing.T, path string, offset int) {
	t.Helper()
	if n := peek(t, path, `SELECT count(*) FROM transactions`)[0][0].(int64); n < 100 {
		t.Fatalf("only %d transactions: the history is too thin to show anything", n)
	}
	for _, c := range []struct{ name, kept, counted string }{
		{"account_totals", `SELECT account_id, in_count, in_amount, out_count, out_amount FROM account_totals ORDER BY 1`,
			`SELECT a.id, count(*) FILTER (WHERE type = 'IN'), coalesce(sum(amount) FILTER (WHERE type = 'IN'), 0),
				count(*) FILTER (WHERE type = 'OUT'), coalesce(sum(amount) FILTER (WHERE type = 'OUT'), 0)
			FROM accounts a LEFT JOIN transactions t ON t.account_id = a.id GROUP BY a.id ORDER BY 1`},
		{"history_rows", `SELECT account_id, history_rows FROM account_totals ORDER BY 1`,
			`SELECT a.id, (SELECT count(*) FROM attempts t WHERE t.account_id = a.id) FROM accounts a ORDER BY 1`},
		{"account_days", `SELECT account_id, day, type, count, amount FROM account_days ORDER BY 1, 2, 3`,
			fmt.Sprintf(`SELECT account_id, (occurred_at + %d) / 86400 AS d, type, count(*), sum(amount) FROM transactions GROUP BY 1, 2, 3
				ORDER BY 1, 2, 3`, offset)},
		{"bank_account_days", `SELECT bank_account_id, day, type, count, amount FROM bank_account_days ORDER BY 1, 2, 3`,
			fmt.Sprintf(`SELECT bank_account_id, (occurred_at + %d) / 86400 AS d, type, count(*), sum(amount) FROM transactions GROUP BY 1, 2, 3
				ORDER BY 1, 2, 3`, offset)},
		{"receiving_number_days",
			`SELECT bank_account_id, receiving_number, day, type, count, amount FROM receiving_number_days ORDER BY 1, 2, 3, 4`,
			fmt.Sprintf(`SELECT bank_account_id, receiving_number, (occurred_at + %d) / 86400 AS d, type, count(*), sum(amount) FROM transactions
				WHERE receiving_number <> '' GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`, offset)},
		{"bank_account_totals",
			`SELECT b.id, coalesce(t.count, 0), coalesce(t.amount, 0) FROM bank_accounts b LEFT
				JOIN bank_account_totals t ON t.bank_account_id = b.id ORDER BY 1`,
			`SELECT b.id, count(t.id), coalesce(sum(t.amount), 0) FROM bank_accounts b LEFT JOIN transactions t ON t.bank_account_id = b.id
				GROUP BY b.id ORDER BY 1`},
		{"open items", `SELECT id, open FROM inbound_events ORDER BY 1`,
			`SELECT e.id, (SELECT count(*) FROM inbound_items i WHERE i.inbound_event_id = e.id
				AND i.state IN ('unassigned', 'rejected', 'conflict')) FROM inbound_events e ORDER BY 1`},
	} {
		if d := cmp.Diff(peek(t, path, c.counted), peek(t, path, c.kept)); d != "" {
			t.Errorf("%s (-counted from the rows +kept):\n%s", c.name, d)
		}
	}
	// Attempts ever made are never fewer than those in the history.
	for _, row := range peek(t, path, `SELECT attempts_made - history_rows, attempts_failed FROM account_totals`) {
		if row[0].(int64) < 0 || row[1].(int64) == 0 {
			t.Errorf("attempts made beyond the history %v, failed %v", row[0], row[1])
		}
	}
}

// An amount with which the sums of an account would not fit into 64 bits is refused
// alone: neither other elements of its call nor calls in the same commit fail with it.
func TestSumThatWouldNotFit(t *testing.T) {
	t.Parallel()
	ctx, path := t.Context(), create(t)
	h := newHistory(t, path, 1)
	defer h.store.Close()
	second := h.account()
	h.populate(2, second)
	var outcomes [4]inbound.Outcome
	errs := h.together([]func() error{
		func() error {
			return h.store.Write(ctx, func(exec func(string, ...any) error) error {
				return exec(`UPDATE account_totals SET in_amount = ?, out_amount = 4 WHERE account_id = 1`, int64(math.MaxInt64-1000))
			})
		},
		h.recorded(h.sources[0], "a", "1", 400, &outcomes[0]),
		h.recorded(h.sources[0], "b", "2", 600, &outcomes[1]), // 4 too many
		h.recorded(h.sources[1], "c", "3", 596, &outcomes[2]),
		h.recorded(h.sources[0], "d", "4", 1, &outcomes[3]),
		func() error {
			_, err := h.service.Inbound.RecordTransactions(ctx, inbound.Call{
				AccountID: second, Source: h.sources[2], Channel: app.ChannelCall, Body: []byte("{}"), ReceivedAt: h.now,
				Elements: h.elements(1, "1000"),
			})
			return err
		},
	})
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	if want := [4]inbound.Outcome{inbound.OutcomeRecorded, inbound.OutcomeRejected, inbound.OutcomeRecorded,
		inbound.OutcomeRejected}; outcomes != want {
		t.Errorf("outcomes %v, want %v", outcomes, want)
	}
	e := h.elements(1, "1000")[0]
	if _, _, err := h.service.Inbound.RecordByHand(ctx, 1, inbound.TransactionCreate{
		Incoming: e,
	}, h.now); app.CodeOf(err) != app.CodeLimitReached {
		t.Errorf("by hand: %v", err)
	}
	h.record(h.elements(1, "999")) // waits
	r, err := h.service.Inbound.LinkBankAccount(ctx, 1, inbound.BankAccountLink{Bank: "ACB", AccountNumber: "999", AccountName: "A"}, h.now)
	if waiting := h.count(`inbound_items WHERE state = 'unassigned'`); err != nil || r.Recorded != 0 || waiting != 1 {
		t.Errorf("linked: %+v, %v, %d wait", r, err, waiting)
	}
	n, kept := h.count(`transactions`), h.count(`inbound_items WHERE state = 'rejected' AND reason_field = 'transferAmount'`)
	if n != 3 || kept != 2 {
		t.Errorf("%d are recorded and %d kept as rejected", n, kept)
	}
}

// Totals that can't be written fail the work that adds to them, and no other work of
// the commit.
func TestTotalsThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	must(t, h.store.Write(t.Context(), func(exec func(string, ...any) error) error {
		return exec(`INSERT INTO bank_account_totals (bank_account_id, count, amount) 
			SELECT id, 1, ? FROM bank_accounts WHERE account_number = '1000'`, int64(math.MaxInt64))
	}))
	var outcome inbound.Outcome
	other := func() error {
		_, err := h.service.Inbound.RecordTransactions(t.Context(), inbound.Call{
			AccountID: 1, Source: h.sources[0], Channel: app.ChannelCall, Body: []byte("{}"), ReceivedAt: h.now, Elements: h.elements(1, "1001"),
		})
		return err
	}
	errs := h.together([]func() error{other, h.recorded(h.sources[0], "a", "1", 400, &outcome), other})
	if errs[0] != nil || errs[1] == nil || errs[2] != nil {
		t.Errorf("errors %v", errs)
	}
	if n := h.count(`transactions`); n != 2 {
		t.Errorf("%d are recorded", n)
	}
}
