package acceptance_test

import (
	"encoding/json"
	"runtime"
	"testing"
)

// counterLink makes a link of the counter screen and gives its path.
func counterLink(t *testing.T, dir string, args ...string) string {
	t.Helper()
	var link struct {
		URLPath string `json:"url_path"`
	}
	must(t, json.Unmarshal([]byte(do(t, dir, append([]string{"counter", "create", "-o", "json"}, args...)...)), &link))
	return link.URLPath
}

func TestBrowserCounter(t *testing.T) {
	t.Parallel()
	tools := findBrowser(t)
	dir := t.TempDir()
	p := serveIn(t, dir, anyPort)
	do(t, dir, "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "NGUYEN VAN A")
	do(t, dir, "bank", "link", "--bank", "ACB", "--number", "700700", "--name", "NGUYEN VAN A")
	source := addNative(t, dir)
	createOwner(t, dir)
	tools.drive(t, "counter.mjs", map[string]any{
		"base": p.url, "name": "lan", "password": browserPassword, "source": source.URLPath, "secret": source.Secret,
		"counter": counterLink(t, dir, "Quầy 1", "--bank-account-id", "1", "--total"),
	})
}

// TestBrowserCounterDay looks at the open files of the server in /proc.
func TestBrowserCounterDay(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	tools := findBrowser(t)
	dir := t.TempDir()
	p := serveIn(t, dir, anyPort)
	do(t, dir, "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "NGUYEN VAN A")
	source := addNative(t, dir)
	tools.drive(t, "counter-day.mjs", map[string]any{
		"base": p.url, "source": source.URLPath, "secret": source.Secret, "counter": counterLink(t, dir, "Quầy 1", "--total"), "pid": p.Process.Pid,
	})
}

func TestBrowserSettings(t *testing.T) {
	t.Parallel()
	tools := findBrowser(t)
	dir := t.TempDir()
	p := serveIn(t, dir, anyPort)
	createOwner(t, dir)
	tools.drive(t, "settings.mjs", map[string]any{"base": p.url, "name": "lan", "password": browserPassword})
}
