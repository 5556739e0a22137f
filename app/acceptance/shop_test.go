package acceptance_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"baoco/app/command/demo"
)

// shop is a receiver that notes what it got, by webhook path.
type shop struct {
	*httptest.Server
	mu     sync.Mutex
	bodies map[string][]string  // path + transaction number → bodies
	signed map[string]string    // path → secret that its bodies must be signed with
	at     map[string]time.Time // when the first came, by path + transaction number
	named  map[string]string    // webhook-id → path + transaction number
	bad    int
	calls  atomic.Int64
}

func openShop(t testing.TB) *shop {
	s := &shop{bodies: map[string][]string{}, signed: map[string]string{}, at: map[string]time.Time{}, named: map[string]string{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var delivery struct {
			Transactions []struct{ TransactionNumber string }
		}
		err := json.Unmarshal(body, &delivery)
		s.mu.Lock()
		defer s.mu.Unlock()
		if err != nil || len(delivery.Transactions) != 1 ||
			demo.VerifyDelivery(s.signed[r.URL.Path], r.Header.Get("X-Webhook-Signature"), body) != nil {
			s.bad++
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		key := r.URL.Path + " " + delivery.Transactions[0].TransactionNumber
		if id := r.Header.Get("webhook-id"); s.named[id] == "" {
			s.named[id] = key
		} else if s.named[id] != key { // an id was used again
			s.bad++
		}
		s.bodies[key] = append(s.bodies[key], string(body))
		if s.at[key].IsZero() {
			s.at[key] = time.Now()
		}
		s.calls.Add(1)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *shop) sign(path, secret string) { s.signAs(path, func() string { return secret }) }

// signAs answers nothing until it has the secret.
func (s *shop) signAs(path string, secret func() string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.signed[path] = secret()
}

// target opens the way to the shop.
func (s *shop) target() string {
	return "127.0.0.1/32@" + s.URL[strings.LastIndex(s.URL, ":")+1:]
}

// createWebhookFor makes a webhook to the shop by the command line.
func (s *shop) createWebhookFor(t testing.TB, dir, path, hookType string) {
	t.Helper()
	var created struct{ Secret string }
	out := do(t, dir, "webhook", "create", "--name", "shop", "--url", s.URL+path, "--type", hookType, "-o", "json")
	if err := json.Unmarshal([]byte(out), &created); err != nil {
		t.Fatal(err)
	}
	s.sign(path, created.Secret)
}

// received is what the shop got so far: path and transaction number.
func (s *shop) received() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := map[string]bool{}
	for key := range maps.Keys(s.bodies) {
		keys[key] = true
	}
	return keys
}

// forget empties the shop's memory of deliveries.
func (s *shop) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.bodies)
	s.calls.Store(0)
}
