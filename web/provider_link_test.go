package web_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/provider"
)

// links links a bank account and checks what had been waiting for it.
func (w *world) links(bank, number string, notify app.NotifyOnLink, recorded, deliveries int) app.BankAccount {
	w.t.Helper()
	r, err := w.service.LinkBankAccount(context.Background(), 1, app.BankAccountLink{Bank: bank, AccountNumber: number, AccountName: "NGUYEN VAN A", Notify: notify}, time.Now())
	must(w.t, err)
	if r.Recorded != recorded || r.Deliveries != deliveries {
		w.t.Errorf("linking recorded %d with %d deliveries, want %d with %d", r.Recorded, r.Deliveries, recorded, deliveries)
	}
	return r.BankAccount
}

func (w *world) unlinks(id int64) {
	w.t.Helper()
	must(w.t, w.service.UnlinkBankAccount(context.Background(), 1, id, time.Now()))
}

// came records a native call as if it had come in some time ago.
func (w *world) came(ago time.Duration, s app.Source, x transfer) {
	w.t.Helper()
	body := []byte(batch(x.native()))
	_, err := w.service.RecordTransactions(context.Background(), app.InboundCall{
		AccountID: s.AccountID, Source: s, Channel: app.ChannelCall, Body: body, ReceivedAt: time.Now().Add(-ago), Elements: readNative(body),
	})
	must(w.t, err)
}

func TestProviderUnassigned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shop := newShop(t)
	w.webhook(shop.url+"/a", "ALL")
	w.webhook(shop.url+"/out", "OUT")
	native, sepay := w.native(), w.sepay()
	x := transfer{number: "FT1"}
	w.names(unassigned, native, x)
	e := w.events()[0]
	if items := w.items(e.ID); e.Unassigned != 1 || e.Open != 1 || len(items) != 1 || items[0].State != app.OutcomeUnassigned || items[0].AccountNumber != someAccount || items[0].Amount != 200000 {
		t.Errorf("kept as %+v with %+v", e, items)
	}
	// Repeated it is a duplicate, changed it is a conflict, kept once.
	w.names(duplicate, native, x)
	w.names(duplicate, native, transfer{number: "FT1", content: "another"})
	for range 3 {
		w.names(conflict, native, transfer{number: "FT1", amount: 5})
	}
	w.names(conflict, native, transfer{number: "FT1", direction: "OUT"})
	w.names(conflict, native, transfer{number: "FT1", account: "111"})
	w.names(conflict, native, transfer{number: "FT1", gateway: "VCB"})
	w.names(unassigned, sepay, x) // the same transfer from elsewhere: not known to be
	w.names(unassigned, native, transfer{id: "2", number: "FT2", direction: "OUT"})
	w.names(unassigned, native, transfer{id: "3", number: "FT3", account: "111"})
	w.names(unassigned, native, transfer{id: "4", number: "FT4", gateway: "VCB"})
	if n := w.rows("inbound_items"); n != 9 {
		t.Errorf("%d items, want 5 unassigned and 4 conflicts", n)
	}
	w.wantTransactions(0)
	if o, err := w.service.Overview(context.Background(), 1); err != nil || o.Transactions != 0 || o.TotalIn != 0 {
		t.Errorf("unassigned money is counted: %+v, %v", o, err)
	}

	account := w.links("ACB", someAccount, app.NotifyRecent, 2, 3)
	list := w.wantTransactions(2)
	if list[0].BankAccountID != account.ID || list[0].Amount != 200000 || list[0].Content != "NAPTIEN MOMO" || list[0].Number != "FT1" || list[1].Type != app.Out {
		t.Errorf("recorded %+v", list)
	}
	shop.waits(w, "/a 1", "/a 2", "/out 2")
	if items := w.items(e.ID); items[0].State != app.OutcomeRecorded {
		t.Errorf("the item is %+v", items[0])
	}
	for _, s := range []app.Source{native, sepay} {
		w.names(duplicate, s, x)
		w.names(conflict, s, transfer{number: "FT1", amount: 6})
	}
	w.names(duplicate, sepay, transfer{id: "other", number: "FT2", direction: "OUT"})
	w.wantTransactions(2)
	open := 0
	for _, e := range w.events() {
		open += e.Open
	}
	if open != 2+6 {
		t.Errorf("%d items are open, want the two of other accounts and 6 conflicts", open)
	}
	w.links("VCB", someAccount, app.NotifyNone, 1, 0)
	w.wantTransactions(3)
	if b, err := w.service.BankAccountSummaries(context.Background(), 1, time.Now()); err != nil || b[0].All != (app.Amounts{Count: 2, Total: 400000}) || b[1].All != (app.Amounts{Count: 1, Total: 200000}) {
		t.Errorf("sums: %+v, %v", b, err)
	}
	shop.waits(w, "/a 1", "/a 2", "/out 2")
}

