package serve

import (
	"runtime/debug"
	"testing"
)

// On a small machine Go's memory leaves room for the rest. On a large one it is
// bounded too: what strangers' calls leave behind would grow to four times what
// they can have held at once. A limit that the operator sets holds.
func TestMemoryLimit(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit) })
	for machine, want := range map[uint64]int64{1 << 62: 256 << 20, 512 << 20: 256 << 20, 256 << 20: 182 << 20, 128 << 20: 67 << 20,
		64 << 20: 48 << 20, 0: 48 << 20} {
		t.Setenv("GOMEMLIMIT", "")
		tuneMemory(machine)
		if now := debug.SetMemoryLimit(-1); now>>20 != want>>20 {
			t.Errorf("with %d MB the limit is %d MB, want %d MB", machine>>20, now>>20, want>>20)
		}
		t.Setenv("GOMEMLIMIT", "300MiB")
		debug.SetMemoryLimit(300 << 20) // as the runtime has done
		tuneMemory(machine)
		if now := debug.SetMemoryLimit(-1); now != 300<<20 {
			t.Errorf("with %d MB the operator's limit became %d MB", machine>>20, now>>20)
		}
	}
}
