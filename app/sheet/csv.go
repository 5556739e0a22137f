package sheet

import (
	"encoding/csv"
	"io"
	"strings"
	"time"
	"unicode"

	"baoco/app"
)

// byteOrderMark tells Excel that a CSV file is UTF-8.
const byteOrderMark = "\uFEFF"

type csvFile struct {
	csv  *csv.Writer
	zone *time.Location
}

func newCSV(format Format, w io.Writer, layout Layout) (*csvFile, error) {
	if _, err := io.WriteString(w, byteOrderMark); err != nil {
		return nil, err
	}
	f := &csvFile{csv.NewWriter(w), layout.Zone}
	f.csv.UseCRLF = true // RFC 4180
	if format == Semicolons {
		f.csv.Comma = ';'
	}
	return f, f.Row(layout.names()...)
}

func (f *csvFile) Row(cells ...Value) error {
	texts := make([]string, len(cells))
	for i, c := range cells {
		switch {
		case !c.at.IsZero():
			texts[i] = app.FormatDate(c.at, c.style == styleDate, f.zone)
		case c.number:
			texts[i] = c.text
		default:
			texts[i] = Guard(c.text)
		}
	}
	return f.csv.Write(texts)
}

func (f *csvFile) Close() error {
	f.csv.Flush()
	return f.csv.Error()
}

// Guard puts an apostrophe before a text that a spreadsheet would take for a
// formula: it begins with = + - or @, also in full width, after any spaces,
// quotation marks and invisible characters, or with a tab or a line break. Guard does the
// same within a text, after each character that may end a cell: a payer can write a
// semicolon, and a program with other settings than the file's cuts there.
func Guard(text string) string {
	var b strings.Builder
	if strings.IndexAny(text, "\t\r\n") == 0 {
		b.WriteByte('\'')
	}
	for {
		cell := text[:strings.IndexAny(text, ",;\t\r\n")+1]
		if cell == "" {
			cell = text
		}
		if isFormula(cell) {
			b.WriteByte('\'')
		}
		b.WriteString(cell)
		if text = text[len(cell):]; text == "" {
			return b.String()
		}
	}
}

func isFormula(cell string) bool {
	first := strings.TrimLeftFunc(cell, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Quotation_Mark, r) || r == '`' ||
			r == unicode.ReplacementChar
	})
	for _, sign := range []string{"=", "+", "-", "@", "＝", "＋", "－", "＠", "−"} {
		if strings.HasPrefix(first, sign) {
			return true
		}
	}
	return false
}
