package scheduler_test

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/delivery"

	"github.com/google/go-cmp/cmp"
)

// A waiting delivery that is sent now is attempted at once. The attempt counts, and
// the waits after it are those of the schedule.
func TestSendNow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &network{start: time.Now(), answer: always500}
		s := open(t, newFile(t), n)
		s.webhook(t, "https://shop.example.vn/hook")
		s.start(t)
		s.Record("FT1")
		time.Sleep(15*time.Second + time.Millisecond) // attempts at 0 and 10 s; the next is due at 40 s
		key := app.IdempotencyKey{Key: "a form"}
		must(t, s.Services.Deliveries.SendNow(t.Context(), 1, 1, key, time.Now()))
		time.Sleep(time.Second)
		must(t, s.Services.Deliveries.SendNow(t.Context(), 1, 1, key, time.Now())) // the same form again
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		want := []time.Duration{0, 10 * time.Second, 15 * time.Second, 75 * time.Second, 375 * time.Second, 975 * time.Second}
		at := n.times()
		for i := range at {
			at[i] = at[i].Truncate(100 * time.Millisecond)
		}
		if d := cmp.Diff(want, at); d != "" {
			t.Errorf("attempts (-want +got):\n%s", d)
		}
		if err := s.Services.Deliveries.SendNow(t.Context(), 1, 1, app.IdempotencyKey{}, time.Now()); app.CodeOf(err) != app.CodeConflict {
			t.Errorf("of a failed delivery: %v", err)
		}
		s.close(t)
	})
}

// A delivery in flight isn't attempted twice at once.
func TestSendNowInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &network{start: time.Now(), answer: func(int, *http.Request) (*http.Response, error) {
			time.Sleep(5 * time.Second)
			return respond(500), nil
		}}
		s := open(t, newFile(t), n)
		hook := s.webhook(t, "https://shop.example.vn/hook")
		s.start(t)
		s.Record("FT1")
		time.Sleep(time.Second)
		must(t, s.Services.Deliveries.SendNow(t.Context(), 1, 1, app.IdempotencyKey{}, time.Now()))
		if count, err := s.Services.Deliveries.SendWaiting(t.Context(), 1, hook.ID, app.IdempotencyKey{}, time.Now()); count != 0 || err != nil {
			t.Errorf("%d deliveries waited, %v; the only one is in flight", count, err)
		}
		time.Sleep(13 * time.Second)
		if d := cmp.Diff([]time.Duration{0}, n.times()); d != "" {
			t.Errorf("attempts within 14 s (-want +got):\n%s", d)
		}
		s.close(t)
	})
}

// silence is a webhook's receiver that never answers. It counts the attempts that it has.
type silence struct{ inFlight, most atomic.Int64 }

func (s *silence) answer(count int, r *http.Request) (*http.Response, error) {
	s.most.Store(max(s.most.Load(), s.inFlight.Add(1)))
	defer s.inFlight.Add(-1)
	return alwaysTimeout(count, r)
}

// check fails where the webhook got more slots than one that doesn't answer may have.
func (s *silence) check(t *testing.T) {
	t.Helper()
	if s.most.Load() != 4 {
		t.Errorf("a silent webhook had %d attempts in flight, want 4", s.most.Load())
	}
}

// All that waits for a webhook goes at once, within the slots of a webhook that
// doesn't answer. Another webhook's delivery doesn't wait for them.
func TestSendWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const many = 40
		var silent silence
		var well atomic.Int64
		n := &network{start: time.Now(), answer: func(count int, r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/well" {
				well.Add(1)
				return respond(200), nil
			}
			return silent.answer(count, r)
		}}
		s := open(t, newFile(t), n)
		hook := s.webhook(t, "https://shop.example.vn/silent")
		s.start(t)
		for i := range many {
			s.Record(fmt.Sprint("FT", i))
		}
		time.Sleep(15 * time.Minute) // four at a time; many wait for their last attempts
		waiting := pendingLater(t, s)
		if waiting < many/2 {
			t.Fatalf("only %d deliveries wait", waiting)
		}
		count, err := s.Services.Deliveries.SendWaiting(t.Context(), 1, hook.ID, app.IdempotencyKey{}, time.Now())
		must(t, err)
		if count != waiting || pendingLater(t, s) != 0 {
			t.Errorf("%d of %d are due now", count, waiting)
		}
		time.Sleep(time.Second)
		s.webhook(t, "https://other.example.vn/well")
		s.Record("new")
		time.Sleep(100 * time.Millisecond)
		if well.Load() != 1 {
			t.Error("another webhook's delivery waits for those of a silent one")
		}
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		if n := pendingLater(t, s); n != 0 {
			t.Errorf("%d deliveries still wait", n)
		}
		silent.check(t)
		s.close(t)
	})
}

