package acceptance_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"baoco/sqlitestore"
)

// image is what a power cut left, and what was promised before it.
type image struct {
	files    map[string][]byte
	acked    []string        // acknowledged before the cut
	received map[string]bool // by the shop, just after the cut
	chance   float64
}

// TestPowerCuts takes images of the disk at random moments while providers
// call and webhooks go out, as a power cut would leave it: what was synced,
// and any part of the rest. On each image a server starts; nothing that was
// acknowledged may be missing, nothing twice, and every delivery is made.
// For 200 images: go test -run PowerCuts ./app/command -faults.rounds=200
func TestPowerCuts(t *testing.T) {
	t.Parallel()
	const perRun = 20
	images, acked, pending := rounds(3, 20), 0, 0
	var resumed []time.Duration
	for left := images; left > 0; left -= perRun {
		in, receiver, taken := cutUnderLoad(t, min(left, perRun), nil)
		for _, image := range taken {
			took, due := checkImage(t, in, receiver, image)
			resumed = append(resumed, took)
			acked, pending = acked+len(image.acked), pending+due
		}
	}
	slices.Sort(resumed)
	t.Logf("%d power cuts, %d acknowledged before them, %d deliveries made after them; the first %v after the start of the server, at most %v",
		images, acked, pending, resumed[len(resumed)/2], resumed[len(resumed)-1])
	if pending == 0 {
		t.Error("no delivery was left to make: this shows nothing of them")
	}
}

// The same on a disk that acknowledges syncs and forgets them: what
// TestPowerCuts looks for must be found there, or it could not be found at
// all.
func TestPowerCutsOfLyingDisk(t *testing.T) {
	t.Parallel()
	proof(t)
	_, _, taken := cutUnderLoad(t, 3, func(d *disk) { d.setLies(true) })
	shown := false
	for i, image := range taken {
		missing, err := missingFrom(t, save(t, image.files), image.acked)
		t.Logf("image %d: %d of %d acknowledged are missing, %v", i+1, missing, len(image.acked), err)
		shown = shown || missing > 0 || err != nil
	}
	if !shown {
		t.Error("no image shows a loss")
	}
}

// missingFrom counts what was acknowledged and isn't recorded in a database;
// an error is one that can't be opened.
func missingFrom(t *testing.T, dir string, acked []string) (int, error) {
	store, err := sqlitestore.Open(context.Background(), filepath.Join(dir, "baoco.db"), sqlitestore.Options{Serve: true})
	if err != nil {
		return 0, err
	}
	defer store.Close()
	recorded := readLedger(t, store)
	missing := 0
	for _, number := range acked {
		if recorded[number] == 0 {
			missing++
		}
	}
	return missing, nil
}

// cutUnderLoad runs a server on a volatile disk, and takes images while it
// works. prepare has the disk before the load begins.
func cutUnderLoad(t *testing.T, images int, prepare func(*disk)) (installation, *shop, []image) {
	t.Helper()
	receiver := openShop(t)
	in := install(t, receiver)
	d := newDisk()
	d.load(readImage(t, in.dir))
	db := filepath.Join(d.mount(t), "baoco.db")
	p := serveIn(t, in.dir, anyPort, "--db", db, "--allow-target", receiver.target())
	if prepare != nil {
		prepare(d)
	}
	calls := in.provider(p.url)
	calls.pause = 0 // a checkpoint comes after many calls
	stop := calls.underLoad(8)
	defer stop()
	var taken []image
	for range images {
		enough := len(calls.acknowledged()) + 20 + rand.IntN(80) // the power fails at any moment of the load
		eventually(t, "calls are acknowledged", func() bool { return len(calls.acknowledged()) >= enough })
		i := image{chance: []float64{0, 0.5, 0.9, 0.99}[rand.IntN(4)]}
		atNext(d, moments[rand.IntN(len(moments))], func() {
			i.acked = calls.acknowledged()
			i.files = d.cut(i.chance)
		})
		i.received = receiver.received()
		taken = append(taken, i)
	}
	must(t, p.Process.Kill())
	_ = p.Wait()
	return in, receiver, taken
}

// moments are when the power is cut: at any time, and just before what is done
// seldom. Writes to the database file itself are those of a checkpoint, of
// which the n-th is taken.
var moments = []func() func(op diskOp) bool{
	func() func(diskOp) bool { return func(diskOp) bool { return true } },
	func() func(diskOp) bool {
		return func(op diskOp) bool { return op.kind == opSync && op.file == "baoco.db-wal" }
	},
	func() func(diskOp) bool {
		return func(op diskOp) bool { return op.kind == opSync && op.file == "baoco.db" }
	},
	func() func(diskOp) bool {
		n := rand.IntN(100)
		return func(op diskOp) bool {
			if op.kind == opWrite && op.file == "baoco.db" {
				n--
			}
			return n < 0
		}
	},
}

// atNext calls do while the disk is about to begin an operation of a moment,
// or after a while without one.
func atNext(d *disk, moment func() func(diskOp) bool, do func()) {
	var once sync.Once
	var mu sync.Mutex
	is, done := moment(), make(chan struct{})
	now := func() { once.Do(func() { do(); close(done) }) }
	d.setFault(func(op diskOp) syscall.Errno {
		mu.Lock()
		defer mu.Unlock()
		if is(op) {
			now()
		}
		return 0
	})
	select {
	case <-done:
	case <-time.After(3 * time.Second):
		now()
	}
	d.setFault(nil)
}

// checkImage starts a server on an image, has it finish what was due, and
// compares. It tells when the first delivery was made, counted from the start
// of the process, and how many were.
func checkImage(t *testing.T, in installation, receiver *shop, i image) (resumed time.Duration, due int) {
	t.Helper()
	receiver.forget()
	dir := save(t, i.files)
	defer os.RemoveAll(dir)
	db := filepath.Join(dir, "baoco.db")
	started := time.Now()
	first := make(chan time.Duration, 1)
	go func() {
		for receiver.calls.Load() == 0 && time.Since(started) < time.Minute {
			time.Sleep(time.Millisecond) // what is measured is longer by as much at most
		}
		first <- time.Since(started)
	}()
	p := serveIn(t, dir, anyPort, "--allow-target", receiver.target())
	store, err := sqlitestore.Open(context.Background(), db, sqlitestore.Options{})
	must(t, err)
	defer store.Close()
	eventually(t, "all that was due is delivered", drained(t, store))
	resumed = p.ready
	if due = int(receiver.calls.Load()); due > 0 {
		resumed = <-first
	}
	// A provider that got no answer calls again.
	again := in.provider(p.url)
	for _, number := range i.acked[:min(3, len(i.acked))] {
		if !again.call(number) {
			t.Errorf("%s, called again, is refused", number)
		}
	}
	if !again.call("after-the-cut") {
		t.Error("the first call after the cut is refused")
	}
	eventually(t, "the new one is delivered", drained(t, store))
	p.end(t)
	must(t, store.Close())
	now := receiver.received()
	for number := range checkLedger(t, db, append(i.acked, "after-the-cut")) {
		if key := "/a " + number; !now[key] && !i.received[key] {
			t.Errorf("%s is recorded and was never delivered", number)
		}
	}
	if t.Failed() {
		t.Fatalf("on an image with %v of what was not synced\n%s", i.chance, p.stderr)
	}
	return resumed, due
}
