//go:build !unix

package serve

// openFiles is how many files this process may open. The limit isn't known on this
// system, so memory is the limit.
func openFiles() uint64 { return 1 << 20 }
