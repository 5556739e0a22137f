package acceptance_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"baoco/app/apptest"
)

// A soak is what a server goes through in its years, in a short time: 100 calls
// a second, kills and restarts, backups, prunes and changed settings in an order
// by chance. Nothing acknowledged is lost or recorded twice, every delivery is
// made, and what a server uses of the machine stays as it was. BAOCO_SOAK says
// for how long:
//
//	BAOCO_SOAK=30m go test ./app/acceptance -run TestSoak -v -timeout 1h
func TestSoak(t *testing.T) {
	length := 45 * time.Second
	if asked := os.Getenv("BAOCO_SOAK"); asked != "" {
		var err error
		length, err = time.ParseDuration(asked)
		must(t, err)
	} else if !apptest.Full() {
		t.Skip("needs BAOCO_SOAK=30m, or BAOCO_FULL=1 for a short one")
	}
	t.Parallel()
	receiver := openShop(t)
	s := &soak{T: t, in: install(t, receiver), shop: receiver}
	receiver.createWebhookFor(t, s.in.dir, "/b", "IN")
	receiver.createWebhookFor(t, s.in.dir, "/off", "ALL") // is switched off and on
	s.start("127.0.0.1:0")
	s.provider = s.in.provider(s.server.url)
	stop := s.atRate(100)

	// Two thirds of the time with restarts, then one in which it runs on.
	begun := time.Now()
	for time.Since(begun) < length*2/3 {
		s.something(rand.IntN(9))
	}
	s.restart(syscall.SIGTERM)
	time.Sleep(length / 12) // until its caches are filled
	before := s.uses()
	for time.Since(begun) < length {
		s.something(2 + rand.IntN(7)) // no restarts
	}
	after := s.uses()
	stop()

	acked := s.provider.acknowledged()
	s.delivered(acked)
	s.server.end(t)
	recorded := checkLedger(t, s.in.db, acked)
	t.Logf("%v: %d acknowledged, %d recorded, %d delivered; did %v; memory %d MB, then %d MB, files %d, then %d, goroutines %d, then %d",
		length, len(acked), len(recorded), receiver.calls.Load(), s.done, before.memory, after.memory, before.files, after.files,
		before.goroutines, after.goroutines)
	if after.memory > before.memory*3/2+20 || after.files > before.files+50 || after.goroutines > before.goroutines+20 {
		t.Errorf("it uses more and more of the machine: %+v, then %+v", before, after)
	}
	if len(acked) < int(length.Seconds())*30 {
		t.Errorf("only %d calls were acknowledged in %v", len(acked), length)
	}
	if receiver.bad > 0 {
		t.Errorf("%d deliveries with a wrong signature or checksum", receiver.bad)
	}
	for key, bodies := range receiver.bodies {
		for _, body := range bodies {
			if body != bodies[0] {
				t.Fatalf("%s came with different bodies", key)
			}
		}
	}
}

type soak struct {
	*testing.T
	in       installation
	shop     *shop
	server   *process
	provider *caller
	done     [9]int // how often each thing was done
	backups  int
}

func (s *soak) start(address string) {
	s.server = serveIn(s.T, s.in.dir, address, "--allow-target", s.shop.target(), "--metrics-listen", "0",
		"--keep-history", strconv.Itoa(1+rand.IntN(90))+"d", "--keep-inbound", strconv.Itoa(1+rand.IntN(30))+"d")
}

func (s *soak) restart(signal syscall.Signal) {
	must(s.T, s.server.Process.Signal(signal))
	if err := s.server.Wait(); err != nil && signal != syscall.SIGKILL {
		s.Fatalf("after %v: %v\n%s", signal, err, s.server.stderr)
	}
	s.start(s.server.address())
}

