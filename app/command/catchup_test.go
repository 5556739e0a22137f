package command

import (
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/command/serve"
	"baoco/app/command/terminal"
	"baoco/app/provider"
	"baoco/scheduler"
)

func TestCatchUpInterval(t *testing.T) {
	for value, valid := range map[string]bool{"0": true, "3m": true, "10s": true, "24h": true, "9s": false, "25h": false, "-3m": false, "3": false, "": false} {
		if _, err := serve.ParseCatchUp(value); (err == nil) != valid {
			t.Errorf("--catch-up %q: %v", value, err)
		}
	}
	if code, _, stderr := baoco("", "serve", "--catch-up", "often"); code != terminal.ExitUsage || !strings.Contains(stderr, "--catch-up must be a time") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

// Every kind that says that it has a list is one whose list can be read.
func TestEveryListIsKnown(t *testing.T) {
	poller := scheduler.NewPoller(nil, time.UTC, "test", nil)
	for _, kind := range provider.Facts() {
		source := app.Source{Provider: kind.Provider}
		empty := `{"status":"success","data":[],"meta":{"pagination":{"has_more":false}}}`
		if strings.HasPrefix(string(kind.Provider), "casso") {
			empty = `{"error":0,"data":{"page":1,"totalPages":0,"records":[]}}`
		}
		if readable := len(poller.ReadPage(source, []byte(empty))) == 0; readable != kind.CatchUp {
			t.Errorf("%s: CatchUp is %v, but its list being known is %v", kind.Provider, kind.CatchUp, readable)
		}
	}
}
