package web_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"baoco/app"
	"baoco/web"
)

// TestProviderFailureLimit: failing calls are limited by address, calls that
// authenticate never.
func TestProviderFailureLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t).peers()
	w.link("ACB", someAccount)
	source := w.native()
	body := batch(transfer{}.native())
	from := func(peer, token string) answer {
		return w.do("POST", source.URLPath(), body, "Authorization", "Bearer "+token, "X-Test-Peer", peer)
	}
	start, refused := time.Now(), 0
	var limited answer
	for limited = from("192.0.2.1", "wrong"); limited.status == http.StatusUnauthorized; limited = from("192.0.2.1", "wrong") {
		if refused++; refused > 100 {
			t.Fatal("failing calls are not limited")
		}
	}
	// One more every two seconds, on a slow machine.
	if most := 30 + int(time.Since(start)/(2*time.Second)) + 1; refused < 30 || refused > most {
		t.Errorf("%d failing calls were answered 401, want 30", refused)
	}
	v := limited.json(t)
	retry, err := strconv.Atoi(limited.header.Get("Retry-After"))
	if limited.status != http.StatusTooManyRequests || v["code"] != "rate_limited" || v["message"] == "" || err != nil || retry < 1 || retry > 60 ||
		fmt.Sprint(v["retry_after"]) != fmt.Sprint(retry) || limited.header.Get("X-RateLimit-Limit") != "30" || limited.header.Get("X-RateLimit-Remaining") != "0" {
		t.Errorf("%d %v %s", limited.status, limited.header, limited.body)
	}
	for i := range 100 {
		if a := from("192.0.2.1", source.Secret); a.status != http.StatusOK || a.header.Get("X-RateLimit-Limit") != "" {
			t.Fatalf("valid call %d: %d %s", i, a.status, a.body)
		}
	}
	if a := from("192.0.2.2", "wrong"); a.status != http.StatusUnauthorized {
		t.Errorf("another address: %d", a.status)
	}
	for from("192.0.2.1", "wrong").status != http.StatusTooManyRequests { // on a slow machine one more was allowed meanwhile
	}
	// The management API counts against the same address.
	if a := w.do("GET", "/api/v1/webhooks", "", "Authorization", "Bearer wrong", "X-Test-Peer", "192.0.2.1"); a.status != http.StatusTooManyRequests {
		t.Errorf("the management API: %d", a.status)
	}
	if a := w.do("POST", source.URLPath(), body, "Authorization", "Bearer wrong", "X-Test-Peer", "192.0.2.1", "X-Forwarded-For", "203.0.113.9", "X-Real-IP", "203.0.113.9"); a.status != http.StatusTooManyRequests {
		t.Errorf("with another address in a header: %d", a.status)
	}
}

// Whoever fails so often that they are answered 429 doesn't fill the log.
func TestProviderRefusedLogOfOneAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t).peers()
	native := w.native()
	call := func(from string) { w.do("POST", native.URLPath(), "{}", "X-Test-Peer", from) }
	for range 45 {
		call(peer(1))
	}
	call(peer(2))
	var list []app.RefusedCall
	eventually(t, "the last call is noted", func() bool {
		var err error
		list, err = w.service.RefusedCalls(t.Context(), 1, 0, 1000)
		must(t, err)
		return len(list) > 0 && list[0].Remote == peer(2)
	})
	if len(list) < 31 || len(list) > 40 { // a token comes back every two seconds
		t.Errorf("%d calls are noted", len(list))
	}
}

func TestProviderRefusedLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t).peers()
	ctx := context.Background()
	native, signed, sepay := w.native(), w.source("native", app.AuthHMAC, ""), w.source("sepay", app.AuthHMAC, "")
	calls := 0
	refused := func(path, body string, header ...string) {
		t.Helper()
		if a := w.do("POST", path, body, append(header, "X-Test-Peer", peer(calls/20))...); a.status != http.StatusUnauthorized {
			t.Fatalf("%d %s", a.status, a.body)
		}
		calls++
	}
	log := func() []app.RefusedCall {
		list, err := w.service.RefusedCalls(ctx, 1, 0, 1000)
		must(t, err)
		return list
	}
	old := credentials(sepay, "{}", time.Now().Add(-time.Hour))
	for _, c := range []struct {
		source int64
		path   string
		header []string
		says   string
	}{
		{native.ID, native.URLPath(), nil, "missing"}, {native.ID, native.URLPath(), []string{"Authorization", "Bearer guessed-secret"}, "token"},
		{native.ID, native.URLPath(), []string{"Authorization", "Basic " + native.Secret}, "Bearer"}, {signed.ID, signed.URLPath(), []string{"X-Webhook-Signature", "guessed-secret"}, "X-Webhook-Signature"},
		{sepay.ID, sepay.URLPath(), old, "X-SePay-Timestamp"}, {0, inboundPath, []string{"Authorization", "Bearer guessed-secret"}, "source"}, {0, inboundPath + "/guessed-secret", nil, "source"},
	} {
		refused(c.path, "{}", c.header...)
		eventually(t, "the call is noted", func() bool { return len(log()) == calls })
		got := log()[0]
		if got.SourceID != c.source || !strings.Contains(got.Text.EN, c.says) || got.Remote != peer(0) || time.Since(got.ReceivedAt).Abs() > time.Minute {
			t.Errorf("%s %v is noted as %+v", c.path, c.header, got)
		}
	}
	for calls < 230 {
		refused(native.URLPath(), "{}", "Authorization", "Bearer guessed-secret")
	}
	newest := func() int64 {
		if list := log(); len(list) > 0 {
			return list[0].ID
		}
		return 0
	}
	eventually(t, "all calls are noted", func() bool { return newest() == int64(calls) })
	list := log()
	if len(list) != 200 || w.rows("refused_calls") != 200 {
		t.Errorf("%d refused calls are kept, %d in the file", len(list), w.rows("refused_calls"))
	}
	for _, c := range list {
		for _, credential := range []string{"guessed", native.Secret, signed.Secret, native.Token, old[3]} {
			if strings.Contains(c.Text.EN+c.Text.VI+c.Remote+c.SourceName, credential) {
				t.Errorf("a credential is noted: %+v", c)
			}
		}
	}
	w.nothingStored()
}

// raw sends bytes as they stand on a connection of their own.
func (w *world) raw(request string) net.Conn {
	w.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	must(w.t, err)
	must(w.t, conn.SetDeadline(time.Now().Add(30*time.Second)))
	_, err = io.WriteString(conn, request)
	must(w.t, err)
	return conn
}

func rawCall(s app.Source, length int, more, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: baoco\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n%s\r\n%s", s.URLPath(), s.Secret, length, more, body)
}

// TestProviderHangUp: a client that doesn't wait for its answer has made its
// call all the same, once.
func TestProviderHangUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shop := newShop(t)
	w.webhook(shop.url+"/a", "ALL")
	w.link("ACB", someAccount)
	source := w.native()
	const calls = 40
	var told []string
	for i := range calls {
		body := batch(transfer{id: fmt.Sprint("h", i)}.native())
		w.raw(rawCall(source, len(body), "", body)).Close()
		told = append(told, fmt.Sprint("/a ", i+1))
	}
	deadline := time.Now().Add(30 * time.Second)
	for len(w.transactions()) < calls && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
	if n := len(w.transactions()); n != calls {
		t.Errorf("%d of %d calls are stored", n, calls)
	}
	// The provider, who has no answer, tries again.
	for i := range calls {
		if a := w.sends(source, batch(transfer{id: fmt.Sprint("h", i)}.native())); a.status != http.StatusOK {
			t.Errorf("again: %d %s", a.status, a.body)
		}
	}
	w.wantTransactions(calls)
	shop.waits(w, told...)
}

// TestProviderHangUpWhileBusy is the same while another program holds the
// file, so that the client is gone before anything can be stored.
func TestProviderHangUpWhileBusy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("ACB", someAccount)
	source := w.native()
	w.names(recorded, source, transfer{id: "before"})
	const calls = 5
	w.file(func(db *sql.DB) error {
		ctx := context.Background()
		conn, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close()
		if _, err := conn.ExecContext(ctx, `BEGIN IMMEDIATE`); err != nil {
			return err
		}
		for i := range calls {
			body := batch(transfer{id: fmt.Sprint("h", i)}.native())
			w.raw(rawCall(source, len(body), "", body)).Close()
		}
		time.Sleep(300 * time.Millisecond) // so that the server may notice
		_, err = conn.ExecContext(ctx, `ROLLBACK`)
		return err
	})
	deadline := time.Now().Add(30 * time.Second)
	for len(w.transactions()) < 1+calls && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
	if n := len(w.transactions()) - 1; n != calls {
		t.Errorf("%d of %d calls are stored", n, calls)
	}
	for i := range calls {
		if a := w.sends(source, batch(transfer{id: fmt.Sprint("h", i)}.native())); a.status != http.StatusOK {
			t.Errorf("again: %d %s", a.status, a.body)
		}
	}
	w.wantTransactions(1 + calls)
}

