package acceptance_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"baoco/app/delivery"
	"baoco/app/services"
	"baoco/sqlitestore"
)

// A delivery fails at a receiver that answers 500, and is sent again once it
// answers 200. The script says when: the waits of the schedule are too long.
func TestBrowserHistory(t *testing.T) {
	t.Parallel()
	tools := findBrowser(t)
	dir := t.TempDir()
	var well atomic.Bool
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !well.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, "Fatal error: <script>alert(1)</script> \x1b[31m\x00 caf\xe9")
		}
	}))
	defer receiver.Close()
	p := serveIn(t, dir, anyPort, "--allow-target", "127.0.0.1/32")
	do(t, dir, "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "NGUYEN VAN A")
	do(t, dir, "webhook", "create", "--name", "Cửa hàng", "--url", receiver.URL+"/wp-json/baoco", "--type", "ALL")
	password := filepath.Join(dir, "password.txt")
	must(t, os.WriteFile(password, []byte(browserPassword+"\n"), 0o600))
	do(t, dir, "user", "create", "lan", "--password-file", password)

	control := http.NewServeMux()
	control.HandleFunc("POST /pay", func(http.ResponseWriter, *http.Request) {
		do(t, dir, "transaction", "add", "--amount", "1549000", "--content", "DH10293 thanh toan")
	})
	control.HandleFunc("POST /recover", func(http.ResponseWriter, *http.Request) { well.Store(true) })
	control.HandleFunc("POST /exhaust", func(http.ResponseWriter, *http.Request) { exhaust(t, dir) })
	controls := httptest.NewServer(control)
	defer controls.Close()
	tools.drive(t, "history.mjs", map[string]any{"base": p.url, "name": "lan", "password": browserPassword, "control": controls.URL})
	do(t, dir, "transaction", "add", "--amount", "200000", "--content", strings.Repeat("dài", 600))
	do(t, dir, "webhook", "create", "--name", strings.Repeat("w", 100), "--url", "http://shop.vn/"+strings.Repeat("a", 1000), "--type", "OUT")
	do(t, dir, "webhook", "test", "1")
	well.Store(false)
	do(t, dir, "transaction", "add", "--amount", "35000", "--content", "DH10294 bún chả")
	do(t, dir, "transaction", "add", "--amount", "1200000", "--content", "DH10295 NGUYEN THI HOA chuyen khoan thanh toan")
	do(t, dir, "webhook", "create", "--name", "Kho hàng", "--url", receiver.URL+"/stock", "--type", "ALL")
	do(t, dir, "webhook", "toggle", "2")
	do(t, dir, "webhook", "create", "--name", "Kế toán", "--url", receiver.URL+"/books", "--type", "OUT")
	do(t, dir, "transaction", "add", "--amount", "98000", "--type", "OUT", "--content", "tra tien hang")
	do(t, dir, "webhook", "toggle", "4")
	tools.drive(t, "pages.mjs", map[string]any{"base": p.url, "name": "lan", "password": browserPassword, "paths": []string{
		"/deliveries", "/deliveries?status=waiting", "/deliveries?status=x&q=%3Cscript%3E", "/deliveries/1", "/deliveries/4", "/deliveries/5",
		"/deliveries/resend?row=1&row=7", "/deliveries/resend?failed=all", "/transactions/1",
	}})
}

// exhaust records the attempts that are left of every delivery as failed, as
// another process would.
func exhaust(t *testing.T, dir string) {
	ctx := context.Background()
	store, err := sqlitestore.Open(ctx, filepath.Join(dir, "baoco.db"), sqlitestore.Options{})
	if err != nil {
		t.Error(err)
		return
	}
	defer store.Close()
	service := services.New(services.Config{Store: store, Zone: time.UTC})
	for range delivery.RetrySchedule {
		due, err := service.Deliveries.Due(ctx, delivery.DueFilter{WebhookID: 1, Retries: true, Limit: 10}, time.Now().Add(time.Hour))
		if err != nil {
			t.Error(err)
		}
		for _, o := range due {
			r := delivery.Result{StartedAt: time.Now(), Duration: 10 * time.Second, Error: delivery.ErrorTimeout,
				Detail: delivery.Detail{Cause: delivery.CauseResponse}, Phases: delivery.Phases{DNS: 2e6, Connect: 9e6, TLS: 40e6, Wait: 9949e6}}
			if len(due) > 0 && o.Attempts == len(delivery.RetrySchedule)-1 {
				r = delivery.Result{StartedAt: time.Now(), Duration: 84e6, StatusCode: 500, Error: delivery.ErrorHTTPStatus,
					Body: []byte("Fatal error"), Phases: delivery.Phases{Wait: 84e6}}
			}
			if _, err := service.Deliveries.Settle(ctx, o, r); err != nil {
				t.Error(err)
			}
		}
	}
}
