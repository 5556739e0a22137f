package sqlitestore_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
)

// However many filters listings are asked with, by however many at once, few of
// their statements stay prepared, and every listing is answered.
func TestReadStatementsAreFew(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	h.record(h.elements(20, "1000"))
	var filters []app.TransactionFilter
	for n := range 1 << 6 {
		for _, sort := range []app.TransactionSort{app.SortID, app.SortIDDesc, app.SortDate, app.SortDateDesc} {
			f := app.TransactionFilter{Sort: sort, Page: app.Page{Number: 1, Size: 20}}
			for bit, set := range []func(){
				func() { f.Type = app.In },
				func() { f.BankAccountID = h.banks[0].ID },
				func() { f.From = h.now.Add(-time.Hour) },
				func() { f.To = h.now.Add(time.Hour) },
				func() { f.MinAmount = 1 },
				func() { f.MaxAmount = app.MaxAmount },
			} {
				if n&(1<<bit) != 0 {
					set()
				}
			}
			filters = append(filters, f)
		}
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for _, f := range filters {
				if list, err := h.store.Transactions(t.Context(), 1, f); err != nil || len(list.Rows) != 20 {
					t.Errorf("%+v: %d rows, %v", f, len(list.Rows), err)
					return
				}
			}
		})
	}
	all.Wait()
	if n, most := h.store.ReadStatements(); n > most {
		t.Errorf("%d statements are kept, at most %d are meant", n, most)
	}
}

// Closing a store ends also while many read: more than there are connections, so that
// some wait for the connection of others.
func TestCloseWhileReading(t *testing.T) {
	t.Parallel()
	for range apptest.Rounds(20, 200) {
		store := open(t, create(t), true)
		var readers sync.WaitGroup
		var reads atomic.Int64
		for range 32 {
			readers.Go(func() {
				for {
					if _, err := store.Streams(context.Background(), 1); err != nil {
						return // it is closed
					}
					reads.Add(1)
				}
			})
		}
		for reads.Load() < 32 {
			runtime.Gosched()
		}
		closed := make(chan error, 1)
		go func() { closed <- store.Close() }()
		must(t, apptest.Receive(t, "a store that is read from is closed", closed))
		readers.Wait()
	}
}
