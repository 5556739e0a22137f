//go:build !unix

package serve

import "errors"

// openFiles is how many files this process may open. The limit isn't known on this
// system, so memory is the limit.
func openFiles() uint64 { return 1 << 20 }

// isRefused reports whether a connection failed because nobody listens. It isn't known
// on this system, so a socket is never removed.
func isRefused(error) bool { return false }

// OwnerName is unknown here.
func OwnerName(string) (string, error) { return "", errors.ErrUnsupported }
