package acceptance_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
)

// A release, made with one command: what it is made of, its packages in a Debian
// with systemd, and its image as a container runs it.
func TestRelease(t *testing.T) {
	if dir := os.Getenv("BAOCO_TEST_NAMESPACE"); dir != "" {
		nameHere(t, dir)
		t.Run("Debian", func(t *testing.T) { packageInstalled(t, dir) })
		t.Run("Container", func(t *testing.T) { imageRuns(t, dir) })
		return
	}
	if !apptest.Full() {
		t.Skip("needs BAOCO_FULL=1: it builds releases")
	}
	key := filepath.Join(t.TempDir(), "key")
	run(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key)
	t.Setenv("BAOCO_SIGNING_KEY", key)
	first := release(t, "1.2.3", "umask 022", "TZ=UTC")
	t.Run("Signature", func(t *testing.T) { signedSums(t, first, key) })
	t.Run("Bytes", func(t *testing.T) { sameBytes(t, first) })
	t.Run("Content", func(t *testing.T) { contentOfPackage(t, first) })
	t.Run("Installed", func(t *testing.T) { installRelease(t, first) })
}

// The sums are signed by the key of the maintainer, as the help says how to verify it.
func signedSums(t *testing.T, dir, key string) {
	public, err := os.ReadFile(key + ".pub")
	must(t, err)
	signers := filepath.Join(t.TempDir(), "signers")
	must(t, os.WriteFile(signers, append([]byte("baoco "), public...), 0o600))
	sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	must(t, err)
	for _, forged := range []bool{false, true} {
		cmd := exec.Command("ssh-keygen", "-Y", "verify", "-f", signers, "-I", "baoco", "-n", "baoco", "-s",
			filepath.Join(dir, "SHA256SUMS.sig"))
		if cmd.Stdin = bytes.NewReader(sums); forged {
			cmd.Stdin = bytes.NewReader(append(sums, ' '))
		}
		if out, err := cmd.CombinedOutput(); (err != nil) != forged {
			t.Errorf("forged %v: %v\n%s", forged, err, out)
		}
	}
}

// A release of one commit has the same bytes, in whatever directory, time zone
// and file mode it is made, and with files of other dates. What is compared is
// made of the last commit.
func sameBytes(t *testing.T, first string) {
	second := release(t, "1.2.3", "umask 077; find . -name .git -prune -o -exec touch -d 2001-02-03 {} +", "TZ=Asia/Ho_Chi_Minh")
	names, err := filepath.Glob(filepath.Join(first, "*"))
	must(t, err)
	if len(names) != 13 {
		t.Errorf("it has %d files: %v", len(names), names)
	}
	for _, name := range names {
		one, err := os.ReadFile(name)
		must(t, err)
		other, err := os.ReadFile(filepath.Join(second, filepath.Base(name)))
		must(t, err)
		if !bytes.Equal(one, other) {
			t.Errorf("%s differs", filepath.Base(name))
		}
	}
}

func contentOfPackage(t *testing.T, first string) {
	packages, err := filepath.Glob(filepath.Join(first, "*_amd64.deb"))
	must(t, err)
	content := t.TempDir()
	if _, err := exec.LookPath("dpkg-deb"); err != nil || len(packages) != 1 {
		t.Skipf("the package is not looked into: %v, %v", packages, err)
	}
	run(t, "dpkg-deb", "-x", packages[0], content)
	commit := strings.TrimSpace(run(t, "git", "rev-parse", "HEAD"))
	if got := run(t, filepath.Join(content, "usr/bin/baoco"), "version"); got != "baoco 1.2.3 (commit "+commit+")\n" {
		t.Errorf("the version is %q, of commit %s", got, commit)
	}
	settings, err := os.ReadFile(filepath.Join(content, "etc/default/baoco"))
	must(t, err)
	if !strings.Contains(string(settings), "\n#BAOCO_DOMAIN=\n") || strings.Contains(string(settings), "\nBAOCO_") {
		t.Errorf("the settings are not comments:\n%s", settings)
	}
	if _, err := exec.LookPath("systemd-analyze"); err == nil {
		run(t, "systemd-analyze", "security", "--offline=true", "--threshold=15", filepath.Join(content, "lib/systemd/system/baoco.service"))
	}
	if _, err := exec.LookPath("lintian"); err == nil {
		run(t, "lintian", "--fail-on", "error", packages[0])
	}
}

// release makes a release in a clone, after a shell command, and gives its
// directory.
func release(t *testing.T, version, before, zone string) string {
	t.Helper()
	clone, out := filepath.Join(t.TempDir(), "clone"), t.TempDir()
	root, err := filepath.Abs("../..")
	must(t, err)
	run(t, "git", "clone", "-q", root, clone)
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", before+"; .ci/release "+version+" "+app.ShellWord(out))
	cmd.Dir, cmd.Env = clone, append(os.Environ(), zone, "BAOCO_MAINTAINER=A Shop <it@shop.vn>")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}
