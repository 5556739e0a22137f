package exactjson

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// FuzzJSON: a body is what encoding/json says it is, to the last digit.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		"", "null", "{}", "[]", `{"a":1,"a":2,"A":3}`, `[1.50,1e5,-0,10000000000000000000000]`, `"\ud800\u0000\"\\/"`, "\xef\xbb\xbf{}", "{}{}",
		"{} x", "\xff", "[1,]", `{"a":{"b":[{}]}}`,
		strings.Repeat("[", 200) + strings.Repeat("]", 200), "\"\xff\"", " \t\r\n1 ", "nul", `{"a"}`, `{1:2}`, "1 2", "01", "+1", "NaN",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		v, err := Parse(body)
		got := plain(v)
		body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
		if valid := json.Valid(body); valid != (err == nil) {
			t.Fatalf("%q: %v, but valid is %v", body, err, valid)
		}
		if err != nil {
			return
		}
		d := json.NewDecoder(bytes.NewReader(body))
		d.UseNumber()
		var want any
		if err := d.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q is read as %#v, want %#v", body, got, want)
		}
	})
}

// plain is v in the types of encoding/json: of keys that come twice the last,
// as there.
func plain(v Value) any {
	switch v.Kind {
	case Bool:
		return v.Text == "true"
	case Number:
		return json.Number(v.Text)
	case String:
		return v.Text
	case Array:
		list := []any{}
		for _, item := range v.Items {
			list = append(list, plain(item))
		}
		return list
	case Object:
		object := map[string]any{}
		for _, m := range v.Members {
			object[m.Key] = plain(m.Value)
		}
		return object
	}
	return nil
}

// What is counted of a body is never less than what would be built of it, and text in
// strings counts nothing.
func TestCount(t *testing.T) {
	for body, want := range map[string]int{
		"":                                    1,
		"{}":                                  2,
		`{"a":1,"b":[2,3]}`:                   5,
		`{"a":",,,[[[{{{"}`:                   2,
		`{"a":"\",,,\\","b":2}`:               3,
		`{"a":"x&y&z&w"}`:                     2,
		"\xef\xbb\xbf \t\r\n{\"a\":\"&&&&\"}": 2,
		"a=1&b=2&c=3":                         3,
		"--x\r\na\r\n--x\r\nb\r\n--x--":       2,
		"--x\n1\n--x\n2\n--x\n3\n--x--":       3,
	} {
		if got := Count([]byte(body)); got != want {
			t.Errorf("%q: %d, want %d", body, got, want)
		}
	}
}

// A key comes twice in whatever case of its letters; another letter that only folds to one
// of them makes another key.
func TestTimes(t *testing.T) {
	for body, want := range map[string]int{
		`{"b":1}`:                    0,
		`{"tasks":1}`:                1,
		`{"tasks":1,"tasks":1}`:      2,
		`{"tasks":1,"Tasks":1}`:      2,
		`{"tasks":1,"ta\u017fks":1}`: 1,
		`{"tasks":1,"tas\u212as":1}`: 1,
	} {
		v, err := Parse([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if got := v.Times("tasks"); got != want {
			t.Errorf("%s: %d, want %d", body, got, want)
		}
	}
}
