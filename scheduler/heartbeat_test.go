package scheduler_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/scheduler"
)

// answering is a network whose answer can change.
type answering struct {
	calls  atomic.Int64 // at different moments: where time stands still, gocron may start a job twice
	last   atomic.Int64 // the moment of the last one
	status atomic.Int64 // 0: it can't be reached
}

func (a *answering) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet || r.URL.String() != "https://watch.example.vn/ping/secret" {
		return nil, errors.New("another request than a heartbeat: " + r.URL.String())
	}
	if now := time.Now().UnixNano(); a.last.Swap(now) != now {
		a.calls.Add(1)
	}
	if code := a.status.Load(); code != 0 {
		return respond(int(code)), nil
	}
	return nil, errors.New("no way to " + r.URL.String())
}

// The heartbeat is sent every minute while all is well. What keeps it from being
// sent is logged once, and so is its return; its address never is.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &network{start: time.Now(), answer: always500}
		s := open(t, newFile(t), n)
		s.webhook(t, "https://shop.example.vn/hook")
		watch := &answering{}
		watch.status.Store(200)
		var err error
		s.courier, err = scheduler.Start(s.Services, s.sender.Send, scheduler.Options{
			Heartbeat: scheduler.NewHeartbeat(apptest.Targets(t), "https://watch.example.vn/ping/secret", "test", watch),
			Logger:    slog.New(slog.NewTextHandler(s.log, nil)),
		})
		must(t, err)
		beats := func(want int64) {
			t.Helper()
			watch.calls.Store(0)
			time.Sleep(4 * time.Minute)
			if got := watch.calls.Load(); got != want {
				t.Errorf("%d heartbeats in four minutes, want %d\n%s", got, want, s.log)
			}
		}
		logged := func(text string, times int) {
			t.Helper()
			if got := strings.Count(s.log.String(), text); got != times {
				t.Errorf("%q is logged %d times, want %d\n%s", text, got, times, s.log)
			}
		}
		time.Sleep(30 * time.Second)
		s.Record("FT1") // a receiver that fails is no fault of this machine
		beats(4)
		logged("heartbeat", 0)
		watch.status.Store(302)
		beats(4)
		logged("its address answered 302", 1)
		watch.status.Store(0)
		beats(4)
		logged("its address can't be reached", 1)
		watch.status.Store(204)
		beats(4)
		logged("the heartbeat is sent again", 1)
		if strings.Contains(s.log.String(), "secret") || strings.Contains(s.log.String(), "watch.example.vn") {
			t.Errorf("the log has the address\n%s", s.log)
		}
		must(t, s.Store.Close()) // nothing can be recorded any more
		beats(0)
		must(t, s.courier.Stop(t.Context()))
	})
}

// A delivery that is due and that nobody attempts isn't well. One that waits for a
// slow receiver is.
func TestWell(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &network{start: time.Now(), answer: func(int, *http.Request) (*http.Response, error) {
			time.Sleep(9 * time.Second)
			return nil, errors.New("nobody answers")
		}}
		s := open(t, newFile(t), n)
		s.webhook(t, "https://shop.example.vn/hook")
		s.start(t)
		for i := range 100 {
			s.Record(fmt.Sprint("FT", i))
		}
		time.Sleep(3*time.Minute + 5*time.Second) // in the middle of attempts
		f, err := s.Services.Upkeep.Figures(t.Context(), time.Now())
		must(t, err)
		if f.InFlight == 0 || f.OldestDue.IsZero() || !f.Neglected.IsZero() {
			t.Errorf("beside a slow receiver: %+v", f)
		}
		must(t, s.Services.Upkeep.Well(t.Context(), time.Now()))

		// An attempt has just ended, and the next hasn't begun.
		must(t, s.courier.Stop(t.Context()))
		for _, neglected := range []bool{false, true} {
			f, err := s.Services.Upkeep.Figures(t.Context(), time.Now())
			must(t, err)
			if f.InFlight != 0 || f.OldestDue.IsZero() || f.Neglected.IsZero() == neglected {
				t.Errorf("after the last attempt: %+v", f)
			}
			time.Sleep(10 * time.Second)
		}
		must(t, s.Store.Close())
	})
	synctest.Test(t, func(t *testing.T) {
		s := open(t, newFile(t), &network{start: time.Now(), answer: always500})
		s.webhook(t, "https://shop.example.vn/hook")
		s.Record("FT1") // and there is no courier
		must(t, s.Services.Upkeep.Well(t.Context(), time.Now().Add(time.Minute)))
		if err := s.Services.Upkeep.Well(t.Context(), time.Now().Add(3*time.Minute)); err == nil || app.CodeOf(err) != app.CodeInternal ||
			!strings.Contains(err.Error(), "not attempted") {
			t.Errorf("nobody attempts what is due: %v", err)
		}
		must(t, s.Store.Close())
	})
}
