package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"baoco/app/apptest"
	"baoco/app/command/terminal"
)

var must = apptest.Must

func init() { apptest.CheapSecrets() }

// baoco runs a command in this process. Two at once would race on the one help
// flag that the command line library has for all of them, so these tests don't
// run beside one another.
func baoco(stdin string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = Run(context.Background(), append([]string{"baoco"}, args...), strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

// TestCommands runs the scripts of testdata/cli, each on a file of its own:
//
//	$ a command                 baoco is implied, --db too
//	< a line of its stdin
//	a line of its stdout        * stands for anything
//	! a part of its stderr
//	? its exit code             0 where none stands
func TestCommands(t *testing.T) {
	scripts, err := filepath.Glob("../../testdata/cli/*.txt")
	must(t, err)
	if len(scripts) == 0 {
		t.Fatal("no scripts")
	}
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(script)
			must(t, err)
			db := apptest.NewFile(t)
			runScript(t, string(text), db)
		})
	}
}

func runScript(t *testing.T, text, db string) {
	t.Setenv("BAOCO_DB", db)
	steps := strings.Split("\n"+text, "\n$ ")
	for _, step := range steps[1:] {
		lines := strings.Split(strings.TrimRight(step, "\n"), "\n")
		command, stdin, want, complaint, code := lines[0], "", []string{}, []string{}, 0
		for _, line := range lines[1:] {
			switch {
			case strings.HasPrefix(line, "#"):
			case strings.HasPrefix(line, "< "):
				stdin += line[2:] + "\n"
			case strings.HasPrefix(line, "! "):
				complaint = append(complaint, line[2:])
			case strings.HasPrefix(line, "? "):
				code, _ = strconv.Atoi(line[2:])
			default:
				want = append(want, line)
			}
		}
		gotCode, stdout, stderr := baoco(stdin, words(command)...)
		if gotCode != code {
			t.Errorf("$ %s\nexit %d, want %d\n%s%s", command, gotCode, code, stdout, stderr)
		}
		if !matches(strings.TrimSpace(strings.Join(want, "\n")), strings.TrimSpace(stdout)) {
			t.Errorf("$ %s\ngot:\n%s\nwant:\n%s\nstderr: %s", command, stdout, strings.Join(want, "\n"), stderr)
		}
		for _, part := range complaint {
			if !strings.Contains(stderr, part) {
				t.Errorf("$ %s\nstderr %q, want a part %q", command, stderr, part)
			}
		}
	}
}

// words splits a command; double quotes hold words together. What stands for a path is
// replaced afterwards, as NewReplacer does: a path may have blanks.
func words(command string, oldnew ...string) []string {
	var list []string
	for _, m := range regexp.MustCompile(`"([^"]*)"|(\S+)`).FindAllStringSubmatch(command, -1) {
		list = append(list, strings.NewReplacer(oldnew...).Replace(m[1]+m[2]))
	}
	return list
}

var spaces = regexp.MustCompile(`[ \t]+`)

// matches compares line by line, with * as a wildcard and runs of spaces as
// one.
func matches(pattern, text string) bool {
	patterns, lines := strings.Split(pattern, "\n"), strings.Split(text, "\n")
	if len(patterns) != len(lines) {
		return false
	}
	for i, p := range patterns {
		p = strings.TrimSpace(spaces.ReplaceAllString(p, " "))
		line := strings.TrimSpace(spaces.ReplaceAllString(lines[i], " "))
		expression := "^" + strings.ReplaceAll(regexp.QuoteMeta(p), `\*`, ".*") + "$"
		if !regexp.MustCompile(expression).MatchString(line) {
			return false
		}
	}
	return true
}

// Every command has a sentence and an example.
func TestHelp(t *testing.T) {
	root := rootCommand(nil, nil, nil)
	for _, group := range root.Commands {
		if group.Usage == "" {
			t.Errorf("%s says nothing of itself", group.Name)
		}
		commands := group.Subcommands
		if len(commands) == 0 {
			commands = append(commands, group)
		}
		for _, c := range commands {
			if !strings.Contains(c.Description, "Example:") || !strings.Contains(c.Description, "baoco "+group.Name) {
				t.Errorf("%s %s has no example", group.Name, c.Name)
			}
		}
	}
	code, stdout, _ := baoco("", "bank", "link", "--help")
	if code != 0 || !strings.Contains(stdout, "baoco bank link --bank ACB") {
		t.Errorf("help of bank link: exit %d\n%s", code, stdout)
	}
	// The help says which flags are needed, and what holds without the others.
	for command, want := range map[string]string{
		"delivery replay": "--webhook-id ID             webhook ID (default: none, it is needed)",
		"webhook create":  "bank account ID; repeat it for several (default: all)",
		"webhook update":  "bank account ID; repeat it for several (default: as it is)",
	} {
		if _, stdout, _ := baoco("", append([]string{"help"}, strings.Fields(command)...)...); !strings.Contains(stdout, want) {
			t.Errorf("help of %s doesn't say %q:\n%s", command, want, stdout)
		}
	}
	// baoco alone shows the first hour, and baoco help everything.
	if code, stdout, _ := baoco(""); code != 0 || strings.Count(stdout, "\n   baoco ") != 5 || strings.Contains(stdout, "takeover") {
		t.Errorf("baoco alone: exit %d\n%s", code, stdout)
	}
	if code, stdout, _ := baoco("", "help"); code != 0 || !strings.Contains(stdout, "takeover") {
		t.Errorf("help: exit %d\n%s", code, stdout)
	}
}

// Admin commands never create a file, and say what is wrong with one.
func TestDatabaseErrors(t *testing.T) {
	dir := t.TempDir()
	path := func(name, content string) string {
		p := filepath.Join(dir, name)
		must(t, os.WriteFile(p, []byte(content), 0o600))
		return p
	}
	good := filepath.Join(dir, "good.db")
	apptest.NewFileAt(t, good)
	whole, err := os.ReadFile(good)
	must(t, err)
	key, err := os.ReadFile(good + ".key")
	must(t, err)
	half := path("half.db", string(whole[:len(whole)/2]))
	must(t, os.WriteFile(half+".key", key, 0o600))
	other := path("otherkey.db", string(whole))
	path("otherkey.db.key", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n")
	missing := filepath.Join(dir, "missing.db")
	for _, c := range []struct{ name, db, says string }{
		{"missing", missing, "baoco serve creates it"},
		{"text", path("text.db", "this is a text file, not a database at all; it is long enough to hold a header of a hundred bytes, though"),
			"not a baoco database"},
		{"empty", path("empty.db", ""), "is empty"},
		{"directory", dir, "is a directory"},
		{"half", half, "damaged"},
		{"no key", path("nokey.db", string(whole)), "is missing"},
		{"wrong key", other, "does not fit"},
	} {
		before, _ := os.ReadFile(c.db)
		code, stdout, stderr := baoco("", "bank", "list", "--db", c.db)
		if code != terminal.ExitDatabase || stdout != "" || !strings.Contains(stderr, c.says) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q; want exit 4 and %q", c.name, code, stdout, stderr, c.says)
		}
		if after, _ := os.ReadFile(c.db); !bytes.Equal(before, after) {
			t.Errorf("%s: the file was changed", c.name)
		}
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("an admin command created a file")
	}
}
