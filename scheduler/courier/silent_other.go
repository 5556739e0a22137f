//go:build !unix

package courier

import "net"

// nothingToRead can't be known on this system, so no connection is used again.
func nothingToRead(net.Conn) bool { return false }
