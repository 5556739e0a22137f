package inbound_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/provider"
	"baoco/app/services"
	"baoco/web/webtest"
)

func TestProviderUnassigned(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	shop := webtest.NewShop(t)
	w.Webhook(shop.URL+"/a", "ALL")
	w.Webhook(shop.URL+"/out", "OUT")
	native, sepay := w.Native(), w.Sepay()
	x := apptest.Transfer{Number: "FT1"}
	w.Names(webtest.Unassigned, native, x)
	e := w.NewestEvent()
	if items := w.Items(e.ID); e.Unassigned != 1 || e.Open != 1 || len(items) != 1 || items[0].State != inbound.OutcomeUnassigned ||
		items[0].AccountNumber != apptest.SomeAccount || items[0].Amount != 200000 {
		t.Errorf("kept as %+v with %+v", e, items)
	}
	// Repeated it is a duplicate, changed it is a conflict, kept once.
	w.Names(webtest.Duplicate, native, x)
	w.Names(webtest.Duplicate, native, apptest.Transfer{Number: "FT1", Content: "another"})
	for range 3 {
		w.Names(webtest.Conflict, native, apptest.Transfer{Number: "FT1", Amount: 5})
	}
	w.Names(webtest.Conflict, native, apptest.Transfer{Number: "FT1", Direction: "OUT"})
	w.Names(webtest.Conflict, native, apptest.Transfer{Number: "FT1", Account: "111"})
	w.Names(webtest.Conflict, native, apptest.Transfer{Number: "FT1", Gateway: "VCB"})
	w.Names(webtest.Unassigned, sepay, x) // the same transfer from elsewhere: not known to be
	w.Names(webtest.Unassigned, native, apptest.Transfer{ID: "2", Number: "FT2", Direction: "OUT"})
	w.Names(webtest.Unassigned, native, apptest.Transfer{ID: "3", Number: "FT3", Account: "111"})
	w.Names(webtest.Unassigned, native, apptest.Transfer{ID: "4", Number: "FT4", Gateway: "VCB"})
	if n := w.Rows("inbound_items"); n != 9 {
		t.Errorf("%d items, want 5 unassigned and 4 conflicts", n)
	}
	w.WantTransactions(0)
	if o, err := w.Services.Ledger.Overview(context.Background(), 1); err != nil || o.Transactions != 0 || o.TotalIn != 0 {
		t.Errorf("unassigned money is counted: %+v, %v", o, err)
	}

	account := w.Links("ACB", apptest.SomeAccount, inbound.NotifyRecent, 2, 3)
	list := w.WantTransactions(2)
	if list[0].BankAccountID != account.ID || list[0].Amount != 200000 || list[0].Content != "NAPTIEN MOMO" || list[0].Number != "FT1" ||
		list[1].Type != app.Out {
		t.Errorf("recorded %+v", list)
	}
	shop.Waits(w, "/a 1", "/a 2", "/out 2")
	if items := w.Items(e.ID); items[0].State != inbound.OutcomeRecorded {
		t.Errorf("the item is %+v", items[0])
	}
	for _, s := range []inbound.Source{native, sepay} {
		w.Names(webtest.Duplicate, s, x)
		w.Names(webtest.Conflict, s, apptest.Transfer{Number: "FT1", Amount: 6})
	}
	w.Names(webtest.Duplicate, sepay, apptest.Transfer{ID: "other", Number: "FT2", Direction: "OUT"})
	w.WantTransactions(2)
	open := 0
	for _, e := range w.Events() {
		open += e.Open
	}
	if open != 2+6 {
		t.Errorf("%d items are open, want the two of other accounts and 6 conflicts", open)
	}
	w.Links("VCB", apptest.SomeAccount, inbound.NotifyNone, 1, 0)
	w.WantTransactions(3)
	if b, err := w.Services.Ledger.BankAccountSummaries(context.Background(), 1, time.Now()); err != nil ||
		b[0].All != (app.Amounts{Count: 2, Total: 400000}) || b[1].All != (app.Amounts{Count: 1, Total: 200000}) {
		t.Errorf("sums: %+v, %v", b, err)
	}
	shop.Waits(w, "/a 1", "/a 2", "/out 2")
}

