package acceptance_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/services"
	"baoco/sqlitestore"
	"baoco/web"
)

// The server is killed while a receiver handles its attempt, before the result
// can be recorded: the attempt is made once more with the same body and the
// same id, and no third time.
func TestKillInsideReceiver(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var bodies, ids []string
	var kill atomic.Pointer[process]
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		bodies, ids = append(bodies, string(body)), append(ids, r.Header.Get("webhook-id"))
		if p := kill.Swap(nil); p != nil {
			_ = p.Process.Kill()
		}
	}))
	defer receiver.Close()
	got := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(bodies)
	}
	dir := t.TempDir()
	args := []string{"--allow-target", "127.0.0.1/32"}
	p := serveIn(t, dir, anyPort, args...)
	do(t, dir, "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "A")
	do(t, dir, "webhook", "create", "--name", "w", "--url", receiver.URL, "--type", "IN")
	kills := rounds(2, 5)
	for i := range kills {
		kill.Store(p)
		do(t, dir, "transaction", "add", "--amount", "1000", "--transaction-number", fmt.Sprint("FT", i))
		eventually(t, "the attempt arrives", func() bool { return got() == 2*i+1 })
		_ = p.Wait()
		p = serveIn(t, dir, anyPort, args...)
		eventually(t, "it is made again", func() bool { return got() == 2*i+2 })
		eventually(t, "and recorded, once", func() bool {
			list := do(t, dir, "delivery", "list") // the last 20
			return strings.Count(list, "HTTP 200") == min(i+1, 20) && strings.Count(list, "1/6") == min(i+1, 20)
		})
	}
	p.end(t)
	serveIn(t, dir, anyPort, args...).end(t)
	mu.Lock()
	defer mu.Unlock()
	if len(bodies) != 2*kills {
		t.Errorf("%d attempts, want %d", len(bodies), 2*kills)
	}
	for i := 0; i+1 < len(bodies); i += 2 {
		if bodies[i] != bodies[i+1] || ids[i] != ids[i+1] {
			t.Errorf("the repeated attempt differs: %s %s, then %s %s", ids[i], bodies[i], ids[i+1], bodies[i+1])
		}
	}
}

// A thousand deliveries, or with BAOCO_FULL=1 ten thousand, are due at the
// start: each is made once, never more
// at a time than a host and a webhook get, and the API answers meanwhile.
func TestManyDueAtStart(t *testing.T) {
	t.Parallel()
	transactions := apptest.Rounds(500, 5000) // to each of two webhooks
	var now, most, calls atomic.Int64
	answered, release := context.WithTimeout(t.Context(), time.Minute)
	defer release()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		_, _ = io.Copy(io.Discard, r.Body)
		calls.Add(1)
		<-answered.Done() // the first ones end after the API has answered beside them
	}))
	defer receiver.Close()
	db, key := queueOffline(t, receiver.URL, transactions)
	dir := filepath.Dir(db)

	p := serveIn(t, dir, anyPort, "--allow-target", "127.0.0.1/32", "--rate-limit", "1000000")
	started := time.Now()
	var took []time.Duration
	for calls.Load() < int64(2*transactions) && time.Since(started) < 5*time.Minute {
		asked, beside := time.Now(), now.Load() > 0
		if got := status(t, p.url+"/api/v1/webhooks", key); got != http.StatusOK {
			t.Errorf("the API answers %d", got)
		}
		took = append(took, time.Since(asked))
		if beside {
			release()
		}
		time.Sleep(2 * time.Millisecond) // the pace of the requests
	}
	drain := time.Since(started)
	slices.Sort(took)
	p99 := took[len(took)*99/100]
	t.Logf("%d deliveries in %v, at most %d at a time; API p50 %v, p99 %v of %d", calls.Load(), drain, most.Load(),
		took[len(took)/2], p99, len(took))
	p.end(t)
	if n := calls.Load(); n != int64(2*transactions) {
		t.Errorf("%d attempts for %d deliveries", n, 2*transactions)
	}
	if most.Load() > 64 {
		t.Errorf("%d attempts at a time to one host", most.Load())
	}
	store, err := sqlitestore.Open(context.Background(), db, sqlitestore.Options{Serve: true})
	must(t, err)
	defer store.Close()
	if !drained(t, store)() {
		t.Error("deliveries are left")
	}
}

// queueOffline makes a database in which the transactions wait to be delivered
// to two webhooks, and gives it with an API key.
func queueOffline(t *testing.T, url string, transactions int) (db, key string) {
	t.Helper()
	w := apptest.Open(t, apptest.NewFile(t), services.Config{})
	defer w.Close()
	must(t, w.Store.SetAllowTargets(t.Context(), []string{"127.0.0.1/32"}))
	w.Link("ACB", "19354957")
	w.Webhook(url+"/a", delivery.WebhookIn)
	w.Webhook(url+"/b", delivery.WebhookIn)
	source := w.Source("native", "", "")
	handler := web.New(web.Config{Services: w.Services})
	for from := 0; from < transactions; from += 500 {
		var elements []string
		for i := from; i < min(from+500, transactions); i++ {
			elements = append(elements,
				fmt.Sprintf(`{"id":"FT%d","gateway":"ACB","transactionDate":"2026-11-21 10:59:30","accountNumber":"19354957",`+
					`"content":"DH","transferType":"IN","transferAmount":200000}`, i))
		}
		call := httptest.NewRequest(http.MethodPost, source.URLPath(), strings.NewReader(`{"transactions":[`+strings.Join(elements, ",")+`]}`))
		call.Header.Set("Authorization", "Bearer "+source.Secret)
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, call)
		if answer.Code != http.StatusOK || !bytes.Contains(answer.Body.Bytes(), []byte(`"recorded":500`)) {
			t.Fatalf("%d %s", answer.Code, answer.Body)
		}
	}
	return w.Path, w.APIKey(access.ScopeFull)
}
