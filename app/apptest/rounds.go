package apptest

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"

	"baoco/app/password"
	"baoco/app/replica"
)

// Full reports whether the tests that run in rounds (kills, power cuts, errors of the disk,
// random filters) run all of them: with BAOCO_FULL=1, as in .ci/proofs. Without it they run
// a few.
func Full() bool { return os.Getenv("BAOCO_FULL") == "1" }

// Rounds returns the number of rounds of a test: full with BAOCO_FULL=1, few without it.
func Rounds(few, full int) int {
	if Full() {
		return full
	}
	return few
}

// CheapSecrets makes the hashing of passwords and the sealing of keys fast: a password
// takes 40 ms, and a sealed key a second. With BAOCO_FULL=1 they cost as much as in a shop.
func CheapSecrets() {
	if !Full() {
		password.Memory, replica.KeyMemory = 64, 64
	}
}

// RunTests is m.Run with at least n parallel tests, also on a smaller machine, for tests that
// wait most of the time. A given -parallel counts instead.
func RunTests(m *testing.M, n int) int {
	flag.Parse()
	if p := flag.Lookup("test.parallel"); p.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) && runtime.GOMAXPROCS(0) < n {
		_ = p.Value.Set(strconv.Itoa(n))
	}
	return m.Run()
}

// The heap of most tests is a few megabytes, so Go would collect garbage many times a
// second. Here it may grow to four times its size before a collection, so tests need a
// tenth less CPU.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(300)
	}
}