// TestProviderLinkNotifies: who is told of what had been waiting.
func TestProviderLinkNotifies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		notify inbound.NotifyOnLink
		told   []string
	}{
		"recent": {inbound.NotifyRecent, []string{"/a 2", "/a 3"}},
		"all":    {inbound.NotifyAll, []string{"/a 1", "/a 2", "/a 3"}},
		"none":   {inbound.NotifyNone, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := webtest.NewWorld(t)
			shop := webtest.NewShop(t)
			w.Webhook(shop.URL+"/a", "ALL")
			source := w.Native()
			// It is the receipt that counts, whatever the transfer's own time.
			w.Came(24*time.Hour+time.Minute, source, apptest.Transfer{ID: "1", Date: app.FormatTime(time.Now(), w.Services.Ledger.Zone())})
			w.Came(24*time.Hour-time.Minute, source, apptest.Transfer{ID: "2"})
			w.Names(webtest.Unassigned, source, apptest.Transfer{ID: "3"})
			w.Links("ACB", apptest.SomeAccount, c.notify, 3, len(c.told))
			w.WantTransactions(3)
			shop.Waits(w, c.told...)
		})
	}
}

// TestProviderUnlinked: an account that was unlinked is unknown until it is
// linked again.
func TestProviderUnlinked(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	shop := webtest.NewShop(t)
	w.Webhook(shop.URL+"/a", "ALL")
	native, sepay := w.Native(), w.Sepay()
	account := w.Link("ACB", apptest.SomeAccount)
	w.Names(webtest.Recorded, native, apptest.Transfer{ID: "1", Number: "FT1"})
	w.Unlinks(account.ID)
	w.Names(webtest.Duplicate, native, apptest.Transfer{ID: "1", Number: "FT1"})
	w.Names(webtest.Conflict, native, apptest.Transfer{ID: "1", Number: "FT1", Amount: 7})
	w.Names(webtest.Unassigned, native, apptest.Transfer{ID: "2", Number: "FT2"})
	w.Names(webtest.Unassigned, sepay, apptest.Transfer{ID: "9", Number: "FT1"}) // a duplicate, once that can be known
	w.Links("ACB", apptest.SomeAccount, inbound.NotifyRecent, 1, 1)
	w.WantTransactions(2)
	w.Names(webtest.Duplicate, sepay, apptest.Transfer{ID: "9", Number: "FT1"})
	w.Names(webtest.Recorded, sepay, apptest.Transfer{ID: "10", Number: "FT1"})
	shop.Waits(w, "/a 1", "/a 2", "/a 3")
}

func TestProviderNarrowedSource(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	ctx := context.Background()
	mine, other := w.Link("ACB", apptest.SomeAccount), w.Link("ACB", "111")
	narrow := func(id int64) inbound.Source {
		s, err := w.Services.Inbound.AddSource(ctx, 1, inbound.SourceAdd{Provider: "native", Name: "narrow", BankAccountID: id}, time.Now())
		apptest.Must(t, err)
		return s
	}
	source := narrow(mine.ID)
	w.Names(webtest.Recorded, source, apptest.Transfer{ID: "1"})
	w.Names(webtest.Unassigned, source, apptest.Transfer{ID: "2", Account: "111"})
	w.Names(webtest.Duplicate, source, apptest.Transfer{ID: "2", Account: "111"})
	w.Names(webtest.Unassigned, source, apptest.Transfer{ID: "3", Account: "222"})
	w.Names(webtest.Recorded, w.Native(), apptest.Transfer{ID: "2", Account: "111"})
	// Linking what isn't its own records nothing of it.
	w.Links("ACB", "222", inbound.NotifyRecent, 0, 0)
	w.Unlinks(other.ID)
	w.Links("ACB", "111", inbound.NotifyRecent, 0, 0)
	w.WantTransactions(2)
	// A number that two banks have is this one's without doubt.
	w.Link("VCB", apptest.SomeAccount)
	w.Names(webtest.Recorded, source, apptest.Transfer{ID: "4", Gateway: "Some Bank"})
	w.Names(webtest.Unassigned, source, apptest.Transfer{ID: "5", Gateway: "VCB"})
	// The same after its own bank account was away for a while.
	w.Unlinks(mine.ID)
	w.Names(webtest.Unassigned, source, apptest.Transfer{ID: "6"})
	w.Names(webtest.Unassigned, source, apptest.Transfer{ID: "7", Gateway: "Some Bank"})
	w.Links("ACB", apptest.SomeAccount, inbound.NotifyRecent, 2, 0)
	if list := w.WantTransactions(5); list[len(list)-1].BankAccountID != mine.ID {
		t.Errorf("recorded on another account: %+v", list)
	}
}

