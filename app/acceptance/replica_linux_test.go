package acceptance_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/command/terminal"
	"baoco/app/replica"
)

// carrier is a Litestream that copies an installation's database into a directory.
type carrier struct {
	replica.Config
	program replica.Program
	to      string // the directory of the epoch
	cmd     *exec.Cmd
}

// carry starts Litestream beside the database of an installation.
func carry(t *testing.T, in installation) *carrier {
	t.Helper()
	program := apptest.Litestream(t)
	dir := t.TempDir()
	place, err := replica.ParsePlace("file://" + dir)
	must(t, err)
	c := &carrier{Config: replica.Config{Database: in.db, Place: place, Epoch: 1, Program: program.Path}, program: program,
		to: filepath.Join(dir, replica.EpochDir(1))}
	must(t, c.Write())
	c.start(t)
	return c
}

func (c *carrier) start(t *testing.T) {
	t.Helper()
	c.cmd = startLitestream(t, c.Config)
}

// end ends Litestream as systemd does: it copies what is left.
func (c *carrier) end(t *testing.T) {
	t.Helper()
	must(t, c.cmd.Process.Signal(syscall.SIGTERM))
	_ = c.cmd.Wait()
	if said := c.cmd.Stderr.(fmt.Stringer).String(); strings.Contains(said, "level=ERROR") {
		t.Errorf("Litestream says:\n%s", said)
	}
}

// restored is a database made of the replica, with the key beside it.
func (c *carrier) restored(t *testing.T) (db string) {
	t.Helper()
	db = filepath.Join(t.TempDir(), "restored.db")
	must(t, c.program.Restore(t.Context(), c.Config, db))
	key, err := os.ReadFile(c.Database + ".key")
	must(t, err)
	must(t, os.WriteFile(db+".key", key, 0o600))
	return db
}

// arrived are the files of single syncs that came to the place.
func (c *carrier) arrived(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(c.to, "ltx", "0"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".ltx") {
			names = append(names, e.Name())
		}
	}
	return names
}

// logSize is the size of a database's write-ahead log.
func logSize(db string) int64 {
	info, err := os.Stat(db + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}

// largestLog follows the size of a log until the function it gives is called.
func largestLog(db string) (stop func() int64) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	var most int64
	running.Go(func() {
		for ctx.Err() == nil {
			most = max(most, logSize(db))
			time.Sleep(5 * time.Millisecond) // between two looks at the size
		}
	})
	return func() int64 { cancel(); running.Wait(); return most }
}

// Under load, with Litestream killed and started again in between, the replica has all
// that was acknowledged before Litestream's end, and the log stays small as long as
// Litestream runs.
func TestReplicaUnderLoad(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	in := install(t, receiver)
	c := carry(t, in)
	p := serveIn(t, in.dir, anyPort, "--allow-target", receiver.target())
	provider := in.provider(p.url)
	follow, stop := largestLog(in.db), provider.underLoad(8)
	pause := time.Duration(rounds(1, 4)) * time.Second
	for range rounds(2, 8) {
		time.Sleep(pause) // the load goes on while Litestream carries it
		must(t, c.cmd.Process.Kill())
		_ = c.cmd.Wait()
		c.start(t)
	}
	time.Sleep(pause) // as before
	stop()
	acked, most := provider.acknowledged(), follow()
	p.end(t)
	c.end(t)
	recorded := checkLedger(t, c.restored(t), acked)
	t.Logf("%d acknowledged, %d in the replica; the log grew to %.1f MB", len(acked), len(recorded), float64(most)/1e6)
	if most > 192<<20 { // what comes in within three seconds at the most
		t.Errorf("the log grew to %d bytes", most)
	}
}

