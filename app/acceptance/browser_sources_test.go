package acceptance_test

import (
	"testing"
	"time"

	"baoco/app"
)

func TestBrowserSources(t *testing.T) {
	t.Parallel()
	tools := findBrowser(t)
	dir := t.TempDir()
	p := serveIn(t, dir, anyPort)
	createOwner(t, dir)
	tools.drive(t, "sources.mjs", map[string]any{
		"base": p.url, "name": "lan", "password": browserPassword, "date": time.Now().UTC().Add(7 * time.Hour).Format(app.TimeLayout),
	})
	tools.drive(t, "pages.mjs", map[string]any{"base": p.url, "name": "lan", "password": browserPassword, "paths": []string{
		"/banks", "/banks/new", "/banks/1?amount=150000&content=DH1", "/banks/1?amount=x", "/banks/1/unlink", "/inbound", "/inbound/sources/new",
		"/inbound/sources/new?provider=sepay", "/inbound/sources/new?provider=generic", "/inbound/sources/new?provider=pay2s-ipn",
		"/inbound/sources/new?provider=capcom6",
		"/transactions/import", "/inbound/events", "/inbound/events?state=x", "/inbound/events/2", "/inbound/refused",
	}})
}

// TestBrowserGuide is of a server that providers reach at its base URL.
func TestBrowserGuide(t *testing.T) {
	t.Parallel()
	tools := findBrowser(t)
	shop := signedShop(t)
	dir := t.TempDir()
	p := serveIn(t, dir, anyPort, "--allow-target", "127.0.0.1/32", "--base-url", "https://baoco.shop.vn")
	tools.drive(t, "guide.mjs", map[string]any{
		"base": p.url, "setup": setUpPath(t, dir), "password": browserPassword, "shop": shop,
		"date": time.Now().UTC().Add(7 * time.Hour).Format(app.TimeLayout),
	})
}
