package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/urfave/cli/v2"
)

func checkOutput(c *cli.Context) error {
	if o := c.String("output"); o != "" && o != "text" && o != "json" {
		return usagef("--output must be text or json, not %q", o)
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

// output prints what a command found: v as JSON, or as text for a person. A
// write that fails is found by run.
func output(c *cli.Context, v any, asText func(w io.Writer)) error {
	if err := checkOutput(c); err != nil {
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

// report prints what a command did. Where that can't be written, lost is told
// on stderr: what is done all the same, and what to do where a secret is gone
// with the output.
func report(c *cli.Context, v any, lost string, asText func(w io.Writer)) error {
	c.App.Writer.(*stdout).lost = lost
	return output(c, v, asText)
}

// changed reports a change that one sentence tells.
func changed(c *cli.Context, v any, format string, args ...any) error {
	sentence := fmt.Sprintf(format, args...)
	return report(c, v, sentence, func(w io.Writer) { fmt.Fprintln(w, sentence) })
}

// stateJSON is what became of the thing with an id.
type stateJSON struct {
	ID    int64  `json:"id"`
	State string `json:"state"`
}

// done reports a change that has nothing to show as text: the sentence goes to
// stderr.
func done(c *cli.Context, v any, format string, args ...any) error {
	sentence := fmt.Sprintf(format, args...)
	return report(c, v, sentence, func(io.Writer) {
		fmt.Fprintln(c.App.ErrWriter, sentence)
	})
}

// printTable prints rows under a header, or a sentence where there are none.
// Columns that numbers names are aligned to the right.
func printTable(w io.Writer, none string, header []string, rows [][]string, numbers ...string) {
	if len(rows) == 0 {
		fmt.Fprintln(w, none)
		return
	}
	t := table.NewWriter()
	t.SetOutputMirror(w)
	style := table.StyleLight
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = text.FormatDefault
	style.Box.PaddingLeft = ""
	style.Box.PaddingRight = "  "
	t.SetStyle(style)
	t.AppendHeader(tableRow(header))
	var columns []table.ColumnConfig
	for _, name := range numbers {
		columns = append(columns, table.ColumnConfig{Name: name, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	for _, row := range rows {
		t.AppendRow(tableRow(row))
	}
	t.Render()
}

func tableRow(cells []string) table.Row {
	row := make(table.Row, len(cells))
	for i, cell := range cells {
		row[i] = oneLine(cell)
	}
	return row
}

// oneLine makes any text harmless to a terminal and to a listing: control
// characters, escape sequences among them, become visible.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == 0x2028, r == 0x2029:
			return '\uFFFD'
		}
		return r
	}, s)
}

// clip shortens a cell.
func clip(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most-1]) + "…"
}

// vnd writes an amount with its thousands grouped.
func vnd(n int64) string {
	digits := strconv.FormatInt(max(n, -n), 10)
	var groups []string
	for len(digits) > 3 {
		groups = append(groups, digits[len(digits)-3:])
		digits = digits[:len(digits)-3]
	}
	groups = append(groups, digits)
	slices.Reverse(groups)
	s := strings.Join(groups, ".")
	if n < 0 {
		s = "-" + s
	}
	return s
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// idArgument is the one argument of a command: an id.
func idArgument(c *cli.Context, what string) (int64, error) {
	if c.NArg() != 1 {
		return 0, usagef("%s takes one argument, the id of a %s", c.Command.FullName(), what)
	}
	return parseID(c.Args().First(), what)
}

// parseID reads an id. What is a number but can't be an id is not found; what
// is no number is a wrong use, as it is in a flag.
func parseID(text, what string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, usagef("the id of a %s is a number, not %q", what, text)
	}
	if id < 1 {
		return 0, exitStatus{exitNotFound, fmt.Errorf("there is no %s with the id %d", what, id)}
	}
	return id, nil
}

// noArguments refuses stray ones.
func noArguments(c *cli.Context) error {
	if c.Args().Present() {
		return usagef("%s takes no argument, but got %q", c.Command.FullName(), c.Args().First())
	}
	return nil
}

// readSecretFile reads a secret; it loses one final line break. "-" is
// standard input.
func readSecretFile(c *cli.Context, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	var data []byte
	var err error
	if path == "-" {
		data, err = io.ReadAll(io.LimitReader(c.App.Reader, 1<<16))
	} else {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return "", exitStatus{exitDatabase, err}
	}
	s := strings.TrimSuffix(string(data), "\n")
	s = strings.TrimSuffix(s, "\r")
	if s == "" {
		return "", usagef("the secret file %s is empty", path)
	}
	return s, nil
}
