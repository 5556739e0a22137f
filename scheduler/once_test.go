package scheduler_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/inbound"
)

// What is handed on at once and what sweeps find is attempted once each, under
// a load that keeps both busy.
func TestEveryDeliveryIsAttemptedOnce(t *testing.T) {
	t.Parallel()
	attempts, mu := map[string]int{}, sync.Mutex{}
	n := &network{start: time.Now(), answer: func(_ int, r *http.Request) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		attempts[r.Header.Get("webhook-id")+" "+r.URL.Host]++
		return respond(200), nil
	}}
	s := open(t, newFile(t), n)
	for i := range 5 {
		s.webhook(t, fmt.Sprintf("https://shop%d.example.vn/", i))
	}
	s.start(t)
	const callers, elements = 20, 3
	calls := 40
	if testing.Short() {
		calls = 8
	}
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			for i := range calls {
				call := inbound.Call{AccountID: 1, Source: inbound.Source{AccountID: 1}, Channel: app.ChannelCall, ReceivedAt: time.Now()}
				for e := range elements {
					call.Elements = append(call.Elements, inbound.Incoming{
						EventID: fmt.Sprint(caller, "-", i, "-", e), Gateway: "ACB", AccountNumber: "19354957", Type: app.In, Amount: 1000,
						Time: call.ReceivedAt,
					})
				}
				if _, err := s.Services.Inbound.RecordTransactions(context.Background(), call); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	want := callers * calls * elements * 5
	s.Until("everything is attempted", func() bool {
		_, total, err := s.Services.Deliveries.History(context.Background(), 1, delivery.HistoryFilter{Page: app.Page{Number: 1, Size: 1}})
		must(t, err)
		return total >= int64(want)
	})
	s.close(t)
	mu.Lock()
	defer mu.Unlock()
	for id, times := range attempts {
		if times != 1 {
			t.Errorf("%s was attempted %d times", id, times)
		}
	}
	if len(attempts) != want {
		t.Errorf("%d deliveries were attempted, want %d", len(attempts), want)
	}
}
