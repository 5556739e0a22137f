//go:build linux || darwin

package sqlitestore

import "syscall"

// freeSpace is what the file system of a directory has left for a process
// without privileges, in bytes; -1 where it doesn't tell.
func freeSpace(dir string) int64 {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		return -1
	}
	return int64(stat.Bavail) * int64(stat.Bsize)
}

// sameDisk tells whether what one directory takes is missing in the other.
func sameDisk(a, b string) bool {
	var one, other syscall.Stat_t
	return syscall.Stat(a, &one) == nil && syscall.Stat(b, &other) == nil && one.Dev == other.Dev
}
