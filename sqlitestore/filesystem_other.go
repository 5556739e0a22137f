//go:build !linux

package sqlitestore

// networkFileSystem isn't known here.
func networkFileSystem(string) string { return "" }
