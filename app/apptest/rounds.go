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

// Full says whether the tests that repeat what they do (kills, power cuts,
// errors of the disk, random filters) do all their rounds: BAOCO_FULL=1 asks for
// that, as .ci/proofs does. Without it they do a few.
func Full() bool { return os.Getenv("BAOCO_FULL") == "1" }

// Rounds is how often a test repeats what it does: full with BAOCO_FULL=1,
// few without it.
func Rounds(few, full int) int {
	if Full() {
		return full
	}
	return few
}

// CheapSecrets has passwords hashed and keys sealed in no time: a password takes 40 ms
// else, and a sealed key a second. With BAOCO_FULL=1 they cost what they cost in a shop.
func CheapSecrets() {
	if !Full() {
		password.Memory, replica.KeyMemory = 64, 64
	}
}

// RunTests is m.Run with n parallel tests at once where the machine is smaller, for tests that
// wait most of the time. A -parallel that is given stays.
func RunTests(m *testing.M, n int) int {
	flag.Parse()
	if p := flag.Lookup("test.parallel"); p.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) && runtime.GOMAXPROCS(0) < n {
		_ = p.Value.Set(strconv.Itoa(n))
	}
	return m.Run()
}

// The heap of most tests is a few megabytes, and Go would collect its garbage many
// times a second. It may grow to four times that before a collection: tests need a tenth
// less CPU.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(300)
	}
}
