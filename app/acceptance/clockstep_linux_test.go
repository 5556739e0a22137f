package acceptance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// buildStepped builds the program with a package time that has testdata/clock/step.go in
// addition. No process can be given another clock than the machine's in any other way: a
// program of Go asks the kernel. .ci/machines builds tests so.
func buildStepped(t *testing.T) (path string) {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	must(t, err)
	dir, source := t.TempDir(), filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	own, err := os.ReadFile(filepath.Join(source, "time.go"))
	must(t, err)
	const known = "\tmono -= startNano\n"
	if strings.Count(string(own), known) != 1 {
		t.Fatal("time.Now of this Go is another one")
	}
	must(t, os.WriteFile(filepath.Join(dir, "time.go"), []byte(strings.Replace(string(own), known, known+"\tsec += stepOf(sec)\n", 1)), 0o600))
	step, err := filepath.Abs("../../testdata/clock/step.go")
	must(t, err)
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(source, "time.go"): filepath.Join(dir, "time.go"), filepath.Join(source, "step.go"): step,
	}})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600))
	path = filepath.Join(dir, "baoco")
	build := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", path, "baoco")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// The clock of a machine is set by an hour while a server runs. It goes on recording
// and delivering, a retry waits as long as it would have, and the log says at once that
// the clock was set.
func TestClockSteps(t *testing.T) {
	if os.Getenv("BAOCO_CLOCK_STEPS") == "" {
		t.Skip("needs BAOCO_CLOCK_STEPS=1: it builds Go's standard library and takes ten minutes; " +
			"TestClockWasAhead in package scheduler and TestMoveRetries in sqlitestore hold the rules")
	}
	t.Parallel()
	stepped := buildStepped(t)
	for _, step := range []string{"-1h", "1h"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			const after = 20 * time.Second
			receiver := openShop(t)
			in := install(t, receiver)
			receiver.sign("/a", "another secret") // it refuses what is delivered
			cmd := program(in.dir, "serve", "--listen", anyPort, "--allow-target", receiver.target())
			cmd.Path, cmd.Env = stepped, append(cmd.Env, "CLOCK_STEP="+step, fmt.Sprint("CLOCK_STEP_AT=", time.Now().Add(after).Unix()))
			p := startAs(t, cmd)
			if !p.waitForURL() {
				t.Fatalf("serve did not come up:\n%s", p.stderr)
			}
			if !in.provider(p.url).call("FT0") {
				t.Error("a call was refused")
			}
			// The server has had its clock set and has gone through all its regular work since.
			time.Sleep(after + 12*time.Second)
			receiver.mu.Lock()
			if receiver.bad != 2 { // at once, and ten seconds later; the next is due after thirty
				t.Errorf("%d attempts", receiver.bad)
			}
			receiver.mu.Unlock()
			receiver.sign("/a", in.webhookSecret)
			for range 10 {
				response, err := http.Get(p.url + "/readyz")
				must(t, err)
				response.Body.Close()
				if response.StatusCode != http.StatusOK {
					t.Fatalf("readyz answers %d\n%s", response.StatusCode, p.stderr)
				}
				time.Sleep(time.Second) // it must stay ready for ten seconds
			}
			if !in.provider(p.url).call("FT1") {
				t.Error("a call was refused")
			}
			within(t, 30*time.Second, "both are delivered", func() bool { return receiver.calls.Load() == 2 })
			if !strings.Contains(p.stderr.String(), "The clock of this machine") {
				t.Errorf("the log doesn't say that the clock was set:\n%s", p.stderr)
			}
		})
	}
}
