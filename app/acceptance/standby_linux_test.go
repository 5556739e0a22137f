package acceptance_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/replica"
	"baoco/app/upkeep"
	"baoco/sqlitestore"
)

// follower is a baoco standby of its own, and somebody who is signed in there.
type follower struct {
	*process
	dir    string
	client *http.Client
}

var standingBy = regexp.MustCompile(`msg="standing by" address=(\S+)`)

// standBy starts a standby of a replica in a directory, and waits until it follows.
func (r *replicated) standBy(t *testing.T, dir string, args ...string) *follower {
	t.Helper()
	jar, err := cookiejar.New(nil)
	must(t, err)
	s := &follower{process: &process{stderr: &apptest.Output{}}, dir: dir, client: &http.Client{Jar: jar, Timeout: time.Minute}}
	s.Cmd = program(dir, slices.Concat([]string{"standby", "--listen", anyPort}, r.takeOverArgs(t)[1:], args)...)
	s.Stderr = s.stderr
	must(t, s.Start())
	t.Cleanup(func() {
		_ = s.Process.Kill()
		_ = s.Wait()
		if t.Failed() {
			t.Logf("the standby said:\n%s", s.stderr)
		}
	})
	found := s.stderr.Await(standingBy, 30*time.Second)
	if found == nil {
		t.Fatalf("the standby didn't come up:\n%s", s.stderr)
	}
	s.url = "http://" + found[1]
	eventually(t, "it follows", func() bool { return strings.Contains(s.stderr.String(), "the standby follows") })
	return s
}

func (s *follower) get(t *testing.T, path string) (status int, body string) {
	t.Helper()
	response, err := s.client.Get(s.url + path)
	must(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	return response.StatusCode, string(text)
}

func (s *follower) signIn(t *testing.T, name, password string) {
	t.Helper()
	response, err := s.client.PostForm(s.url+"/login", url.Values{"name": {name}, "password": {password}})
	must(t, err)
	response.Body.Close()
}

// shows reports whether a transaction is on its page.
func (s *follower) shows(t *testing.T, number string) bool {
	t.Helper()
	status, body := s.get(t, "/transactions?q="+number)
	return status == http.StatusOK && strings.Contains(body, `id="tx-`)
}

// child is the process of its Litestream; 0: there is none.
func (s *follower) child(t *testing.T) (pid int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", s.Process.Pid))
	must(t, err)
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", s.Process.Pid))
	must(t, err)
	for _, task := range tasks {
		more, _ := os.ReadFile(task)
		text = append(text, more...)
	}
	for word := range strings.FieldsSeq(string(text)) {
		pid, err = strconv.Atoi(word)
		must(t, err)
	}
	return pid
}

func (r *replicated) addUser(t *testing.T) (name, password string) {
	t.Helper()
	file := filepath.Join(r.dir, "password.txt")
	must(t, os.WriteFile(file, []byte(apptest.SomePassword), 0o600))
	do(t, r.dir, "user", "create", "lan", "--password-file", file)
	return "lan", apptest.SomePassword
}

// A standby shows what a server records, whatever becomes of its Litestream; it accepts
// nothing; and when the server is lost, another takes over on the same machine, which
// the standby of a third follows.
func TestStandby(t *testing.T) {
	for kind := range apptest.Places {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			checkStandby(t, kind)
		})
	}
}

