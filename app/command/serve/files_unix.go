//go:build unix

package serve

import "syscall"

// openFiles is how many files this process may have open; package os raised
// that to the most that is allowed. The usual number where it isn't known.
func openFiles() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return uint64(limit.Cur)
}
