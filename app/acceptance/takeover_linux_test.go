package acceptance_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/command/terminal"
	"baoco/app/replica"
)

// replicated is an installation with a server, and Litestream beside it.
type replicated struct {
	installation
	config     replica.Config
	server     *process
	litestream *exec.Cmd
}

func replicate(t *testing.T, in installation, url string, args ...string) *replicated {
	t.Helper()
	program := apptest.Litestream(t)
	place, err := replica.ParsePlace(url)
	must(t, err)
	objects, err := replica.Open(t.Context(), place, replica.Credentials{})
	must(t, err)
	must(t, replica.NewEpoch(1, "old-vps", time.Now()).Take(t.Context(), objects))
	r := &replicated{installation: in, config: replica.Config{Database: in.db, Place: place, Epoch: 1, Program: program.Path}}
	must(t, r.config.Write())
	r.server = serveIn(t, in.dir, anyPort, args...)
	r.litestream = startLitestream(t, r.config)
	eventually(t, "a copy is made", func() bool {
		c, err := replica.CopyOf(t.Context(), objects, 1)
		return err == nil && c.Objects > 0
	})
	return r
}

func startLitestream(t *testing.T, c replica.Config) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(c.Program, "replicate", "-config", replica.ConfigPath(c.Database), "-no-expand-env")
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
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

// takeOver runs the command in a new directory.
func takeOver(t *testing.T, r *replicated) (dir string, took time.Duration) {
	t.Helper()
	dir = t.TempDir()
	began := time.Now()
	do(t, dir, "takeover", r.config.Place.String(), "--key", r.db+".key", "--litestream", r.config.Program)
	return dir, time.Since(began)
}

