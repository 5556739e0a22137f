package sheet

import (
	"io"
	"time"

	"baoco/app"
	"baoco/app/book"
)

// bookWidths are the widths of the columns of the forms.
var bookWidths = map[book.Form][]int{book.S1a: {16, 80, 20}, book.S2e: {24, 16, 70, 20, 20}}

// NewBook begins a file of a book, with its heading in XLSX.
func NewBook(format Format, w io.Writer, b *book.Book, lang app.Lang, zone *time.Location) (Writer[book.Line], error) {
	layout := Layout{Lang: lang, Zone: zone}
	for _, line := range b.Titles() {
		layout.Lines = append(layout.Lines, line.In(lang))
	}
	for i, c := range b.Text.Columns {
		layout.Columns = append(layout.Columns, Column{app.Text{EN: c.EN + " (" + c.Mark + ")", VI: c.VI + " (" + c.Mark + ")"},
			bookWidths[b.Form][i]})
	}
	rows, err := NewRows(format, w, layout)
	return rowsOf[book.Line]{Rows: rows, cells: func(l book.Line) []Value {
		text, day := Text(l.Text.In(lang)), Value{}
		if l.Kind != book.Item {
			text = Title(l.Text.In(lang))
		}
		if l.Day != 0 {
			day = Date(l.Day.Start(zone))
		}
		if b.Form == book.S1a {
			return []Value{day, text, amountOrNone(l.In)}
		}
		return []Value{Text(l.Document), day, text, amountOrNone(l.In), amountOrNone(l.Out)}
	}}, err
}

func amountOrNone(n *int64) Value {
	if n == nil {
		return Value{}
	}
	return Amount(*n)
}
