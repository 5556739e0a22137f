package web

import (
	"time"

	"baoco/app"
)

// This file has what the adapters read the fields of a JSON body with. A field
// that says something else than it may is a fault, never another value.

// readList reads the elements of the array that stands under key in an object.
func readList(in inbound, key string, element func(v jsonValue, zone *time.Location) app.Incoming) []app.Incoming {
	v, err := parseJSON(in.body)
	if err != nil {
		return notJSON()
	}
	if v.kind != jsonObject {
		return []app.Incoming{unreadable("body", "must be a JSON object", "phải là một đối tượng JSON")}
	}
	list := v.get(key)
	if list.kind != jsonArray || v.times(key) != 1 {
		return []app.Incoming{unreadable(key, "must be an array, given once", "phải là một mảng, chỉ xuất hiện một lần")}
	}
	elements := make([]app.Incoming, len(list.items))
	for i, item := range list.items {
		elements[i] = element(item, in.zone)
		if item.kind != jsonObject {
			elements[i].Fault.Field = faultElement
		}
	}
	return elements
}

func firstFault(faults ...*app.FieldError) *app.FieldError {
	for _, f := range faults {
		if f != nil {
			return f
		}
	}
	return nil
}

func repeatedKey(v jsonValue, keys []string) *app.FieldError {
	for _, key := range keys {
		if v.times(key) > 1 {
			return &app.FieldError{Field: key, Text: app.Text{EN: "is given more than once", VI: "bị lặp lại"}}
		}
	}
	return nil
}

// readWord reads an optional string, or an integer as its digits. A blank one
// is none.
func readWord(v jsonValue, key string, into *string) *app.FieldError {
	switch value := v.get(key); value.kind {
	case jsonNull:
		return nil
	case jsonString:
		if !app.BlankID(value.text) {
			*into = value.text
		}
		return nil
	case jsonNumber:
		if isInteger(value.text) {
			*into = value.text
			return nil
		}
	}
	return &app.FieldError{Field: key, Text: app.Text{EN: "must be a string or an integer", VI: "phải là chuỗi ký tự hoặc số nguyên"}}
}

func readString(v jsonValue, key string, into *string) *app.FieldError {
	value := v.get(key)
	if value.kind != jsonString || value.text == "" {
		return &app.FieldError{Field: key, Text: app.Text{EN: "must be a string that is not empty", VI: "phải là chuỗi ký tự không rỗng"}}
	}
	*into = value.text
	return nil
}

func readDirection(v jsonValue, key string, into *app.Direction) *app.FieldError {
	switch d := app.Direction(v.get(key).str()); d {
	case app.In, app.Out:
		*into = d
		return nil
	}
	return &app.FieldError{Field: key, Text: app.Text{EN: "must be IN or OUT", VI: "phải là IN hoặc OUT"}}
}

// readAmount reads a positive amount from a JSON number, and from nothing
// else.
func readAmount(v jsonValue, key string, into *int64) *app.FieldError {
	value := v.get(key)
	n, err := app.ParseAmount(value.text)
	if value.kind != jsonNumber || err != nil || n < 1 {
		return &app.FieldError{Field: key, Text: app.AmountRule}
	}
	*into = n
	return nil
}

// setDate dates e by the string or number under key; a date is never a fault.
func setDate(e *app.Incoming, v jsonValue, key string, zone *time.Location) {
	switch value := v.get(key); value.kind {
	case jsonNull, jsonString, jsonNumber:
		e.SetDate(value.word(), zone)
	default:
		e.DateFlaw = app.DateImpossible
	}
}

// readAccountWord reads an account number that a provider may write as a
// number.
func readAccountWord(v jsonValue, key string, into *string) *app.FieldError {
	if *into = v.get(key).word(); *into == "" {
		return &app.FieldError{Field: key, Text: required}
	}
	return nil
}

// readAmountWord reads a positive amount that a provider may write as a
// string.
func readAmountWord(v jsonValue, key string, into *int64) *app.FieldError {
	n, err := parseAmountWord(v.get(key))
	if err != nil || n < 1 {
		return &app.FieldError{Field: key, Text: app.AmountFault(err)}
	}
	*into = n
	return nil
}

// parseAmountWord reads an amount that may be negative from a number or a
// string.
func parseAmountWord(v jsonValue) (int64, error) {
	switch v.kind {
	case jsonNumber:
		return app.ParseAmount(v.text)
	case jsonString:
		return app.ParseAmountText(v.text)
	}
	return 0, app.ErrAmountSyntax
}
