package acceptance_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// sealedImage is a database with secrets of every kind, and its key.
func sealedImage(t *testing.T) map[string][]byte {
	t.Helper()
	in := install(t, openShop(t))
	apiKey := filepath.Join(t.TempDir(), "api.key")
	must(t, os.WriteFile(apiKey, []byte("a key of the provider's\n"), 0o600))
	do(t, in.dir, "source", "add", "--provider", "sepay", "--auth", "apikey", "--name", "SePay", "--api-key-file", apiKey)
	do(t, in.dir, "source", "add", "--provider", "vietqr", "--name", "VietQR", "--username", "shop")
	do(t, in.dir, "webhook", "rotate-secret", "1")
	token := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(token, []byte("123456789:AAAAAAAAAAAAAAAAAAAAAAAAA\n"), 0o600))
	do(t, in.dir, "alert", "telegram", "--chat", "5", "--token-file", token)
	image := readImage(t, in.dir)
	for name := range image {
		if !strings.HasSuffix(name, ".db") && !strings.HasSuffix(name, ".key") {
			delete(image, name)
		}
	}
	return image
}

// newKeyAgain runs doctor --new-key after one that was cut off: nothing is
// lost, and all is in order.
func newKeyAgain(t *testing.T, db string) {
	t.Helper()
	if out := doIn(t, t.TempDir(), "doctor", "--new-key", "--db", db); !strings.Contains(out, "none was lost") {
		t.Errorf("the second run says\n%s", out)
	}
	if out := doIn(t, t.TempDir(), "doctor", "--full", "--db", db); !strings.Contains(out, "The key opens every secret.") {
		t.Errorf("doctor says\n%s", out)
	}
	doIn(t, t.TempDir(), "source", "list", "--db", db)
	doIn(t, t.TempDir(), "alert", "list", "--db", db)
	if _, err := os.Stat(db + ".key.next"); err == nil {
		t.Error("the new key still has its first name")
	}
}

// Doctor --new-key is killed at the k-th change of its files, all k in a long
// run: the database opens then, or says what to do, and a second run ends it.
func TestKillWhileReplacingKey(t *testing.T) {
	t.Parallel()
	proof(t)
	image := sealedImage(t)
	whole := newDisk()
	whole.load(image)
	dir := whole.mount(t)
	before := whole.ops.Load()
	doIn(t, t.TempDir(), "doctor", "--new-key", "--db", filepath.Join(dir, "baoco.db"))
	changes := whole.ops.Load() - before
	interrupted := 0
	kills := sample(rounds(2, 16), int(changes))
	for _, i := range kills {
		d := newDisk()
		d.load(image)
		dir := d.mount(t)
		db, k := filepath.Join(dir, "baoco.db"), d.ops.Load()+int64(i)+1
		cmd := program(t.TempDir(), "doctor", "--new-key", "--db", db)
		var started sync.Mutex
		d.setFault(func(op diskOp) syscall.Errno {
			if op.n < k {
				return 0
			}
			started.Lock()
			defer started.Unlock()
			_ = cmd.Process.Kill()
			return syscall.EIO // of no consequence: nobody is left to read it
		})
		started.Lock()
		must(t, cmd.Start())
		started.Unlock()
		_ = cmd.Wait()
		d.setFault(nil)
		list := program(t.TempDir(), "webhook", "list", "--db", db)
		var stderr bytes.Buffer
		list.Stderr = &stderr
		if err := list.Run(); err != nil {
			interrupted++
			if !strings.Contains(stderr.String(), "baoco doctor --new-key was interrupted; run it again") {
				t.Errorf("the next command says %s", &stderr)
			}
		}
		newKeyAgain(t, db)
		if t.Failed() {
			t.Fatalf("after a kill at change %d of %d", i+1, changes)
		}
	}
	t.Logf("%d kills at %d changes, %d of them between the commit and the key's name", len(kills), changes, interrupted)
}

// The same with the power cut there, which leaves any part of what was not
// synced.
func TestPowerCutWhileReplacingKey(t *testing.T) {
	t.Parallel()
	proof(t)
	cuts, of := cutsWhile(t, rounds(2, 16), sealedImage(t), func(dir string) {
		doIn(t, t.TempDir(), "doctor", "--new-key", "--db", filepath.Join(dir, "baoco.db"))
	}, 0, 0.5, 0.9)
	for i, c := range cuts {
		newKeyAgain(t, filepath.Join(save(t, c.image), "baoco.db"))
		if t.Failed() {
			t.Fatalf("after a power cut, %d of %d, before %+v", i, len(cuts), c.op)
		}
	}
	t.Logf("%d cuts of %d", len(cuts), of)
}
