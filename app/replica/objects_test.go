package replica_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/replica"

	"golang.org/x/crypto/ssh"
)

var places = map[replica.Scheme]func(*testing.T) (replica.Place, replica.Credentials){
	replica.File: func(t *testing.T) (replica.Place, replica.Credentials) {
		return place(t, "file://"+t.TempDir()+"/copy of a shop"), replica.Credentials{}
	},
	replica.SFTP: sftpServer,
	replica.S3:   s3Server,
}

// Every place keeps the same rules, in the program that people run behind it.
func TestObjects(t *testing.T) {
	for scheme, open := range places {
		t.Run(string(scheme), func(t *testing.T) {
			t.Parallel()
			at, secret := open(t)
			objects, err := replica.Open(t.Context(), at, secret)
			apptest.Must(t, err)
			defer objects.Close()
			objectsOf(t, objects)
			if scheme == replica.File {
				return
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := objects.Get(ctx, "made"); !errors.Is(err, context.Canceled) {
				t.Errorf("with nobody waiting: %v", err)
			}
		})
	}
}

func objectsOf(t *testing.T, objects replica.Objects) {
	ctx := t.Context()
	if _, err := objects.Get(ctx, "made"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an object that isn't there: %v", err)
	}
	if list, err := objects.List(ctx, "epoch-000001"); err != nil || len(list) > 0 {
		t.Errorf("a directory that isn't there: %v, %v", list, err)
	}
	apptest.Must(t, objects.Create(ctx, "made", []byte("once")))
	if err := objects.Create(ctx, "made", []byte("twice")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("created twice: %v", err)
	}
	if data, err := objects.Get(ctx, "made"); err != nil || string(data) != "once" {
		t.Errorf("%q, %v", data, err)
	}
	apptest.Must(t, errors.Join(objects.Put(ctx, "kept", []byte("old")), objects.Put(ctx, "kept", []byte("new"))))
	if data, err := objects.Get(ctx, "kept"); err != nil || string(data) != "new" {
		t.Errorf("%q, %v", data, err)
	}
	const name = "epoch-000001/ltx/0/a b+c=d.ltx"
	apptest.Must(t, errors.Join(objects.Put(ctx, name, []byte("12345")), objects.Put(ctx, "epoch-000010/x", nil)))
	list, err := objects.List(ctx, "epoch-000001")
	if err != nil || len(list) != 1 || list[0].Name != name || list[0].Size != 5 || time.Since(list[0].Modified).Abs() > time.Minute {
		t.Errorf("%+v, %v", list, err)
	}
	if err := objects.Put(ctx, "large", make([]byte, 70_000)); err != nil {
		t.Error(err)
	}
	if data, err := objects.Get(ctx, "large"); err == nil {
		t.Errorf("%d bytes were read", len(data))
	}

	// Of many at once one succeeds.
	var wait sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for i := range 12 {
		wait.Go(func() {
			switch err := objects.Create(ctx, "raced", fmt.Append(nil, i)); {
			case err == nil:
				mu.Lock()
				won++
				mu.Unlock()
			case !errors.Is(err, fs.ErrExist):
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if won != 1 {
		t.Errorf("%d created the same object", won)
	}
	if list, err := objects.List(ctx, "raced"); err != nil || len(list) > 1 {
		t.Errorf("drafts were left: %v, %v", list, err)
	}
}

// A list longer than a page of a bucket is read to its end.
func TestLongListOfBucket(t *testing.T) {
	t.Parallel()
	objects := openPlace(t, s3Server)
	for i := range 1203 {
		apptest.Must(t, objects.Put(t.Context(), fmt.Sprintf("long/%05d", i), []byte("x")))
	}
	if list, err := objects.List(t.Context(), "long"); err != nil || len(list) != 1203 {
		t.Errorf("%d objects, %v", len(list), err)
	}
}

// A server with another key, and wrong credentials, are refused without a word of them.
func TestRefusedPlaces(t *testing.T) {
	t.Parallel()
	at, secret := sftpServer(t)
	_, another, err := ed25519.GenerateKey(rand.Reader)
	apptest.Must(t, err)
	for name, c := range map[string]replica.Credentials{
		"another host key":  {KeyFile: secret.KeyFile, HostKey: publicKey(t, another)},
		"a wrong password":  {Password: "Hunter2", HostKey: secret.HostKey},
		"a key not allowed": {KeyFile: privateKey(t, another), HostKey: secret.HostKey},
	} {
		if _, err := replica.Open(t.Context(), at, c); err == nil || strings.Contains(err.Error(), "Hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
	bucket, key := s3Server(t)
	key.SecretAccessKey = "Hunter2"
	objects, err := replica.Open(t.Context(), bucket, key)
	apptest.Must(t, err)
	if _, err := objects.Get(t.Context(), "made"); err == nil || errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "Hunter2") {
		t.Errorf("a wrong key of the bucket: %v", err)
	}
}

func openPlace(t *testing.T, open func(*testing.T) (replica.Place, replica.Credentials)) replica.Objects {
	t.Helper()
	at, secret := open(t)
	objects, err := replica.Open(t.Context(), at, secret)
	apptest.Must(t, err)
	t.Cleanup(func() { objects.Close() })
	return objects
}

// sftpServer starts OpenSSH on this machine.
func sftpServer(t *testing.T) (replica.Place, replica.Credentials) {
	t.Helper()
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		sshd = "/usr/sbin/sshd"
	}
	if _, err := os.Stat(sshd); err != nil || os.Geteuid() != 0 {
		apptest.Missing(t, "OpenSSH's server (openssh-server), and root")
	}
	apptest.Must(t, os.MkdirAll("/run/sshd", 0o755))
	dir := t.TempDir()
	_, host, err := ed25519.GenerateKey(rand.Reader)
	apptest.Must(t, err)
	_, client, err := ed25519.GenerateKey(rand.Reader)
	apptest.Must(t, err)
	allowed := filepath.Join(dir, "allowed")
	apptest.Must(t, os.WriteFile(allowed, []byte(publicKey(t, client)+"\n"), 0o600))
	address := freeAddress(t)
	_, port, _ := net.SplitHostPort(address)
	config := filepath.Join(dir, "config")
	apptest.Must(t, os.WriteFile(config, fmt.Appendf(nil, "ListenAddress 127.0.0.1\nPort %s\nHostKey %s\nAuthorizedKeysFile %s\nPidFile none\nStrictModes no\nPasswordAuthentication no\nUsePAM no\nPermitRootLogin prohibit-password\nMaxStartups 100\nSubsystem sftp internal-sftp\n", port, privateKey(t, host), allowed), 0o600))
	start(t, address, exec.Command(sshd, "-D", "-e", "-f", config))
	return place(t, "sftp://root@"+address+dir+"/copy"), replica.Credentials{KeyFile: privateKey(t, client), HostKey: publicKey(t, host)}
}

// s3Server starts versitygw, an S3 service over a directory.
func s3Server(t *testing.T) (replica.Place, replica.Credentials) {
	t.Helper()
	program := apptest.Program(t, "versitygw", "github.com/versity/versitygw/cmd/versitygw@v1.8.0")
	dir := t.TempDir()
	apptest.Must(t, os.MkdirAll(filepath.Join(dir, "shop"), 0o700))
	address := freeAddress(t)
	cmd := exec.Command(program, "--port", address, "--health", "/health", "--quiet", "posix", dir)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY=shopkey", "ROOT_SECRET_KEY=shopsecret")
	start(t, address, cmd)
	return place(t, "s3://shop/copy?endpoint=http://"+address), replica.Credentials{AccessKeyID: "shopkey", SecretAccessKey: "shopsecret"}
}

// start runs a server until the test ends, once it listens.
func start(t *testing.T, address string, cmd *exec.Cmd) {
	t.Helper()
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	apptest.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s said:\n%s", cmd.Path, said.String())
		}
	})
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s doesn't listen: %v", cmd.Path, err)
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	apptest.Must(t, err)
	defer l.Close()
	return l.Addr().String()
}

func publicKey(t *testing.T, key ed25519.PrivateKey) string {
	t.Helper()
	public, err := ssh.NewPublicKey(key.Public())
	apptest.Must(t, err)
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(public)))
}

func privateKey(t *testing.T, key ed25519.PrivateKey) (file string) {
	t.Helper()
	block, err := ssh.MarshalPrivateKey(key, "")
	apptest.Must(t, err)
	file = filepath.Join(t.TempDir(), "key")
	apptest.Must(t, os.WriteFile(file, pem.EncodeToMemory(block), 0o600))
	return file
}
