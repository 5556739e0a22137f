package sheet

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// view knows the cells of a sheet that a person doesn't see: the cells of hidden rows and columns,
// and the cells that a merged cell covers, in which a program may have left something.
type view struct {
	rows   map[int]bool // hidden ones, from 1
	covers []cover      // in the order of their first lines, without those that mark has handled
	last   map[int]int  // for each column, from 1, the last line in which its cells are covered
	work   int          // the number of columns of all covers, and coverWork more for each cover
}

// cover is a merged cell, from its first line and column to its last ones, from 1: only its first cell
// is visible. A hidden column is a cover that begins above the sheet.
type cover struct{ top, bottom, left, right int }

// maxWork is the work of a statement of 20,000 rows with ten merged cells each, of four columns.
const (
	maxWork   = 1 << 22
	coverWork = 16
)

func newView(hidden bool) view {
	v := view{rows: map[int]bool{}, last: map[int]int{}}
	if hidden {
		v.covers = []cover{{0, maxRows, 1, MaxColumns}}
	}
	return v
}

func (v *view) add(c cover) error {
	if v.work += coverWork + c.right - c.left + 1; c.left < 1 || c.right < c.left || c.right > MaxColumns || v.work > maxWork {
		return errLarge
	}
	v.covers = append(v.covers, c)
	return nil
}

func (v *view) sort() {
	slices.SortStableFunc(v.covers, func(a, b cover) int { return cmp.Compare(a.top, b.top) })
}

// mark sets Span and Unseen of the cells of the next row.
func (v *view) mark(r *Record) {
	spans := map[int]int{}
	for len(v.covers) > 0 && v.covers[0].top <= r.Line {
		c := v.covers[0]
		v.covers = v.covers[1:]
		if c.top == r.Line {
			spans[c.left] = c.right - c.left + 1
		}
		for i := c.left; i <= c.right; i++ {
			v.last[i] = max(v.last[i], c.bottom)
		}
	}
	for i := range r.Cells {
		c := &r.Cells[i]
		c.Span = spans[i+1]
		c.Unseen = c.Unseen || v.rows[r.Line] || c.Span == 0 && v.last[i+1] >= r.Line
	}
}

// readView reads a sheet a first time, since its merged cells come after the rows. To take little time,
// it reads only the elements that matter, each from one "<" to the next. Damage is found later, when the
// rows are read.
func (w *workbook) readView(s sheet) (v view, err error) {
	v = newView(s.hidden)
	p, err := w.openPart(s.part, mostWork)
	if err != nil {
		return v, err
	}
	for in := bufio.NewReaderSize(p, 64<<10); err == nil; {
		tag, end := in.ReadSlice('<')
		name := tag[:max(0, bytes.IndexAny(tag, " \t\r\n"))]
		if bytes.HasSuffix(name, []byte("col")) || bytes.HasSuffix(name, []byte("mergeCell")) ||
			bytes.HasSuffix(name, []byte("sheetFormatPr")) {
			err = cmp.Or(w.spend(elementWork), v.readElement("<"+strings.TrimSuffix(string(tag), "<")))
		}
		if end != nil && !errors.Is(end, bufio.ErrBufferFull) {
			break
		}
	}
	v.sort()
	return v, err
}

// readElement reads an element about hidden columns, the default sizes of the sheet, or a merged cell.
func (v *view) readElement(element string) error {
	token, _ := xml.NewDecoder(strings.NewReader(element)).RawToken()
	start, _ := token.(xml.StartElement)
	values := map[string]string{}
	for _, a := range start.Attr {
		values[a.Name.Local] = a.Value
	}
	switch at := mergedForm.FindStringSubmatch(values["ref"]); {
	case start.Name.Local == "col" && (isTrue(values["hidden"]) || isThin(values["width"])):
		first, _ := strconv.Atoi(values["min"])
		last, _ := strconv.Atoi(values["max"])
		return v.add(cover{0, maxRows, first, last})
	case start.Name.Local == "sheetFormatPr" && (isThin(values["defaultColWidth"]) || isThin(values["defaultRowHeight"])):
		return v.add(cover{0, maxRows, 1, MaxColumns})
	case start.Name.Local == "mergeCell" && at != nil:
		left, _ := ColumnNumber(at[1])
		top, _ := strconv.Atoi(at[2])
		right, _ := ColumnNumber(at[3])
		bottom, _ := strconv.Atoi(at[4])
		return v.add(cover{top, bottom, left, right})
	}
	return nil
}

// mergedForm is the range of a merged cell.
var mergedForm = regexp.MustCompile(`^([A-Za-z]+)([0-9]+):([A-Za-z]+)([0-9]+)$`)

// isTrue reads a truth value of XML. isThin tells whether a column or a row of this width or height, in
// characters or points, is too thin to be seen.
func isTrue(s string) bool { return s == "1" || s == "true" }
func isThin(s string) bool { size, err := strconv.ParseFloat(s, 64); return err == nil && size < 0.5 }
