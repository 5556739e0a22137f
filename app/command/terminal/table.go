package terminal

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/urfave/cli/v2"
)

// PrintTable prints rows under a header, or the sentence none if there are no
// rows. The columns named in numbers are aligned to the right.
func PrintTable(w io.Writer, none string, header []string, rows [][]string, numbers ...string) {
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
		row[i] = OneLine(cell)
	}
	return row
}

// More says on stderr how many rows of a list were shown, if there are more.
func More(c *cli.Context, shown int, total int64) {
	if total > int64(shown) {
		fmt.Fprintf(c.App.ErrWriter, "%d of %d; --page shows more.\n", shown, total)
	}
}
