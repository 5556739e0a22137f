package sqlitestore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/upkeep"
	"baoco/sqlitestore"
)

// The rules of recording, through the service: a transfer is named a first time,
// and then again in another way. Every case has ids and numbers of its own.
func TestRecording(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	add := func(in inbound.SourceAdd) inbound.Source {
		t.Helper()
		in.Provider, in.Name = "casso", "n"
		s, err := h.service.Inbound.AddSource(ctx, 1, in, h.now)
		must(t, err)
		return s
	}
	first, second := h.sources[0], h.sources[1]
	polled, narrowed := add(inbound.SourceAdd{APIKey: "key"}), add(inbound.SourceAdd{BankAccountID: h.banks[1].ID})
	_, _, err := h.service.Deliveries.CreateWebhook(ctx, 1,
		delivery.WebhookCreate{Name: "one", URL: "https://shop.vn/one", Type: delivery.WebhookAll, BankAccountIDs: []int64{h.banks[1].ID}}, h.now)
	must(t, err)
	_, err = h.service.Ledger.ToggleBankAccount(ctx, 1, h.banks[2].ID, h.now)
	must(t, err)

	type again = func(c *inbound.Call, e *inbound.Incoming)
	from := func(s inbound.Source, channel app.Channel) again {
		return func(c *inbound.Call, _ *inbound.Incoming) { c.Source, c.Channel = s, channel }
	}
	other, third := from(second, app.ChannelCall), from(polled, app.ChannelCall)
	id := func(id string) again { return func(_ *inbound.Call, e *inbound.Incoming) { e.EventID += id } }
	amount := func(by int64) again { return func(_ *inbound.Call, e *inbound.Incoming) { e.Amount += by } }
	out := func(_ *inbound.Call, e *inbound.Incoming) { e.Type = app.Out }
	account := func(number string) again {
		return func(_ *inbound.Call, e *inbound.Incoming) { e.AccountNumber = number }
	}
	masked := func(number string) again {
		return func(_ *inbound.Call, e *inbound.Incoming) { e.AccountNumber, e.Masked = number, true }
	}
	bank := func(name string) again { return func(_ *inbound.Call, e *inbound.Incoming) { e.Gateway = name } }
	later := func(d time.Duration) again {
		return func(_ *inbound.Call, e *inbound.Incoming) { e.Time = e.Time.Add(d) }
	}
	content := func(_ *inbound.Call, e *inbound.Incoming) { e.Content = "another" }
	unnumbered := func(_ *inbound.Call, e *inbound.Incoming) { e.Number = "" }
	spelled := func(format string) again {
		return func(_ *inbound.Call, e *inbound.Incoming) { e.Number = fmt.Sprintf(format, e.Number) }
	}
	midnight := func(c *inbound.Call, e *inbound.Incoming) {
		e.Time = app.DayOf(e.Time, h.service.Ledger.Zone()).Start(h.service.Ledger.Zone())
	}
	day := func(c *inbound.Call, e *inbound.Incoming) { midnight(c, e); e.DateOnly = true }
	undated := func(_ *inbound.Call, e *inbound.Incoming) { e.Time = time.Time{} }
	silent := func(c *inbound.Call, _ *inbound.Incoming) { c.NoDeliveries = true }
	quiet := func(d time.Duration) again {
		return func(c *inbound.Call, e *inbound.Incoming) { c.NoDeliveriesBefore = e.Time.Add(d) }
	}
	window, near := app.SameTransferWindow, inbound.RepeatWindow

	for _, c := range []struct {
		name       string
		calls      [][]again // the last one is judged
		want       inbound.Outcome
		deliveries int
	}{
		{"one that is new", [][]again{{}}, inbound.OutcomeRecorded, 2},
		{"money out", [][]again{{out}}, inbound.OutcomeRecorded, 1},
		{"on the account of one webhook", [][]again{{account("1001")}}, inbound.OutcomeRecorded, 3},

		{"the same event", [][]again{{}, {}}, inbound.OutcomeDuplicate, 0},
		{"with another text", [][]again{{}, {content}}, inbound.OutcomeDuplicate, 0},
		{"with another number", [][]again{{}, {unnumbered}}, inbound.OutcomeDuplicate, 0},
		{"with another time", [][]again{{}, {later(-time.Hour)}}, inbound.OutcomeDuplicate, 0},
		{"by a bank of no known name", [][]again{{}, {bank("Nobody")}}, inbound.OutcomeDuplicate, 0},
		{"with some digits", [][]again{{}, {masked("1xx0")}}, inbound.OutcomeDuplicate, 0},
		{"with some digits of another", [][]again{{}, {masked("1xx1")}}, inbound.OutcomeConflict, 0},
		{"with more money", [][]again{{}, {amount(1)}}, inbound.OutcomeConflict, 0},
		{"with less money", [][]again{{}, {amount(-1)}}, inbound.OutcomeConflict, 0},
		{"in the other direction", [][]again{{}, {out}}, inbound.OutcomeConflict, 0},
		{"on another account", [][]again{{}, {account("1001")}}, inbound.OutcomeConflict, 0},
		{"at another bank", [][]again{{}, {bank("VCB")}}, inbound.OutcomeConflict, 0},
		{"the same event of an account that isn't linked", [][]again{{account("999")}, {account("999")}}, inbound.OutcomeDuplicate, 0},
		{"with more money there", [][]again{{account("999")}, {account("999"), amount(1)}}, inbound.OutcomeConflict, 0},
		{"another event of that id by another source", [][]again{{}, {other, unnumbered, content}}, inbound.OutcomeMayBeRepeat, 0},

		{"by another source", [][]again{{}, {other, id("b")}}, inbound.OutcomeDuplicate, 0},
		{"by another source, within the time after", [][]again{{}, {other, id("b"), later(window)}}, inbound.OutcomeDuplicate, 0},
		{"by another source, beyond the time after", [][]again{{}, {other, id("b"), later(window + time.Second)}}, inbound.OutcomeRecorded, 2},
		{"by another source, within the time before", [][]again{{}, {other, id("b"), later(-window)}}, inbound.OutcomeDuplicate, 0},
		{"by another source, beyond the time before", [][]again{{}, {other, id("b"), later(-window - time.Second)}}, inbound.OutcomeRecorded, 2},
		{"by another source with more money", [][]again{{}, {other, id("b"), amount(1)}}, inbound.OutcomeRecorded, 2},
		{"by another source with less money", [][]again{{}, {other, id("b"), amount(-1)}}, inbound.OutcomeRecorded, 2},
		{"by another source in the other direction", [][]again{{}, {other, id("b"), out}}, inbound.OutcomeRecorded, 1},
		{"by another source on another account", [][]again{{}, {other, id("b"), account("1001")}}, inbound.OutcomeRecorded, 3},
		{"by another source without numbers", [][]again{{unnumbered}, {other, id("b"), unnumbered}}, inbound.OutcomeDuplicate, 0},
		{"by another source with the bank's suffix", [][]again{{}, {other, id("b"), content, spelled(`%s\BNK`)}}, inbound.OutcomeDuplicate, 0},
		{"by another source with a suffix and separators", [][]again{{spelled("5389 - %s")}, {other, id("b"), content, spelled(`5389.%s\I2B`)}},
			inbound.OutcomeDuplicate, 0},
		{"by another source with separators alone", [][]again{{spelled("-%.0s")}, {other, id("b"), content, spelled("-%.0s")}},
			inbound.OutcomeMayBeRepeat, 0},
		{"in lower case, by a number that a later report gave",
			[][]again{{unnumbered}, {other, id("b"), spelled("a%s")}, {third, id("c"), content, spelled("A%s.")}}, inbound.OutcomeDuplicate, 0},
		{"the same number of one source and channel", [][]again{{}, {id("b")}}, inbound.OutcomeRecorded, 2},
		{"of a file", [][]again{{}, {from(first, app.ChannelFile), id("b")}}, inbound.OutcomeDuplicate, 0},
		{"merged, and once more", [][]again{{}, {other, id("b")}, {other, id("b")}}, inbound.OutcomeDuplicate, 0},
		{"merged, and another of that number", [][]again{{}, {other, id("b")}, {other, id("c")}}, inbound.OutcomeRecorded, 2},

		{"by a number that a later report gave", [][]again{{unnumbered}, {other, id("b")}, {third, id("c"), content}},
			inbound.OutcomeDuplicate, 0},
		{"by that number with more money", [][]again{{unnumbered}, {other, id("b")}, {third, id("c"), content, amount(1)}},
			inbound.OutcomeRecorded, 2},
		{"by that number in the other direction", [][]again{{unnumbered}, {other, id("b")}, {third, id("c"), content, out}},
			inbound.OutcomeRecorded, 1},
		{"by that number beyond the time after",
			[][]again{{unnumbered}, {other, id("b")}, {third, id("c"), content, later(window + time.Second)}}, inbound.OutcomeRecorded, 2},
		{"by that number, which another account has too",
			[][]again{{unnumbered}, {other, id("b")}, {other, id("c"), account("1001"), out}, {third, id("d"), account("1001"), content}},
			inbound.OutcomeRecorded, 3},

		{"without a number, within the time after", [][]again{{unnumbered}, {other, unnumbered, later(near)}}, inbound.OutcomeDuplicate, 0},
		{"without a number, a second before", [][]again{{unnumbered}, {other, unnumbered, later(-time.Second)}}, inbound.OutcomeDuplicate, 0},
		{"without a number, beyond the time after", [][]again{{unnumbered}, {other, unnumbered, later(near + time.Second)}},
			inbound.OutcomeRecorded, 2},
		{"without a number, within the time before", [][]again{{unnumbered}, {other, unnumbered, later(-near)}}, inbound.OutcomeDuplicate, 0},
		{"without a number, beyond the time before", [][]again{{unnumbered}, {other, unnumbered, later(-near - time.Second)}},
			inbound.OutcomeRecorded, 2},
		{"without a number or a time", [][]again{{unnumbered}, {other, unnumbered, day}}, inbound.OutcomeDuplicate, 0},
		{"of the first second of a day", [][]again{{unnumbered, midnight}, {other, unnumbered, day}}, inbound.OutcomeDuplicate, 0},
		{"of the last second of the day before", [][]again{{unnumbered, midnight, later(-time.Second)}, {other, unnumbered, day}},
			inbound.OutcomeRecorded, 2},
		{"of the last second of a day", [][]again{{unnumbered, midnight, later(24*time.Hour - time.Second)}, {other, unnumbered, day}},
			inbound.OutcomeDuplicate, 0},
		{"of the first second of the next day", [][]again{{unnumbered, midnight, later(24 * time.Hour)}, {other, unnumbered, day}},
			inbound.OutcomeRecorded, 2},
		{"of the day alone, and then with its time", [][]again{{unnumbered, day}, {other, unnumbered}}, inbound.OutcomeDuplicate, 0},
		{"of the first second of the day, and later that day", [][]again{{unnumbered, midnight}, {other, unnumbered}},
			inbound.OutcomeRecorded, 2},
		{"of the next day alone, minutes before it",
			[][]again{{unnumbered, later(24 * time.Hour), day}, {other, unnumbered, later(24 * time.Hour), midnight, later(-time.Minute)}},
			inbound.OutcomeRecorded, 2},

		{"called and listed", [][]again{{from(polled, app.ChannelCall), unnumbered}, {from(polled, app.ChannelPoll), id("b"), unnumbered}},
			inbound.OutcomeDuplicate, 0},
		{"called without a number and listed with one",
			[][]again{{from(polled, app.ChannelCall), unnumbered}, {from(polled, app.ChannelPoll), id("b")}}, inbound.OutcomeDuplicate, 0},
		{"called with a number and listed without",
			[][]again{{from(polled, app.ChannelCall)}, {from(polled, app.ChannelPoll), id("b"), unnumbered}}, inbound.OutcomeDuplicate, 0},
		{"called once and listed twice",
			[][]again{{from(polled, app.ChannelCall), unnumbered}, {from(polled, app.ChannelPoll), id("b"), unnumbered},
				{from(polled, app.ChannelPoll), id("c"), unnumbered}}, inbound.OutcomeRecorded, 2},
		{"called and listed a second later", [][]again{{from(polled, app.ChannelCall), unnumbered},
			{from(polled, app.ChannelPoll), id("b"), unnumbered, later(time.Second)}}, inbound.OutcomeDuplicate, 0},
		{"called and listed with another text", [][]again{{from(polled, app.ChannelCall), unnumbered},
			{from(polled, app.ChannelPoll), id("b"), unnumbered, content}}, inbound.OutcomeMayBeRepeat, 0},
		{"called and listed with more money", [][]again{{from(polled, app.ChannelCall), unnumbered},
			{from(polled, app.ChannelPoll), id("b"), unnumbered, amount(1)}}, inbound.OutcomeRecorded, 2},
		{"called and listed without a date", [][]again{{from(polled, app.ChannelCall), unnumbered, undated},
			{from(polled, app.ChannelPoll), id("b"), unnumbered, undated}}, inbound.OutcomeDuplicate, 0},
		{"called and listed by a source that isn't polled", [][]again{{unnumbered}, {from(first, app.ChannelPoll), id("b"), unnumbered}},
			inbound.OutcomeDuplicate, 0},

		{"by a source for another account", [][]again{{from(narrowed, app.ChannelCall)}}, inbound.OutcomeUnassigned, 0},
		{"by a source for this account", [][]again{{from(narrowed, app.ChannelCall), account("1001")}}, inbound.OutcomeRecorded, 3},
		{"by a source for this account, unnamed", [][]again{{from(narrowed, app.ChannelCall), account("")}}, inbound.OutcomeRecorded, 3},
		{"on an account that is off", [][]again{{account("1002")}}, inbound.OutcomeRecorded, 0},
		{"in silence", [][]again{{silent}}, inbound.OutcomeRecorded, 0},
		{"before what is told of", [][]again{{quiet(time.Second)}}, inbound.OutcomeRecorded, 0},
		{"as soon as it is told of", [][]again{{quiet(0)}}, inbound.OutcomeRecorded, 2},
	} {
		h.seq++
		var r inbound.Recording
		rows := h.count(`transactions`)
		for _, ways := range c.calls {
			e := inbound.Incoming{
				EventID: fmt.Sprint("e", h.seq), Gateway: "ACB", AccountNumber: "1000", Number: fmt.Sprint("N", h.seq), Type: app.In,
				Amount: 5000 + 10*int64(h.seq), Content: fmt.Sprint("order ", h.seq), Time: h.now.Add(-200 * time.Hour),
			}
			call := h.callOf(nil)
			for _, way := range ways {
				way(&call, &e)
			}
			call.Elements = []inbound.Incoming{e}
			rows = h.count(`transactions`)
			r, err = h.service.Inbound.RecordTransactions(ctx, call)
			must(t, err)
		}
		if r.Outcomes[0] != c.want || r.Deliveries != c.deliveries {
			t.Errorf("%s: %s with %d deliveries, want %s with %d", c.name, r.Outcomes[0], r.Deliveries, c.want, c.deliveries)
		}
		if isNew := h.count(`transactions`) == rows+1; isNew != (c.want == inbound.OutcomeRecorded) {
			t.Errorf("%s: there is a new transaction: %t", c.name, isNew)
		}
	}
	whole(t, h.store.Path(), h.now)
}

