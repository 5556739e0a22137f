package command

import (
	"strings"
	"testing"
	"time"
)

func TestDemo(t *testing.T) {
	started := time.Now()
	code, stdout, stderr := baoco("", "demo", "--once", "--lang", "vi", "--listen", "127.0.0.1:0")
	if code != 0 || !strings.Contains(stdout, "Tất cả đều đúng.") || strings.Contains(stdout, "✗") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	t.Logf("the demo took %v", time.Since(started))
}
