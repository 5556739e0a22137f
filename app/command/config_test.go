package command

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"baoco/app/command/serve"
	"baoco/app/command/terminal"
)

// shownSetting is a setting as baoco config -o json prints it.
type shownSetting struct {
	Variable, Source string
	Value            *string
}

// config runs baoco config and gives the settings by their names.
func config(t *testing.T, args ...string) (code int, settings map[string]shownSetting, stdout, stderr string) {
	t.Helper()
	code, stdout, stderr = baoco("", append([]string{"config", "-o", "json"}, args...)...)
	var list []struct {
		Setting string
		shownSetting
	}
	must(t, json.Unmarshal([]byte(stdout), &list))
	settings = map[string]shownSetting{}
	for _, one := range list {
		settings[one.Setting] = one.shownSetting
	}
	return code, settings, stdout, stderr
}

// withoutVariables unsets what whoever runs the tests has set.
func withoutVariables(t *testing.T) {
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "BAOCO_") {
			t.Setenv(name, "") // which brings it back at the end
			must(t, os.Unsetenv(name))
		}
	}
}

// is checks the value and the source of a setting; "" is no value.
func (s shownSetting) is(t *testing.T, what, value, source string) {
	t.Helper()
	got := ""
	if s.Value != nil {
		got = *s.Value
	}
	if got != value || s.Source != source || (s.Value == nil) != (value == "") {
		t.Errorf("%s is %q from %s; want %q from %s", what, got, s.Source, value, source)
	}
}

// Every flag of serve can be set by its variable; a flag goes before it, and both
// before the default.
func TestConfig(t *testing.T) {
	withoutVariables(t)
	code, settings, _, stderr := config(t)
	if code != 0 || stderr != "" || len(settings) != len(serve.Flags()) {
		t.Fatalf("exit %d, %d settings for %d flags\n%s", code, len(settings), len(serve.Flags()), stderr)
	}
	settings["listen"].is(t, "listen", "127.0.0.1:8080", "default")
	settings["rate-limit"].is(t, "rate-limit", "300", "default")
	settings["trusted-proxies"].is(t, "trusted-proxies", "", "default")
	for name, one := range settings {
		t.Run(name, func(t *testing.T) {
			if want := "BAOCO_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")); one.Variable != want {
				t.Errorf("its variable is %s, want %s", one.Variable, want)
			}
			t.Setenv(one.Variable, "7")
			value := "7"
			if name == "metrics-token" || name == "heartbeat-url" {
				value = "(secret)"
			}
			_, settings, _, _ := config(t)
			settings[name].is(t, "by the variable it", value, "environment")
			_, settings, _, _ = config(t, "--"+name+"=7")
			settings[name].is(t, "by a flag of the same value it", value, "flag")
			_, settings, _, _ = config(t, "--"+name, "8")
			if value == "7" {
				value = "8"
			}
			settings[name].is(t, "by a flag it", value, "flag")
		})
	}
	_, settings, _, _ = config(t, "--domain", "baoco.shop.vn", "--allow-target", "10.0.0.0/8", "--allow-target", "shop.local",
		"--backup-dir", "--listen")
	settings["base-url"].is(t, "base-url", "https://baoco.shop.vn", "default")
	settings["allow-target"].is(t, "allow-target", "10.0.0.0/8,shop.local", "flag")
	settings["listen"].is(t, "listen, which is only a value,", "127.0.0.1:8080", "default")
	var printed bytes.Buffer
	if code := Run(t.Context(), []string{"baoco", "config", "--", "--listen"}, nil, &printed, io.Discard); code != terminal.ExitUsage ||
		printed.Len() > 0 {
		t.Errorf("an argument: exit %d, %s", code, &printed)
	}
	for _, args := range [][]string{
		{"--listing-rate-limit", "0"}, {"--trusted-proxies", "proxy.local"}, {"--trusted-proxies", "10.0.0.1:80"},
		{"--trusted-proxies", "0.0.0.0/0"},
		{"--trusted-proxies", "::ffff:0.0.0.0/96"}, {"--timezone", "Nowhere"},
	} {
		if code, _, stderr := baoco("", append([]string{"config"}, args...)...); code != terminal.ExitUsage {
			t.Errorf("%v: exit %d, %s", args, code, stderr)
		}
	}
	code, stdout, stderr := baoco("", "config", "--listen", "nowhere")
	if code != terminal.ExitUsage || !strings.Contains(stderr, "--listen must be") ||
		!strings.Contains(oneSpace(stdout), "listen nowhere flag BAOCO_LISTEN") || !strings.Contains(oneSpace(stdout), "domain (none) default") {
		t.Errorf("what serve would refuse: exit %d\n%s%s", code, stdout, stderr)
	}
}

// An empty variable is the same as none, for every setting alike.
func TestEmptyVariables(t *testing.T) {
	withoutVariables(t)
	_, settings, _, _ := config(t)
	for name, one := range settings {
		t.Setenv(one.Variable, "")
		code, now, _, stderr := config(t)
		if code != 0 || stderr != "" || now[name].Source != "default" {
			t.Errorf("%s empty: exit %d, %+v\n%s", one.Variable, code, now[name], stderr)
		}
	}
}

func TestBaseURLHasNoPath(t *testing.T) {
	withoutVariables(t)
	for base, want := range map[string]int{"https://shop.vn/": 0, "https://shop.vn/baoco/": terminal.ExitUsage,
		"http://shop.vn/a": terminal.ExitUsage} {
		if code, _, _, stderr := config(t, "--base-url", base); code != want || want != 0 && !strings.Contains(stderr, "must have no path") {
			t.Errorf("%s: exit %d\n%s", base, code, stderr)
		}
	}
}

