package apptest

import (
	"os"
	"syscall"
)

// The files of tests, and of the programs that they start, are in memory if it has 2 GB
// for them, so tests take a sixth less time. If TMPDIR is set, it counts instead. With
// BAOCO_FULL=1 they are on the disk, as in a shop.
func init() {
	const memory, writable = "/dev/shm", 3
	var fs syscall.Statfs_t
	if os.Getenv("TMPDIR") == "" && !Full() && syscall.Statfs(memory, &fs) == nil && syscall.Access(memory, writable) == nil &&
		fs.Flags&syscall.MS_NOEXEC == 0 && fs.Bavail >= (2<<30)/uint64(fs.Bsize) {
		_ = os.Setenv("TMPDIR", memory)
	}
}
