package acceptance_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"baoco/app/apptest"
)

// The disk stalls for longer than a request may wait: the health check answers
// at once all the while, calls and requests are answered by their deadline,
// with neither threads nor memory piling up, and afterwards all goes on.
func TestDiskStall(t *testing.T) {
	if !apptest.Full() {
		t.Skip("needs BAOCO_FULL=1, and the machine alone: it measures how soon answers come")
	}
	const stall, deadline = 11 * time.Second, 10 * time.Second
	receiver := openShop(t)
	in := install(t, receiver)
	d := newDisk()
	d.load(readImage(t, in.dir))
	db := filepath.Join(d.mount(t), "baoco.db")
	p := serveIn(t, in.dir, anyPort, "--db", db, "--allow-target", receiver.target(), "--rate-limit", "100000",
		"--listing-rate-limit", "100000")
	calls := in.provider(p.url)
	stop := calls.underLoad(4)
	eventually(t, "the load is on", func() bool { return len(calls.acknowledged()) > 200 })

	stalled := make(chan struct{})
	d.setFault(func(diskOp) syscall.Errno { <-stalled; return 0 })
	began := time.Now()
	release := time.AfterFunc(stall, func() { d.setFault(nil); close(stalled) })
	defer release.Stop()
	var waiting sync.WaitGroup
	var unavailable, late atomic.Int64
	for i := range 200 {
		waiting.Go(func() {
			asked := time.Now()
			if i%2 == 0 {
				calls.call(fmt.Sprint("stalled-", i))
			} else if got := status(t, p.url+"/api/v1/transactions", in.key); got == http.StatusServiceUnavailable {
				unavailable.Add(1)
			} else if got != http.StatusOK {
				t.Errorf("the API answers %d", got)
			}
			if took := time.Since(asked); took > deadline+800*time.Millisecond {
				late.Add(1)
				if i%2 == 0 {
					t.Errorf("a call is answered after %v", took)
				}
			}
		})
	}
	var slowest, unready time.Duration // unready: when it was first seen
	threads := 0
	for time.Since(began) < stall {
		asked := time.Now()
		response, err := http.Get(p.url + "/healthz")
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("the health check fails: %v", err)
		}
		response.Body.Close()
		slowest = max(slowest, time.Since(asked))
		threads = max(threads, threadsOf(t, p.Process.Pid))
		if unready == 0 && p.readiness() == http.StatusServiceUnavailable {
			unready = time.Since(began)
		}
		time.Sleep(20 * time.Millisecond) // between two looks, while the disk stalls
	}
	waiting.Wait()
	before := len(calls.acknowledged())
	eventually(t, "it is ready again", func() bool { return p.readiness() == http.StatusOK })
	eventually(t, "calls are taken again", func() bool { return len(calls.acknowledged()) > before+50 })
	stop()
	t.Logf("health check at most %v, not ready after %v, %d threads, %d calls and %d requests answered 503, %d MB", slowest, unready, threads,
		calls.refusals[http.StatusServiceUnavailable].Load(), unavailable.Load(), residentMB(t, p.Process.Pid))
	// What reads at that moment can't be interrupted: one request for each
	// connection that reads.
	if late.Load() > 4 {
		t.Errorf("%d answers after their deadline", late.Load())
	}
	if slowest > 200*time.Millisecond || threads > 60 || unready == 0 || unready > 7*time.Second {
		t.Error("the health check is late, threads pile up, or readiness fails late")
	}
	if calls.refusals[http.StatusServiceUnavailable].Load() == 0 {
		t.Error("no call met its deadline: the stall was too short to show anything")
	}
	p.end(t)
	i := image{chance: 0, acked: calls.acknowledged(), files: d.cut(0), received: receiver.received()}
	checkImage(t, in, receiver, i)
}

func threadsOf(t testing.TB, pid int) int {
	t.Helper()
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(tasks)
}

