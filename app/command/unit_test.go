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

func TestSystemdUnit(t *testing.T) {
	t.Setenv("BAOCO_LOG_FORMAT", "json") // of this shell, not of the service
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	must(t, err)
	const bin = "--binary=/usr/local/bin/baoco"
	for _, c := range []struct {
		args []string
		want map[string]string
		not  []string
	}{
		{[]string{bin}, map[string]string{
			"ExecStart": "/usr/local/bin/baoco serve --db=/var/lib/baoco/baoco.db --log-format=json",
			"User":      "baoco", "StateDirectory": "baoco", "ProtectHome": "yes", "PrivateTmp": "yes", "CapabilityBoundingSet": "",
			"TimeoutStopSec": "20", "Type": "notify", "WatchdogSec": "90", "LimitNOFILE": "8192", "RestartPreventExitStatus": "2 5", "Environment": "GOTRACEBACK=crash", "LimitCORE": "0",
			"ExecStopPost": `-+/bin/sh -c 'case $$EXIT_CODE in killed|dumped) systemctl kill --signal=KILL baoco-litestream.service;; esac'`, "Restart": "on-failure", "NoNewPrivileges": "yes", "ProtectSystem": "strict",
		}, []string{"AmbientCapabilities", "ReadWritePaths"}},
		{[]string{bin, "--domain", "x.vn", "--user", "shop", "--rate-limit", "10", "--allow-target", "10.0.0.0/8", "--allow-target", "shop.local", "--trusted-proxies", "10.0.0.1,2001:db8::/32"}, map[string]string{
			"ExecStart": "/usr/local/bin/baoco serve --db=/var/lib/baoco/baoco.db --domain=x.vn --allow-target=10.0.0.0/8 --allow-target=shop.local --trusted-proxies=10.0.0.1 --trusted-proxies=2001:db8::/32 --rate-limit=10 --log-format=json",
			"User":      "shop", "AmbientCapabilities": "CAP_NET_BIND_SERVICE", "CapabilityBoundingSet": "CAP_NET_BIND_SERVICE",
		}, []string{"PrivateUsers"}},
		{[]string{bin, "--listen", "0.0.0.0:80"}, map[string]string{"AmbientCapabilities": "CAP_NET_BIND_SERVICE"}, nil},
		{[]string{bin, "--environment-file", "/etc/default/100%"}, map[string]string{
			"EnvironmentFile": "-/etc/default/100%%", "ExecStart": "/usr/local/bin/baoco serve --db=/var/lib/baoco/baoco.db --log-format=json", "AmbientCapabilities": "CAP_NET_BIND_SERVICE",
			"ReadWritePaths": "-/var/backups/baoco", "RuntimeDirectory": "baoco",
		}, nil},
		{[]string{bin, "--listen", ":0"}, map[string]string{"PrivateUsers": "yes"}, []string{"AmbientCapabilities"}},
		{[]string{bin, "--db", `/srv/my "shop" 5%\n/$HOME.db`}, map[string]string{
			"ExecStart":      `:/usr/local/bin/baoco serve "--db=/srv/my \"shop\" 5%%\\n/$HOME.db" --log-format=json`,
			"ReadWritePaths": `"/srv/my \"shop\" 5%%\\n"`,
		}, []string{"StateDirectory"}},
		{[]string{bin, "--db", "/var/lib/a/b/baoco.db"}, map[string]string{"ReadWritePaths": "/var/lib/a/b"}, []string{"StateDirectory"}},
		{[]string{bin, "--listen", "unix:/run/baoco/baoco.sock", "--base-url", "https://baoco.vn"}, map[string]string{"RuntimeDirectory": "baoco"}, []string{"AmbientCapabilities"}},
		{[]string{bin, "--backup-dir", "/mnt/a b"}, map[string]string{"ReadWritePaths": `"-/mnt/a b"`, "StateDirectory": "baoco"}, nil},
		{[]string{bin, "--cert-file", "c.pem", "--key-file", "/k.pem", "--backup-dir", "b"}, map[string]string{ // systemd starts it in /
			"ExecStart":      "/usr/local/bin/baoco serve --db=/var/lib/baoco/baoco.db " + unitWord("--cert-file="+here+"/c.pem") + " --key-file=/k.pem " + unitWord("--backup-dir="+here+"/b") + " --log-format=json",
			"ReadWritePaths": unitWord("-" + here + "/b"),
		}, nil},
		{[]string{bin, "--db", "/home/lan/baoco.db"}, map[string]string{"ProtectHome": "read-only", "ReadWritePaths": "/home/lan"}, nil},
		{[]string{"--binary=/tmp/baoco"}, map[string]string{"User": "baoco"}, []string{"PrivateTmp"}},
	} {
		text, settings := printedUnit(t, c.args...)
		for name, want := range c.want {
			if got := settings[name]; !slices.Equal(got, []string{want}) {
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
		{"--listing-rate-limit", "0"}, {"--trusted-proxies", "proxy.local"}, {"--trusted-proxies", "10.0.0.1:80"}, {"--trusted-proxies", "0.0.0.0/0"}, {"--trusted-proxies", "::ffff:0.0.0.0/96"}, {"--timezone", "Nowhere"}, {"--user", "a b"}, {"--user", "%i"}, {"--db", "/srv/a\nExecStartPre=/bin/false/x.db"}, {"--binary", "/\xff"}, {"more"},
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
		text, _ := printedUnit(t, "--binary", binary, "--db", filepath.Join(dir, "baoco.db"), "--listen", "127.0.0.1:443")
		file := filepath.Join(t.TempDir(), "baoco.service")
		must(t, os.WriteFile(file, []byte(text), 0o644))
		if out, err := exec.Command(analyze, "verify", "--man=no", file).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s\n%s", name, err, out, text)
		}
	}
}