func checkStandby(t *testing.T, kind replica.Scheme) {
	receiver := openShop(t)
	old := replicate(t, install(t, receiver), kind, "--allow-target", receiver.target())
	name, password := old.addUser(t)
	calls := old.provider(old.server.url)
	calls.call("FT-first")
	second, third := old.standBy(t, t.TempDir()), old.standBy(t, t.TempDir())
	for _, s := range []*follower{second, third} {
		eventually(t, "the user is in the copy", func() bool {
			s.signIn(t, name, password)
			status, body := s.get(t, "/")
			return status == http.StatusOK && strings.Contains(body, `class="standby"`) && strings.Contains(body, "/logout")
		})
	}
	follows := func(s *follower, number string) {
		t.Helper()
		began := time.Now()
		eventually(t, number+" is shown", func() bool { return s.shows(t, number) })
		t.Logf("%s is shown after %v", number, time.Since(began).Round(time.Millisecond))
	}
	follows(second, "FT-first")
	calls.call("FT-second")
	follows(second, "FT-second")
	if second.readiness() != http.StatusServiceUnavailable || status(t, second.url+"/healthz", "") != http.StatusOK || status(t, second.url+"/api/v1/transactions", old.key) != http.StatusServiceUnavailable {
		t.Error("the standby answers as a server does")
	}
	if here := old.provider(second.url); here.call("FT-here") || here.refusals[http.StatusServiceUnavailable].Load() != 1 {
		t.Error("the standby took a call")
	}

	// Its Litestream is killed.
	pid := second.child(t)
	must(t, syscall.Kill(pid, syscall.SIGKILL))
	calls.call("FT-third")
	follows(second, "FT-third")
	if now := second.child(t); now == 0 || now == pid {
		t.Errorf("Litestream is %d, and was %d", now, pid)
	}

	// It is killed itself.
	pid = second.child(t)
	must(t, second.Process.Kill())
	_ = second.Wait()
	eventually(t, "its Litestream ends", func() bool { return syscall.Kill(pid, 0) != nil })
	second = old.standBy(t, second.dir)
	second.signIn(t, name, password)
	follows(second, "FT-third")

	// The server and its disk are lost.
	must(t, old.server.Process.Kill())
	must(t, old.litestream.Process.Kill())
	_, _ = old.server.Wait(), old.litestream.Wait()
	do(t, second.dir, old.takeOverArgs(t)...)
	if !second.shows(t, "FT-third") || !third.shows(t, "FT-third") {
		t.Error("the copy isn't shown any more")
	}
	eventually(t, "the third machine says who took over", func() bool { return strings.Contains(third.says(t), "Another server took over") })
	server := serveIn(t, second.dir, anyPort, "--allow-target", receiver.target())
	config, err := replica.ReadConfig(filepath.Join(second.dir, "baoco.db"))
	must(t, err)
	startLitestream(t, config)
	if !old.provider(server.url).call("FT-new") {
		t.Error("the new server refused a call")
	}
	follows(second, "FT-new")
	follows(third, "FT-new")
	eventually(t, "it says so no more", func() bool { return !strings.Contains(third.says(t), "took over") })
	for _, s := range []*follower{second, third} {
		s.end(t)
		if left, _ := filepath.Glob(filepath.Join(s.dir, "*.standby-*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// says is what a standby answers to who asks whether it is ready.
func (s *follower) says(t *testing.T) string {
	t.Helper()
	_, body := s.get(t, "/readyz")
	return body
}

// Whoever reads a copy while Litestream writes it reads one state of the server's file:
// no damaged page, and totals that are those of the rows.
func TestStandbyReadersUnderLoad(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	old := replicate(t, install(t, receiver), replica.File, "--allow-target", receiver.target())
	calls := old.provider(old.server.url)
	stop := calls.underLoad(4)
	store, err := sqlitestore.OpenStandby(filepath.Join(t.TempDir(), "baoco.db"), old.db+".key", slog.New(slog.DiscardHandler))
	must(t, err)
	defer func() { must(t, store.Close()) }()
	path, err := store.NewCopy()
	must(t, err)
	mark := replica.MarkOf(path)
	litestream := apptest.Litestream(t)
	must(t, litestream.RestoreToFollow(t.Context(), old.config, path))
	facts, keyFits, err := store.Admit(t.Context(), path, mark)
	must(t, err)
	if !keyFits {
		t.Error("the key doesn't fit")
	}
	ctx, cancel := context.WithCancel(t.Context())
	followed := make(chan error, 1)
	go func() { followed <- litestream.Follow(ctx, old.config, path) }()
	defer func() { cancel(); <-followed }()
	store.Show(path, mark)

	var readers sync.WaitGroup
	var reads, refused atomic.Int64
	end := time.Now().Add(time.Duration(rounds(10, 30)) * time.Second)
	for reader := range 3 {
		readers.Go(func() {
			for time.Now().Before(end) {
				// Of all transactions less those after none there is nothing.
				held, err := store.CopyFacts(t.Context(), 0)
				if held.Beat = (upkeep.Beat{}); err == nil && held != (upkeep.CopyFacts{}) {
					t.Errorf("the totals and the rows differ by %+v", held)
				}
				if err == nil && reader == 0 {
					err = store.Check(t.Context())
				}
				if reads.Add(1); app.CodeOf(err) == app.CodeUnavailable {
					refused.Add(1)
				} else if err != nil {
					t.Error(err)
				}
			}
		})
	}
	readers.Wait()
	stop()
	acked := int64(len(calls.acknowledged()))
	eventually(t, "all that was acknowledged is in the copy", func() bool {
		held, err := store.CopyFacts(t.Context(), upkeep.AllCopied)
		return err == nil && held.Transactions >= acked
	})
	t.Logf("%d transactions, %d when it was restored; %d reads, of which %d waited too long", acked, facts.Transactions, reads.Load(), refused.Load())
	if refused.Load() > reads.Load()/10 {
		t.Error("hardly anybody could read")
	}
}

// What goes wrong with a standby is seen within five minutes, and where it can start
// over it does so by itself; nothing that it held open stays open.
func TestStandbyFaults(t *testing.T) {
	if !apptest.Full() {
		t.Skip("needs BAOCO_FULL=1: it takes minutes until a copy stands still")
	}
	t.Parallel()
	receiver := openShop(t)
	old := replicate(t, install(t, receiver), replica.File, "--allow-target", receiver.target())
	name, password := old.addUser(t)
	calls := old.provider(old.server.url)
	calls.call("FT0")
	time.Sleep(2 * time.Second) // the user and the transaction are in the copy
	s := old.standBy(t, t.TempDir())
	s.signIn(t, name, password)
	within := func(what string, truth func() bool) {
		t.Helper()
		began := time.Now()
		for !truth() {
			if time.Since(began) > 5*time.Minute {
				t.Fatalf("not within five minutes: %s\n%s", what, s.says(t))
			}
			time.Sleep(200 * time.Millisecond)
		}
		t.Logf("%s after %v", what, time.Since(began).Round(time.Second))
	}
	open := func() int {
		list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.Process.Pid))
		must(t, err)
		return len(list)
	}
	before := open()
	for i := range 8 {
		number := fmt.Sprint("FT-kill", i)
		must(t, syscall.Kill(s.child(t), syscall.SIGKILL))
		calls.call(number)
		within(number+" is shown", func() bool { return s.shows(t, number) })
	}
	if after := open(); after > before+3 {
		t.Errorf("%d files are open, and %d were", after, before)
	}

	must(t, syscall.Kill(s.child(t), syscall.SIGSTOP))
	calls.call("FT-stalled")
	within("what a Litestream that stood still didn't apply is shown", func() bool { return s.shows(t, "FT-stalled") })

	file := old.needed(t)
	must(t, os.Rename(file, file+".away"))
	must(t, old.litestream.Process.Signal(syscall.SIGCONT))
	within("a missing object is told of", func() bool { return strings.Contains(s.says(t), "Objects of the replica are missing") })
	must(t, os.Rename(file+".away", file))
	within("it is told of no more", func() bool { return !strings.Contains(s.says(t), "are missing") })

	must(t, os.Rename(old.place, old.place+".away"))
	must(t, os.WriteFile(old.place, nil, 0o600))
	within("a place that can't be read is told of", func() bool { return strings.Contains(s.says(t), "can’t be read") })
	must(t, os.Remove(old.place))
	must(t, os.Rename(old.place+".away", old.place))
	within("it can be read again", func() bool { return !strings.Contains(s.says(t), "can’t be read") })

	must(t, old.server.Process.Kill())
	_ = old.server.Wait()
	within("a server that writes nothing is told of", func() bool { return strings.Contains(s.says(t), "has written nothing for 2 minutes") })
	if !s.shows(t, "FT-stalled") {
		t.Error("the last state isn't shown any more")
	}
}
