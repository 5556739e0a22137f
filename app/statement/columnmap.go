package statement

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"baoco/app"
)

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
		for _, f := range amountFields {
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

// columnName gives the letters of column i, from 0.
func columnName(i int) string {
	name := ""
	for i++; i > 0; i = (i - 1) / 26 {
		name = string(rune('A'+(i-1)%26)) + name
	}
	return name
}

// mapsMoney tells whether a person named a column of amounts.
func (o Options) mapsMoney() bool {
	return slices.ContainsFunc(amountFields, func(f field) bool { return o.Map[string(f)] != "" })
}
