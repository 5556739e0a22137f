package acceptance_test

import (
	"net"
	"net/http"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"baoco/app/apptest"
)

// serveNotifying starts serve as systemd does, with a watchdog that wants a sign of
// life in a given time, and gives what the server tells systemd.
func serveNotifying(t *testing.T, watchdog string, args ...string) (*process, <-chan string) {
	t.Helper()
	path := filepath.Join(apptest.SocketDir(t), "s")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	must(t, err)
	t.Cleanup(func() { _ = socket.Close() })
	told := make(chan string, 1<<10)
	go func() {
		defer close(told)
		for text := make([]byte, 100); ; {
			n, err := socket.Read(text)
			if err != nil {
				return
			}
			told <- string(text[:n])
		}
	}()
	cmd := program(t.TempDir(), append([]string{"serve", "--listen", anyPort}, args...)...)
	cmd.Env = append(cmd.Env, "NOTIFY_SOCKET="+path, "WATCHDOG_USEC="+watchdog)
	return startAs(t, cmd), told
}

// hear waits for the next thing that systemd is told.
func hear(t *testing.T, told <-chan string, within time.Duration) string {
	t.Helper()
	select {
	case text := <-told:
		return text
	case <-time.After(within):
		return "nothing"
	}
}

// Systemd is told that the server is ready once it answers, gets signs of life
// while it works, and is told that it stops.
func TestNotify(t *testing.T) {
	t.Parallel()
	p, told := serveNotifying(t, "200000")
	if got := hear(t, told, time.Minute); got != "READY=1" {
		t.Fatalf("first systemd is told %q\n%s", got, p.stderr)
	}
	if !p.waitForURL() || p.readiness() != http.StatusOK {
		t.Errorf("it is ready and answers %d", p.readiness())
	}
	for range 5 {
		if got := hear(t, told, time.Minute); got != "WATCHDOG=1" {
			t.Fatalf("then %q, want a sign of life", got)
		}
	}
	p.end(t)
	for got := ""; got != "STOPPING=1"; {
		if got = hear(t, told, time.Minute); got != "WATCHDOG=1" && got != "STOPPING=1" {
			t.Fatalf("at the stop %q", got)
		}
	}
}

// While the disk lets nothing pass, the writer hangs and systemd gets no sign of
// life. On a full disk it gets them: another start would not make room.
func TestNoSignOfLife(t *testing.T) {
	if !apptest.Full() {
		t.Skip("needs BAOCO_FULL=1: a hang is one after half a minute")
	}
	t.Parallel()
	d := newDisk()
	p, told := serveNotifying(t, "1000000", "--db", filepath.Join(d.mount(t), "baoco.db"))
	if !p.waitForURL() {
		t.Fatalf("serve did not come up:\n%s", p.stderr)
	}
	silence := func(within time.Duration) bool {
		for {
			switch got := hear(t, told, within); got {
			case "nothing":
				return true
			case "READY=1":
			default:
				return false
			}
		}
	}
	write := func() { // the reason for which a call is refused is kept
		response, err := http.Post(p.url+"/api/webhooks/provider/unknown", "application/json", nil)
		must(t, err)
		must(t, response.Body.Close())
	}
	d.setFault(func(op diskOp) syscall.Errno {
		if op.kind == opWrite {
			return syscall.ENOSPC
		}
		return 0
	})
	write()
	for full := time.Now(); time.Since(full) < 40*time.Second; {
		if silence(10 * time.Second) {
			t.Fatalf("on a full disk systemd gets no sign of life\n%s", p.stderr)
		}
	}
	stalled := make(chan struct{})
	d.setFault(func(diskOp) syscall.Errno { <-stalled; return 0 })
	write()
	eventually(t, "the signs of life end", func() bool { return silence(5 * time.Second) })
	d.setFault(nil)
	close(stalled)
	eventually(t, "they come again", func() bool { return !silence(time.Second) })
}