// While Litestream is away the log begins anew, and is still shorter when it comes back
// than what it had read of the one before. It knows then that it has missed something:
// in a log that begins anew inside the old file it doesn't (0.5.18).
func TestReplicaRestarts(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	in := install(t, receiver)
	c := carry(t, in)
	p := serveIn(t, in.dir, anyPort, "--allow-target", receiver.target())
	provider := in.provider(p.url)
	for i := range 30 {
		provider.call(fmt.Sprint("before-", i))
	}
	eventually(t, "Litestream has read the log", func() bool {
		before := len(c.arrived(t))
		time.Sleep(5 * litestreamEvery / 2) // Litestream must bring nothing
		return before > 0 && len(c.arrived(t)) == before
	})
	must(t, c.cmd.Process.Kill())
	_ = c.cmd.Wait()
	header, read := logHeader(t, in.db), logSize(in.db)
	for i := 0; logHeader(t, in.db) == header; i++ {
		provider.call(fmt.Sprint("meanwhile-", i))
	}
	if size := logSize(in.db); size >= read && size < 4<<20 {
		t.Fatalf("the new log has %d bytes, and Litestream had read %d of the old one", size, read)
	}
	c.start(t)
	eventually(t, "Litestream has read the new log", func() bool {
		provider.call(fmt.Sprint("after-", time.Now().UnixNano()))
		before := len(c.arrived(t))
		time.Sleep(3 * litestreamEvery / 2) // Litestream brings a file
		return len(c.arrived(t)) > before
	})
	p.end(t)
	c.end(t)
	checkLedger(t, c.restored(t), provider.acknowledged())
}

// A server that is killed while it commits leaves a commit in the log that no other process
// knows, and Litestream carries it. If Litestream ends too, as the server's unit sees to,
// whoever opens the database first finds that commit, and the copy is that of the
// database. (Else Litestream drops it at its next checkpoint, and the copy is damaged.)
func TestKilledWhileCommitting(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed: it kills the server while it commits")
	}
	receiver := openShop(t)
	r := replicate(t, install(t, receiver), replica.File, "--allow-target", receiver.target())
	calls := r.provider(r.server.url)
	for round := range rounds(1, 3) {
		many := func(list int) (acknowledged bool) {
			var elements []string
			for i := range 200 {
				elements = append(elements, element(fmt.Sprintf("FT%d-%d-%d", round, list, i)))
			}
			return calls.post(fmt.Sprintf("FT%d-%d-0", round, list), `{"transactions":[`+strings.Join(elements, ",")+`]}`)
		}
		if !many(0) {
			t.Fatal("a list is not acknowledged")
		}
		var said apptest.Output
		killer := exec.Command(strace, "-f", "-qq", "-o", "/dev/null", "-p", fmt.Sprint(r.server.Process.Pid), "-e", "trace=fsync", "-e",
			"inject=fsync:signal=SIGKILL")
		killer.Stderr = &said
		must(t, killer.Start())
		for list, end := 1, time.Now().Add(20*time.Second); many(list); list++ {
			if time.Now().After(end) {
				t.Skipf("strace can't end the server here: %s", said.String())
			}
		}
		if r.server.exitWithin(t, 5*time.Second) != -1 {
			t.Fatalf("strace didn't kill it: %s", said.String())
		}
		_ = killer.Wait()
		time.Sleep(litestreamEvery + 1500*time.Millisecond) // Litestream carries the commit, and makes no checkpoint of so short a log
		must(t, r.litestream.Process.Kill())
		_ = r.litestream.Wait()
		r.litestream = startLitestream(t, r.config)
		r.server = serveIn(t, r.dir, r.server.address(), r.args...)
		acked := 200 * len(calls.acknowledged())
		within(t, 20*time.Second, "the copy has all and is good", func() bool {
			code, c := r.checked(t)
			return code == 0 && c.Transactions >= acked
		})
	}
	r.server.end(t)
	must(t, r.litestream.Process.Signal(syscall.SIGTERM))
	_ = r.litestream.Wait()
	r.age(t)
	dir, _ := r.takeOver(t)
	r.server = serveIn(t, dir, anyPort, r.args...)
	eventually(t, "what was pending is sent", func() bool { return strings.Contains(do(t, dir, "delivery", "pending", "-o", "json"), "[]") })
	r.server.end(t)
	checkLedger(t, filepath.Join(dir, "baoco.db"), calls.acknowledged())
}

