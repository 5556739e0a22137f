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
	"baoco/web/webtest"
)

// at is the time of the transfer that every test names, moved by d.
func at(d time.Duration) string {
	t, err := time.Parse(app.TimeLayout, apptest.SomeDate)
	if err != nil {
		panic(err)
	}
	return t.Add(d).Format(app.TimeLayout)
}

func TestProviderSameEvent(t *testing.T) {
	t.Parallel()
	for _, provider := range []app.Provider{"native", "sepay"} {
		t.Run(string(provider), func(t *testing.T) {
			w := webtest.NewWorld(t)
			shop := webtest.NewShop(t)
			w.Webhook(shop.URL+"/a", "ALL")
			w.Link("ACB", apptest.SomeAccount)
			source := w.Native()
			if provider == "sepay" {
				source = w.Sepay()
			}
			first := apptest.Transfer{Number: "FT1"}
			w.Names(webtest.Recorded, source, first)
			for range 5 {
				w.Names(webtest.Duplicate, source, first)
			}
			// What isn't money may change without being a new transaction.
			w.Names(webtest.Duplicate, source, apptest.Transfer{Number: "FT1", Content: "another text"})
			w.Names(webtest.Duplicate, source, apptest.Transfer{Number: "FT2"})
			w.Names(webtest.Duplicate, source, apptest.Transfer{Number: "FT1", Date: at(200 * time.Hour)})
			w.Names(webtest.Duplicate, source, apptest.Transfer{})
			list := w.WantTransactions(1)
			if list[0].Content != "NAPTIEN MOMO" || list[0].Number != "FT1" ||
				app.FormatTime(list[0].Time, w.Services.Ledger.Zone()) != apptest.SomeDate {
				t.Errorf("a repetition changed it: %+v", list[0])
			}
			shop.Waits(w, "/a 1")
			if e := w.Events(); len(e) != 10 || e[0].Duplicates != 1 || e[0].Open != 0 || e[9].Recorded != 1 {
				t.Errorf("inbound log: %+v", e)
			}
		})
	}
}

// What is blank names nothing: two transactions never become one by it.
func TestProviderBlankIDs(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	native, sepay := w.Native(), w.Sepay()
	for _, blank := range []string{" ", "\t\n ", "\x00", " \x00 "} {
		w.Names(webtest.Rejected, sepay, apptest.Transfer{ID: blank})
		if a := w.Sends(native, apptest.Batch(apptest.Transfer{ID: blank}.Native())); a.Status != 422 {
			t.Errorf("%q: %d %s", blank, a.Status, a.Body)
		}
	}
	w.Names(webtest.Recorded, native, apptest.Transfer{ID: "1", Number: " "})
	w.Names(webtest.Recorded, sepay, apptest.Transfer{ID: "2", Number: " ", Amount: 300_000})
	if list := w.WantTransactions(2); list[0].Number != "" || list[1].Number != "" {
		t.Errorf("numbers %q and %q", list[0].Number, list[1].Number)
	}
	w.Names(webtest.Recorded, native, apptest.Transfer{ID: " ", Number: "FT8"}) // its number is its id then
	w.Names(webtest.Recorded, native, apptest.Transfer{ID: " ", Number: "FT9"})
}