// TestProviderLinkNotifies: who is told of what had been waiting.
func TestProviderLinkNotifies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		notify app.NotifyOnLink
		told   []string
	}{
		"recent": {app.NotifyRecent, []string{"/a 2", "/a 3"}},
		"all":    {app.NotifyAll, []string{"/a 1", "/a 2", "/a 3"}},
		"none":   {app.NotifyNone, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			shop := newShop(t)
			w.webhook(shop.url+"/a", "ALL")
			source := w.native()
			// It is the receipt that counts, whatever the transfer's own time.
			w.came(24*time.Hour+time.Minute, source, transfer{id: "1", date: app.FormatTime(time.Now(), w.service.Zone())})
			w.came(24*time.Hour-time.Minute, source, transfer{id: "2"})
			w.names(unassigned, source, transfer{id: "3"})
			w.links("ACB", someAccount, c.notify, 3, len(c.told))
			w.wantTransactions(3)
			shop.waits(w, c.told...)
		})
	}
}

// TestProviderUnlinked: an account that was unlinked is unknown until it is
// linked again.
func TestProviderUnlinked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shop := newShop(t)
	w.webhook(shop.url+"/a", "ALL")
	native, sepay := w.native(), w.sepay()
	account := w.link("ACB", someAccount)
	w.names(recorded, native, transfer{id: "1", number: "FT1"})
	w.unlinks(account.ID)
	w.names(duplicate, native, transfer{id: "1", number: "FT1"})
	w.names(conflict, native, transfer{id: "1", number: "FT1", amount: 7})
	w.names(unassigned, native, transfer{id: "2", number: "FT2"})
	w.names(unassigned, sepay, transfer{id: "9", number: "FT1"}) // a duplicate, once that can be known
	w.links("ACB", someAccount, app.NotifyRecent, 1, 1)
	w.wantTransactions(2)
	w.names(duplicate, sepay, transfer{id: "9", number: "FT1"})
	w.names(recorded, sepay, transfer{id: "10", number: "FT1"})
	shop.waits(w, "/a 1", "/a 2", "/a 3")
}

func TestProviderNarrowedSource(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	mine, other := w.link("ACB", someAccount), w.link("ACB", "111")
	narrow := func(id int64) app.Source {
		s, err := w.service.AddSource(ctx, 1, app.SourceAdd{Provider: "native", Name: "narrow", BankAccountID: id}, time.Now())
		must(t, err)
		return s
	}
	source := narrow(mine.ID)
	w.names(recorded, source, transfer{id: "1"})
	w.names(unassigned, source, transfer{id: "2", account: "111"})
	w.names(duplicate, source, transfer{id: "2", account: "111"})
	w.names(unassigned, source, transfer{id: "3", account: "222"})
	w.names(recorded, w.native(), transfer{id: "2", account: "111"})
	// Linking what isn't its own records nothing of it.
	w.links("ACB", "222", app.NotifyRecent, 0, 0)
	w.unlinks(other.ID)
	w.links("ACB", "111", app.NotifyRecent, 0, 0)
	w.wantTransactions(2)
	// A number that two banks have is this one's without doubt.
	w.link("VCB", someAccount)
	w.names(recorded, source, transfer{id: "4", gateway: "Some Bank"})
	w.names(unassigned, source, transfer{id: "5", gateway: "VCB"})
	// The same after its own bank account was away for a while.
	w.unlinks(mine.ID)
	w.names(unassigned, source, transfer{id: "6"})
	w.names(unassigned, source, transfer{id: "7", gateway: "Some Bank"})
	w.links("ACB", someAccount, app.NotifyRecent, 2, 0)
	if list := w.wantTransactions(5); list[len(list)-1].BankAccountID != mine.ID {
		t.Errorf("recorded on another account: %+v", list)
	}
}

