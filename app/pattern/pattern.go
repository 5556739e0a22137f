// Package pattern has regular expressions that are compiled when they are first needed. Those
// of all packages together take 5 ms and 3 MB at each start, and most starts need few.
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