// TestProviderConflicts: the first record of an event id stands.
func TestProviderConflicts(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	shop := webtest.NewShop(t)
	w.Webhook(shop.URL+"/a", "ALL")
	w.Link("ACB", apptest.SomeAccount)
	w.Link("VCB", apptest.SomeAccount)
	w.Link("ACB", "111")
	for _, source := range []inbound.Source{w.Native(), w.Sepay()} {
		first := apptest.Transfer{ID: fmt.Sprint("c", source.ID), Number: fmt.Sprint("FT", source.ID),
			Date: fmt.Sprintf("2025-10-1%d 10:59:30", source.ID)}
		w.Names(webtest.Recorded, source, first)
		others := []apptest.Transfer{{Amount: 200001}, {Direction: "OUT"}, {Account: "111"}, {Account: "unlinked"}, {Gateway: "VCB"},
			{Amount: 1, Account: "111", Direction: "OUT"},
			{Amount: 200001, Direction: "OUT"}, {Gateway: "VCB", Account: "unlinked"}}
		for _, other := range others {
			other.ID, other.Number, other.Date = first.ID, first.Number, first.Date
			before := w.Rows("inbound_items")
			w.Names(webtest.Conflict, source, other)
			e := w.NewestEvent()
			items := w.Items(e.ID)
			if e.Conflicts != 1 || e.Open != 1 || len(items) != 1 || items[0].State != inbound.OutcomeConflict {
				t.Errorf("%+v is kept as %+v with %+v", other, e, items)
			}
			// Kept once, however often it comes.
			for range 3 {
				w.Names(webtest.Conflict, source, other)
			}
			if n := w.Rows("inbound_items"); n != before+1 {
				t.Errorf("%+v is kept %d times", other, n-before)
			}
		}
		w.Names(webtest.Duplicate, source, first)
	}
	list := w.WantTransactions(2)
	for _, x := range list {
		if x.Amount != 200000 || x.Bank != "ACB" || x.AccountNumber != apptest.SomeAccount || x.Type != app.In {
			t.Errorf("the first record did not stand: %+v", x)
		}
	}
	open, _, err := w.Services.Inbound.InboundEvents(context.Background(), 1,
		inbound.Filter{OpenOnly: true, Page: app.Page{Number: 1, Size: 100}})
	if err != nil || len(open) != 16 {
		t.Errorf("%d open events, want 16 (%v)", len(open), err)
	}
	// So it is within one call, and in a retry of it.
	source, twice := w.Native(), apptest.Transfer{ID: "twice", Amount: 7}.Native()
	w.Wants(webtest.Counts{Recorded: 1, Conflicts: 2}, source, apptest.Batch(apptest.Transfer{ID: "twice"}.Native(), twice, twice))
	e := w.NewestEvent()
	for range 2 {
		if items := w.Items(e.ID); len(items) != 1 || w.Event(e.ID).Open != 1 {
			t.Errorf("what conflicts twice in one call is kept as %+v", items)
		}
		retries(w, w.Services, e, webtest.Counts{Duplicates: 1, Conflicts: 2})
	}
	shop.Waits(w, "/a 1", "/a 2", "/a 3")
}

// TestProviderSameNumber: what makes two records one transfer, and what not.
func TestProviderSameNumber(t *testing.T) {
	t.Parallel()
	const window = 72 * time.Hour
	base := apptest.Transfer{ID: "a1", Number: "FT1"}
	for _, c := range []struct {
		name   string
		second apptest.Transfer
		linked bool // another account number is linked too
		want   webtest.Counts
	}{
		{"the same", apptest.Transfer{ID: "b1", Number: "FT1"}, false, webtest.Duplicate},
		{"another text", apptest.Transfer{ID: "b1", Number: "FT1", Content: "x"}, false, webtest.Duplicate},
		{"the same event id", apptest.Transfer{ID: "a1", Number: "FT1"}, false, webtest.Duplicate},
		{"a name of the bank", apptest.Transfer{ID: "b1", Number: "FT1", Gateway: "acb"}, false, webtest.Duplicate},
		{"no known bank", apptest.Transfer{ID: "b1", Number: "FT1", Gateway: "?"}, false, webtest.Duplicate},
		{"an account number in groups", apptest.Transfer{ID: "b1", Number: "FT1", Account: "1935 4957"}, false, webtest.Duplicate},
		{"72 hours later", apptest.Transfer{ID: "b1", Number: "FT1", Date: at(window)}, false, webtest.Duplicate},
		{"72 hours earlier", apptest.Transfer{ID: "b1", Number: "FT1", Date: at(-window)}, false, webtest.Duplicate},
		{"a second more than 72 hours later", apptest.Transfer{ID: "b1", Number: "FT1", Date: at(window + time.Second)}, false, webtest.Recorded},
		{"a second more than 72 hours earlier", apptest.Transfer{ID: "b1", Number: "FT1", Date: at(-window - time.Second)},
			false, webtest.Recorded},
		{"another amount", apptest.Transfer{ID: "b1", Number: "FT1", Amount: 200001}, false, webtest.Recorded},
		{"another direction", apptest.Transfer{ID: "b1", Number: "FT1", Direction: "OUT"}, false, webtest.Recorded},
		{"another number", apptest.Transfer{ID: "b1", Number: "FT2"}, false, webtest.Recorded},
		{"a number in another case", apptest.Transfer{ID: "b1", Number: "ft1"}, false, webtest.Duplicate},
		{"a longer number", apptest.Transfer{ID: "b1", Number: "FT1\\VNA"}, false, webtest.Duplicate},
		{"another account number", apptest.Transfer{ID: "b1", Number: "FT1", Account: "111"}, true, webtest.Recorded},
		{"another bank", apptest.Transfer{ID: "b1", Number: "FT1", Gateway: "VCB"}, true, webtest.Recorded},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := webtest.NewWorld(t)
			w.Link("ACB", apptest.SomeAccount)
			if c.linked {
				w.Link("ACB", "111")
				w.Link("VCB", apptest.SomeAccount)
			}
			w.Names(webtest.Recorded, w.Native(), base)
			other := w.Sepay()
			w.Names(c.want, other, c.second)
			w.Names(webtest.Duplicate, other, c.second)
			w.WantTransactions(1 + c.want.Recorded)
		})
	}
}

