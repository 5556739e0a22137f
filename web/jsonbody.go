package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
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

// parseJSON reads exactly one value, with a byte order mark before it or none.
// Invalid UTF-8 in strings becomes U+FFFD.
func parseJSON(body []byte) (jsonValue, error) {
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	// Valid also bounds the depth, to 10,000.
	if !json.Valid(body) {
		return jsonValue{}, errNotJSON
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	return nextJSON(d)
}

func nextJSON(d *json.Decoder) (jsonValue, error) {
	token, err := d.Token()
	if err != nil {
		return jsonValue{}, errNotJSON
	}
	switch t := token.(type) {
	case nil:
		return jsonValue{kind: jsonNull, text: "null"}, nil
	case bool:
		if t {
			return jsonValue{kind: jsonBool, text: "true"}, nil
		}
		return jsonValue{kind: jsonBool, text: "false"}, nil
	case json.Number:
		return jsonValue{kind: jsonNumber, text: t.String()}, nil
	case string:
		return jsonValue{kind: jsonString, text: t}, nil
	case json.Delim:
		if t == '[' {
			return nextArray(d)
		}
		return nextObject(d)
	}
	return jsonValue{}, errNotJSON
}

func nextArray(d *json.Decoder) (jsonValue, error) {
	v := jsonValue{kind: jsonArray}
	for d.More() {
		item, err := nextJSON(d)
		if err != nil {
			return v, err
		}
		v.items = append(v.items, item)
	}
	_, err := d.Token()
	return v, err
}

func nextObject(d *json.Decoder) (jsonValue, error) {
	v := jsonValue{kind: jsonObject}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return v, errNotJSON
		}
		value, err := nextJSON(d)
		if err != nil {
			return v, err
		}
		v.members = append(v.members, jsonMember{key.(string), value})
	}
	_, err := d.Token()
	return v, err
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
