package web_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"baoco/app"
)

// at is the time of the transfer that every test names, moved by d.
func at(d time.Duration) string {
	t, err := time.Parse(app.TimeLayout, someDate)
	if err != nil {
		panic(err)
	}
	return t.Add(d).Format(app.TimeLayout)
}

func TestProviderSameEvent(t *testing.T) {
	t.Parallel()
	for _, provider := range []app.Provider{"native", "sepay"} {
		t.Run(string(provider), func(t *testing.T) {
			w := newWorld(t)
			shop := newShop(t)
			w.webhook(shop.url+"/a", "ALL")
			w.link("ACB", someAccount)
			source := w.native()
			if provider == "sepay" {
				source = w.sepay()
			}
			first := transfer{number: "FT1"}
			w.names(recorded, source, first)
			for range 5 {
				w.names(duplicate, source, first)
			}
			// What isn't money may change without being a new transaction.
			w.names(duplicate, source, transfer{number: "FT1", content: "another text"})
			w.names(duplicate, source, transfer{number: "FT2"})
			w.names(duplicate, source, transfer{number: "FT1", date: at(200 * time.Hour)})
			w.names(duplicate, source, transfer{})
			list := w.wantTransactions(1)
			if list[0].Content != "NAPTIEN MOMO" || list[0].Number != "FT1" || app.FormatTime(list[0].Time, w.service.Zone()) != someDate {
				t.Errorf("a repetition changed it: %+v", list[0])
			}
			shop.waits(w, "/a 1")
			if e := w.events(); len(e) != 10 || e[0].Duplicates != 1 || e[0].Open != 0 || e[9].Recorded != 1 {
				t.Errorf("inbound log: %+v", e)
			}
		})
	}
}

// What is blank names nothing: two transactions never become one by it.
func TestProviderBlankIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("ACB", someAccount)
	native, sepay := w.native(), w.sepay()
	for _, blank := range []string{" ", "\t\n ", "\x00", " \x00 "} {
		w.names(rejected, sepay, transfer{id: blank})
		if a := w.sends(native, batch(transfer{id: blank}.native())); a.status != 422 {
			t.Errorf("%q: %d %s", blank, a.status, a.body)
		}
	}
	w.names(recorded, native, transfer{id: "1", number: " "})
	w.names(recorded, sepay, transfer{id: "2", number: " "})
	if list := w.wantTransactions(2); list[0].Number != "" || list[1].Number != "" {
		t.Errorf("numbers %q and %q", list[0].Number, list[1].Number)
	}
	w.names(recorded, native, transfer{id: " ", number: "FT8"}) // its number is its id then
	w.names(recorded, native, transfer{id: " ", number: "FT9"})
}

// TestProviderConflicts: the first record of an event id stands.
func TestProviderConflicts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shop := newShop(t)
	w.webhook(shop.url+"/a", "ALL")
	w.link("ACB", someAccount)
	w.link("VCB", someAccount)
	w.link("ACB", "111")
	for _, source := range []app.Source{w.native(), w.sepay()} {
		first := transfer{id: fmt.Sprint("c", source.ID), number: fmt.Sprint("FT", source.ID)}
		w.names(recorded, source, first)
		others := []transfer{{amount: 200001}, {direction: "OUT"}, {account: "111"}, {account: "unlinked"}, {gateway: "VCB"}, {amount: 1, account: "111", direction: "OUT"}}
		for _, other := range others {
			other.id, other.number = first.id, first.number
			before := w.rows("inbound_items")
			w.names(conflict, source, other)
			e := w.events()[0]
			items := w.items(e.ID)
			if e.Conflicts != 1 || e.Open != 1 || len(items) != 1 || items[0].State != app.OutcomeConflict {
				t.Errorf("%+v is kept as %+v with %+v", other, e, items)
			}
			// Kept once, however often it comes.
			for range 3 {
				w.names(conflict, source, other)
			}
			if n := w.rows("inbound_items"); n != before+1 {
				t.Errorf("%+v is kept %d times", other, n-before)
			}
		}
		w.names(duplicate, source, first)
	}
	list := w.wantTransactions(2)
	for _, x := range list {
		if x.Amount != 200000 || x.Bank != "ACB" || x.AccountNumber != someAccount || x.Type != app.In {
			t.Errorf("the first record did not stand: %+v", x)
		}
	}
	open, _, err := w.service.InboundEvents(context.Background(), 1, app.InboundFilter{OpenOnly: true, Page: app.Page{Number: 1, Size: 100}})
	if err != nil || len(open) != 12 {
		t.Errorf("%d open events, want 12 (%v)", len(open), err)
	}
	shop.waits(w, "/a 1", "/a 2")
}

