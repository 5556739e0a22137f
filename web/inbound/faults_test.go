package inbound_test

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

	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/web"
	"baoco/web/webtest"
)

// TestProviderFailureLimit: failing calls are limited by address, calls that
// authenticate never.
func TestProviderFailureLimit(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t).Peers()
	w.Link("ACB", apptest.SomeAccount)
	source := w.Native()
	body := apptest.Batch(apptest.Transfer{}.Native())
	from := func(peer, token string) webtest.Answer {
		return w.Do("POST", source.URLPath(), body, "Authorization", "Bearer "+token, "X-Test-Peer", peer)
	}
	start, refused := time.Now(), 0
	var limited webtest.Answer
	for limited = from("192.0.2.1", "wrong"); limited.Status == http.StatusUnauthorized; limited = from("192.0.2.1", "wrong") {
		if refused++; refused > 100 {
			t.Fatal("failing calls are not limited")
		}
	}
	// One more every two seconds, on a slow machine.
	if most := 30 + int(time.Since(start)/(2*time.Second)) + 1; refused < 30 || refused > most {
		t.Errorf("%d failing calls were answered 401, want 30", refused)
	}
	v := limited.JSON(t)
	retry, err := strconv.Atoi(limited.Header.Get("Retry-After"))
	if limited.Status != http.StatusTooManyRequests || v["code"] != "rate_limited" || v["message"] == "" || err != nil ||
		retry < 1 || retry > 60 ||
		fmt.Sprint(v["retry_after"]) != fmt.Sprint(retry) || limited.Header.Get("X-RateLimit-Limit") != "30" ||
		limited.Header.Get("X-RateLimit-Remaining") != "0" {
		t.Errorf("%d %v %s", limited.Status, limited.Header, limited.Body)
	}
	for i := range 100 {
		if a := from("192.0.2.1", source.Secret); a.Status != http.StatusOK || a.Header.Get("X-RateLimit-Limit") != "" {
			t.Fatalf("valid call %d: %d %s", i, a.Status, a.Body)
		}
	}
	if a := from("192.0.2.2", "wrong"); a.Status != http.StatusUnauthorized {
		t.Errorf("another address: %d", a.Status)
	}
	for from("192.0.2.1", "wrong").Status != http.StatusTooManyRequests { // on a slow machine one more was allowed meanwhile
	}
	// The management API counts against the same address.
	if a := w.Do("GET", "/api/v1/webhooks", "", "Authorization", "Bearer wrong", "X-Test-Peer",
		"192.0.2.1"); a.Status != http.StatusTooManyRequests {
		t.Errorf("the management API: %d", a.Status)
	}
	if a := w.Do("POST", source.URLPath(), body, "Authorization", "Bearer wrong", "X-Test-Peer", "192.0.2.1", "X-Forwarded-For", "203.0.113.9",
		"X-Real-IP", "203.0.113.9"); a.Status != http.StatusTooManyRequests {
		t.Errorf("with another address in a header: %d", a.Status)
	}
}

// Whoever fails so often that they are answered 429 doesn't fill the log.
func TestProviderRefusedLogOfOneAddress(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t).Peers()
	native, signed := w.Native(), w.Source("sepay", inbound.AuthHMAC, "")
	large := strings.Repeat(" ", 64<<10+1)
	call := func(from string, large string) {
		w.Do("POST", native.URLPath(), "{}", "X-Test-Peer", from)
		w.Do("POST", signed.URLPath(), large, "X-Test-Peer", from)
	}
	for range 45 {
		call(webtest.Peer(1), large)
	}
	call(webtest.Peer(2), "{}")
	var list []inbound.RefusedCall
	w.Until("the last call is noted", func() bool {
		var err error
		list, err = w.Services.Inbound.RefusedCalls(t.Context(), 1, 0, 1000)
		apptest.Must(t, err)
		return len(list) > 0 && list[0].Remote == webtest.Peer(2)
	})
	if len(list) < 31 || len(list) > 40 { // a token comes back every two seconds
		t.Errorf("%d calls are noted", len(list))
	}
}

