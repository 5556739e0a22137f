package bench

import (
	"fmt"
	"io"
)

// steps writes a line for each step of the measurement as it begins.
type steps struct {
	out    io.Writer
	of, at int
}

// next begins a step.
func (s *steps) next(format string, args ...any) {
	s.at++
	fmt.Fprintf(s.out, "[%*d/%d] %s\n", len(fmt.Sprint(s.of)), s.at, s.of, fmt.Sprintf(format, args...))
}
