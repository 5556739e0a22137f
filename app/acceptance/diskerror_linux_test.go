package acceptance_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/command/terminal"
)

// diskError is what a disk answers to some of the operations on one file.
type diskError struct {
	kind   opKind
	file   string
	errno  syscall.Errno
	always bool  // from the n-th on
	n      int64 // counted under load
}

func (e diskError) String() string {
	often := "once"
	if e.always {
		often = "always"
	}
	name := map[syscall.Errno]string{syscall.EIO: "EIO", syscall.ENOSPC: "ENOSPC"}[e.errno]
	return fmt.Sprintf("%s at %s %d of %s, %s", name, e.kind, e.n, e.file, often)
}

// wholeWrite tells SQLite's own writes, of a header of the log or of a frame and
// of a page, from those that the kernel made two of. When the second of these
// fails the program sees a short write, does the rest again, and no error.
func wholeWrite(size int) bool { return size == 24 || size == 32 || size == 4096 }

// fault is the error as a disk's. What a failed sync should have written never
// reaches the disk, whatever is synced later: so it is with Linux.
func (e diskError) fault(d *disk, met *atomic.Int64) func(diskOp) syscall.Errno {
	var seen atomic.Int64
	return func(op diskOp) syscall.Errno {
		if op.kind != e.kind || op.file != e.file || op.kind == opWrite && !wholeWrite(op.size) {
			return 0
		}
		if n := seen.Add(1); n < e.n || n > e.n && !e.always {
			return 0
		}
		met.Add(1)
		if e.kind == opSync {
			d.loseUnsynced(op.file)
		}
		return e.errno
	}
}

// TestDiskErrors has a server meet I/O errors and a full disk under load, at
// the n-th operation of each kind. On an I/O error it answers 503 and ends
// with a message and exit code 4; on a full disk it stays and recovers. There
// is never a panic, and after a power cut later on still nothing is lost.
func TestDiskErrors(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	in := install(t, receiver)
	steps := int64(rounds(1, 2))
	for step := range steps {
		n := 1 + step*7
		for _, e := range []diskError{
			{kind: opSync, file: "baoco.db-wal", errno: syscall.EIO, n: n},
			{kind: opSync, file: "baoco.db-wal", errno: syscall.EIO, n: n, always: true},
			{kind: opWrite, file: "baoco.db-wal", errno: syscall.EIO, n: 1 + step*13},
			{kind: opWrite, file: "baoco.db-wal", errno: syscall.EIO, n: 2 + step*13, always: true},
			{kind: opWrite, file: "baoco.db-wal", errno: syscall.ENOSPC, n: 1 + step*13},
			{kind: opWrite, file: "baoco.db-wal", errno: syscall.ENOSPC, n: 2 + step*13, always: true},
			{kind: opSync, file: "baoco.db", errno: syscall.EIO, n: 1 + step%2},
			{kind: opWrite, file: "baoco.db", errno: syscall.EIO, n: n},
			{kind: opWrite, file: "baoco.db", errno: syscall.ENOSPC, n: n},
		} {
			if !apptest.Full() && e.file == "baoco.db" {
				continue // takes many writes
			}
			t.Run(e.String(), func(t *testing.T) { meetDiskError(t, in, receiver, e) })
		}
	}
}

// The same where only the database file fails, and goes on to: what is in the
// log must never be given up for it.
func TestDiskErrorsOfCheckpoints(t *testing.T) {
	t.Parallel()
	proof(t)
	receiver := openShop(t)
	in := install(t, receiver)
	faults := []diskError{
		{kind: opWrite, file: "baoco.db", errno: syscall.EIO, n: 1, always: true},
		{kind: opSync, file: "baoco.db", errno: syscall.EIO, n: 1, always: true},
		{kind: opWrite, file: "baoco.db", errno: syscall.ENOSPC, n: 1, always: true},
	}
	for _, e := range faults[:min(rounds(1, 1), len(faults))] {
		t.Run(e.String(), func(t *testing.T) { meetDiskError(t, in, receiver, e) })
	}
}

func meetDiskError(t *testing.T, in installation, receiver *shop, e diskError) {
	receiver.forget()
	d := newDisk()
	d.load(readImage(t, in.dir))
	db := filepath.Join(d.mount(t), "baoco.db")
	p := serveIn(t, in.dir, anyPort, "--db", db, "--allow-target", receiver.target())
	calls := in.provider(p.url)
	stop := calls.underLoad(4)
	var met atomic.Int64
	d.setFault(e.fault(d, &met))
	eventually(t, "the disk fails", func() bool { return met.Load() > 0 })

	if e.errno == syscall.EIO {
		if code := p.exitWithin(t, 5*time.Second); code != terminal.ExitDatabase || !strings.Contains(p.stderr.String(), "the database failed") {
			t.Errorf("exit %d\n%s", code, p.stderr)
		}
		d.setFault(nil)
		p = serveIn(t, in.dir, p.address(), "--db", db, "--allow-target", receiver.target())
	} else if e.always {
		eventually(t, "readiness fails", func() bool { return p.readiness() == http.StatusServiceUnavailable })
		d.setFault(nil)
	}
	before := len(calls.acknowledged())
	eventually(t, "calls are taken again", func() bool { return len(calls.acknowledged()) > before+50 })
	eventually(t, "it is ready again", func() bool { return p.readiness() == http.StatusOK })
	i := image{chance: 0.5, acked: calls.acknowledged()}
	i.files = d.cut(i.chance)
	i.received = receiver.received()
	stop()
	p.end(t)
	if output := p.stderr.String(); strings.Contains(output, "panic") || strings.Contains(output, "goroutine ") {
		t.Errorf("a panic:\n%s", output)
	}
	for code := range calls.refusals {
		if n := calls.refusals[code].Load(); n > 0 && code != http.StatusServiceUnavailable {
			t.Errorf("%d calls were answered %d", n, code)
		}
	}
	t.Logf("%d acknowledged, %d answered 503", len(i.acked), calls.refusals[http.StatusServiceUnavailable].Load())
	checkImage(t, in, receiver, i)
}
