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

// networkFileSystems are those on which locks, shared memory or syncs aren't
// what SQLite needs (sqlite.org/faq.html#q5), by Linux's magic numbers of
// statfs(2). The types of macOS are small numbers that none of them equals.
var networkFileSystems = map[uint32]string{
	0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB 2", 0x5346414f: "AFS", 0x01021997: "9P", 0x73757245: "Coda",
}

// networkFileSystem names the file system of a path where it is one of the
// network; empty: it isn't, or nobody knows.
func networkFileSystem(path string) string {
	var stat syscall.Statfs_t
	if syscall.Statfs(path, &stat) != nil {
		return ""
	}
	return networkFileSystems[uint32(stat.Type)]
}
