package scheduler_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/delivery"

	"github.com/google/go-cmp/cmp"
)

// network answers in virtual time and notes when it was called, and with what.
type network struct {
	mu     sync.Mutex
	start  time.Time
	at     []time.Duration
	bodies [][]byte
	ids    []string
	answer func(n int, r *http.Request) (*http.Response, error)
}

func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	n.at = append(n.at, time.Since(n.start))
	n.bodies = append(n.bodies, body)
	n.ids = append(n.ids, r.Header.Get("webhook-id"))
	count, answer := len(n.at), n.answer
	n.mu.Unlock()
	return answer(count, r)
}

// answerBy has the network answer by f from now on.
func (n *network) answerBy(f func(n int, r *http.Request) (*http.Response, error)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answer = f
}

func always200(int, *http.Request) (*http.Response, error) { return respond(200), nil }

func (n *network) times() []time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]time.Duration(nil), n.at...)
}

func always500(int, *http.Request) (*http.Response, error) { return respond(500), nil }

func alwaysTimeout(_ int, r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// The instants of the six attempts: each wait counts from the end of the
// attempt before.
var (
	times500     = []time.Duration{0, 10 * time.Second, 40 * time.Second, 100 * time.Second, 400 * time.Second, 1000 * time.Second}
	timesTimeout = []time.Duration{0, 20 * time.Second, 60 * time.Second, 130 * time.Second, 440 * time.Second, 1050 * time.Second}
)

func TestSchedule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		answer func(int, *http.Request) (*http.Response, error)
		want   []time.Duration
		class  delivery.ErrorClass
		status int
	}{
		{"always 500", always500, times500, delivery.ErrorHTTPStatus, 500},
		{"always a timeout", alwaysTimeout, timesTimeout, delivery.ErrorTimeout, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &network{start: time.Now(), answer: c.answer}
				s := open(t, newFile(t), n)
				s.webhook(t, "https://shop.example.vn/hook")
				s.start(t)
				s.Record("FT1")
				time.Sleep(30 * time.Minute) // the last wait of the schedule takes ten minutes
				synctest.Wait()
				if d := cmp.Diff(c.want, n.times()); d != "" {
					t.Errorf("attempts (-want +got):\n%s", d)
				}
				history := s.history(t)
				if len(history) != 6 {
					t.Fatalf("%d history records, want 6", len(history))
				}
				for i, a := range history {
					if a.Number != i+1 || a.Result.StatusCode != c.status || a.Result.Error != c.class {
						t.Errorf("record %d: attempt %d, status %d, error %q", i, a.Number, a.Result.StatusCode, a.Result.Error)
					}
					if i < 5 && !a.NextAttemptAt.Equal(n.start.Add(c.want[i+1])) {
						t.Errorf("record %d: next attempt at %v, want %v", i, a.NextAttemptAt.Sub(n.start), c.want[i+1])
					}
					if !bytes.Equal(n.bodies[i], n.bodies[0]) || n.ids[i] != n.ids[0] {
						t.Errorf("attempt %d sent another body or webhook-id than attempt 1", i+1)
					}
				}
				if last := history[5]; !last.NextAttemptAt.IsZero() || last.Delivery.State != app.DeliveryFailed {
					t.Errorf("after attempt 6: state %s, next %v", last.Delivery.State, last.NextAttemptAt)
				}
				s.close(t)
			})
		})
	}
}

// Five failures and then a 200 are six attempts at their times, and no more;
// six failures are the end, also after a restart.
func TestLastAttempt(t *testing.T) {
	t.Parallel()
	for _, last := range []int{200, 500} {
		synctest.Test(t, func(t *testing.T) {
			n := &network{start: time.Now(), answer: func(count int, _ *http.Request) (*http.Response, error) {
				if count == 6 {
					return respond(last), nil
				}
				return respond(500), nil
			}}
			path := newFile(t)
			s := open(t, path, n)
			s.webhook(t, "https://shop.example.vn/hook")
			s.start(t)
			s.Record("FT1")
			time.Sleep(17 * time.Minute)
			s.close(t)
			s = open(t, path, n)
			s.start(t)
			time.Sleep(11 * time.Minute) // the last wait of the schedule takes ten
			synctest.Wait()
			if d := cmp.Diff(times500, n.times()); d != "" {
				t.Errorf("ending in %d: attempts (-want +got):\n%s", last, d)
			}
			want := app.DeliveryDelivered
			if last != 200 {
				want = app.DeliveryFailed
			}
			if history := s.history(t); len(history) != 6 || history[5].Delivery.State != want || history[5].Result.OK() != (last == 200) {
				t.Errorf("ending in %d: %d records, the last %+v", last, len(history), history[len(history)-1])
			}
			s.close(t)
		})
	}
}

