package sheet

import (
	"archive/zip"
	"bufio"
	"compress/flate"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// An XLSX file is a zip of XML parts (ECMA-376, part 1, 18). The sheets come first
// and are written as the rows arrive, with the texts in the cells; the part that
// names the sheets comes last. A sheet holds at most 1,048,576 rows; further rows
// go into another sheet.

const maxSheetRows = 1 << 20

type xlsxFile struct {
	zip    *zip.Writer
	layout Layout
	sheets int
	rows   int           // the number of rows in the present sheet
	part   *bufio.Writer // writes the present sheet
	cell   []byte
}

func newXLSX(w io.Writer, layout Layout) (*xlsxFile, error) {
	f := &xlsxFile{zip: zip.NewWriter(w), layout: layout}
	f.zip.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
	for _, part := range []struct{ name, text string }{{"[Content_Types].xml", contentTypes}, {"_rels/.rels", relations},
		{"xl/styles.xml", styles}} {
		if err := f.write(part.name, part.text); err != nil {
			return nil, err
		}
	}
	return f, f.beginSheet()
}

func (f *xlsxFile) write(name, text string) error {
	w, err := f.zip.Create(name)
	if err == nil {
		_, err = io.WriteString(w, xml.Header+text)
	}
	return err
}

func (f *xlsxFile) beginSheet() error {
	f.sheets++
	f.rows = 0
	w, err := f.zip.Create(fmt.Sprintf("xl/worksheets/sheet%d.xml", f.sheets))
	if err != nil {
		return err
	}
	f.part = bufio.NewWriter(w)
	above := len(f.layout.Lines) + 1
	fmt.Fprintf(f.part,
		xml.Header+
			`<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>`+
			`<sheetViews><sheetView workbookViewId="0"><pane `+
			`ySplit="%d" topLeftCell="A%d" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>`, above, above+1)
	for i, c := range f.layout.Columns {
		fmt.Fprintf(f.part, `<col min="%d" max="%d" width="%d" customWidth="1"/>`, i+1, i+1, c.Width)
	}
	f.part.WriteString(`</cols><sheetData>`)
	for _, line := range f.layout.Lines {
		if err := f.Row(Title(line)); err != nil {
			return err
		}
	}
	return f.Row(f.layout.names()...)
}

func (f *xlsxFile) endSheet() error {
	// As wide as a page of A4.
	f.part.WriteString(`</sheetData><pageSetup paperSize="9" fitToHeight="0" orientation="landscape"/></worksheet>`)
	return f.part.Flush()
}

// Row writes a row, in a new sheet if this one is full. Rows and cells have references, since
// some programs don't open a file without them. A file has at most 26 columns.
func (f *xlsxFile) Row(cells ...Value) error {
	if f.rows == maxSheetRows {
		if err := f.endSheet(); err != nil {
			return err
		}
		if err := f.beginSheet(); err != nil {
			return err
		}
	}
	f.rows++
	row := strconv.Itoa(f.rows)
	f.put(`<row r="`, row, `">`)
	for i, c := range cells {
		if c.text == "" && c.at.IsZero() {
			continue
		}
		f.put(`<c r="`, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i:i+1], row, `" s="`, string(c.style), `"`)
		switch {
		case !c.at.IsZero():
			f.value(f.days(c.at))
		case c.number:
			f.value(c.text)
		default:
			f.text(c.text)
		}
	}
	_, err := f.part.WriteString("</row>")
	return err
}

// text writes the text of a cell. Characters that XML doesn't have become U+FFFD. A text that
// looks like a spreadsheet's escape of a character (_x0041_) is escaped, so that it isn't
// changed.
func (f *xlsxFile) text(s string) {
	f.part.WriteString(` t="inlineStr"><is><t xml:space="preserve">`)
	_ = xml.EscapeText(f.part, []byte(strings.ReplaceAll(s, "_x", "_x005F_x"))) // a bufio.Writer keeps its error
	f.part.WriteString(`</t></is></c>`)
}

func (f *xlsxFile) value(digits string) { f.put(`><v>`, digits, `</v></c>`) }

func (f *xlsxFile) put(texts ...string) {
	for _, text := range texts {
		f.part.WriteString(text)
	}
}

// days formats an instant as spreadsheets count: days since 30 December 1899, by a clock in the
// zone.
func (f *xlsxFile) days(t time.Time) string {
	_, offset := t.In(f.layout.Zone).Zone()
	const day, epoch = 24 * 3600, 25569 // the day of 1970-01-01
	f.cell = strconv.AppendFloat(f.cell[:0], float64(t.Unix()+int64(offset))/day+epoch, 'f', 10, 64)
	return string(f.cell)
}

func (f *xlsxFile) Close() error {
	if err := f.endSheet(); err != nil {
		return err
	}
	var sheets, related strings.Builder
	for n := 1; n <= f.sheets; n++ {
		fmt.Fprintf(&sheets, `<sheet name="baoco %d" sheetId="%d" r:id="rId%d"/>`, n, n, n)
		fmt.Fprintf(&related,
			`<Relationship Id="rId%d" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" `+
				`Target="worksheets/sheet%d.xml"/>`, n, n)
	}
	err := f.write("xl/workbook.xml",
		`<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" `+
			`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>`+
			sheets.String()+`</sheets></workbook>`)
	if err == nil {
		err = f.write("xl/_rels/workbook.xml.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`+
			`<Relationship Id="rIdStyles" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/>`+
			related.String()+`</Relationships>`)
	}
	if err != nil {
		return err
	}
	return f.zip.Close()
}

// style is the format of a cell: its place in cellXfs of styles.
type style string

const (
	styleText   style = "0"
	styleHeader style = "1"
	styleAmount style = "2"
	styleTime   style = "3"
	styleDate   style = "4"
)

// contentTypes names the type of every part; a part that isn't named is a
// sheet.
const contentTypes = `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
	`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
	`<Default Extension="xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>` +
	`<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>` +
	`<Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>`

const relations = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
	`<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" ` +
	`Target="xl/workbook.xml"/></Relationships>`

const styles = `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">` +
	`<numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd hh:mm:ss"/><numFmt numFmtId="165" formatCode="yyyy\-mm\-dd"/>` +
	`</numFmts>` +
	`<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>` +
	`<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>` +
	`<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>` +
	`<cellXfs count="5"><xf/><xf fontId="1" applyFont="1"/><xf numFmtId="3" applyNumberFormat="1"/><xf numFmtId="164" ` +
	`applyNumberFormat="1"/><xf numFmtId="165" applyNumberFormat="1"/></cellXfs>` +
	`<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`
