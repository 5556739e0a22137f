package acceptance_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
)

// The dashboard in a browser: Chromium of the system, driven by
// playwright-core from testdata/browser. They take minutes, and install
// playwright-core over the network, so they run with BAOCO_FULL=1 only. Where
// something is missing they skip, but not in CI. BAOCO_SCREENSHOTS names a
// directory for what was seen.

const browserPassword = "mot cau rat dai"

// browserTools are the paths of Chromium and of the installed modules.
type browserTools struct{ chromium, modules string }

// findBrowser installs what package-lock.json names, once a machine.
func findBrowser(t *testing.T) browserTools {
	t.Helper()
	if !apptest.Full() {
		t.Skip("needs BAOCO_FULL=1: a browser takes minutes, and its driver is installed over the network")
	}
	missing := t.Skipf
	if os.Getenv("BAOCO_CI") != "" {
		missing = t.Fatalf
	}
	var tools browserTools
	// The shell is Chromium without windows, and takes less of the machine.
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			tools.chromium = path
			break
		}
	}
	if tools.chromium == "" {
		missing("skipped: there is no chromium here (apt-get install chromium)")
	}
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			missing("skipped: there is no %s here", name)
		}
	}
	var err error
	if tools.modules, err = installModules(); err != nil {
		missing("skipped: npm can't install playwright-core: %v", err)
	}
	return tools
}

var installModules = sync.OnceValues(func() (string, error) {
	return installPackages(filepath.Join("..", "..", "testdata", "browser"), "baoco-browser-tests")
})

// installPackages installs what the package-lock.json of a directory names into the user's
// cache, once, and gives where it is.
func installPackages(from, name string) (string, error) {
	lock, err := os.ReadFile(filepath.Join(from, "package-lock.json"))
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(lock)
	dir := filepath.Join(cache, name, hex.EncodeToString(sum[:6]))
	modules, done := filepath.Join(dir, "node_modules"), filepath.Join(dir, "done")
	if _, err := os.Stat(done); err == nil {
		return modules, nil
	}
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	if out, err := download(dir, nil, "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return modules, os.WriteFile(done, nil, 0o644)
}

// download runs a command that asks the network, up to three times, since a
// registry may be out of reach for a moment.
func download(dir string, env []string, name string, args ...string) (out []byte, err error) {
	for range 3 {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
		out, err = cmd.CombinedOutput()
		cancel()
		if err == nil {
			return out, nil
		}
	}
	return out, err
}

// drive runs a script of testdata/browser with a job; it fails the test with
// every problem that the script names.
func (b browserTools) drive(t *testing.T, script string, job map[string]any) {
	t.Helper()
	encoded, err := json.Marshal(job)
	must(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	node := exec.CommandContext(ctx, "node", filepath.Join("..", "..", "testdata", "browser", script))
	node.Env = append(os.Environ(), "BAOCO_BROWSER_MODULES="+b.modules, "BAOCO_CHROMIUM="+b.chromium, "BAOCO_BROWSER_JOB="+string(encoded))
	out, err := node.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "PROBLEM ") {
			t.Error(strings.TrimSpace(line))
		} else {
			t.Log(strings.TrimSpace(line))
		}
	}
	if err != nil && !t.Failed() {
		t.Fatal(err)
	}
}

// setUpPath is the path of a new set-up link.
func setUpPath(t *testing.T, dir string) string {
	t.Helper()
	_, token, _ := strings.Cut(strings.TrimSpace(do(t, dir, "user", "set-up")), "/setup/")
	return "/setup/" + token
}

