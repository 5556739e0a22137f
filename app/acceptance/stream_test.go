package acceptance_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/command/demo"
	"baoco/app/services"
	"baoco/app/stream"
	"baoco/scheduler/broker/brokertest"

	"github.com/nats-io/nats.go/jetstream"
)

// ledger is a JetStream stream that a stream of an installation is sent to.
type ledger struct {
	server *brokertest.NATSServer
	stream jetstream.Stream
	id     int64 // of the installation's stream
	secret string
}

// toNATS has an installation send all its transactions to a server of NATS.
func toNATS(t *testing.T, in installation, config jetstream.StreamConfig) *ledger {
	t.Helper()
	l := &ledger{server: brokertest.StartNATS(t, "")}
	config.Name, config.Subjects = "PAYMENTS", []string{"shop.payments"}
	l.stream = l.server.Stream(t, config)
	w := apptest.Open(t, in.db, services.Config{})
	defer w.Close()
	st, secret, err := w.Services.Streams.CreateStream(t.Context(), 1,
		stream.Create{Name: "ledger", URL: "nats://" + l.server.Address, Topic: "shop.payments"}, time.Now())
	must(t, err)
	l.id, l.secret = st.ID, secret
	return l
}

func (l *ledger) target() string {
	return "127.0.0.1/32@" + l.server.Address[strings.LastIndexByte(l.server.Address, ':')+1:]
}

// behind is how many ids the stream is behind the newest transaction.
func (l *ledger) behind(t *testing.T, in installation) int64 {
	t.Helper()
	store := apptest.OpenStore(t, in.db, false)
	defer store.Close()
	st, err := store.Stream(t.Context(), 1, l.id)
	must(t, err)
	newest, err := store.NewestIDs(t.Context())
	must(t, err)
	return newest.TransactionID - st.Position
}

// check reads what the broker has kept: every transaction that is recorded, the first
// time in the order of the ids, repeats with the same id and body, all signed. It has
// no others than those that were lost with a machine.
func (l *ledger) check(t *testing.T, recorded map[string]int, lost []string) (repeats int) {
	t.Helper()
	info, err := l.stream.Info(t.Context())
	must(t, err)
	bodies := map[string]string{} // by message id
	numbers := map[string]bool{}
	var last int64
	for seq := info.State.FirstSeq; seq <= info.State.LastSeq; seq++ {
		m, err := l.stream.GetMsg(t.Context(), seq)
		must(t, err)
		id := m.Header.Get("Nats-Msg-Id")
		if err := demo.VerifyDelivery(l.secret, m.Header.Get("X-Webhook-Signature"), m.Data); err != nil || id == "" ||
			id != m.Header.Get("Webhook-Id") {
			t.Fatalf("message %s: %v, headers %v", id, err, m.Header)
		}
		if before, again := bodies[id]; again {
			if repeats++; before != string(m.Data) {
				t.Errorf("%s came with different bodies", id)
			}
			continue
		}
		bodies[id] = string(m.Data)
		var body struct {
			Transactions []struct{ ID, TransactionNumber string }
		}
		must(t, json.Unmarshal(m.Data, &body))
		n, err := strconv.ParseInt(body.Transactions[0].ID, 10, 64)
		must(t, err)
		if n <= last {
			t.Errorf("transaction %d came after %d", n, last)
		}
		last = n
		numbers[body.Transactions[0].TransactionNumber] = true
	}
	for number := range recorded {
		if !numbers[number] {
			t.Errorf("%s is recorded, and the broker never got it", number)
		}
	}
	for number := range numbers {
		if recorded[number] == 0 && !slices.Contains(lost, number) {
			t.Errorf("the broker has %s, which is not recorded", number)
		}
	}
	return repeats
}

