package statement

import (
	"context"

	"baoco/app"
	"baoco/app/sheet"
)

// Preview is the beginning of a file, from which a person can choose the columns.
type Preview struct {
	Sheet   string   // the sheet of the lines; empty: the file is no spreadsheet
	Sheets  []string // all sheets of the spreadsheet
	Columns []string // their letters
	Lines   []PreviewLine
}

// PreviewLine is one line that isn't blank, with a text for each of Columns.
type PreviewLine struct {
	Line  int
	Cells []string
}

const (
	previewLines   = 40
	previewColumns = 30
	previewText    = 60 // runes of a cell
)

// Peek reads the first lines of a file, whose columns may be unknown. Of a spreadsheet it
// reads the named sheet, or the first one with lines.
func Peek(ctx context.Context, path string, o Options) (p Preview, err error) {
	file, err := sheet.Open(ctx, path, o.MaxRows)
	if err != nil {
		return p, err
	}
	defer file.Close()
	if p.Sheets = file.Sheets; p.Sheets == nil {
		table, _, err := openText(file, o)
		if err == nil {
			p.read(table)
		}
		return p, err
	}
	for i, name := range file.Sheets {
		if len(p.Lines) > 0 || !o.names(name) {
			continue
		}
		table, err := file.Sheet(i)
		if err != nil {
			return p, err
		}
		p.Sheet = name
		p.read(table)
	}
	return p, nil
}

// read reads lines up to the bound, or up to where the file is damaged.
func (p *Preview) read(t sheet.Table) {
	r := Reader{table: t}
	for _, line := range r.peek(headerLines) {
		if line.Filled() == 0 || len(p.Lines) == previewLines {
			continue
		}
		cells := make([]string, previewColumns)
		for i := range cells {
			cells[i] = app.CleanText(line.Cell(i).Plain(), previewText)
			for cells[i] != "" && len(p.Columns) <= i {
				p.Columns = append(p.Columns, columnName(len(p.Columns)))
			}
		}
		p.Lines = append(p.Lines, PreviewLine{line.Line, cells})
	}
	for i, line := range p.Lines {
		p.Lines[i].Cells = line.Cells[:len(p.Columns)]
	}
}