// What fails beside others in one commit leaves nothing in the totals: a dry
// run, a record by hand that is refused, and work that fails by itself.
func TestTotalsAfterAFailure(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	ctx := t.Context()
	mine := errors.New("mine")
	dry, err := h.service.Inbound.NewImport(ctx, inbound.ImportOptions{AccountID: 1, DryRun: true})
	must(t, err)
	failing := h.normal(h.elements(3, "1001"))
	for range 3 {
		rows, elements := h.elements(7, "1000"), h.elements(2, "1000")
		errs := h.together([]func() error{
			func() error { _, err := h.service.Inbound.RecordTransactions(ctx, h.callOf(elements)); return err },
			func() error { _, err := dry.Add(ctx, rows, h.now); return err },
			func() error { return h.store.Fail(ctx, `UPDATE settings SET value = value`, failing, mine) },
			func() error {
				_, err := h.service.Inbound.RecordTransactions(ctx, h.callOf(h.elements(1, "1002")))
				return err
			},
		})
		if errs[0] != nil || errs[1] != nil || !errors.Is(errs[2], mine) || errs[3] != nil {
			t.Fatal(errs)
		}
	}
	o, err := h.store.Overview(ctx, 1)
	must(t, err)
	if o.Transactions != 9 || h.count(`transactions`) != 9 || h.count(`inbound_events`) != 6 {
		t.Errorf("%+v, and %d rows", o, h.count(`transactions`))
	}
	whole(t, h.store.Path(), h.now)
}

