package acceptance_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"baoco/app/command/terminal"
	"baoco/app/replica"

	"github.com/nats-io/nats.go/jetstream"
)

// How often TestDrill loses a machine:
//
//	go test ./app/acceptance -run TestDrill -v -timeout 3h -drills 100
var drills = flag.Int("drills", 0, "how many machines TestDrill loses; 0 is one, or six with BAOCO_FULL=1")

// lostInARow is how many machines of one shop are lost, one after another.
const lostInARow = 4

// A machine is lost at any moment: its server and its Litestream are killed, its disk is
// gone. Another one takes over. What was acknowledged more than five seconds before is
// there, and nothing twice; a program that asks for what is new and a stream see each once
// and in order; no webhook-id is used again; the lost server, should it come back, is fenced.
func TestDrill(t *testing.T) {
	t.Parallel()
	left := *drills
	if left == 0 {
		left = rounds(1, 6)
	}
	kinds := []replica.Scheme{replica.S3, replica.SFTP, replica.File}
	for n := 0; left > 0; n++ {
		losses := min(left, lostInARow, max(1, *drills))
		left -= losses // also where the drill is skipped
		t.Run(fmt.Sprint(n, " ", kinds[n%len(kinds)]), func(t *testing.T) {
			d := newDrill(t, kinds[n%len(kinds)])
			for range losses {
				d.lose(t)
			}
			d.check(t)
		})
		if t.Failed() {
			return
		}
	}
}

// drill is a shop whose machines are lost.
type drill struct {
	shop   *shop
	now    *replicated // the machine that serves
	calls  *timedCaller
	stop   func() // ends the calls
	reader *poller
	stream *ledger
	since  time.Time       // the last loss is over
	kept   map[string]bool // acknowledged, and not just before a loss
}

func newDrill(t *testing.T, kind replica.Scheme) *drill {
	t.Helper()
	d := &drill{shop: openShop(t), kept: map[string]bool{}}
	in := install(t, d.shop)
	d.stream = toNATS(t, in, jetstream.StreamConfig{AllowAtomicPublish: true})
	d.now = replicate(t, in, kind, "--allow-target", d.shop.target(), "--allow-target", d.stream.target(), "--listing-rate-limit", "100000")
	d.calls = &timedCaller{caller: d.now.provider(d.now.server.url), at: map[string]time.Time{}}
	d.stop = d.calls.underLoad(4)
	d.reader = &poller{key: d.now.key}
	return d
}

// lose serves for some seconds, loses the machine and has another one take over.
func (d *drill) lose(t *testing.T) {
	t.Helper()
	old := d.now
	for end := time.Now().Add(time.Duration(1000+rand.IntN(9000)) * time.Millisecond); time.Now().Before(end); {
		d.reader.poll(t, old.server.url)
		time.Sleep(30 * time.Millisecond) // the pace of a client that polls
	}
	killed := old.kill(t)
	gone := old.dir + ".gone"
	must(t, os.Rename(old.dir, gone))

	dir, took := old.takeOver(t)
	began := time.Now()
	d.now = old.on(t, dir)
	t.Logf("taken over after %v, serving after %v more", took.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
	sent := len(d.calls.acknowledged())
	eventually(t, "calls are acknowledged again", func() bool { return len(d.calls.acknowledged()) > sent+20 })
	d.keep(killed.Add(-5 * time.Second))
	d.since = began
	if lines := do(t, dir, "audit", "list"); !strings.Contains(lines, fmt.Sprintf("%s (epoch %d)", old.config.Place, old.config.Epoch)) {
		t.Errorf("the audit log doesn't name the place:\n%s", lines)
	}
	d.now.copies(t)
	must(t, os.Rename(gone, old.dir))
	again := startIn(t, old.dir, anyPort, old.args...)
	if code := again.exitWithin(t, 60*time.Second); code != terminal.ExitConflict ||
		!strings.Contains(again.stderr.String(), "another server took over at ") {
		t.Errorf("the old server: exit %d\n%s", code, again.stderr)
	}
	if code, c := old.checked(t); code != terminal.ExitCheck || !strings.Contains(c.Problem, "Another server took over") {
		t.Errorf("a check on the old machine: exit %d, %+v", code, c)
	}
}

// keep notes what was acknowledged since the last loss, until a time.
func (d *drill) keep(until time.Time) {
	for number, at := range d.calls.times() {
		if at.After(d.since) && at.Before(until) {
			d.kept[number] = true
		}
	}
}

// check ends the drill and compares what was acknowledged with what is there.
func (d *drill) check(t *testing.T) {
	t.Helper()
	d.stop()
	d.keep(time.Now())
	for d.reader.poll(t, d.now.server.url) {
	}
	within(t, time.Minute, "the stream has sent all", func() bool { return d.stream.behind(t, d.now.installation) == 0 })
	d.now.server.end(t)
	recorded := checkLedger(t, d.now.db, slices.Collect(maps.Keys(d.kept)))
	d.reader.check(t, recorded)
	var lost []string
	for number := range d.calls.at {
		if recorded[number] == 0 {
			lost = append(lost, number)
		}
	}
	repeats := d.stream.check(t, recorded, lost)
	t.Logf("%d acknowledged, %d recorded, %d of the last five seconds before a loss are lost; %d messages of the stream repeated",
		len(d.calls.at), len(recorded), len(lost), repeats)
	if d.shop.bad > 0 {
		t.Errorf("%d deliveries with a wrong signature or checksum, or an id that was used before", d.shop.bad)
	}
}

// kill ends the server and its Litestream, in any order. A Litestream that outlives the
// server may damage the copy, so it ends at once then, as the server's unit sees to; see
// TestKilledWhileCommitting.
func (r *replicated) kill(t *testing.T) (at time.Time) {
	t.Helper()
	if rand.IntN(2) == 0 {
		at = time.Now()
		must(t, r.litestream.Process.Kill())
		time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond) // the server goes on alone for a while
		must(t, r.server.Process.Kill())
	} else {
		must(t, r.server.Process.Kill())
		at = time.Now()
		must(t, r.litestream.Process.Kill())
	}
	_, _ = r.server.Wait(), r.litestream.Wait()
	return at
}