func TestProviderRefusedLog(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t).Peers()
	ctx := context.Background()
	native, signed, sepay := w.Native(), w.Source("native", inbound.AuthHMAC, ""), w.Source("sepay", inbound.AuthHMAC, "")
	calls := 0
	refused := func(path, body string, header ...string) {
		t.Helper()
		if a := w.Do("POST", path, body, append(header, "X-Test-Peer", webtest.Peer(calls/20))...); a.Status != http.StatusUnauthorized {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		calls++
	}
	log := func() []inbound.RefusedCall {
		list, err := w.Services.Inbound.RefusedCalls(ctx, 1, 0, 1000)
		apptest.Must(t, err)
		return list
	}
	old := apptest.Credentials(sepay, "{}", time.Now().Add(-time.Hour))
	for _, c := range []struct {
		source int64
		path   string
		header []string
		says   string
	}{
		{native.ID, native.URLPath(), nil, "missing"}, {native.ID, native.URLPath(), []string{"Authorization", "Bearer guessed-secret"}, "token"},
		{native.ID, native.URLPath(), []string{"Authorization", "Basic " + native.Secret}, "Bearer"},
		{signed.ID, signed.URLPath(), []string{"X-Webhook-Signature", "guessed-secret"}, "X-Webhook-Signature"},
		{sepay.ID, sepay.URLPath(), old, "X-SePay-Timestamp"}, {0, inboundPath, []string{"Authorization", "Bearer guessed-secret"}, "source"},
		{0, inboundPath + "/guessed-secret", nil, "source"},
	} {
		refused(c.path, "{}", c.header...)
		w.Until("the call is noted", func() bool { return len(log()) == calls })
		got := log()[0]
		if got.SourceID != c.source || !strings.Contains(got.Text.EN, c.says) || got.Remote != webtest.Peer(0) ||
			time.Since(got.ReceivedAt).Abs() > time.Minute {
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
	w.Until("all calls are noted", func() bool { return newest() == int64(calls) })
	list := log()
	if len(list) != 200 || w.Rows("refused_calls") != 200 {
		t.Errorf("%d refused calls are kept, %d in the file", len(list), w.Rows("refused_calls"))
	}
	for _, c := range list {
		for _, credential := range []string{"guessed", native.Secret, signed.Secret, native.Token, old[3]} {
			if strings.Contains(c.Text.EN+c.Text.VI+c.Remote+c.SourceName, credential) {
				t.Errorf("a credential is noted: %+v", c)
			}
		}
	}
	nothingStored(w)
}

func rawCall(s inbound.Source, length int, more, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: baoco\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n%s\r\n%s", s.URLPath(),
		s.Secret, length, more, body)
}

// TestProviderHangUp: a client that doesn't wait for its answer has made its
// call all the same, once.
func TestProviderHangUp(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	shop := webtest.NewShop(t)
	w.Webhook(shop.URL+"/a", "ALL")
	w.Link("ACB", apptest.SomeAccount)
	source := w.Native()
	const calls = 40
	var told []string
	for i := range calls {
		body := apptest.Batch(apptest.Transfer{ID: fmt.Sprint("h", i)}.Native())
		rawConn(w, rawCall(source, len(body), "", body)).Close()
		told = append(told, fmt.Sprint("/a ", i+1))
	}
	w.Until("all calls are stored", func() bool { return len(w.Transactions()) >= calls })
	if n := len(w.Transactions()); n != calls {
		t.Errorf("%d of %d calls are stored", n, calls)
	}
	// The provider, who has no answer, tries again.
	for i := range calls {
		if a := w.Sends(source, apptest.Batch(apptest.Transfer{ID: fmt.Sprint("h", i)}.Native())); a.Status != http.StatusOK {
			t.Errorf("again: %d %s", a.Status, a.Body)
		}
	}
	w.WantTransactions(calls)
	shop.Waits(w, told...)
}

// TestProviderHangUpWhileBusy is the same while another program holds the
// file, so that the client is gone before anything can be stored.
func TestProviderHangUpWhileBusy(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	source := w.Native()
	w.Names(webtest.Recorded, source, apptest.Transfer{ID: "before"})
	const calls = 5
	w.File(func(db *sql.DB) error {
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
			body := apptest.Batch(apptest.Transfer{ID: fmt.Sprint("h", i)}.Native())
			rawConn(w, rawCall(source, len(body), "", body)).Close()
		}
		// The server must not give the calls up meanwhile, though it may notice that
		// their clients are gone.
		time.Sleep(300 * time.Millisecond)
		_, err = conn.ExecContext(ctx, `ROLLBACK`)
		return err
	})
	w.Until("all calls are stored", func() bool { return len(w.Transactions()) >= 1+calls })
	if n := len(w.Transactions()) - 1; n != calls {
		t.Errorf("%d of %d calls are stored", n, calls)
	}
	for i := range calls {
		if a := w.Sends(source, apptest.Batch(apptest.Transfer{ID: fmt.Sprint("h", i)}.Native())); a.Status != http.StatusOK {
			t.Errorf("again: %d %s", a.Status, a.Body)
		}
	}
	w.WantTransactions(1 + calls)
}

