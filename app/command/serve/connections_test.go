package serve

import "testing"

// Whatever the limit of files, some are kept for the database and for
// deliveries, and some connections are taken.
func TestConnectionsByFiles(t *testing.T) {
	for files, want := range map[uint64]int{0: 16, 64: 16, 128: 32, 256: 96, 1024: 480, 4096: 3456, 8192: 4096, 1 << 40: 4096} {
		if got := mostConnections(files); got != want {
			t.Errorf("with %d files %d connections, want %d", files, got, want)
		}
	}
}
