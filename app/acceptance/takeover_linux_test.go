package acceptance_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/command/serve"
	"baoco/app/command/terminal"
	"baoco/app/replica"
)

// replicated is an installation with a server, and Litestream beside it.
type replicated struct {
	installation
	config     replica.Config
	objects    replica.Objects
	place      string // the directory that holds the objects
	keyFile    string // a copy, elsewhere
	args       []string
	server     *process
	litestream *exec.Cmd
}

// replicate serves an installation, and copies it to a place of a kind.
func replicate(t *testing.T, in installation, kind replica.Scheme, args ...string) *replicated {
	t.Helper()
	at, secret, dir := apptest.Places[kind](t)
	r := replicateAt(t, in, at, secret, args...)
	r.place = dir
	return r
}

func replicateAt(t *testing.T, in installation, at replica.Place, secret replica.Credentials, args ...string) *replicated {
	t.Helper()
	r := &replicated{installation: in, args: args, keyFile: filepath.Join(t.TempDir(), "key")}
	r.config = replica.Config{Database: in.db, Place: at, Credentials: secret, Epoch: 1, Program: apptest.Litestream(t).Path}
	key, err := os.ReadFile(in.db + ".key")
	must(t, errors.Join(err, os.WriteFile(r.keyFile, key, 0o600)))
	r.objects, err = replica.Open(t.Context(), r.config.Place, r.config.Credentials)
	must(t, err)
	t.Cleanup(func() { r.objects.Close() })
	must(t, replica.NewEpoch(1, "old-vps", time.Now()).Take(t.Context(), r.objects))
	must(t, r.config.Write())
	r.server = serveIn(t, in.dir, anyPort, args...)
	r.copies(t)
	return r
}

// copies starts Litestream and waits until there is a copy.
func (r *replicated) copies(t *testing.T) {
	t.Helper()
	r.litestream = startLitestream(t, r.config)
	eventually(t, "a copy is made", func() bool {
		c, err := replica.CopyOf(t.Context(), r.objects, r.config.Epoch)
		return err == nil && c.Objects > 0
	})
}

// startLitestream starts Litestream with the configuration beside the database, and copies
// every litestreamEvery.
func startLitestream(t *testing.T, c replica.Config) *exec.Cmd {
	t.Helper()
	text, err := os.ReadFile(replica.ConfigPath(c.Database))
	must(t, err)
	config, every := filepath.Join(t.TempDir(), "litestream.yml"), fmt.Sprintf("%q", litestreamEvery)
	must(t, os.WriteFile(config, bytes.ReplaceAll(text, []byte(`"1s"`), []byte(every)), 0o600))
	said := &apptest.Output{}
	cmd := exec.Command(c.Program, "replicate", "-config", config, "-no-expand-env")
	cmd.Env = []string{"PATH=/usr/bin:/bin"} // as its unit has
	cmd.Stdout, cmd.Stderr = said, said
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("Litestream said:\n%s", said)
		}
	})
	return cmd
}

// command runs a command on the database there.
func (in installation) command(args ...string) (code int, stdout, stderr string) {
	return baoco("", append(args, "--db", in.db)...)
}

// takeOverArgs are the arguments with which another machine takes over.
func (r *replicated) takeOverArgs(t *testing.T) []string {
	t.Helper()
	args := []string{"takeover", r.config.Place.String(), "--key", r.keyFile, "--litestream", r.config.Program}
	if c := r.config.Credentials; c != (replica.Credentials{}) {
		file := filepath.Join(t.TempDir(), "credentials")
		text := "host-key: " + c.HostKey + "\nkey-file: " + c.KeyFile
		if c.HostKey == "" {
			text = "access-key-id: " + c.AccessKeyID + "\nsecret-access-key: " + c.SecretAccessKey
		}
		must(t, os.WriteFile(file, []byte(text), 0o600))
		args = append(args, "--credentials-file", file)
	}
	return args
}

// takeOver runs the command in a new directory.
func (r *replicated) takeOver(t *testing.T) (dir string, took time.Duration) {
	t.Helper()
	dir = t.TempDir()
	began := time.Now()
	doIn(t, dir, r.takeOverArgs(t)...)
	return dir, time.Since(began)
}

