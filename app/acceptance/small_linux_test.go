package acceptance_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/services"
)

const smallMemory = 256 << 20

// cgroupOf makes a control group with little memory and gives its directory.
func cgroupOf(t *testing.T) (dir string, err error) {
	t.Helper()
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(own)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		root, limit := "", ""
		switch {
		case fields[1] == "memory":
			root, limit = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		case fields[0] == "0":
			root, limit = "/sys/fs/cgroup", "memory.max"
		}
		for _, parent := range []string{filepath.Join(root, fields[2]), root} {
			dir := filepath.Join(parent, fmt.Sprint("baoco-test-", os.Getpid()))
			if root == "" || os.Mkdir(dir, 0o755) != nil {
				continue
			}
			t.Cleanup(func() {
				eventually(t, "the control group is empty", func() bool { return syscall.Rmdir(dir) == nil })
			})
			if os.WriteFile(filepath.Join(dir, limit), []byte(fmt.Sprint(smallMemory)), 0o644) == nil {
				return dir, nil
			}
		}
	}
	return "", errors.New("no control group with a limit of memory can be made here")
}

// slowShops answer every delivery after some seconds, at many hosts of this machine.
type slowShops struct {
	port                 string
	open, most, answered atomic.Int64
}

func openSlowShops(t *testing.T, after time.Duration) *slowShops {
	t.Helper()
	s := &slowShops{}
	l, err := net.Listen("tcp4", "0.0.0.0:0")
	must(t, err)
	_, s.port, _ = net.SplitHostPort(l.Addr().String())
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := s.open.Add(1)
		defer s.open.Add(-1)
		for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); most = s.most.Load() {
		}
		time.Sleep(after) // what makes these shops slow
		s.answered.Add(1)
	}))
	_ = server.Listener.Close()
	server.Listener = l
	server.Start()
	t.Cleanup(server.Close)
	return s
}

// One CPU and 256 MB, with as many slow receivers as baoco has attempts in flight:
// it isn't killed, calls are answered in time, and everything is delivered.
func TestSmallMachine(t *testing.T) {
	if !apptest.Full() {
		t.Skip("needs BAOCO_FULL=1: slow receivers take their time")
	}
	const shops, transactions = 90, 40
	slow := openSlowShops(t, 5*time.Second)
	quick := openShop(t)
	in := install(t, quick)
	w := apptest.Open(t, in.db, services.Config{Targets: apptest.Targets(t, "127.0.0.0/8")})
	for i := range shops {
		w.Webhook(fmt.Sprintf("http://127.0.1.%d:%s/", i+1, slow.port), delivery.WebhookAll)
	}
	w.Close()
	cmd := program(in.dir, "serve", "--listen", anyPort, "--allow-target", "127.0.0.0/8", "--rate-limit", "100000", "--listing-rate-limit",
		"100000", "--metrics-listen", "0")
	cmd.Env = append(cmd.Env, "GOMAXPROCS=1")
	if group, err := cgroupOf(t); err == nil {
		cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `echo $$ > "` + group + `/cgroup.procs" && exec "$0" "$@"`}, cmd.Args...)
	} else {
		t.Logf("%v: the server gets GOMEMLIMIT, and its memory is measured", err)
		cmd.Env = append(cmd.Env, "GOMEMLIMIT=182MiB")
	}
	p := &process{Cmd: cmd, stderr: &apptest.Output{}}
	cmd.Stderr = p.stderr
	must(t, cmd.Start())
	t.Cleanup(func() { _ = p.Process.Kill(); _ = p.Wait() })
	if !p.waitForURL() {
		t.Fatalf("serve did not come up:\n%s", p.stderr)
	}
	calls := in.provider(p.url)
	longest, memory := time.Duration(0), 0
	for i, end := 0, time.Now().Add(5*time.Minute); slow.answered.Load() < shops*transactions; i++ {
		if time.Now().After(end) {
			t.Fatalf("after five minutes %d of %d are delivered\n%s", slow.answered.Load(), shops*transactions, p.stderr)
		}
		asked := time.Now()
		if !calls.call(fmt.Sprint("FT", i%transactions)) { // later ones are repeated
			t.Fatalf("a call fails\n%s", p.stderr)
		}
		if got := status(t, p.url+"/api/v1/transactions", in.key); got != http.StatusOK {
			t.Errorf("the API answers %d", got)
		}
		longest, memory = max(longest, time.Since(asked)), max(memory, residentMB(t, p.Process.Pid))
		time.Sleep(20 * time.Millisecond) // the pace of the load
	}
	eventually(t, "the quick shop has everything", func() bool { return len(quick.received()) == transactions })
	t.Logf("at most %d attempts at once, a call and a request took %v, %d MB", slow.most.Load(), longest, memory)
	if longest > 5*time.Second || memory > smallMemory>>20 || slow.most.Load() < 300 {
		t.Error("it stalled, took too much memory, or had too few attempts in flight to show anything")
	}
	_, figures := figuresOf(t, "http://"+p.stderr.Await(showingAt, time.Minute)[1]+"/metrics", "")
	if limit := figures["go_gc_gomemlimit_bytes"]; limit > 190<<20 {
		t.Errorf("Go's memory may grow to %.0f MB", limit/(1<<20))
	}
	p.end(t)
}