// attempt settles the one delivery that is due of the first webhook.
func (h *history) attempt(status int) delivery.Attempt {
	h.t.Helper()
	due, err := h.store.Due(h.t.Context(), delivery.DueFilter{WebhookID: h.hooks[0].ID, Limit: 2}, h.now)
	must(h.t, err)
	if len(due) != 1 {
		h.t.Fatalf("%d are due", len(due))
	}
	return h.settle(due[0], status)
}

func (h *history) settle(o delivery.Outgoing, status int) delivery.Attempt {
	h.t.Helper()
	r := delivery.Result{StartedAt: h.now, StatusCode: status}
	if status != 200 {
		r.Error = delivery.ErrorHTTPStatus
	}
	a, err := h.service.Deliveries.Settle(h.t.Context(), o, r)
	must(h.t, err)
	return a
}

// A delivery that was cancelled while it was attempted stays so, unless the
// attempt succeeded.
func TestSettleAfterCancel(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]app.DeliveryState{500: app.DeliveryCancelled, 200: app.DeliveryDelivered} {
		h := newHistory(t, create(t), 1)
		h.record(h.elements(1, "1000"))
		due, err := h.store.Due(t.Context(), delivery.DueFilter{WebhookID: h.hooks[0].ID, Limit: 2}, h.now)
		must(t, err)
		must(t, h.service.Deliveries.DeleteWebhook(t.Context(), 1, h.hooks[0].ID, h.now))
		a := h.settle(due[0], status)
		if a.Delivery.State != want || !a.NextAttemptAt.IsZero() {
			t.Errorf("after %d: %s, next at %v", status, a.Delivery.State, a.NextAttemptAt)
		}
		state := map[app.DeliveryState]int{app.DeliveryDelivered: 1, app.DeliveryCancelled: 3}[want]
		if n := h.count(fmt.Sprintf(`deliveries WHERE webhook_id = 1 AND state = %d AND due_ms IS NULL`, state)); n != 1 {
			t.Errorf("after %d: %v", status, peek(t, h.store.Path(), `SELECT state, due_ms FROM deliveries`))
		}
		whole(t, h.store.Path(), h.now)
		must(t, h.store.Close())
	}
}