// logHeader is what the header of a database's write-ahead log holds: another one in
// each log.
func logHeader(t *testing.T, db string) (header [32]byte) {
	t.Helper()
	f, err := os.Open(db + "-wal")
	must(t, err)
	defer f.Close()
	_, _ = f.ReadAt(header[:], 0) // of an empty log there is none
	return header
}

// While Litestream hangs every call is still acknowledged, and the log grows, of which
// upkeep.Warnings tell. Once it goes on, the log begins anew, and so grows no further, and
// the replica has all. The file keeps its size if Litestream is the first to write into
// the new log: Litestream itself cuts it at 500 MB, before there is a warning.
func TestReplicaHangs(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	in := install(t, receiver)
	c := carry(t, in)
	p := serveIn(t, in.dir, anyPort, "--allow-target", receiver.target())
	provider := in.provider(p.url)
	eventually(t, "Litestream copies", func() bool { return len(c.arrived(t)) > 0 })
	must(t, c.cmd.Process.Signal(syscall.SIGSTOP))
	t.Cleanup(func() { _ = c.cmd.Process.Signal(syscall.SIGCONT) })
	const large = 80 << 20
	provider.pause = 0
	stop := provider.underLoad(8)
	eventually(t, "the log grows", func() bool { return logSize(in.db) > large })
	stop()
	must(t, c.cmd.Process.Signal(syscall.SIGCONT))
	header, n := logHeader(t, in.db), 0
	eventually(t, "the log begins anew", func() bool { n++; return provider.call(fmt.Sprint("after-", n)) && logHeader(t, in.db) != header })
	p.end(t)
	c.end(t)
	acked := provider.acknowledged()
	t.Logf("%d acknowledged, %d in the replica", len(acked), len(checkLedger(t, c.restored(t), acked)))
}

// After a restore, after a new key and after free space was given back the replica is
// that of the new file, without anybody resetting Litestream. A restore and a new key
// wait until it ends.
func TestReplicaFollows(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	in := install(t, receiver)
	c := carry(t, in)
	backup := filepath.Join(t.TempDir(), "backup.db")
	serve := func(numbers ...string) {
		t.Helper()
		p := serveIn(t, in.dir, anyPort, "--allow-target", receiver.target())
		defer p.end(t)
		for _, number := range numbers {
			if !in.provider(p.url).call(number) {
				t.Fatalf("%s was not acknowledged", number)
			}
		}
	}
	holds := func(want ...string) {
		t.Helper()
		c.end(t)
		if recorded := checkLedger(t, c.restored(t), want); len(recorded) != len(want) {
			t.Errorf("the replica holds %v, want %v", recorded, want)
		}
	}
	again := func() { // a Litestream that ends before it began copies nothing
		t.Helper()
		before := c.arrived(t)
		c.start(t)
		eventually(t, "Litestream copies again", func() bool { return !slices.Equal(c.arrived(t), before) })
	}
	waits := func(args ...string) {
		t.Helper()
		if code, _, stderr := baoco("", append(args, "--db", in.db)...); code != terminal.ExitDatabase ||
			!strings.Contains(stderr, "has the database open") {
			t.Errorf("%v beside Litestream: exit %d, %s", args, code, stderr)
		}
	}
	serve("FT1")
	do(t, in.dir, "backup", backup)
	serve("FT2")
	eventually(t, "Litestream copies", func() bool { return len(c.arrived(t)) > 0 })
	waits("restore", backup)
	waits("doctor", "--new-key")
	holds("FT1", "FT2")
	do(t, in.dir, "restore", backup)
	again()
	serve("FT3")
	holds("FT1", "FT3")
	do(t, in.dir, "doctor", "--new-key")
	again()
	serve("FT4")
	do(t, in.dir, "prune", "--keep-inbound", "0", "--keep-history", "0", "--vacuum")
	holds("FT1", "FT3", "FT4")
}