// TestProviderSameNumber: what makes two records one transfer, and what not.
func TestProviderSameNumber(t *testing.T) {
	t.Parallel()
	const window = 72 * time.Hour
	base := transfer{id: "a1", number: "FT1"}
	for _, c := range []struct {
		name   string
		second transfer
		linked bool // another account number is linked too
		want   counts
	}{
		{"the same", transfer{id: "b1", number: "FT1"}, false, duplicate},
		{"another text", transfer{id: "b1", number: "FT1", content: "x"}, false, duplicate},
		{"the same event id", transfer{id: "a1", number: "FT1"}, false, duplicate},
		{"a name of the bank", transfer{id: "b1", number: "FT1", gateway: "acb"}, false, duplicate},
		{"no known bank", transfer{id: "b1", number: "FT1", gateway: "?"}, false, duplicate},
		{"an account number in groups", transfer{id: "b1", number: "FT1", account: "1935 4957"}, false, duplicate},
		{"72 hours later", transfer{id: "b1", number: "FT1", date: at(window)}, false, duplicate},
		{"72 hours earlier", transfer{id: "b1", number: "FT1", date: at(-window)}, false, duplicate},
		{"a second more than 72 hours later", transfer{id: "b1", number: "FT1", date: at(window + time.Second)}, false, recorded},
		{"a second more than 72 hours earlier", transfer{id: "b1", number: "FT1", date: at(-window - time.Second)}, false, recorded},
		{"another amount", transfer{id: "b1", number: "FT1", amount: 200001}, false, recorded},
		{"another direction", transfer{id: "b1", number: "FT1", direction: "OUT"}, false, recorded},
		{"another number", transfer{id: "b1", number: "FT2"}, false, recorded},
		{"a number in another case", transfer{id: "b1", number: "ft1"}, false, recorded},
		{"a longer number", transfer{id: "b1", number: "FT1\\VNA"}, false, recorded},
		{"another account number", transfer{id: "b1", number: "FT1", account: "111"}, true, recorded},
		{"another bank", transfer{id: "b1", number: "FT1", gateway: "VCB"}, true, recorded},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.link("ACB", someAccount)
			if c.linked {
				w.link("ACB", "111")
				w.link("VCB", someAccount)
			}
			w.names(recorded, w.native(), base)
			other := w.sepay()
			w.names(c.want, other, c.second)
			w.names(duplicate, other, c.second)
			w.wantTransactions(1 + c.want.Recorded)
		})
	}
}

// TestProviderNoNumber: without a number nothing tells that two records are
// one transfer.
func TestProviderNoNumber(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("ACB", someAccount)
	native, sepay := w.native(), w.sepay()
	w.names(recorded, native, transfer{id: "a1"})
	w.names(recorded, sepay, transfer{id: "b1"})
	w.names(recorded, native, transfer{id: "a2"})
	w.names(recorded, native, transfer{id: "b1"}) // an id of another source
	w.wantTransactions(4)
}

// TestProviderLongNames: never two as one because their names begin alike.
func TestProviderLongNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 250)
	for name, c := range map[string][2]transfer{
		"event id": {{id: long + "1"}, {id: long + "2"}},
		"number":   {{id: "a", number: long + "1"}, {id: "b", number: long + "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.link("ACB", someAccount)
			first, second := w.native(), w.native()
			if name != "number" {
				second = first
			}
			w.names(recorded, first, c[0])
			// Refusing to read it would do as well: it is kept then.
			a := w.sends(second, batch(c[1].native()))
			if a.status == 200 && a.counts(t).Duplicates == 1 {
				t.Error("two transactions are taken for one")
			}
		})
	}
}