// A replay takes the latest failure of each transaction that the webhook wasn't
// told of since.
func TestReplayLeavesOutWhatWasTold(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	ctx := t.Context()
	failed := func(o delivery.Outgoing) {
		t.Helper()
		o.Attempts = len(delivery.RetrySchedule)
		h.settle(o, 500)
	}
	due := func() delivery.Outgoing {
		t.Helper()
		list, err := h.store.Due(ctx, delivery.DueFilter{WebhookID: h.hooks[0].ID, Limit: 2}, h.now)
		must(t, err)
		if len(list) != 1 {
			t.Fatalf("%d are due", len(list))
		}
		return list[0]
	}
	replays := func(want int, why string) {
		t.Helper()
		h.now = h.now.Add(time.Minute)
		if n, err := h.service.Deliveries.Replay(ctx, 1, delivery.ReplayCreate{WebhookID: h.hooks[0].ID}, h.now); err != nil || n != want {
			t.Errorf("%s: %d are replayed, %v; want %d", why, n, err, want)
		}
	}
	h.record(h.elements(1, "1000"))
	replays(0, "while it is tried")
	failed(due())
	replays(1, "failed")
	replays(0, "while its replay is tried")
	failed(due())
	replays(1, "failed twice")
	h.attempt(200)
	replays(0, "delivered in the end")
	whole(t, h.store.Path(), h.now)
}