// What is recorded in the moment in which attempts end, while the sweep reads what is due,
// gets no slot before those that have waited longer, nor one too many.
func TestSilentWhileRecording(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var silent silence
		n := &network{start: time.Now(), answer: silent.answer}
		s := open(t, newFile(t), n)
		s.webhook(t, "https://shop.example.vn/silent")
		s.start(t)
		for i := range apptest.Rounds(20, 200) {
			var callers sync.WaitGroup
			for j := range 8 {
				callers.Go(func() { s.Record(fmt.Sprintf("FT%03d-%d", i, j)) })
			}
			callers.Wait()
			time.Sleep(delivery.AttemptTimeout)
		}
		silent.check(t)
		s.close(t)
		number, met := regexp.MustCompile(`FT(\d{3})-\d`), map[string]bool{}
		last, at := "", time.Duration(0) // of the newest round that was begun
		for i, body := range n.bodies {
			part := number.FindSubmatch(body)
			transaction, round := string(part[0]), string(part[1])
			if met[transaction] {
				continue
			}
			if met[transaction] = true; round < last && n.at[i] > at {
				t.Errorf("%s was first attempted %v after one of round %s", transaction, n.at[i]-at, last)
			} else if round > last {
				last, at = round, n.at[i]
			}
		}
	})
}

// A webhook that has not answered yet keeps few slots where callers and sweeps find its
// deliveries at the same time.
func TestUnansweredWhileSweeping(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var silent silence
		n := &network{start: time.Now(), answer: silent.answer}
		s := open(t, newFile(t), n)
		s.start(t)
		for i := range apptest.Rounds(40, 300) {
			hook := s.webhook(t, fmt.Sprintf("https://shop.example.vn/%d", i))
			var callers, sweeps sync.WaitGroup
			var called atomic.Bool
			sweeps.Go(func() {
				for !called.Load() {
					if _, err := s.Services.Deliveries.SendWaiting(t.Context(), 1, hook.ID, app.IdempotencyKey{}, time.Now()); err != nil {
						t.Error(err)
						return
					}
				}
			})
			for j := range 8 {
				callers.Go(func() { s.Record(fmt.Sprintf("FT%03d-%d", i, j)) })
			}
			callers.Wait()
			called.Store(true)
			sweeps.Wait()
			must(t, s.Services.Deliveries.DeleteWebhook(t.Context(), 1, hook.ID, time.Now()))
			time.Sleep(2 * delivery.AttemptTimeout)
		}
		silent.check(t)
		s.close(t)
	})
}

// What found every slot of a silent webhook taken begins as soon as one is released, before
// what is recorded after that.
func TestNoSlotWasFree(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var silent silence
		n := &network{answer: silent.answer}
		s := open(t, newFile(t), n)
		s.webhook(t, "https://shop.example.vn/silent")
		s.start(t)
		time.Sleep(500 * time.Millisecond) // between two regular sweeps
		n.start = time.Now()
		for i := range 5 {
			s.Record(fmt.Sprint("FT", i))
			synctest.Wait()
		}
		time.Sleep(delivery.AttemptTimeout + 10*time.Millisecond)
		synctest.Wait()
		s.Record("new")
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		n.mu.Lock()
		if len(n.bodies) < 6 || !bytes.Contains(n.bodies[4], []byte("FT4")) || n.at[4] > delivery.AttemptTimeout+10*time.Millisecond {
			t.Errorf("%d attempts at %v, the fifth is %s", len(n.bodies), n.at, n.bodies[min(4, len(n.bodies)-1)])
		}
		n.mu.Unlock()
		silent.check(t)
		s.crash(t)
	})
}

// A webhook that was silent now and then, and has answered since, keeps all its slots.
func TestSilentNowAndThen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &network{start: time.Now()}
		s := open(t, newFile(t), n)
		s.webhook(t, "https://shop.example.vn/")
		s.start(t)
		for i := range 3 {
			n.answerBy(alwaysTimeout)
			s.Record(fmt.Sprint("silent", i))
			time.Sleep(delivery.AttemptTimeout + time.Second)
			n.answerBy(always200)
			time.Sleep(10 * time.Second) // the second attempt
		}
		n.answerBy(func(int, *http.Request) (*http.Response, error) {
			time.Sleep(time.Second)
			return respond(200), nil
		})
		before := len(n.times())
		for i := range 20 {
			s.Record(fmt.Sprint("FT", i))
		}
		time.Sleep(100 * time.Millisecond)
		if begun := len(n.times()) - before; before != 6 || begun != 20 {
			t.Errorf("after %d attempts %d of 20 begin at once", before, begun)
		}
		s.close(t)
	})
}

// pendingLater counts the deliveries that are due later.
func pendingLater(t *testing.T, s *installation) (n int) {
	t.Helper()
	list, _, err := s.Services.Deliveries.Pending(t.Context(), 1, delivery.Filter{}, app.Page{Number: 1, Size: 100})
	must(t, err)
	for _, d := range list {
		if d.DueAt.After(time.Now()) {
			n++
		}
	}
	return n
}
