package acceptance_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/replica"
)

// How many transactions the file of TestLargeReplica has; 940,000 make 1 GB:
//
//	go test ./app/acceptance -run TestLargeReplica -v -timeout 1h -large.rows 940000
var largeRows = flag.Int64("large.rows", 0, "transactions in the file of TestLargeReplica; 0 skips it")

// A check of a large file takes few resources, and no delivery waits for it. Another
// machine has taken over from a lost one soon. The limits are those for 1 GB, on a machine
// that does nothing else.
func TestLargeReplica(t *testing.T) {
	if *largeRows == 0 {
		t.Skip("needs -large.rows, and the machine alone: it measures how long a check and a takeover take")
	}
	receiver := openShop(t)
	in := install(t, receiver)
	now := time.Now()
	apptest.Seed(t, in.db,
		apptest.Seeding{AccountID: app.DefaultAccountID, Rows: *largeRows, From: now.AddDate(-1, 0, 0), To: now.Add(-time.Minute)})
	info, err := os.Stat(in.db)
	must(t, err)
	began := time.Now()
	r := replicate(t, in, replica.File, "--allow-target", receiver.target(), "--metrics-listen", anyPort)
	t.Logf("%d MB; the first copy took %v; load %s", info.Size()/1e6, time.Since(began).Round(time.Second), load(t))

	// In a process of its own, whose use of the machine is known.
	check := program(in.dir, "replica", "check")
	check.Env = append(check.Env, "AS_BAOCO=1h")
	began = time.Now()
	out, err := check.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	used := check.ProcessState.UserTime() + check.ProcessState.SystemTime()
	t.Logf("a check: %v, of which the processor %v; load %s: %s", time.Since(began).Round(time.Second), used.Round(time.Second), load(t), out)
	if used > 30*time.Second {
		t.Errorf("at half a core a check takes %v", 2*used)
	}

	// And in the server, as it begins with one, while it delivers.
	r.server.end(t)
	began = time.Now()
	r.server = serveIn(t, in.dir, r.server.address(), r.args...)
	figures := "http://" + r.server.stderr.Await(showingAt, time.Minute)[1] + "/metrics"
	sent := r.steadily(t, 20, func() bool { _, f := figuresOf(t, figures, ""); return f["baoco_replica_good"] == 1 })
	t.Logf("a check by the server: %v", time.Since(began).Round(time.Second))
	var waits []time.Duration
	for number, at := range sent {
		eventually(t, number+" arrives", func() bool { return receiver.received()["/a "+number] })
		waits = append(waits, receiver.at["/a "+number].Sub(at))
	}
	slices.Sort(waits)
	t.Logf("%d deliveries meanwhile: median %v, slowest %v", len(waits), waits[len(waits)/2].Round(time.Millisecond),
		waits[len(waits)-1].Round(time.Millisecond))
	if slowest := waits[len(waits)-1]; slowest > time.Second {
		t.Errorf("a delivery came %v after its call", slowest)
	}

	r.kill(t)
	dir := t.TempDir()
	began = time.Now()
	takeover := program(dir, r.takeOverArgs(t)...)
	takeover.Env = append(takeover.Env, "AS_BAOCO=1h")
	if out, err := takeover.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	took := time.Since(began)
	r.on(t, dir)
	calls := r.provider(r.server.url)
	eventually(t, "a call is acknowledged", func() bool { return calls.call("first") })
	t.Logf("taken over after %v, of which the processor %v; the first call was acknowledged after %v; load %s", took.Round(time.Millisecond),
		(takeover.ProcessState.UserTime() + takeover.ProcessState.SystemTime()).Round(time.Millisecond),
		time.Since(began).Round(time.Millisecond), load(t))
	// Within 30 seconds, or 10 more until the first daily snapshot: till then the files of
	// Litestream hold the database twice, and it reads them all.
	if all := time.Since(began); all > 40*time.Second {
		t.Errorf("the takeover took %v", all)
	}
}

// steadily calls so often a second until something is the case, and gives when each call
// that was acknowledged was made.
func (r *replicated) steadily(t *testing.T, rate int, until func() bool) (sent map[string]time.Time) {
	t.Helper()
	sent = map[string]time.Time{}
	calls := r.provider(r.server.url)
	var mu sync.Mutex
	var running sync.WaitGroup
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		within(t, 10*time.Minute, "the server has checked its replica", until)
	}()
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ended:
			running.Wait()
			return sent
		case <-tick.C:
		}
		running.Go(func() {
			number, at := fmt.Sprint("steady", n), time.Now()
			if !calls.call(number) {
				t.Errorf("%s was not acknowledged", number)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			sent[number] = at
		})
	}
}

// load is how many processes wanted to run in the last minute, on average.
func load(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("/proc/loadavg")
	must(t, err)
	one, _, _ := strings.Cut(string(text), " ")
	return one
}
