package sqlitestore

import (
	"os"
	"strconv"
	"strings"
)

// isMount says whether a file is a mount of its own, as one that a container is given
// without its folder: it can be written, and neither renamed nor replaced.
func isMount(path string) bool {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(mounts)) {
		// The fifth field is the place; a space, a tab, a line break and a backslash are octal in it.
		if f := strings.Fields(line); len(f) > 4 && strings.Contains(f[4], "/") {
			if place, err := strconv.Unquote(`"` + strings.ReplaceAll(f[4], `"`, `\"`) + `"`); err == nil && place == path {
				return true
			}
		}
	}
	return false
}
