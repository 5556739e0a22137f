package command

import (
	"strings"
	"testing"

	"baoco/app/command/serve"
	"baoco/app/command/terminal"
)

func TestCatchUpInterval(t *testing.T) {
	for value, valid := range map[string]bool{"0": true, "3m": true, "10s": true, "24h": true, "9s": false, "25h": false, "-3m": false,
		"3": false, "": false} {
		if _, err := serve.ParseCatchUp(value); (err == nil) != valid {
			t.Errorf("--catch-up %q: %v", value, err)
		}
	}
	if code, _, stderr := baoco("", "serve", "--catch-up", "often"); code != terminal.ExitUsage ||
		!strings.Contains(stderr, "--catch-up must be a time") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}
