package acceptance_test

import (
	"os"
	"path/filepath"
	"testing"
)

func TestBrowserExport(t *testing.T) {
	t.Parallel()
	tools := findBrowser(t)
	dir := t.TempDir()
	p := serveIn(t, dir, anyPort)
	do(t, dir, "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "NGUYEN VAN A")
	do(t, dir, "bank", "link", "--bank", "MB", "--number", "0071006789", "--name", "NGUYEN VAN A")
	password := filepath.Join(dir, "password.txt")
	must(t, os.WriteFile(password, []byte(browserPassword+"\n"), 0o600))
	do(t, dir, "user", "create", "lan", "--password-file", password)
	for _, content := range []string{"cà phê sữa đá", "bún chả", "=cà phê đen"} {
		do(t, dir, "transaction", "add", "--amount", "35000", "--account-number", "19354957", "--content", content)
	}
	tools.drive(t, "export.mjs", map[string]any{"base": p.url, "name": "lan", "password": browserPassword})
	tools.drive(t, "pages.mjs", map[string]any{"base": p.url, "name": "lan", "password": browserPassword, "paths": []string{
		"/transactions?q=35k&type=IN&min=1k&from=2026-01-01", "/transactions?from=2026-01-02&to=2026-01-01",
		"/transactions?delivery_state=failed", "/transactions?delivery_state=unsent&q=ca&page=2", "/transactions/3",
	}})
	tools.drive(t, "keys.mjs", map[string]any{"base": p.url, "name": "lan", "password": browserPassword, "paper": []string{}})
}