// TestProviderTenants: a source records on its own account only.
func TestProviderTenants(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, now := context.Background(), time.Now()
	account, err := w.service.CreateAccount(ctx, "another", now)
	must(t, err)
	w.link("ACB", someAccount)
	theirs, err := w.service.AddSource(ctx, account.ID, app.SourceAdd{Provider: "native", Name: "theirs"}, now)
	must(t, err)
	w.names(unassigned, theirs, transfer{number: "FT1"})
	w.names(recorded, w.native(), transfer{number: "FT1"})
	w.names(duplicate, theirs, transfer{number: "FT1"})
	r, err := w.service.LinkBankAccount(ctx, account.ID, app.BankAccountLink{Bank: "ACB", AccountNumber: someAccount, AccountName: "B"}, now)
	if err != nil || r.Recorded != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	w.wantTransactions(1)
	if events := w.events(); len(events) != 1 {
		t.Errorf("account 1 sees %+v", events)
	} else if _, err := w.service.RetryInbound(ctx, account.ID, events[0].ID, now); app.CodeOf(err) != app.CodeNotFound {
		t.Errorf("the other account retries it: %v", err)
	}
	w.do("POST", theirs.URLPath(), "{}", "Authorization", "Bearer nothing")
	refusals := func(account int64) int {
		list, err := w.service.RefusedCalls(ctx, account, 0, 10)
		must(t, err)
		return len(list)
	}
	eventually(t, "the refused call is noted", func() bool { return refusals(account.ID) == 1 })
	if refusals(1) != 0 {
		t.Error("account 1 sees calls of the other's source")
	}
}

// TestProviderBatches: each element for itself.
func TestProviderBatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shop := newShop(t)
	w.webhook(shop.url+"/a", "ALL")
	w.link("ACB", someAccount)
	source := w.native()
	bad := strings.Replace(transfer{id: "bad"}.native(), "200000", "0", 1)
	w.wants(counts{Recorded: 2, Rejected: 1}, source, batch(transfer{id: "1"}.native(), bad, transfer{id: "2"}.native()))
	e := w.events()[0]
	if items := w.items(e.ID); e.Recorded != 2 || e.Rejected != 1 || e.Open != 1 || len(items) != 1 || items[0].Position != 1 || items[0].EventID != "bad" {
		t.Errorf("kept as %+v with %+v", e, items)
	}
	w.wants(counts{Recorded: 1, Duplicates: 3, Conflicts: 1, Unassigned: 1, Rejected: 2}, source, batch(
		transfer{id: "3"}.native(), transfer{id: "3"}.native(), transfer{id: "1"}.native(), transfer{id: "1", amount: 3}.native(),
		transfer{id: "4", account: "777"}.native(), transfer{id: "4", account: "777"}.native(), bad, "null"))
	// Sent again with the bad one made good.
	w.wants(counts{Recorded: 1, Duplicates: 2}, source, batch(transfer{id: "1"}.native(), transfer{id: "bad"}.native(), transfer{id: "2"}.native()))
	w.wantTransactions(4)
	shop.waits(w, "/a 1", "/a 2", "/a 3", "/a 4")
	var all []string
	for i := range 30 {
		all = append(all, strings.Replace(transfer{id: fmt.Sprint("x", i)}.native(), "200000", "-1", 1))
	}
	a := w.sends(source, batch(all...))
	if errors, _ := a.json(t)["errors"].(map[string]any); a.status != 422 || errors["transactions[0].transferAmount"] == nil {
		t.Errorf("thirty bad ones: %d %s", a.status, a.body)
	}
	if e := w.events()[0]; e.Rejected != 30 || e.Open != 30 || len(w.items(e.ID)) != 30 {
		t.Errorf("thirty bad ones are kept as %+v", e)
	}
}

// retries reads an event again.
func (w *world) retries(s *app.Service, event app.InboundEvent, want counts) {
	w.t.Helper()
	r, err := s.RetryInbound(context.Background(), 1, event.ID, time.Now())
	if got := (counts{r.Recorded, r.Duplicates, r.Unassigned, r.Conflicts, r.Rejected}); err != nil || got != want {
		w.t.Errorf("retried: %+v, %v; want %+v", got, err, want)
	}
}

func (w *world) event(id int64) app.InboundEvent {
	w.t.Helper()
	for _, e := range w.events() {
		if e.ID == id {
			return e
		}
	}
	w.t.Fatal("no event ", id)
	return app.InboundEvent{}
}

