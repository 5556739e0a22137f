package apptest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baoco/app/replica"
)

// Places starts a place of a replica of each kind, with the server program that people use
// for it. Its objects are in dir, a directory of this machine.
var Places = map[replica.Scheme]func(t testing.TB) (p replica.Place, c replica.Credentials, dir string){
	replica.File: func(t testing.TB) (replica.Place, replica.Credentials, string) {
		dir := t.TempDir() + "/copy of a shop"
		return Place(t, "file://"+dir), replica.Credentials{}, dir
	},
	replica.SFTP: sftpServer,
	replica.S3:   s3Server,
}

// Place reads the URL of a place.
func Place(t testing.TB, url string) replica.Place {
	t.Helper()
	p, err := replica.ParsePlace(url)
	Must(t, err)
	return p
}

// SSHKey makes a key for SSH. It returns the path of the file, and the public key as a line.
func SSHKey(t testing.TB) (file, public string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", file).CombinedOutput(); err != nil {
		Missing(t, "ssh-keygen (openssh-client): "+string(out))
	}
	text, err := os.ReadFile(file + ".pub")
	Must(t, err)
	return file, strings.TrimSpace(string(text))
}

func sftpServer(t testing.TB) (p replica.Place, c replica.Credentials, at string) {
	t.Helper()
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		sshd = "/usr/sbin/sshd"
	}
	if _, err := os.Stat(sshd); err != nil || os.Geteuid() != 0 {
		Missing(t, "OpenSSH's server (openssh-server), and root")
	}
	Must(t, os.MkdirAll("/run/sshd", 0o755))
	host, hostKey := SSHKey(t)
	client, clientKey := SSHKey(t)
	dir := t.TempDir()
	allowed, config := filepath.Join(dir, "allowed"), filepath.Join(dir, "config")
	Must(t, os.WriteFile(allowed, []byte(clientKey+"\n"), 0o600))
	address := FreeAddress(t)
	_, port, _ := net.SplitHostPort(address)
	Must(t,
		os.WriteFile(config,
			fmt.Appendf(nil,
				"ListenAddress 127.0.0.1\nPort %s\nHostKey \"%s\"\nAuthorizedKeysFile \"%s\"\nPidFile none\nStrictModes no\nPasswordAuthentication "+
					"no\nUsePAM no\nPermitRootLogin prohibit-password\nMaxStartups 100\nSubsystem sftp internal-sftp\n", port, host, allowed), 0o600))
	startAt(t, address, exec.Command(sshd, "-D", "-e", "-f", config))
	at = filepath.Join(dir, "copy")
	return Place(t, "sftp://root@"+address+at), replica.Credentials{KeyFile: client, HostKey: hostKey}, at
}

// s3Server starts versitygw, an S3 service over a directory.
func s3Server(t testing.TB) (p replica.Place, c replica.Credentials, at string) {
	t.Helper()
	program := Program(t, "versitygw", "github.com/versity/versitygw/cmd/versitygw@v1.8.0")
	dir := t.TempDir()
	Must(t, os.MkdirAll(filepath.Join(dir, "shop"), 0o700))
	address := FreeAddress(t)
	cmd := exec.Command(program, "--port", address, "--health", "/health", "--quiet", "posix", dir)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY=shopkey", "ROOT_SECRET_KEY=shopsecret")
	startAt(t, address, cmd)
	return Place(t, "s3://shop/copy?endpoint=http://"+address), replica.Credentials{AccessKeyID: "shopkey", SecretAccessKey: "shopsecret"},
		filepath.Join(dir, "shop", "copy")
}

// startAt starts a server, waits until it listens, and stops it when the test ends.
func startAt(t testing.TB, address string, cmd *exec.Cmd) {
	t.Helper()
	said := &Output{}
	cmd.Stdout, cmd.Stderr = said, said
	Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s said:\n%s", cmd.Path, said)
		}
	})
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) { // it polls, since another process sends no event
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

// FreeAddress returns an address of this machine where nothing listens. No system gives
// such a port to a connection, so a server can listen on it again after a restart.
func FreeAddress(t testing.TB) string {
	t.Helper()
	for range 100 {
		if l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 12000+rand.N(20000))); err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}