// A request that is repeated within a day gets the first answer, and after that
// it is another.
func TestIdempotencyEnds(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	key := app.IdempotencyKey{Key: "k", Operation: "form"}
	for i, c := range []struct {
		after time.Duration
		first bool
	}{{0, true}, {0, false}, {app.IdempotencyWindow - time.Millisecond, false}, {app.IdempotencyWindow, true}} {
		_, err := h.store.CreateAPIKey(t.Context(),
			access.APIKey{AccountID: 1, Name: "k", Scope: access.ScopeFull, CreatedAt: h.now.Add(c.after)}, [32]byte{byte(i)}, key)
		if (err == nil) != c.first || err != nil && !errors.Is(err, app.ErrFormUsed) {
			t.Errorf("after %v: %v", c.after, err)
		}
	}
	// What has ended is removed, what hasn't is not.
	h.now = h.now.Add(app.IdempotencyWindow)
	_, err := h.service.Upkeep.Prune(t.Context(), upkeep.PruneLimits{}, h.now.Add(app.IdempotencyWindow-time.Millisecond))
	must(t, err)
	if n := h.count(`idempotency_keys`); n != 1 {
		t.Errorf("%d keys", n)
	}
	_, err = h.service.Upkeep.Prune(t.Context(), upkeep.PruneLimits{}, h.now.Add(app.IdempotencyWindow))
	must(t, err)
	if n := h.count(`idempotency_keys`); n != 0 {
		t.Errorf("%d keys", n)
	}
}