func TestProviderRetry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shop := newShop(t)
	w.webhook(shop.url+"/a", "ALL")
	w.link("ACB", someAccount)
	source := w.native()
	// A later version may read what today's doesn't: 0 as 1, and 9 as 200000.
	better := strings.NewReplacer(`"transferAmount":0,`, `"transferAmount":1,`, `"transferAmount":9,`, `"transferAmount":200000,`)
	targets, err := app.ParseTargetPolicy(nil)
	must(t, err)
	later := app.NewService(app.Config{
		Store: w.store, Zone: w.service.Zone(), Targets: targets, Providers: provider.Facts(),
		Read: func(s app.Source, channel app.Channel, body []byte, at time.Time, zone *time.Location) app.InboundReading {
			return provider.Read(s, channel, []byte(better.Replace(string(body))), at, zone)
		},
	})
	bad := strings.Replace(transfer{id: "bad"}.native(), "200000", "0", 1)
	w.wants(counts{Recorded: 1, Rejected: 1}, source, batch(transfer{id: "1"}.native(), bad))
	first := w.events()[0]
	for range 2 {
		w.retries(w.service, first, counts{Duplicates: 1, Rejected: 1})
		if e := w.event(first.ID); e.Open != 1 || e.Recorded != 1 || e.Rejected != 1 || len(w.items(e.ID)) != 1 || string(e.Body) != string(first.Body) {
			t.Errorf("after a retry in vain: %+v with %+v", e, w.items(e.ID))
		}
	}
	w.retries(later, first, counts{Duplicates: 1, Recorded: 1})
	if e := w.event(first.ID); e.Open != 0 || e.Recorded != 2 || e.Rejected != 0 || len(w.items(e.ID)) != 0 {
		t.Errorf("after a retry: %+v with %+v", e, w.items(e.ID))
	}
	for _, s := range []*app.Service{later, w.service} {
		w.retries(s, first, counts{Duplicates: 1 + boolInt(s == later), Rejected: 1 - boolInt(s == later)})
	}
	w.wantTransactions(2)
	shop.waits(w, "/a 1", "/a 2")

	// An event refused with 422 is kept for a retry as well.
	w.wantsRefusal(source, batch(strings.Replace(bad, "bad", "bad2", 1)), 422, app.CodeValidation, "transactions[0].transferAmount")
	w.retries(later, w.events()[0], recorded)
	shop.waits(w, "/a 1", "/a 2", "/a 3")

	// A conflict stays one, kept once.
	w.names(conflict, source, transfer{id: "1", amount: 9})
	e := w.events()[0]
	w.retries(w.service, e, conflict)
	if e := w.event(e.ID); e.Open != 1 || e.Conflicts != 1 || len(w.items(e.ID)) != 1 {
		t.Errorf("a conflict after a retry: %+v", e)
	}
	w.retries(later, e, duplicate)
	if e := w.event(e.ID); e.Open != 0 || e.Conflicts != 0 || len(w.items(e.ID)) != 0 {
		t.Errorf("a conflict that was a misreading, after a retry: %+v", e)
	}

	// What is old is recorded without news of it.
	w.came(25*time.Hour, source, transfer{id: "old", amount: 1})
	old := []byte(batch(strings.Replace(bad, "bad", "old2", 1)))
	_, err = w.service.RecordTransactions(context.Background(), app.InboundCall{
		AccountID: 1, Source: source, Channel: app.ChannelCall, Body: old, ReceivedAt: time.Now().Add(-25 * time.Hour), Elements: readNative(old),
	})
	must(t, err)
	before := w.rows("deliveries")
	w.retries(later, w.events()[0], recorded)
	if n := w.rows("deliveries"); n != before {
		t.Errorf("%d deliveries of what came yesterday", n-before)
	}
	if _, err := w.service.RetryInbound(context.Background(), 1, 999, time.Now()); app.CodeOf(err) != app.CodeNotFound {
		t.Errorf("an unknown event: %v", err)
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestProviderRetryUnassigned: two banks have the number, then only one has.
func TestProviderRetryUnassigned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shop := newShop(t)
	w.webhook(shop.url+"/a", "ALL")
	w.link("ACB", someAccount)
	other := w.link("VCB", someAccount)
	source := w.native()
	x := transfer{gateway: "Some Bank"}
	w.names(unassigned, source, x)
	e := w.events()[0]
	w.retries(w.service, e, unassigned)
	if e := w.event(e.ID); e.Open != 1 || e.Unassigned != 1 || len(w.items(e.ID)) != 1 {
		t.Errorf("after a retry in vain: %+v", e)
	}
	w.unlinks(other.ID)
	w.retries(w.service, e, recorded)
	if e := w.event(e.ID); e.Open != 0 || e.Unassigned != 0 || e.Recorded != 1 {
		t.Errorf("after a retry: %+v", e)
	}
	w.retries(w.service, e, duplicate)
	w.names(duplicate, source, x)
	w.wantTransactions(1)
	shop.waits(w, "/a 1")
	// A source that is gone doesn't take its events along.
	w.names(unassigned, source, transfer{id: "2", account: "777"})
	e = w.events()[0]
	must(t, w.service.RemoveSource(context.Background(), 1, source.ID, time.Now()))
	w.retries(w.service, e, unassigned)
	w.links("ACB", "777", app.NotifyRecent, 1, 1)
	shop.waits(w, "/a 1", "/a 2")
}

