package scheduler_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/services"
	"baoco/scheduler"
	"baoco/scheduler/courier"
)

// What this machine lacks is no attempt of anybody: the delivery is tried again
// within seconds, for as long as it takes, says what it waits for, and has its
// six attempts afterwards. Webhooks that lack nothing are told meanwhile.
func TestShortageIsNoAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const lasts = time.Minute
		s := open(t, newFile(t), &network{start: time.Now(), answer: always500})
		short, fine := s.webhook(t, "https://short.example.vn/"), s.webhook(t, "https://fine.example.vn/")
		began := time.Now()
		var tries atomic.Int64
		send := func(ctx context.Context, o delivery.Outgoing) delivery.Result {
			if o.WebhookID == short.ID && time.Since(began) < lasts {
				tries.Add(1)
				return delivery.Result{StartedAt: time.Now(), Error: delivery.ErrorShortage, Detail: delivery.Detail{Cause: delivery.CausePorts}}
			}
			return s.sender.Send(ctx, o)
		}
		var err error
		s.courier, err = scheduler.Start(s.Services, send, scheduler.Options{Logger: slog.New(slog.NewTextHandler(s.log, nil))})
		must(t, err)
		s.Record("FT1")
		time.Sleep(lasts - time.Second)

		if n := tries.Load(); n < 30 || n > 60 {
			t.Errorf("tried %d times in a minute, want about once a second", n)
		}
		ctx, told := context.Background(), strings.Count(s.log.String(), "because this machine is short of something")
		if told != 1 {
			t.Errorf("the log says it %d times, want once:\n%s", told, s.log)
		}
		for _, hook := range []delivery.Webhook{short, fine} {
			waits := hook.ID == short.ID
			list, _, err := s.Services.Deliveries.Pending(ctx, 1, delivery.Filter{WebhookID: hook.ID}, app.Page{Number: 1, Size: 10})
			must(t, err)
			if len(list) != 1 || (list[0].Shortage == delivery.CausePorts.Shortage()) != waits {
				t.Fatalf("pending: %+v; waits for something: want %v", list, waits)
			}
			d, err := s.Services.Deliveries.DeliveryDetails(ctx, 1, list[0].ID, "baoco/test", time.Now())
			must(t, err)
			if (d.Shortage == delivery.CausePorts.Shortage()) != waits || waits && (d.Attempts != 0 || len(d.Calls) != 0) ||
				!waits && d.Attempts == 0 {
				t.Errorf("the delivery has %d attempts, %d calls and waits for %q", d.Attempts, len(d.Calls), d.Shortage.EN)
			}
		}
		time.Sleep(3 * time.Second)
		list, _, err := s.Services.Deliveries.Pending(ctx, 1, delivery.Filter{WebhookID: short.ID}, app.Page{Number: 1, Size: 10})
		if err != nil || list[0].Attempts != 1 || list[0].Shortage != (app.Text{}) {
			t.Errorf("after the shortage: %+v, %v; want one attempt, and nothing that is waited for", list, err)
		}
		time.Sleep(20 * time.Minute)
		count := map[int64]int{}
		for _, a := range s.history(t) {
			count[a.Delivery.WebhookID]++
		}
		if count[short.ID] != 6 || count[fine.ID] != 6 {
			t.Errorf("attempts by webhook: %v, want 6 of each", count)
		}
		s.close(t)
	})
}

// A test of a webhook that could not be made for want of something here says so
// and is recorded nowhere.
func TestShortageOfATest(t *testing.T) {
	t.Parallel()
	s := open(t, newFile(t), nil)
	service := services.New(services.Config{Store: s.Store, Zone: s.Services.Ledger.Zone(),
		Send: func(context.Context, delivery.Outgoing) delivery.Result {
			return delivery.Result{StartedAt: time.Now(), Error: delivery.ErrorShortage, Detail: delivery.Detail{Cause: delivery.CauseFiles}}
		}})
	hook := s.webhook(t, "https://shop.example.vn/")
	_, err := service.Deliveries.TestWebhook(context.Background(), 1, hook.ID, time.Now())
	if app.CodeOf(err) != app.CodeUnavailable || !strings.Contains(err.Error(), "own server") {
		t.Errorf("the test came to %v, want unavailable, and why", err)
	}
	if list := s.history(t); len(list) != 0 {
		t.Errorf("the history holds %+v", list)
	}
	s.close(t)
}

// brokenTransport fails for want of memory, before it has a connection or over
// it.
type brokenTransport struct{ connected bool }

func (b brokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	trace := httptrace.ContextClientTrace(r.Context())
	trace.ConnectStart("tcp", "203.0.113.1:443")
	if b.connected {
		trace.GotConn(httptrace.GotConnInfo{})
	}
	return nil, &net.OpError{Op: "write", Net: "tcp", Err: syscall.ENOBUFS}
}

// Once a connection is there the receiver may have got something: then a
// shortage ends an attempt, which counts.
func TestShortageOverAConnectionIsAnAttempt(t *testing.T) {
	t.Parallel()
	policy := apptest.Targets(t)
	for connected, want := range map[bool]delivery.ErrorClass{false: delivery.ErrorShortage, true: delivery.ErrorInternal} {
		r := courier.NewSender(policy, "test", brokenTransport{connected}).Send(t.Context(), outgoing("https://shop.example.vn/"))
		if r.Error != want {
			t.Errorf("connected: %t: %q %q, want %q", connected, r.Error, r.Detail, want)
		}
	}
}
