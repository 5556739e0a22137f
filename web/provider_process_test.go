package web_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/provider"
	"baoco/sqlitestore"
)

// TestProviderConcurrent: the same call 200 times at once.
func TestProviderConcurrent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shop := newShop(t)
	for _, hook := range []string{"/a", "/b", "/c"} {
		w.webhook(shop.url+hook, "ALL")
	}
	w.webhook(shop.url+"/out", "OUT")
	w.link("ACB", someAccount)
	source := w.source("native", app.AuthHMAC, "")
	body := batch(transfer{number: "FT1"}.native())
	const calls = 200
	sum := w.atOnce(calls, func(int) answer { return w.sends(source, body) })
	if sum != (counts{Recorded: 1, Duplicates: calls - 1}) {
		t.Errorf("got %+v", sum)
	}
	w.wantTransactions(1)
	shop.waits(w, "/a 1", "/b 1", "/c 1")

	// 50 transfers from two sources at once, each named twice.
	other := w.sepay()
	sum = w.atOnce(200, func(i int) answer {
		x := transfer{id: fmt.Sprint("n", i/4), number: fmt.Sprint("N", i/4), amount: int64(i/4 + 1)}
		if i%2 == 0 {
			return w.sends(source, batch(x.native()))
		}
		return w.sends(other, x.sepay())
	})
	if sum != (counts{Recorded: 50, Duplicates: 150}) {
		t.Errorf("got %+v", sum)
	}
	if o, err := w.service.Overview(context.Background(), 1); err != nil || o.Transactions != 51 || o.TotalIn != 200000+50*51/2 {
		t.Errorf("%+v, %v", o, err)
	}
	if n := w.rows("deliveries"); n != 51*3 {
		t.Errorf("%d deliveries", n)
	}
}

// atOnce makes n calls together, all of which must be accepted.
func (w *world) atOnce(n int, call func(i int) answer) (sum counts) {
	w.t.Helper()
	answers := make([]answer, n)
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
		if a.status != http.StatusOK {
			w.t.Errorf("%d %s", a.status, a.body)
			continue
		}
		c := a.counts(w.t)
		sum.Recorded, sum.Duplicates, sum.Unassigned = sum.Recorded+c.Recorded, sum.Duplicates+c.Duplicates, sum.Unassigned+c.Unassigned
		sum.Conflicts, sum.Rejected = sum.Conflicts+c.Conflicts, sum.Rejected+c.Rejected
	}
	return sum
}

// admin is another process on the same file.
func (w *world) admin() *app.Service {
	w.t.Helper()
	store, err := sqlitestore.Open(context.Background(), w.path, sqlitestore.Options{})
	must(w.t, err)
	w.t.Cleanup(func() { must(w.t, store.Close()) })
	targets, err := app.ParseTargetPolicy(nil)
	must(w.t, err)
	return app.NewService(app.Config{Store: store, Zone: w.service.Zone(), Targets: targets, Providers: provider.Facts(), Read: provider.Read})
}

// refusedSoon checks that a call is refused within a second.
func (w *world) refusedSoon(what string, call func() answer) {
	w.t.Helper()
	changed := time.Now()
	for call().status != http.StatusUnauthorized {
		if time.Since(changed) > 30*time.Second {
			w.t.Errorf("%s is accepted after %s", what, time.Since(changed))
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// TestProviderOtherProcess: what an admin command does to sources counts from
// the next call on, and within a second where it takes something away.
func TestProviderOtherProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t).peers()
	ctx := context.Background()
	w.link("ACB", someAccount)
	admin := w.admin()
	for i, add := range []app.SourceAdd{{Provider: "native"}, {Provider: "native", Auth: app.AuthHMAC}, {Provider: "sepay", Auth: app.AuthAPIKey}, {Provider: "sepay", Auth: app.AuthHMAC}} {
		add.Name = "theirs"
		body := batch(transfer{id: fmt.Sprint("p", i)}.native())
		if add.Provider == "sepay" {
			body = transfer{id: fmt.Sprint("p", i)}.sepay()
		}
		source, err := admin.AddSource(ctx, 1, add, time.Now())
		must(t, err)
		paths := []string{source.URLPath()}
		if source.Auth == app.AuthBearer {
			paths = append(paths, inboundPath)
		}
		call := func(s app.Source, path string) answer {
			return w.do("POST", path, body, append(credentials(s, body, time.Now()), "X-Test-Peer", peer(i))...)
		}
		works := func(what string, s app.Source) {
			t.Helper()
			for _, path := range paths {
				if a := call(s, path); a.status != http.StatusOK {
					t.Errorf("%s %s: %d %s", source.Provider, what, a.status, a.body)
				}
			}
		}
		works("added", source)
		for range 3 {
			rotated, err := admin.RotateSource(ctx, 1, source.ID, "", app.IdempotencyKey{}, time.Now())
			must(t, err)
			works("rotated", rotated)
			for _, path := range paths {
				w.refusedSoon("the old secret", func() answer { return call(source, path) })
			}
			works("the new secret after all", rotated)
			source = rotated
		}
		must(t, admin.RemoveSource(ctx, 1, source.ID, time.Now()))
		for _, path := range paths {
			w.refusedSoon("a removed source", func() answer { return call(source, path) })
		}
	}
	bank, err := admin.LinkBankAccount(ctx, 1, app.BankAccountLink{Bank: "VCB", AccountNumber: "100", AccountName: "A"}, time.Now())
	must(t, err)
	native := w.native()
	w.names(recorded, native, transfer{id: "v", account: "100", gateway: "VCB"})
	must(t, admin.UnlinkBankAccount(ctx, 1, bank.BankAccount.ID, time.Now()))
	w.names(unassigned, native, transfer{id: "v2", account: "100", gateway: "VCB"})
}

// TestProviderOtherProcessAtOnce: the first calls with a new credential may
// come together.
func TestProviderOtherProcessAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t).peers()
	ctx := context.Background()
	admin := w.admin()
	source, err := admin.AddSource(ctx, 1, app.SourceAdd{Provider: "native", Name: "theirs"}, time.Now())
	must(t, err)
	calls := 0
	for range 40 {
		for _, path := range []string{inboundPath, source.URLPath()} {
			source, err = admin.RotateSource(ctx, 1, source.ID, "", app.IdempotencyKey{}, time.Now())
			must(t, err)
			calls++
			from := peer(calls)
			w.atOnce(25, func(int) answer {
				return w.do("POST", path, batch(), append(credentials(source, "", time.Now()), "X-Test-Peer", from)...)
			})
		}
	}
}
