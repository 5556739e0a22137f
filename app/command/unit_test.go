package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"baoco/app/command/terminal"
)

// printedUnit is what baoco systemd prints with args: the values of each
// setting.
func printedUnit(t *testing.T, args ...string) (text string, settings map[string][]string) {
	t.Helper()
	code, text, stderr := baoco("", append([]string{"systemd"}, args...)...)
	if code != 0 {
		t.Fatalf("%v: exit %d, %s", args, code, stderr)
	}
	settings = map[string][]string{}
	for line := range strings.Lines(text) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), "="); found && !strings.HasPrefix(line, "#") {
			settings[name] = append(settings[name], value)
		}
	}
	return text, settings
}

// unitWord is a path as a word of a unit file.
func unitWord(path string) string {
	if strings.Contains(path, " ") {
		return `"` + path + `"`
	}
	return path
}

// The unit has the settings of the package's file, and keeps the server to the places that
// it needs.
func TestSystemdUnit(t *testing.T) {
	t.Setenv("BAOCO_LOG_FORMAT", "json") // of this shell, not of the service
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	must(t, err)
	const bin = "--binary=/usr/local/bin/baoco"
	for _, c := range []struct {
		args []string
		want map[string][]string
		not  []string
	}{
		{[]string{bin}, map[string][]string{
			"ExecStart": {"/usr/local/bin/baoco serve --db=/var/lib/baoco/baoco.db"}, "EnvironmentFile": {"-/etc/default/baoco"},
			"User": {"baoco"}, "StateDirectory": {"baoco"}, "ReadWritePaths": {"-/var/backups/baoco"}, "RuntimeDirectory": {"baoco"},
			"ProtectHome": {"yes"}, "PrivateTmp": {"yes"}, "AmbientCapabilities": {"CAP_NET_BIND_SERVICE"},
			"CapabilityBoundingSet": {"CAP_NET_BIND_SERVICE"},
			"TimeoutStopSec":        {"20"}, "Type": {"notify"}, "WatchdogSec": {"90"}, "LimitNOFILE": {"8192"}, "RestartPreventExitStatus": {"2 5"},
			"Environment": {"GOTRACEBACK=crash"}, "LimitCORE": {"0"}, "Restart": {"on-failure"}, "NoNewPrivileges": {"yes"},
			"ProtectSystem": {"strict"},
			"ExecStopPost":  {`-+/bin/sh -c 'case $$EXIT_CODE in killed|dumped) systemctl kill --signal=KILL baoco-litestream.service;; esac'`},
		}, []string{"PrivateUsers"}},
		{[]string{bin, "--user", "shop"}, map[string][]string{"User": {"shop"}}, nil},
		{[]string{bin, "--db", `/srv/my "shop" 5%\n/$HOME.db`}, map[string][]string{
			"ExecStart":      {`:/usr/local/bin/baoco serve "--db=/srv/my \"shop\" 5%%\\n/$HOME.db"`},
			"ReadWritePaths": {`"/srv/my \"shop\" 5%%\\n"`, "-/var/backups/baoco"},
		}, []string{"StateDirectory"}},
		{[]string{bin, "--db", "/var/lib/a/b/baoco.db"}, map[string][]string{"ReadWritePaths": {"/var/lib/a/b", "-/var/backups/baoco"}},
			[]string{"StateDirectory"}},
		{[]string{bin, "--db", "b/baoco.db"}, map[string][]string{ // systemd starts it in /
			"ExecStart":      {"/usr/local/bin/baoco serve " + unitWord("--db="+here+"/b/baoco.db")},
			"ReadWritePaths": {unitWord(here + "/b"), "-/var/backups/baoco"},
		}, nil},
		{[]string{bin, "--db", "/home/lan/baoco.db"}, map[string][]string{"ProtectHome": {"read-only"}}, nil},
		{[]string{"--binary=/tmp/baoco"}, map[string][]string{"User": {"baoco"}}, []string{"PrivateTmp"}},
	} {
		text, settings := printedUnit(t, c.args...)
		for name, want := range c.want {
			if got := settings[name]; !slices.Equal(got, want) {
				t.Errorf("%v: %s is %q, want %q", c.args, name, got, want)
			}
		}
		for _, name := range c.not {
			if settings[name] != nil {
				t.Errorf("%v: %s is there\n%s", c.args, name, text)
			}
		}
	}
	for _, args := range [][]string{
		{"--user", "a b"}, {"--user", "%i"}, {"--db", "/srv/a\nExecStartPre=/bin/false/x.db"}, {"--binary", "/\xff"},
		{"--binary", `/a"b`}, {"more"},
	} {
		if code, stdout, stderr := baoco("", append([]string{"systemd"}, args...)...); code != terminal.ExitUsage || stdout != "" {
			t.Errorf("%v: exit %d, %s%s", args, code, stdout, stderr)
		}
	}
}

// Systemd itself finds nothing wrong with the units, and finds the program
// whatever its path looks like.
func TestSystemdVerifies(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not here")
	}
	executable, err := os.Executable()
	must(t, err)
	for _, name := range []string{"baoco", "a b", "50%", "$HOME", "a;b", "báo có", `"a"`, "it's", `a\b`} {
		dir := filepath.Join(t.TempDir(), name)
		must(t, os.Mkdir(dir, 0o755))
		binary := filepath.Join(dir, "baoco "+name)
		if strings.ContainsAny(name, "\"'\\") {
			if code, _, stderr := baoco("", "systemd", "--binary", binary); code != terminal.ExitUsage {
				t.Errorf("%s: exit %d, %s", binary, code, stderr)
			}
			binary = filepath.Join(t.TempDir(), "baoco")
		}
		must(t, os.Symlink(executable, binary))
		text, _ := printedUnit(t, "--binary", binary, "--db", filepath.Join(dir, "baoco.db"))
		file := filepath.Join(t.TempDir(), "baoco.service")
		must(t, os.WriteFile(file, []byte(text), 0o644))
		if out, err := exec.Command(analyze, "verify", "--man=no", file).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s\n%s", name, err, out, text)
		}
	}
}