// An attempt that panics has failed; it is explained, repeated on schedule,
// and the others go on.
func TestPanicInAnAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &network{start: time.Now(), answer: func(_ int, r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/poison" {
				panic("poison")
			}
			return respond(200), nil
		}}
		s := open(t, newFile(t), n)
		poison := s.webhook(t, "https://shop.example.vn/poison")
		s.webhook(t, "https://shop.example.vn/well")
		s.start(t)
		for i := range 3 {
			s.Record(fmt.Sprint("FT", i))
		}
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		poisoned, well := 0, 0
		for _, a := range s.history(t) {
			switch r := a.Result; {
			case a.Delivery.WebhookID != poison.ID && r.OK():
				well++
			case a.Delivery.WebhookID == poison.ID && r.Error == delivery.ErrorInternal && r.Explanation().EN != "":
				poisoned++
			default:
				t.Errorf("webhook %d: %+v", a.Delivery.WebhookID, r)
			}
		}
		if poisoned != 3*6 || well != 3 {
			t.Errorf("%d attempts of the poisoned webhook and %d of the other; want 18 and 3", poisoned, well)
		}
		s.close(t)
	})
}

// A stop between attempts, and one in the middle of an attempt: the schedule
// goes on from the file; what was due meanwhile is tried at the start, and an
// attempt that was cut off isn't counted.
func TestScheduleAcrossRestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &network{start: time.Now(), answer: always500}
		path := newFile(t)
		s := open(t, path, n)
		s.webhook(t, "https://shop.example.vn/hook")
		s.start(t)
		s.Record("FT1")
		time.Sleep(50 * time.Second) // attempts at 0, 10 and 40 s
		s.close(t)
		time.Sleep(20 * time.Second)
		s = open(t, path, n)
		s.start(t)
		time.Sleep(50 * time.Second) // the fourth at 100 s, on time
		s.close(t)
		time.Sleep(10 * time.Minute) // the fifth was due at 400 s, the file opens at 720 s
		s = open(t, path, n)
		s.start(t)
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		want := append(append([]time.Duration(nil), times500[:4]...), 720*time.Second, 1320*time.Second)
		if d := cmp.Diff(want, n.times()); d != "" {
			t.Errorf("attempts (-want +got):\n%s", d)
		}
		if got := len(s.history(t)); got != 6 {
			t.Errorf("%d history records, want 6", got)
		}
		s.close(t)
	})
}

func TestInterruptedAttemptIsRepeatedAndNotCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &network{start: time.Now(), answer: func(count int, r *http.Request) (*http.Response, error) {
			if count == 1 {
				return alwaysTimeout(count, r)
			}
			return respond(200), nil
		}}
		path := newFile(t)
		s := open(t, path, n)
		s.webhook(t, "https://shop.example.vn/hook")
		s.start(t)
		s.Record("FT1")
		time.Sleep(3 * time.Second) // in the middle of attempt 1
		s.crash(t)
		s = open(t, path, n)
		s.start(t)
		time.Sleep(time.Second)
		synctest.Wait()
		if d := cmp.Diff([]time.Duration{0, 3 * time.Second}, n.times()); d != "" {
			t.Errorf("attempts (-want +got):\n%s", d)
		}
		if !bytes.Equal(n.bodies[0], n.bodies[1]) || n.ids[0] != n.ids[1] {
			t.Error("the repeated attempt differs from the interrupted one")
		}
		history := s.history(t)
		if len(history) != 1 || history[0].Number != 1 || history[0].Delivery.State != app.DeliveryDelivered {
			t.Errorf("history after the repeat: %+v", history)
		}
		s.close(t)
	})
}

