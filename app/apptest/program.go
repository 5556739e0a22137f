package apptest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"baoco/app/replica"
)

// Missing skips a test that needs something which this machine doesn't have. With BAOCO_CI=1,
// where everything from Debian is installed, the test fails.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("BAOCO_CI") != "" {
		t.Fatalf("this test needs %s", what)
	}
	t.Skipf("skipped: this test needs %s", what)
}

var building sync.Mutex // one build at a time, since they share the compiler's cache

// Program returns the path of a third-party program, such as a server: from PATH, or else
// built from its module, once for each machine. A build takes minutes and the network, so
// without BAOCO_FULL=1 the test is skipped.
func Program(t testing.TB, name, module string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	cache, err := os.UserCacheDir()
	Must(t, err)
	_, version, _ := strings.Cut(module, "@")
	dir := filepath.Join(cache, "baoco-"+name+"-"+version)
	path := filepath.Join(dir, name)
	building.Lock()
	defer building.Unlock()
	if _, err := os.Stat(path); err == nil {
		return path
	}
	if !Full() {
		t.Skipf("skipped: needs %s: put it into PATH, or set BAOCO_FULL=1 to build it", name)
	}
	ctx, stop := context.WithTimeout(context.Background(), 15*time.Minute)
	defer stop()
	build := exec.CommandContext(ctx, "go", "install", module)
	build.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		Missing(t, name+", which can't be built: "+string(out))
	}
	return path
}

// Litestream returns the program from PATH, or builds it.
func Litestream(t testing.TB) replica.Program {
	t.Helper()
	program, err := replica.FindProgram(t.Context(), Program(t, "litestream", "github.com/benbjohnson/litestream/cmd/litestream@v0.5.18"))
	Must(t, err)
	return program
}
