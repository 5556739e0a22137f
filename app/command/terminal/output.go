package terminal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/urfave/cli/v2"
)

// stdout is the standard output. It keeps the error of the first write that
// failed and writes nothing after it. Run asks for that error when the command
// has ended.
type stdout struct {
	io.Writer
	err      error
	lost     string    // for stderr, if the output could not be written
	progress *Progress // on the same terminal; nil: none
}

func (o *stdout) Write(p []byte) (n int, err error) {
	if o.progress != nil {
		o.progress.Stop()
	}
	if o.err == nil {
		n, o.err = o.Writer.Write(p)
	}
	return n, o.err
}

// fault returns the error of a failed write, after the command has ended. For a command that
// changed nothing a closed pipe is no error: its reader, such as head, has read enough.
func (o *stdout) fault() error {
	switch {
	case o.err == nil, o.lost == "" && errors.Is(o.err, syscall.EPIPE):
		return nil
	case o.lost == "":
		return fmt.Errorf("the output could not be written: %w", o.err)
	}
	return fmt.Errorf("the output could not be written (%w), but the command has done its work. %s", o.err, o.lost)
}

// Output prints the result of a command: v as JSON, or text for a person. Run
// reports a write that fails.
func Output(c *cli.Context, v any, asText func(w io.Writer)) error {
	if c.String("output") != "json" {
		asText(c.App.Writer)
		return nil
	}
	data, err := encoded(v, "  ")
	if err != nil {
		return err
	}
	_, _ = c.App.Writer.Write(data)
	return nil
}

// LineJSON returns v as JSON on one line.
func LineJSON(v any) ([]byte, error) { return encoded(v, "") }

func encoded(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	return VisibleJSON(b.Bytes()), err
}

// Report is Output for a command that changed something. If the output can't be
// written, lost is printed on stderr: it says what was done, and what to do if a secret
// was in the output.
func Report(c *cli.Context, v any, lost string, asText func(w io.Writer)) error {
	c.App.Writer.(*stdout).lost = lost
	return Output(c, v, asText)
}

// Changed reports a change in one sentence on stdout if err is nil, and otherwise returns
// err.
func Changed(c *cli.Context, err error, v any, format string, args ...any) error {
	return changed(c, c.App.Writer, err, v, fmt.Sprintf(format, args...))
}

// Done is Changed with the sentence on stderr; stdout gets only JSON.
func Done(c *cli.Context, err error, v any, format string, args ...any) error {
	return changed(c, c.App.ErrWriter, err, v, fmt.Sprintf(format, args...))
}

func changed(c *cli.Context, w io.Writer, err error, v any, sentence string) error {
	if err != nil {
		return err
	}
	return Report(c, v, sentence, func(io.Writer) { fmt.Fprintln(w, sentence) })
}
