package command

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/command/terminal"
	"baoco/app/replica"

	"golang.org/x/text/unicode/norm"
)

// replicaWorld is a database with what baoco replica setup needs beside it.
func replicaWorld(t *testing.T) (dir, db string) {
	t.Helper()
	db = apptest.NewFile(t)
	dir = filepath.Dir(db)
	for name, text := range map[string]string{"litestream": "#!/bin/sh\necho v0.5.18\n", "old": "#!/bin/sh\necho v0.5.16\n",
		"blind": "#!/bin/sh\n[ $1 = version ] && echo v0.5.18 || { echo no route to host; exit 1; }\n"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700))
	}
	for name, text := range map[string]string{"words": "năm từ dễ nhớ của cửa hàng\n", "short": "abc",
		"s3": "access-key-id: a\nsecret-access-key: Hunter2"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	must(t, os.WriteFile(filepath.Join(dir, "open"), []byte("password: Hunter2"), 0o600))
	must(t, os.Chmod(filepath.Join(dir, "open"), 0o644)) // whatever the umask is
	t.Setenv("BAOCO_DB", db)
	return dir, db
}

func TestReplicaSetup(t *testing.T) {
	dir, db := replicaWorld(t)
	setUp := func(args ...string) (code int, stdout, stderr string) {
		return baoco("", append([]string{"replica", "setup", "--litestream", dir + "/litestream"}, args...)...)
	}
	code, unit, stderr := setUp("file://" + dir + "/to")
	if code != 0 || !strings.Contains(stderr, "without the key can sign nothing") || !strings.Contains(stderr, "systemctl") {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	for _, line := range []string{
		"ExecStart=" + unitWord(dir+"/litestream") + " replicate -config " + unitWord(db+".litestream.yml") + " -no-expand-env", "Restart=always",
		"StartLimitIntervalSec=0", "After=baoco.service network-online.target",
		"ReadWritePaths=" + unitWord(dir), "ReadWritePaths=" + unitWord(dir+"/to"), "RequiresMountsFor=" + unitWord(dir+"/to"),
		"NoNewPrivileges=yes", "ProtectSystem=strict", "CapabilityBoundingSet=",
	} {
		if !strings.Contains(unit, line+"\n") {
			t.Errorf("the unit lacks %s:\n%s", line, unit)
		}
	}
	info, err := os.Stat(db + ".litestream.yml")
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the configuration: %v, %v", info, err)
	}
	config, err := replica.ReadConfig(db)
	if err != nil || config.Epoch != 1 || config.Program != dir+"/litestream" {
		t.Errorf("the configuration: %+v, %v", config, err)
	}
	// Again, and now with the key, and the unit written.
	if code, stdout, stderr := setUp("file://"+dir+"/to", "--passphrase-file", dir+"/words", "--unit-dir", dir); code != 0 || stdout != "" ||
		!strings.Contains(stderr, "lies beside the copy") {
		t.Errorf("again: exit %d, %s%s", code, stdout, stderr)
	}
	if written, err := os.ReadFile(dir + "/baoco-litestream.service"); err != nil || string(written) != unit {
		t.Errorf("the unit: %s, %v", written, err)
	}
	sealed, err := os.ReadFile(dir + "/to/key.sealed")
	must(t, err)
	key, err := os.ReadFile(db + ".key")
	must(t, err)
	if opened, err := replica.OpenKey(sealed, "năm từ dễ nhớ của cửa hàng"); err != nil || string(opened) != string(key) {
		t.Errorf("the sealed key opens as %q, %v", opened, err)
	}
	open := []string{"replica", "open-key", "file://" + dir + "/to", "--passphrase-file", dir + "/words", "--to", dir + "/opened"}
	if code, _, stderr := baoco("", open...); code != 0 {
		t.Errorf("open-key: exit %d, %s", code, stderr)
	}
	if opened, err := os.ReadFile(dir + "/opened"); err != nil || string(opened) != string(key) {
		t.Errorf("opened: %q, %v", opened, err)
	}
	// Typed again on another keyboard, where a letter and its marks are several characters.
	must(t, os.WriteFile(dir+"/typed", []byte(norm.NFD.String("năm từ dễ nhớ của cửa hàng")+"\r\n\n"), 0o600))
	if code, _, stderr := baoco("", "replica", "open-key", "file://"+dir+"/to", "--passphrase-file", dir+"/typed", "--to",
		dir+"/typed.key"); code != 0 {
		t.Errorf("typed again: exit %d, %s", code, stderr)
	}
	if info, err := os.Stat(dir + "/opened"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("opened: %v, %v", info, err)
	}
	if code, _, stderr := baoco("", open...); code == 0 || !strings.Contains(stderr, "exists") {
		t.Errorf("onto a file: exit %d, %s", code, stderr)
	}
	must(t, os.WriteFile(dir+"/words", []byte("another passphrase of five words"), 0o600))
	open[6] = dir + "/again"
	if code, _, stderr := baoco("", open...); code == 0 || !strings.Contains(stderr, "does not open the sealed key") {
		t.Errorf("another passphrase: exit %d, %s", code, stderr)
	}
	if _, err := os.Stat(dir + "/again"); err == nil {
		t.Error("another passphrase made a key file")
	}
	// To another place only if that is meant, where it begins anew.
	if code, _, stderr := setUp("file://" + dir + "/other"); code != terminal.ExitConflict || !strings.Contains(stderr, "--force") {
		t.Errorf("another place: exit %d, %s", code, stderr)
	}
	if code, _, stderr := setUp("file://"+dir+"/other", "--force"); code != 0 {
		t.Errorf("another place, by force: exit %d, %s", code, stderr)
	}
	if config, err := replica.ReadConfig(db); err != nil || config.Epoch != 1 || config.Place.Path != dir+"/other" {
		t.Errorf("the configuration: %+v, %v", config, err)
	}
}

