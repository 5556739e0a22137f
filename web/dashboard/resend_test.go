package dashboard_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/web/webtest"
)

// failing is a world whose two webhooks have failed at three transactions.
func failing(t *testing.T) (*webtest.World, *moody, *webtest.Browser) {
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	receiver := newMoody(t, 500, "")
	for range 2 {
		hook, _ := w.Webhook(receiver.url, delivery.WebhookAll)
		_ = hook
	}
	for i := range 3 {
		w.Pay(1, strconv.Itoa(i), fmt.Sprintf("don hang %d", i))
	}
	w.Attempts(1, 6)
	exhaust(w, 1, serverError)
	exhaust(w, 2, serverError)
	return w, receiver, w.Browser().SignIn("lan")
}

func TestResendOne(t *testing.T) {
	t.Parallel()
	w, receiver, b := failing(t)
	receiver.answers(200, "")
	page := b.Get("/deliveries/1").Body
	form := formFields(t, page, "/deliveries/1/resend")
	b.Post("/deliveries/1/resend", form...).Goes(t, "/deliveries/7")
	w.Until("the resend is delivered", func() bool { return delivered(w) == 1 })
	page = b.Get("/deliveries/7").Body
	for _, part := range []string{"Resending as this new delivery", `Resend of</dt><dd><a href="/deliveries/1">`, "Notified",
		"/deliveries/resend?row="} {
		if !strings.Contains(page, part) {
			t.Errorf("the resend's page has no %q", part)
		}
	}
	if page := b.Get("/deliveries/1").Body; !strings.Contains(page, `Resent as</dt><dd><a href="/deliveries/7">#7</a>`) {
		t.Error("the first delivery doesn't know of its resend")
	}
	if page := b.Get("/deliveries/1").Body; strings.Contains(page, `action="/deliveries/1/resend"`) {
		t.Error("one click would tell the shop once more what it knows")
	}
	confirm := regexp.MustCompile(`/deliveries/resend\?row=\d+`).FindString(b.Get("/deliveries/1").Body)
	if page := b.Get(confirm).Body; !strings.Contains(page, "1 of these were already received") {
		t.Error("nothing says that the shop knows already")
	}
	// The button pressed twice sends once.
	b.Post("/deliveries/1/resend", form...).Goes(t, "/deliveries/7")
	if n := w.Rows("deliveries"); n != 7 {
		t.Errorf("%d deliveries", n)
	}
}

// What is being resent, or was resent with success, isn't resent by one click of
// another tab, and the page that asks says so.
func TestResendWhatIsBeingResent(t *testing.T) {
	t.Parallel()
	w, receiver, b := failing(t)
	b.Submit("/deliveries/1/resend").Goes(t, "/deliveries/7")
	w.Attempts(1, 37)
	b.Submit("/deliveries/1/resend").Goes(t, "/deliveries/7")
	b.Get("/deliveries/7").Shows(t, "This is the resend: nothing more was sent.")
	ask := regexp.MustCompile(`/deliveries/resend\?row=\d+`).FindString(b.Get("/deliveries/1").Body)
	b.Get(ask).Shows(t, `Already being resent: <a href="/deliveries/7">#7</a>`)
	receiver.answers(200, "")
	w.Change(`UPDATE deliveries SET state = 1, due_ms = NULL WHERE id = 7`)
	b.Submit("/deliveries/1/resend").Goes(t, "/deliveries/7")
	b.Get(ask).Hides(t, "Already being resent")
	w.Change(`UPDATE deliveries SET state = 2, attempts = 6 WHERE id = 7`)
	b.Submit("/deliveries/1/resend").Goes(t, "/deliveries/8")
}

// Nothing offers to resend to a webhook that was deleted.
func TestResendToDeletedIsNotOffered(t *testing.T) {
	t.Parallel()
	w, _, b := failing(t)
	w.Pay(1, "waiting", "a") // deliveries 7 and 8
	w.Attempts(1, 38)
	b.Get("/transactions/1").Shows(t, "Resend")
	b.Get("/deliveries/1").Shows(t, `<p class="problem">`, "Resend</button>")
	for _, hook := range webhooksOf(w) {
		apptest.Must(t, w.Services.Deliveries.DeleteWebhook(t.Context(), 1, hook.ID, time.Now()))
	}
	for _, id := range []string{"1", "4"} { // failed, and cancelled
		b.Get("/transactions/"+id).Hides(t, "/resend")
	}
	for _, id := range []string{"1", "7"} {
		b.Get("/deliveries/"+id).Hides(t, `<p class="problem">`, "Resend</button>", "Resend…")
	}
}

