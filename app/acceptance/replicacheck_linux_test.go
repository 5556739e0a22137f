package acceptance_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/command/serve"
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

// needed is an object without which the copy has a gap. It stops Litestream, which would
// soon write another with the same transactions: its first snapshot, of the second in which
// it begins, must be there already.
func (r *replicated) needed(t *testing.T) (file string) {
	t.Helper()
	calls := r.provider(r.server.url)
	eventually(t, "there is an object that the copy needs", func() bool {
		must(t, r.litestream.Process.Signal(syscall.SIGCONT))
		eventually(t, "Litestream has made a snapshot", func() bool {
			snapshots, err := filepath.Glob(filepath.Join(r.place, replica.EpochDir(1), "ltx", "9", "*.ltx"))
			return err == nil && len(snapshots) > 0
		})
		for range 3 {
			calls.call(fmt.Sprint("needed-", time.Now().UnixNano()))
			time.Sleep(6 * litestreamEvery / 5) // an object each
		}
		must(t, r.litestream.Process.Signal(syscall.SIGSTOP))
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

// Before Litestream has run there is nothing that a new copy would mend.
func TestReplicaCheckBeforeACopy(t *testing.T) {
	t.Parallel()
	in := install(t, openShop(t))
	at, _, _ := apptest.Places[replica.File](t)
	doIn(t, in.dir, "replica", "setup", at.String(), "--litestream", apptest.Litestream(t).Path)
	r := &replicated{installation: in}
	if code, c := r.checked(t); code != terminal.ExitCheck || !strings.Contains(c.Problem, "Nothing has been copied yet") ||
		strings.Contains(c.Problem, "--anew") {
		t.Errorf("exit %d, %+v", code, c)
	}
}

// A good copy is good; each thing that can be wrong with it is found by a check.
func TestReplicaCheck(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	r := replicate(t, install(t, receiver), replica.File, "--allow-target", receiver.target())
	calls := r.provider(r.server.url)
	for i := range 30 {
		calls.call(fmt.Sprint("FT", i))
		time.Sleep(litestreamEvery / 6) // the copy gets several objects
	}
	eventually(t, "all of it is in the copy", func() bool {
		code, c := r.checked(t)
		return code == 0 && c.Good && c.Transactions == 30 && c.BehindSeconds == 0
	})
	if out := doIn(t, r.dir, "replica", "check"); !strings.HasPrefix(out, "good, 0.0 s behind: 30 transactions") {
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

	wrong := func(what, says string) {
		t.Helper()
		if code, c := r.checked(t); code != terminal.ExitCheck || c.Good || !strings.Contains(c.Problem, says) {
			t.Errorf("%s: exit %d, %+v", what, code, c)
		}
	}
	// Litestream stands still from now on.
	file := r.needed(t)
	calls.call("FT-behind")
	time.Sleep(1500 * time.Millisecond) // the copy falls behind by more than a second
	if code, c := r.checked(t); code != 0 || c.BehindSeconds < 1 {
		t.Errorf("with Litestream stopped: exit %d, %+v", code, c)
	}
	for what, change := range map[string]func(content []byte) []byte{
		"a deleted object": nil,
		"a corrupt object": func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"a short object":   func(b []byte) []byte { return b[:len(b)/2] },
	} {
		mend := damage(t, file, change)
		wrong(what, "can’t be restored")
		mend()
	}
	left, err := filepath.Glob(r.db + ".checking-*")
	must(t, err)
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A copy with a gap keeps it. A new copy beside it is good, and doesn't fence off the server
// that begins it.
func TestReplicaAnew(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	r := replicate(t, install(t, receiver), replica.File, "--allow-target", receiver.target())
	calls := r.provider(r.server.url)
	for i := range 20 {
		calls.call(fmt.Sprint("FT", i))
		time.Sleep(litestreamEvery / 6) // the copy gets several objects
	}
	must(t, os.Remove(r.needed(t)))
	must(t, r.litestream.Process.Signal(syscall.SIGCONT))
	if code, c := r.checked(t); code != terminal.ExitCheck || !strings.Contains(c.Problem, "baoco replica setup --anew") {
		t.Errorf("with a gap: exit %d, %+v", code, c)
	}
	words := filepath.Join(t.TempDir(), "words") // to seal the key takes a second, in which the fence may look
	must(t, os.WriteFile(words, []byte("correct horse battery staple\n"), 0o600))
	doIn(t, r.dir, "replica", "setup", r.config.Place.String(), "--anew", "--passphrase-file", words, "--litestream", r.config.Program)
	must(t, r.litestream.Process.Kill())
	var err error
	r.config, err = replica.ReadConfig(r.db)
	must(t, err)
	r.copies(t)
	time.Sleep(serve.FenceTime) // the fence looks, and must not shut
	if !calls.call("FT-after") {
		t.Errorf("the server was fenced off by its own new copy:\n%s", r.server.stderr)
	}
	eventually(t, "the new copy is good and has everything", func() bool { code, c := r.checked(t); return code == 0 && c.BehindSeconds == 0 })
	eventually(t, "all is delivered", func() bool { return strings.Contains(do(t, r.dir, "delivery", "pending", "-o", "json"), "[]") })
	eventually(t, "the copy has that too", func() bool { code, c := r.checked(t); return code == 0 && c.BehindSeconds == 0 })
	r.kill(t)
	r.age(t)
	dir, _ := r.takeOver(t)
	checkLedger(t, filepath.Join(dir, "baoco.db"), calls.acknowledged())
}

// A server also isn't fenced off by a new copy whose configuration is removed at once.
func TestReplicaAnewAndRemoved(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	r := replicate(t, install(t, receiver), replica.File, "--allow-target", receiver.target())
	doIn(t, r.dir, "replica", "setup", r.config.Place.String(), "--anew", "--litestream", r.config.Program)
	doIn(t, r.dir, "replica", "remove")
	time.Sleep(serve.FenceTime) // the fence looks, and must not shut
	if !r.provider(r.server.url).call("FT1") {
		t.Errorf("the server was fenced off:\n%s", r.server.stderr)
	}
}
