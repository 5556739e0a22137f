package delivery_test

import (
	"testing"
	"time"

	"baoco/app"
	"baoco/app/delivery"
)

func TestRetrySchedule(t *testing.T) {
	want := []time.Duration{0, 10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute, 10 * time.Minute}
	if len(delivery.RetrySchedule) != len(want) {
		t.Fatalf("%d attempts, want %d", len(delivery.RetrySchedule), len(want))
	}
	for i := range want {
		if delivery.RetrySchedule[i] != want[i] {
			t.Errorf("%s before attempt %d, want %s", delivery.RetrySchedule[i], i+1, want[i])
		}
	}
	if delivery.AttemptTimeout != 10*time.Second {
		t.Errorf("a receiver may take %s", delivery.AttemptTimeout)
	}
}

// Attempts that all fail are made at fixed times, counted from the end of the
// one before, and there are six.
func TestAttemptedOverTheSchedule(t *testing.T) {
	for _, test := range []struct {
		name   string
		takes  time.Duration // each attempt
		starts []time.Duration
	}{
		{"at once", 0, []time.Duration{0, 10 * time.Second, 40 * time.Second, 100 * time.Second, 400 * time.Second, 1000 * time.Second}},
		{"by timeout", 10 * time.Second,
			[]time.Duration{0, 20 * time.Second, 60 * time.Second, 130 * time.Second, 440 * time.Second, 1050 * time.Second}},
	} {
		created := time.Date(2025, 10, 14, 10, 0, 0, 0, time.UTC)
		d := delivery.Delivery{ID: 7, AccountID: 1, WebhookID: 2, TransactionID: 3, State: app.DeliveryPending, DueAt: created,
			CreatedAt: created, ResendOf: 9}
		for i, start := range test.starts {
			if d.State != app.DeliveryPending || d.Attempts != i || !d.DueAt.Equal(created.Add(start)) {
				t.Errorf("%s: before attempt %d: %s, %d attempts, due after %s; want due after %s", test.name, i+1, d.State, d.Attempts,
					d.DueAt.Sub(created), start)
			}
			d = d.Attempted(false, delivery.RetrySchedule, d.DueAt.Add(test.takes))
		}
		want := delivery.Delivery{ID: 7, AccountID: 1, WebhookID: 2, TransactionID: 3, State: app.DeliveryFailed, Attempts: 6,
			CreatedAt: created, ResendOf: 9}
		if d != want {
			t.Errorf("%s: after the last attempt %+v, want %+v", test.name, d, want)
		}
	}
}

func TestAttemptedOK(t *testing.T) {
	now := time.Date(2025, 10, 14, 10, 0, 0, 0, time.UTC)
	for attempts := range len(delivery.RetrySchedule) {
		d := delivery.Delivery{State: app.DeliveryPending, Attempts: attempts, DueAt: now}.Attempted(true, delivery.RetrySchedule, now)
		if d.State != app.DeliveryDelivered || d.Attempts != attempts+1 || !d.DueAt.IsZero() {
			t.Errorf("attempt %d succeeds: %+v", attempts+1, d)
		}
	}
}

func TestAttemptedSingle(t *testing.T) {
	now := time.Date(2025, 10, 14, 10, 0, 0, 0, time.UTC)
	for ok, state := range map[bool]app.DeliveryState{true: app.DeliveryDelivered, false: app.DeliveryFailed} {
		d := delivery.Delivery{State: app.DeliveryPending, DueAt: now, Test: true}.Attempted(ok, delivery.RetrySchedule, now)
		if d.State != state || d.Attempts != 1 || !d.DueAt.IsZero() {
			t.Errorf("a test that succeeds (%t): %+v", ok, d)
		}
	}
}

func TestAttemptedBeyondTheSchedule(t *testing.T) {
	now := time.Date(2025, 10, 14, 10, 0, 0, 0, time.UTC)
	for _, schedule := range [][]time.Duration{nil, {0}, {0, time.Second}, delivery.RetrySchedule} {
		d := delivery.Delivery{State: app.DeliveryPending, Attempts: len(schedule)}.Attempted(false, schedule, now)
		if d.State != app.DeliveryFailed || !d.DueAt.IsZero() {
			t.Errorf("attempt %d of %d: %+v", d.Attempts, len(schedule), d)
		}
	}
}

// Success is exactly 200, in time.
func TestResultOK(t *testing.T) {
	for code := range 1000 {
		if ok := (delivery.Result{StatusCode: code}).OK(); ok != (code == 200) {
			t.Errorf("%d is ok: %t", code, ok)
		}
	}
	for _, class := range []delivery.ErrorClass{delivery.ErrorTimeout, delivery.ErrorHTTPStatus, delivery.ErrorInternal, "x"} {
		if (delivery.Result{StatusCode: 200, Error: class}).OK() {
			t.Errorf("200 with %s is ok", class)
		}
	}
}

// The message id is of the delivery alone: attempts, URL and secret leave it.
func TestMessageID(t *testing.T) {
	created := time.UnixMilli(1760414370123)
	first := delivery.Outgoing{Delivery: delivery.Delivery{ID: 7, CreatedAt: created}, URL: "https://a.vn/",
		Secrets: delivery.Secrets{Current: "a"}}
	later := delivery.Outgoing{Delivery: delivery.Delivery{ID: 7, CreatedAt: created.In(time.FixedZone("", 7*3600)), Attempts: 5,
		State: app.DeliveryPending, DueAt: created.Add(time.Hour)}, URL: "https://b.vn/", Secrets: delivery.Secrets{Current: "b"}}
	if first.MessageID() != later.MessageID() {
		t.Errorf("%s at first, %s later", first.MessageID(), later.MessageID())
	}
	for _, other := range []delivery.Delivery{{ID: 8, CreatedAt: created}, {ID: 7, CreatedAt: created.Add(time.Millisecond)}} {
		if id := (delivery.Outgoing{Delivery: other}).MessageID(); id == first.MessageID() {
			t.Errorf("another delivery has the id %s too", id)
		}
	}
}
