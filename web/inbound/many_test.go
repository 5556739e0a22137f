package inbound_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/upkeep"
	"baoco/web"
	"baoco/web/webtest"
)

// manyNative are n elements of a native call.
func manyNative(n int) string {
	elements := make([]string, n)
	for i := range elements {
		elements[i] = apptest.Transfer{ID: fmt.Sprint("m", i)}.Native()
	}
	return apptest.Batch(elements...)
}

// A call has 2,000 elements at most. Of one with more nothing is read, and the
// answer has the provider stop: it would send the same again for ever.
func TestProviderTooManyElements(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	native, casso := w.Native(), addKind(w, "casso", inbound.AuthToken, "")
	body := manyNative(inbound.MaxElements + 1)
	w.WantsRefusal(native, body, http.StatusUnprocessableEntity, app.CodeValidation, "body")
	keptAsRejected(w, body, "body")
	body = `{"error":0,"data":[` + strings.Repeat(`{"id":1},`, inbound.MaxElements) + `{"id":1}]}`
	w.Wants(webtest.Rejected, casso, body)
	keptAsRejected(w, body, "body")
	w.WantTransactions(0)
	if said, e := w.Reads(2); len(said) != 1 || e.ElementCount != 1 {
		t.Errorf("the event is shown with %d elements, %d named", len(said), e.ElementCount)
	}
	retries(w, w.Services, w.Event(2), webtest.Rejected)
	keptAsRejected(w, body, "body")

	// Once somebody has discarded it, the body goes with the others of its age.
	later := time.Now().Add(time.Hour)
	keep := upkeep.PruneLimits{Inbound: time.Minute}
	if p, err := w.Services.Upkeep.Prune(t.Context(), keep, later); err != nil || p.InboundEvents != 0 {
		t.Errorf("pruned before anybody looked: %+v, %v", p, err)
	}
	for id := range int64(2) {
		_, err := w.Services.Inbound.DiscardInbound(t.Context(), 1, id+1)
		apptest.Must(t, err)
	}
	if p, err := w.Services.Upkeep.Prune(t.Context(), keep, later); err != nil || p.InboundEvents != 2 {
		t.Errorf("pruned: %+v, %v", p, err)
	}

	a := w.Sends(native, manyNative(inbound.MaxElements))
	if v := a.JSON(t); a.Status != http.StatusOK || fmt.Sprint(v["recorded"]) != fmt.Sprint(inbound.MaxElements) {
		t.Errorf("%d elements: %d %.200s", inbound.MaxElements, a.Status, a.Body)
	}
}

// The work of a caller who has gone leaves the queue where there is much of it;
// a few elements are recorded all the same.
func TestProviderGone(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	source := w.Native()
	server := web.New(web.Config{Services: w.Services, Version: "test"})
	gone, leave := context.WithCancel(t.Context())
	leave()
	for _, c := range []struct{ elements, status, stored int }{{21, 499, 0}, {20, http.StatusOK, 20}} {
		body := manyNative(c.elements)
		r := httptest.NewRequestWithContext(gone, "POST", source.URLPath(), strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+source.Secret)
		answer := httptest.NewRecorder()
		server.ServeHTTP(answer, r)
		if answer.Code != c.status {
			t.Errorf("%d elements: %d %s", c.elements, answer.Code, answer.Body)
		}
		w.WantTransactions(c.stored)
	}
}
