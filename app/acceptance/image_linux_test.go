package acceptance_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
)

// container is an unpacked image, run as a container runs it: in its own root
// directory, as its user, with its environment and nothing else.
type container struct {
	root   string
	config struct {
		User, WorkingDir, StopSignal string
		Env, Entrypoint, Cmd         []string
		Healthcheck                  struct{ Test []string }
		Volumes                      map[string]struct{}
	}
}

// unpackImage unpacks the image of this machine's architecture, by the layout of OCI.
func unpackImage(t *testing.T, archive, dir string) (c container) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Join(dir, "layout"), 0o755))
	run(t, "tar", "-xf", archive, "-C", filepath.Join(dir, "layout"))
	read := func(path string, into any) {
		t.Helper()
		content, err := os.ReadFile(filepath.Join(dir, "layout", path))
		must(t, err)
		must(t, json.Unmarshal(content, into))
	}
	type descriptor struct {
		Digest   string
		Platform struct{ Architecture string }
	}
	blob := func(d descriptor) string { return "blobs/" + strings.Replace(d.Digest, ":", "/", 1) }
	var top, index struct{ Manifests []descriptor }
	read("index.json", &top)
	read(blob(top.Manifests[0]), &index)
	for _, m := range index.Manifests {
		if m.Platform.Architecture != runtime.GOARCH {
			continue
		}
		var manifest struct {
			Config descriptor
			Layers []descriptor
		}
		read(blob(m), &manifest)
		read(blob(manifest.Config), &struct{ Config any }{&c.config})
		c.root = filepath.Join(dir, "root")
		must(t, os.Mkdir(c.root, 0o755))
		for _, layer := range manifest.Layers {
			run(t, "tar", "-xzf", filepath.Join(dir, "layout", blob(layer)), "--same-owner", "-p", "-C", c.root)
		}
		return c
	}
	t.Skipf("skipped: there is no image for this machine: %+v", index)
	return c
}

func (c container) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	user, group, _ := strings.Cut(c.config.User, ":")
	uid, err := strconv.ParseUint(user, 10, 32)
	must(t, err)
	gid, err := strconv.ParseUint(group, 10, 32)
	must(t, err)
	if uid == 0 || gid == 0 {
		t.Fatalf("the image runs as root: %q", c.config.User)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = c.config.WorkingDir, c.config.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: c.root, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)},
		Pdeathsig: syscall.SIGKILL}
	return cmd
}

func (c container) do(t *testing.T, args ...string) string {
	t.Helper()
	out, err := c.command(t, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

// imageRuns is the life of the image in an empty volume: nothing but the program,
// not as root, with a time zone, temporary files, its own health check and a stop.
func imageRuns(t *testing.T, dir string) {
	c := unpackImage(t, filepath.Join(dir, "image.tar"), filepath.Join(dir, "image"))
	if _, is := c.config.Volumes["/var/lib/baoco"]; !is || c.config.WorkingDir != "/var/lib/baoco" {
		t.Errorf("the volumes are %v, and it works in %s", c.config.Volumes, c.config.WorkingDir)
	}
	log := &apptest.Output{}
	server := c.command(t, append(c.config.Entrypoint, c.config.Cmd...)...)
	server.Stderr = log
	must(t, server.Start())
	defer func() { _ = server.Process.Kill() }()
	if len(c.config.Healthcheck.Test) < 2 || c.config.Healthcheck.Test[0] != "CMD" {
		t.Fatalf("the health check is %q", c.config.Healthcheck.Test)
	}
	check := c.config.Healthcheck.Test[1:]
	eventually(t, "the health check is well", func() bool { return c.command(t, check...).Run() == nil })
	if link := c.do(t, "/baoco", "user", "set-up"); !strings.Contains(link, "/setup/") {
		t.Errorf("the link of the first user: %s", link)
	}
	c.do(t, "/baoco", "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "A")
	c.do(t, "/baoco", "transaction", "add", "--amount", "200000")
	var list []struct {
		CreatedAt string `json:"created_at"`
	}
	must(t, json.Unmarshal([]byte(c.do(t, "/baoco", "transaction", "list", "-o", "json")), &list))
	vietnam, err := time.LoadLocation(app.DefaultZone)
	must(t, err)
	if at, err := time.ParseInLocation(time.DateTime, list[0].CreatedAt, vietnam); err != nil || time.Since(at).Abs() > 5*time.Minute {
		t.Errorf("a transaction of now has the time %q", list[0].CreatedAt)
	}
	c.do(t, "/baoco", "demo", "--once", "--listen", "127.0.0.1:0") // in /tmp
	if c.config.StopSignal != "SIGTERM" {
		t.Errorf("it is stopped by %s", c.config.StopSignal)
	}
	began := time.Now()
	must(t, server.Process.Signal(syscall.SIGTERM))
	if err := server.Wait(); err != nil || time.Since(began) > 10*time.Second {
		t.Errorf("it stops after %v with %v\n%s", time.Since(began), err, log)
	}
	if err := c.command(t, check...).Run(); err == nil {
		t.Error("the health check is well after the end")
	}
	if _, err := os.Stat(filepath.Join(c.root, "var/lib/baoco/baoco.db")); err != nil {
		t.Errorf("the data isn't in the volume: %v", err)
	}
}
