//go:build !linux && !darwin

package sqlitestore

// freeSpace is unknown on this system.
func freeSpace(string) int64 { return -1 }

// sameDisk is unknown on this system.
func sameDisk(string, string) bool { return false }

// networkFileSystem is unknown on this system.
func networkFileSystem(string) string { return "" }

func isReadOnly(string) bool { return false }
