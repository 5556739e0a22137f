package inbound_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/web/webtest"
)

// TestProviderConcurrent: the same call 200 times at once.
func TestProviderConcurrent(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	shop := webtest.NewShop(t)
	for _, hook := range []string{"/a", "/b", "/c"} {
		w.Webhook(shop.URL+hook, "ALL")
	}
	w.Webhook(shop.URL+"/out", "OUT")
	w.Link("ACB", apptest.SomeAccount)
	source := w.Source("native", inbound.AuthHMAC, "")
	body := apptest.Batch(apptest.Transfer{Number: "FT1"}.Native())
	const calls = 200
	sum := atOnce(w, calls, func(int) webtest.Answer { return w.Sends(source, body) })
	if sum != (webtest.Counts{Recorded: 1, Duplicates: calls - 1}) {
		t.Errorf("got %+v", sum)
	}
	w.WantTransactions(1)
	shop.Waits(w, "/a 1", "/b 1", "/c 1")

	// 50 transfers from two sources at once, each named twice.
	other := w.Sepay()
	sum = atOnce(w, 200, func(i int) webtest.Answer {
		x := apptest.Transfer{ID: fmt.Sprint("n", i/4), Number: fmt.Sprint("N", i/4), Amount: int64(i/4 + 1)}
		if i%2 == 0 {
			return w.Sends(source, apptest.Batch(x.Native()))
		}
		return w.Sends(other, x.Sepay())
	})
	if sum != (webtest.Counts{Recorded: 50, Duplicates: 150}) {
		t.Errorf("got %+v", sum)
	}
	if o, err := w.Services.Ledger.Overview(context.Background(), 1); err != nil || o.Transactions != 51 || o.TotalIn != 200000+50*51/2 {
		t.Errorf("%+v, %v", o, err)
	}
	if n := w.Rows("deliveries"); n != 51*3 {
		t.Errorf("%d deliveries", n)
	}
}

// TestProviderOtherProcess: what an admin command does to sources counts from
// the next call on, and within a second where it takes something away.
func TestProviderOtherProcess(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t).Peers()
	ctx := context.Background()
	w.Link("ACB", apptest.SomeAccount)
	admin := w.Admin()
	for i, add := range []inbound.SourceAdd{{Provider: "native"}, {Provider: "native", Auth: inbound.AuthHMAC},
		{Provider: "sepay", Auth: inbound.AuthAPIKey}, {Provider: "sepay", Auth: inbound.AuthHMAC}} {
		add.Name = "theirs"
		body := apptest.Batch(apptest.Transfer{ID: fmt.Sprint("p", i)}.Native())
		if add.Provider == "sepay" {
			body = apptest.Transfer{ID: fmt.Sprint("p", i)}.Sepay()
		}
		source, err := admin.Inbound.AddSource(ctx, 1, add, time.Now())
		apptest.Must(t, err)
		paths := []string{source.URLPath()}
		if source.Auth == inbound.AuthBearer {
			paths = append(paths, inboundPath)
		}
		call := func(s inbound.Source, path string) webtest.Answer {
			return w.Do("POST", path, body, append(apptest.Credentials(s, body, time.Now()), "X-Test-Peer", webtest.Peer(i))...)
		}
		works := func(what string, s inbound.Source) {
			t.Helper()
			for _, path := range paths {
				if a := call(s, path); a.Status != http.StatusOK {
					t.Errorf("%s %s: %d %s", source.Provider, what, a.Status, a.Body)
				}
			}
		}
		works("added", source)
		for range 3 {
			rotated, err := admin.Inbound.RotateSource(ctx, 1, source.ID, inbound.SourceRotate{}, time.Now())
			apptest.Must(t, err)
			works("rotated", rotated)
			for _, path := range paths {
				refusedSoon(w, "the old secret", func() webtest.Answer { return call(source, path) })
			}
			works("the new secret after all", rotated)
			source = rotated
		}
		apptest.Must(t, admin.Inbound.RemoveSource(ctx, 1, source.ID, time.Now()))
		for _, path := range paths {
			refusedSoon(w, "a removed source", func() webtest.Answer { return call(source, path) })
		}
	}
	bank, err := admin.Inbound.LinkBankAccount(ctx, 1,
		inbound.BankAccountLink{Bank: "VCB", AccountNumber: "100", AccountName: "A"}, time.Now())
	apptest.Must(t, err)
	native := w.Native()
	w.Names(webtest.Recorded, native, apptest.Transfer{ID: "v", Account: "100", Gateway: "VCB"})
	apptest.Must(t, admin.Ledger.UnlinkBankAccount(ctx, 1, bank.BankAccount.ID, time.Now()))
	w.Names(webtest.Unassigned, native, apptest.Transfer{ID: "v2", Account: "100", Gateway: "VCB"})
}

