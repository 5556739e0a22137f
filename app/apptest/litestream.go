package apptest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"baoco/app/replica"
)

// litestreamVersion is the Litestream that the tests build.
const litestreamVersion = "v0.5.18"

// Litestream is the program, that of PATH if its version may be used. Where there is
// none, it is built once for each machine, with BAOCO_FULL=1 only, because that takes
// minutes and the network; without it the test is skipped.
func Litestream(t testing.TB) replica.Program {
	t.Helper()
	program, err := findLitestream()
	switch {
	case err == nil:
		return program
	case os.Getenv("BAOCO_CI") != "":
		t.Fatal(err)
	case !Full():
		t.Skipf("needs Litestream: put it into PATH, or set BAOCO_FULL=1 to build it (%v)", err)
	}
	t.Skipf("skipped: Litestream can't be built: %v", err)
	return replica.Program{}
}

var findLitestream = sync.OnceValues(func() (replica.Program, error) {
	ctx, stop := context.WithTimeout(context.Background(), 15*time.Minute)
	defer stop()
	program, err := replica.FindProgram(ctx, "")
	if err == nil {
		return program, nil
	}
	cache, e := os.UserCacheDir()
	if e != nil {
		return program, e
	}
	dir := filepath.Join(cache, "baoco-litestream-"+litestreamVersion)
	built := filepath.Join(dir, "litestream")
	if _, e := os.Stat(built); e != nil {
		if !Full() && os.Getenv("BAOCO_CI") == "" {
			return program, err
		}
		build := exec.CommandContext(ctx, "go", "install", "github.com/benbjohnson/litestream/cmd/litestream@"+litestreamVersion)
		build.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=", "CGO_ENABLED=0")
		build.Stdout, build.Stderr = os.Stderr, os.Stderr
		if err := build.Run(); err != nil {
			return program, err
		}
	}
	return replica.FindProgram(ctx, built)
})