// While another process reads in one long transaction the log can't be taken
// into the database; service goes on, and afterwards the log shrinks.
func TestLongReader(t *testing.T) {
	t.Parallel()
	most := int64(apptest.Rounds(4, 20)) << 20
	receiver := openShop(t)
	in := install(t, receiver)
	p := serveIn(t, in.dir, anyPort, "--allow-target", receiver.target())
	calls := in.provider(p.url)
	stop := calls.underLoad(8)
	defer stop()
	eventually(t, "the load is on", func() bool { return len(calls.acknowledged()) > 50 })
	conn := openBeside(t, in.db)
	defer conn.Close()
	tx, err := conn.Begin()
	must(t, err)
	var n int
	must(t, tx.QueryRow(`SELECT count(*) FROM transactions`).Scan(&n))
	logSize := func() int64 {
		info, err := os.Stat(in.db + "-wal")
		must(t, err)
		return info.Size()
	}
	eventually(t, "the log grows beyond what it is kept to", func() bool { return logSize() > most })
	must(t, tx.Rollback())
	grown := logSize()
	eventually(t, "the log begins anew", func() bool {
		var busy, pages, done int
		must(t, conn.QueryRow(`PRAGMA wal_checkpoint`).Scan(&busy, &pages, &done))
		return pages < 4500
	})
	stop()
	for code := range calls.refusals {
		if n := calls.refusals[code].Load(); n > 0 {
			t.Errorf("%d calls were answered %d", n, code)
		}
	}
	eventually(t, "everything is delivered", func() bool { return len(receiver.received()) >= len(calls.acknowledged()) })
	p.end(t)
	checkLedger(t, in.db, calls.acknowledged())
	t.Logf("the log grew to %d MB", grown>>20)
}

// Another process holds the write lock: for 3 seconds calls wait for it, for
// longer (with BAOCO_FULL=1) they are answered 503 by their deadline; nothing is
// lost.
func TestForeignWriteLock(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	in := install(t, receiver)
	p := serveIn(t, in.dir, anyPort, "--allow-target", receiver.target())
	calls := in.provider(p.url)
	conn := openBeside(t, in.db)
	defer conn.Close()
	hold := func(long time.Duration) (release func()) {
		_, err := conn.Exec(`BEGIN IMMEDIATE`)
		must(t, err)
		over := make(chan struct{})
		time.AfterFunc(long, func() {
			defer close(over)
			_, err := conn.Exec(`ROLLBACK`)
			must(t, err)
		})
		return func() { <-over }
	}
	over := hold(3 * time.Second)
	if !calls.call("short") {
		t.Error("a call during a lock of 3 seconds is refused")
	}
	over()
	if apptest.Full() {
		over = hold(12 * time.Second)
		var waiting sync.WaitGroup
		for i := range 20 {
			waiting.Go(func() {
				asked := time.Now()
				if calls.call(fmt.Sprint("long-", i)) || time.Since(asked) > 11*time.Second {
					t.Errorf("a call during a lock of 12 seconds is taken or answered late, after %v", time.Since(asked))
				}
			})
		}
		waiting.Wait()
		over()
	}
	eventually(t, "calls are taken again", func() bool { return calls.call("long-1") })
	eventually(t, "it is ready again", func() bool { return p.readiness() == http.StatusOK })
	p.end(t)
	checkLedger(t, in.db, calls.acknowledged())
}

// The server's locks on the database belong to the open file, not to the
// process: those another open and close in the same process can't drop.
func TestLocksOfOpenFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	of := fmt.Sprint("/proc/", serveIn(t, dir, anyPort).Process.Pid)
	files, err := os.ReadDir(of + "/fd")
	must(t, err)
	var found []string
	for _, file := range files {
		if name, err := os.Readlink(filepath.Join(of, "fd", file.Name())); err != nil || name != filepath.Join(dir, "baoco.db") {
			continue
		}
		info, err := os.ReadFile(filepath.Join(of, "fdinfo", file.Name()))
		must(t, err)
		for line := range strings.Lines(string(info)) {
			if lock, is := strings.CutPrefix(line, "lock:"); is {
				found = append(found, strings.Fields(lock)[1])
			}
		}
	}
	if !slices.Contains(found, "OFDLCK") || slices.Contains(found, "POSIX") {
		t.Errorf("locks on the database: %v", found)
	}
}
