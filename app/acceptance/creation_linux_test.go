package acceptance_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// The first serve is killed at the k-th change of its files, all k in a long
// run: there is no database then or a whole one, and the next serve works.
func TestKillWhileCreating(t *testing.T) {
	t.Parallel()
	whole := newDisk()
	serveIn(t, t.TempDir(), anyPort, "--db", filepath.Join(whole.mount(t), "baoco.db"))
	changes := whole.ops.Load()
	kills := sample(rounds(2, 40), int(changes))
	for _, i := range kills {
		k := int64(i) + 1
		d, dir := newDisk(), t.TempDir()
		db := filepath.Join(d.mount(t), "baoco.db")
		var p *process
		var started sync.Mutex
		d.setFault(func(op diskOp) syscall.Errno {
			if op.n < k {
				return 0
			}
			started.Lock()
			defer started.Unlock()
			_ = p.Process.Kill()
			return syscall.EIO // of no consequence: nobody is left to read it
		})
		started.Lock()
		p = startIn(t, dir, anyPort, "--db", db)
		started.Unlock()
		_ = p.Wait()
		d.setFault(nil)
		works(t, dir, db)
		if t.Failed() {
			t.Fatalf("after a kill at change %d of %d", k, changes)
		}
	}
	t.Logf("%d kills at %d changes", len(kills), changes)
}

// The same with the power cut there, which leaves any part of what was not
// synced.
func TestPowerCutWhileCreating(t *testing.T) {
	t.Parallel()
	proof(t)
	cuts, of := cutsWhile(t, rounds(2, 40), nil, func(dir string) {
		serveIn(t, t.TempDir(), anyPort, "--db", filepath.Join(dir, "baoco.db"))
	}, 0, 0.5, 0.9)
	for i, c := range cuts {
		dir := save(t, c.image)
		works(t, dir, filepath.Join(dir, "baoco.db"))
		if t.Failed() {
			t.Fatalf("after a power cut, %d of %d, before %+v", i, len(cuts), c.op)
		}
	}
	t.Logf("%d cuts of %d", len(cuts), of)
}

// works has a server start on a database, or make it, and do something.
func works(t *testing.T, dir, db string) {
	t.Helper()
	p := serveIn(t, dir, anyPort, "--db", db)
	doIn(t, dir, "bank", "link", "--db", db, "--bank", "ACB", "--number", "19354957", "--name", "A")
	key := strings.TrimSpace(doIn(t, dir, "apikey", "create", "k", "--db", db))
	if got := status(t, p.url+"/api/v1/bank-accounts", key); got != http.StatusOK {
		t.Errorf("the API answers %d", got)
	}
	p.end(t)
}
