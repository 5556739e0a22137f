package acceptance_test

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"baoco/app/apptest"
)

var pictures = flag.String("pictures", "", "directory into which TestPictures writes the pictures of the README; empty skips it")

// TestPictures takes the pictures of the README from the demo, and those of the help from a new
// server:
// BAOCO_FULL=1 go test ./app/acceptance -run TestPictures -pictures "$PWD/.github"
func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("needs -pictures: it writes files")
	}
	tools := findBrowser(t)
	dir, err := filepath.Abs(*pictures)
	must(t, err)
	p := &process{stderr: &apptest.Output{}}
	p.Cmd = program(t.TempDir(), "demo", "--lang", "vi", "--every", "1h", "--listen", anyPort)
	stdout := &apptest.Output{}
	p.Stdout, p.Stderr = stdout, p.stderr
	must(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill(); _ = p.Wait() })
	said := func(pattern string) string {
		t.Helper()
		found := stdout.Await(regexp.MustCompile(pattern), time.Minute)
		if found == nil {
			t.Fatalf("the demo never said %s:\n%s%s", pattern, stdout, p.stderr)
		}
		return found[1]
	}
	tools.drive(t, "pictures.mjs", map[string]any{"base": said(`(http://\S+)   trang quản lý`), "password": said(`mật khẩu: (\S+)\)`),
		"key": said(`KEY=(\S+)`), "dir": dir})
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"success":true}`) }))
	defer shop.Close()
	for _, lang := range []string{"en", "vi"} {
		dir := t.TempDir()
		p := serveIn(t, dir, anyPort, "--allow-target", "127.0.0.1/32", "--base-url", "https://baoco.shop.vn")
		createOwner(t, dir)
		tools.drive(t, "help.mjs", map[string]any{"base": p.url, "name": "lan", "password": browserPassword, "shop": shop.URL, "lang": lang,
			"help": "../../web/dashboard/help"})
	}
}
