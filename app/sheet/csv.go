package sheet

import (
	"encoding/csv"
	"io"
	"strconv"
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
	more bool // than the columns of header
}

func newCSV(format Format, w io.Writer, names []string, zone *time.Location) (*csvFile, error) {
	if _, err := io.WriteString(w, byteOrderMark); err != nil {
		return nil, err
	}
	f := &csvFile{csv.NewWriter(w), zone, len(names) > len(header)}
	f.csv.UseCRLF = true // RFC 4180
	if format == Semicolons {
		f.csv.Comma = ';'
	}
	return f, f.csv.Write(names)
}

func (f *csvFile) Add(t app.Transaction) error {
	in, out := amounts(t)
	cells := []string{
		strconv.FormatInt(t.ID, 10), app.FormatDate(t.Time, t.DateOnly, f.zone), Guard(t.Bank), Guard(t.AccountNumber), in, out,
		Guard(t.Content), Guard(t.Number), app.FormatTime(t.CreatedAt, f.zone), flagged(t), Guard(t.Note), t.Code.Text,
	}
	if f.more {
		cells = append(cells, t.ReceivingNumber)
	}
	return f.csv.Write(cells)
}

func (f *csvFile) Close() error {
	f.csv.Flush()
	return f.csv.Error()
}

// Guard puts an apostrophe before a text that a spreadsheet would take for a
// formula: one that begins with = + - or @, also in full width, behind whatever
// spaces, quotation marks and invisible characters, or with a tab or a line
// break. It also does so within a text, behind what may end a cell: a program with
// other settings than the file's cuts there, and a payer can write a semicolon.
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