// Events that need attention and attempts of deliveries that go on are kept,
// however old.
func TestPruneKeepsWhatGoesOn(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	prune := func(events, attempts int) {
		t.Helper()
		p, err := h.service.Upkeep.Prune(t.Context(), upkeep.PruneLimits{Inbound: time.Hour, History: time.Hour}, h.now.Add(1000*time.Hour))
		if err != nil || p.InboundEvents != events || p.Attempts != attempts {
			t.Errorf("%d events and %d attempts are pruned, %v; want %d and %d", p.InboundEvents, p.Attempts, err, events, attempts)
		}
	}
	h.record(h.elements(1, "999")) // waits
	fault := h.elements(1, "1000")
	fault[0].Fault = &app.FieldError{Field: "transferAmount", Text: app.AmountRule}
	h.record(fault)
	h.record(h.elements(1, "1000"))
	changed := h.elements(1, "1000")
	changed[0].EventID, changed[0].Amount = fmt.Sprint(h.seq-1), 1
	if r := h.record(changed); r.Conflicts != 1 {
		t.Fatalf("%+v", r)
	}
	h.attempt(500)
	prune(1, 0) // of the one that was recorded
	due, err := h.store.Due(t.Context(), delivery.DueFilter{WebhookID: h.hooks[0].ID, Retries: true, Limit: 2}, h.now.Add(time.Hour))
	must(t, err)
	h.settle(due[0], 200)
	for id := range int64(4) {
		_, err := h.service.Inbound.DiscardInbound(t.Context(), 1, id+1)
		if app.CodeOf(err) != app.CodeNotFound {
			must(t, err)
		}
	}
	prune(3, 2)
	whole(t, h.store.Path(), h.now)
}

// A bank account beyond the plan isn't linked, by whatever way.
func TestPlanLimitsLinks(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	ctx := t.Context()
	h.record(h.elements(1, "999"))
	limit := func(n int) {
		t.Helper()
		must(t, h.store.Write(ctx, func(exec func(string, ...any) error) error {
			return exec(`UPDATE accounts SET max_bank_accounts = ? WHERE id = 1`, n)
		}))
	}
	link := func(ctx context.Context) error {
		_, err := h.service.Inbound.LinkBankAccount(ctx, 1, inbound.BankAccountLink{Bank: "ACB", AccountNumber: "999", AccountName: "A"}, h.now)
		return err
	}
	limit(3) // there are three
	if err := link(ctx); app.CodeOf(err) != app.CodePlanLimit {
		t.Errorf("link: %v", err)
	}
	if _, err := h.service.Inbound.LinkInbound(ctx, 1, inbound.EventLink{
		EventID: 1, AccountName: "A",
	}, h.now); app.CodeOf(err) != app.CodePlanLimit {
		t.Errorf("link of an event: %v", err)
	}
	limit(4)
	must(t, link(ctx))
	if err := h.service.Ledger.UnlinkBankAccount(ctx, 1, 1, h.now); err != nil || h.count(`transactions`) != 1 {
		t.Errorf("%v", err)
	}
}

