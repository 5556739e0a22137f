package web_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/services"
	"baoco/web"
)

// A client that goes away before its answer is no fault of the server: it is neither
// logged as one nor counted as a 5xx. A storage that takes too long is both.
func TestClientThatGoesAway(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, apptest.NewFile(t), services.Config{})
	defer w.Close()
	key := w.APIKey(access.ScopeRead)
	for _, c := range []struct {
		cause  error
		status int
		logged bool
	}{{nil, 499, false}, {context.DeadlineExceeded, 503, true}} {
		var log apptest.Output
		counted := 0
		handler := web.New(web.Config{Services: w.Services, Logger: slog.New(slog.NewTextHandler(&log, nil)),
			Requested: func(_ string, status int) { counted = status }})
		ctx, end := context.WithCancelCause(t.Context())
		end(c.cause)
		r := httptest.NewRequestWithContext(ctx, "GET", "/api/v1/transactions", nil)
		r.Header.Set("Authorization", "Bearer "+key)
		handler.ServeHTTP(httptest.NewRecorder(), r)
		if counted != c.status || c.logged != strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("ended by %v: counted as %d; logged:\n%s", c.cause, counted, log.String())
		}
	}
}
