package acceptance_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A shop that tries baoco in its checkout commits neither a key nor money: git
// ignores whatever the commands leave beside the database.
func TestGitIgnoresWhatCommandsMake(t *testing.T) {
	t.Parallel()
	ignored, err := os.ReadFile("../../.gitignore")
	must(t, err)
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "--quiet")
	must(t, os.WriteFile(filepath.Join(dir, ".gitignore"), ignored, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "statement.csv"), []byte("Ngày,Tiền ra,Tiền vào\n28/02/2026,,1000\n31/02/2026,,1000\n"), 0o600))
	git("add", ".gitignore", "statement.csv")

	p := serveIn(t, dir, anyPort)
	p.end(t)
	doIn(t, dir, "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "NGUYEN VAN A")
	doIn(t, dir, "transaction", "import", "statement.csv")
	doIn(t, dir, "backup", "copy.db")
	doIn(t, dir, "doctor", "--new-key")
	doIn(t, dir, "webhook", "create", "--name", "shop", "--url", "https://shop.example.vn/", "--type", "IN")
	must(t, os.Rename(filepath.Join(dir, "baoco.db.key"), filepath.Join(t.TempDir(), "lost.key")))
	doIn(t, dir, "doctor", "--new-key")
	doIn(t, dir, "restore", "copy.db")
	for _, pattern := range []string{"baoco.db.key.old-*", "baoco.db.before-new-key-*", "baoco.db.before-restore-*.key",
		"statement.csv.rejected.csv"} {
		if found, err := filepath.Glob(filepath.Join(dir, pattern)); err != nil || len(found) == 0 {
			t.Errorf("no command made %s", pattern)
		}
	}
	if left := git("ls-files", "--others", "--exclude-standard"); left != "" {
		t.Errorf("git would add\n%s", left)
	}
}