// The server is killed 50 times under load, and its broker in between: the broker gets
// every transaction, in order, and repeats only with the same id.
func TestStreamKilled(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	in := install(t, receiver)
	// A short duplicate window, so that repeats are kept and seen.
	l := toNATS(t, in, jetstream.StreamConfig{AllowAtomicPublish: rand.IntN(2) == 0, Duplicates: 100 * time.Millisecond})
	args := []string{"--allow-target", receiver.target(), "--allow-target", l.target()}
	p := serveIn(t, in.dir, anyPort, args...)
	calls := in.provider(p.url)
	stop := calls.underLoad(4)
	for i := range rounds(3, 50) {
		time.Sleep(time.Duration(100+rand.IntN(900)) * time.Millisecond) // the kill comes at any moment of the load
		if i%3 == 1 {
			l.server.Kill()
			time.Sleep(time.Duration(rand.IntN(1500)) * time.Millisecond) // the broker is away
			l.server.Start(t)
			continue
		}
		must(t, p.Process.Kill())
		_ = p.Wait()
		p = serveIn(t, in.dir, p.address(), args...)
	}
	stop()
	acked := calls.acknowledged()
	within(t, 2*time.Minute, "the stream has sent all", func() bool { return l.behind(t, in) == 0 })
	p.end(t)
	recorded := checkLedger(t, in.db, acked)
	repeats := l.check(t, recorded, nil)
	t.Logf("%d acknowledged, %d recorded, %d messages repeated", len(acked), len(recorded), repeats)
}

// late are the times from a call to the shop, of 50 calls a second, until done says so.
func (s *shop) late(t *testing.T, calls *caller, prefix string, done func() bool) (p50, p99 time.Duration) {
	t.Helper()
	began := map[string]time.Time{}
	var running sync.WaitGroup
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for i := 0; i < 200 || !done(); i++ {
		<-tick.C
		number := fmt.Sprint(prefix, i)
		began[number] = time.Now()
		running.Go(func() {
			if !calls.call(number) {
				t.Errorf("%s was refused", number)
			}
		})
	}
	running.Wait()
	var took []time.Duration
	eventually(t, "all of them are delivered", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		took = nil
		for number, at := range began {
			if arrived := s.at["/a "+number]; !arrived.IsZero() {
				took = append(took, arrived.Sub(at))
			}
		}
		return len(took) == len(began)
	})
	slices.Sort(took)
	return took[len(took)/2], took[len(took)*99/100]
}

// A broker that was away while many transactions came gets all of them afterwards. The
// figures are what README names; the machine's speed decides them, so they are logged.
func TestStreamCatchUp(t *testing.T) {
	if !apptest.Full() {
		t.Skip("needs BAOCO_FULL=1: it measures, for a minute")
	}
	receiver := openShop(t)
	in := install(t, receiver)
	l := toNATS(t, in, jetstream.StreamConfig{AllowAtomicPublish: true})
	l.server.Kill()
	p := serveIn(t, in.dir, anyPort, "--allow-target", receiver.target(), "--allow-target", l.target())
	calls := in.provider(p.url)
	const backlog = 40_000
	for first := 0; first < backlog; first += 1000 {
		var list []string
		for i := range 1000 {
			list = append(list,
				fmt.Sprintf(`{"id":"B%[1]d","transactionNumber":"B%[1]d","gateway":"ACB","accountNumber":"19354957","content":"DH"`+
					`,"transferType":"OUT","transferAmount":200000,"transactionDate":"2026-11-21 10:59:30"}`, first+i))
		}
		calls.callWith(t, `{"transactions":[`+strings.Join(list, ",")+`]}`)
	}
	within(t, 2*time.Minute, "the webhooks have got all", func() bool { return receiver.calls.Load() >= backlog })
	alone50, alone99 := receiver.late(t, calls, "alone", func() bool { return true })
	l.server.Start(t)
	began := time.Now()
	var took time.Duration
	beside50, beside99 := receiver.late(t, calls, "beside", func() bool {
		if took == 0 && l.behind(t, in) < 100 {
			took = time.Since(began)
		}
		return took > 0
	})
	p.end(t)
	l.check(t, checkLedger(t, in.db, calls.acknowledged()), nil)
	t.Logf("caught up at %.0f messages a second; webhooks alone: median %v, 99 %% %v; meanwhile: %v, %v", backlog/took.Seconds(), alone50,
		alone99, beside50, beside99)
}

// callWith makes one call with a body.
func (p *caller) callWith(t *testing.T, body string) {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, p.url, strings.NewReader(body))
	must(t, err)
	request.Header.Set("Authorization", "Bearer "+p.secret)
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("status %d", response.StatusCode)
	}
}
