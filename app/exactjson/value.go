// Package exactjson reads JSON as it was sent, for signatures and money: numbers
// as their literals, keys in their order and their exact case, and a key that
// comes twice, twice. It finds values by paths, and writes values as JavaScript
// does, since that is what providers sign.
package exactjson

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
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

// maxDepth bounds how deep values are nested, as encoding/json does.
const maxJSONDepth = 10000

// Parse reads exactly one value (RFC 8259), with a byte order mark before
// it or none. Invalid UTF-8 and lone surrogates in strings become U+FFFD. It
// accepts what encoding/json accepts, and reads it alike; a fuzz test compares
// them.
func Parse(body []byte) (Value, error) {
	r := reader{text: strings.TrimPrefix(string(body), "\xef\xbb\xbf")}
	v, ok := r.value()
	if r.space(); !ok || r.at != len(r.text) {
		return Value{}, errInvalid
	}
	return v, nil
}

// ParseUTF8 reads exactly one value of a body that must be valid UTF-8. Lone
// surrogates are kept apart: see reader.
func ParseUTF8(body []byte) (Value, error) {
	r := reader{text: strings.TrimPrefix(string(body), "\xef\xbb\xbf"), surrogates: true}
	v, ok := r.value()
	if r.space(); !ok || r.at != len(r.text) || !utf8.Valid(body) {
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

// reader reads values out of a text. Its methods give false where the text
// is not JSON.
type reader struct {
	text  string
	at    int
	depth int
	// surrogates keeps lone surrogates apart from each other and from U+FFFD,
	// as three bytes that UTF-8 doesn't know. The text must be valid UTF-8.
	surrogates bool
}

func (r *reader) space() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return
		}
	}
}

// next is the first byte after white space; 0 at the end.
func (r *reader) next() byte {
	r.space()
	if r.at == len(r.text) {
		return 0
	}
	return r.text[r.at]
}

// take steps over a byte that must come next.
func (r *reader) take(c byte) bool {
	if r.next() != c || c == 0 {
		return false
	}
	r.at++
	return true
}

func (r *reader) value() (Value, bool) {
	switch c := r.next(); {
	case c == '{':
		return r.object()
	case c == '[':
		return r.array()
	case c == '"':
		text, ok := r.string()
		return Value{Kind: String, Text: text}, ok
	case c == '-' || c >= '0' && c <= '9':
		return r.number()
	}
	for _, word := range []Value{{Kind: Null, Text: "null"}, {Kind: Bool, Text: "true"}, {Kind: Bool, Text: "false"}} {
		if strings.HasPrefix(r.text[r.at:], word.Text) {
			r.at += len(word.Text)
			return word, true
		}
	}
	return Value{}, false
}

func (r *reader) object() (Value, bool) {
	v := Value{Kind: Object}
	return v, r.list('{', '}', func() bool {
		if r.next() != '"' {
			return false
		}
		key, ok := r.string()
		if !ok || !r.take(':') {
			return false
		}
		value, ok := r.value()
		if v.Members == nil {
			v.Members = make([]Member, 0, 8)
		}
		v.Members = append(v.Members, Member{key, value})
		return ok
	})
}

func (r *reader) array() (Value, bool) {
	v := Value{Kind: Array}
	return v, r.list('[', ']', func() bool {
		item, ok := r.value()
		v.Items = append(v.Items, item)
		return ok
	})
}

// list reads elements with commas between them.
func (r *reader) list(open, end byte, element func() bool) bool {
	r.depth++
	defer func() { r.depth-- }()
	if r.depth > maxJSONDepth || !r.take(open) {
		return false
	}
	if r.take(end) {
		return true
	}
	for element() {
		if r.take(end) {
			return true
		}
		if !r.take(',') {
			return false
		}
	}
	return false
}

func (r *reader) digits() bool {
	begin := r.at
	for r.at < len(r.text) && r.text[r.at] >= '0' && r.text[r.at] <= '9' {
		r.at++
	}
	return r.at > begin
}

// oneOf steps over the next byte where it is one of set.
func (r *reader) oneOf(set string) bool {
	if r.at < len(r.text) && strings.IndexByte(set, r.text[r.at]) >= 0 {
		r.at++
		return true
	}
	return false
}

func (r *reader) number() (Value, bool) {
	begin := r.at
	r.oneOf("-")
	ok := r.oneOf("0") || r.digits() // no digit may follow a leading zero
	if ok && r.oneOf(".") {
		ok = r.digits()
	}
	if ok && r.oneOf("eE") {
		r.oneOf("+-")
		ok = r.digits()
	}
	return Value{Kind: Number, Text: r.text[begin:r.at]}, ok
}

// string reads a string from its opening quote on.
func (r *reader) string() (string, bool) {
	r.at++
	begin := r.at
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == '"':
			s := r.text[begin:r.at]
			r.at++
			return ValidUTF8(s), true
		case c == '\\':
			return r.escapedString(begin)
		case c < ' ':
			return "", false
		}
		r.at++
	}
	return "", false
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

// escapedString goes on with a string at its first escape.
func (r *reader) escapedString(begin int) (string, bool) {
	var b strings.Builder
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == '"':
			b.WriteString(r.text[begin:r.at])
			r.at++
			if r.surrogates {
				return b.String(), true
			}
			return ValidUTF8(b.String()), true
		case c == '\\':
			b.WriteString(r.text[begin:r.at])
			r.at++
			char, ok := r.escape()
			if !ok {
				return "", false
			}
			if r.surrogates && utf16.IsSurrogate(char) {
				b.Write([]byte{0xed, byte(0x80 | char>>6&0x3f), byte(0x80 | char&0x3f)})
			} else {
				b.WriteRune(char) // U+FFFD for a lone surrogate
			}
			begin = r.at
		case c < ' ':
			return "", false
		default:
			r.at++
		}
	}
	return "", false
}

// escape reads what follows a backslash: a character or a lone surrogate.
func (r *reader) escape() (rune, bool) {
	if r.at == len(r.text) {
		return 0, false
	}
	c := r.text[r.at]
	r.at++
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), true
	}
	if c != 'u' {
		return 0, false
	}
	first, ok := r.hex()
	if !ok || !utf16.IsSurrogate(first) {
		return first, ok
	}
	if rest := r.text[r.at:]; strings.HasPrefix(rest, `\u`) {
		back := r.at
		r.at += 2
		second, ok := r.hex()
		if !ok {
			return 0, false
		}
		if pair := utf16.DecodeRune(first, second); pair != utf8.RuneError {
			return pair, true
		}
		r.at = back // the second stands for itself
	}
	return first, true
}

// hex reads four hexadecimal digits.
func (r *reader) hex() (n rune, ok bool) {
	if len(r.text)-r.at < 4 {
		return 0, false
	}
	for range 4 {
		c := r.text[r.at]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		n = n<<4 | rune(c)
		r.at++
	}
	return n, true
}

// Get is the value of a key; null where it is missing. Where it comes twice,
// the first.
func (v Value) Get(key string) Value {
	value, _ := v.Lookup(key)
	return value
}

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
