package sqlitestore_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/inbound"
)

// several is more than some steps of a link.
const several = 600

// cutLink links ACB 999, for which many wait, and cuts the link off after its
// first step, as a crash does.
func (h *history) cutLink(notify inbound.NotifyOnLink) app.BankAccount {
	h.t.Helper()
	ctx, cancel := context.WithCancel(h.t.Context())
	defer cancel()
	// Told before the first commit, whose caller waits for it; the second step
	// finds that the caller has gone.
	steps := 0
	must(h.t, h.store.Watch(ctx, func(int64) {
		if steps++; steps == 3 { // the first is that of Watch itself
			cancel()
		}
	}))
	r, err := h.service.Inbound.LinkBankAccount(ctx, 1,
		inbound.BankAccountLink{Bank: "ACB", AccountNumber: "999", AccountName: "A", Notify: notify}, h.now)
	must(h.t, err)
	must(h.t, h.store.Watch(h.t.Context(), nil))
	if !r.More || r.Recorded == 0 || r.Recorded >= several {
		h.t.Fatalf("the link wasn't cut off: %d recorded, more: %t", r.Recorded, r.More)
	}
	return r.BankAccount
}

// finish does what the regular work does once a link is left alone.
func (h *history) finish() {
	h.t.Helper()
	must(h.t, h.service.Inbound.FinishLinks(h.t.Context(), h.now.Add(time.Minute)))
}

func (h *history) count(query string) int64 {
	h.t.Helper()
	return peek(h.t, h.store.Path(), `SELECT count(*) FROM `+query)[0][0].(int64)
}

// What is left of a link that was cut off is recorded without anybody's doing,
// also after a start: as it was asked for, and by what holds by then.
func TestLinkGoesOn(t *testing.T) {
	for _, c := range []struct {
		name       string
		notify     inbound.NotifyOnLink
		meanwhile  func(h *history, b app.BankAccount)
		recorded   int64 // transactions of the bank account
		deliveries int64
		waiting    int64 // items that still do
	}{
		{"nothing else", inbound.NotifyRecent, nil, several, 2 * several, 0},
		{"without notices", inbound.NotifyNone, nil, several, 0, 0},
		{"a start, a day later", inbound.NotifyRecent, func(h *history, _ app.BankAccount) {
			must(h.t, h.store.Close())
			h.reopen(h.store.Path())
			h.now = h.now.Add(30 * time.Hour)
		}, several, 2 * several, 0},
		{"the same by another source", inbound.NotifyRecent, func(h *history, _ app.BankAccount) {
			call := h.callOf(h.waiting(several - 10))
			call.Source = h.sources[1]
			r, err := h.service.Inbound.RecordTransactions(h.t.Context(), call)
			must(h.t, err)
			if r.Recorded != len(call.Elements) {
				h.t.Fatalf("%d recorded", r.Recorded)
			}
		}, several, 2 * several, 0},
		{"the same again", inbound.NotifyRecent, func(h *history, _ app.BankAccount) {
			if r := h.record(h.waiting(several - 10)); r.Duplicates != 10 {
				h.t.Fatalf("%d duplicates", r.Duplicates)
			}
		}, several, 2 * several, 0},
		{"the rest is discarded", inbound.NotifyRecent, func(h *history, _ app.BankAccount) {
			_, err := h.service.Inbound.DiscardInbound(h.t.Context(), 1, 1)
			must(h.t, err)
		}, -1, -1, 0},
		{"switched off", inbound.NotifyRecent, func(h *history, b app.BankAccount) {
			_, err := h.service.Ledger.ToggleBankAccount(h.t.Context(), 1, b.ID, h.now)
			must(h.t, err)
		}, several, -1, 0},
		{"unlinked", inbound.NotifyRecent, func(h *history, b app.BankAccount) {
			must(h.t, h.service.Ledger.UnlinkBankAccount(h.t.Context(), 1, b.ID, h.now))
		}, -1, -1, -1},
		{"unlinked and linked again without notices", inbound.NotifyAll, func(h *history, b app.BankAccount) {
			must(h.t, h.service.Ledger.UnlinkBankAccount(h.t.Context(), 1, b.ID, h.now))
			_, err := h.service.Inbound.LinkBankAccount(h.t.Context(), 1,
				inbound.BankAccountLink{Bank: "ACB", AccountNumber: "999", AccountName: "A", Notify: inbound.NotifyNone}, h.now)
			must(h.t, err)
		}, several, -1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, create(t), 1)
			defer func() { h.store.Close() }()
			h.record(h.elements(several, "999"))
			b := h.cutLink(c.notify)
			const transactions, deliveries, items = `transactions`, `deliveries`, `inbound_items WHERE state = 'unassigned'`
			recorded, told, waiting := h.count(transactions), h.count(deliveries), h.count(items)
			if c.meanwhile != nil {
				c.meanwhile(h, b)
			}
			h.finish()
			for _, left := range []struct {
				query             string
				want, sinceTheCut int64
			}{{transactions, c.recorded, recorded}, {deliveries, c.deliveries, told}, {items, c.waiting, waiting}} {
				if left.want < 0 {
					left.want = left.sinceTheCut
				}
				if n := h.count(left.query); n != left.want {
					t.Errorf("%d %s, want %d", n, left.query, left.want)
				}
			}
			if n := h.count(`unfinished_links`); n != 0 {
				t.Errorf("%d links are unfinished", n)
			}
			whole(t, h.store.Path(), h.now)
		})
	}
}

