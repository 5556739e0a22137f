package sqlitestore

import "syscall"

// networkFileSystems are those on which locks, shared memory or syncs aren't
// what SQLite needs (sqlite.org/faq.html#q5), by the magic numbers of statfs(2).
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
