//go:build unix

package serve

import (
	"errors"
	"syscall"
)

// openFiles is how many files this process may open. Package os has raised the
// limit as far as it may. If the limit is unknown, the usual number is assumed.
func openFiles() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return uint64(limit.Cur)
}

// isRefused reports whether nobody listens where a connection was to go.
func isRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
