//go:build unix

package replica

import (
	"io/fs"
	"os"
	"syscall"
)

// ownAs gives a file the owner of another where this process is root.
func ownAs(f *os.File, other fs.FileInfo) error {
	stat, ok := other.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return f.Chown(int(stat.Uid), int(stat.Gid))
}
