package scheduler_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/scheduler/courier"
)

// outgoing is one delivery to url, under a fixed secret.
func outgoing(url string) delivery.Outgoing {
	return delivery.Outgoing{
		Delivery: delivery.Delivery{ID: 7, WebhookID: 1, CreatedAt: time.Unix(1760000000, 0)},
		URL:      url, Secrets: delivery.Secrets{Current: "whsec_c2VjcmV0"},
		Payload: delivery.Payload{ID: "1", Gateway: "ACB", TransactionDate: "2026-11-21 10:59:30", AccountNumber: "1",
			TransferType: app.In, TransferAmount: 1},
	}
}

// send makes one attempt over the real network, to loopback only.
func send(t *testing.T, url string) delivery.Result {
	t.Helper()
	targets := apptest.Targets(t, "127.0.0.1/32")
	return courier.NewSender(targets, "test", nil).Send(context.Background(), outgoing(url))
}

// Only 200 is a success; nothing else the receiver says changes the schedule,
// and a redirect isn't followed.
func TestStatusCodes(t *testing.T) {
	t.Parallel()
	var followed atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/elsewhere" {
			followed.Add(1)
			return
		}
		var status int
		fmt.Sscanf(r.URL.Path, "/%d", &status)
		w.Header().Set("Location", "/elsewhere")
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(status)
	}))
	defer server.Close()
	for status, class := range map[int]delivery.ErrorClass{
		200: "", 201: delivery.ErrorHTTPStatus, 202: delivery.ErrorHTTPStatus, 204: delivery.ErrorHTTPStatus, 301: delivery.ErrorRedirect,
		302: delivery.ErrorRedirect,
		303: delivery.ErrorRedirect, 304: delivery.ErrorRedirect, 307: delivery.ErrorRedirect, 308: delivery.ErrorRedirect,
		400: delivery.ErrorHTTPStatus, 401: delivery.ErrorHTTPStatus,
		404: delivery.ErrorHTTPStatus, 410: delivery.ErrorHTTPStatus, 429: delivery.ErrorHTTPStatus, 500: delivery.ErrorHTTPStatus,
		503: delivery.ErrorHTTPStatus,
	} {
		r := send(t, fmt.Sprintf("%s/%d", server.URL, status))
		if r.StatusCode != status || r.Error != class || r.OK() != (status == 200) {
			t.Errorf("%d: status %d, error %q, ok %v", status, r.StatusCode, r.Error, r.OK())
		}
	}
	if followed.Load() > 0 {
		t.Error("a redirect was followed")
	}
}

// What the receiver gets: one POST with its length, never chunked, and nothing
// that invites a transport to repeat it.
func TestRequest(t *testing.T) {
	t.Parallel()
	got := make(chan *http.Request, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r }))
	defer server.Close()
	if r := send(t, server.URL+"/a/b?c=%20d"); !r.OK() {
		t.Fatalf("%+v", r)
	}
	r := apptest.Receive(t, "the receiver gets a request", got)
	if r.Method != "POST" || r.RequestURI != "/a/b?c=%20d" || r.ContentLength <= 0 || len(r.TransferEncoding) > 0 || r.Close {
		t.Errorf("%s %s, length %d, encoding %v, the last one %v", r.Method, r.RequestURI, r.ContentLength, r.TransferEncoding, r.Close)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/json", "User-Agent": "baoco/test", "Idempotency-Key": "", "Accept-Encoding": "",
		"Webhook-Id": "dlv_7_mgj6k3cw",
	} {
		if r.Header.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, r.Header.Get(name), want)
		}
	}
	if stamp := r.Header.Get("Webhook-Timestamp"); len(stamp) != 10 || !strings.HasPrefix(r.Header.Get("Webhook-Signature"), "v1,") {
		t.Errorf("webhook-timestamp %q, webhook-signature %q", stamp, r.Header.Get("Webhook-Signature"))
	}
}

// What the history says of an answer that is read in parts.
func TestPartsOfAnswers(t *testing.T) {
	t.Parallel()
	const head = "HTTP/1.1 200 OK\r\n"
	w := newHostileWorld(t, delivery.AttemptTimeout)
	for name, c := range map[string]struct{ answer, detail, body string }{
		"many headers":      {head + strings.Repeat("X: y\r\n", 20_000), "longer than 64 KiB", ""},
		"a long header":     {head + "X: " + strings.Repeat("y", 70_000) + "\r\n\r\nok", "longer than 64 KiB", ""},
		"headers in bounds": {head + "X: " + strings.Repeat("y", 60_000) + "\r\nContent-Length: 2\r\n\r\nok", "", "ok"},
		"a long chunk line": {head + "Transfer-Encoding: chunked\r\n\r\n5;" + strings.Repeat("x", 1100) + "\r\nhello\r\n0\r\n\r\n", "", "hello"},
	} {
		for _, scheme := range schemes {
			r := w.sender.Send(t.Context(), outgoing(w.raw(t, scheme, c.answer, nil)))
			if !strings.Contains(r.Detail.Text, c.detail) || string(r.Body) != c.body || r.OK() != (c.detail == "") {
				t.Errorf("%s over %s: %d %q, %q, body %q", name, scheme, r.StatusCode, r.Error, r.Detail.Text, r.Body)
			}
		}
	}
	for _, url := range []string{"ftp://127.0.0.1:1/", "//127.0.0.1:1/"} {
		if r := send(t, url); r.Error != delivery.ErrorProtocol || !strings.Contains(r.Detail.Text, "neither http nor https") {
			t.Errorf("%s: %q, %q", url, r.Error, r.Detail.Text)
		}
	}
}
