package acceptance_test

import (
	"os"
	"path/filepath"
	"testing"
)

// The pages that say that something is lost with the key file.
func TestBrowserLostSecrets(t *testing.T) {
	t.Parallel()
	tools := findBrowser(t)
	receiver := openShop(t)
	in := install(t, receiver)
	createOwner(t, in.dir)
	token := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(token, []byte("123456789:AAAAAAAAAAAAAAAAAAAAAAAAA\n"), 0o600))
	do(t, in.dir, "alert", "telegram", "--chat", "5", "--token-file", token)
	do(t, in.dir, "source", "add", "--provider", "sepay", "--auth", "apikey", "--name", "SePay")
	p := serveIn(t, in.dir, anyPort, "--allow-target", receiver.target())
	do(t, in.dir, "transaction", "add", "--amount", "1549000", "--transaction-number", "FT1")
	eventually(t, "the first delivery", func() bool { return receiver.received()["/a FT1"] })
	p.end(t)
	must(t, os.Remove(in.db+".key"))
	do(t, in.dir, "doctor", "--new-key")
	do(t, in.dir, "transaction", "add", "--amount", "1549000", "--transaction-number", "FT2")
	p = serveIn(t, in.dir, anyPort, "--allow-target", receiver.target())
	tools.drive(t, "pages.mjs", map[string]any{"base": p.url, "name": "lan", "password": browserPassword, "paths": []string{
		"/", "/webhooks", "/webhooks/1", "/webhooks/1/rotate", "/deliveries/1", "/deliveries/2", "/deliveries?status=waiting",
		"/inbound", "/inbound/sources/2", "/inbound/sources/2/rotate", "/settings/alerts",
	}})
}
