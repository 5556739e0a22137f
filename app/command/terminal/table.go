package terminal

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// PrintTable prints rows under a header, or a sentence where there are none.
// Columns that numbers names are aligned to the right.
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
