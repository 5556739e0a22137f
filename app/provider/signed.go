package provider

import (
	"regexp"
	"strconv"
	"strings"

	"baoco/app"
	"baoco/app/exactjson"
)

// ParseSigned reads the object that is signed by its fields. It refuses what
// could be read otherwise than it was signed: a key that comes twice at any
// level, and text that isn't UTF-8. Lone surrogates are kept. Nobody knows yet
// whose the body is, so that nothing is built of one with many values.
func ParseSigned(body []byte) (exactjson.Value, app.Refusal) {
	if exactjson.Count(body) > maxNoticeValues {
		return exactjson.Value{}, refusalf(app.RefusalMalformed, "The body has more than %d values.", "Nội dung có hơn %d giá trị.", maxNoticeValues)
	}
	v, err := exactjson.ParseUTF8(body)
	if err != nil || v.Kind != exactjson.Object {
		return v, refusal(app.RefusalMalformed, "The body is not a JSON object in UTF-8.", "Nội dung không phải là một đối tượng JSON mã hoá UTF-8.")
	}
	if key, repeated := v.RepeatedAnywhere(); repeated {
		return v, refusalf(app.RefusalRepeated, "The field %s appears more than once in the body.", "Trường %s xuất hiện nhiều lần trong nội dung.", strconv.QuoteToASCII(app.CleanText(key, 40)))
	}
	return v, app.Refusal{}
}

// signedFields are the fields of a signature over k=v, joined with &, in the
// order in which they are signed. They are the only way to what such a body
// says, so that what is read is what was signed.
type signedFields []signedField

type signedField struct{ key, text string }

// Signed is what the signature is made over; nothing in it is escaped, and a
// lone surrogate is U+FFFD, as JavaScript hashes it.
func (f signedFields) Signed() []byte {
	pairs := make([]string, len(f))
	for i, field := range f {
		pairs[i] = field.key + "=" + field.text
	}
	return []byte(exactjson.ReplaceSurrogates(strings.Join(pairs, "&"), func(uint16) string { return "\ufffd" }))
}

// get is the text of a field; empty where it is missing, as it is signed.
func (f signedFields) get(key string) string {
	for _, field := range f {
		if field.key == key {
			return field.text
		}
	}
	return ""
}

// anotherField is what a further field would begin with.
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

func (f signedFields) requires(keys ...string) *app.FieldError {
	for _, key := range keys {
		if f.get(key) == "" {
			return &app.FieldError{Field: key, Text: required}
		}
	}
	return nil
}

// amount reads a positive amount.
func (f signedFields) amount(key string, into *int64) *app.FieldError {
	n, err := app.ParseAmountText(f.get(key))
	if err != nil || n < 1 {
		return &app.FieldError{Field: key, Text: app.AmountFault(err)}
	}
	*into = n
	return nil
}

// bodySignature is the signature that stands in the body itself.
func bodySignature(v exactjson.Value, key string) (string, app.Refusal) {
	switch signature, found := v.Lookup(key); {
	case !found || signature.Kind == exactjson.Null:
		return "", refusalf(app.RefusalMissing, "The field %s is missing.", "Thiếu trường %s.", key)
	case signature.Kind != exactjson.String:
		return "", refusalf(app.RefusalMalformed, "The field %s is not a string.", "Trường %s không phải là chuỗi ký tự.", key)
	default:
		return signature.Text, app.Refusal{}
	}
}
