// Package pattern has regular expressions that are compiled when they are first needed: large
// ones, which most starts don't need. Together they took 5 ms and 3 MB at each start.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy returns a function that gives the compiled text. It panics where the text is no
// regular expression.
func Lazy(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