// 200 at 9.9 s is a success, at 10.1 s a failure.
func TestTimeLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		after time.Duration
		ok    bool
	}{{9900 * time.Millisecond, true}, {10100 * time.Millisecond, false}} {
		synctest.Test(t, func(t *testing.T) {
			n := &network{start: time.Now(), answer: func(_ int, r *http.Request) (*http.Response, error) {
				select {
				case <-time.After(c.after):
					return respond(200), nil
				case <-r.Context().Done():
					return nil, r.Context().Err()
				}
			}}
			s := open(t, newFile(t), n)
			s.webhook(t, "https://shop.example.vn/hook")
			s.start(t)
			s.Record("FT1")
			time.Sleep(11 * time.Second)
			synctest.Wait()
			history := s.history(t)
			if len(history) != 1 || history[0].Result.OK() != c.ok {
				t.Errorf("an answer after %v: %+v", c.after, history)
			}
			s.close(t)
		})
	}
}

// Webhooks that hang, each on a host of its own, keep no other from its first
// attempt: not even before anybody knows that they do.
func TestHangingWebhooksDoNotDelayOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &network{start: time.Now()}
		var healthy []time.Duration
		n.answer = func(c int, r *http.Request) (*http.Response, error) {
			if r.URL.Path != "/healthy" {
				return alwaysTimeout(c, r)
			}
			n.mu.Lock()
			defer n.mu.Unlock()
			healthy = append(healthy, time.Since(n.start))
			return respond(200), nil
		}
		s := open(t, newFile(t), n)
		for i := range 99 {
			s.webhook(t, fmt.Sprintf("https://slow%d.example.vn/hangs", i))
		}
		s.webhook(t, "https://shop.example.vn/healthy")
		s.start(t)
		for i := range 60 {
			s.Record(fmt.Sprint("FT", i))
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		if len(healthy) != 60 {
			t.Fatalf("the healthy webhook got %d of 60", len(healthy))
		}
		for i, at := range healthy {
			if want := time.Duration(i) * 100 * time.Millisecond; at-want > 10*time.Millisecond {
				t.Errorf("transaction %d reached the healthy webhook %v late", i, at-want)
			}
		}
		s.crash(t)
	})
}

// Webhooks that always answered and stop to, all at once and with much to be
// told of, keep no other from its first attempt either.
func TestWebhooksThatStopAnsweringDoNotDelayOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &network{start: time.Now()}
		hang, healthy := false, 0
		n.answer = func(c int, r *http.Request) (*http.Response, error) {
			n.mu.Lock()
			hangs := hang && r.URL.Path != "/healthy"
			if r.URL.Path == "/healthy" {
				healthy++
			}
			n.mu.Unlock()
			if hangs {
				return alwaysTimeout(c, r)
			}
			return respond(200), nil
		}
		s := open(t, newFile(t), n)
		for i := range 20 {
			s.webhook(t, fmt.Sprintf("https://shop%d.example.vn/", i))
		}
		s.webhook(t, "https://shop.example.vn/healthy")
		s.start(t)
		for i := range 5 {
			s.Record(fmt.Sprint("before", i))
		}
		synctest.Wait()
		n.mu.Lock()
		hang = true
		n.mu.Unlock()
		for i := range 100 {
			s.Record(fmt.Sprint("burst", i))
		}
		for i := range 50 {
			time.Sleep(100 * time.Millisecond)
			s.Record(fmt.Sprint("after", i))
			time.Sleep(10 * time.Millisecond)
			synctest.Wait()
			n.mu.Lock()
			told := healthy
			n.mu.Unlock()
			if want := 5 + 100 + i + 1; told != want {
				t.Errorf("10 ms after transaction %d the healthy webhook was told of %d", want, told)
			}
		}
		s.crash(t)
	})
}

// Webhooks on one host share its slots; when some are free again, those that
// waited go on at once.
func TestSlotsOfAHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &network{start: time.Now()}
		inFlight, most := 0, 0
		n.answer = func(_ int, r *http.Request) (*http.Response, error) {
			n.mu.Lock()
			inFlight++
			most = max(most, inFlight)
			n.mu.Unlock()
			time.Sleep(300 * time.Millisecond)
			n.mu.Lock()
			inFlight--
			n.mu.Unlock()
			return respond(200), nil
		}
		s := open(t, newFile(t), n)
		for range 40 {
			s.webhook(t, "https://shop.example.vn:8443/hook")
		}
		s.start(t)
		for i := range 8 {
			s.Record(fmt.Sprint("FT", i))
		}
		time.Sleep(1600 * time.Millisecond) // 320 deliveries, 64 in 300 ms
		synctest.Wait()
		if got := len(n.times()); most != 64 || got != 320 {
			t.Errorf("%d at once, %d made; want 64 and 320", most, got)
		}
		s.close(t)
	})
}
