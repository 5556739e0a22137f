package acceptance_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"baoco/app/apptest"
	"baoco/app/payment"
	"baoco/app/services"
)

// More connections than the process may have files: it answers errors or
// nothing, and recovers by itself once they are gone; what it acknowledged is
// there.
func TestFewFiles(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	in := install(t, receiver)
	p := serveIn(t, in.dir, anyPort, "--allow-target", receiver.target())
	calls := in.provider(p.url)
	for i := range 20 { // whatever it opens at first is open now
		calls.call(fmt.Sprint("before-", i))
	}
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.Process.Pid))
	if err != nil {
		t.Skip("no /proc here")
	}
	limitFiles(t, p.Process.Pid, len(open)+10)

	var idle []net.Conn
	for range 200 {
		conn, err := net.Dial("tcp", p.address())
		must(t, err)
		_, err = io.WriteString(conn, "GET /healthz HTTP/1.1\r\n") // the rest never comes
		must(t, err)
		idle = append(idle, conn)
	}
	client := &http.Client{Timeout: 500 * time.Millisecond, Transport: &http.Transport{DisableKeepAlives: true}}
	refused := 0
	for range 4 {
		response, err := client.Get(p.url + "/healthz")
		if err != nil {
			refused++
			continue
		}
		response.Body.Close()
	}
	if refused == 0 {
		t.Error("the limit shows no effect")
	}
	for _, conn := range idle {
		conn.Close()
	}
	eventually(t, "calls are taken again", func() bool { return calls.call("after") })
	eventually(t, "everything is delivered", func() bool { return len(receiver.received()) >= len(calls.acknowledged()) })
	eventually(t, "it is ready", func() bool { return p.readiness() == http.StatusOK })
	p.end(t)
	checkLedger(t, in.db, calls.acknowledged())
}

// One address that opens connection after connection takes the files of nobody:
// calls are taken and delivered, each by one attempt, while it goes on.
func TestManyIdleConnections(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	in := install(t, receiver)
	cmd := program(in.dir, "serve", "--listen", anyPort, "--allow-target", receiver.target())
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `ulimit -n 128 && exec "$0" "$@"`}, cmd.Args...)
	p := &process{Cmd: cmd, stderr: &apptest.Output{}}
	cmd.Stderr = p.stderr
	must(t, cmd.Start())
	t.Cleanup(func() { _ = p.Process.Kill(); _ = p.Wait() })
	if !p.waitForURL() {
		t.Fatalf("serve did not come up:\n%s", p.stderr)
	}

	if !strings.Contains(p.stderr.String(), "baoco may open only 128 files") {
		t.Errorf("it says nothing of too few files\n%s", p.stderr)
	}
	if checks := do(t, in.dir, "doctor"); !strings.Contains(checks, "baoco may open only 128 files") {
		t.Errorf("doctor says nothing of them\n%s", checks)
	}
	calls := in.provider(p.url)
	var idle []net.Conn
	for i := range 1100 {
		conn, err := net.Dial("tcp", p.address())
		must(t, err)
		idle = append(idle, conn)
		_, err = io.WriteString(conn, "GET /healthz HTTP/1.1\r\n") // the rest never comes
		must(t, err)
		if i%100 == 99 {
			eventually(t, "a call is taken", func() bool { return calls.call(fmt.Sprint("call-", i)) })
		}
	}
	eventually(t, "everything is delivered", func() bool { return len(receiver.received()) >= len(calls.acknowledged()) })
	if p.readiness() != http.StatusOK || strings.Contains(p.stderr.String(), "too many open files") {
		t.Errorf("ready: %d; it logged\n%s", p.readiness(), p.stderr)
	}
	for _, conn := range idle {
		conn.Close()
	}
	p.end(t)
	if history := do(t, in.dir, "delivery", "list", "--status", "0", "-o", "json"); strings.TrimSpace(history) != "[]" {
		t.Errorf("attempts failed: %s", history)
	}
	checkLedger(t, in.db, calls.acknowledged())
}

// Pages that anybody may open, and that stay open, take the connections of nobody: calls
// are taken where more pages are open than there are connections.
func TestManyPaymentPages(t *testing.T) {
	t.Parallel()
	in := install(t, openShop(t))
	w := apptest.Open(t, in.db, services.Config{})
	w.CodePattern("DH")
	var paths []string
	for range 8 {
		paths = append(paths, w.PaymentRequest(payment.RequestCreate{Amount: 50000}).URLPath())
	}
	w.Close()
	cmd := program(in.dir, "serve", "--listen", anyPort)
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `ulimit -n 128 && exec "$0" "$@"`}, cmd.Args...)
	p := startAs(t, cmd)
	if !p.waitForURL() {
		t.Fatalf("serve did not come up:\n%s", p.stderr)
	}
	open := 0
	for i := range 64 {
		conn, err := net.Dial("tcp", p.address())
		must(t, err)
		defer conn.Close()
		must(t, conn.SetDeadline(time.Now().Add(5*time.Second)))
		_, err = fmt.Fprintf(conn, "GET %s/live HTTP/1.1\r\nHost: shop\r\n\r\n", paths[i%len(paths)])
		must(t, err)
		if answer, err := bufio.NewReader(conn).ReadString('\n'); err == nil && strings.Contains(answer, " 200 ") {
			open++
		}
	}
	if open == 0 {
		t.Error("no page was opened")
	}
	client := in.provider(p.url)
	for i := range 5 {
		if !client.call(fmt.Sprint("FT", i)) {
			t.Errorf("call %d was not taken, with %d pages open", i, open)
		}
	}
	p.end(t)
}

// limitFiles lowers the number of files that a process may have open.
func limitFiles(t *testing.T, pid, files int) {
	t.Helper()
	limit := syscall.Rlimit{Cur: uint64(files), Max: uint64(files)}
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), syscall.RLIMIT_NOFILE, uintptr(unsafe.Pointer(&limit)),
		0, 0, 0); errno != 0 {
		t.Skipf("may not limit another process: %v", errno)
	}
}
