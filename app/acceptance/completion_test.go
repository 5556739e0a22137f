package acceptance_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The script that is printed completes in a real bash, and nothing that stands
// on the line is run.
func TestCompletionInBash(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	dir := t.TempDir()
	code, script, stderr := baoco("", "completion", "bash")
	if code != 0 {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	executable, err := os.Executable()
	must(t, err)
	must(t, os.Symlink(executable, filepath.Join(dir, "baoco")))
	must(t, os.WriteFile(filepath.Join(dir, "script"), []byte(script), 0o600))
	for line, want := range map[string]string{
		"baoco ba":                           "bank backup",
		"baoco bank --db x.db to":            "toggle",
		"baoco webhook create --ur":          "--url",
		"baoco --account 2 apikey ":          "create list revoke",
		"baoco apikey create --scope ":       "full read listen",
		"baoco transaction list --type = I":  "IN",
		"baoco transaction list --type =":    "IN OUT",
		"baoco bank link --bank VC":          "VCB",
		"baoco webhook list -o j":            "json",
		"baoco apikey create -- --generate":  "",
		"baoco transaction export --output-": "--output-file",
	} {
		words := strings.Split(line, " ")
		for i, word := range words {
			words[i] = "'" + word + "'"
		}
		cmd := exec.Command(bash, "-c", `source ./script; COMP_WORDS=(`+strings.Join(words,
			" ")+`); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _baoco; echo "${COMPREPLY[*]}"`)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "AS_BAOCO=2m", "PATH="+dir+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", line, got, err, want)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*.db*")); err != nil || len(left) != 0 {
		t.Errorf("files were made: %q, %v", left, err)
	}
}