// TestProviderTenants: a source records on its own account only.
func TestProviderTenants(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	ctx, now := context.Background(), time.Now()
	account, err := w.Services.Ledger.CreateAccount(ctx, "another", now)
	apptest.Must(t, err)
	w.Link("ACB", apptest.SomeAccount)
	theirs, err := w.Services.Inbound.AddSource(ctx, account.ID, inbound.SourceAdd{Provider: "native", Name: "theirs"}, now)
	apptest.Must(t, err)
	w.Names(webtest.Unassigned, theirs, apptest.Transfer{Number: "FT1"})
	w.Names(webtest.Recorded, w.Native(), apptest.Transfer{Number: "FT1"})
	w.Names(webtest.Duplicate, theirs, apptest.Transfer{Number: "FT1"})
	r, err := w.Services.Inbound.LinkBankAccount(ctx, account.ID,
		inbound.BankAccountLink{Bank: "ACB", AccountNumber: apptest.SomeAccount, AccountName: "B"}, now)
	if err != nil || r.Recorded != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	w.WantTransactions(1)
	if events := w.Events(); len(events) != 1 {
		t.Errorf("account 1 sees %+v", events)
	} else if _, err := w.Services.Inbound.RetryInbound(ctx, account.ID, events[0].ID, now); app.CodeOf(err) != app.CodeNotFound {
		t.Errorf("the other account retries it: %v", err)
	}
	w.Do("POST", theirs.URLPath(), "{}", "Authorization", "Bearer nothing")
	refusals := func(account int64) int {
		list, err := w.Services.Inbound.RefusedCalls(ctx, account, 0, 10)
		apptest.Must(t, err)
		return len(list)
	}
	w.Until("the refused call is noted", func() bool { return refusals(account.ID) == 1 })
	if refusals(1) != 0 {
		t.Error("account 1 sees calls of the other's source")
	}
}

// TestProviderBatches: each element for itself.
func TestProviderBatches(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	shop := webtest.NewShop(t)
	w.Webhook(shop.URL+"/a", "ALL")
	w.Link("ACB", apptest.SomeAccount)
	source := w.Native()
	bad := strings.Replace(apptest.Transfer{ID: "bad"}.Native(), "200000", "0", 1)
	w.Wants(webtest.Counts{Recorded: 2, Rejected: 1}, source,
		apptest.Batch(apptest.Transfer{ID: "1"}.Native(), bad, apptest.Transfer{ID: "2"}.Native()))
	e := w.NewestEvent()
	if items := w.Items(e.ID); e.Recorded != 2 || e.Rejected != 1 || e.Open != 1 || len(items) != 1 || items[0].Position != 1 ||
		items[0].EventID != "bad" {
		t.Errorf("kept as %+v with %+v", e, items)
	}
	w.Wants(webtest.Counts{Recorded: 1, Duplicates: 3, Conflicts: 1, Unassigned: 1, Rejected: 2}, source, apptest.Batch(
		apptest.Transfer{ID: "3"}.Native(), apptest.Transfer{ID: "3"}.Native(), apptest.Transfer{ID: "1"}.Native(),
		apptest.Transfer{ID: "1", Amount: 3}.Native(),
		apptest.Transfer{ID: "4", Account: "777"}.Native(), apptest.Transfer{ID: "4", Account: "777"}.Native(), bad, "null"))
	// Sent again with the bad one made good.
	w.Wants(webtest.Counts{Recorded: 1, Duplicates: 2}, source,
		apptest.Batch(apptest.Transfer{ID: "1"}.Native(), apptest.Transfer{ID: "bad"}.Native(), apptest.Transfer{ID: "2"}.Native()))
	w.WantTransactions(4)
	shop.Waits(w, "/a 1", "/a 2", "/a 3", "/a 4")
	var all []string
	for i := range 30 {
		all = append(all, strings.Replace(apptest.Transfer{ID: fmt.Sprint("x", i)}.Native(), "200000", "-1", 1))
	}
	a := w.Sends(source, apptest.Batch(all...))
	if errors, _ := a.JSON(t)["errors"].(map[string]any); a.Status != 422 || errors["transactions[0].transferAmount"] == nil {
		t.Errorf("thirty bad ones: %d %s", a.Status, a.Body)
	}
	if e := w.NewestEvent(); e.Rejected != 30 || e.Open != 30 || len(w.Items(e.ID)) != 30 {
		t.Errorf("thirty bad ones are kept as %+v", e)
	}
}

