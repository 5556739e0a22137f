//go:build unix

package serve

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// openFiles is how many files this process may open. Package os has raised the
// limit to the highest allowed one. If the limit is unknown, it is the usual number.
func openFiles() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return uint64(limit.Cur)
}

// isRefused reports whether a connection failed because nobody listens.
func isRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// OwnerName is the name of the user who owns a file, or their number.
func OwnerName(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", fmt.Errorf("the owner of %s is unknown", path)
	}
	id := strconv.FormatUint(uint64(stat.Uid), 10)
	if u, err := user.LookupId(id); err == nil && userName.MatchString(u.Username) {
		return u.Username, nil
	}
	return id, nil
}
