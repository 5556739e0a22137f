package sheet

import (
	"io"
	"time"

	"baoco/app"
	"baoco/app/book"
)

// WriteReport writes a report with its totals, and in XLSX with its titles.
func WriteReport(format Format, w io.Writer, r *book.Report, lang app.Lang) error {
	layout := Layout{Lang: lang, Zone: time.UTC, Columns: []Column{{r.By.Name(), 26}}}
	for _, title := range r.Titles() {
		layout.Lines = append(layout.Lines, title.In(lang))
	}
	columns := r.Columns()
	for _, c := range columns {
		layout.Columns = append(layout.Columns, Column{c.Name, 18})
	}
	rows, err := NewRows(format, w, layout)
	if err != nil {
		return err
	}
	write := func(list []book.ReportRow, name func(string) Value) {
		for _, row := range list {
			cells := []Value{name(row.Text.In(lang))}
			for _, c := range columns {
				cells = append(cells, Amount(c.Of(row.Sums)))
			}
			if err == nil {
				err = rows.Row(cells...)
			}
		}
	}
	write(r.Rows, Text)
	write(r.Sums(), Title)
	if err == nil {
		err = rows.Close()
	}
	return err
}
