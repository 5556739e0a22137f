//go:build unix

package courier

import (
	"net"
	"syscall"
)

// nothingToRead reports whether a connection is open and no byte has come.
func nothingToRead(conn net.Conn) bool {
	end, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := end.SyscallConn()
	if err != nil {
		return false
	}
	var peeked error
	err = raw.Read(func(fd uintptr) bool {
		_, _, peeked = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		return true
	})
	return err == nil && (peeked == syscall.EAGAIN || peeked == syscall.EWOULDBLOCK)
}