// TestProviderNoNumber: without a number nothing tells that two records are
// one transfer.
func TestProviderNoNumber(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	native, sepay := w.Native(), w.Sepay()
	w.Names(webtest.Recorded, native, apptest.Transfer{ID: "a1"})
	w.Names(webtest.Duplicate, sepay, apptest.Transfer{ID: "b1"}) // by its time, amount and content
	w.Names(webtest.Recorded, native, apptest.Transfer{ID: "a2"})
	w.Names(webtest.Recorded, native, apptest.Transfer{ID: "b1"}) // an id of another source
	w.Names(webtest.Recorded, sepay, apptest.Transfer{ID: "b2", Content: "HOC PHI LOP HAI BA"})
	w.Names(webtest.Counts{MayRepeat: 1}, sepay, apptest.Transfer{ID: "b3", Content: "MOMO"})
	w.WantTransactions(4)
}

// TestProviderLongNames: never two as one because their names begin alike.
func TestProviderLongNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 250)
	for name, c := range map[string][2]apptest.Transfer{
		"event id": {{ID: long + "1"}, {ID: long + "2"}},
		"number":   {{ID: "a", Number: long + "1", Content: "TIEN DIEN THANG 10"}, {ID: "b", Number: long + "2", Content: "MUA HAI AO KHOAC"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := webtest.NewWorld(t)
			w.Link("ACB", apptest.SomeAccount)
			first, second := w.Native(), w.Native()
			if name != "number" {
				second = first
			}
			w.Names(webtest.Recorded, first, c[0])
			// Refusing to read it would do as well: it is kept then.
			a := w.Sends(second, apptest.Batch(c[1].Native()))
			if a.Status == 200 && a.Counts(t).Duplicates == 1 {
				t.Error("two transactions are taken for one")
			}
		})
	}
}

func TestProviderSameSource(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	shop := webtest.NewShop(t)
	w.Webhook(shop.URL+"/a", "ALL")
	w.Link("ACB", apptest.SomeAccount)
	w.Link("ACB", "111")
	w.Link("VCB", apptest.SomeAccount)
	source := w.Native()
	same := []apptest.Transfer{{ID: "1", Number: "FT1"}, {ID: "2", Number: "FT1"}, {ID: "3", Number: "FT2"},
		{ID: "4", Number: "FT1", Account: "111"}, {ID: "5", Number: "FT1", Gateway: "VCB"}}
	for _, x := range same {
		w.Names(webtest.Recorded, source, x)
	}
	for _, x := range same {
		w.Names(webtest.Duplicate, source, x)
	}
	w.WantTransactions(5)
	// Without an id the number is the event id.
	noID := func(number string) string {
		return apptest.Batch(strings.Replace(apptest.Transfer{Number: number}.Native(), `"id":"3521"`, `"id":null`, 1))
	}
	w.Wants(webtest.Recorded, source, noID("FT9"))
	w.Wants(webtest.Duplicate, source, noID("FT9"))
	w.Names(webtest.Duplicate, source, apptest.Transfer{ID: "FT9"})
	w.WantTransactions(6)
	shop.Waits(w, "/a 1", "/a 2", "/a 3", "/a 4", "/a 5", "/a 6")
}

