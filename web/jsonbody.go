package web

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonKind is the type of a JSON value.
type jsonKind byte

const (
	jsonNull jsonKind = iota
	jsonBool
	jsonNumber
	jsonString
	jsonArray
	jsonObject
)

// jsonValue is JSON as it was sent: numbers as their literals, keys in their
// exact case, and keys that come twice, twice. encoding/json's structs would
// hide all three.
type jsonValue struct {
	kind    jsonKind
	text    string // a string's content, or a number's or boolean's literal
	items   []jsonValue
	members []jsonMember
}

type jsonMember struct {
	key   string
	value jsonValue
}

var errNotJSON = errors.New("not one JSON value")

// maxJSONDepth bounds how deep values are nested, as encoding/json does.
const maxJSONDepth = 10000

// parseJSON reads exactly one value (RFC 8259), with a byte order mark before
// it or none. Invalid UTF-8 and lone surrogates in strings become U+FFFD. It
// accepts what encoding/json accepts, and reads it alike; a fuzz test compares
// them.
func parseJSON(body []byte) (jsonValue, error) {
	r := jsonReader{text: strings.TrimPrefix(string(body), "\xef\xbb\xbf")}
	v, ok := r.value()
	if r.space(); !ok || r.at != len(r.text) {
		return jsonValue{}, errNotJSON
	}
	return v, nil
}

// parseUTF8 reads exactly one value of a body that must be valid UTF-8. Lone
// surrogates are kept apart: see jsonReader.
func parseUTF8(body []byte) (jsonValue, error) {
	r := jsonReader{text: strings.TrimPrefix(string(body), "\xef\xbb\xbf"), surrogates: true}
	v, ok := r.value()
	if r.space(); !ok || r.at != len(r.text) || !utf8.Valid(body) {
		return jsonValue{}, errNotJSON
	}
	return v, nil
}

// countValues counts what would be built of a body: its JSON values with those
// in them, or the fields of a form. Nothing is built for that. It never counts
// too few, and an empty array or object as two.
func countValues(body []byte) int {
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

// jsonReader reads values out of a text. Its methods give false where the text
// is not JSON.
type jsonReader struct {
	text  string
	at    int
	depth int
	// surrogates keeps lone surrogates apart from each other and from U+FFFD,
	// as three bytes that UTF-8 doesn't know. The text must be valid UTF-8.
	surrogates bool
}

func (r *jsonReader) space() {
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
func (r *jsonReader) next() byte {
	r.space()
	if r.at == len(r.text) {
		return 0
	}
	return r.text[r.at]
}

// take steps over a byte that must come next.
func (r *jsonReader) take(c byte) bool {
	if r.next() != c || c == 0 {
		return false
	}
	r.at++
	return true
}

func (r *jsonReader) value() (jsonValue, bool) {
	switch c := r.next(); {
	case c == '{':
		return r.object()
	case c == '[':
		return r.array()
	case c == '"':
		text, ok := r.string()
		return jsonValue{kind: jsonString, text: text}, ok
	case c == '-' || c >= '0' && c <= '9':
		return r.number()
	}
	for _, word := range []jsonValue{{kind: jsonNull, text: "null"}, {kind: jsonBool, text: "true"}, {kind: jsonBool, text: "false"}} {
		if strings.HasPrefix(r.text[r.at:], word.text) {
			r.at += len(word.text)
			return word, true
		}
	}
	return jsonValue{}, false
}

func (r *jsonReader) object() (jsonValue, bool) {
	v := jsonValue{kind: jsonObject}
	return v, r.list('{', '}', func() bool {
		if r.next() != '"' {
			return false
		}
		key, ok := r.string()
		if !ok || !r.take(':') {
			return false
		}
		value, ok := r.value()
		if v.members == nil {
			v.members = make([]jsonMember, 0, 8)
		}
		v.members = append(v.members, jsonMember{key, value})
		return ok
	})
}

func (r *jsonReader) array() (jsonValue, bool) {
	v := jsonValue{kind: jsonArray}
	return v, r.list('[', ']', func() bool {
		item, ok := r.value()
		v.items = append(v.items, item)
		return ok
	})
}

// list reads elements with commas between them.
func (r *jsonReader) list(open, end byte, element func() bool) bool {
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

func (r *jsonReader) digits() bool {
	begin := r.at
	for r.at < len(r.text) && r.text[r.at] >= '0' && r.text[r.at] <= '9' {
		r.at++
	}
	return r.at > begin
}

// oneOf steps over the next byte where it is one of set.
func (r *jsonReader) oneOf(set string) bool {
	if r.at < len(r.text) && strings.IndexByte(set, r.text[r.at]) >= 0 {
		r.at++
		return true
	}
	return false
}

func (r *jsonReader) number() (jsonValue, bool) {
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
	return jsonValue{kind: jsonNumber, text: r.text[begin:r.at]}, ok
}

// string reads a string from its opening quote on.
func (r *jsonReader) string() (string, bool) {
	r.at++
	begin := r.at
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == '"':
			s := r.text[begin:r.at]
			r.at++
			return validUTF8(s), true
		case c == '\\':
			return r.escapedString(begin)
		case c < ' ':
			return "", false
		}
		r.at++
	}
	return "", false
}

// validUTF8 replaces every invalid byte.
func validUTF8(s string) string {
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
func (r *jsonReader) escapedString(begin int) (string, bool) {
	var b strings.Builder
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == '"':
			b.WriteString(r.text[begin:r.at])
			r.at++
			if r.surrogates {
				return b.String(), true
			}
			return validUTF8(b.String()), true
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
func (r *jsonReader) escape() (rune, bool) {
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
func (r *jsonReader) hex() (n rune, ok bool) {
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

// get is the value of a key; null where it is missing. Where it comes twice,
// the first.
func (v jsonValue) get(key string) jsonValue {
	value, _ := v.lookup(key)
	return value
}

func (v jsonValue) lookup(key string) (jsonValue, bool) {
	for _, m := range v.members {
		if m.key == key {
			return m.value, true
		}
	}
	return jsonValue{kind: jsonNull}, false
}

// isInteger tells whether a number's literal is of digits alone.
func isInteger(literal string) bool {
	for i := range len(literal) {
		if literal[i] < '0' || literal[i] > '9' {
			return false
		}
	}
	return literal != ""
}

// times counts how often a key comes, in whatever case: two spellings of one
// key are as ambiguous as two of the same.
func (v jsonValue) times(key string) int {
	n := 0
	for _, m := range v.members {
		if len(m.key) == len(key) && strings.EqualFold(m.key, key) {
			n++
		}
	}
	return n
}

// str is the content of a string; "" for anything else.
func (v jsonValue) str() string {
	if v.kind == jsonString {
		return v.text
	}
	return ""
}

// word is a string's content or a number's literal, for fields that providers
// write either way.
func (v jsonValue) word() string {
	if v.kind == jsonString || v.kind == jsonNumber {
		return v.text
	}
	return ""
}
