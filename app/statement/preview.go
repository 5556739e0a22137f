package statement

import (
	"os"

	"baoco/app"
)

// Preview is the beginning of a file, by which a person can say what its columns
// hold.
type Preview struct {
	Sheet   string   // that the lines are of; empty: the file is no spreadsheet
	Sheets  []string // of the spreadsheet
	Columns []string // their letters
	Lines   []PreviewLine
}

// PreviewLine is one line that isn't blank, with a text for each of Columns.
type PreviewLine struct {
	Line  int
	Cells []string
}

// The bounds of a Preview.
const (
	previewLines   = 40
	previewColumns = 30
	previewText    = 60 // runes of a cell
)

// Peek reads the first lines of a file whose columns may not be known: of the sheet
// that is named, or the first one with lines.
func Peek(path string, o Options) (p Preview, err error) {
	file, err := os.Open(path)
	if err != nil {
		return p, err
	}
	defer file.Close()
	sample, size, err := readSample(file)
	if err != nil {
		return p, err
	}
	if !isWorkbook(sample) {
		if err := notTable(sample); err != nil {
			return p, err
		}
		t, err := openCSV(file, size, sample, o)
		if err != nil {
			return p, err
		}
		p.read(t)
		return p, nil
	}
	book, err := openWorkbook(file, size)
	if err != nil {
		return p, err
	}
	for _, s := range book.sheets {
		p.Sheets = append(p.Sheets, s.name)
		if len(p.Lines) > 0 || o.Sheet != "" && wordsOf(s.name) != wordsOf(o.Sheet) {
			continue
		}
		t, err := book.open(s, file)
		if err != nil {
			return p, err
		}
		p.Sheet = s.name
		p.read(t)
	}
	return p, nil
}

// read reads lines up to the bound, or up to where the file is damaged.
func (p *Preview) read(t table) {
	for tried := 0; tried < headerLines && len(p.Lines) < previewLines; tried++ {
		line, err := t.next()
		if err != nil {
			break
		}
		if line.blank() {
			continue
		}
		cells := make([]string, 0, len(line.cells))
		for i, c := range line.cells[:min(len(line.cells), previewColumns)] {
			text := app.CleanText(c.plain(), previewText)
			for text != "" && len(p.Columns) <= i {
				p.Columns = append(p.Columns, columnName(len(p.Columns)))
			}
			cells = append(cells, text)
		}
		p.Lines = append(p.Lines, PreviewLine{line.line, cells})
	}
	for i, line := range p.Lines {
		for len(line.Cells) < len(p.Columns) {
			line.Cells = append(line.Cells, "")
		}
		p.Lines[i].Cells = line.Cells[:len(p.Columns)]
	}
}