// waiting are the elements that wait for ACB 999, from one on, as another call
// names them.
func (h *history) waiting(from int) []inbound.Incoming {
	seq := h.seq
	h.seq = 0
	list := h.elements(several, "999")[from:]
	h.seq = seq
	return list
}

// Who links is left alone with it for a while: what they are told counts all.
func TestLinkIsLeftAlone(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	h.record(h.elements(several, "999"))
	h.cutLink(inbound.NotifyAll)
	before := h.count(`transactions`)
	must(t, h.service.Inbound.FinishLinks(t.Context(), h.now.Add(20*time.Second)))
	if n := h.count(`transactions`); n != before {
		t.Errorf("%d transactions after %d", n, before)
	}
}

// cutEventLink has an event whose items name no account number linked to ACB
// 1000, for which others wait too, and cuts that off after its first step.
func (h *history) cutEventLink() inbound.EventLinkResult {
	h.t.Helper()
	source, err := h.service.Inbound.AddSource(h.t.Context(), 1,
		inbound.SourceAdd{Provider: "native", Name: "sms", BankAccountID: h.banks[0].ID}, h.now)
	must(h.t, err)
	must(h.t, h.service.Ledger.UnlinkBankAccount(h.t.Context(), 1, h.banks[0].ID, h.now))
	call := h.callOf(h.elements(several, ""))
	call.Source = source
	r, err := h.service.Inbound.RecordTransactions(h.t.Context(), call)
	must(h.t, err)
	if r.Unassigned != several {
		h.t.Fatalf("%+v", r)
	}
	h.record(h.elements(several, "1000"))
	ctx, cancel := context.WithCancel(h.t.Context())
	defer cancel()
	steps := 0
	must(h.t, h.store.Watch(ctx, func(int64) {
		if steps++; steps == 3 {
			cancel()
		}
	}))
	l, err := h.service.Inbound.LinkInbound(ctx, 1, inbound.EventLink{EventID: 1, Bank: "ACB", AccountNumber: "1000", AccountName: "A"}, h.now)
	must(h.t, err)
	must(h.t, h.store.Watch(h.t.Context(), nil))
	if !l.More || l.Recorded == 0 || l.Recorded >= several || l.Waiting != 0 {
		h.t.Fatalf("%d and %d recorded, more: %t", l.Recorded, l.Waiting, l.More)
	}
	return l
}

// An event's link that was cut off goes on too, with what it was told: items
// without a number go where somebody said.
func TestLinkOfEventGoesOn(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	h.cutEventLink()
	h.finish()
	if n := h.count(`transactions`); n != 2*several {
		t.Errorf("%d transactions, want %d", n, 2*several)
	}
	if n := h.count(`inbound_events WHERE open > 0 OR unassigned > 0`); n != 0 {
		t.Errorf("%d events are open", n)
	}
	whole(t, h.store.Path(), h.now)
}

