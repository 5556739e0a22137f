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

func CheckOutput(c *cli.Context) error {
	if o := c.String("output"); o != "" && o != "text" && o != "json" {
		return Usagef("--output must be text or json, not %q", o)
	}
	return nil
}

// stdout is the standard output. It remembers the first write that failed, and
// writes nothing after it: run looks at that once, when the command has ended.
type stdout struct {
	io.Writer
	err  error
	lost string // what a failed write must not leave unsaid
}

func (o *stdout) Write(p []byte) (n int, err error) {
	if o.err == nil {
		n, o.err = o.Writer.Write(p)
	}
	return n, o.err
}

// fault is what a failed write means once the command has ended. A reader that
// has gone, as head does, has seen enough: that is no fault of a command that
// changed nothing.
func (o *stdout) fault() error {
	switch {
	case o.err == nil, o.lost == "" && errors.Is(o.err, syscall.EPIPE):
		return nil
	case o.lost == "":
		return fmt.Errorf("the output could not be written: %w", o.err)
	}
	return fmt.Errorf("the output could not be written (%w), but the command has done its work. %s", o.err, o.lost)
}

// Output prints what a command found: v as JSON, or as text for a person. A
// write that fails is found by run.
func Output(c *cli.Context, v any, asText func(w io.Writer)) error {
	if err := CheckOutput(c); err != nil {
		return err
	}
	if c.String("output") != "json" {
		asText(c.App.Writer)
		return nil
	}
	data, err := indentedJSON(v)
	if err != nil {
		return err
	}
	_, _ = c.App.Writer.Write(data)
	return nil
}

func indentedJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// Report prints what a command did. Where that can't be written, lost is told
// on stderr: what is done all the same, and what to do where a secret is gone
// with the output.
func Report(c *cli.Context, v any, lost string, asText func(w io.Writer)) error {
	c.App.Writer.(*stdout).lost = lost
	return Output(c, v, asText)
}

// Changed reports a change that one sentence tells.
func Changed(c *cli.Context, v any, format string, args ...any) error {
	sentence := fmt.Sprintf(format, args...)
	return Report(c, v, sentence, func(w io.Writer) { fmt.Fprintln(w, sentence) })
}

// Done reports a change that has nothing to show as text: the sentence goes to
// stderr.
func Done(c *cli.Context, v any, format string, args ...any) error {
	sentence := fmt.Sprintf(format, args...)
	return Report(c, v, sentence, func(io.Writer) {
		fmt.Fprintln(c.App.ErrWriter, sentence)
	})
}