// Systemd itself finds nothing wrong with the unit, whatever the paths look like.
func TestReplicaUnitVerifies(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not here")
	}
	for _, name := range []string{"baoco", "a b", "$HOME", "a;b", "báo có", `"a"`, "it's", `a\b`} {
		db := filepath.Join(filepath.Dir(apptest.NewFile(t)), name, "baoco.db")
		must(t, os.Rename(filepath.Dir(apptest.NewFile(t)), filepath.Dir(db)))
		program := filepath.Join(filepath.Dir(db), "lite "+name)
		args := []string{"replica", "setup", "file:///mnt/a b", "--db", db, "--unit-dir", t.TempDir(), "--litestream"}
		must(t, os.WriteFile(program, []byte("#!/bin/sh\necho v0.5.18\n"), 0o700))
		if strings.ContainsAny(name, "\"'\\") {
			if code, _, stderr := baoco("", append(args, program)...); code != terminal.ExitUsage {
				t.Errorf("%s: exit %d, %s", program, code, stderr)
			}
			program = filepath.Join(t.TempDir(), "litestream")
			must(t, os.WriteFile(program, []byte("#!/bin/sh\necho v0.5.18\n"), 0o700))
		}
		args[2] = "file://" + t.TempDir() + "/a b"
		if code, _, stderr := baoco("", append(args, program)...); code != 0 {
			t.Fatalf("%s: exit %d, %s", name, code, stderr)
		}
		if out, err := exec.Command(analyze, "verify", "--man=no",
			filepath.Join(args[6], "baoco-litestream.service")).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// Where another server's copy lies nothing begins by chance, and where another server
// has taken over nothing is written.
func TestReplicaSetupAtAnothers(t *testing.T) {
	dir, db := replicaWorld(t)
	place, err := replica.ParsePlace("file://" + dir + "/to")
	must(t, err)
	objects, err := replica.Open(t.Context(), place, replica.Credentials{})
	must(t, err)
	setUp := func(args ...string) (int, string) {
		code, _, stderr := baoco("", append([]string{"replica", "setup", place.String(), "--litestream", dir + "/litestream"}, args...)...)
		return code, stderr
	}
	must(t, replica.NewEpoch(1, "elsewhere", time.Now()).Take(t.Context(), objects))
	if code, stderr := setUp(); code != terminal.ExitConflict || !strings.Contains(stderr, "elsewhere") ||
		!strings.Contains(stderr, "takeover") {
		t.Errorf("exit %d, %s", code, stderr)
	}
	if _, err := replica.ReadConfig(db); !os.IsNotExist(err) {
		t.Errorf("the configuration: %v", err)
	}
	if code, stderr := setUp("--force"); code != 0 {
		t.Errorf("by force: exit %d, %s", code, stderr)
	}
	if config, err := replica.ReadConfig(db); err != nil || config.Epoch != 2 {
		t.Errorf("the configuration: %+v, %v", config, err)
	}
	must(t, replica.NewEpoch(3, "elsewhere", time.Now()).Take(t.Context(), objects))
	for _, force := range [][]string{nil, {"--force"}} {
		if code, stderr := setUp(force...); code != terminal.ExitConflict || !strings.Contains(stderr, "another server has taken over") {
			t.Errorf("%v: exit %d, %s", force, code, stderr)
		}
	}
}

func TestReplicaSetupRefuses(t *testing.T) {
	dir, db := replicaWorld(t)
	to, good := "file://"+dir+"/to", "--litestream="+dir+"/litestream"
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no place":             {[]string{good}, "one argument"},
		"a secret in it":       {[]string{"sftp://u:Hunter2@h/b", good}, "credentials file"},
		"no credentials":       {[]string{"s3://shop?region=x1", good}, "secret-access-key"},
		"readable credentials": {[]string{"sftp://u@h/b", good, "--credentials-file", dir + "/open"}, "chmod 600"},
		"those of another":     {[]string{to, good, "--credentials-file", dir + "/s3"}, "takes no credentials"},
		"a short passphrase":   {[]string{to, good, "--passphrase-file", dir + "/short"}, "16 letters"},
		"an old Litestream":    {[]string{to, "--litestream", dir + "/old"}, "link a SQLite that can damage"},
		"none":                 {[]string{to, "--litestream", dir + "/none"}, "0.5.17"},
		"one that can't reach": {[]string{to, "--litestream", dir + "/blind"}, "no route to host"},
		"no such disk":         {[]string{"file://" + dir + "/dsik/to", good}, "see that its disk is mounted"},
	} {
		code, stdout, stderr := baoco("", append([]string{"replica", "setup"}, c.args...)...)
		if code == 0 || stdout != "" || !strings.Contains(stderr, c.says) || strings.Contains(stderr, "Hunter2") {
			t.Errorf("%s: exit %d, %s%s", name, code, stdout, stderr)
		}
		if _, err := os.Stat(db + ".litestream.yml"); err == nil {
			t.Fatalf("%s: a configuration was written", name)
		}
	}
}

