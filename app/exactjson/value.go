// Package exactjson reads JSON as it was sent, for signatures and money: numbers
// as their literals, keys in their order and their exact case, and a key that
// comes twice, twice. It finds values by paths, and writes values as JavaScript
// does, since that is what providers sign.
package exactjson

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"baoco/app"
)

// Kind is the type of a JSON value.
type Kind byte

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

// Parse reads exactly one value (RFC 8259), with a byte order mark before it or
// none. Invalid UTF-8 and lone surrogates in strings become U+FFFD. It accepts
// what encoding/json accepts, and reads it alike; a fuzz test compares them.
func Parse(body []byte) (Value, error) {
	return parse(body, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// ParseStrict is Parse of a body without them, and without a key that comes twice in one
// object, which is ErrRepeated.
func ParseStrict(body []byte) (Value, error) { return parse(body) }

// ErrRepeated is the error of a key that comes twice.
var ErrRepeated = jsontext.ErrDuplicateName

func parse(body []byte, options ...jsontext.Options) (Value, error) {
	r := reader{jsontext.NewDecoder(bytes.NewBuffer(withoutMark(body)), options...)}
	v, err := r.value()
	if err != nil {
		return Value{}, err
	}
	if _, err := r.ReadToken(); err != io.EOF {
		return Value{}, errInvalid
	}
	return v, nil
}

func withoutMark(body []byte) []byte { return bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")) }

// Canonical is a body as JavaScript writes it with its keys sorted, also those within others
// (RFC 8785). It is nil where ParseStrict fails.
func Canonical(body []byte) []byte {
	text := jsontext.Value(bytes.Clone(withoutMark(body)))
	if text.Canonicalize() != nil {
		return nil
	}
	return text
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
	if bytes.HasPrefix(bytes.TrimLeft(withoutMark(body), " \t\r\n"), []byte("{")) {
		return n
	}
	return max(n, 1+bytes.Count(body, []byte("&")), bytes.Count(body, []byte("\n--")))
}

// reader reads values with a decoder, which bounds how deep they are nested at
// 10,000, as encoding/json does.
type reader struct{ *jsontext.Decoder }

func (r reader) value() (Value, error) {
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
	case '"':
		return Value{Kind: String, Text: token.String()}, nil
	}
	return Value{Kind: Bool, Text: token.String()}, nil
}

func (r reader) object() (Value, error) {
	v := Value{Kind: Object, Members: make([]Member, 0, 8)}
	for r.PeekKind() != '}' {
		key, err := r.ReadToken()
		if err != nil {
			return v, err
		}
		name := key.String()
		value, err := r.value()
		if err != nil {
			return v, err
		}
		v.Members = append(v.Members, Member{name, value})
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

// AppendJS writes v as JSON.stringify does, without white space. Numbers are
// written as they stand in v.
func AppendJS(b []byte, v Value) []byte {
	switch v.Kind {
	case String:
		return app.AppendJSONString(b, v.Text)
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
		for i, m := range v.Members {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendJS(append(app.AppendJSONString(b, m.Key), ':'), m.Value)
		}
		return append(b, '}')
	case Null:
		return append(b, "null"...)
	}
	return append(b, v.Text...)
}
