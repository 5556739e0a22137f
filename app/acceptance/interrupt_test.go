package acceptance_test

import (
	"strings"
	"syscall"
	"testing"
)

// A closed terminal stops serve in order, unless it was started to outlive it.
func TestHangup(t *testing.T) {
	t.Parallel()
	p := serveIn(t, t.TempDir(), anyPort)
	must(t, p.Process.Signal(syscall.SIGHUP))
	if err := p.Wait(); err != nil || !strings.Contains(p.stderr.String(), "msg=stopping") {
		t.Errorf("%v\n%s", err, p.stderr)
	}
}