// acknowledge calls at a steady rate and gives when each call was acknowledged.
func acknowledge(provider *caller, every, during time.Duration) map[string]time.Time {
	var mu sync.Mutex
	var running sync.WaitGroup
	at, begun := map[string]time.Time{}, time.Now()
	for i := 0; time.Since(begun) < during; i++ {
		time.Sleep(time.Until(begun.Add(time.Duration(i) * every))) // the pace of the load
		running.Go(func() {
			if number := fmt.Sprint("FT", i); provider.call(number) {
				mu.Lock()
				defer mu.Unlock()
				at[number] = time.Now()
			}
		})
	}
	running.Wait()
	return at
}

// At 200 calls a second all but one in a hundred transactions are in the place within
// 3 seconds of their acknowledgement. Which file brought which transaction is read
// from the place itself, restored as it was after each file.
func TestReplicaLag(t *testing.T) {
	if !apptest.Full() {
		t.Skip("needs BAOCO_FULL=1, and the machine alone: it measures how soon a transaction is copied")
	}
	receiver := openShop(t)
	in := install(t, receiver)
	c := carry(t, in)
	p := serveIn(t, in.dir, anyPort, "--allow-target", receiver.target())
	ctx, cancel := context.WithCancel(t.Context())
	came := map[string]time.Time{}
	var watching sync.WaitGroup
	watching.Go(func() {
		for ; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) { // how exactly the time of a file is known
			for _, name := range c.arrived(t) {
				if _, seen := came[name]; !seen {
					came[name] = time.Now()
				}
			}
		}
	})
	at := acknowledge(in.provider(p.url), 5*time.Millisecond, 30*time.Second)
	time.Sleep(3 * time.Second) // what comes later than that is too late
	cancel()
	watching.Wait()
	p.end(t)
	c.end(t)
	lags := c.lags(t, at, came)
	slices.Sort(lags)
	at50, at99 := lags[len(lags)/2], lags[len(lags)*99/100]
	t.Logf("%d acknowledged; in the place after: median %v, 99 %% %v, slowest %v", len(at), at50, at99, lags[len(lags)-1])
	if len(at) < 5000 || at99 > 3*time.Second {
		t.Errorf("of %d transactions 99 %% were in the place within %v", len(at), at99)
	}
}

// lags says how long after its acknowledgement each transaction was in the place.
func (c *carrier) lags(t *testing.T, at, came map[string]time.Time) (lags []time.Duration) {
	t.Helper()
	var names []string
	for name := range came {
		names = append(names, name)
	}
	slices.Sort(names)
	seen := map[string]bool{}
	for _, name := range names {
		_, last, _ := strings.Cut(strings.TrimSuffix(name, ".ltx"), "-")
		db := filepath.Join(t.TempDir(), "as-it-was.db")
		out, err := exec.Command(c.Program, "restore", "-config", replica.ConfigPath(c.Database), "-no-expand-env", "-txid", last, "-o", db,
			c.Database).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, number := range numbersIn(t, db) {
			if acked, known := at[number]; known && !seen[number] {
				lags = append(lags, came[name].Sub(acked))
				seen[number] = true
			}
		}
	}
	if len(lags) < len(at) {
		t.Errorf("%d of %d acknowledged transactions never came", len(at)-len(lags), len(at))
	}
	return lags
}

// numbersIn are the numbers of the transactions in a database file.
func numbersIn(t *testing.T, path string) (numbers []string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	must(t, err)
	defer db.Close()
	rows, err := db.Query(`SELECT number FROM transactions`)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var number string
		must(t, rows.Scan(&number))
		numbers = append(numbers, number)
	}
	must(t, rows.Err())
	return numbers
}