// A retry closes the items that are no longer at fault, and notes those anew
// that are.
func TestRetryClosesOldItems(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	fault := &app.FieldError{Field: "transferAmount", Text: app.AmountRule}
	elements := h.elements(3, "1000")
	for i := range elements {
		elements[i].Fault = fault
	}
	if r := h.record(elements); r.Rejected != 3 {
		t.Fatalf("%+v", r)
	}
	elements[0].Fault, elements[1].Fault = nil, nil
	for range 2 {
		_, err := h.store.RetryInbound(t.Context(), 1, h.normal(elements), time.UTC, h.now)
		must(t, err)
		if n, items := h.count(`inbound_events WHERE open = 1 AND recorded = 2 AND rejected = 1`),
			h.count(`inbound_items`); n != 1 || items != 1 {
			t.Errorf("%v, %d items", peek(t, h.store.Path(), `SELECT open, recorded, rejected FROM inbound_events`), items)
		}
	}
	whole(t, h.store.Path(), h.now)
}

// What was discarded stays so in a retry that finds the same reason; another reason is for
// somebody to look at.
func TestRetryOfWhatWasDiscarded(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	elements := h.elements(2, "1000")
	elements[0].Fault = &app.FieldError{Field: "transferAmount", Text: app.AmountRule}
	elements[1].AccountNumber = "999"
	h.record(elements)
	_, err := h.service.Inbound.DiscardInbound(t.Context(), 1, 1)
	must(t, err)
	for _, c := range []struct {
		fault     app.Text
		open, all int64
		discarded int
	}{{app.AmountRule, 0, 2, 2}, {inbound.SumTooLarge, 1, 3, 1}, {inbound.SumTooLarge, 1, 3, 1}} {
		elements[0].Fault = &app.FieldError{Field: "transferAmount", Text: c.fault}
		r, err := h.store.RetryInbound(t.Context(), 1, h.normal(elements), time.UTC, h.now)
		must(t, err)
		if r.Discarded != c.discarded {
			t.Errorf("%s: %d stay discarded, want %d", c.fault.EN, r.Discarded, c.discarded)
		}
		if open, all := h.count(`inbound_items WHERE state = 'rejected'`), h.count(`inbound_items`); open != c.open || all != c.all ||
			h.count(`inbound_events WHERE open > 0`) != c.open {
			t.Errorf("%s: %d open of %d items, want %d of %d", c.fault.EN, open, all, c.open, c.all)
		}
	}
	whole(t, h.store.Path(), h.now)
}

// What named its account by some digits is compared with the whole number once it is
// recorded.
func TestRetryOfSomeDigits(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	elements := h.elements(1, "1xxx")
	elements[0].Masked = true
	if r := h.record(elements); r.Unassigned != 1 { // it may be each of three
		t.Fatalf("%+v", r)
	}
	for _, b := range h.banks[1:3] {
		must(t, h.service.Ledger.UnlinkBankAccount(t.Context(), 1, b.ID, h.now))
	}
	r, err := h.store.RetryInbound(t.Context(), 1, h.normal(elements), time.UTC, h.now)
	if err != nil || r.Recorded != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	elements[0].AccountNumber, elements[0].Masked = "1000", false
	if r := h.record(elements); r.Duplicates != 1 {
		t.Errorf("%+v", r)
	}
}

