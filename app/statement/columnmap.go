package statement

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"baoco/app"
	"baoco/app/sheet"
)

// checkMap refuses a map with unknown fields, or without a column for a field.
func checkMap(m map[string]string) error {
	var v app.Invalid
	for key, where := range m {
		if list := Fields(); !slices.Contains(list, key) || strings.TrimSpace(where) == "" {
			v.Add("map", fmt.Sprintf("gives no column for a field: “%s=%s”; there are %s", key, where, strings.Join(list, ", ")),
				fmt.Sprintf("không cho biết cột của trường: “%s=%s”; các trường là %s", key, where, strings.Join(list, ", ")))
		}
	}
	return v.Err()
}

// headless places the columns of a table without a header row, where a person
// named all of them by number or letter. The table begins with the first line that
// holds an amount and, if dates have a column, a date.
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
		_, dated := parseDate(r.Cell(c.of(fieldDate)), o.Zone, false)
		if c.has(fieldDate) && !dated {
			continue
		}
		for _, f := range amountFields {
			if m := parseMoney(r.Cell(c.of(f))); m.value != 0 {
				width := len(r.Cells)
				if i > 0 && lines[i-1].Filled() >= 2 {
					width = len(lines[i-1].Cells) // the line above is a header that isn't understood
				}
				return header{columns: c, next: i, width: width}, true
			}
		}
	}
	return header{}, false
}

// place adds the columns that a person named to the found ones, in place of those of the
// same field. ok is false if the table doesn't have the named columns.
func place(found columns, names []headerName, o Options) (ok bool) {
	byName := false
	named := columns{}
	for key, where := range o.Map {
		i := slices.IndexFunc(names, func(name headerName) bool { return name.is(where) })
		if i >= 0 {
			byName = true
		} else if n, ok := columnAt(where); ok && n < len(names) {
			i = n
		} else {
			return false
		}
		named[field(key)] = i
	}
	if !byName && !found.complete() {
		return false
	}
	if named.has(fieldAmount) {
		delete(found, fieldDebit)
		delete(found, fieldCredit)
	} else if named.money() {
		delete(found, fieldAmount)
	}
	if named.has(fieldDate) {
		delete(found, fieldPosting)
		delete(found, fieldClock)
	}
	taken := slices.Collect(maps.Values(named))
	maps.DeleteFunc(found, func(_ field, i int) bool { return slices.Contains(taken, i) })
	maps.Copy(found, named)
	return found.money()
}

// columnAt reads the number, from 1, or the letters of a column.
func columnAt(where string) (int, bool) {
	where = strings.TrimSpace(where)
	if n, err := strconv.Atoi(where); err == nil {
		return n - 1, n >= 1 && n <= sheet.MaxColumns
	}
	n, ok := sheet.ColumnNumber(where)
	return n - 1, ok && n <= sheet.MaxColumns
}

// columnName returns the letters of column i, from 0.
func columnName(i int) string {
	name := ""
	for i++; i > 0; i = (i - 1) / 26 {
		name = string(rune('A'+(i-1)%26)) + name
	}
	return name
}

// mapsHeaders tells whether a person named a column by its header.
func (o Options) mapsHeaders() bool {
	for _, where := range o.Map {
		if _, ok := columnAt(where); !ok {
			return true
		}
	}
	return false
}

// mapsMoney tells whether a person named a column of amounts.
func (o Options) mapsMoney() bool {
	return slices.ContainsFunc(amountFields, func(f field) bool { return o.Map[string(f)] != "" })
}
