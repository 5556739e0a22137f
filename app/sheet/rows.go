package sheet

import (
	"io"
	"strconv"
	"time"

	"baoco/app"
)

// Value is the value of a cell: a text, which never becomes a formula, or a number, an amount or
// an instant. The zero value is an empty cell.
type Value struct {
	text   string // the text, or the digits of a number
	at     time.Time
	style  style
	number bool
}

// Text, Title, Number, Amount, Time and Date make values; a Date has no time of the day.
func Text(s string) Value  { return Value{text: s, style: styleText} }
func Title(s string) Value { return Value{text: s, style: styleHeader} }
func Number(n int64) Value {
	return Value{text: strconv.FormatInt(n, 10), style: styleText, number: true}
}
func Amount(n int64) Value {
	return Value{text: strconv.FormatInt(n, 10), style: styleAmount, number: true}
}
func Time(t time.Time) Value { return Value{at: t, style: styleTime} }
func Date(t time.Time) Value { return Value{at: t, style: styleDate} }

// Column is a column of a file. Width is in characters.
type Column struct {
	Name  app.Text
	Width int
}

// Layout is the titles, the columns and the settings of a file.
type Layout struct {
	Lines   []string // titles above the names of the columns, only in XLSX
	Columns []Column
	Lang    app.Lang
	Zone    *time.Location // of all times
}

// names are the names of the columns.
func (l Layout) names() (cells []Value) {
	for _, c := range l.Columns {
		cells = append(cells, Title(c.Name.In(l.Lang)))
	}
	return cells
}

// Rows writes a file row by row. It isn't complete before Close.
type Rows interface {
	Row(cells ...Value) error
	Close() error
}

// NewRows begins a file with the titles and the names of its columns.
func NewRows(format Format, w io.Writer, layout Layout) (Rows, error) {
	if format == XLSX {
		return newXLSX(w, layout)
	}
	return newCSV(format, w, layout)
}

// rowsOf writes things of one kind as the rows of a file.
type rowsOf[Row any] struct {
	Rows
	cells func(r Row) []Value
	total func() []Value // the cells of a last row; nil: no such row
}

func (f rowsOf[Row]) Add(r Row) error { return f.Row(f.cells(r)...) }

func (f rowsOf[Row]) Close() error {
	if f.total != nil {
		if err := f.Row(f.total()...); err != nil {
			return err
		}
	}
	return f.Rows.Close()
}