func TestBrowserLive(t *testing.T) {
	t.Parallel()
	tools := findBrowser(t)
	dir := t.TempDir()
	s := openShop(t)
	defer s.Close()
	p := serveIn(t, dir, anyPort, "--allow-target", "127.0.0.1/32")
	do(t, dir, "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "NGUYEN VAN A")
	source := addNative(t, dir)
	var hook struct{ Secret string }
	must(t, json.Unmarshal([]byte(do(t, dir, "webhook", "create", "--name", "shop", "--url", s.URL+"/a", "--type", "ALL", "-o", "json")),
		&hook))
	s.mu.Lock()
	s.signed["/a"] = hook.Secret
	s.mu.Unlock()
	tools.drive(t, "live.mjs", map[string]any{
		"base": p.url, "setup": setUpPath(t, dir), "password": browserPassword, "source": source.URLPath, "secret": source.Secret,
	})
}

// TestBrowserPlainName is at a name of the shop's network, without TLS.
func TestBrowserPlainName(t *testing.T) {
	t.Parallel()
	tools := findBrowser(t)
	dir := t.TempDir()
	p := serveIn(t, dir, anyPort)
	tools.drive(t, "plain.mjs",
		map[string]any{"base": strings.Replace(p.url, "127.0.0.1", "shop.lan", 1), "setup": setUpPath(t, dir), "password": browserPassword})
}

// createOwner makes the user lan.
func createOwner(t testing.TB, dir string) {
	t.Helper()
	password := filepath.Join(dir, "password.txt")
	if err := os.WriteFile(password, []byte(browserPassword+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	do(t, dir, "user", "create", "lan", "--password-file", password)
}

// signedShop is a shop that accepts what the secret signs which it was told last. It
// gives the shop's URL.
func signedShop(t *testing.T) string {
	t.Helper()
	var secret atomic.Value
	secret.Store("")
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.URL.Path == "/expects":
			secret.Store(string(body))
		case r.Header.Get("X-Webhook-Signature") != delivery.Signature(secret.Load().(string), body):
			w.WriteHeader(http.StatusUnauthorized)
		}
		fmt.Fprint(w, `{"success":true}`)
	}))
	t.Cleanup(shop.Close)
	return shop.URL
}

func TestBrowserWebhooks(t *testing.T) {
	t.Parallel()
	tools := findBrowser(t)
	dir := t.TempDir()
	shop := signedShop(t)
	p := serveIn(t, dir, anyPort, "--allow-target", "127.0.0.1/32")
	createOwner(t, dir)
	tools.drive(t, "webhooks.mjs", map[string]any{"base": p.url, "name": "lan", "password": browserPassword, "shop": shop})
}

func TestBrowserNavigation(t *testing.T) {
	t.Parallel()
	tools := findBrowser(t)
	dir := t.TempDir()
	p := serveIn(t, dir, anyPort)
	for _, role := range access.Roles {
		if code, _, stderr := baoco(browserPassword, "user", "create", string(role), "--role", string(role), "--password-file", "-", "--db",
			filepath.Join(dir, "baoco.db")); code != 0 {
			t.Fatal(stderr)
		}
	}
	tools.drive(t, "navigation.mjs", map[string]any{"base": p.url, "password": browserPassword})
}

// TestBrowserPasskeys has the virtual authenticator of Chromium. Browsers have passkeys
// on localhost as they have them on https.
func TestBrowserPasskeys(t *testing.T) {
	t.Parallel()
	tools := findBrowser(t)
	dir := t.TempDir()
	p := serveIn(t, dir, anyPort)
	createOwner(t, dir)
	tools.drive(t, "passkeys.mjs", map[string]any{"base": strings.Replace(p.url, "127.0.0.1", "localhost", 1), "plain": p.url, "name": "lan",
		"password": browserPassword})
}

// TestBrowserPhones is on localhost, where browsers have workers as they have them on
// https, and then at a plain name, where they have none.
func TestBrowserPhones(t *testing.T) {
	t.Parallel()
	tools := findBrowser(t)
	dir := t.TempDir()
	p := serveIn(t, dir, anyPort)
	do(t, dir, "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "NGUYEN VAN A")
	do(t, dir, "transaction", "add", "--amount", "200000", "--content", "DH 1")
	createOwner(t, dir)
	tools.drive(t, "phones.mjs", map[string]any{"base": strings.Replace(p.url, "127.0.0.1", "localhost", 1), "name": "lan",
		"plain": strings.Replace(p.url, "127.0.0.1", "shop.lan", 1), "password": browserPassword})
}
