package provider

import (
	"errors"
	"regexp"
	"strings"

	"baoco/app"
	"baoco/app/exactjson"
	"baoco/app/inbound"
)

// parseSigned reads the object that is signed by its fields. It refuses what
// could be read otherwise than it was signed: a key that comes twice at any
// level, and text that isn't UTF-8. The body isn't verified yet, so nothing is built
// of one with many values.
func parseSigned(body []byte) (exactjson.Value, inbound.Refusal) {
	if exactjson.Count(body) > maxNoticeValues {
		return exactjson.Value{},
			refusalf(inbound.RefusalMalformed, "The body has more than %d values.", "Nội dung có hơn %d giá trị.", maxNoticeValues)
	}
	v, err := exactjson.ParseStrict(body)
	switch {
	case errors.Is(err, exactjson.ErrRepeated):
		return v, refusal(inbound.RefusalRepeated, "A field appears more than once in the body.", "Có trường xuất hiện nhiều lần trong nội dung.")
	case err != nil || v.Kind != exactjson.Object:
		return v, refusal(inbound.RefusalMalformed, "The body is not a JSON object in UTF-8.",
			"Nội dung không phải là một đối tượng JSON mã hoá UTF-8.")
	}
	return v, inbound.Refusal{}
}

// signedFields are the fields of a signature over k=v, joined with &, in the
// order in which they are signed. Such a body is read through them alone, so that
// only signed values are read.
type signedFields []signedField

type signedField struct{ key, text string }

// signedText is the text that is signed. Nothing in it is escaped.
func (f signedFields) signedText() []byte {
	pairs := make([]string, len(f))
	for i, field := range f {
		pairs[i] = field.key + "=" + field.text
	}
	return []byte(strings.Join(pairs, "&"))
}

// get is the text of a field; empty where it is missing, as it is signed. value is it as a JSON
// string.
func (f signedFields) get(key string) string {
	for _, field := range f {
		if field.key == key {
			return field.text
		}
	}
	return ""
}

func (f signedFields) value(key string) exactjson.Value {
	return exactjson.Value{Kind: exactjson.String, Text: f.get(key)}
}

// anotherField matches the beginning of a further field.
var anotherField = regexp.MustCompile(`&[A-Za-z_][A-Za-z0-9_]*=`)

// ambiguous is the fault of fields one of whose texts looks like several: the
// same signature would be right for another split, with another amount perhaps.
func (f signedFields) ambiguous() *app.FieldError {
	for _, field := range f {
		if anotherField.MatchString(field.text) {
			return &app.FieldError{Field: field.key, Text: app.Text{
				EN: "holds an & and a = by which it could be several fields under the same signature",
				VI: "chứa & và = nên cùng một chữ ký có thể ứng với nhiều trường",
			}}
		}
	}
	return nil
}

// parseSignedBody reads a body whose signature stands in the body itself, under
// key.
func parseSignedBody(body []byte, key string) (v exactjson.Value, signature string, why inbound.Refusal) {
	v, why = parseSigned(body)
	if why.Code != "" {
		return v, "", why
	}
	switch value, found := v.Lookup(key); {
	case !found || value.Kind == exactjson.Null:
		why = refusalf(inbound.RefusalMissing, "The field %s is missing.", "Thiếu trường %s.", key)
	case value.Kind != exactjson.String:
		why = refusalf(inbound.RefusalMalformed, "The field %s is not a string.", "Trường %s không phải là chuỗi ký tự.", key)
	default:
		signature = value.Text
	}
	return v, signature, why
}
