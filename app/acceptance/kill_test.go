package acceptance_test

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestKill kills the server 50 times under load. Nothing acknowledged is lost,
// nothing is recorded twice, every delivery is made.
func TestKill(t *testing.T) {
	t.Parallel()
	rounds := rounds(3, 50)
	receiver := openShop(t)
	in := install(t, receiver)
	receiver.createWebhookFor(t, in.dir, "/b", "ALL")
	serveArgs := []string{"--allow-target", receiver.target()}
	p := serveIn(t, in.dir, anyPort, serveArgs...)
	provider := in.provider(p.url)
	stop := provider.underLoad(8)
	for range rounds {
		time.Sleep(time.Duration(20+rand.IntN(180)) * time.Millisecond) // the kill comes at any moment of the load
		must(t, p.Process.Kill())
		_ = p.Wait()
		p = serveIn(t, in.dir, p.address(), serveArgs...)
	}
	stop()
	acked := provider.acknowledged()
	eventually(t, "every acknowledged transaction reaches both webhooks", func() bool {
		receiver.mu.Lock()
		defer receiver.mu.Unlock()
		for _, number := range acked {
			if len(receiver.bodies["/a "+number]) == 0 || len(receiver.bodies["/b "+number]) == 0 {
				return false
			}
		}
		return true
	})
	p.end(t)
	checkLedger(t, in.db, acked)
	receiver.mu.Lock()
	defer receiver.mu.Unlock()
	if receiver.bad > 0 {
		t.Errorf("%d deliveries with a wrong signature or checksum", receiver.bad)
	}
	repeats := 0
	for key, bodies := range receiver.bodies {
		repeats += len(bodies) - 1
		for _, body := range bodies {
			if body != bodies[0] {
				t.Errorf("%s came with different bodies", key)
			}
		}
	}
	t.Logf("%d kills, %d acknowledged, %d deliveries, %d of them repeated by a kill", rounds, len(acked), receiver.calls.Load(), repeats)
	if len(acked) < rounds*5 {
		t.Errorf("only %d calls were acknowledged: too thin a load to show anything", len(acked))
	}
}

// Admin commands beside a server under load: none fails, nothing is lost.
func TestCommandsBesideLoad(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	in := install(t, receiver)
	dir := in.dir
	p := serveIn(t, dir, anyPort, "--allow-target", receiver.target())
	provider := in.provider(p.url)
	stop := provider.underLoad(4)
	var byHand []string
	for i := range min(rounds(2, 5), 90) { // there may be 100 webhooks
		number := strconv.Itoa(i)
		byHand = append(byHand, "hand-"+number)
		do(t, dir, "bank", "link", "--bank", "VCB", "--number", "100"+number, "--name", "B")
		do(t, dir, "webhook", "create", "--name", "w", "--url", "https://shop.vn/w", "--type", "OUT")
		do(t, dir, "transaction", "add", "--account-number", "19354957", "--amount", "1000", "--transaction-number", "hand-"+number)
		do(t, dir, "transaction", "list", "--q", "DH")
		do(t, dir, "delivery", "list")
		do(t, dir, "source", "log")
		key := strings.TrimSpace(do(t, dir, "apikey", "create", "k"+number))
		if got := status(t, p.url+"/api/v1/webhooks", key); got != http.StatusOK {
			t.Errorf("a key made a moment ago: %d", got)
		}
		do(t, dir, "apikey", "revoke", strconv.Itoa(i+2))
		eventually(t, "a revoked key is refused", func() bool {
			got := status(t, p.url+"/api/v1/webhooks", key)
			return got == http.StatusUnauthorized || got == http.StatusTooManyRequests // after 30 in a minute
		})
	}
	stop()
	acked := append(provider.acknowledged(), byHand...)
	eventually(t, "everything is delivered", func() bool {
		receiver.mu.Lock()
		defer receiver.mu.Unlock()
		for _, number := range acked {
			if len(receiver.bodies["/a "+number]) == 0 {
				return false
			}
		}
		return true
	})
	p.end(t)
	checkLedger(t, in.db, acked)
}
