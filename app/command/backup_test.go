package command

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"baoco/app/apptest"
	"baoco/app/command/terminal"
	"baoco/app/command/upkeep"
)

// The commands, what they say and their exit codes.
func TestBackupCommands(t *testing.T) {
	db, dir := apptest.NewFile(t), t.TempDir()
	t.Setenv("BAOCO_DB", db)
	file := filepath.Join(dir, "b.db")
	if code, _, stderr := baoco("", "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "A"); code != terminal.ExitOK {
		t.Fatal(stderr)
	}
	if code, _, stderr := baoco("", "transaction", "add", "--amount", "1000"); code != terminal.ExitOK {
		t.Fatal(stderr)
	}
	notThere := filepath.Join(dir, "none")
	for _, c := range []struct {
		args   []string
		code   int
		stdout string // a part
		stderr string
	}{
		{[]string{"backup"}, terminal.ExitUsage, "", "takes one argument"},
		{[]string{"backup", file, "--keep", "3"}, terminal.ExitUsage, "", "--keep"},
		{[]string{"backup", "--dir", dir, "--keep", "0"}, terminal.ExitUsage, "", "--keep"},
		{[]string{"backup", "--dir", dir, file}, terminal.ExitUsage, "", "no file"},
		{[]string{"backup", dir}, terminal.ExitUsage, "", "is a directory"},
		{[]string{"backup", "--dir", notThere}, terminal.ExitDatabase, "", "there is no directory " + notThere + ": make it first"},
		{[]string{"backup", filepath.Join(notThere, "b.db")}, terminal.ExitDatabase, "", "there is no directory " + notThere + ": make it first"},
		{[]string{"backup", db, "--force"}, terminal.ExitConflict, "", "in use"},
		{[]string{"backup", file, "--db", notThere}, terminal.ExitDatabase, "", "no such database"},
		{[]string{"backup", file}, terminal.ExitOK, "b.db.key: restoring takes both", ""},
		{[]string{"backup", file}, terminal.ExitConflict, "", "--force replaces it"},
		{[]string{"backup", "--force", file, "--no-key"}, terminal.ExitOK, "The key was left out", ""},
		{[]string{"restore"}, terminal.ExitUsage, "", "takes one argument"},
		{[]string{"restore", notThere}, terminal.ExitDatabase, "", "no such database"},
		{[]string{"restore", file, "--dry-run"}, terminal.ExitOK, "Would be set aside: " + db, ""},
		{[]string{"restore", file, "--key", notThere}, terminal.ExitDatabase, "", "is missing"},
		{[]string{"restore", file}, terminal.ExitOK, "It holds 1 transaction, the newest (1) recorded at", ""},
		{[]string{"restore", file, "--db", filepath.Join(dir, "new.db")}, terminal.ExitOK, "There was no database in its place.", ""},
	} {
		code, stdout, stderr := baoco("", c.args...)
		if code != c.code || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) ||
			(code == terminal.ExitOK) != (stderr == "") {
			t.Errorf("baoco %s: exit %d, want %d\nstdout, want %q:\n%s\nstderr, want %q:\n%s", strings.Join(c.args, " "), code, c.code, c.stdout,
				stdout, c.stderr, stderr)
		}
	}
	var made upkeep.BackupJSON
	code, stdout, stderr := baoco("", "backup", "--dir", dir, "--keep", "1", "-o", "json")
	if err := json.Unmarshal([]byte(stdout), &made); err != nil || code != terminal.ExitOK || stderr != "" {
		t.Fatalf("exit %d, %v\n%s%s", code, err, stdout, stderr)
	}
	if filepath.Dir(made.File) != dir || made.Key == nil || *made.Key != made.File+".key" || made.Transactions != 1 ||
		*made.NewestTransactionID != "1" || len(made.Left) != 0 {
		t.Errorf("%s", stdout)
	}
	var restored upkeep.RestoreJSON
	code, stdout, stderr = baoco("", "restore", made.File, "-o", "json")
	if err := json.Unmarshal([]byte(stdout), &restored); err != nil || code != terminal.ExitOK || restored.Database != db ||
		len(restored.SetAside) != 2 || restored.Finished != nil {
		t.Errorf("exit %d, %v\n%s%s", code, err, stdout, stderr)
	}
}