// TestProviderLinkUpdatesTheLog: what was linked no longer counts as
// unassigned in the log, nor does a repeat of it when it is retried.
func TestProviderLinkUpdatesTheLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	source := w.native()
	w.names(unassigned, source, transfer{id: "1"})
	w.names(duplicate, source, transfer{id: "1"})
	counts := func() (list [][4]int) {
		events, _, err := w.service.InboundEvents(ctx, 1, app.InboundFilter{Page: app.Page{Number: 1, Size: 10}})
		must(t, err)
		for _, e := range events {
			list = append(list, [4]int{e.Recorded, e.Duplicates, e.Unassigned, e.Open})
		}
		return list
	}
	if _, err := w.service.RetryInbound(ctx, 1, 2, time.Now()); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(counts()), "[[0 1 0 0] [0 0 1 1]]"; got != want {
		t.Errorf("before linking: %s, want %s", got, want)
	}
	w.links("ACB", someAccount, app.NotifyRecent, 1, 0)
	if got, want := fmt.Sprint(counts()), "[[0 1 0 0] [1 0 0 0]]"; got != want {
		t.Errorf("after linking: %s, want %s", got, want)
	}
}

// TestProviderDiscard: what somebody discards needs no attention any more, and
// a repeat of it is still a duplicate, which linking doesn't record.
func TestProviderDiscard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	source := w.native()
	w.names(unassigned, source, transfer{id: "1"})
	if n, err := w.service.DiscardInbound(ctx, 1, 1); n != 1 || err != nil {
		t.Fatalf("discarded %d, %v", n, err)
	}
	open, _, err := w.service.InboundEvents(ctx, 1, app.InboundFilter{OpenOnly: true, Page: app.Page{Number: 1, Size: 10}})
	if len(open) != 0 || err != nil {
		t.Errorf("still open: %+v, %v", open, err)
	}
	w.names(duplicate, source, transfer{id: "1"})
	w.links("ACB", someAccount, app.NotifyAll, 0, 0)
	if _, err := w.service.DiscardInbound(ctx, 2, 1); app.CodeOf(err) != app.CodeNotFound {
		t.Errorf("another account's event: %v", err)
	}
}

// TestProviderRetryAfterDiscard: a repeat that is retried after the first was
// discarded records it, and the log of the first still adds up.
func TestProviderRetryAfterDiscard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	source := w.native()
	w.names(unassigned, source, transfer{id: "1"})
	w.names(duplicate, source, transfer{id: "1"})
	_, err := w.service.DiscardInbound(ctx, 1, 1)
	must(t, err)
	w.links("ACB", someAccount, app.NotifyAll, 0, 0)
	r, err := w.service.RetryInbound(ctx, 1, 2, time.Now())
	if err != nil || r.Recorded != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	events, _, err := w.service.InboundEvents(ctx, 1, app.InboundFilter{Page: app.Page{Number: 1, Size: 10}})
	must(t, err)
	for _, e := range events {
		if e.Open != 0 || e.Unassigned != 0 {
			t.Errorf("event %d: %d open, %d unassigned", e.ID, e.Open, e.Unassigned)
		}
	}
}

// TestRetryOfWhatWasRecordedByHand: it has no provider's format, so there is
// nothing to read again and nothing becomes a fault of it.
func TestRetryOfWhatWasRecordedByHand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	w.link("ACB", someAccount)
	a := w.do("POST", "/api/v1/transactions", `{"id":"1","gateway":"ACB","accountNumber":"`+someAccount+`","transferType":"IN","transferAmount":1}`,
		"Authorization", "Bearer "+w.apiKey(app.ScopeFull))
	if a.status != 201 {
		t.Fatal(a.body)
	}
	if _, err := w.service.RetryInbound(ctx, 1, 1, time.Now()); app.CodeOf(err) != app.CodeConflict {
		t.Errorf("%v", err)
	}
	events, _, err := w.service.InboundEvents(ctx, 1, app.InboundFilter{Page: app.Page{Number: 1, Size: 10}})
	if err != nil || len(events) != 1 || events[0].Open != 0 || events[0].Recorded != 1 {
		t.Errorf("%+v, %v", events, err)
	}
}
