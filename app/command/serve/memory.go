package serve

import (
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// The bounds of Go's memory limit, in bytes. Above the limit Go collects garbage harder.
const (
	mostMemory   = 256 << 20 // four times what the server needs at saturation
	leastMemory  = 48 << 20  // with less it would only collect garbage
	memoryBeside = 48 << 20  // for SQLite's caches and the program itself, which Go doesn't count
)

// tuneMemory sets the limits of Go's memory that the environment doesn't set, on a
// machine or in a container with some bytes of memory.
func tuneMemory(machine uint64) {
	if os.Getenv("GOGC") == "" {
		// The live heap is eight megabytes under load. Growing to three times that before a
		// collection saves a twelfth of the CPU; four times would save half as much again, for
		// ten megabytes more.
		debug.SetGCPercent(200)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		// Without a limit the heap could grow to four times the most that calls of strangers
		// can hold.
		share := int64(min(machine, 1<<40)) * 9 / 10
		debug.SetMemoryLimit(max(leastMemory, min(share-memoryBeside, mostMemory)))
	}
}

// machineMemory is how many bytes of memory this process may take: the memory of the
// machine, or of its cgroup if that has less. If neither is known, it is more than the
// server needs.
func machineMemory() uint64 {
	memory := uint64(1 << 40)
	for _, ask := range []memlimit.Provider{memlimit.FromSystem, memlimit.FromCgroup} {
		if limit, err := ask(); err == nil { // an error: no limit, or none that can be read
			memory = min(memory, limit)
		}
	}
	return memory
}
