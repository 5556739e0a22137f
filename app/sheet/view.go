package sheet

import (
	"cmp"
	"slices"
	"strconv"
)

// view says which cells of a workbook a person doesn't see who looks at the sheet: those of hidden
// rows and columns, and those beneath a merged cell, where a program may have left something.
type view struct {
	rows   map[int]bool // hidden ones, from 1
	covers []cover      // in the order of their first lines, without those that mark has met
	last   map[int]int  // for each column, from 1, the last line in which its cells are covered
	work   int          // how many elements were read, each as much as 16 columns, and the columns of all covers
}

// cover is a merged cell, from its first line and column to its last ones, from 1: only its first cell is
// seen. A hidden column is a cover that begins above the sheet.
type cover struct{ top, bottom, left, right int }

// maxWork is the work of a statement of 20,000 rows with ten merged cells each, of four columns.
const (
	maxWork     = 1 << 22
	elementWork = 16
)

func newView(hidden bool) view {
	v := view{rows: map[int]bool{}, last: map[int]int{}}
	if hidden {
		v.covers = []cover{{0, maxRows, 1, MaxColumns}}
	}
	return v
}

func (v *view) add(c cover) error {
	if v.work += elementWork + c.right - c.left + 1; c.left < 1 || c.right < c.left || c.right > MaxColumns || v.work > maxWork {
		return errLarge
	}
	v.covers = append(v.covers, c)
	return nil
}

func (v *view) sort() {
	slices.SortStableFunc(v.covers, func(a, b cover) int { return cmp.Compare(a.top, b.top) })
}

// mark marks the cells of the next row.
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

// isTrue reads a truth value of XML. isThin tells whether a column or a row of this width or height, in
// characters or points, is too thin to be seen.
func isTrue(s string) bool { return s == "1" || s == "true" }
func isThin(s string) bool { size, err := strconv.ParseFloat(s, 64); return err == nil && size < 0.5 }
