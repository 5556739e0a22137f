package apptest

import (
	"os"
	"runtime/debug"
)

// The heap of most tests is a few megabytes, and Go would collect its garbage many
// times a second. It may grow to four times that before a collection: tests need a tenth
// less CPU.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(300)
	}
}
