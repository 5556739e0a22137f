package acceptance_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"baoco/app/apptest"
)

// completing gives what a shell, with the script that is printed for it, offers for the last
// word of a line.
var completing = map[string]string{
	"bash": `source ./script; COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _baoco; printf '%s\n' "${COMPREPLY[@]}"`,
	"zsh": `compdef() {}; source ./script; _files() { true }; _describe() { print -l -- ${(P)2%%:*} }
		words=("$@"); CURRENT=$#words; _baoco`,
	"fish": `source ./script; complete -C (string join -- " " $argv) | cut -f1`,
}

// The scripts that are printed complete commands, flags and values in real shells, and nothing
// that stands on the line is run.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for shell, script := range completing {
		t.Run(shell, func(t *testing.T) {
			program, err := exec.LookPath(shell)
			if err != nil {
				apptest.Missing(t, shell)
			}
			dir := t.TempDir()
			code, printed, stderr := baoco("", "completion", shell)
			if code != 0 {
				t.Fatalf("exit %d, %s", code, stderr)
			}
			executable, err := os.Executable()
			must(t, err)
			must(t, os.Mkdir(filepath.Join(dir, "bin"), 0o755))
			must(t, os.Symlink(executable, filepath.Join(dir, "bin/baoco")))
			must(t, os.WriteFile(filepath.Join(dir, "script"), []byte(printed), 0o600))
			lines := map[string]string{
				"baoco ba":                           "backup bank",
				"baoco bank --db x.db to":            "toggle",
				"baoco webhook create --ur":          "--url",
				"baoco --account 2 apikey ":          "create list revoke",
				"baoco apikey create --scope ":       "full listen read",
				"baoco apikey create -- --generate":  "",
				"baoco transaction export --output-": "--output-file",
				"baoco bank link --bank VC":          "VCB",
				"baoco webhook list -o j":            "json",
				"baoco alert set --mute pl":          "plan",
				"baoco transaction list --type=I":    "--type=IN",
			}
			if shell == "bash" { // which takes = for a word
				delete(lines, "baoco transaction list --type=I")
				lines["baoco transaction list --type = I"], lines["baoco transaction list --type ="] = "IN", "IN OUT"
			}
			for line, want := range lines {
				args := append([]string{"-c", script}, strings.Split(line, " ")...)
				if shell != "fish" {
					args = append([]string{"-c", script, shell}, strings.Split(line, " ")...)
				}
				cmd := exec.Command(program, args...)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "AS_BAOCO=2m", "HOME="+dir, "PATH="+dir+"/bin:"+os.Getenv("PATH"))
				out, err := cmd.Output()
				offered := strings.Fields(string(out))
				slices.Sort(offered)
				if got := strings.Join(offered, " "); err != nil || got != want {
					t.Errorf("%q: %q, %v; want %q", line, got, err, want)
				}
			}
			if left, err := filepath.Glob(filepath.Join(dir, "*.db*")); err != nil || len(left) != 0 {
				t.Errorf("files were made: %q, %v", left, err)
			}
		})
	}
}
