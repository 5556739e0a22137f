package acceptance_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"baoco/app/command/serve"
	"baoco/app/command/terminal"
	"baoco/app/replica"
)

// lost is the copy of a server that was lost ten minutes ago, with what it acknowledged.
func lost(t *testing.T) (r *replicated, acked []string) {
	t.Helper()
	receiver := openShop(t)
	r = replicate(t, install(t, receiver), replica.File, "--allow-target", receiver.target())
	calls := r.provider(r.server.url)
	for i := range 20 {
		calls.call(fmt.Sprint("FT", i))
	}
	eventually(t, "all is delivered", func() bool { return receiver.calls.Load() == 20 })
	eventually(t, "the copy has all of it", func() bool {
		code, c := r.checked(t)
		return code == 0 && c.Transactions == 20 && c.BehindSeconds == 0
	})
	r.kill(t)
	r.age(t)
	return r, calls.acknowledged()
}

// age has the copy be older than that of a server that may live.
func (r *replicated) age(t *testing.T) {
	t.Helper()
	must(t, filepath.WalkDir(r.place, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && strings.Contains(path, "epoch-") {
			err = os.Chtimes(path, time.Now(), time.Now().Add(-10*time.Minute))
		}
		return err
	}))
}

// A takeover that is killed at any moment has changed nothing, or keeps the server from
// starting; run again it ends well.
func TestTakeoverKilled(t *testing.T) {
	t.Parallel()
	r, acked := lost(t)
	_, took := r.takeOver(t)
	ended := map[string]int{}
	for range rounds(3, 30) {
		dir := t.TempDir()
		db := filepath.Join(dir, "baoco.db")
		victim := program(dir, r.takeOverArgs(t)...)
		must(t, victim.Start())
		time.Sleep(time.Duration(rand.Int64N(int64(took)))) // the kill comes at any moment of the takeover
		_ = victim.Process.Kill()
		_ = victim.Wait()
		_, noDB := os.Stat(db)
		_, unfinished := os.Stat(db + ".taking-over")
		_, noConfig := os.Stat(replica.ConfigPath(db))
		switch {
		case victim.ProcessState.Success():
			ended["by itself"]++
		case unfinished == nil:
			ended["unfinished"]++
			p := startIn(t, dir, anyPort, r.args...)
			if code := p.exitWithin(t, 30*time.Second); code != terminal.ExitDatabase ||
				!strings.Contains(p.stderr.String(), "run baoco takeover again") {
				t.Fatalf("after an interrupted takeover: exit %d\n%s", code, p.stderr)
			}
		case noDB != nil && noConfig != nil:
			ended["before any change"]++
		default:
			t.Fatalf("the database: %v, the configuration: %v", noDB, noConfig)
		}
		r.age(t)
		doIn(t, dir, append(r.takeOverArgs(t), "--force")...)
		p := serveIn(t, dir, anyPort, r.args...)
		p.end(t)
		checkLedger(t, db, acked)
		if left, err := filepath.Glob(filepath.Join(dir, "*taking-over*")); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
	t.Logf("killed within %v: %v", took.Round(time.Millisecond), ended)
}

// Of several machines that take over at the same time one serves.
func TestTakeoversAtOnce(t *testing.T) {
	t.Parallel()
	r, _ := lost(t)
	var running sync.WaitGroup
	dirs := make([]string, 4)
	for i := range dirs {
		dir := t.TempDir()
		running.Go(func() {
			cmd := program(dir, r.takeOverArgs(t)...)
			out, err := cmd.CombinedOutput()
			switch {
			case err == nil:
				dirs[i] = dir
			case cmd.ProcessState.ExitCode() != terminal.ExitConflict:
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	running.Wait()
	var servers []*process
	for _, dir := range dirs {
		if dir != "" { // it has an epoch, and perhaps not the last
			servers = append(servers, startIn(t, dir, anyPort, r.args...))
		}
	}
	if len(servers) == 0 {
		t.Fatal("nobody took over")
	}
	shut := func(p *process) bool { return strings.Contains(p.stderr.String(), "another server took over") }
	eventually(t, "all but one shut", func() bool {
		servers = slices.DeleteFunc(servers, func(p *process) bool {
			if !shut(p) {
				return false
			}
			if code := p.exitWithin(t, 30*time.Second); code != terminal.ExitConflict {
				t.Errorf("exit %d\n%s", code, p.stderr)
			}
			return true
		})
		return len(servers) < 2
	})
	if len(servers) == 0 || !servers[0].waitForURL() {
		t.Fatal("none of them serves")
	}
	time.Sleep(serve.FenceTime) // the last one looks too, and must not shut
	if shut(servers[0]) || servers[0].readiness() == 0 {
		t.Errorf("the last one serves no more:\n%s", servers[0].stderr)
	}
}

// A copy that can't be served is refused before the epoch is taken, and so is a place that
// is too small for it. A database behind a link is taken over as any.
func TestTakeoverOfOddCopies(t *testing.T) {
	t.Parallel()
	r, acked := lost(t)
	refused := func(what, dir, says string) {
		t.Helper()
		cmd := program(dir, r.takeOverArgs(t)...)
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != terminal.ExitDatabase || !strings.Contains(string(out), says) ||
			strings.Contains(string(out), "This machine has epoch") {
			t.Errorf("%s: %v\n%s", what, err, out)
		}
		if left, err := filepath.Glob(filepath.Join(dir, "*taking-over*")); err != nil || len(left) > 0 {
			t.Errorf("%s: left behind: %v, %v", what, left, err)
		}
	}
	info, err := os.Stat(r.db)
	must(t, err)
	for size, says := range map[int64]string{200 << 10: "no space left", info.Size() + 500<<10: "MB are needed"} {
		small := t.TempDir()
		if err := syscall.Mount("tmpfs", small, "tmpfs", 0, fmt.Sprint("size=", size)); err == nil {
			refused(fmt.Sprint("a disk of ", size, " bytes"), small, says)
			must(t, syscall.Unmount(small, syscall.MNT_DETACH)) // as mountDisk unmounts
		}
	}
	for statement, says := range map[string]string{
		`PRAGMA user_version = 99`:  "newer",
		`PRAGMA application_id = 7`: "another program",
	} {
		was := r.alter(t, statement)
		refused(statement, t.TempDir(), says)
		r.alter(t, was)
	}

	real, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(real, link))
	r.age(t)
	doIn(t, link, append(r.takeOverArgs(t), "--db", filepath.Join(link, "baoco.db"))...)
	if c, err := replica.ReadConfig(filepath.Join(link, "baoco.db")); err != nil || c.Epoch != 2 {
		t.Errorf("the configuration behind a link: %+v, %v", c, err)
	}
	serveIn(t, link, anyPort, append(r.args, "--db", filepath.Join(link, "baoco.db"))...).end(t)
	checkLedger(t, filepath.Join(real, "baoco.db"), acked)
}

// A second takeover from the same copy needs to be forced, since another machine may have
// served, also where that has the same name. Its ids are beyond those of that machine.
func TestTakeoverTwice(t *testing.T) {
	t.Parallel()
	r, _ := lost(t)
	added := func(dir string) int64 {
		var transaction struct {
			ID string `json:"id"`
		}
		must(t, json.Unmarshal([]byte(do(t, dir, "transaction", "add", "--amount", "5000", "--content", "DH", "-o", "json")), &transaction))
		id, err := strconv.ParseInt(transaction.ID, 10, 64)
		must(t, err)
		return id
	}
	first, dir := t.TempDir(), t.TempDir()
	doIn(t, first, r.takeOverArgs(t)...)
	r.age(t)
	again := program(dir, r.takeOverArgs(t)...)
	if out, err := again.CombinedOutput(); err == nil || again.ProcessState.ExitCode() != terminal.ExitConflict ||
		!strings.Contains(string(out), "add --force") {
		t.Errorf("%v\n%s", err, out)
	}
	doIn(t, dir, append(r.takeOverArgs(t), "--force")...)
	if of, beyond := added(first), added(dir); beyond < of+1e6 {
		t.Errorf("the first machine gave id %d, and the second %d", of, beyond)
	}
	must(t, os.WriteFile(filepath.Join(r.place, "epochs", "999999.json"), nil, 0o600))
	last := program(t.TempDir(), append(r.takeOverArgs(t), "--force")...)
	if out, err := last.CombinedOutput(); err == nil || last.ProcessState.ExitCode() != terminal.ExitConflict ||
		!strings.Contains(string(out), "and remove it") {
		t.Errorf("%v\n%s", err, out)
	}
}

// alter changes the lost database by a statement, and has Litestream copy that. It gives
// the statement that undoes it.
func (r *replicated) alter(t *testing.T, statement string) (undo string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+r.db)
	must(t, err)
	name, _, _ := strings.Cut(strings.TrimPrefix(statement, "PRAGMA "), " ")
	var before int
	must(t, db.QueryRow("PRAGMA "+name).Scan(&before))
	_, err = db.Exec(statement)
	must(t, err)
	must(t, db.Close())
	had, err := replica.CopyOf(t.Context(), r.objects, r.config.Epoch)
	must(t, err)
	litestream := startLitestream(t, r.config)
	eventually(t, "Litestream has begun", func() bool {
		has, err := replica.CopyOf(t.Context(), r.objects, r.config.Epoch)
		return err == nil && has.Objects > had.Objects
	})
	must(t, litestream.Process.Signal(syscall.SIGTERM))
	_ = litestream.Wait()
	r.age(t)
	return fmt.Sprintf("PRAGMA %s = %d", name, before)
}
