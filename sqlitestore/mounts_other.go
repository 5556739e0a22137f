//go:build !linux

package sqlitestore

func isMount(string) bool { return false }