// TestProviderRawRequests has what no HTTP client sends.
func TestProviderRawRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("ACB", someAccount)
	source := w.native()
	body := batch(transfer{}.native())
	// Less than was declared.
	conn := w.raw(rawCall(source, len(body)+1, "", body))
	must(t, conn.(*net.TCPConn).CloseWrite())
	answer, _ := io.ReadAll(conn)
	conn.Close()
	if s := string(answer); s != "" && !strings.HasPrefix(s, "HTTP/1.1 4") {
		t.Errorf("a cut body: %s", s)
	}
	// More than was declared.
	conn = w.raw(rawCall(source, len(body)-1, "Connection: close\r\n", body))
	answer, _ = io.ReadAll(conn)
	conn.Close()
	if s := string(answer); !strings.HasPrefix(s, "HTTP/1.1 400") {
		t.Errorf("a body beyond its length: %s", s)
	}
	// Two lengths, a negative one, and a length with chunks beside it.
	for _, more := range []string{"Content-Length: 5\r\n", "Content-Length: -1\r\n"} {
		conn = w.raw(rawCall(source, len(body), more, body))
		answer, _ = io.ReadAll(conn)
		conn.Close()
		if s := string(answer); !strings.HasPrefix(s, "HTTP/1.1 400") {
			t.Errorf("%q: %s", more, s)
		}
	}
	w.wantTransactions(0)
	// Whoever asks first is told to go on.
	conn = w.raw(rawCall(source, len(body), "Expect: 100-continue\r\nConnection: close\r\n", ""))
	first := make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n"))
	_, err := io.ReadFull(conn, first)
	must(t, err)
	_, err = io.WriteString(conn, body)
	must(t, err)
	answer, _ = io.ReadAll(conn)
	conn.Close()
	if string(first) != "HTTP/1.1 100 Continue\r\n\r\n" || !strings.HasPrefix(string(answer), "HTTP/1.1 200") {
		t.Errorf("%q, then %s", first, answer)
	}
	// And isn't where the body is too large.
	conn = w.raw(rawCall(source, 1<<20+1, "Expect: 100-continue\r\nConnection: close\r\n", strings.Repeat(" ", 1<<20+1)))
	answer, _ = io.ReadAll(conn)
	conn.Close()
	if !strings.Contains(string(answer), "HTTP/1.1 413") {
		t.Errorf("too large: %s", answer)
	}
	w.wantTransactions(1)
}

// TestProviderStorageFailure: when the storage fails in the middle of a batch
// nothing of it is stored, the provider is asked to try again, and can.
func TestProviderStorageFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var log syncBuffer
	server := httptest.NewServer(web.New(web.Config{Service: w.service, Logger: slog.New(slog.NewTextHandler(&log, nil))}))
	defer server.Close()
	w.url = server.URL
	w.link("ACB", someAccount)
	native, sepay := w.native(), w.sepay()
	payload := "'; DROP TABLE\r\nlevel=ERROR msg=forged"
	body := batch(transfer{id: "1"}.native(), transfer{id: "2", content: payload, number: "FAIL"}.native(), transfer{id: "3"}.native())
	w.file(func(db *sql.DB) error {
		_, err := db.Exec(`CREATE TRIGGER fails BEFORE INSERT ON transactions WHEN NEW.number = 'FAIL' BEGIN SELECT RAISE(ABORT, 'a failure'); END`)
		return err
	})
	for range 2 {
		a := w.sends(native, body)
		v := a.json(t)
		if a.status < 500 || v["status"] != false || strings.Contains(a.body, "failure") || strings.Contains(a.body, "FAIL") {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	if a := w.sends(sepay, transfer{number: "FAIL"}.sepay()); a.status < 500 {
		t.Errorf("sepay: %d %s", a.status, a.body)
	}
	w.nothingStored()
	if o, err := w.service.Overview(context.Background(), 1); err != nil || o.Transactions != 0 || o.TotalIn != 0 {
		t.Errorf("totals of what isn't stored: %+v, %v", o, err)
	}
	w.names(recorded, native, transfer{id: "4"})
	w.file(func(db *sql.DB) error { _, err := db.Exec(`DROP TRIGGER fails`); return err })
	w.wants(counts{Recorded: 3}, native, body)
	w.wants(recorded, sepay, transfer{id: "5", number: "FAIL2"}.sepay())
	w.do("POST", native.URLPath(), body, "Authorization", "Bearer guessed-secret")

	text := log.String()
	if lines := strings.Count(text, "\n"); lines != 3 || strings.Count(text, "level=ERROR") != 3 {
		t.Errorf("the log has %d lines:\n%s", lines, text)
	}
	for _, secret := range []string{native.Token, native.Secret, sepay.Token, sepay.Secret, "guessed-secret", "DROP TABLE", someAccount} {
		if strings.Contains(text, secret) {
			t.Errorf("the log has %q:\n%s", secret, text)
		}
	}
}

// syncBuffer is a buffer for a log.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
