//go:build !linux && !darwin

package sqlitestore

// freeSpace isn't known here.
func freeSpace(string) int64 { return -1 }

// sameDisk isn't known here.
func sameDisk(string, string) bool { return false }

// networkFileSystem isn't known here.
func networkFileSystem(string) string { return "" }

func isReadOnly(string) bool { return false }