// something does one of the things that owners, machines and time do.
func (s *soak) something(n int) {
	s.done[n]++
	switch n {
	case 0:
		s.restart(syscall.SIGKILL)
	case 1:
		s.restart(syscall.SIGTERM)
	case 2:
		s.backup()
	case 3:
		do(s.T, s.in.dir, "prune", "--keep-history", "1d", "--keep-inbound", "1d")
	case 4:
		do(s.T, s.in.dir, "webhook", "toggle", "3")
	case 5:
		do(s.T, s.in.dir, "webhook", "update", "2", "--name", fmt.Sprint("shop ", rand.IntN(1000)))
	case 6:
		do(s.T, s.in.dir, "bank", "link", "--bank", "VCB", "--number", fmt.Sprint(100000+s.done[6]), "--name", "B")
		do(s.T, s.in.dir, "bank", "unlink", strconv.Itoa(1+s.done[6]))
	case 7:
		key := strings.TrimSpace(do(s.T, s.in.dir, "apikey", "create", "soak"))
		for _, path := range []string{"/api/v1/transactions", "/api/v1/webhooks/history", "/api/v1/analytics/overview"} {
			if got := status(s.T, s.server.url+path, key); got != http.StatusOK {
				s.Errorf("%s answers %d to a key made a moment ago", path, got)
			}
		}
		do(s.T, s.in.dir, "apikey", "revoke", strconv.Itoa(1+s.done[7]))
	case 8:
		do(s.T, s.in.dir, "doctor")
	}
	time.Sleep(time.Duration(rand.IntN(1000)) * time.Millisecond) // the pace of what happens
}

// backup makes a copy, and now and then looks whether all that was acknowledged
// before is in it.
func (s *soak) backup() {
	acked := s.provider.acknowledged()
	s.backups++
	file := filepath.Join(s.TempDir(), "copy.db")
	do(s.T, s.in.dir, "backup", file)
	if s.backups%4 == 1 {
		recorded := map[string]bool{}
		for number := range strings.FieldsSeq(numbers(s.T, file)) {
			recorded[number] = true
		}
		for _, number := range acked {
			if !recorded[number] {
				s.Errorf("%s was acknowledged before the backup and is not in it", number)
			}
		}
	}
	must(s.T, os.RemoveAll(filepath.Dir(file)))
}

// atRate makes n calls a second until the function it gives is called. A call
// that isn't acknowledged is made again, as providers do.
func (s *soak) atRate(n int) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var calling sync.WaitGroup
	turns := make(chan string, n) // at most a second's calls wait for their turn
	calling.Go(func() {
		defer close(turns)
		every := time.NewTicker(time.Second / time.Duration(n))
		defer every.Stop()
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				return
			case <-every.C:
			}
			select {
			case turns <- fmt.Sprint("FT", i):
			case <-ctx.Done():
				return
			}
		}
	})
	for range 16 {
		calling.Go(func() {
			for number := range turns {
				for ctx.Err() == nil && !s.provider.call(number) {
					time.Sleep(20 * time.Millisecond) // while the server is away
				}
			}
		})
	}
	return func() {
		cancel()
		calling.Wait()
	}
}

// delivered waits until both webhooks that were never switched off have what
// was acknowledged.
func (s *soak) delivered(acked []string) {
	eventually(s.T, "every acknowledged transaction reaches both webhooks", func() bool {
		s.shop.mu.Lock()
		defer s.shop.mu.Unlock()
		for _, number := range acked {
			if len(s.shop.bodies["/a "+number]) == 0 || len(s.shop.bodies["/b "+number]) == 0 {
				return false
			}
		}
		return true
	})
	if off := do(s.T, s.in.dir, "webhook", "list"); !strings.Contains(off, "/off") {
		s.Errorf("the webhook that is switched off and on is gone:\n%s", off)
	} else if s.done[4]%2 == 1 {
		do(s.T, s.in.dir, "webhook", "toggle", "3") // what waits for it goes out
	}
	eventually(s.T, "nothing waits", func() bool {
		return strings.TrimSpace(do(s.T, s.in.dir, "delivery", "pending", "-o", "json")) == "[]"
	})
}

// machineUse is what a process uses of the machine: MB of memory, open files, and
// goroutines.
type machineUse struct{ memory, files, goroutines int }

// uses is what the server uses now. What it does at a moment takes goroutines, so
// they are counted several times, and the fewest are those that stay.
func (s *soak) uses() machineUse {
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.server.Process.Pid))
	must(s.T, err)
	use := machineUse{residentMB(s.T, s.server.Process.Pid), len(files), math.MaxInt}
	at := s.server.stderr.Await(showingAt, time.Minute)
	for range 20 {
		_, figures := figuresOf(s.T, "http://"+at[1]+"/metrics", "")
		use.goroutines = min(use.goroutines, int(figures["go_goroutines"]))
		time.Sleep(50 * time.Millisecond) // what it does at a moment must have ended by the next one
	}
	return use
}