// An event id is another one on another channel, and so is its conflict.
func TestConflictsOfTwoChannels(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	for i, c := range []struct {
		amount int64
		want   inbound.Outcome
	}{{5000, inbound.OutcomeRecorded}, {7000, inbound.OutcomeConflict}, {7000, inbound.OutcomeConflict}} {
		for j, channel := range []app.Channel{app.ChannelCall, app.ChannelPoll} {
			e := inbound.Incoming{EventID: "1", Gateway: "ACB", AccountNumber: "1000", Type: app.In, Amount: c.amount, Time: h.now}
			if c.want == inbound.OutcomeRecorded {
				e.Amount += int64(j)
			}
			call := h.callOf([]inbound.Incoming{e})
			call.Channel = channel
			r, err := h.service.Inbound.RecordTransactions(t.Context(), call)
			if err != nil || r.Outcomes[0] != c.want {
				t.Errorf("%s %d: %+v, %v", channel, i, r, err)
			}
		}
	}
	if n := h.count(`inbound_items WHERE state = 'conflict'`); n != 2 {
		t.Errorf("%d conflicts are kept, want one of each channel", n)
	}
	// What somebody has discarded isn't kept again, however often a list names it.
	for _, row := range peek(t, h.store.Path(), `SELECT DISTINCT inbound_event_id FROM inbound_items`) {
		_, err := h.service.Inbound.DiscardInbound(t.Context(), 1, row[0].(int64))
		must(t, err)
	}
	call := h.callOf([]inbound.Incoming{{EventID: "1", Gateway: "ACB", AccountNumber: "1000", Type: app.In, Amount: 7000, Time: h.now}})
	call.Channel = app.ChannelPoll
	_, err := h.service.Inbound.RecordTransactions(t.Context(), call)
	must(t, err)
	if n := h.count(`inbound_items WHERE state = 'conflict'`); n != 0 {
		t.Errorf("%d conflicts are kept that were discarded", n)
	}
}

// Rows of a file that are alike are as many transactions, and the same ones in
// the next file.
func TestFileRowsAlike(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	row := inbound.Incoming{Gateway: "ACB", AccountNumber: "1000", Type: app.In, Amount: 5000, Content: "coffee", Time: h.now}
	for _, c := range []struct{ rows, recorded int }{{2, 2}, {2, 0}, {3, 1}} {
		in, err := h.service.Inbound.NewImport(t.Context(), inbound.ImportOptions{AccountID: 1})
		must(t, err)
		recorded := 0
		for range c.rows {
			r, err := in.Add(t.Context(), []inbound.Incoming{row}, h.now)
			must(t, err)
			recorded += r.Recorded
		}
		if recorded != c.recorded {
			t.Errorf("of %d rows alike %d are recorded, want %d", c.rows, recorded, c.recorded)
		}
	}
}

// What another process has just made works at once.
func TestCredentialsOfAnotherProcess(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	other := open(t, h.store.Path(), false)
	defer other.Close()
	hash := [32]byte{1}
	k, err := other.CreateAPIKey(t.Context(), access.APIKey{AccountID: 1, Name: "k", Scope: access.ScopeFull, CreatedAt: h.now}, hash,
		app.IdempotencyKey{})
	must(t, err)
	if found, ok, err := h.store.APIKeyByHash(t.Context(), hash); err != nil || !ok || found.ID != k.ID {
		t.Errorf("%+v, %t, %v", found, ok, err)
	}
}

// An attempt that is settled in the commit of a prune is counted once, also
// where the rows that are removed were beside it.
func TestPruneBesideAnAttempt(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	ctx := t.Context()
	h.record(h.elements(1, "1000"))
	h.attempt(200)
	h.now = h.now.Add(400 * 24 * time.Hour)
	h.record(h.elements(1, "1000"))
	limits := upkeep.PruneLimits{History: 365 * 24 * time.Hour}
	pruned := 0
	prune := func() error {
		p, err := h.store.Prune(ctx, limits, h.now)
		pruned += p.Attempts
		return err
	}
	for _, err := range h.together([]func() error{func() error { h.attempt(200); return nil }, prune}) {
		must(t, err)
	}
	must(t, prune())
	if n := h.count("attempts"); n != 1 || pruned != 1 {
		t.Errorf("%d attempts are left, %d were pruned", n, pruned)
	}
	whole(t, h.store.Path(), h.now)
}

// The look-up for the same transfer doesn't read all that share a number.
func TestSameNumberForAll(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	plan := fmt.Sprint(peek(t, h.store.Path(), `EXPLAIN QUERY PLAN `+sqlitestore.SameNumber, "call", 1, 1, "N", "IN", 1000, 0, 0))
	if want := "(bank_account_id=? AND <expr>=? AND amount=? AND occurred_at>? AND occurred_at<?)"; !strings.Contains(plan, want) {
		t.Errorf("%s, want %s", plan, want)
	}
}
