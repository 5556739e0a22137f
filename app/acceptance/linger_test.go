package acceptance_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A body that is refused before it is read doesn't keep the answer from a client
// that sends all of it first, however it is sent. What nobody wants is read within
// bounds.
func TestRefusedBodies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := serveIn(t, dir, anyPort)
	source := addNative(t, dir)
	dial := func(head string) net.Conn {
		conn, err := net.Dial("tcp", p.address())
		must(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		_, err = io.WriteString(conn, head+"Host: baoco\r\nAuthorization: Bearer "+source.Secret+"\r\nContent-Type: application/json\r\n")
		must(t, err)
		return conn
	}
	for _, c := range []struct {
		path   string
		size   int
		status int
	}{
		{source.URLPath, 1<<20 + 200_000, http.StatusRequestEntityTooLarge}, // the limit is hit, and little is left
		{source.URLPath, 12 << 20, http.StatusRequestEntityTooLarge},
		{"/api/v1/transactions", 12 << 20, http.StatusUnauthorized}, // nothing is read
		{"/nowhere", 12 << 20, http.StatusNotFound},
		{"/nowhere", 1000, http.StatusNotFound},
		{"/healthz", 12 << 20, http.StatusMethodNotAllowed},
	} {
		for _, chunked := range []bool{false, true} {
			conn := dial("POST " + c.path + " HTTP/1.1\r\n")
			body, length := strings.Repeat(" ", c.size), fmt.Sprintf("Content-Length: %d\r\n\r\n", c.size)
			if chunked {
				body, length = fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", c.size, body), "Transfer-Encoding: chunked\r\n\r\n"
			}
			if _, err := io.WriteString(conn, length+body); err != nil {
				t.Errorf("%d bytes to %s (chunked: %v) can't be sent: %v", c.size, c.path, chunked, err)
				continue
			}
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Errorf("%d bytes to %s (chunked: %v) get no answer: %v", c.size, c.path, chunked, err)
				continue
			}
			if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != c.status {
				t.Errorf("%d bytes to %s (chunked: %v): %d, %v; want %d", c.size, c.path, chunked, response.StatusCode, err, c.status)
			}
		}
	}

	// Whoever sends without end is cut. Whoever stops in between is answered, and cut.
	endless := dial("POST /nowhere HTTP/1.1\r\nTransfer-Encoding: chunked\r\n")
	part := "\r\n100000\r\n" + strings.Repeat(" ", 1<<20)
	sent, err := int64(0), error(nil)
	must(t, endless.SetDeadline(time.Now().Add(time.Minute)))
	for err == nil && sent < 100<<20 {
		var n int
		n, err = io.WriteString(endless, part)
		sent += int64(n)
	}
	if sent >= 100<<20 {
		t.Errorf("%d MB of a refused body were taken", sent>>20)
	}
	silent := dial("POST /nowhere HTTP/1.1\r\nContent-Length: 20000000\r\n")
	_, err = io.WriteString(silent, "\r\nbegun")
	must(t, err)
	must(t, silent.SetDeadline(time.Now().Add(20*time.Second))) // less than the server gives a request
	answer := bufio.NewReader(silent)
	if response, err := http.ReadResponse(answer, nil); err != nil || response.StatusCode != http.StatusNotFound {
		t.Errorf("while the body is on its way: %v, %v", response, err)
	}
	if _, err := io.Copy(io.Discard, answer); err != nil {
		t.Errorf("a client that stops in between isn't cut: %v", err)
	}
}