func TestProviderRetry(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	shop := webtest.NewShop(t)
	w.Webhook(shop.URL+"/a", "ALL")
	w.Link("ACB", apptest.SomeAccount)
	source := w.Native()
	// A later version may read what today's doesn't: 0 as 1, and 9 as 200000.
	better := strings.NewReplacer(`"transferAmount":0,`, `"transferAmount":1,`, `"transferAmount":9,`, `"transferAmount":200000,`)
	later := apptest.Over(t, w.Store, services.Config{
		Read: func(s inbound.Source, channel app.Channel, body []byte, at time.Time, zone *time.Location) inbound.Reading {
			return provider.Read(s, channel, []byte(better.Replace(string(body))), at, zone)
		},
	})
	bad := strings.Replace(apptest.Transfer{ID: "bad"}.Native(), "200000", "0", 1)
	w.Wants(webtest.Counts{Recorded: 1, Rejected: 1}, source, apptest.Batch(apptest.Transfer{ID: "1"}.Native(), bad))
	first := w.NewestEvent()
	for range 2 {
		retries(w, w.Services, first, webtest.Counts{Duplicates: 1, Rejected: 1})
		if e := w.Event(first.ID); e.Open != 1 || e.Recorded != 1 || e.Rejected != 1 || len(w.Items(e.ID)) != 1 ||
			string(e.Body) != string(first.Body) {
			t.Errorf("after a retry in vain: %+v with %+v", e, w.Items(e.ID))
		}
	}
	retries(w, later, first, webtest.Counts{Duplicates: 1, Recorded: 1})
	if e := w.Event(first.ID); e.Open != 0 || e.Recorded != 2 || e.Rejected != 0 || len(w.Items(e.ID)) != 0 {
		t.Errorf("after a retry: %+v with %+v", e, w.Items(e.ID))
	}
	for _, s := range []*services.All{later, w.Services} {
		retries(w, s, first, webtest.Counts{Duplicates: 1 + boolInt(s == later), Rejected: 1 - boolInt(s == later)})
	}
	w.WantTransactions(2)
	shop.Waits(w, "/a 1", "/a 2")

	// An event refused with 422 is kept for a retry as well.
	w.WantsRefusal(source, apptest.Batch(strings.Replace(bad, "bad", "bad2", 1)), 422, app.CodeValidation, "transactions[0].transferAmount")
	retries(w, later, w.NewestEvent(), webtest.Recorded)
	shop.Waits(w, "/a 1", "/a 2", "/a 3")

	// A conflict stays one, kept once.
	w.Names(webtest.Conflict, source, apptest.Transfer{ID: "1", Amount: 9})
	e := w.NewestEvent()
	retries(w, w.Services, e, webtest.Conflict)
	if e := w.Event(e.ID); e.Open != 1 || e.Conflicts != 1 || len(w.Items(e.ID)) != 1 {
		t.Errorf("a conflict after a retry: %+v", e)
	}
	retries(w, later, e, webtest.Duplicate)
	if e := w.Event(e.ID); e.Open != 0 || e.Conflicts != 0 || len(w.Items(e.ID)) != 0 {
		t.Errorf("a conflict that was a misreading, after a retry: %+v", e)
	}

	// What is old is recorded without news of it.
	w.Came(25*time.Hour, source, apptest.Transfer{ID: "old", Amount: 1})
	old := []byte(apptest.Batch(strings.Replace(bad, "bad", "old2", 1)))
	_, err := w.Services.Inbound.RecordTransactions(context.Background(), inbound.Call{
		AccountID: 1, Source: source, Channel: app.ChannelCall, Body: old, ReceivedAt: time.Now().Add(-25 * time.Hour),
		Elements: apptest.ReadNative(old),
	})
	apptest.Must(t, err)
	before := w.Rows("deliveries")
	retries(w, later, w.NewestEvent(), webtest.Recorded)
	if n := w.Rows("deliveries"); n != before {
		t.Errorf("%d deliveries of what came yesterday", n-before)
	}
	if _, err := w.Services.Inbound.RetryInbound(context.Background(), 1, 999, time.Now()); app.CodeOf(err) != app.CodeNotFound {
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
	w := webtest.NewWorld(t)
	shop := webtest.NewShop(t)
	w.Webhook(shop.URL+"/a", "ALL")
	w.Link("ACB", apptest.SomeAccount)
	other := w.Link("VCB", apptest.SomeAccount)
	source := w.Native()
	x := apptest.Transfer{Gateway: "Some Bank"}
	w.Names(webtest.Unassigned, source, x)
	e := w.NewestEvent()
	if r, err := w.Services.Inbound.RetryInbound(context.Background(), 1, e.ID, time.Now()); err != nil ||
		r.Unassigned != 1 || r.Discarded != 0 {
		t.Errorf("retried in vain: %+v, %v", r, err)
	}
	if e := w.Event(e.ID); e.Open != 1 || e.Unassigned != 1 || len(w.Items(e.ID)) != 1 {
		t.Errorf("after a retry in vain: %+v", e)
	}
	w.Came(25*time.Hour, source, apptest.Transfer{ID: "old", Gateway: "Some Bank"})
	old := w.NewestEvent()
	w.Unlinks(other.ID)
	retries(w, w.Services, old, webtest.Recorded) // without news of it
	if n := w.Rows("deliveries"); n != 0 {
		t.Errorf("%d deliveries of what came yesterday", n)
	}
	retries(w, w.Services, e, webtest.Recorded)
	if e := w.Event(e.ID); e.Open != 0 || e.Unassigned != 0 || e.Recorded != 1 {
		t.Errorf("after a retry: %+v", e)
	}
	retries(w, w.Services, e, webtest.Duplicate)
	w.Names(webtest.Duplicate, source, x)
	w.Names(webtest.Conflict, source, apptest.Transfer{Gateway: "VCB"}) // the bank is known by now
	w.WantTransactions(2)
	shop.Waits(w, "/a 2")
	// A source that is gone doesn't take its events along.
	w.Names(webtest.Unassigned, source, apptest.Transfer{ID: "2", Account: "777"})
	e = w.NewestEvent()
	apptest.Must(t, w.Services.Inbound.RemoveSource(context.Background(), 1, source.ID, time.Now()))
	retries(w, w.Services, e, webtest.Unassigned)
	w.Links("ACB", "777", inbound.NotifyRecent, 1, 1)
	shop.Waits(w, "/a 2", "/a 3")
}

// TestProviderLinkUpdatesTheLog: what was linked no longer counts as
// unassigned in the log, nor does a repeat of it when it is retried.
func TestProviderLinkUpdatesTheLog(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	ctx := context.Background()
	source := w.Native()
	w.Names(webtest.Unassigned, source, apptest.Transfer{ID: "1"})
	w.Names(webtest.Duplicate, source, apptest.Transfer{ID: "1"})
	counts := func() (list [][4]int) {
		events, _, err := w.Services.Inbound.InboundEvents(ctx, 1, inbound.Filter{Page: app.Page{Number: 1, Size: 10}})
		apptest.Must(t, err)
		for _, e := range events {
			list = append(list, [4]int{e.Recorded, e.Duplicates, e.Unassigned, e.Open})
		}
		return list
	}
	if _, err := w.Services.Inbound.RetryInbound(ctx, 1, 2, time.Now()); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(counts()), "[[0 1 0 0] [0 0 1 1]]"; got != want {
		t.Errorf("before linking: %s, want %s", got, want)
	}
	w.Links("ACB", apptest.SomeAccount, inbound.NotifyRecent, 1, 0)
	if got, want := fmt.Sprint(counts()), "[[0 1 0 0] [1 0 0 0]]"; got != want {
		t.Errorf("after linking: %s, want %s", got, want)
	}
}

// TestProviderDiscard: what somebody discards needs no attention any more, and
// a repeat of it is still a duplicate, which linking doesn't record.
func TestProviderDiscard(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	ctx := context.Background()
	source := w.Native()
	w.Names(webtest.Unassigned, source, apptest.Transfer{ID: "1"})
	if n, err := w.Services.Inbound.DiscardInbound(ctx, 1, 1); n != 1 || err != nil {
		t.Fatalf("discarded %d, %v", n, err)
	}
	open, _, err := w.Services.Inbound.InboundEvents(ctx, 1, inbound.Filter{OpenOnly: true, Page: app.Page{Number: 1, Size: 10}})
	if len(open) != 0 || err != nil {
		t.Errorf("still open: %+v, %v", open, err)
	}
	w.Names(webtest.Duplicate, source, apptest.Transfer{ID: "1"})
	w.Links("ACB", apptest.SomeAccount, inbound.NotifyAll, 0, 0)
	if _, err := w.Services.Inbound.DiscardInbound(ctx, 2, 1); app.CodeOf(err) != app.CodeNotFound {
		t.Errorf("another account's event: %v", err)
	}
}

// TestProviderRetryAfterDiscard: a retry of a repeat leaves what was discarded of the
// first call, and a retry of that call records it, once in the log.
func TestProviderRetryAfterDiscard(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	ctx := context.Background()
	source := w.Native()
	w.Names(webtest.Unassigned, source, apptest.Transfer{ID: "1"})
	w.Names(webtest.Duplicate, source, apptest.Transfer{ID: "1"})
	_, err := w.Services.Inbound.DiscardInbound(ctx, 1, 1)
	apptest.Must(t, err)
	w.Links("ACB", apptest.SomeAccount, inbound.NotifyAll, 0, 0)
	r, err := w.Services.Inbound.RetryInbound(ctx, 1, 2, time.Now())
	if err != nil || r.Recorded != 0 || r.Duplicates != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	w.WantTransactions(0)
	if r, err = w.Services.Inbound.RetryInbound(ctx, 1, 1, time.Now()); err != nil || r.Recorded != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	events, _, err := w.Services.Inbound.InboundEvents(ctx, 1, inbound.Filter{Page: app.Page{Number: 1, Size: 10}})
	apptest.Must(t, err)
	for _, e := range events {
		if e.Open != 0 || e.Unassigned != 0 || (e.Recorded == 1) != (e.ID == 1) {
			t.Errorf("event %d: %d open, %d unassigned, %d recorded", e.ID, e.Open, e.Unassigned, e.Recorded)
		}
	}
}

// TestRetryOfWhatWasRecordedByHand: it has no provider's format, so there is
// nothing to read again and nothing becomes a fault of it.
func TestRetryOfWhatWasRecordedByHand(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	ctx := context.Background()
	w.Link("ACB", apptest.SomeAccount)
	a := w.Do("POST", "/api/v1/transactions",
		`{"id":"1","gateway":"ACB","accountNumber":"`+apptest.SomeAccount+`","transferType":"IN","transferAmount":1}`,
		"Authorization", "Bearer "+w.APIKey(access.ScopeFull))
	if a.Status != 201 {
		t.Fatal(a.Body)
	}
	if _, err := w.Services.Inbound.RetryInbound(ctx, 1, 1, time.Now()); app.CodeOf(err) != app.CodeConflict {
		t.Errorf("%v", err)
	}
	events, _, err := w.Services.Inbound.InboundEvents(ctx, 1, inbound.Filter{Page: app.Page{Number: 1, Size: 10}})
	if err != nil || len(events) != 1 || events[0].Open != 0 || events[0].Recorded != 1 {
		t.Errorf("%+v, %v", events, err)
	}
}

// retries reads an event again.
func retries(w *webtest.World, s *services.All, event inbound.Event, want webtest.Counts) {
	w.T.Helper()
	r, err := s.Inbound.RetryInbound(context.Background(), 1, event.ID, time.Now())
	if got := webtest.CountsOf(r); err != nil || got != want {
		w.T.Errorf("retried: %+v, %v; want %+v", got, err, want)
	}
}
