package serve

import (
	"runtime/debug"
	"testing"
)

// Without a limit, what strangers' calls leave behind would grow to four times
// what they can have held at once. One that the operator sets holds.
func TestMemoryLimit(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit) })
	for _, set := range []string{"300MiB", ""} {
		t.Setenv("GOMEMLIMIT", set)
		tuneMemory()
		if now := debug.SetMemoryLimit(-1); (now == 256<<20) != (set == "") {
			t.Errorf("with GOMEMLIMIT=%q the limit is %d bytes", set, now)
		}
	}
}
