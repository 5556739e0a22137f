package acceptance_test

import (
	"encoding/json"
	"fmt"
	"os"
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

// checked runs the check of a replica.
func (r *replicated) checked(t *testing.T) (code int, check struct {
	Good          bool
	Problem       string
	BehindSeconds float64 `json:"behind_seconds"`
	Transactions  int
}) {
	t.Helper()
	cmd := program(r.dir, "replica", "check", "-o", "json")
	out, err := cmd.Output()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &check); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return cmd.ProcessState.ExitCode(), check
}

// needed is an object without which the copy has a gap.
func (r *replicated) needed(t *testing.T) (file string) {
	t.Helper()
	eventually(t, "there is an object that the copy needs", func() bool {
		list, err := r.objects.List(t.Context(), replica.EpochDir(1))
		must(t, err)
		for _, o := range list {
			file = filepath.Join(r.place, o.Name)
			must(t, os.Rename(file, file+".away"))
			look, err := replica.LookAt(t.Context(), r.objects, 1)
			must(t, err)
			must(t, os.Rename(file+".away", file))
			if look.Odd(look) != nil {
				return true
			}
		}
		return false
	})
	return file
}

// A good copy is good; each thing that can be wrong with it is found by a check.
func TestReplicaCheck(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	r := replicate(t, install(t, receiver), replica.File, "--allow-target", receiver.target())
	calls := r.provider(r.server.url)
	for i := range 30 {
		calls.call(fmt.Sprint("FT", i))
		time.Sleep(150 * time.Millisecond) // the copy gets several objects, one a second
	}
	eventually(t, "all of it is in the copy", func() bool {
		code, c := r.checked(t)
		return code == 0 && c.Good && c.Transactions == 30 && c.BehindSeconds == 0
	})
	if out := do(t, r.dir, "replica", "check"); !strings.HasPrefix(out, "good, 0.0 s behind: 30 transactions") {
		t.Errorf("it prints %q", out)
	}

	// Several at once, as a server and people make them, don't disturb each other.
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			if code, c := r.checked(t); code != 0 || !c.Good {
				t.Errorf("beside other checks: exit %d, %+v", code, c)
			}
		})
	}
	running.Wait()

	// Litestream stands still.
	must(t, r.litestream.Process.Signal(syscall.SIGSTOP))
	calls.call("FT-behind")
	time.Sleep(1500 * time.Millisecond)
	if code, c := r.checked(t); code != 0 || c.BehindSeconds < 1 || c.Transactions != 30 {
		t.Errorf("with Litestream stopped: exit %d, %+v", code, c)
	}
	wrong := func(what, says string) {
		t.Helper()
		if code, c := r.checked(t); code != terminal.ExitCheck || c.Good || !strings.Contains(c.Problem, says) {
			t.Errorf("%s: exit %d, %+v", what, code, c)
		}
	}
	file := r.needed(t)
	damage := func(what, file string, change func(content []byte) []byte, says string) {
		t.Helper()
		content, err := os.ReadFile(file)
		must(t, err)
		if damaged := change(slices.Clone(content)); damaged == nil {
			must(t, os.Remove(file))
		} else {
			must(t, os.WriteFile(file, damaged, 0o600))
		}
		wrong(what, says)
		must(t, os.WriteFile(file, content, 0o600))
	}
	damage("a deleted object", file, func([]byte) []byte { return nil }, "can’t be restored")
	damage("a corrupt object", file, func(b []byte) []byte { b[len(b)/2] ^= 1; return b }, "can’t be restored")
	damage("a short object", file, func(b []byte) []byte { return b[:len(b)/2] }, "can’t be restored")

	left, err := filepath.Glob(r.db + ".checking-*")
	must(t, err)
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A server says within five minutes that its copy is wrong, and that it is good again.
func TestReplicaWatched(t *testing.T) {
	if !apptest.Full() {
		t.Skip("needs BAOCO_FULL=1: it takes minutes until a copy is stale")
	}
	t.Parallel()
	receiver := openShop(t)
	for what, fault := range map[string]func(r *replicated) (mend func()){
		"Litestream stopped": func(r *replicated) func() {
			must(t, r.litestream.Process.Signal(syscall.SIGSTOP))
			return func() { must(t, r.litestream.Process.Signal(syscall.SIGCONT)) }
		},
		"the place is away": func(r *replicated) func() {
			must(t, os.Rename(r.place, r.place+".away"))
			must(t, os.WriteFile(r.place, nil, 0o600))
			return func() {
				must(t, os.Remove(r.place))
				must(t, os.Rename(r.place+".away", r.place))
			}
		},
		"an object deleted": func(r *replicated) func() {
			file := r.needed(t)
			content, err := os.ReadFile(file)
			must(t, err)
			must(t, os.Remove(file))
			return func() { must(t, os.WriteFile(file, content, 0o600)) }
		},
		"the key is gone": func(r *replicated) func() {
			must(t, os.Rename(r.db+".key", r.db+".key.away"))
			return func() { must(t, os.Rename(r.db+".key.away", r.db+".key")) }
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := replicate(t, install(t, receiver), replica.File, "--allow-target", receiver.target())
			var before int // how much the log had said
			says := func(text string) func() bool {
				return func() bool { return strings.Contains(r.server.stderr.String()[before:], text) }
			}
			for i := range 30 {
				r.provider(r.server.url).call(fmt.Sprint("FT", i))
				time.Sleep(150 * time.Millisecond)
			}
			eventually(t, "the copy is good", func() bool { code, c := r.checked(t); return code == 0 && c.Transactions == 30 })
			before = len(r.server.stderr.String())
			if said := r.server.stderr.String(); strings.Contains(said, "the replica") {
				t.Errorf("of a good copy it says:\n%s", said)
			}
			mend := fault(r)
			began := time.Now()
			within(t, 5*time.Minute, "the log says that the copy is not good", says("the replica is not good"))
			t.Logf("reported after %v", time.Since(began).Round(time.Second))
			mend()
			before = len(r.server.stderr.String())
			within(t, 3*time.Minute, "the log says that it is good again", says("the replica is good again"))
		})
	}
}

// within waits for something that takes minutes.
func within(t *testing.T, limit time.Duration, what string, there func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !there(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}
