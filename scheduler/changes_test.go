package scheduler_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/delivery"

	"github.com/google/go-cmp/cmp"
)

// Switching off makes pending deliveries wait, switching on lets them go on,
// deleting cancels them; a changed URL counts from the next attempt on.
func TestChangesDuringTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var urls []string
		n := &network{start: time.Now()}
		n.answer = func(_ int, r *http.Request) (*http.Response, error) {
			n.mu.Lock()
			defer n.mu.Unlock()
			urls = append(urls, r.URL.Path)
			return respond(500), nil
		}
		s := open(t, newFile(t), n)
		hook := s.webhook(t, "https://shop.example.vn/old")
		s.start(t)
		s.Record("FT1")
		time.Sleep(5 * time.Second)
		newURL := "https://shop.example.vn/new"
		_, err := s.Services.Deliveries.UpdateWebhook(t.Context(), 1, hook.ID, delivery.WebhookUpdate{URL: &newURL}, time.Now())
		must(t, err)
		time.Sleep(10 * time.Second) // attempt 2 at 10 s
		_, err = s.Services.Deliveries.ToggleWebhook(t.Context(), 1, hook.ID, time.Now())
		must(t, err)
		s.Record("FT2") // while off: no delivery, ever
		time.Sleep(time.Minute)
		if got := n.times(); len(got) != 2 {
			t.Fatalf("%d attempts while switched off, want 2", len(got))
		}
		_, err = s.Services.Deliveries.ToggleWebhook(t.Context(), 1, hook.ID, time.Now())
		must(t, err)
		time.Sleep(2 * time.Second)
		if got := n.times(); len(got) != 3 || got[2] < 75*time.Second || got[2] > 76*time.Second {
			t.Fatalf("attempts after switching on: %v", got)
		}
		must(t, s.Services.Deliveries.DeleteWebhook(t.Context(), 1, hook.ID, time.Now()))
		time.Sleep(20 * time.Minute) // longer than any wait of the schedule
		synctest.Wait()
		if got := n.times(); len(got) != 3 {
			t.Errorf("%d attempts after deleting, want 3", len(got))
		}
		if d := cmp.Diff([]string{"/old", "/new", "/new"}, urls); d != "" {
			t.Errorf("paths (-want +got):\n%s", d)
		}
		history := s.history(t)
		if last := history[len(history)-1]; last.Delivery.State != app.DeliveryCancelled {
			t.Errorf("the delivery of a deleted webhook is %s", last.Delivery.State)
		}
		s.close(t)
	})
}

// A secret that is rotated during the wait: until the new one is activated the
// old one signs, and webhook-signature is under both.
func TestRotationDuringTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var heads []http.Header
		n := &network{start: time.Now()}
		n.answer = func(_ int, r *http.Request) (*http.Response, error) {
			n.mu.Lock()
			defer n.mu.Unlock()
			heads = append(heads, r.Header)
			return respond(500), nil
		}
		s := open(t, newFile(t), n)
		hook, old, err := s.Services.Deliveries.CreateWebhook(t.Context(), 1,
			delivery.WebhookCreate{Name: "shop", URL: "https://shop.example.vn/hook", Type: delivery.WebhookAll}, time.Now())
		must(t, err)
		s.start(t)
		s.Record("FT1")
		time.Sleep(5 * time.Second) // attempt 1
		fresh, err := s.Services.Deliveries.RotateSecret(t.Context(), 1, hook.ID, delivery.SecretRotate{Overlap: time.Hour}, time.Now())
		must(t, err)
		time.Sleep(10 * time.Second) // attempt 2, at 10 s
		must(t, s.Services.Deliveries.ActivateSecret(t.Context(), 1, hook.ID, time.Now()))
		time.Sleep(30 * time.Second) // attempt 3, at 40 s
		synctest.Wait()
		if len(heads) != 3 {
			t.Fatalf("%d attempts, want 3", len(heads))
		}
		for i, secret := range []string{old, old, fresh} {
			if got, want := heads[i].Get("X-Webhook-Signature"), delivery.Signature(secret, n.bodies[i]); got != want {
				t.Errorf("attempt %d is signed %s, want %s", i+1, got, want)
			}
			if got, want := strings.Count(heads[i].Get("Webhook-Signature"), "v1,"), []int{1, 2, 1}[i]; got != want {
				t.Errorf("attempt %d has %d standard signatures, want %d", i+1, got, want)
			}
		}
		s.close(t)
	})
}

// Resends at the same moment are deliveries of their own, whatever the record's
// status; what is still being tried is not resent.
func TestResendAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &network{start: time.Now(), answer: func(count int, _ *http.Request) (*http.Response, error) {
			if count == 1 {
				return respond(500), nil
			}
			return respond(200), nil
		}}
		s := open(t, newFile(t), n)
		s.webhook(t, "https://shop.example.vn/hook")
		s.start(t)
		s.Record("FT1")
		time.Sleep(5 * time.Second)
		first := s.history(t)[0]
		if _, err := s.Services.Deliveries.Resend(t.Context(), 1, first.ID, app.IdempotencyKey{},
			time.Now()); app.CodeOf(err) != app.CodeDeliveryPending {
			t.Errorf("a resend of what is being tried: %v", err)
		}
		time.Sleep(time.Minute)
		var group sync.WaitGroup
		for _, id := range []int64{first.ID, first.ID + 1} {
			for range 4 {
				group.Go(func() {
					if _, err := s.Services.Deliveries.Resend(t.Context(), 1, id, app.IdempotencyKey{}, time.Now()); err != nil {
						t.Errorf("resend of %d: %v", id, err)
					}
				})
			}
		}
		group.Wait()
		time.Sleep(time.Minute)
		synctest.Wait()
		history := s.history(t)
		if len(history) != 2+8 {
			t.Fatalf("%d attempts, want 10", len(history))
		}
		ids := map[string]bool{}
		for _, id := range n.ids[1:] {
			ids[id] = true
		}
		for _, a := range history[2:] {
			if !a.Result.OK() || a.Delivery.ResendOf == 0 || a.Number != 1 {
				t.Errorf("a resend came to %+v", a)
			}
		}
		if len(ids) != 9 {
			t.Errorf("%d webhook-ids, want one for each delivery", len(ids))
		}
		s.close(t)
	})
}