func TestProviderSameSource(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shop := newShop(t)
	w.webhook(shop.url+"/a", "ALL")
	w.link("ACB", someAccount)
	w.link("ACB", "111")
	w.link("VCB", someAccount)
	source := w.native()
	same := []transfer{{id: "1", number: "FT1"}, {id: "2", number: "FT1"}, {id: "3", number: "FT2"}, {id: "4", number: "FT1", account: "111"}, {id: "5", number: "FT1", gateway: "VCB"}}
	for _, x := range same {
		w.names(recorded, source, x)
	}
	for _, x := range same {
		w.names(duplicate, source, x)
	}
	w.wantTransactions(5)
	// Without an id the number is the event id.
	noID := func(number string) string {
		return batch(strings.Replace(transfer{number: number}.native(), `"id":"3521"`, `"id":null`, 1))
	}
	w.wants(recorded, source, noID("FT9"))
	w.wants(duplicate, source, noID("FT9"))
	w.names(duplicate, source, transfer{id: "FT9"})
	w.wantTransactions(6)
	shop.waits(w, "/a 1", "/a 2", "/a 3", "/a 4", "/a 5", "/a 6")
}

// TestProviderMultiplicity: two sources that see the same transfers agree on
// how many there are, whatever the order.
func TestProviderMultiplicity(t *testing.T) {
	t.Parallel()
	type step struct {
		source int
		id     string
		want   counts
	}
	for name, steps := range map[string][]step{
		"two each":        {{0, "a1", recorded}, {1, "b1", duplicate}, {1, "b2", recorded}, {0, "a2", duplicate}, {0, "a3", recorded}, {1, "b3", duplicate}},
		"one after other": {{0, "a1", recorded}, {0, "a2", recorded}, {1, "b1", duplicate}, {1, "b2", duplicate}, {1, "b3", recorded}, {0, "a3", duplicate}},
		"three sources": {{0, "a1", recorded}, {1, "b1", duplicate}, {2, "c1", duplicate}, {2, "c2", recorded}, {1, "b2", duplicate}, {0, "a2", duplicate},
			{0, "a1", duplicate}, {1, "b1", duplicate}, {2, "c1", duplicate}, {1, "b3", recorded}, {2, "c3", duplicate}, {0, "a3", duplicate}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			shop := newShop(t)
			w.webhook(shop.url+"/a", "ALL")
			w.link("ACB", someAccount)
			sources := []app.Source{w.native(), w.sepay(), w.native()}
			n, told := 0, []string{}
			for i, s := range steps {
				// All within the window of all.
				x := transfer{id: s.id, number: "N", date: at(time.Duration(i) * time.Hour)}
				w.names(s.want, sources[s.source], x)
				if n += s.want.Recorded; s.want == recorded {
					told = append(told, fmt.Sprint("/a ", n))
				}
				w.names(duplicate, sources[s.source], x)
			}
			w.wantTransactions(n)
			shop.waits(w, told...)
			// A merged event keeps its money too.
			w.names(conflict, sources[1], transfer{id: "b1", number: "N", amount: 1})
			w.wantTransactions(n)
		})
	}
}

// TestProviderChannels: by hand and by polling is elsewhere, too.
func TestProviderChannels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("ACB", someAccount)
	source := w.native()
	key := w.apiKey(app.ScopeFull)
	x := transfer{id: "a1", number: "FT1"}
	w.names(recorded, source, x)
	byHand := func(x transfer, status int) {
		t.Helper()
		a := w.do("POST", "/api/v1/transactions", x.native(), "Authorization", "Bearer "+key, "Content-Type", "application/json")
		if a.status != status {
			t.Errorf("%+v by hand: %d %s", x, a.status, a.body)
		}
	}
	byHand(transfer{id: "h1", number: "FT1"}, 200)
	byHand(transfer{id: "h2", number: "FT1"}, 201)
	w.names(duplicate, source, transfer{id: "a2", number: "FT1"})
	w.wantTransactions(2)

	on := func(channel app.Channel, want counts, x transfer) {
		t.Helper()
		body := []byte(batch(x.native()))
		call := app.InboundCall{AccountID: 1, Source: source, Channel: channel, Body: body, ReceivedAt: time.Now(), Elements: readNative(body)}
		r, err := w.service.RecordTransactions(context.Background(), call)
		if got := (counts{r.Recorded, r.Duplicates, r.Unassigned, r.Conflicts, r.Rejected}); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", channel, got, err, want)
		}
	}
	on(app.ChannelPoll, duplicate, transfer{id: "p1", number: "FT1"})
	on(app.ChannelFile, duplicate, transfer{id: "f1", number: "FT1"})
	on(app.ChannelPoll, duplicate, transfer{id: "p2", number: "FT1"})
	on(app.ChannelPoll, recorded, transfer{id: "p3", number: "FT1"})
	on(app.ChannelPoll, recorded, transfer{id: "p4", number: "FT4"})
	w.names(duplicate, source, transfer{id: "a3", number: "FT1"})
	w.names(duplicate, source, transfer{id: "a4", number: "FT4"})
	w.wantTransactions(4)
}

