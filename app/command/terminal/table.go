package terminal

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/urfave/cli/v2"
)

// Table says how a list is printed for a person.
type Table struct {
	None    string            // the sentence for an empty list
	Columns string            // the names of PrintTable
	After   func(w io.Writer) // prints text below the table; nil: none
}

// List prints a list: row returns the value of an element for JSON, and its cells for a
// table. If err isn't nil, it is returned.
func List[T, J any](c *cli.Context, err error, list []T, t Table, row func(T) (J, []string)) error {
	if err != nil {
		return err
	}
	values, rows := make([]J, len(list)), make([][]string, len(list))
	for i, element := range list {
		values[i], rows[i] = row(element)
	}
	return Output(c, values, func(w io.Writer) {
		PrintTable(w, t.None, t.Columns, rows)
		if t.After != nil {
			t.After(w)
		}
	})
}

// PrintTable prints rows under the names of their columns, or the sentence none if rows is
// empty. A bar separates two names; > before a name aligns the column to the right.
func PrintTable(w io.Writer, none, names string, rows [][]string) {
	if len(rows) == 0 {
		fmt.Fprintln(w, none)
		return
	}
	header := strings.Split(names, "|")
	numbers := make([]bool, len(header))
	for i, name := range header {
		header[i], numbers[i] = strings.CutPrefix(name, ">")
	}
	t := table.NewWriter()
	t.SetOutputMirror(w)
	if columns(w) > 0 {
		t.SuppressTrailingSpaces()
	}
	style := table.StyleLight
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = text.FormatDefault
	style.Box.PaddingLeft = ""
	style.Box.PaddingRight = "  "
	t.SetStyle(style)
	t.AppendHeader(tableRow(header))
	var configs []table.ColumnConfig
	for i, most := range columnWidths(columns(w), header, rows, numbers) {
		column := table.ColumnConfig{Number: i + 1, WidthMax: most, WidthMaxEnforcer: text.WrapSoft}
		if numbers[i] {
			column.Align, column.AlignHeader = text.AlignRight, text.AlignRight
		}
		configs = append(configs, column)
	}
	t.SetColumnConfigs(configs)
	for _, row := range rows {
		t.AppendRow(tableRow(row))
	}
	t.Render()
}

// columnWidths returns the widths with which a table fits a terminal; 0: as wide as the text. The
// widest column shrinks first, down to its longest word. If that isn't enough, words break. Numbers
// never shrink.
func columnWidths(terminal int, header []string, rows [][]string, numbers []bool) []int {
	const gap, narrowest = 2, 4
	widths, words, total := make([]int, len(header)), make([]int, len(header)), gap*(len(header)-1)
	if terminal == 0 {
		return widths
	}
	for _, row := range append([][]string{header}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], text.StringWidth(cell))
			for _, word := range strings.Fields(cell) {
				words[i] = max(words[i], text.StringWidth(word))
			}
		}
	}
	for _, width := range widths {
		total += width
	}
	shrink := func(least func(i int) int) {
		for ; total > terminal; total-- {
			widest := -1
			for i, width := range widths {
				if !numbers[i] && width > least(i) && (widest < 0 || width > widths[widest]) {
					widest = i
				}
			}
			if widest < 0 {
				return
			}
			widths[widest]--
		}
	}
	shrink(func(i int) int { return words[i] })
	shrink(func(int) int { return narrowest })
	return widths
}

func tableRow(cells []string) table.Row {
	row := make(table.Row, len(cells))
	for i, cell := range cells {
		row[i] = OneLine(cell)
	}
	return row
}

// More prints on stderr how many rows of a list were shown, if the list has more.
func More(c *cli.Context, shown int, total int64) {
	if total > int64(shown) {
		fmt.Fprintf(c.App.ErrWriter, "%d of %d; --page shows more.\n", shown, total)
	}
}
