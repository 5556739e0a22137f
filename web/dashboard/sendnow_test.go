package dashboard_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/web/webtest"
)

// waiting is a world with a webhook to which n deliveries have failed once.
func waiting(t *testing.T, n int) (*webtest.World, *moody, *webtest.Browser) {
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	receiver := newMoody(t, 500, "")
	w.Webhook(receiver.url, delivery.WebhookAll)
	for i := range n {
		w.Pay(1, fmt.Sprint(i), "trà đá")
	}
	w.Attempts(1, n)
	return w, receiver, w.Browser().SignIn("lan")
}

// A waiting delivery is sent at once, from its page and from the list. A form that
// is sent twice makes one attempt.
func TestSendNow(t *testing.T) {
	t.Parallel()
	w, receiver, b := waiting(t, 1)
	const action = "/deliveries/1/send-now"
	form := formFields(t, b.Get("/deliveries/1").Body, action)
	b.Post(action).Goes(t, "/deliveries/1")
	b.Get("/keys").Shows(t, "This form has expired")
	b.Post(action, form...).Goes(t, "/deliveries/1")
	w.Attempts(1, 2)
	b.Post(action, form...).Goes(t, "/deliveries/1")
	form = formFields(t, b.Get("/deliveries?status=waiting").Body, action)
	receiver.answers(200, "")
	b.Post(action, form...).Goes(t, "/deliveries/1")
	b.Get("/deliveries/1").Shows(t, "It is sent at once, without a wait.")
	w.Until("it is delivered", func() bool { return delivered(w) == 1 })
	w.Attempts(1, 3)
	if page := b.Get("/deliveries/1").Body; strings.Contains(page, action) {
		t.Error("what is delivered can be sent now")
	}
	refused := b.Post(action, "once", webtest.FormKey())
	refused.WantStatus(t, http.StatusConflict)
	refused.Shows(t, "The delivery isn’t waiting any more.")
	b.Post("/deliveries/99/send-now", "once", webtest.FormKey()).WantStatus(t, http.StatusNotFound)
}

// All that waits for a webhook is sent at once from its page; after a test that
// succeeded the offer stands beside the result.
func TestSendWaiting(t *testing.T) {
	t.Parallel()
	w, receiver, b := waiting(t, 3)
	const action = "/webhooks/1/send-now"
	b.Get("/webhooks/1").Shows(t, "Send the waiting ones now (3)")
	receiver.answers(200, "")
	tested := b.Get(b.Post("/webhooks/1/test").Header.Get("Location"))
	result, _, _ := strings.Cut(tested.Body[strings.Index(tested.Body, "Test succeeded"):], "</section>")
	if !strings.Contains(result, action) || strings.Count(tested.Body, action) != 1 {
		t.Error("a test that succeeded offers to send what waits, once")
	}
	form := formFields(t, tested.Body, action)
	b.Post(action, form...).Goes(t, "/webhooks/1")
	b.Get("/webhooks/1").Shows(t, "Deliveries being sent now: 3.")
	w.Until("all are delivered", func() bool { return delivered(w) == 4 }) // with the test
	if strings.Contains(b.Get("/webhooks/1").Body, action) {
		t.Error("nothing waits, but can be sent now")
	}
}

// What a webhook that is off or has lost its secret keeps back can't be sent now.
func TestSendNowRefusals(t *testing.T) {
	t.Parallel()
	for why, stop := range map[string]func(w *webtest.World){
		"disabled": func(w *webtest.World) {
			_, err := w.Services.Deliveries.ToggleWebhook(context.Background(), 1, 1, time.Now())
			apptest.Must(t, err)
		},
		"secret of this webhook is lost": func(w *webtest.World) { w.Change(`UPDATE webhooks SET secret = x''`) },
	} {
		w, _, b := waiting(t, 1)
		stop(w)
		for page, action := range map[string]string{
			"/deliveries/1": "/deliveries/1/send-now", "/deliveries?status=waiting": "/deliveries/1/send-now", "/webhooks/1": "/webhooks/1/send-now",
		} {
			if strings.Contains(b.Get(page).Body, action) {
				t.Errorf("%s: %s offers what is refused", why, page)
			}
			refused := b.Post(action, "once", webtest.FormKey())
			refused.WantStatus(t, http.StatusConflict)
			refused.Shows(t, why)
		}
	}
}