// TestProviderGateways: which bank account a provider means.
func TestProviderGateways(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	vcb, mbb, acb := w.link("VCB", "100"), w.link("MBB", "100"), w.link("ACB", "200")
	native := w.native()
	for i, c := range []struct {
		gateway, account string
		want             int64
	}{
		{"VCB", "100", vcb.ID}, {"Vietcombank", "100", vcb.ID}, {"vietcombank", "100", vcb.ID}, {"VIETCOMBANK", "100", vcb.ID}, {"MBBank", "100", mbb.ID}, {"MB Bank", "100", mbb.ID},
		{"MB", "100", mbb.ID}, {"ACB", "100", 0}, {"", "100", 0}, {"Some Bank", "100", 0}, {"Some Bank", "200", acb.ID}, {"", "200", acb.ID}, {"BIDV", "200", 0}, {"VietinBank", "200", 0},
		{"TCB", "200", 0}, {"ACB", "200", acb.ID}, {"ACB", "0200", 0}, {"ACB", "20", 0}, {"Some Bank", "300", 0}, {"VCB", "200", 0},
	} {
		body := strings.Replace(transfer{id: fmt.Sprint("g", i), account: c.account}.native(), `"gateway":"ACB"`, `"gateway":"`+c.gateway+`"`, 1)
		want, before := recorded, len(w.transactions())
		if c.want == 0 {
			want = unassigned
		}
		w.wants(want, native, batch(body))
		list := w.wantTransactions(before + want.Recorded)
		if want == recorded && list[before].BankAccountID != c.want {
			t.Errorf("%s %s is on bank account %d, want %d", c.gateway, c.account, list[before].BankAccountID, c.want)
		}
	}
}

func TestProviderBankAccountStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shop := newShop(t)
	w.webhook(shop.url+"/a", "ALL")
	ctx := context.Background()
	link, err := w.service.LinkBankAccount(ctx, 1, app.BankAccountLink{Bank: "ACB", AccountNumber: someAccount, AccountName: "A", Pending: true}, time.Now())
	must(t, err)
	source := w.native()
	status := func(want app.BankAccountStatus) {
		t.Helper()
		list, err := w.service.BankAccounts(ctx, 1)
		if err != nil || list[0].Status != want {
			t.Errorf("status %s, want %s (%v)", list[0].Status, want, err)
		}
	}
	status(app.BankAccountPending)
	w.wants(rejected, w.sepay(), "{}")
	w.names(unassigned, source, transfer{id: "0", account: "777"})
	status(app.BankAccountPending)
	w.names(recorded, source, transfer{id: "1"})
	status(app.BankAccountActive)

	w.file(func(db *sql.DB) error { _, err := db.Exec(`UPDATE bank_accounts SET status = 'error'`); return err })
	w.names(duplicate, source, transfer{id: "1"})
	status(app.BankAccountError)
	w.names(recorded, source, transfer{id: "2", direction: "OUT"})
	status(app.BankAccountActive)
	w.file(func(db *sql.DB) error { _, err := db.Exec(`UPDATE bank_accounts SET status = 'error'`); return err })
	w.names(recorded, source, transfer{id: "3"})

	_, err = w.service.ToggleBankAccount(ctx, 1, link.BankAccount.ID, time.Now())
	must(t, err)
	w.names(recorded, source, transfer{id: "4"})
	w.names(duplicate, source, transfer{id: "4"})
	status(app.BankAccountInactive)
	w.wantTransactions(4)
	shop.waits(w, "/a 1", "/a 2", "/a 3")
	if o, err := w.service.Overview(ctx, 1); err != nil || o.Transactions != 4 {
		t.Errorf("%+v, %v", o, err)
	}
	_, err = w.service.ToggleBankAccount(ctx, 1, link.BankAccount.ID, time.Now())
	must(t, err)
	w.names(recorded, source, transfer{id: "5"})
	shop.waits(w, "/a 1", "/a 2", "/a 3", "/a 5")
}
