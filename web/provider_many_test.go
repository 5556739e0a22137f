package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/web"
)

// manyNative are n elements of a native call.
func manyNative(n int) string {
	elements := make([]string, n)
	for i := range elements {
		elements[i] = transfer{id: fmt.Sprint("m", i)}.native()
	}
	return batch(elements...)
}

// A call has 2,000 elements at most. Of one with more nothing is read, and the
// answer has the provider stop: it would send the same again for ever.
func TestProviderTooManyElements(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("ACB", someAccount)
	native, casso := w.native(), w.add("casso", app.AuthToken, "")
	body := manyNative(app.MaxElements + 1)
	w.wantsRefusal(native, body, http.StatusUnprocessableEntity, app.CodeValidation, "body")
	w.keptAsRejected(body, "body")
	body = `{"error":0,"data":[` + strings.Repeat(`{"id":1},`, app.MaxElements) + `{"id":1}]}`
	w.wants(rejected, casso, body)
	w.keptAsRejected(body, "body")
	w.wantTransactions(0)
	if said, e := w.reads(2); len(said) != 1 || e.Named != 1 {
		t.Errorf("the event is shown with %d elements, %d named", len(said), e.Named)
	}
	w.retries(w.service, w.event(2), rejected)
	w.keptAsRejected(body, "body")

	// Once somebody has discarded it, the body goes with the others of its age.
	later := time.Now().Add(time.Hour)
	keep := app.PruneLimits{Inbound: time.Minute}
	if p, err := w.service.Prune(t.Context(), keep, later); err != nil || p.InboundEvents != 0 {
		t.Errorf("pruned before anybody looked: %+v, %v", p, err)
	}
	for id := range int64(2) {
		_, err := w.service.DiscardInbound(t.Context(), 1, id+1)
		must(t, err)
	}
	if p, err := w.service.Prune(t.Context(), keep, later); err != nil || p.InboundEvents != 2 {
		t.Errorf("pruned: %+v, %v", p, err)
	}

	a := w.sends(native, manyNative(app.MaxElements))
	if v := a.json(t); a.status != http.StatusOK || fmt.Sprint(v["recorded"]) != fmt.Sprint(app.MaxElements) {
		t.Errorf("%d elements: %d %.200s", app.MaxElements, a.status, a.body)
	}
}

// The work of a caller who has gone leaves the queue where there is much of it;
// a few elements are recorded all the same.
func TestProviderGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("ACB", someAccount)
	source := w.native()
	server := web.New(web.Config{Service: w.service, Version: "test"})
	gone, leave := context.WithCancel(t.Context())
	leave()
	for _, c := range []struct{ elements, status, stored int }{{21, http.StatusServiceUnavailable, 0}, {20, http.StatusOK, 20}} {
		body := manyNative(c.elements)
		r := httptest.NewRequestWithContext(gone, "POST", source.URLPath(), strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+source.Secret)
		answer := httptest.NewRecorder()
		server.ServeHTTP(answer, r)
		if answer.Code != c.status {
			t.Errorf("%d elements: %d %s", c.elements, answer.Code, answer.Body)
		}
		w.wantTransactions(c.stored)
	}
}
