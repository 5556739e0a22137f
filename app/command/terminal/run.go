// Package terminal has what all commands share: exit codes, flags and arguments,
// tables, JSON, progress, and how a command is interrupted. cli.go adapts the command
// line library.
package terminal

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"
)

// Run runs a command line and returns its exit code. Data goes to the
// Writer of root, everything else to its ErrWriter.
func Run(ctx context.Context, root *cli.App, args []string) int {
	out := &stdout{Writer: root.Writer}
	root.Writer = out
	root.ExitErrHandler, root.OnUsageError = func(*cli.Context, error) {}, usageError
	for _, command := range root.Commands {
		prepare(command)
	}
	words := flagsFirst(root, args)
	root.Metadata = map[string]any{typedWords: words}
	err := root.RunContext(ctx, words)
	code := ExitCode(err)
	if out.err != nil && errors.Is(err, out.err) {
		err = nil // out.fault reports it
	}
	for _, fault := range []error{err, out.fault()} {
		if fault != nil {
			fmt.Fprintln(root.ErrWriter, "baoco: "+OneLine(ErrorText(fault)))
			code = max(code, ExitError)
		}
	}
	return code
}