// TestProviderRawRequests has what no HTTP client sends.
func TestProviderRawRequests(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	source := w.Native()
	body := apptest.Batch(apptest.Transfer{}.Native())
	// Less than was declared.
	conn := rawConn(w, rawCall(source, len(body)+1, "", body))
	apptest.Must(t, conn.(*net.TCPConn).CloseWrite())
	answer, _ := io.ReadAll(conn)
	conn.Close()
	if s := string(answer); s != "" && !strings.HasPrefix(s, "HTTP/1.1 4") {
		t.Errorf("a cut body: %s", s)
	}
	// More than was declared.
	conn = rawConn(w, rawCall(source, len(body)-1, "Connection: close\r\n", body))
	answer, _ = io.ReadAll(conn)
	conn.Close()
	if s := string(answer); !strings.HasPrefix(s, "HTTP/1.1 400") {
		t.Errorf("a body beyond its length: %s", s)
	}
	// Two lengths, a negative one, and a length with chunks beside it.
	for _, more := range []string{"Content-Length: 5\r\n", "Content-Length: -1\r\n"} {
		conn = rawConn(w, rawCall(source, len(body), more, body))
		answer, _ = io.ReadAll(conn)
		conn.Close()
		if s := string(answer); !strings.HasPrefix(s, "HTTP/1.1 400") {
			t.Errorf("%q: %s", more, s)
		}
	}
	w.WantTransactions(0)
	// Whoever asks first is told to go on.
	conn = rawConn(w, rawCall(source, len(body), "Expect: 100-continue\r\nConnection: close\r\n", ""))
	first := make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n"))
	_, err := io.ReadFull(conn, first)
	apptest.Must(t, err)
	_, err = io.WriteString(conn, body)
	apptest.Must(t, err)
	answer, _ = io.ReadAll(conn)
	conn.Close()
	if string(first) != "HTTP/1.1 100 Continue\r\n\r\n" || !strings.HasPrefix(string(answer), "HTTP/1.1 200") {
		t.Errorf("%q, then %s", first, answer)
	}
	// And isn't where the body is too large.
	conn = rawConn(w, rawCall(source, 1<<20+1, "Expect: 100-continue\r\nConnection: close\r\n", strings.Repeat(" ", 1<<20+1)))
	answer, _ = io.ReadAll(conn)
	conn.Close()
	if !strings.Contains(string(answer), "HTTP/1.1 413") {
		t.Errorf("too large: %s", answer)
	}
	w.WantTransactions(1)
}

// TestProviderStorageFailure: when the storage fails in the middle of a batch
// nothing of it is stored, the provider is asked to try again, and can.
func TestProviderStorageFailure(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	var log syncBuffer
	server := httptest.NewServer(web.New(web.Config{Services: w.Services, Logger: slog.New(slog.NewTextHandler(&log, nil))}))
	defer server.Close()
	w.URL = server.URL
	w.Link("ACB", apptest.SomeAccount)
	native, sepay := w.Native(), w.Sepay()
	payload := "'; DROP TABLE\r\nlevel=ERROR msg=forged"
	body := apptest.Batch(apptest.Transfer{ID: "1"}.Native(), apptest.Transfer{ID: "2", Content: payload, Number: "FAIL"}.Native(),
		apptest.Transfer{ID: "3"}.Native())
	w.Change(`CREATE TRIGGER fails BEFORE INSERT ON transactions WHEN NEW.number = 'FAIL' BEGIN SELECT RAISE(ABORT, 'a failure'); END`)
	for range 2 {
		a := w.Sends(native, body)
		v := a.JSON(t)
		if a.Status < 500 || v["status"] != false || strings.Contains(a.Body, "failure") || strings.Contains(a.Body, "FAIL") {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	if a := w.Sends(sepay, apptest.Transfer{Number: "FAIL"}.Sepay()); a.Status < 500 {
		t.Errorf("sepay: %d %s", a.Status, a.Body)
	}
	nothingStored(w)
	if o, err := w.Services.Ledger.Overview(context.Background(), 1); err != nil || o.Transactions != 0 || o.TotalIn != 0 {
		t.Errorf("totals of what isn't stored: %+v, %v", o, err)
	}
	w.Names(webtest.Recorded, native, apptest.Transfer{ID: "4"})
	w.Change(`DROP TRIGGER fails`)
	w.Wants(webtest.Counts{Recorded: 3}, native, body)
	w.Wants(webtest.Recorded, sepay, apptest.Transfer{ID: "5", Number: "FAIL2", Amount: 300_000}.Sepay())
	w.Do("POST", native.URLPath(), body, "Authorization", "Bearer guessed-secret")

	text := log.String()
	if lines := strings.Count(text, "\n"); lines != 3 || strings.Count(text, "level=ERROR") != 3 {
		t.Errorf("the log has %d lines:\n%s", lines, text)
	}
	for _, secret := range []string{native.Token, native.Secret, sepay.Token, sepay.Secret, "guessed-secret", "DROP TABLE",
		apptest.SomeAccount} {
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

// rawConn sends bytes as they stand on a connection of their own.
func rawConn(w *webtest.World, request string) net.Conn {
	w.T.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.URL, "http://"))
	apptest.Must(w.T, err)
	apptest.Must(w.T, conn.SetDeadline(time.Now().Add(30*time.Second)))
	_, err = io.WriteString(conn, request)
	apptest.Must(w.T, err)
	return conn
}
