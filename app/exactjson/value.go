// Package exactjson reads JSON as it was sent, for signatures and money: numbers
// as their literals, keys in their order and their exact case, and a key that
// comes twice, twice. It finds values by paths, and writes values as JavaScript
// does, since that is what providers sign.
package exactjson

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind is the type of a JSON value.
type Kind byte

// The kinds of values.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// Value is JSON as it was sent: numbers as their literals, keys in their
// exact case, and keys that come twice, twice. encoding/json's structs would
// hide all three.
type Value struct {
	Kind    Kind
	Text    string // a string's content, or a number's or boolean's literal
	Items   []Value
	Members []Member
}

// Member is a member of an object.
type Member struct {
	Key   string
	Value Value
}

var errInvalid = errors.New("not one JSON value")

const byteOrderMark = "\xef\xbb\xbf"

// Parse reads exactly one value (RFC 8259), with a byte order mark before it or
// none. Invalid UTF-8 and lone surrogates in strings become U+FFFD. It accepts
// what encoding/json accepts, and reads it alike; a fuzz test compares them.
func Parse(body []byte) (Value, error) { return parse(body, false) }

// ParseUTF8 reads exactly one value of a body that must be valid UTF-8. Lone
// surrogates are kept apart from each other and from U+FFFD, as three bytes that
// UTF-8 doesn't know.
func ParseUTF8(body []byte) (Value, error) {
	if !utf8.Valid(body) {
		return Value{}, errInvalid
	}
	return parse(body, true)
}

func parse(body []byte, surrogates bool) (Value, error) {
	r := reader{jsontext.NewDecoder(bytes.NewBuffer(bytes.TrimPrefix(body, []byte(byteOrderMark))),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)), surrogates}
	v, err := r.value()
	if err != nil {
		return Value{}, errInvalid
	}
	if _, err := r.ReadToken(); err != io.EOF {
		return Value{}, errInvalid
	}
	return v, nil
}

// Count counts what would be built of a body: its JSON values with those
// in them, or the fields of a form. Nothing is built for that. It never counts
// too few, and an empty array or object as two.
func Count(body []byte) int {
	n, quoted := 1, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == '[' || c == '{'):
			n++
		}
	}
	if bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), " \t\r\n"), []byte("{")) {
		return n
	}
	return max(n, 1+bytes.Count(body, []byte("&")), bytes.Count(body, []byte("\n--")))
}

// reader reads values with a decoder, which bounds how deep they are nested at
// 10,000, as encoding/json does.
type reader struct {
	*jsontext.Decoder
	surrogates bool // are kept
}

func (r reader) value() (Value, error) {
	if r.PeekKind() == '"' {
		text, err := r.text()
		return Value{Kind: String, Text: text}, err
	}
	token, err := r.ReadToken()
	if err != nil {
		return Value{}, err
	}
	switch token.Kind() {
	case '{':
		return r.object()
	case '[':
		return r.array()
	case 'n':
		return Value{Kind: Null, Text: "null"}, nil
	case '0':
		return Value{Kind: Number, Text: token.String()}, nil
	}
	return Value{Kind: Bool, Text: token.String()}, nil
}

func (r reader) object() (Value, error) {
	v := Value{Kind: Object, Members: make([]Member, 0, 8)}
	for r.PeekKind() != '}' {
		key, err := r.text()
		if err != nil {
			return v, err
		}
		value, err := r.value()
		if err != nil {
			return v, err
		}
		v.Members = append(v.Members, Member{key, value})
	}
	_, err := r.ReadToken()
	return v, err
}

func (r reader) array() (Value, error) {
	v := Value{Kind: Array}
	for r.PeekKind() != ']' {
		item, err := r.value()
		if err != nil {
			return v, err
		}
		v.Items = append(v.Items, item)
	}
	_, err := r.ReadToken()
	return v, err
}

// text reads a string.
func (r reader) text() (string, error) {
	if !r.surrogates {
		token, err := r.ReadToken()
		if err == nil && token.Kind() != '"' {
			err = errInvalid
		}
		if err != nil {
			return "", err
		}
		return token.String(), nil
	}
	literal, err := r.ReadValue()
	if err != nil || literal.Kind() != '"' {
		return "", errInvalid
	}
	return unquote(literal), nil
}

// unquote gives the content of a literal, its lone surrogates kept.
func unquote(literal []byte) string {
	var b []byte
	content := literal[1 : len(literal)-1]
	plain := func(part []byte) {
		if len(part) > 0 {
			b, _ = jsontext.AppendUnquote(b, slices.Concat([]byte{'"'}, part, []byte{'"'}))
		}
	}
	begin := 0
	for i := 0; i < len(content); i++ {
		if content[i] != '\\' {
			continue
		}
		i++ // at what is escaped
		unit := escapedUnit(content[i-1:])
		if !utf16.IsSurrogate(unit) {
			continue
		}
		if second := escapedUnit(content[i+5:]); utf16.DecodeRune(unit, second) != utf8.RuneError {
			i += 10
			continue
		}
		plain(content[begin : i-1])
		b = append(b, 0xed, byte(0x80|unit>>6&0x3f), byte(0x80|unit&0x3f))
		i += 4
		begin = i + 1
	}
	plain(content[begin:])
	return string(b)
}

// escapedUnit is the UTF-16 code unit that text begins with as an escape of \u
// and four digits; 0: it begins otherwise.
func escapedUnit(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	unit, _ := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(unit)
}

// ValidUTF8 replaces every invalid byte.
func ValidUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, char := range s {
		b.WriteRune(char)
	}
	return b.String()
}

// Get is the value of a key; null where it is missing. Where it comes twice,
// the first.
func (v Value) Get(key string) Value {
	value, _ := v.Lookup(key)
	return value
}

// Lookup is Get that also tells whether the key is there.
func (v Value) Lookup(key string) (Value, bool) {
	for _, m := range v.Members {
		if m.Key == key {
			return m.Value, true
		}
	}
	return Value{Kind: Null}, false
}

// IsInteger tells whether a number's literal is of digits alone.
func IsInteger(literal string) bool {
	for i := range len(literal) {
		if literal[i] < '0' || literal[i] > '9' {
			return false
		}
	}
	return literal != ""
}

// Times counts how often a key comes, in whatever case: two spellings of one
// key are as ambiguous as two of the same.
func (v Value) Times(key string) int {
	n := 0
	for _, m := range v.Members {
		if len(m.Key) == len(key) && strings.EqualFold(m.Key, key) {
			n++
		}
	}
	return n
}

// Str is the content of a string; "" for anything else.
func (v Value) Str() string {
	if v.Kind == String {
		return v.Text
	}
	return ""
}

// Word is a string's content or a number's literal, for fields that providers
// write either way.
func (v Value) Word() string {
	if v.Kind == String || v.Kind == Number {
		return v.Text
	}
	return ""
}