func TestReplicaShow(t *testing.T) {
	dir, db := replicaWorld(t)
	for _, command := range []string{"show", "remove", "seal-key --passphrase-file DIR/words"} {
		if code, _, stderr := baoco("", words("replica "+command, "DIR", dir)...); code != terminal.ExitNotFound ||
			!strings.Contains(stderr, "replica setup") {
			t.Errorf("%s where none is set up: exit %d, %s", command, code, stderr)
		}
	}
	if code, _, stderr := baoco("", "replica", "setup", "file://"+dir+"/to", "--litestream", dir+"/litestream"); code != 0 {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	shown := func() (v struct {
		Epoch              int64
		Place              string
		Version, SealedKey *string
		Problem            *string
	}) {
		t.Helper()
		code, stdout, stderr := baoco("", "replica", "show", "-o", "json")
		if code != 0 {
			t.Errorf("exit %d, %s", code, stderr)
		}
		must(t, json.Unmarshal([]byte(strings.ReplaceAll(stdout, "sealed_key", "SealedKey")), &v))
		return v
	}
	if v := shown(); v.Epoch != 1 || v.Place != apptest.Place(t, "file://"+dir+"/to").String() || v.Version == nil ||
		*v.Version != "v0.5.18" || v.Problem != nil || *v.SealedKey != "none" {
		t.Errorf("shown: %+v", v)
	}
	if code, _, stderr := baoco("", "replica", "seal-key", "--passphrase-file", dir+"/words"); code != 0 {
		t.Errorf("exit %d, %s", code, stderr)
	}
	if v := shown(); *v.SealedKey != "present" {
		t.Errorf("sealed: %+v", v)
	}
	// With a new key the sealed one is old, and the command that makes it says so.
	if code, stdout, stderr := baoco("", "doctor", "--new-key"); code != 0 || !strings.Contains(stdout, "baoco replica seal-key") {
		t.Errorf("exit %d, %s%s", code, stdout, stderr)
	}
	if v := shown(); *v.SealedKey != "old" {
		t.Errorf("after a new key: %+v", v)
	}
	must(t, os.Remove(dir+"/litestream"))
	if v := shown(); v.Version != nil || v.Problem == nil {
		t.Errorf("without the program: %+v", v)
	}
	setUpLongAgo(t, db)
	if code, _, stderr := baoco("", "replica", "remove"); code != 0 || !strings.Contains(stderr, "systemctl disable") {
		t.Errorf("exit %d, %s", code, stderr)
	}
	if _, err := replica.ReadConfig(db); !os.IsNotExist(err) {
		t.Errorf("after the removal: %v", err)
	}
}

// setUpLongAgo lets a removal begin at once: it waits until a server has seen a replica
// that was set up a moment ago.
func setUpLongAgo(t *testing.T, db string) {
	t.Helper()
	must(t, os.Chtimes(replica.ConfigPath(db), time.Time{}, time.Now().Add(-time.Hour)))
}
