package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
)

// server is a place on an SFTP server. Every request moves the deadline of the connection:
// an unused connection expires, and the next request opens another.
type server struct {
	place  Place
	secret Credentials

	mu     sync.Mutex // one request at a time
	client *sftp.Client
	conn   net.Conn
	until  time.Time // the deadline of conn
}

// dialSFTP connects to the server, which must have the host key of the credentials.
func dialSFTP(ctx context.Context, p Place, c Credentials) (Objects, error) {
	s := &server{place: p, secret: c}
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *server) connect(ctx context.Context) error {
	config, err := sshConfig(s.place, s.secret)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, objectTime)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.place.Host)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	until := time.Now().Add(objectTime)
	if err := conn.SetDeadline(until); err != nil {
		return errors.Join(err, conn.Close())
	}
	shell, channels, requests, err := ssh.NewClientConn(conn, s.place.Host, config)
	if err != nil {
		return errors.Join(fmt.Errorf("sign in to %s: %w", s.place.Host, err), conn.Close())
	}
	client, err := sftp.NewClient(ssh.NewClient(shell, channels, requests))
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	s.client, s.conn, s.until = client, conn, until
	return nil
}

// extend moves the deadline of the connection.
func (s *server) extend() error {
	s.until = time.Now().Add(objectTime)
	return s.conn.SetDeadline(s.until)
}

func sshConfig(p Place, c Credentials) (*ssh.ClientConfig, error) {
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(c.HostKey))
	if err != nil {
		return nil, errors.New("host-key can't be read")
	}
	config := &ssh.ClientConfig{
		User: p.User, HostKeyCallback: ssh.FixedHostKey(key), HostKeyAlgorithms: hostKeyAlgorithms(key.Type()), Timeout: objectTime,
	}
	if c.KeyFile == "" {
		config.Auth = []ssh.AuthMethod{ssh.Password(c.Password)}
		return config, nil
	}
	text, err := readPrivate(c.KeyFile, maxCredentials)
	if err != nil {
		return nil, err
	}
	signer, err := ssh.ParsePrivateKey([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%s is no OpenSSH private key without a passphrase", c.KeyFile)
	}
	config.Auth = []ssh.AuthMethod{ssh.PublicKeys(signer)}
	return config, nil
}

// hostKeyAlgorithms has a server with several keys show the one that the credentials name.
func hostKeyAlgorithms(kind string) []string {
	if kind == ssh.KeyAlgoRSA {
		return []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}
	}
	return []string{kind}
}

// do runs one request with a deadline. The end of ctx ends the connection.
func (s *server) do(ctx context.Context, request func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Until(s.until) < objectTime/4 {
		_ = s.Close() // the connection may be closed already
		if err := s.connect(ctx); err != nil {
			return err
		}
	}
	if err := errors.Join(ctx.Err(), s.extend()); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { s.conn.Close() })
	defer stop()
	err := request()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (s *server) path(name string) string { return path.Join(s.place.Path, name) }

func (s *server) Get(ctx context.Context, name string) (data []byte, err error) {
	err = s.do(ctx, func() error {
		f, err := s.client.Open(s.path(name))
		if err != nil {
			return err
		}
		defer f.Close()
		data, err = readObject(f, name)
		return err
	})
	return data, err
}

// Create writes a draft and links it to its name: a link fails if the name is taken. On
// servers without links it creates the name exclusively and writes there.
func (s *server) Create(ctx context.Context, name string, data []byte) error {
	return s.do(ctx, func() error {
		_, links := s.client.HasExtension("hardlink@openssh.com")
		if !links {
			return s.write(s.path(name), data)
		}
		draft, err := s.draft(name, data)
		if err != nil {
			return err
		}
		err = s.client.Link(draft, s.path(name))
		if err != nil {
			// The protocol has no code of its own for a name that is taken.
			if _, taken := s.client.Lstat(s.path(name)); taken == nil {
				err = fs.ErrExist
			}
		}
		return errors.Join(err, s.client.Remove(draft))
	})
}

func (s *server) Put(ctx context.Context, name string, data []byte) error {
	return s.do(ctx, func() error {
		draft, err := s.draft(name, data)
		if err != nil {
			return err
		}
		if err := s.client.PosixRename(draft, s.path(name)); err != nil {
			return errors.Join(err, s.client.Remove(draft))
		}
		return nil
	})
}

// draft writes data under another name beside an object.
func (s *server) draft(name string, data []byte) (string, error) {
	draft := s.path(name) + ".draft-" + fmt.Sprintf("%x", time.Now().UnixNano())
	if err := s.client.MkdirAll(path.Dir(draft)); err != nil {
		return "", err
	}
	return draft, s.write(draft, data)
}

// write writes a file that must be new.
func (s *server) write(name string, data []byte) error {
	f, err := s.client.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY)
	if err != nil {
		if _, taken := s.client.Lstat(name); taken == nil {
			return fs.ErrExist
		}
		return err
	}
	_, err = f.ReadFrom(bytes.NewReader(data))
	if _, syncs := s.client.HasExtension("fsync@openssh.com"); syncs {
		err = errors.Join(err, f.Sync())
	}
	return errors.Join(err, f.Close())
}

func (s *server) List(ctx context.Context, dir string) (list []Object, err error) {
	err = s.do(ctx, func() error {
		changed := map[string]time.Time{} // by directory
		walk := s.client.Walk(s.path(dir))
		for walk.Step() {
			if err := errors.Join(ctx.Err(), s.extend()); err != nil {
				return err
			}
			if errors.Is(walk.Err(), fs.ErrNotExist) { // removed meanwhile, or not there at all
				continue
			}
			if walk.Err() != nil {
				return walk.Err()
			}
			info := walk.Stat()
			if info.IsDir() {
				changed[walk.Path()] = info.ModTime()
				continue
			}
			if len(list) == maxObjects {
				return tooManyObjects()
			}
			list = append(list, Object{Name: strings.TrimPrefix(strings.TrimPrefix(walk.Path(), s.place.Path), "/"), Size: info.Size(),
				Modified: changed[path.Dir(walk.Path())], Tag: info.ModTime().String()})
		}
		return nil
	})
	return list, err
}

// Close closes the connection at once.
func (s *server) Close() error {
	err := s.conn.Close()
	_ = s.client.Close() // fails: its connection is closed
	return err
}
