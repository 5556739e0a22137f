//go:build linux || darwin

package sqlitestore

import (
	"errors"
	"syscall"
)

// isReadOnly reports whether a directory lies on a disk that this process can only read.
func isReadOnly(dir string) bool {
	const write = 2
	return errors.Is(syscall.Access(dir, write), syscall.EROFS)
}

// freeSpace returns the free space on the file system of a directory for a process
// without privileges, in bytes; -1: unknown.
func freeSpace(dir string) int64 {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		return -1
	}
	return int64(stat.Bavail) * int64(stat.Bsize)
}

// sameDisk reports whether two directories are on the same file system.
func sameDisk(a, b string) bool {
	var one, other syscall.Stat_t
	return syscall.Stat(a, &one) == nil && syscall.Stat(b, &other) == nil && one.Dev == other.Dev
}

// networkFileSystems are file systems whose locks, shared memory or syncs SQLite can't
// rely on (sqlite.org/faq.html#q5), by Linux's magic numbers of statfs(2). The types of
// macOS are small numbers, and none of them is in this list.
var networkFileSystems = map[uint32]string{
	0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB 2", 0x5346414f: "AFS", 0x01021997: "9P", 0x73757245: "Coda",
}

// networkFileSystem returns the name of the network file system of a path; empty: it is
// another kind, or unknown.
func networkFileSystem(path string) string {
	var stat syscall.Statfs_t
	if syscall.Statfs(path, &stat) != nil {
		return ""
	}
	return networkFileSystems[uint32(stat.Type)]
}
