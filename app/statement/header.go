package statement

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"baoco/app"
)

// headerLines is how far down a header row is looked for: statements have up
// to some dozens of lines of titles.
const headerLines = 120

// columns says in which column, from 0, a field stands.
type columns map[field]int

func (c columns) of(f field) int {
	if i, ok := c[f]; ok {
		return i
	}
	return -1
}

func (c columns) has(f field) bool { return c.of(f) >= 0 }

func (c columns) money() bool { return c.has(fieldDebit) || c.has(fieldCredit) || c.has(fieldAmount) }

// complete tells whether the columns are those of a table of transactions.
func (c columns) complete() bool {
	return (c.has(fieldDate) || c.has(fieldPosting)) && c.money() && len(c) >= 3
}

// header is where the table of a file begins and what its columns hold.
type header struct {
	line    int // of its first line; 0: there is none
	columns columns
	charges []int    // columns of fees, taxes and interest, from 0
	names   []string // as they stand in the file
	rows    []string // the same, each of its rows in one text
	next    int      // index of the record after it
}

// findHeader looks for the header among the first lines of a file.
func findHeader(lines []record, o Options) (header, bool, error) {
	for i := range lines {
		if h, ok, err := headerAt(lines[i:], o); ok {
			h.next += i
			return h, true, err
		}
	}
	h, ok := headless(lines, o)
	return h, ok, nil
}

// headless places the columns of a table without a header row: all of them
// are given by number or letter. It begins with the first line that holds an
// amount and, where that has a column, a date.
func headless(lines []record, o Options) (header, bool) {
	c := columns{}
	for key, where := range o.Map {
		i, ok := columnAt(where)
		if !ok {
			return header{}, false
		}
		c[field(key)] = i
	}
	if !c.money() {
		return header{}, false
	}
	for i, r := range lines {
		_, dated := parseDate(r.cell(c.of(fieldDate)), o.Zone, false)
		if c.has(fieldDate) && !dated {
			continue
		}
		for _, f := range []field{fieldDebit, fieldCredit, fieldAmount} {
			if m := parseMoney(r.cell(c.of(f))); m.value != 0 {
				return header{columns: c, next: i}, true
			}
		}
	}
	return header{}, false
}

// mapped lays the columns that were given over those that were found.
func mapped(found columns, names []headerName, o Options) (columns, bool) {
	byName := 0
	given := columns{}
	for key, where := range o.Map {
		i := slices.IndexFunc(names, func(name headerName) bool { return name.is(where) })
		if i >= 0 {
			byName++
		} else if n, ok := columnAt(where); ok && n < len(names) {
			i = n
		} else {
			return nil, false
		}
		given[field(key)] = i
	}
	if byName == 0 && !found.complete() {
		return nil, false
	}
	if given.has(fieldAmount) {
		delete(found, fieldDebit)
		delete(found, fieldCredit)
	} else if given.has(fieldDebit) || given.has(fieldCredit) {
		delete(found, fieldAmount)
	}
	if given.has(fieldDate) {
		delete(found, fieldPosting)
		delete(found, fieldClock)
	}
	for f, i := range found {
		for _, taken := range given {
			if i == taken {
				delete(found, f)
			}
		}
	}
	for f, i := range given {
		found[f] = i
	}
	return found, found.money()
}

// sameHeader tells whether name is the header that a person wrote as where.
func sameHeader(name, where string) bool {
	key := headerKey(where)
	return key != "" && headerKey(name) == key
}

// columnAt reads a column that is given by number, from 1, or by letter.
func columnAt(where string) (int, bool) {
	where = strings.TrimSpace(where)
	if n, err := strconv.Atoi(where); err == nil {
		return n - 1, n >= 1 && n <= maxColumns
	}
	n, ok := columnNumber(where)
	return n - 1, ok && n <= maxColumns
}

// checkMap refuses a map that names unknown fields.
func checkMap(m map[string]string) error {
	var v app.Invalid
	for key, where := range m {
		if !slices.Contains(mappable, field(key)) {
			v.Add("map", fmt.Sprintf("names no field: %q; there are %s", key, fieldList()), fmt.Sprintf("có trường không tồn tại: %q; các trường là %s", key, fieldList()))
		} else if strings.TrimSpace(where) == "" {
			v.Add("map", fmt.Sprintf("gives no column for %s", key), fmt.Sprintf("không cho biết cột của %s", key))
		}
	}
	return v.Err()
}

func fieldList() string {
	names := make([]string, len(mappable))
	for i, f := range mappable {
		names[i] = string(f)
	}
	return strings.Join(names, ", ")
}

func texts(r record) []string {
	names := make([]string, len(r.cells))
	for i, c := range r.cells {
		if !c.number {
			names[i] = c.plain()
		}
	}
	return names
}

// list gives the columns from left to right, for people.
func (h header) list() []Column {
	var list []Column
	for f, i := range h.columns {
		column := Column{Field: string(f), Number: i + 1}
		if i < len(h.names) {
			column.Header = h.names[i]
		}
		list = append(list, column)
	}
	slices.SortFunc(list, func(a, b Column) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Field, b.Field))
	})
	return list
}