// A server is killed at any moment with its Litestream, and its disk is gone. What it
// acknowledged more than five seconds before is on the machine that takes over; a
// program that asks for what is new sees each once and in order; the old server,
// started again, doesn't serve.
func TestTakeover(t *testing.T) {
	t.Parallel()
	for range rounds(1, 4) {
		receiver := openShop(t)
		args := []string{"--allow-target", receiver.target(), "--listing-rate-limit", "100000"}
		old := replicate(t, install(t, receiver), "file://"+t.TempDir(), args...)
		calls := &timedCaller{caller: old.provider(old.server.url), at: map[string]time.Time{}}
		stop := calls.underLoad(4)
		reader := &poller{key: old.key}
		for end := time.Now().Add(time.Duration(7000+rand.IntN(3000)) * time.Millisecond); time.Now().Before(end); time.Sleep(30 * time.Millisecond) {
			reader.poll(t, old.server.url)
		}
		must(t, old.server.Process.Kill())
		killed := time.Now()
		must(t, old.litestream.Process.Kill())
		_, _ = old.server.Wait(), old.litestream.Wait()

		dir, took := takeOver(t, old)
		began := time.Now()
		server := serveIn(t, dir, old.server.address(), args...)
		t.Logf("taken over after %v, serving after %v more", took.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
		sent := len(calls.acknowledged())
		eventually(t, "calls are acknowledged again", func() bool { return len(calls.acknowledged()) > sent+20 })
		stop()
		for reader.poll(t, server.url) {
		}
		var kept, late []string
		for number, at := range calls.at {
			if at.Before(killed.Add(-5*time.Second)) || at.After(began) {
				kept = append(kept, number)
			} else {
				late = append(late, number)
			}
		}
		if lines := do(t, dir, "audit", "list"); !strings.Contains(lines, old.config.Place.String()+" (epoch 1)") {
			t.Errorf("the audit log doesn't name the place:\n%s", lines)
		}
		server.end(t)
		recorded := checkLedger(t, filepath.Join(dir, "baoco.db"), kept)
		checkPoller(t, reader, recorded)
		lost := len(slices.DeleteFunc(late, func(number string) bool { return recorded[number] > 0 }))
		t.Logf("%d acknowledged, %d recorded, %d of the last five seconds lost", len(calls.at), len(recorded), lost)

		again := startIn(t, old.dir, anyPort, args...)
		if code := again.exitWithin(t, 30*time.Second); code != terminal.ExitConflict || !strings.Contains(again.stderr.String(), "another server took over") {
			t.Errorf("the old server: exit %d\n%s", code, again.stderr)
		}
	}
}

// checkPoller has seen every recorded transaction, and none twice.
func checkPoller(t *testing.T, reader *poller, recorded map[string]int) {
	t.Helper()
	seen := map[string]int{}
	for _, number := range reader.numbers {
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

// A living server stops by itself once another one took over, and all that it
// acknowledged until then is on the other machine.
func TestTakeoverFromLivingServer(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	args := []string{"--allow-target", receiver.target()}
	old := replicate(t, install(t, receiver), "file://"+t.TempDir(), args...)
	calls := old.provider(old.server.url)
	stop := calls.underLoad(2)
	eventually(t, "calls are acknowledged", func() bool { return len(calls.acknowledged()) > 50 })
	dir, took := takeOver(t, old)
	stop()
	code := old.server.exitWithin(t, 5*time.Second)
	if said := old.server.stderr.String(); code != terminal.ExitConflict || !strings.Contains(said, "another server took over at ") {
		t.Errorf("the old server: exit %d\n%s", code, said)
	}
	acked := calls.acknowledged()
	server := serveIn(t, dir, anyPort, args...)
	eventually(t, "what was pending is sent", func() bool { return strings.Contains(do(t, dir, "delivery", "pending", "-o", "json"), "[]") })
	server.end(t)
	t.Logf("%d acknowledged, taken over after %v", len(acked), took.Round(time.Millisecond))
	checkLedger(t, filepath.Join(dir, "baoco.db"), acked)
}

// A machine that can't reach the place goes on, and says so once.
func TestFenceOutOfReach(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	in := install(t, receiver)
	place, err := replica.ParsePlace("s3://shop?endpoint=http://127.0.0.1:9&region=x1")
	must(t, err)
	must(t, replica.Config{Database: in.db, Place: place, Epoch: 1, Credentials: replica.Credentials{AccessKeyID: "a", SecretAccessKey: "Hunter2"}}.Write())
	p := serveIn(t, in.dir, anyPort, "--allow-target", receiver.target())
	if !in.provider(p.url).call("FT1") {
		t.Error("a call was refused")
	}
	time.Sleep(6 * time.Second) // one look more
	p.end(t)
	if said := p.stderr.String(); strings.Count(said, "it can't be seen whether another server took over") != 1 || strings.Contains(said, "Hunter2") {
		t.Errorf("it said:\n%s", said)
	}
}

// What is refused changes neither this machine nor the place.
func TestTakeoverRefused(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	old := replicate(t, install(t, receiver), "file://"+t.TempDir(), "--allow-target", receiver.target())
	url := old.config.Place.String()
	refused := func(dir string, code int, says string, args ...string) {
		t.Helper()
		before, err := os.ReadDir(dir)
		must(t, err)
		cmd := program(dir, append([]string{"takeover", "--litestream", old.config.Program}, args...)...)
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != code || !strings.Contains(string(out), says) {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
		after, err := os.ReadDir(dir)
		must(t, err)
		after = slices.DeleteFunc(after, func(e os.DirEntry) bool { return e.Name() == "baoco.db.lock" }) // which says nothing by itself
		if before = slices.DeleteFunc(before, func(e os.DirEntry) bool { return e.Name() == "baoco.db.lock" }); len(after) != len(before) {
			t.Errorf("%v left %v", args, after)
		}
	}
	empty := t.TempDir()
	refused(empty, terminal.ExitNotFound, "no server has written a replica", "file://"+t.TempDir())
	refused(empty, terminal.ExitDatabase, "opens its secrets", url)
	refused(old.dir, terminal.ExitConflict, "this machine has epoch 1 itself", url)
	refused(old.dir, terminal.ExitDatabase, "stop it first", url, "--force")
	objects, err := replica.Open(t.Context(), old.config.Place, replica.Credentials{})
	must(t, err)
	if e, err := replica.Newest(t.Context(), objects); err != nil || e.Number != 1 {
		t.Errorf("an epoch was taken: %v, %v", e, err)
	}

	// Another machine took over and has written nothing: what it recorded isn't here.
	must(t, replica.NewEpoch(2, "another-vps", time.Now()).Take(t.Context(), objects))
	refused(empty, terminal.ExitConflict, "another-vps and has written no copy here", url, "--key", old.db+".key")
	do(t, empty, "takeover", url, "--key", old.db+".key", "--litestream", old.config.Program, "--force")
	if c, err := replica.ReadConfig(filepath.Join(empty, "baoco.db")); err != nil || c.Epoch != 3 {
		t.Errorf("%+v, %v", c, err)
	}

	// A kill between putting the copy in place and the new configuration leaves this.
	must(t, os.WriteFile(filepath.Join(empty, "baoco.db.taking-over"), nil, 0o600))
	p := startIn(t, empty, anyPort)
	if code := p.exitWithin(t, 30*time.Second); code != terminal.ExitDatabase || !strings.Contains(p.stderr.String(), "run baoco takeover again") {
		t.Errorf("after an interrupted takeover: exit %d\n%s", code, p.stderr)
	}
	do(t, empty, "takeover", url, "--key", old.db+".key", "--litestream", old.config.Program)
	serveIn(t, empty, anyPort).end(t)
}