func TestResendRefusals(t *testing.T) {
	t.Parallel()
	w, receiver, b := failing(t)
	ctx := context.Background()
	refused := func(what string, a webtest.Answer, text string) {
		t.Helper()
		if a.Status != http.StatusConflict || !strings.Contains(a.Body, text) || !strings.Contains(a.Body, `role="alert"`) {
			t.Errorf("%s: %d, without %q", what, a.Status, text)
		}
	}
	receiver.answers(500, "")
	w.Pay(1, "pending", "a")
	w.Attempts(1, 38)
	refused("still being tried", b.Submit("/deliveries/7/resend"), "The delivery is still being tried")
	_, err := w.Services.Deliveries.ToggleWebhook(ctx, 1, 1, time.Now())
	apptest.Must(t, err)
	refused("switched off", b.Submit("/deliveries/1/resend"), "The webhook is disabled")
	history := func(id int64) string {
		list, _, err := w.Services.Deliveries.History(ctx, 1, delivery.HistoryFilter{DeliveryID: id, Page: app.Page{Number: 1, Size: 1}})
		apptest.Must(t, err)
		return itoa(list[0].ID)
	}
	// Of a choice, what can't be sent again is said beforehand and afterwards.
	query := "/deliveries/resend?row=" + history(1) + "&row=" + history(2) + "&row=" + history(8)
	page := b.Get(query).Body
	for _, part := range []string{"Skipped: The webhook is disabled", "Skipped: The delivery is still being tried", "<strong>1</strong>"} {
		if !strings.Contains(page, part) {
			t.Errorf("the count has no %q:\n%s", part, page)
		}
	}
	b.Submit("/deliveries/resend", "row", history(1), "row", history(2)).Goes(t, "/deliveries")
	if page := b.Get("/deliveries").Body; !strings.Contains(page, "Deliveries being resent: 1. Not resent: 1. The webhook is disabled") {
		t.Error("nothing says what was not done")
	}
	apptest.Must(t, w.Services.Deliveries.DeleteWebhook(ctx, 1, 1, time.Now()))
	refused("deleted", b.Submit("/deliveries/1/resend"), "The webhook of this record was deleted.")
	for _, form := range [][]string{{}, {"row", "x"}, {"row", "0"}, {"failed", "all", "from", "x"}} {
		if a := b.Submit("/deliveries/resend", form...); a.Status != http.StatusUnprocessableEntity && a.Status != http.StatusNotFound {
			t.Errorf("%q: %d", form, a.Status)
		}
	}
	b.Submit("/deliveries/99/resend").WantStatus(t, http.StatusNotFound)
	b.Get("/deliveries/resend").WantStatus(t, http.StatusUnprocessableEntity)
	many := []string{}
	for id := range app.MaxPageSize + 1 {
		many = append(many, "row", itoa(int64(id+1)))
	}
	b.Submit("/deliveries/resend", many...).WantStatus(t, http.StatusUnprocessableEntity)
}

// A choice counts deliveries, not attempts; what the shop has had is said.
func TestResendChosen(t *testing.T) {
	t.Parallel()
	w, receiver, b := failing(t)
	receiver.answers(200, "")
	w.Pay(1, "good", "a") // deliveries 7 and 8
	w.Attempts(1, 38)
	var ids string
	for _, a := range w.Attempts(1, 38) {
		if a.Delivery.ID == 1 || a.Delivery.ID == 7 {
			ids += "&row=" + itoa(a.ID)
		}
	}
	page := b.Get("/deliveries/resend?q=a" + ids).Body
	if !strings.Contains(page, `<p class="big">2 deliveries</p>`) || !strings.Contains(page, "1 of these were already received") {
		t.Errorf("the count: %s", page)
	}
	if n := w.Rows("deliveries"); n != 8 {
		t.Errorf("looking made %d deliveries", n-8)
	}
	form := formFields(t, page, "/deliveries/resend")
	for range 2 { // twice is once
		b.Post("/deliveries/resend", form...).Goes(t, "/deliveries?q=a")
	}
	if n := w.Rows("deliveries"); n != 10 {
		t.Errorf("%d deliveries, want 10", n)
	}
	// Two attempts of one delivery are one delivery.
	before := w.Rows("deliveries")
	form = nil
	for _, a := range w.Attempts(1, 38) {
		if a.Delivery.ID == 2 {
			form = append(form, "row", itoa(a.ID))
		}
	}
	b.Submit("/deliveries/resend", form...).Goes(t, "/deliveries")
	if n := w.Rows("deliveries") - before; n != 1 || len(form) != 12 {
		t.Errorf("%d new deliveries of %d attempts of one", n, len(form)/2)
	}
}