// TestProviderMultiplicity: two sources that see the same transfers agree on
// how many there are, whatever the order.
func TestProviderMultiplicity(t *testing.T) {
	t.Parallel()
	type step struct {
		source int
		id     string
		want   webtest.Counts
	}
	for name, steps := range map[string][]step{
		"two each": {{0, "a1", webtest.Recorded}, {1, "b1", webtest.Duplicate}, {1, "b2", webtest.Recorded}, {0, "a2", webtest.Duplicate},
			{0, "a3", webtest.Recorded}, {1, "b3", webtest.Duplicate}},
		"one after other": {{0, "a1", webtest.Recorded}, {0, "a2", webtest.Recorded}, {1, "b1", webtest.Duplicate}, {1, "b2", webtest.Duplicate},
			{1, "b3", webtest.Recorded}, {0, "a3", webtest.Duplicate}},
		"three sources": {{0, "a1", webtest.Recorded}, {1, "b1", webtest.Duplicate}, {2, "c1", webtest.Duplicate}, {2, "c2", webtest.Recorded},
			{1, "b2", webtest.Duplicate}, {0, "a2", webtest.Duplicate},
			{0, "a1", webtest.Duplicate}, {1, "b1", webtest.Duplicate}, {2, "c1", webtest.Duplicate}, {1, "b3", webtest.Recorded},
			{2, "c3", webtest.Duplicate}, {0, "a3", webtest.Duplicate}},
	} {
		t.Run(name, func(t *testing.T) {
			w := webtest.NewWorld(t)
			shop := webtest.NewShop(t)
			w.Webhook(shop.URL+"/a", "ALL")
			w.Link("ACB", apptest.SomeAccount)
			sources := []inbound.Source{w.Native(), w.Sepay(), w.Native()}
			n, told := 0, []string{}
			for i, s := range steps {
				// All within the window of all.
				x := apptest.Transfer{ID: s.id, Number: "N", Date: at(time.Duration(i) * time.Hour)}
				w.Names(s.want, sources[s.source], x)
				if n += s.want.Recorded; s.want == webtest.Recorded {
					told = append(told, fmt.Sprint("/a ", n))
				}
				w.Names(webtest.Duplicate, sources[s.source], x)
			}
			w.WantTransactions(n)
			shop.Waits(w, told...)
			// A merged event keeps its money too.
			w.Names(webtest.Conflict, sources[1], apptest.Transfer{ID: "b1", Number: "N", Amount: 1})
			w.WantTransactions(n)
		})
	}
}

// TestProviderChannels: by hand and by polling is elsewhere, too.
func TestProviderChannels(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	source := w.Native()
	key := w.APIKey(access.ScopeFull)
	x := apptest.Transfer{ID: "a1", Number: "FT1"}
	w.Names(webtest.Recorded, source, x)
	byHand := func(x apptest.Transfer, status int) {
		t.Helper()
		a := w.Do("POST", "/api/v1/transactions", x.Native(), "Authorization", "Bearer "+key, "Content-Type", "application/json")
		if a.Status != status {
			t.Errorf("%+v by hand: %d %s", x, a.Status, a.Body)
		}
	}
	byHand(apptest.Transfer{ID: "h1", Number: "FT1"}, 200)
	byHand(apptest.Transfer{ID: "h2", Number: "FT1"}, 201)
	w.Names(webtest.Duplicate, source, apptest.Transfer{ID: "a2", Number: "FT1"})
	w.WantTransactions(2)

	on := func(channel app.Channel, want webtest.Counts, x apptest.Transfer) {
		t.Helper()
		body := []byte(apptest.Batch(x.Native()))
		call := inbound.Call{AccountID: 1, Source: source, Channel: channel, Body: body, ReceivedAt: time.Now(),
			Elements: apptest.ReadNative(body)}
		r, err := w.Services.Inbound.RecordTransactions(context.Background(), call)
		if got := (webtest.Counts{Recorded: r.Recorded, Duplicates: r.Duplicates, Unassigned: r.Unassigned, Conflicts: r.Conflicts,
			Rejected: r.Rejected}); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", channel, got, err, want)
		}
	}
	on(app.ChannelPoll, webtest.Duplicate, apptest.Transfer{ID: "p1", Number: "FT1"})
	on(app.ChannelFile, webtest.Duplicate, apptest.Transfer{ID: "f1", Number: "FT1"})
	on(app.ChannelPoll, webtest.Duplicate, apptest.Transfer{ID: "p2", Number: "FT1"})
	on(app.ChannelPoll, webtest.Recorded, apptest.Transfer{ID: "p3", Number: "FT1"})
	on(app.ChannelPoll, webtest.Recorded, apptest.Transfer{ID: "p4", Number: "FT4"})
	w.Names(webtest.Duplicate, source, apptest.Transfer{ID: "a3", Number: "FT1"})
	w.Names(webtest.Duplicate, source, apptest.Transfer{ID: "a4", Number: "FT4"})
	w.WantTransactions(4)
}