// on is what is replicated after another machine took over, with a server there.
func (r *replicated) on(t *testing.T, dir string) *replicated {
	t.Helper()
	next := *r
	next.dir, next.db = dir, filepath.Join(dir, "baoco.db")
	config, err := replica.ReadConfig(next.db)
	must(t, err)
	next.config, next.server = config, serveIn(t, dir, r.server.address(), r.args...)
	return &next
}

// timedCaller notes when each call was acknowledged.
type timedCaller struct {
	*caller
	mu sync.Mutex
	at map[string]time.Time
}

func (c *timedCaller) run(done <-chan struct{}, client int) {
	for i := 0; ; i++ {
		number := fmt.Sprintf("FT%d-%d", client, i)
		for !c.call(number) {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
		c.mu.Lock()
		c.at[number] = time.Now()
		c.mu.Unlock()
		select {
		case <-done:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// times is when each call was acknowledged, so far.
func (c *timedCaller) times() map[string]time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.at)
}

// underLoad has clients call until the function it gives is called.
func (c *timedCaller) underLoad(clients int) (stop func()) {
	done := make(chan struct{})
	var running sync.WaitGroup
	for client := range clients {
		running.Go(func() { c.run(done, client) })
	}
	return func() { close(done); running.Wait() }
}

// poller asks for what is new since the last id that it saw, as a shop's program does.
type poller struct {
	key     string
	last    int64
	numbers []string
}

func (p *poller) poll(t *testing.T, url string) (more bool) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, url+"/api/v1/transactions?per_page=100&since_id="+strconv.FormatInt(p.last, 10), nil)
	must(t, err)
	request.Header.Set("Authorization", "Bearer "+p.key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false // the server is away
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return false
	}
	var page struct {
		Transactions []struct {
			ID     string
			Number string `json:"transaction_number"`
		}
	}
	must(t, json.Unmarshal(body, &page))
	for _, tr := range page.Transactions {
		id, err := strconv.ParseInt(tr.ID, 10, 64)
		must(t, err)
		if id <= p.last {
			t.Errorf("id %d came after %d", id, p.last)
		}
		p.last = id
		p.numbers = append(p.numbers, tr.Number)
	}
	return len(page.Transactions) > 0
}

// check finds that the reader has seen every recorded transaction, and none twice.
func (p *poller) check(t *testing.T, recorded map[string]int) {
	t.Helper()
	seen := map[string]int{}
	for _, number := range p.numbers {
		if seen[number]++; seen[number] > 1 {
			t.Errorf("the reader saw %s twice", number)
		}
	}
	for _, number := range slices.Sorted(maps.Keys(recorded)) {
		if seen[number] == 0 {
			t.Errorf("the reader never saw %s", number)
		}
	}
}