// All that failed of a filter: counted by webhook, sent once, and then there
// is nothing left.
func TestResendFailed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		filter string
		want   int
	}{{"webhook_id=", 6}, {"webhook_id=1", 3}, {"q=don+hang+2", 2}, {"transaction_id=1", 2}, {"type=OUT", 0}, {"to=2020-01-01", 0},
		{"webhook_id=2&q=hang+1", 1}} {
		t.Run(c.filter, func(t *testing.T) {
			t.Parallel()
			w, receiver, b := failing(t)
			receiver.answers(200, "")
			list := openPage(b, "/deliveries?"+c.filter)
			if offered := strings.Contains(list.Body, "failed=all"); c.want > 0 && !offered {
				t.Error("the list doesn't offer it")
			}
			page := b.Get("/deliveries/resend?failed=all&" + c.filter).Body
			if c.want == 0 {
				if !strings.Contains(page, "Nothing to resend.") || strings.Contains(page, `type="submit">`+"\n") {
					t.Errorf("nothing: %s", page)
				}
				return
			}
			if !strings.Contains(page, `<p class="big">`+strconv.Itoa(c.want)+" deliver") {
				t.Fatalf("the count: %s", page)
			}
			form := formFields(t, page, "/deliveries/resend")
			a := b.Post("/deliveries/resend", form...)
			if to := a.Header.Get("Location"); a.Status != http.StatusSeeOther || !strings.HasPrefix(to, "/deliveries") ||
				strings.Contains(to, "failed") {
				t.Errorf("%d %s", a.Status, to)
			}
			w.Until("all of them are delivered", func() bool { return delivered(w) == c.want })
			if page := b.Get("/deliveries").Body; !strings.Contains(page, fmt.Sprintf("being resent: %d.", c.want)) {
				t.Error("nothing says that it was done")
			}
			if page := b.Get("/deliveries/resend?failed=all&" + c.filter).Body; !strings.Contains(page, "Nothing to resend.") {
				t.Error("something is left")
			}
			b.Post("/deliveries/resend", form...)
			if n := w.Rows("deliveries"); n != 6+c.want {
				t.Errorf("%d deliveries, want %d", n, 6+c.want)
			}
		})
	}
}

// More than fit into one commit go in steps; a replay takes them all.
func TestResendBounds(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	ctx := context.Background()
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	receiver := newMoody(t, 500, "")
	hook, _ := w.Webhook(receiver.url, delivery.WebhookAll)
	const all = delivery.MaxResend + 3
	elements := make([]inbound.Incoming, all)
	for i := range elements {
		elements[i] = inbound.Incoming{EventID: strconv.Itoa(i), Gateway: "ACB", AccountNumber: apptest.SomeAccount, Type: app.In, Amount: 1000,
			Content: "don", Time: time.Now()}
	}
	_, err := w.Services.Inbound.RecordTransactions(ctx,
		inbound.Call{AccountID: 1, Channel: app.ChannelHand, ReceivedAt: time.Now(), Elements: elements})
	apptest.Must(t, err)
	w.Until("first attempts", func() bool {
		_, total, err := w.Services.Deliveries.History(ctx, 1, delivery.HistoryFilter{Page: app.Page{Number: 1, Size: 1}})
		apptest.Must(t, err)
		return total == all
	})
	exhaust(w, hook.ID, serverError)
	b := w.Browser().SignIn("lan")
	if page := b.Get("/").Body; !strings.Contains(page, "More than 100 deliveries failed in the last 24 hours") {
		t.Error("the overview doesn't say so")
	}
	page := b.Get("/deliveries/resend?failed=all&webhook_id=1").Body
	if !strings.Contains(page, "More than 500 deliveries") || !strings.Contains(page, "all of them will be resent") {
		t.Errorf("a replay: %s", page)
	}
	page = b.Get("/deliveries/resend?failed=all&q=don").Body
	if !strings.Contains(page, "More than 500 deliveries") || !strings.Contains(page, "These will be resent first") {
		t.Errorf("in steps: %s", page)
	}
	began := time.Now()
	b.Submit("/deliveries/resend", formFields(t, page, "/deliveries/resend")...).Goes(t, "/deliveries?q=don")
	t.Logf("%d resends took %v", delivery.MaxResend, time.Since(began))
	if page := b.Get("/deliveries").Body; !strings.Contains(page, "being resent: 500. There are more: resend again for the rest.") {
		t.Error("nothing says that some are left")
	}
	if n := w.Rows("deliveries"); n != all+delivery.MaxResend {
		t.Errorf("%d deliveries", n)
	}
	b.Submit("/deliveries/resend", "failed", "all", "webhook_id", "1").Goes(t, "/deliveries?webhook_id=1")
	if n := w.Rows("deliveries"); n != all+all {
		t.Errorf("%d deliveries after the rest", n)
	}
	if page := b.Get("/").Body; strings.Contains(page, "deliveries failed in the last") {
		t.Error("the overview still asks for what was sent again")
	}
}

// delivered counts the deliveries that ended well.
func delivered(w *webtest.World) (n int) {
	list, _, err := w.Services.Deliveries.History(context.Background(), 1, delivery.HistoryFilter{Page: app.Page{Number: 1, Size: 100}})
	apptest.Must(w.T, err)
	for _, a := range list {
		if a.Result.OK() {
			n++
		}
	}
	return n
}
