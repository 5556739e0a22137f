package replica_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"baoco/app/apptest"
	"baoco/app/replica"
)

const hostKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ9UZyhGDqjzH2WYsrNZ3Y2W8qvO9xvZXMuuEQlXBG0v"

// write makes a file of mode 0600.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	apptest.Must(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func TestReadCredentials(t *testing.T) {
	dir := t.TempDir()
	file := write(t, dir, "credentials", "# of the NAS\n\npassword: a: b#$HOME \nhost-key: "+hostKey+"\n")
	got, err := replica.ReadCredentials(file)
	if want := (replica.Credentials{Password: "a: b#$HOME", HostKey: hostKey}); err != nil || got != want {
		t.Errorf("read %#v, %v", got, err)
	}
	if text := fmt.Sprintf("%v %+v %#v", got, got, got); strings.Contains(text, "HOME") {
		t.Errorf("credentials are printed: %s", text)
	}
	for name, text := range map[string]string{
		"unknown": "pass: x", "twice": "password: x\npassword: x", "empty": "password:", "no colon": "password", "control": "password: a\x00b",
		"bytes": "password: \xff", "large": strings.Repeat("#", 1<<20),
	} {
		if c, err := replica.ReadCredentials(write(t, dir, name, text)); err == nil {
			t.Errorf("%s is taken: %#v", name, c)
		}
	}
	for _, mode := range []fs.FileMode{0o640, 0o604, 0o620, 0o666} {
		apptest.Must(t, os.Chmod(file, mode))
		if _, err := replica.ReadCredentials(file); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("a file of mode %o: %v", mode, err)
		}
	}
}

func TestCheckCredentials(t *testing.T) {
	dir := t.TempDir()
	key, open := write(t, dir, "id", "x"), write(t, dir, "open", "x")
	apptest.Must(t, os.Chmod(open, 0o644))
	s3 := replica.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}
	for i, c := range []struct {
		place string
		replica.Credentials
		good bool
	}{
		{"file:///mnt/a", replica.Credentials{}, true},
		{"file:///mnt/a", s3, false},
		{"s3://shop?region=x1", s3, true},
		{"s3://shop?region=x1", replica.Credentials{AccessKeyID: "a"}, false},
		{"s3://shop?region=x1", replica.Credentials{AccessKeyID: "a", SecretAccessKey: "b", Password: "c"}, false},
		{"sftp://u@h/b", replica.Credentials{Password: "x", HostKey: hostKey}, true},
		{"sftp://u@h/b", replica.Credentials{KeyFile: key, HostKey: hostKey}, true},
		{"sftp://u@h/b", replica.Credentials{KeyFile: key, Password: "x", HostKey: hostKey}, false},
		{"sftp://u@h/b", replica.Credentials{KeyFile: open, HostKey: hostKey}, false},
		{"sftp://u@h/b", replica.Credentials{KeyFile: "id", HostKey: hostKey}, false},
		{"sftp://u@h/b", replica.Credentials{Password: "x"}, false},
		{"sftp://u@h/b", replica.Credentials{Password: "x", HostKey: "nas.shop.vn " + hostKey}, false},
	} {
		if err := c.Check(apptest.Place(t, c.place)); (err == nil) != c.good {
			t.Errorf("%d: %s: %v", i, c.place, err)
		}
	}
}

