package replica

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unicode"

	"baoco/app/pattern"
)

// Program is a Litestream that may be used.
type Program struct {
	Path    string // absolute
	Version string // as the program prints it: v0.5.18
	Urgent  bool   // it may use the whole machine; otherwise it works at low priority and on one core
}

// ErrOldProgram says that a Litestream is too old, and why.
var ErrOldProgram = errors.New("versions of Litestream before 0.5.17 link a SQLite that can damage the write-ahead log")

// oldest is the oldest version that may be used.
var oldest = [3]int{0, 5, 17}

var versionText = pattern.Lazy(`^v?([0-9]{1,5})\.([0-9]{1,5})\.([0-9]{1,5})(\S*)$`)

// FindProgram finds the Litestream at a path, or litestream in PATH. It refuses old
// versions, versions before a release, and programs that print no version.
func FindProgram(ctx context.Context, path string) (Program, error) {
	found, err := exec.LookPath(cmp.Or(path, "litestream"))
	if err != nil {
		return Program{}, fmt.Errorf("the program Litestream is needed, from 0.5.17 on: %w", err)
	}
	if found, err = filepath.Abs(found); err != nil {
		return Program{}, err
	}
	ctx, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	out, err := Program{Path: found}.run(ctx, nil, "version")
	if err != nil {
		return Program{}, err
	}
	p := Program{Path: found, Version: strings.TrimSpace(out)}
	return p, checkVersion(p)
}

func checkVersion(p Program) error {
	parts := versionText().FindStringSubmatch(p.Version)
	if parts == nil || strings.HasPrefix(parts[4], "-") {
		return fmt.Errorf("%w: %s doesn't say which release it is, but %.60q", ErrOldProgram, p.Path, p.Version)
	}
	for i, least := range oldest {
		n, _ := strconv.Atoi(parts[i+1])
		if n < least {
			return fmt.Errorf("%w: %s is %s", ErrOldProgram, p.Path, p.Version)
		}
		if n > least {
			break
		}
	}
	return nil
}

// Restore writes the newest state of a replica into the file to, which must not
// exist. The end of ctx ends it, and leaves parts of the file.
func (p Program) Restore(ctx context.Context, c Config, to string) error {
	to, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("restore a replica: %s: %w", to, os.ErrExist)
	}
	config, err := c.encode()
	if err != nil {
		return err
	}
	if !p.Urgent {
		defer flushing(to + ".tmp")() // Litestream writes under this name
	}
	_, err = p.run(ctx, config, "restore", "-config", "/dev/stdin", "-no-expand-env", "-o", to, c.Database)
	return err
}

const flushEvery = 200 * time.Millisecond

// flushing syncs a growing file again and again until end is called. Litestream syncs it
// once, when it is complete, and all commits of the server wait for that: 1.4 s at 1 GB.
func flushing(name string) (end func()) {
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(flushEvery)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
			}
			if f, err := os.Open(name); err == nil {
				_ = errors.Join(f.Sync(), f.Close()) // Litestream syncs the file once more, and reports the error
			}
		}
	}()
	return func() {
		close(ended)
		<-done
	}
}

// Reach lists the replica with Litestream, which shows that it can open the place.
func (p Program) Reach(ctx context.Context, c Config) error {
	config, err := c.encode()
	if err != nil {
		return err
	}
	_, err = p.run(ctx, config, "ltx", "-config", "/dev/stdin", "-no-expand-env", c.Database)
	return err
}

// maxOutput is how much of the program's output is kept for an error.
const maxOutput = 4 << 10

// run runs the program with a configuration on its standard input: secrets are
// neither in its arguments nor in a file. The program ends with this process.
func (p Program) run(ctx context.Context, config []byte, args ...string) (string, error) {
	words := append([]string{p.Path}, args...)
	if nice, err := exec.LookPath("nice"); err == nil && !p.Urgent {
		words = append([]string{nice, "-n", "19"}, words...)
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = environment()
	if p.Urgent {
		cmd.Env = append(cmd.Env, "GOGC=off") // collect garbage at GOMEMLIMIT only: a restore of 1 GB takes a tenth less
	} else {
		cmd.Env = append(cmd.Env, "GOMAXPROCS=1")
	}
	cmd.Stdin = bytes.NewReader(config)
	out, log := tail{most: maxOutput}, tail{most: maxOutput}
	cmd.Stdout, cmd.Stderr = &out, &log
	cmd.WaitDelay = 5 * time.Second
	endWithUs(cmd)
	runtime.LockOSThread() // see endWithUs
	defer runtime.UnlockOSThread()
	if err := cmd.Run(); err != nil {
		said := strings.TrimSpace(out.String() + " " + log.String())
		return "", fmt.Errorf("litestream %s: %w: %s", args[0], cmp.Or(ctx.Err(), err), said)
	}
	return out.String(), nil
}

// environment takes from this process what the program needs: no settings of Litestream,
// and no credentials for other programs.
func environment() []string {
	list := []string{"GOMEMLIMIT=200MiB"}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"} {
		if value, set := os.LookupEnv(name); set {
			list = append(list, name+"="+value)
		}
	}
	return list
}

// tail keeps the end of what is written to it.
type tail struct {
	kept []byte
	most int
}

var _ io.Writer = (*tail)(nil)

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - t.most; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

// String is one line without control characters: some of it comes from servers.
func (t *tail) String() string {
	words := strings.FieldsFunc(strings.ToValidUTF8(string(t.kept), "?"),
		func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) })
	return strings.Join(words, " ")
}