// Where the flag counts and the variable names another database, the server says so.
func TestVariableOfTheDatabaseBesideItsFlag(t *testing.T) {
	withoutVariables(t)
	t.Setenv("BAOCO_DB", "/srv/other.db")
	for _, c := range []struct {
		args []string
		warn bool
	}{{nil, false}, {[]string{"--db", "/srv/other.db"}, false}, {[]string{"--db", "/srv/shop.db"}, true}} {
		if code, _, _, stderr := config(t, c.args...); code != 0 ||
			c.warn != strings.Contains(stderr, "--db /srv/shop.db counts, and BAOCO_DB=/srv/other.db doesn't") {
			t.Errorf("%v: exit %d\n%s", c.args, code, stderr)
		}
	}
}

func oneSpace(text string) string { return spaces.ReplaceAllString(text, " ") }

// A secret comes from its variable or its file, is shown to nobody, and stands in no
// command line.
func TestConfigSecrets(t *testing.T) {
	withoutVariables(t)
	const secret = "https://hc.example.vn/0123456789"
	dir := t.TempDir()
	file := func(content string, mode os.FileMode) string {
		f, err := os.CreateTemp(dir, "")
		must(t, err)
		_, err = f.WriteString(content)
		must(t, err)
		must(t, f.Chmod(mode))
		must(t, f.Close())
		return f.Name()
	}
	for _, name := range []string{"heartbeat-url", "metrics-token"} {
		variable := "BAOCO_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		for what, c := range map[string]struct {
			value, path string
			args        []string
			code        int
			says        string
			source      string
		}{
			"variable":         {value: secret, source: "environment"},
			"file":             {path: file(secret, 0o640), source: "file"},
			"file with a line": {path: file(secret+"\r\n", 0o400), source: "file"},
			"file of the flag": {args: []string{"--" + name + "-file", file(secret, 0o600)}, source: "file"},
			"file for all":     {path: file(secret, 0o644), source: "file", says: "everybody on this machine can read the secret in " + dir},
			"both": {value: secret, path: file(secret, 0o600), code: terminal.ExitUsage, says: "don't go together",
				source: "environment"},
			"a flag": {args: []string{"--" + name, secret}, code: terminal.ExitUsage,
				says: "others on this machine can read a command line", source: "flag"},
			"two lines":  {path: file(secret+"\n\n", 0o600), code: terminal.ExitUsage, says: "must be one line", source: "file"},
			"empty file": {path: file("\n", 0o600), code: terminal.ExitUsage, says: "is empty", source: "file"},
			"large file": {path: file(strings.Repeat("\x00", 1<<16+1), 0o600), code: terminal.ExitUsage,
				says: "is larger than 64 KB", source: "file"},
			"endless file": {path: "/dev/zero", code: terminal.ExitUsage, says: "is larger than 64 KB", source: "file"},
			"long line": {path: file(secret+strings.Repeat("a", 4096), 0o600), code: terminal.ExitUsage,
				says: "at most 4096 characters", source: "file"},
			"no file":           {path: filepath.Join(dir, "missing"), code: terminal.ExitDatabase, says: "no such file", source: "file"},
			"directory":         {path: dir, code: terminal.ExitDatabase, says: "is a directory", source: "file"},
			"empty, so unset":   {value: "", source: "default"},
			"empty with a file": {value: "", path: file(secret, 0o600), source: "file"},
		} {
			t.Run(name+" "+what, func(t *testing.T) {
				t.Setenv(variable, c.value)
				t.Setenv(variable+"_FILE", c.path)
				code, settings, stdout, stderr := config(t, c.args...)
				if code != c.code || !strings.Contains(stderr, c.says) || c.says == "" && stderr != "" {
					t.Errorf("exit %d: %s; want %d and %q", code, stderr, c.code, c.says)
				}
				value := "(secret)"
				if c.source == "default" {
					value = ""
				}
				settings[name].is(t, name, value, c.source)
				_, table, _ := baoco("", append([]string{"config"}, c.args...)...)
				if strings.Contains(stdout+stderr+table, secret) {
					t.Errorf("the secret is shown:\n%s%s%s", stdout, stderr, table)
				}
			})
		}
	}
}

// A variable that looks like a setting and is none is named with the nearest one,
// without its value.
func TestConfigUnknown(t *testing.T) {
	withoutVariables(t)
	for name, nearest := range map[string]string{
		"BAOCO_LISTN": "BAOCO_LISTEN", "BAOCO_BASEURL": "BAOCO_BASE_URL", "BAOCO_HEARTBEAT_URL_FIEL": "BAOCO_HEARTBEAT_URL_FILE",
		"BAOCO_METRIC_TOKEN": "BAOCO_METRICS_TOKEN",
		"BAOCO_ACOUNT":       "BAOCO_ACCOUNT", "BAOCO_O": "BAOCO_OUTPUT",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, "the value")
			code, _, _, stderr := config(t)
			if want := "baoco: there is no setting " + name + ", so it counts for nothing. Did you mean " + nearest + "?\n"; code != 0 ||
				stderr != want {
				t.Errorf("exit %d: %q, want %q", code, stderr, want)
			}
		})
	}
	for _, known := range []string{"BAOCO_ACCOUNT", "BAOCO_OUTPUT", "BAOCO_DB"} {
		t.Setenv(known, "1")
	}
	t.Setenv("BAOCO", "x")
	t.Setenv("baoco_listen", "x")
	if _, _, stderr := baoco("", "config"); strings.Contains(stderr, "no setting") {
		t.Errorf("of what is none: %s", stderr)
	}
}
