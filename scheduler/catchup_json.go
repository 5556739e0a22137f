package scheduler

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"baoco/app"
)

// record is an object of a page: its values by key, whose case counts, and the
// keys that stand in it more than once.
type record struct {
	values map[string]json.RawMessage
	twice  map[string]bool
}

var errNoObject = errors.New("not a JSON object")

// readRecord reads raw, which is an object and nothing behind it.
func readRecord(raw []byte) (record, error) {
	r := record{values: map[string]json.RawMessage{}, twice: map[string]bool{}}
	if !json.Valid(raw) {
		return r, errNoObject
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return r, errNoObject
	}
	for d.More() {
		token, err := d.Token()
		key, isKey := token.(string)
		if err != nil || !isKey {
			return r, errNoObject
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return r, err
		}
		if _, known := r.values[key]; known {
			r.twice[key] = true
		}
		r.values[key] = value
	}
	return r, nil
}

// word is the string, or the literal of the number, under the first of keys
// that has one; empty where none has.
func (r record) word(keys ...string) string {
	for _, key := range keys {
		raw := r.values[key]
		if len(raw) == 0 {
			continue
		}
		switch c := raw[0]; {
		case c == '"':
			var s string
			if json.Unmarshal(raw, &s) == nil && s != "" {
				return s
			}
		case c == '-' || c >= '0' && c <= '9':
			return string(raw)
		}
	}
	return ""
}

// amount is the amount under key, which may be negative.
func (r record) amount(key string) (int64, error) {
	var text string
	if raw := r.values[key]; json.Unmarshal(raw, &text) == nil && text != "" {
		return app.ParseAmountText(text)
	}
	return app.ParseAmount(r.word(key))
}

// zero tells whether there is nothing under key, or 0 as a number or a text.
func (r record) zero(key string) bool {
	switch raw := string(r.values[key]); raw {
	case "", "null", `""`:
		return true
	}
	word := r.word(key)
	return word != "" && strings.Trim(word, "0.") == ""
}

// list is the array under key.
func (r record) list(key string) ([]json.RawMessage, bool) {
	var items []json.RawMessage
	raw := r.values[key]
	if r.twice[key] || len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &items) != nil {
		return nil, false
	}
	return items, true
}

// number is the whole number under key; ok is false where there is none.
func (r record) number(key string) (n int, ok bool) {
	n, err := strconv.Atoi(r.word(key))
	return n, err == nil
}

// repeated is the fault of the first of keys that stands there twice.
func (r record) repeated(keys []string) *app.FieldError {
	for _, key := range keys {
		if r.twice[key] {
			return &app.FieldError{Field: key, Text: app.Text{EN: "is given more than once", VI: "bị lặp lại"}}
		}
	}
	return nil
}

// noID begins the id of an element that has none.
const noID = "~"

// readElements reads the elements of a list with read. One that has no id is
// given one of what it holds, so that it is known again on the next page.
func readElements(items []json.RawMessage, read func(r record) app.Incoming) []app.Incoming {
	elements := make([]app.Incoming, len(items))
	for i, item := range items {
		r, err := readRecord(item)
		if err == nil {
			elements[i] = read(r)
		} else {
			elements[i].Fault = &app.FieldError{Field: "element", Text: app.Text{EN: "must be a JSON object", VI: "phải là một đối tượng JSON"}}
		}
		if e := &elements[i]; app.BlankID(e.EventID) {
			sum := sha256.Sum256(item)
			e.EventID = noID + hex.EncodeToString(sum[:])
			if e.Fault == nil {
				e.Fault = &app.FieldError{Field: "id", Text: app.Text{EN: "is required", VI: "là bắt buộc"}}
			}
		}
	}
	return elements
}
