package acceptance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"baoco/app/apptest"
	"baoco/app/command/terminal"
	"baoco/sqlitestore"
)

// loaded makes a database with some transactions, and a backup of it, after
// which more came in. The last of them is only in the log, as a kill leaves it.
func loaded(t *testing.T) (in installation, backup string) {
	t.Helper()
	receiver := openShop(t)
	in = install(t, receiver)
	for i := range 3 {
		do(t, in.dir, "transaction", "add", "--amount", "1000", "--transaction-number", fmt.Sprint("then-", i))
	}
	backup = filepath.Join(t.TempDir(), "backup.db")
	do(t, in.dir, "backup", backup)
	p := serveIn(t, in.dir, anyPort)
	if !in.provider(p.url).call("now") {
		t.Fatal("the call was not acknowledged")
	}
	must(t, p.Process.Kill())
	_ = p.Wait()
	return in, backup
}

// numbers lists the transactions of a database in an ordinary directory, which
// is checked whole.
func numbers(t *testing.T, db string) string {
	t.Helper()
	store, err := sqlitestore.Open(context.Background(), db, sqlitestore.Options{Serve: true})
	must(t, err)
	defer store.Close()
	var list []string
	for number := range readLedger(t, store) {
		list = append(list, number)
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

const (
	numbersThen = "then-0 then-1 then-2"
	numbersNow  = "now then-0 then-1 then-2"
)

// onDisk runs a command that changes a disk, and kills it at its k-th change; 0
// lets it live. It gives the changes that were made, and each is told first.
func onDisk(t *testing.T, d *disk, k int64, each func(op diskOp), args ...string) int64 {
	t.Helper()
	before := d.ops.Load()
	cmd := program(t.TempDir(), args...)
	var started sync.Mutex
	started.Lock()
	d.setFault(func(op diskOp) syscall.Errno {
		if op.n == 0 {
			return 0
		}
		if each != nil {
			each(op)
		}
		if k == 0 || op.n-before < k {
			return 0
		}
		started.Lock()
		defer started.Unlock()
		_ = cmd.Process.Kill()
		return syscall.EIO
	})
	output := &apptest.Output{}
	cmd.Stderr = output
	must(t, cmd.Start())
	started.Unlock()
	err := cmd.Wait()
	d.setFault(nil)
	if k == 0 && err != nil {
		t.Fatalf("baoco %s: %v\n%s", strings.Join(args, " "), err, output)
	}
	return d.ops.Load() - before
}

// contents is what programs see on a disk.
func (d *disk) contents() map[string][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	image := map[string][]byte{}
	for name, f := range d.names {
		image[name] = slices.Clone(f.data)
	}
	return image
}

// A backup that is killed at any change of its target leaves nothing under its
// name, or a whole copy; the next removes what was left and works.
func TestKillWhileBackingUp(t *testing.T) {
	t.Parallel()
	in, _ := loaded(t)
	numbers(t, in.db) // recovers it
	backUp := func(dir string) []string {
		return []string{"backup", filepath.Join(dir, "b.db"), "--force", "--db", in.db}
	}
	d := newDisk()
	changes := onDisk(t, d, 0, nil, backUp(d.mount(t))...)
	kills := sample(rounds(2, 40), int(changes))
	named := 0
	for _, i := range kills {
		d := newDisk()
		dir := d.mount(t)
		onDisk(t, d, int64(i)+1, nil, backUp(dir)...)
		if image := d.contents(); image["b.db"] != nil {
			named++
			if got := numbers(t, filepath.Join(save(t, image), "b.db")); got != numbersNow {
				t.Fatalf("a kill at change %d of %d left a backup with %s", i+1, changes, got)
			}
		}
		onDisk(t, d, 0, nil, backUp(dir)...)
		image := d.contents()
		if got := numbers(t, filepath.Join(save(t, image), "b.db")); got != numbersNow || len(image) != 2 {
			t.Fatalf("after a kill at change %d of %d: %d files, with %s", i+1, changes, len(image), got)
		}
	}
	t.Logf("%d kills at %d changes; the name was given in %d", len(kills), changes, named)
}

// An error of the target's disk at any change leaves nothing there.
func TestBackupToFailingDisk(t *testing.T) {
	t.Parallel()
	in, _ := loaded(t)
	numbers(t, in.db)
	d := newDisk()
	changes := onDisk(t, d, 0, nil, "backup", filepath.Join(d.mount(t), "b.db"), "--db", in.db)
	for _, i := range sample(rounds(2, 20), int(changes)) {
		for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EIO} {
			d := newDisk()
			dir := d.mount(t)
			d.setFault(func(op diskOp) syscall.Errno {
				if op.n > int64(i) && (op.kind == opWrite || op.kind == opSync || op.kind == opTruncate) {
					return errno
				}
				return 0
			})
			output := &apptest.Output{}
			cmd := program(t.TempDir(), "backup", filepath.Join(dir, "b.db"), "--db", in.db)
			cmd.Stderr = output
			_ = cmd.Run()
			d.setFault(nil)
			image := d.contents()
			code := cmd.ProcessState.ExitCode()
			// What fails after the last write fails nothing.
			if code == terminal.ExitOK && image["b.db"] != nil {
				continue
			}
			if delete(image, "b.db.key"); code != terminal.ExitDatabase || len(image) != 0 || strings.Count(output.String(), "\n") != 1 {
				t.Errorf("%v from change %d of %d on: exit %d, left %v\n%s", errno, i+1, changes, code, slices.Collect(maps.Keys(image)), output)
			}
		}
	}
}

// A disk that is too small for the backup is left as it is.
func TestBackupToFullDisk(t *testing.T) {
	t.Parallel()
	in, _ := loaded(t)
	dir := filepath.Join(t.TempDir(), "small")
	must(t, os.Mkdir(dir, 0o700))
	mountDisk(t, dir, "128k")
	code, stdout, stderr := baoco("", "backup", filepath.Join(dir, "b.db"), "--db", in.db)
	if code != terminal.ExitDatabase || stdout != "" || !strings.Contains(stderr, "not enough room") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	if image := readImage(t, dir); len(image) != 0 {
		t.Errorf("%d files are left", len(image))
	}
}

// A restore that is killed at any change, or cut off from power there, leaves
// the database that was or the one that is restored, whole; a second one
// finishes, and what was is still there.
func TestKillWhileRestoring(t *testing.T) {
	t.Parallel()
	in, backup := loaded(t)
	old := readImage(t, in.dir)
	delete(old, "baoco.db-shm") // which no power cut leaves
	restore := func(dir string) []string { return []string{"restore", backup, "--db", filepath.Join(dir, "baoco.db")} }
	d := newDisk()
	d.load(old)
	changes := onDisk(t, d, 0, nil, restore(d.mount(t))...)
	check := func(what string, image map[string][]byte) {
		t.Helper()
		got := numbers(t, filepath.Join(save(t, image), "baoco.db")) // whatever comes next: here a server
		if got != numbersNow && got != numbersThen {
			t.Fatalf("%s: it holds %s", what, got)
		}
		// A second restore, and then the old one is still somewhere.
		dir := save(t, image)
		do(t, dir, "restore", backup)
		if got := numbers(t, filepath.Join(dir, "baoco.db")); got != numbersThen {
			t.Fatalf("%s, restored again: it holds %s", what, got)
		}
		kept := false
		for name := range readImage(t, dir) {
			if strings.Contains(name, ".before-restore-") && !strings.HasSuffix(name, ".key") && !strings.HasSuffix(name, "-wal") &&
				!strings.HasSuffix(name, "-shm") && !strings.HasSuffix(name, ".lock") {
				kept = kept || numbers(t, filepath.Join(dir, name)) == numbersNow
			}
			if strings.Contains(name, ".restoring-") || strings.Contains(name, ".to-restore") {
				t.Fatalf("%s: %s is left", what, name)
			}
		}
		if !kept {
			t.Fatalf("%s: what was is gone", what)
		}
	}
	kills := sample(rounds(2, 30), int(changes))
	for _, i := range kills {
		d := newDisk()
		d.load(old)
		onDisk(t, d, int64(i)+1, nil, restore(d.mount(t))...)
		check(fmt.Sprintf("a kill at change %d of %d", i+1, changes), d.contents())
	}
	cuts, of := cutsWhile(t, rounds(2, 30), old, func(dir string) { doIn(t, t.TempDir(), restore(dir)...) }, 0, 0.5, 0.9)
	for i, c := range cuts {
		check(fmt.Sprintf("a power cut, %d of %d, before %+v", i, len(cuts), c.op), c.image)
	}
	t.Logf("%d kills at %d changes, %d power cuts of %d", len(kills), changes, len(cuts), of)
}

// Backups under load restore, each with all that was acknowledged before it.
func TestBackupUnderLoad(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	in := install(t, receiver)
	p := serveIn(t, in.dir, anyPort, "--allow-target", receiver.target())
	calls := in.provider(p.url)
	stop := calls.underLoad(4)
	type copied struct {
		dir   string
		acked []string
	}
	var copies []copied
	for range rounds(2, 5) {
		before := len(calls.acknowledged())
		eventually(t, "something has come in", func() bool { return len(calls.acknowledged()) > before })
		c := copied{t.TempDir(), calls.acknowledged()}
		var made struct{ Transactions int64 }
		must(t, json.Unmarshal([]byte(do(t, in.dir, "backup", filepath.Join(c.dir, "b.db"), "-o", "json")), &made))
		if made.Transactions < int64(len(c.acked)) {
			t.Errorf("%d transactions in the copy, %d were acknowledged before", made.Transactions, len(c.acked))
		}
		copies = append(copies, c)
	}
	stop()
	p.end(t)
	for _, c := range copies {
		doIn(t, c.dir, "restore", "b.db", "--db", "restored.db")
		store, err := sqlitestore.Open(context.Background(), filepath.Join(c.dir, "restored.db"), sqlitestore.Options{Serve: true})
		must(t, err)
		recorded := readLedger(t, store)
		must(t, store.Close())
		for _, number := range c.acked {
			if recorded[number] != 1 {
				t.Errorf("%s was acknowledged before the backup, which holds it %d times", number, recorded[number])
			}
		}
	}
	checkLedger(t, in.db, calls.acknowledged())
	for status := range calls.refusals {
		if n := calls.refusals[status].Load(); n > 0 {
			t.Errorf("%d calls were answered %d beside the backups", n, status)
		}
	}
}