// A living server stops by itself once another one took over, and all that it
// acknowledged until then is on the other machine.
func TestTakeoverFromLivingServer(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	args := []string{"--allow-target", receiver.target()}
	old := replicate(t, install(t, receiver), replica.File, args...)
	calls := &timedCaller{caller: old.provider(old.server.url), at: map[string]time.Time{}}
	stop := calls.underLoad(4)
	eventually(t, "calls are acknowledged", func() bool { return len(calls.acknowledged()) > 50 })
	dir, took := old.takeOver(t)
	stop()
	code := old.server.exitWithin(t, 5*time.Second)
	if said := old.server.stderr.String(); code != terminal.ExitConflict || !strings.Contains(said, "another server took over at ") {
		t.Errorf("the old server: exit %d\n%s", code, said)
	}
	// Commands there say it too, until this is no machine with that replica any more.
	replaced := "Another server took over: epoch 2 was taken at "
	if _, _, said := old.command("bank", "list"); !strings.Contains(said, replaced) {
		t.Errorf("a command on the old machine said %q", said)
	}
	if code, out, _ := old.command("doctor"); code != terminal.ExitCheck || !strings.Contains(out, replaced) {
		t.Errorf("doctor on the old machine: exit %d\n%s", code, out)
	}
	old.command("replica", "remove")
	if _, _, said := old.command("bank", "list"); said != "" {
		t.Errorf("after the replica was removed a command says %q", said)
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
	must(t, replica.Config{Database: in.db, Place: place, Epoch: 1,
		Credentials: replica.Credentials{AccessKeyID: "a", SecretAccessKey: "Hunter2"}}.Write())
	p := serveIn(t, in.dir, anyPort, "--allow-target", receiver.target())
	if !in.provider(p.url).call("FT1") {
		t.Error("a call was refused")
	}
	time.Sleep(2 * serve.FenceEvery) // the fence looks again, and must not say it again
	p.end(t)
	if said := p.stderr.String(); strings.Count(said, "it can't be seen whether another server took over") != 1 ||
		strings.Contains(said, "Hunter2") {
		t.Errorf("it said:\n%s", said)
	}
}

// A configuration that is there and can't be used, as that of a database which was moved,
// hides a takeover: such a server doesn't start.
func TestFenceOfMovedDatabase(t *testing.T) {
	t.Parallel()
	in := install(t, openShop(t))
	at, _, _ := apptest.Places[replica.File](t)
	must(t, replica.Config{Database: in.db, Place: at, Epoch: 1}.Write())
	moved := filepath.Join(t.TempDir(), "moved")
	must(t, os.Rename(in.dir, moved))
	p := startIn(t, moved, anyPort)
	if code := p.exitWithin(t, 30*time.Second); code != terminal.ExitDatabase ||
		!strings.Contains(p.stderr.String(), "run baoco replica setup again, or remove that file") {
		t.Errorf("exit %d\n%s", code, p.stderr)
	}
}

// A server sees a takeover also where its configuration was taken away meanwhile, or says
// another place, where the place was out of reach when it started, where the objects of epochs between were
// lost, and where that was a pipe, which nobody writes to.
func TestFenceAfterAll(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	servers := map[string]*process{}
	for name, trouble := range map[string]func(config replica.Config) (mend func()){
		"no configuration": func(config replica.Config) func() {
			return func() { must(t, os.Remove(replica.ConfigPath(config.Database))) }
		},
		"another place": func(config replica.Config) func() {
			return func() {
				config.Place, _, _ = apptest.Places[replica.File](t)
				must(t, config.Write())
			}
		},
		"epochs lost": func(replica.Config) func() { return func() {} },
		"a pipe": func(config replica.Config) func() {
			pipe := filepath.Join(config.Place.Path, "epochs", "000002.json")
			must(t, syscall.Mkfifo(pipe, 0o600))
			return func() { must(t, os.Remove(pipe)) }
		},
		"the place away": func(config replica.Config) func() {
			must(t, os.Rename(config.Place.Path, config.Place.Path+".away"))
			must(t, os.WriteFile(config.Place.Path, nil, 0o600))
			return func() {
				must(t, os.Remove(config.Place.Path))
				must(t, os.Rename(config.Place.Path+".away", config.Place.Path))
			}
		},
	} {
		in := install(t, receiver)
		at, secret, _ := apptest.Places[replica.File](t)
		objects, err := replica.Open(t.Context(), at, secret)
		must(t, err)
		must(t, replica.NewEpoch(1, "old-vps", time.Now()).Take(t.Context(), objects))
		config := replica.Config{Database: in.db, Place: at, Epoch: 1}
		must(t, config.Write())
		mend := trouble(config)
		p := serveIn(t, in.dir, anyPort, "--allow-target", receiver.target())
		if !in.provider(p.url).call("FT1") {
			t.Errorf("%s: a call was refused", name)
		}
		mend()
		if config, err = replica.ReadConfig(in.db); err == nil {
			objects, err = replica.Open(t.Context(), config.Place, secret)
			must(t, err)
		}
		next := int64(2)
		if name == "epochs lost" {
			next = 7
		}
		must(t, replica.NewEpoch(next, "another-vps", time.Now()).Take(t.Context(), objects))
		servers[name] = p
	}
	// All of them wait at once for the look for any epoch.
	for name, p := range servers {
		if code := p.exitWithin(t, 60*time.Second); code != terminal.ExitConflict ||
			!strings.Contains(p.stderr.String(), "another server took over at ") {
			t.Errorf("%s: exit %d\n%s", name, code, p.stderr)
		}
	}
}

// What is refused changes neither this machine nor the place.
func TestTakeoverRefused(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	old := replicate(t, install(t, receiver), replica.File, "--allow-target", receiver.target())
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
	old.kill(t)
	old.age(t)

	// Another machine took over and has written nothing: what it recorded isn't here.
	must(t, replica.NewEpoch(2, "another-vps", time.Now()).Take(t.Context(), objects))
	refused(empty, terminal.ExitConflict, "another-vps and has written no copy here", url, "--key", old.db+".key")
	doIn(t, empty, "takeover", url, "--key", old.db+".key", "--litestream", old.config.Program, "--force")
	if c, err := replica.ReadConfig(filepath.Join(empty, "baoco.db")); err != nil || c.Epoch != 3 {
		t.Errorf("%+v, %v", c, err)
	}

	// A kill between putting the copy in place and the new configuration leaves this.
	must(t, os.WriteFile(filepath.Join(empty, "baoco.db.taking-over"), nil, 0o600))
	p := startIn(t, empty, anyPort)
	if code := p.exitWithin(t, 30*time.Second); code != terminal.ExitDatabase ||
		!strings.Contains(p.stderr.String(), "run baoco takeover again") {
		t.Errorf("after an interrupted takeover: exit %d\n%s", code, p.stderr)
	}
	doIn(t, empty, "takeover", url, "--key", old.db+".key", "--litestream", old.config.Program)
	serveIn(t, empty, anyPort).end(t)
}