// TestProviderGateways: which bank account a provider means.
func TestProviderGateways(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	vcb, mbb, acb := w.Link("VCB", "100"), w.Link("MBB", "100"), w.Link("ACB", "200")
	native := w.Native()
	for i, c := range []struct {
		gateway, account string
		want             int64
	}{
		{"VCB", "100", vcb.ID}, {"Vietcombank", "100", vcb.ID}, {"vietcombank", "100", vcb.ID}, {"VIETCOMBANK", "100", vcb.ID},
		{"MBBank", "100", mbb.ID}, {"MB Bank", "100", mbb.ID},
		{"MB", "100", mbb.ID}, {"ACB", "100", 0}, {"", "100", 0}, {"Some Bank", "100", 0}, {"Some Bank", "200", acb.ID}, {"", "200", acb.ID},
		{"BIDV", "200", 0}, {"VietinBank", "200", 0},
		{"TCB", "200", 0}, {"ACB", "200", acb.ID}, {"ACB", "0200", 0}, {"ACB", "20", 0}, {"Some Bank", "300", 0}, {"VCB", "200", 0},
	} {
		body := strings.Replace(apptest.Transfer{ID: fmt.Sprint("g", i), Account: c.account}.Native(), `"gateway":"ACB"`,
			`"gateway":"`+c.gateway+`"`, 1)
		want, before := webtest.Recorded, len(w.Transactions())
		if c.want == 0 {
			want = webtest.Unassigned
		}
		w.Wants(want, native, apptest.Batch(body))
		list := w.WantTransactions(before + want.Recorded)
		if want == webtest.Recorded && list[before].BankAccountID != c.want {
			t.Errorf("%s %s is on bank account %d, want %d", c.gateway, c.account, list[before].BankAccountID, c.want)
		}
	}
}

func TestProviderBankAccountStatus(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	shop := webtest.NewShop(t)
	w.Webhook(shop.URL+"/a", "ALL")
	ctx := context.Background()
	link, err := w.Services.Inbound.LinkBankAccount(ctx, 1,
		inbound.BankAccountLink{Bank: "ACB", AccountNumber: apptest.SomeAccount, AccountName: "A", Pending: true}, time.Now())
	apptest.Must(t, err)
	source := w.Native()
	status := func(want app.BankAccountStatus) {
		t.Helper()
		list, err := w.Services.Ledger.BankAccounts(ctx, 1)
		if err != nil || list[0].Status != want {
			t.Errorf("status %s, want %s (%v)", list[0].Status, want, err)
		}
	}
	status(app.BankAccountPending)
	w.Wants(webtest.Rejected, w.Sepay(), "{}")
	w.Names(webtest.Unassigned, source, apptest.Transfer{ID: "0", Account: "777"})
	status(app.BankAccountPending)
	w.Names(webtest.Recorded, source, apptest.Transfer{ID: "1"})
	status(app.BankAccountActive)

	w.Change(`UPDATE bank_accounts SET status = 'error'`)
	w.Names(webtest.Duplicate, source, apptest.Transfer{ID: "1"})
	status(app.BankAccountError)
	w.Names(webtest.Recorded, source, apptest.Transfer{ID: "2", Direction: "OUT"})
	status(app.BankAccountActive)
	w.Change(`UPDATE bank_accounts SET status = 'error'`)
	w.Names(webtest.Recorded, source, apptest.Transfer{ID: "3"})

	_, err = w.Services.Ledger.ToggleBankAccount(ctx, 1, link.BankAccount.ID, time.Now())
	apptest.Must(t, err)
	w.Names(webtest.Recorded, source, apptest.Transfer{ID: "4"})
	w.Names(webtest.Duplicate, source, apptest.Transfer{ID: "4"})
	status(app.BankAccountInactive)
	w.WantTransactions(4)
	shop.Waits(w, "/a 1", "/a 2", "/a 3")
	if o, err := w.Services.Ledger.Overview(ctx, 1); err != nil || o.Transactions != 4 {
		t.Errorf("%+v, %v", o, err)
	}
	_, err = w.Services.Ledger.ToggleBankAccount(ctx, 1, link.BankAccount.ID, time.Now())
	apptest.Must(t, err)
	w.Names(webtest.Recorded, source, apptest.Transfer{ID: "5"})
	shop.Waits(w, "/a 1", "/a 2", "/a 3", "/a 5")
}
