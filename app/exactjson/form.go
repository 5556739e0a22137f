package exactjson

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"net/url"
	"slices"
	"strings"
)

// This file reads the bodies of HTML forms as objects of strings, so that a
// provider that lets the merchant choose between JSON and forms has one reader. A
// field that comes twice is there twice.

// ParseFields reads an object in whichever format it came. The body alone says
// which, since a kept body is read again without its headers: JSON begins with
// a brace, multipart with two hyphens and its boundary, anything else is a form.
// Nothing is built of one with more than most values.
func ParseFields(body []byte, most int) (Value, error) {
	if Count(body) > most {
		return Value{}, errNotFields
	}
	switch begin := bytes.TrimLeft(withoutMark(body), " \t\r\n"); {
	case bytes.HasPrefix(begin, []byte("{")):
		return Parse(body)
	case bytes.HasPrefix(begin, []byte("--")):
		return parseMultipart(begin)
	case bytes.ContainsRune(begin, '='):
		return parseForm(bytes.TrimSpace(begin))
	}
	return Value{}, errNotFields
}

var errNotFields = errors.New("neither a JSON object nor a form")

// parseForm reads application/x-www-form-urlencoded (WHATWG URL, section 5).
// A stray percent sign makes the whole form unreadable: what it stood for is
// unknown.
func parseForm(body []byte) (Value, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return Value{}, err
	}
	v := Value{Kind: Object}
	for key, values := range form {
		for _, value := range values {
			v.Members = append(v.Members, fieldOf(key, value))
		}
	}
	return v, nil
}

// parseMultipart reads multipart/form-data (RFC 7578) whose first line is its
// boundary. It must be whole, up to the closing boundary.
func parseMultipart(body []byte) (Value, error) {
	line, _, _ := bytes.Cut(body, []byte("\n"))
	boundary := bytes.TrimRight(line[len("--"):], " \t\r")
	if len(boundary) == 0 || len(boundary) > 70 { // RFC 2046, section 5.1.1
		return Value{}, errNotFields
	}
	// The reader takes an end amid a part's header for the end of the parts.
	if !bytes.Contains(body, slices.Concat([]byte("\n--"), boundary, []byte("--"))) {
		return Value{}, io.ErrUnexpectedEOF
	}
	v := Value{Kind: Object}
	reader := multipart.NewReader(bytes.NewReader(body), string(boundary))
	for {
		part, err := reader.NextRawPart()
		if err == io.EOF {
			return v, nil
		} else if err != nil {
			return Value{}, err
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return Value{}, err
		}
		v.Members = append(v.Members, fieldOf(part.FormName(), string(value)))
	}
}

// fieldOf is a field of a form.
func fieldOf(key, text string) Member {
	valid := func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
	return Member{Key: valid(key), Value: Value{Kind: String, Text: valid(text)}}
}
