package provider

import (
	"time"

	"baoco/app"
	"baoco/app/exactjson"
	"baoco/app/inbound"
)

// This file reads the fields of a JSON body, for all kinds. A field that holds
// something that it may not is a fault, and never becomes another value.

// parseObject reads a body that must be a JSON object. Of another body it gives
// the one element that stands for it, which has a fault.
func parseObject(body []byte) (v exactjson.Value, fault []inbound.Incoming) {
	v, err := exactjson.Parse(body)
	switch {
	case err != nil:
		return v, notJSON()
	case v.Kind != exactjson.Object:
		return v, []inbound.Incoming{notObject("body")}
	}
	return v, nil
}

func readList(in Call, key string, element func(v exactjson.Value, zone *time.Location) inbound.Incoming) []inbound.Incoming {
	v, fault := parseObject(in.Body)
	if fault != nil {
		return fault
	}
	list := v.Get(key)
	if list.Kind != exactjson.Array || v.Times(key) != 1 {
		return notArray(key)
	}
	elements := make([]inbound.Incoming, len(list.Items))
	for i, item := range list.Items {
		elements[i] = readElement(item, in.Zone, element)
	}
	return elements
}

func readElement(item exactjson.Value, zone *time.Location,
	read func(v exactjson.Value, zone *time.Location) inbound.Incoming) inbound.Incoming {
	if item.Kind != exactjson.Object {
		return notObject(FaultElement)
	}
	return read(item, zone)
}

func firstFault(faults ...*app.FieldError) *app.FieldError {
	for _, f := range faults {
		if f != nil {
			return f
		}
	}
	return nil
}

// missing is the fault of a field that has no text.
func missing(field, text string) *app.FieldError {
	if text != "" {
		return nil
	}
	return &app.FieldError{Field: field, Text: required}
}

var repeated = app.Text{EN: "is given more than once", VI: "bị lặp lại"}

func repeatedKey(v exactjson.Value, keys []string) *app.FieldError {
	for _, key := range keys {
		if v.Times(key) > 1 {
			return &app.FieldError{Field: key, Text: repeated}
		}
	}
	return nil
}

// readWord reads the value of a field: an optional string, or an integer as its digits.
// A blank one is none.
func readWord(key string, value exactjson.Value, into *string) *app.FieldError {
	switch value.Kind {
	case exactjson.Null:
		return nil
	case exactjson.String:
		if !inbound.BlankID(value.Text) {
			*into = value.Text
		}
		return nil
	case exactjson.Number:
		if app.AllDigits(value.Text) {
			*into = value.Text
			return nil
		}
	}
	return &app.FieldError{Field: key, Text: app.Text{EN: "must be a string or an integer", VI: "phải là chuỗi ký tự hoặc số nguyên"}}
}

func readString(v exactjson.Value, key string, into *string) *app.FieldError {
	value := v.Get(key)
	if value.Kind != exactjson.String || value.Text == "" {
		return &app.FieldError{Field: key, Text: app.Text{EN: "must be a string that is not empty", VI: "phải là chuỗi ký tự không rỗng"}}
	}
	*into = value.Text
	return nil
}

func readDirection(v exactjson.Value, key string, into *app.Direction) *app.FieldError {
	switch d := app.Direction(v.Get(key).Str()); d {
	case app.In, app.Out:
		*into = d
		return nil
	}
	return &app.FieldError{Field: key, Text: app.Text{EN: "must be IN or OUT", VI: "phải là IN hoặc OUT"}}
}

// readAmount reads a positive amount from a JSON number, and from nothing
// else.
func readAmount(v exactjson.Value, key string, into *int64) *app.FieldError {
	value := v.Get(key)
	n, err := app.ParseAmount(value.Text)
	if value.Kind != exactjson.Number || err != nil || n < 1 {
		return &app.FieldError{Field: key, Text: app.AmountRule}
	}
	*into = n
	return nil
}

// setDate dates e by a string or number; a date is never a fault.
func setDate(e *inbound.Incoming, value exactjson.Value, zone *time.Location) {
	switch value.Kind {
	case exactjson.Null, exactjson.String, exactjson.Number:
		e.SetDate(value.Word(), zone)
	default:
		e.DateFlaw = app.DateImpossible
	}
}

// readAmountWord reads the value of a field: a positive amount that a provider may write
// as a string.
func readAmountWord(key string, value exactjson.Value, into *int64) *app.FieldError {
	n, err := parseAmountWord(value)
	if err != nil || n < 1 {
		return &app.FieldError{Field: key, Text: app.AmountFault(err)}
	}
	*into = n
	return nil
}

// readBalance reads the balance under the first of keys that is there. What
// can't be read exactly is no balance, and never a fault of the transaction.
func readBalance(v exactjson.Value, keys ...string) int64 {
	for _, key := range keys {
		if v.Times(key) == 0 {
			continue
		}
		balance, err := parseAmountWord(v.Get(key))
		if err != nil || v.Times(key) > 1 {
			return 0
		}
		return balance
	}
	return 0
}

// parseAmountWord reads an amount that may be negative from a number or a
// string.
func parseAmountWord(v exactjson.Value) (int64, error) {
	switch v.Kind {
	case exactjson.Number:
		return app.ParseAmount(v.Text)
	case exactjson.String:
		return app.ParseAmountText(v.Text)
	}
	return 0, app.ErrAmountSyntax
}
