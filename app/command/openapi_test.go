package command

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"baoco/app/command/serve"
	"baoco/app/command/terminal"
)

func TestOpenAPI(t *testing.T) {
	t.Chdir(t.TempDir()) // where there is no file, and none is needed
	code, text, stderr := baoco("", "openapi")
	if code != terminal.ExitOK || stderr != "" || !strings.Contains(text, "openapi: 3.1.0\n") {
		t.Fatalf("%d %s", code, stderr)
	}
	code, asJSON, stderr := baoco("", "openapi", "-o", "json")
	if code != terminal.ExitOK || stderr != "" {
		t.Fatalf("%d %s", code, stderr)
	}
	var fromJSON map[string]any
	must(t, json.Unmarshal([]byte(asJSON), &fromJSON))
	if v := fromJSON["info"].(map[string]any)["version"]; v != serve.Version {
		t.Errorf("version %q", v)
	}
	if first, paths := strings.Index(asJSON, `"openapi"`), strings.Index(asJSON, `"paths"`); first > 10 ||
		paths > strings.Index(asJSON, `"components"`) {
		t.Error("the JSON has lost the order of the document")
	}
	if bytes.Contains([]byte(asJSON), []byte(`\u003c`)) {
		t.Error("the JSON escapes what needs no escape")
	}
	if code, _, _ := baoco("", "openapi", "extra"); code != terminal.ExitUsage {
		t.Errorf("a stray argument: %d", code)
	}
}