func TestConfig(t *testing.T) {
	dir := t.TempDir()
	db, key := write(t, dir, "shop's.db", ""), write(t, dir, "id", "x")
	if _, err := replica.ReadConfig(db); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("where no replica is set up: %v", err)
	}
	for _, want := range []replica.Config{
		{Place: apptest.Place(t, "file:///mnt/disk/a b"), Epoch: 1, Program: "/usr/bin/litestream"},
		{Place: apptest.Place(t, "sftp://u@h/b"), Credentials: replica.Credentials{KeyFile: key, HostKey: hostKey}, Epoch: 12},
		{Place: apptest.Place(t, "sftp://u@h:2022/b"),
			Credentials: replica.Credentials{Password: "$HOME: 'x' \"#", HostKey: hostKey}, Epoch: 999999},
		{Place: apptest.Place(t, "s3://shop?region=x1"), Credentials: replica.Credentials{AccessKeyID: "007", SecretAccessKey: "yes"}, Epoch: 2},
		{Place: apptest.Place(t, "s3://shop/a/b?endpoint=https://s3.vn"),
			Credentials: replica.Credentials{AccessKeyID: "a", SecretAccessKey: "${PATH}"}, Epoch: 3},
	} {
		want.Database = db
		apptest.Must(t, want.Write())
		got, err := replica.ReadConfig(db)
		if err != nil || got != want {
			t.Errorf("%s is read as %+v, %v", want.Place, got, err)
		}
		info, err := os.Stat(replica.ConfigPath(db))
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("the configuration has mode %v, %v", info.Mode(), err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*draft*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestConfigRefuses(t *testing.T) {
	dir := t.TempDir()
	db := write(t, dir, "baoco.db", "")
	good := replica.Config{Database: db, Place: apptest.Place(t, "file:///mnt/a"), Epoch: 1}
	for name, change := range map[string]func(c *replica.Config){
		"relative": func(c *replica.Config) { c.Database = "baoco.db" },
		"query":    func(c *replica.Config) { c.Database = write(t, dir, "a?b", "") },
		"percent":  func(c *replica.Config) { c.Database = write(t, dir, "a%41", "") },
		"epoch":    func(c *replica.Config) { c.Epoch = 0 },
		"program":  func(c *replica.Config) { c.Program = "/bin/x\ny" },
		"secrets":  func(c *replica.Config) { c.Credentials.Password = "x" },
		"gone":     func(c *replica.Config) { c.Database = filepath.Join(dir, "gone.db") },
	} {
		c := good
		if change(&c); c.Write() == nil {
			t.Errorf("%s: it was written", name)
		}
	}
	apptest.Must(t, good.Write())
	whole, err := os.ReadFile(replica.ConfigPath(db))
	apptest.Must(t, err)
	for name, text := range map[string]string{
		"another database": strings.ReplaceAll(string(whole), "baoco.db", "other.db"),
		"no epoch":         strings.ReplaceAll(string(whole), "epoch-", "era-"),
		"half":             string(whole[:len(whole)/2]),
		"empty":            "",
		"no head":          string(whole[strings.IndexByte(string(whole), '{'):]),
		"unknown name":     strings.Replace(string(whole), `"dbs"`, `"password": "Hunter2", "dbs"`, 1),
		"name twice":       strings.Replace(string(whole), `"dbs"`, `"dbs": [], "dbs"`, 1),
		"two values":       string(whole) + "{}",
		"YAML":             strings.NewReplacer("{", "", "}", "", `"`, "", ",", "").Replace(string(whole)) + "password: Hunter2",
	} {
		write(t, dir, "baoco.db.litestream.yml", text)
		if c, err := replica.ReadConfig(db); err == nil || errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "Hunter2") {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
}

func FuzzReadConfig(f *testing.F) {
	const head = "# Made by baoco replica setup. Don't edit it: run that again.\n# program: "
	f.Add(head + "/x\n" + `{"dbs": [{"path": "/tmp/a", "replica": {"type": "file", "path": "/mnt/a/epoch-000001"}}]}`)
	f.Add(head + "\n" +
		`{"dbs": [{"path": "/tmp/a", "replica": {"type": "s3", "bucket": "a", "region": "x", "access-key-id": "a", "secret-access-key": "b", ` +
		`"path": "a/epoch-000001"}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		db := filepath.Join(t.TempDir(), "a")
		write(t, filepath.Dir(db), "a", "")
		write(t, filepath.Dir(db), "a.litestream.yml", strings.ReplaceAll(text, "/tmp/a", db))
		c, err := replica.ReadConfig(db)
		if err != nil {
			return
		}
		apptest.Must(t, c.Write())
		if again, err := replica.ReadConfig(db); err != nil || again != c {
			t.Errorf("%+v is read again as %+v, %v", c, again, err)
		}
	})
}
