package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
)

// socketOf is the path of the Unix socket that a --listen names; empty: none.
func socketOf(listen string) string {
	path, found := strings.CutPrefix(listen, "unix:")
	if !found {
		return ""
	}
	return path
}

func listenAt(listen string) (net.Listener, error) {
	path := socketOf(listen)
	if path == "" {
		return net.Listen("tcp", listen)
	}
	if err := removeStale(path); err != nil {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o660); err != nil { // a proxy of the same group may connect
		return nil, errors.Join(err, l.Close())
	}
	return socketListener{l}, nil
}

// removeStale removes a socket that a killed server left. A file that is no socket,
// and a socket at which somebody listens, stay.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s is there, and is no socket", path)
	}
	if conn, err := net.Dial("unix", path); err == nil {
		conn.Close()
		return fmt.Errorf("another program listens at %s", path)
	} else if !isRefused(err) {
		return err
	}
	return os.Remove(path)
}

// socketListener gives the clients of a Unix socket, which have no address, the address
// of programs on this machine.
type socketListener struct{ net.Listener }

func (l socketListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return socketConn{conn}, nil
}

type socketConn struct{ net.Conn }

var thisMachine = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}

func (socketConn) RemoteAddr() net.Addr { return thisMachine }
