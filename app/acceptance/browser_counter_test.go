package acceptance_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/payment"
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
		"base": p.url, "source": source.URLPath, "secret": source.Secret, "counter": counterLink(t, dir, "Quầy 1", "--total"),
		"pid": p.Process.Pid,
	})
}

// TestBrowserTill reads the VietQR codes of the screenshots with zbarimg, which must be what
// the command says, at first and for the rest.
func TestBrowserTill(t *testing.T) {
	t.Parallel()
	tools := findBrowser(t)
	dir, shots := t.TempDir(), t.TempDir()
	p := serveIn(t, dir, anyPort)
	do(t, dir, "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "NGUYEN VAN A")
	do(t, dir, "code", "create", "--prefix", "DH", "--min-length", "8")
	source := addNative(t, dir)
	createOwner(t, dir)
	key := strings.TrimSpace(do(t, dir, "apikey", "create", "shop"))
	tools.drive(t, "till.mjs", map[string]any{
		"base": p.url, "name": "lan", "password": browserPassword, "source": source.URLPath, "secret": source.Secret, "key": key,
		"counter": counterLink(t, dir, "Quầy 1"), "dir": shots,
	})
	zbarimg, err := exec.LookPath("zbarimg")
	if err != nil {
		t.Skip("zbarimg is missing: no other program has read the codes of the screenshots")
	}
	page, err := (&apptest.World{T: t, Path: filepath.Join(dir, "baoco.db")}).Admin().Payments.PaymentRequests(t.Context(), 1,
		payment.Filter{Page: app.Page{Number: 1, Size: 9}}, time.Now())
	must(t, err)
	bill := page.Rows[1]
	bill.Received, bill.PaidAt = 0, time.Time{}
	for _, name := range []string{"till", "display", "pay", "rest"} {
		if name == "rest" {
			bill.Received = 200
		}
		_, want, err := bill.Transfer()
		must(t, err)
		read, err := exec.Command(zbarimg, "--quiet", "--raw", "-Sdisable", "-Sqrcode.enable", filepath.Join(shots, name+".png")).Output()
		if got := strings.TrimSpace(string(read)); err != nil || got != want {
			t.Errorf("zbarimg reads %q from the screenshot of %s, %v; want %q", got, name, err, want)
		}
	}
}

func TestBrowserSettings(t *testing.T) {
	t.Parallel()
	tools := findBrowser(t)
	dir := t.TempDir()
	p := serveIn(t, dir, anyPort)
	createOwner(t, dir)
	tools.drive(t, "settings.mjs", map[string]any{"base": p.url, "name": "lan", "password": browserPassword})
}
