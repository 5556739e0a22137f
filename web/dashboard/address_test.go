package dashboard_test

import (
	"strings"
	"testing"

	"baoco/app/access"
	"baoco/app/upkeep"
	"baoco/web/webtest"
)

// An address is given with a button to copy it only where those who must call it
// can. Else the page says why they can't, and what to do.
func TestAddressReached(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		base     string
		copied   string // providers whose URL can be copied
		notice   string
		scanned  bool   // the counter's link has a code for the tablet
		ofScreen string // what is said of the counter's link
	}{
		{"https://baoco.shop.vn", "sepay capcom6 native", "", true, ""},
		{"http://baoco.shop.vn", "capcom6 native", "This address is http", true, "This address is http"},
		{"http://192.168.1.10:8080", "capcom6 native", "in the same network", true, "in the same network"},
		{"https://baoco.local", "capcom6 native", "in the same network", true, "in the same network"},
		{"http://localhost:8080", "native", "on the server itself only", false, "on the server itself only"},
		{"", "native", "on the server itself only", false, "on the server itself only"}, // opened at 127.0.0.1
	} {
		w := webtest.NewWorld(t)
		w.User(1, "lan", access.RoleOwner)
		b := serving(w, upkeep.Installation{BaseURL: c.base}).SignIn("lan")
		for _, provider := range []string{"sepay", "capcom6", "native"} {
			form := []string{"provider", provider, "name", provider}
			if provider == "sepay" {
				form = append(form, "auth", "apikey")
			}
			may := strings.Contains(c.copied, provider)
			added := b.Submit("/inbound/sources", form...).Body
			if got := strings.Contains(added, `data-copy="#url"`); got != may {
				t.Errorf("%s at %q: the URL can be copied: %v", provider, c.base, got)
			}
			if got := strings.Contains(added, "--domain"); got == may {
				t.Errorf("%s at %q: what to do is said: %v", provider, c.base, got)
			}
			if !strings.Contains(added, c.notice) {
				t.Errorf("%s at %q: nothing of %q", provider, c.base, c.notice)
			}
		}
		page := b.Get("/inbound/sources/1").Body
		if strings.Contains(page, `data-copy="#url-1"`) != strings.Contains(c.copied, "sepay") || !strings.Contains(page, c.notice) {
			t.Errorf("the page of the source at %q", c.base)
		}
		counter := b.Submit("/settings/counters", "name", "Counter 1").Body
		if strings.Contains(counter, `alt="QR code of the link"`) != c.scanned || !strings.Contains(counter, c.ofScreen) {
			t.Errorf("the counter's link at %q", c.base)
		}
	}
}
