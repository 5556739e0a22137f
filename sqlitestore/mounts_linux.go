package sqlitestore

import (
	"os"
	"strconv"
	"strings"
)

// isMount reports whether a file is a mount of its own, such as a file that a container
// gets without its folder: it can be written, but neither renamed nor replaced.
func isMount(path string) bool {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(mounts)) {
		// The fifth field is the mount point, with spaces, tabs, line breaks and backslashes as octal escapes.
		if f := strings.Fields(line); len(f) > 4 && strings.Contains(f[4], "/") {
			if place, err := strconv.Unquote(`"` + strings.ReplaceAll(f[4], `"`, `\"`) + `"`); err == nil && place == path {
				return true
			}
		}
	}
	return false
}
