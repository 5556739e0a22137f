package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
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

// output prints v as JSON, or as text for a person.
func output(c *cli.Context, v any, asText func(w io.Writer)) error {
	if err := checkOutput(c); err != nil {
		return err
	}
	if c.String("output") != "json" {
		asText(c.App.Writer)
		return nil
	}
	e := json.NewEncoder(c.App.Writer)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
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

// idArgument is the one argument of a command: an id. One that can't name
// anything is not found, as it would be in the API.
func idArgument(c *cli.Context, what string) (int64, error) {
	if c.NArg() != 1 {
		return 0, usagef("%s takes one argument, the id of a %s", c.Command.FullName(), what)
	}
	id, err := strconv.ParseInt(c.Args().First(), 10, 64)
	if err != nil || id < 1 {
		return 0, exitStatus{exitNotFound, fmt.Errorf("there is no %s with the id %q", what, c.Args().First())}
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
