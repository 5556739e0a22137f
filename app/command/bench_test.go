package command

import (
	"testing"

	"baoco/app/command/terminal"
)

func TestBenchUsage(t *testing.T) {
	for _, args := range [][]string{
		{"--duration", "1ms"}, {"now"}, {"-o", "xml"},
	} {
		if code, stdout, stderr := baoco("", append([]string{"bench"}, args...)...); code != terminal.ExitUsage || stdout != "" {
			t.Errorf("%v: exit %d, %s%s", args, code, stdout, stderr)
		}
	}
}
