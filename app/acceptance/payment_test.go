package acceptance_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/payment"
	"baoco/app/services"
	"baoco/app/upkeep"
	"baoco/sqlitestore"
)

// transfer is money in for a payment request.
type transfer struct {
	request int // its place in the list
	number  string
	amount  int64
	content string
	at      time.Time
}

func (x transfer) body() string {
	zone, _ := time.LoadLocation(app.DefaultZone) // the program holds the zones
	return fmt.Sprintf(`{"transactions":[{"id":%[1]q,"gateway":"ACB","transactionDate":%[2]q,"transactionNumber":%[1]q`+
		`,"accountNumber":"19354957","content":%[3]q,"transferType":"IN","transferAmount":%[4]d}]}`,
		x.number, app.FormatTime(x.at, zone), x.content, x.amount)
}

// plannedTransfers are two transfers on average for each request: enough, too little,
// the rest, too much, twice, too late; in the ways in which banks write a code.
func plannedTransfers(requests []payment.Request, now time.Time) (list []transfer) {
	ways := []func(code string) string{
		func(code string) string { return code },
		func(code string) string { return "CK" + code + " cam on" },
		func(code string) string { return "MBVCB.3278907687." + strings.ToLower(code) + ".CT tu 0071000888888" },
		func(code string) string { return code[:2] + " " + code[2:] },
	}
	add := func(i int, amount int64, at time.Time) {
		list = append(list, transfer{i, fmt.Sprintf("FT%d-%d", i, len(list)), amount, ways[len(list)%len(ways)](requests[i].Code), at})
	}
	late := now.Add(3 * time.Hour)
	for i, r := range requests {
		switch i % 8 {
		case 0:
			add(i, r.Amount, now)
		case 1:
			add(i, r.Amount-1, now)
		case 2:
			add(i, r.Amount-1, now)
			add(i, 1, now)
		case 3:
			add(i, r.Amount, now)
			add(i, 1, now)
		case 4:
			add(i, r.Amount, now)
			add(i, r.Amount, now)
		case 5:
			add(i, r.Amount-5, late)
			add(i, 5, late)
		case 6:
			for range 4 {
				add(i, r.Amount/4, now)
			}
		case 7:
			add(i, 200, now)
			add(i, 200, now)
			add(i, r.Amount, now)
		}
	}
	return list
}

// A thousand transfers come onto 500 open payment requests while the server is killed
// again and again, and each call is made until it is acknowledged, some again after
// that. Every sum is that of the transfers, none counts twice, and what is kept is what a
// recount gives.
func TestKillPayments(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	in := install(t, receiver)
	w := apptest.Open(t, in.db, services.Config{})
	w.CodePattern("DH")
	now := time.Now()
	var requests []payment.Request
	for i := range apptest.Rounds(150, 500) {
		requests = append(requests, w.PaymentRequest(payment.RequestCreate{Amount: int64(100_000 * (1 + i%3)), ExpiresIn: 2 * time.Hour}))
	}
	w.Close()
	transfers := plannedTransfers(requests, now)
	serveArgs := []string{"--allow-target", receiver.target()}
	p := serveIn(t, in.dir, anyPort, serveArgs...)
	provider := in.provider(p.url)
	var running sync.WaitGroup
	next := make(chan transfer)
	for range 16 {
		running.Go(func() {
			for x := range next {
				for !provider.post(x.number, x.body()) {
					time.Sleep(2 * time.Millisecond) // while the server is away
				}
				if rand.IntN(4) == 0 {
					provider.post(x.number, x.body()) // again
				}
			}
		})
	}
	kills := rounds(2, 20)
	for i, at := range rand.Perm(len(transfers)) {
		next <- transfers[at]
		if i%(len(transfers)/kills) == len(transfers)/kills/2 {
			must(t, p.Process.Kill())
			_ = p.Wait()
			p = serveIn(t, in.dir, p.address(), serveArgs...)
		}
	}
	close(next)
	running.Wait()
	eventually(t, "every transfer reaches the shop", func() bool { return len(receiver.received()) == len(transfers) })
	p.end(t)

	checkLedger(t, in.db, provider.acknowledged())
	checkPayments(t, in.db, requests, transfers, now)
	checkPaymentDeliveries(t, receiver, requests, transfers)
	t.Logf("%d kills, %d transfers onto %d requests", kills, len(transfers), len(requests))
}

// checkPayments compares what is kept of the requests with their transfers.
func checkPayments(t *testing.T, db string, requests []payment.Request, transfers []transfer, now time.Time) {
	t.Helper()
	w := apptest.Open(t, db, services.Config{})
	defer w.Close()
	want := make([]payment.Request, len(requests))
	copy(want, requests)
	for _, x := range transfers {
		want[x.request] = want[x.request].With(x.amount, want[x.request].Ended(x.at), now)
	}
	counted := map[int64]bool{}
	for i, r := range requests {
		kept, err := w.Services.Payments.PaymentRequest(t.Context(), 1, r.ID)
		must(t, err)
		list, err := w.Services.Payments.PaymentTransfers(t.Context(), 1, r.ID, 100)
		must(t, err)
		var sum int64
		for _, x := range list {
			if sum += x.Amount; counted[x.ID] {
				t.Errorf("transaction %d counts twice", x.ID)
			}
			counted[x.ID] = true
		}
		if kept.Received != want[i].Received || sum != kept.Received || kept.Transfers != len(list) || kept.Status(now) != want[i].Status(now) {
			t.Errorf("request %d is %s with %d (%d in %d transfers), want %s with %d", r.ID, kept.Status(now), kept.Received, sum, len(list),
				want[i].Status(now), want[i].Received)
		}
	}
	if len(counted) != len(transfers) {
		t.Errorf("%d transfers count, of %d", len(counted), len(transfers))
	}
	checks, err := sqlitestore.Examine(t.Context(), db, sqlitestore.Examination{Full: true, Now: time.Now()})
	must(t, err)
	for _, c := range checks {
		if c.Result == upkeep.CheckFailed {
			t.Errorf("%s: %s", c.Name, c.Text.EN)
		}
	}
}

// checkPaymentDeliveries checks that each delivery says the sum after its transfer: of
// one request no two say the same, and the greatest is all.
func checkPaymentDeliveries(t *testing.T, receiver *shop, requests []payment.Request, transfers []transfer) {
	t.Helper()
	all := map[int64]int64{}
	for _, x := range transfers {
		all[requests[x.request].ID] += x.amount
	}
	said, most := map[string]bool{}, map[int64]int64{}
	receiver.mu.Lock()
	defer receiver.mu.Unlock()
	for key, bodies := range receiver.bodies {
		var body struct {
			Transactions []struct {
				PaymentRequest app.PaymentState `json:"payment_request"`
			}
		}
		must(t, json.Unmarshal([]byte(bodies[0]), &body))
		p := body.Transactions[0].PaymentRequest
		if p.ID == 0 || said[fmt.Sprint(p.ID, p.Received)] {
			t.Errorf("the delivery %s says %+v", key, p)
		}
		said[fmt.Sprint(p.ID, p.Received)] = true
		most[p.ID] = max(most[p.ID], p.Received)
		for _, b := range bodies {
			if b != bodies[0] {
				t.Errorf("%s came with different bodies", key)
			}
		}
	}
	for id, sum := range all {
		if most[id] != sum {
			t.Errorf("of request %d the deliveries say %d at most, want %d", id, most[id], sum)
		}
	}
	if receiver.bad > 0 {
		t.Errorf("%d deliveries with a wrong signature or checksum", receiver.bad)
	}
}
