package acceptance_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/sqlitestore"
)

// caller calls until it is told to stop, each transaction until it is
// acknowledged, as providers do.
type caller struct {
	url, secret string
	pause       time.Duration // between two calls of one client
	mu          sync.Mutex
	acked       map[string]bool
	refusals    [600]atomic.Int64 // by status code
}

func (p *caller) run(ctx context.Context, client int) {
	for i := 0; ctx.Err() == nil; i++ {
		number := fmt.Sprintf("FT%d-%d", client, i)
		for ctx.Err() == nil && !p.call(number) {
			time.Sleep(2 * time.Millisecond) // while the server is away
		}
		time.Sleep(p.pause)
	}
}

// ease is how long each client of a load waits after a call: a load without a pause takes
// the whole machine, and with BAOCO_FULL=1 it does.
func ease() time.Duration { return time.Duration(apptest.Rounds(10, 0)) * time.Millisecond }

func (p *caller) call(number string) bool {
	return p.post(number, `{"transactions":[`+element(number)+`]}`)
}

// element is one transaction of a call.
func element(number string) string {
	return fmt.Sprintf(`{"id":%[1]q,"gateway":"ACB","transactionDate":"2026-11-21 10:59:30","transactionNumber":%[1]q,`+
		`"accountNumber":"19354957","content":"DH","transferType":"IN","transferAmount":200000}`, number)
}

// post makes a call whose body names the transaction with a number.
func (p *caller) post(number, body string) bool {
	request, err := http.NewRequest(http.MethodPost, p.url, strings.NewReader(body))
	if err != nil {
		return false
	}
	request.Header.Set("Authorization", "Bearer "+p.secret)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		p.refusals[response.StatusCode].Add(1)
		return false
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.acked[number] = true
	return true
}

func (p *caller) acknowledged() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []string
	for number := range p.acked {
		list = append(list, number)
	}
	return list
}

// underLoad has clients call until the function it gives is called.
func (p *caller) underLoad(clients int) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for client := range clients {
		running.Go(func() { p.run(ctx, client) })
	}
	return func() {
		cancel()
		running.Wait()
	}
}

// checkLedger compares what was acknowledged with what is recorded, and gives
// the latter.
func checkLedger(t *testing.T, db string, acked []string) map[string]int {
	t.Helper()
	store, err := sqlitestore.Open(context.Background(), db, sqlitestore.Options{Serve: true}) // checks the file too
	must(t, err)
	defer store.Close()
	recorded := readLedger(t, store)
	for _, number := range acked {
		if recorded[number] == 0 {
			t.Errorf("%s was acknowledged and is lost", number)
		}
	}
	for number, n := range recorded {
		if n > 1 {
			t.Errorf("%s is recorded %d times", number, n)
		}
	}
	backlogs, err := store.Backlogs(context.Background(), time.Now())
	must(t, err)
	if len(backlogs) > 0 {
		t.Errorf("deliveries are left: %+v", backlogs)
	}
	return recorded
}

// readLedger counts the transactions of account 1 by their numbers.
func readLedger(t *testing.T, store *sqlitestore.Store) map[string]int {
	t.Helper()
	recorded := map[string]int{}
	for page := int64(1); ; page++ {
		found, err := store.Transactions(context.Background(), 1,
			app.TransactionFilter{Sort: app.SortID, Page: app.Page{Number: page, Size: 1000}})
		must(t, err)
		for _, tr := range found.Rows {
			recorded[tr.Number]++
		}
		if len(found.Rows) == 0 {
			return recorded
		}
	}
}

// drained tells whether no delivery is pending in a database.
func drained(t testing.TB, store *sqlitestore.Store) func() bool {
	return func() bool {
		backlogs, err := store.Backlogs(context.Background(), time.Now())
		if err != nil {
			t.Error(err)
		}
		return len(backlogs) == 0
	}
}
