package exactjson

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

// RepeatedAnywhere gives a key that comes twice in one object of v, at whatever
// level.
func (v Value) RepeatedAnywhere() (key string, repeated bool) {
	seen := make(map[string]bool, len(v.Members))
	for _, m := range v.Members {
		if seen[m.Key] {
			return m.Key, true
		}
		seen[m.Key] = true
		if key, repeated = m.Value.RepeatedAnywhere(); repeated {
			return key, true
		}
	}
	for _, item := range v.Items {
		if key, repeated = item.RepeatedAnywhere(); repeated {
			return key, true
		}
	}
	return "", false
}

// WithJSNumbers is v with every number as JavaScript prints it.
func WithJSNumbers(v Value) Value {
	if v.Kind == Number {
		v.Text = JSNumber(v.Text)
	}
	v.Items, v.Members = slices.Clone(v.Items), slices.Clone(v.Members)
	for i := range v.Items {
		v.Items[i] = WithJSNumbers(v.Items[i])
	}
	for i := range v.Members {
		v.Members[i].Value = WithJSNumbers(v.Members[i].Value)
	}
	return v
}

// JSNumber is a number as JavaScript prints what it read from literal: the
// shortest digits of the nearest double (ECMA-262, Number::toString).
func JSNumber(literal string) string {
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

// SortedMembers is v with its keys ascending by UTF-16 code units, as
// Array.prototype.sort orders them; with deep at every level.
func SortedMembers(v Value, deep bool) Value {
	v.Members = slices.Clone(v.Members)
	slices.SortStableFunc(v.Members, func(a, b Member) int { return compareUTF16(a.Key, b.Key) })
	if !deep {
		return v
	}
	for i, m := range v.Members {
		v.Members[i].Value = SortedMembers(m.Value, true)
	}
	v.Items = slices.Clone(v.Items)
	for i, item := range v.Items {
		v.Items[i] = SortedMembers(item, true)
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

// utf16Units is the UTF-16 of a string with lone surrogates as reader
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

// ReplaceSurrogates is s with something else for each lone surrogate.
func ReplaceSurrogates(s string, by func(uint16) string) string {
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

// InJSOrder is the order in which a JavaScript object lists its keys: those
// that are array indices first, ascending, then the others as they were set
// (ECMA-262, OrdinaryOwnPropertyKeys).
func InJSOrder(members []Member) []Member {
	indices, others := []Member{}, make([]Member, 0, len(members))
	for _, m := range members {
		if _, ok := arrayIndex(m.Key); ok {
			indices = append(indices, m)
		} else {
			others = append(others, m)
		}
	}
	slices.SortStableFunc(indices, func(a, b Member) int {
		i, _ := arrayIndex(a.Key)
		j, _ := arrayIndex(b.Key)
		return cmp.Compare(i, j)
	})
	return append(indices, others...)
}

func arrayIndex(key string) (int64, bool) {
	n, err := strconv.ParseUint(key, 10, 32)
	return int64(n), err == nil && n != math.MaxUint32 && (key == "0" || key[0] != '0')
}

// AppendJS writes v as JSON.stringify does, without white space. Numbers are
// written as they stand in v.
func AppendJS(b []byte, v Value) []byte {
	switch v.Kind {
	case String:
		return appendJSString(b, v.Text)
	case Array:
		b = append(b, '[')
		for i, item := range v.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendJS(b, item)
		}
		return append(b, ']')
	case Object:
		b = append(b, '{')
		for i, m := range InJSOrder(v.Members) {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendJS(append(appendJSString(b, m.Key), ':'), m.Value)
		}
		return append(b, '}')
	case Number:
		if strings.HasSuffix(v.Text, "Infinity") {
			return append(b, "null"...)
		}
	case Null:
		return append(b, "null"...)
	}
	return append(b, v.Text...)
}

// EscapeJSON escapes further characters of JSON's strings, which must be none
// that JSON is built of.
func EscapeJSON(text []byte, escaped func(r rune) bool) []byte {
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
	return append(b[:begin], ReplaceSurrogates(string(b[begin:]), func(unit uint16) string { return fmt.Sprintf(`\u%04x`, unit) })...)
}