// Nothing more is recorded on a bank account that is unlinked meanwhile.
func TestLinkOfEventEndsWithUnlink(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	l := h.cutEventLink()
	must(t, h.service.Ledger.UnlinkBankAccount(t.Context(), 1, l.BankAccount.ID, h.now))
	before := h.count(`transactions`)
	h.finish()
	if n := h.count(`transactions`); n != before {
		t.Errorf("%d transactions after %d", n, before)
	}
	whole(t, h.store.Path(), h.now)
}

// A link passes by what isn't its own, however much that is.
func TestLinkPassesByOthers(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	others := h.elements(several, "999")
	for i := range others {
		others[i].Gateway = "VCB"
	}
	h.record(append(others, h.elements(3, "999")...))
	r, err := h.service.Inbound.LinkBankAccount(t.Context(), 1,
		inbound.BankAccountLink{Bank: "ACB", AccountNumber: "999", AccountName: "A"}, h.now)
	if err != nil || r.Recorded != 3 || r.More {
		t.Errorf("%d recorded, more: %t, %v", r.Recorded, r.More, err)
	}
	if n := h.count(`inbound_items WHERE state = 'unassigned'`); n != several {
		t.Errorf("%d wait", n)
	}
}

// A step that reads as many items as it may, and is full with the last of them, isn't the
// last step.
func TestLinkStepFullWithItsLastItem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // where no step ends because of its time
		const read = 400 // items of a step
		h := newHistory(t, create(t), 1)
		defer h.store.Close()
		for n := 125; n <= 140; n++ { // with one of these the step is full
			number := strconv.Itoa(9000 + n)
			elements := h.elements(read+3, number)
			for i := range read - n {
				elements[n-1+i].Gateway = "VCB"
			}
			h.record(elements)
			r, err := h.service.Inbound.LinkBankAccount(t.Context(), 1,
				inbound.BankAccountLink{Bank: "ACB", AccountNumber: number, AccountName: "A", Notify: inbound.NotifyNone}, h.now)
			if err != nil || r.Recorded != n+3 || r.More {
				t.Errorf("%d recorded, want %d; more: %t, %v", r.Recorded, n+3, r.More, err)
			}
		}
	})
}

// What a link that was cut off has left waits for its bank account, and for no
// other of the same number that is linked meanwhile.
func TestLinkLeavesTheRestOfAnother(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	h.record(h.elements(several, "999"))
	b := h.cutLink(inbound.NotifyNone)
	r, err := h.service.Inbound.LinkBankAccount(t.Context(), 1,
		inbound.BankAccountLink{Bank: "VCB", AccountNumber: "999", AccountName: "B"}, h.now)
	if err != nil || r.Recorded != 0 {
		t.Errorf("%d recorded on another bank's account, %v", r.Recorded, err)
	}
	h.finish()
	if got := peek(t, h.store.Path(),
		`SELECT count(*) FROM transactions WHERE bank_account_id = `+strconv.FormatInt(b.ID, 10))[0][0]; got != int64(several) {
		t.Errorf("%v recorded, want %d", got, several)
	}
}

// The work of a caller who has gone before the writer comes to it is not done.
func TestGoneCallerLeavesTheQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHistory(t, create(t), 1)
		defer h.store.Close()
		busy, free := make(chan struct{}), make(chan struct{})
		go func() {
			_ = h.store.Write(context.Background(), func(func(string, ...any) error) error {
				close(busy)
				<-free
				return nil
			})
		}()
		<-busy
		ctx, leave := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := h.service.Inbound.RecordTransactions(ctx, h.callOf(h.elements(1, "1000")))
			done <- err
		}()
		synctest.Wait()
		if n := h.store.Queued(); n != 1 {
			t.Errorf("%d works wait for the writer", n)
		}
		leave()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the caller got %v", err)
		}
		close(free)
		h.record(h.elements(1, "1001"))
		if n := h.count(`transactions`); n != 1 {
			t.Errorf("%d transactions, want the last alone", n)
		}
	})
}
