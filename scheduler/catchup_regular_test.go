package scheduler_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/inbound"
)

// An installation that runs reads at its start and then every interval. A list
// that hangs delays no other, and a stop doesn't wait for it.
func TestRegularReading(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hangs, id := sepayList(), ids("casso", 3)
		works := cassoList(movement{id: id[0], number: "FT1", at: time.Now().Add(time.Second)})
		hangs.instead = func(_ int, _ http.ResponseWriter, r *http.Request) bool {
			<-r.Context().Done()
			return true
		}
		r := newReader(t, hosts{"hangs.example.vn": hangs, "works.example.vn": works})
		r.now = time.Now()
		r.source(t, "sepay", "https://hangs.example.vn")
		source := r.source(t, "casso", "https://works.example.vn")
		r.startReading(t, time.Minute)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := r.reload(t, source); got.PolledAt.IsZero() || got.LastTransactionAt.IsZero() {
			t.Errorf("2 seconds after the start: %+v", got)
		}
		works.add(movement{id: id[1], number: "FT2", at: time.Now()})
		time.Sleep(time.Minute)
		synctest.Wait()
		if all, err := r.Services.Ledger.Transactions(context.Background(), 1,
			app.TransactionFilter{Page: app.Page{Number: 1, Size: 10}}); err != nil || len(all.Rows) != 2 {
			t.Errorf("after the next interval: %d transactions, %v", len(all.Rows), err)
		}
		time.Sleep(3 * time.Minute)
		if got := r.reload(t, inbound.Source{ID: 1}); got.PollError != inbound.PollUnreachable || !got.PolledAt.IsZero() {
			t.Errorf("the one that hangs: %+v", got)
		}
		before := time.Now()
		r.close(t)
		if took := time.Since(before); took > time.Second {
			t.Errorf("the stop took %v", took)
		}
	})
}

// However many sources there are, SePay is asked at most 3 times a second.
func TestPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := sepayList()
		for i, id := range ids("sepay", 450) {
			l.add(movement{id: id, number: fmt.Sprint("FT", i), at: moment.Add(time.Duration(i) * time.Second)})
		}
		r := newReader(t, l)
		for range 4 {
			r.source(t, "sepay", listURL)
		}
		results := r.catchUp(t, 2*time.Hour)
		if len(results) != 4 || len(l.at) != 4*5 {
			t.Fatalf("%d results of %d requests", len(results), len(l.at))
		}
		for i := range len(l.at) - 3 {
			if d := l.at[i+3].Sub(l.at[i]); d <= time.Second {
				t.Errorf("4 requests within %v", d)
			}
		}
		r.wantRows(t, 450, 450) // that another source names it changes nothing
		r.close(t)
	})
}

// hosts has each host answered by its own list.
type hosts map[string]http.RoundTripper

func (h hosts) RoundTrip(r *http.Request) (*http.Response, error) { return h[r.URL.Host].RoundTrip(r) }
