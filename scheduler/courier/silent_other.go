//go:build !unix

package courier

import "net"

// nothingToRead isn't known here, so that no connection is used again.
func nothingToRead(net.Conn) bool { return false }
