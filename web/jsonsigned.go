package web

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"baoco/app"
)

// This file has what signatures over the fields of a body are made of, where a
// provider doesn't sign the bytes it sends. All of them sign with JavaScript or
// after its example, so fields are written as JavaScript writes them. Whatever
// is read of such a body is read from what was signed: where 1e3 is signed as
// 1000 it is read as 1000.

// repeatedAnywhere gives a key that comes twice in one object of v, at whatever
// level.
func (v jsonValue) repeatedAnywhere() (key string, repeated bool) {
	seen := make(map[string]bool, len(v.members))
	for _, m := range v.members {
		if seen[m.key] {
			return m.key, true
		}
		seen[m.key] = true
		if key, repeated = m.value.repeatedAnywhere(); repeated {
			return key, true
		}
	}
	for _, item := range v.items {
		if key, repeated = item.repeatedAnywhere(); repeated {
			return key, true
		}
	}
	return "", false
}

// withJSNumbers is v with every number as JavaScript prints it.
func withJSNumbers(v jsonValue) jsonValue {
	if v.kind == jsonNumber {
		v.text = jsNumber(v.text)
	}
	v.items, v.members = slices.Clone(v.items), slices.Clone(v.members)
	for i := range v.items {
		v.items[i] = withJSNumbers(v.items[i])
	}
	for i := range v.members {
		v.members[i].value = withJSNumbers(v.members[i].value)
	}
	return v
}

// jsNumber is a number as JavaScript prints what it read from literal: the
// shortest digits of the nearest double (ECMA-262, Number::toString).
func jsNumber(literal string) string {
	f, _ := strconv.ParseFloat(literal, 64) // infinite where out of range, as there
	switch abs := math.Abs(f); {
	case f == 0:
		return "0" // also -0
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case abs >= 1e-6 && abs < 1e21:
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	text := strconv.FormatFloat(f, 'e', -1, 64)
	return strings.Replace(text, "e-0", "e-", 1) // 1e-07 is 1e-7 there
}

// sortedMembers is v with its keys ascending by UTF-16 code units, as
// Array.prototype.sort orders them; with deep at every level.
func sortedMembers(v jsonValue, deep bool) jsonValue {
	v.members = slices.Clone(v.members)
	slices.SortStableFunc(v.members, func(a, b jsonMember) int { return compareUTF16(a.key, b.key) })
	if !deep {
		return v
	}
	for i, m := range v.members {
		v.members[i].value = sortedMembers(m.value, true)
	}
	v.items = slices.Clone(v.items)
	for i, item := range v.items {
		v.items[i] = sortedMembers(item, true)
	}
	return v
}

// compareUTF16 orders as bytes do, unless there are characters above U+DFFF.
func compareUTF16(a, b string) int {
	above := func(c rune) bool { return c > 0xdfff }
	if strings.IndexFunc(a, above) < 0 && strings.IndexFunc(b, above) < 0 {
		return strings.Compare(a, b)
	}
	return slices.Compare(utf16Units(a), utf16Units(b))
}

// utf16Units is the UTF-16 of a string with lone surrogates as jsonReader
// keeps them.
func utf16Units(s string) []uint16 {
	units := make([]uint16, 0, len(s))
	for len(s) > 0 {
		if isSurrogate(s) {
			units, s = append(units, surrogate(s)), s[3:]
			continue
		}
		char, size := utf8.DecodeRuneInString(s)
		units, s = utf16.AppendRune(units, char), s[size:]
	}
	return units
}

func isSurrogate(s string) bool { return len(s) >= 3 && s[0] == 0xed && s[1] >= 0xa0 }

func surrogate(s string) uint16 { return 0xd000 | uint16(s[1]&0x3f)<<6 | uint16(s[2]&0x3f) }

// replaceSurrogates is s with something else for each lone surrogate.
func replaceSurrogates(s string, by func(uint16) string) string {
	if !strings.Contains(s, "\xed") {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		if isSurrogate(s) {
			b.WriteString(by(surrogate(s)))
			s = s[3:]
			continue
		}
		b.WriteByte(s[0])
		s = s[1:]
	}
	return b.String()
}

// inJSOrder is the order in which a JavaScript object lists its keys: those
// that are array indices first, ascending, then the others as they were set
// (ECMA-262, OrdinaryOwnPropertyKeys).
func inJSOrder(members []jsonMember) []jsonMember {
	indices, others := []jsonMember{}, make([]jsonMember, 0, len(members))
	for _, m := range members {
		if _, ok := arrayIndex(m.key); ok {
			indices = append(indices, m)
		} else {
			others = append(others, m)
		}
	}
	slices.SortStableFunc(indices, func(a, b jsonMember) int {
		i, _ := arrayIndex(a.key)
		j, _ := arrayIndex(b.key)
		return cmp.Compare(i, j)
	})
	return append(indices, others...)
}

func arrayIndex(key string) (int64, bool) {
	n, err := strconv.ParseUint(key, 10, 32)
	return int64(n), err == nil && n != math.MaxUint32 && (key == "0" || key[0] != '0')
}

// appendJS writes v as JSON.stringify does, without white space. Numbers are
// written as they stand in v.
func appendJS(b []byte, v jsonValue) []byte {
	switch v.kind {
	case jsonString:
		return appendJSString(b, v.text)
	case jsonArray:
		b = append(b, '[')
		for i, item := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJS(b, item)
		}
		return append(b, ']')
	case jsonObject:
		b = append(b, '{')
		for i, m := range inJSOrder(v.members) {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJS(append(appendJSString(b, m.key), ':'), m.value)
		}
		return append(b, '}')
	case jsonNumber:
		if strings.HasSuffix(v.text, "Infinity") {
			return append(b, "null"...)
		}
	case jsonNull:
		return append(b, "null"...)
	}
	return append(b, v.text...)
}

// escapeJSON escapes further characters of JSON's strings, which must be none
// that JSON is built of.
func escapeJSON(text []byte, escaped func(r rune) bool) []byte {
	b := make([]byte, 0, len(text))
	for _, r := range string(text) {
		switch {
		case !escaped(r):
			b = utf8.AppendRune(b, r)
		case r == '/':
			b = append(b, `\/`...)
		default:
			for _, unit := range utf16.AppendRune(nil, r) {
				b = fmt.Appendf(b, `\u%04x`, unit)
			}
		}
	}
	return b
}

// appendJSString writes lone surrogates as their escapes.
func appendJSString(b []byte, s string) []byte {
	begin := len(b)
	b = app.AppendJSONString(b, s)
	if !strings.Contains(s, "\xed") {
		return b
	}
	return append(b[:begin], replaceSurrogates(string(b[begin:]), func(unit uint16) string { return fmt.Sprintf(`\u%04x`, unit) })...)
}
