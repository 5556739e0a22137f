package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// The commands, what they say and their exit codes.
func TestBackupCommands(t *testing.T) {
	db, dir := database(t), t.TempDir()
	t.Setenv("BAOCO_DB", db)
	file := filepath.Join(dir, "b.db")
	if code, _, stderr := baoco("", "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "A"); code != exitOK {
		t.Fatal(stderr)
	}
	if code, _, stderr := baoco("", "transaction", "add", "--amount", "1000"); code != exitOK {
		t.Fatal(stderr)
	}
	notThere := filepath.Join(dir, "none")
	for _, c := range []struct {
		args   []string
		code   int
		stdout string // a part
		stderr string
	}{
		{[]string{"backup"}, exitUsage, "", "takes one argument"},
		{[]string{"backup", file, "--keep", "3"}, exitUsage, "", "--keep"},
		{[]string{"backup", "--dir", dir, "--keep", "0"}, exitUsage, "", "--keep"},
		{[]string{"backup", "--dir", dir, file}, exitUsage, "", "no file"},
		{[]string{"backup", dir}, exitUsage, "", "is a directory"},
		{[]string{"backup", "--dir", notThere}, exitDatabase, "", "no such file"},
		{[]string{"backup", db, "--force"}, exitConflict, "", "in use"},
		{[]string{"backup", file, "--db", notThere}, exitDatabase, "", "no such database"},
		{[]string{"backup", file}, exitOK, "b.db.key: restoring takes both", ""},
		{[]string{"backup", file}, exitConflict, "", "--force replaces it"},
		{[]string{"backup", "--force", file, "--no-key"}, exitOK, "The key was left out", ""},
		{[]string{"restore"}, exitUsage, "", "takes one argument"},
		{[]string{"restore", notThere}, exitDatabase, "", "no such database"},
		{[]string{"restore", file, "--dry-run"}, exitOK, "Would be set aside: " + db, ""},
		{[]string{"restore", file, "--key", notThere}, exitDatabase, "", "is missing"},
		{[]string{"restore", file}, exitOK, "It holds 1 transaction, the newest (1) recorded at", ""},
		{[]string{"restore", file, "--db", filepath.Join(dir, "new.db")}, exitOK, "There was no database in its place.", ""},
	} {
		code, stdout, stderr := baoco("", c.args...)
		if code != c.code || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) || (code == exitOK) != (stderr == "") {
			t.Errorf("baoco %s: exit %d, want %d\nstdout, want %q:\n%s\nstderr, want %q:\n%s", strings.Join(c.args, " "), code, c.code, c.stdout, stdout, c.stderr, stderr)
		}
	}
	var made backupJSON
	code, stdout, stderr := baoco("", "backup", "--dir", dir, "--keep", "1", "-o", "json")
	if err := json.Unmarshal([]byte(stdout), &made); err != nil || code != exitOK || stderr != "" {
		t.Fatalf("exit %d, %v\n%s%s", code, err, stdout, stderr)
	}
	if filepath.Dir(made.File) != dir || made.Key == nil || *made.Key != made.File+".key" || made.Transactions != 1 || *made.NewestTransactionID != "1" || len(made.Left) != 0 {
		t.Errorf("%s", stdout)
	}
	var restored restoreJSON
	code, stdout, stderr = baoco("", "restore", made.File, "-o", "json")
	if err := json.Unmarshal([]byte(stdout), &restored); err != nil || code != exitOK || restored.Database != db || len(restored.SetAside) != 2 || restored.Finished != nil {
		t.Errorf("exit %d, %v\n%s%s", code, err, stdout, stderr)
	}
}