// TestSenderAllowedByOtherProcess: a sender that an admin command allows counts from the next call on.
func TestSenderAllowedByOtherProcess(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	admin := w.Admin()
	for i, provider := range phoneApps {
		s, sender := w.Source(provider, "", ""), fmt.Sprint("814", i)
		x := apptest.PhoneText{Sender: sender, ID: sender, Text: fmt.Sprintf(
			"ACB: TK %s(VND) + %d0,000 luc 10:59 14/10/2025. So du %d00,000. GD: x", apptest.SomeAccount, i+1, i+1)}
		w.Texts(webtest.Rejected, s, x)
		_, err := admin.Inbound.AllowSenders(t.Context(), 1, s.ID, []string{sender})
		apptest.Must(t, err)
		x.Received = time.UnixMilli(1760414386000)
		w.Texts(webtest.Recorded, s, x)
	}
}

// TestProviderOtherProcessAtOnce: the first calls with a new credential may
// come together.
func TestProviderOtherProcessAtOnce(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t).Peers()
	ctx := context.Background()
	admin := w.Admin()
	source, err := admin.Inbound.AddSource(ctx, 1, inbound.SourceAdd{Provider: "native", Name: "theirs"}, time.Now())
	apptest.Must(t, err)
	calls := 0
	for range apptest.Rounds(10, 40) {
		for _, path := range []string{inboundPath, source.URLPath()} {
			source, err = admin.Inbound.RotateSource(ctx, 1, source.ID, inbound.SourceRotate{}, time.Now())
			apptest.Must(t, err)
			calls++
			from := webtest.Peer(calls)
			atOnce(w, 25, func(int) webtest.Answer {
				return w.Do("POST", path, apptest.Batch(), append(apptest.Credentials(source, "", time.Now()), "X-Test-Peer", from)...)
			})
		}
	}
}

// atOnce makes n calls together, all of which must be accepted.
func atOnce(w *webtest.World, n int, call func(i int) webtest.Answer) (sum webtest.Counts) {
	w.T.Helper()
	answers := make([]webtest.Answer, n)
	var calls sync.WaitGroup
	gate := make(chan struct{})
	for i := range n {
		calls.Go(func() {
			<-gate
			answers[i] = call(i)
		})
	}
	close(gate)
	calls.Wait()
	for _, a := range answers {
		if a.Status != http.StatusOK {
			w.T.Errorf("%d %s", a.Status, a.Body)
			continue
		}
		c := a.Counts(w.T)
		sum.Recorded, sum.Duplicates, sum.Unassigned = sum.Recorded+c.Recorded, sum.Duplicates+c.Duplicates, sum.Unassigned+c.Unassigned
		sum.Conflicts, sum.Rejected = sum.Conflicts+c.Conflicts, sum.Rejected+c.Rejected
	}
	return sum
}

// refusedSoon waits until a call is refused: another process has changed the file, and
// this one looks for that every now and then.
func refusedSoon(w *webtest.World, what string, call func() webtest.Answer) {
	w.T.Helper()
	apptest.Eventually(w.T, what+" is refused", func() bool { return call().Status == http.StatusUnauthorized })
}
