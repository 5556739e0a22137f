package provider

import (
	"strings"
	"time"

	"baoco/app"
	"baoco/app/exactjson"
)

// genericElement is one transaction in a generic body, and where its fields
// stand.
type genericElement struct {
	exactjson.Value
	paths map[string]exactjson.Path
}

// readGenericElement reads one transaction. Only the money fields can be at
// fault. What is mapped must be there: an account that is missing is not the
// source's only one.
func readGenericElement(v exactjson.Value, paths map[string]exactjson.Path, zone *time.Location) app.Incoming {
	if v.Kind != exactjson.Object && v.Kind != exactjson.Array {
		return unreadable(FaultElement, "must be a JSON object", "phải là một đối tượng JSON")
	}
	x := genericElement{v, paths}
	e := app.Incoming{Gateway: x.field("gateway").Str(), Content: x.field("content").Word()}
	setDate(&e, exactjson.Value{Kind: exactjson.Object, Members: []exactjson.Member{{Key: "time", Value: x.field("time")}}}, "time", zone)
	e.Fault = firstFault(
		x.repeated("id", "amount", "account", "type", "number", "gateway"),
		x.word("id", &e.EventID),
		x.word("number", &e.Number),
		x.word("account", &e.AccountNumber),
		x.amount(&e.Amount, &e.Type),
	)
	if e.EventID == "" {
		e.EventID = e.Number
	}
	switch {
	case e.Fault != nil:
	case e.EventID == "":
		e.Fault = &app.FieldError{Field: "id", Text: app.IDRule}
	case e.AccountNumber == "" && paths["account"] != nil:
		e.Fault = &app.FieldError{Field: "account", Text: app.Text{EN: "is required", VI: "là bắt buộc"}}
	}
	return e
}

// field is the value of a field; null where it isn't mapped or isn't there.
func (x genericElement) field(name string) exactjson.Value {
	value, _ := x.At(x.paths[name])
	if x.paths[name] == nil {
		value = exactjson.Value{Kind: exactjson.Null}
	}
	return value
}

func (x genericElement) repeated(names ...string) *app.FieldError {
	for _, name := range names {
		if _, once := x.At(x.paths[name]); !once {
			return &app.FieldError{Field: name, Text: app.Text{EN: "is given more than once", VI: "bị lặp lại"}}
		}
	}
	return nil
}

// word reads an optional string, or an integer as its digits.
func (x genericElement) word(name string, into *string) *app.FieldError {
	return readWord(exactjson.Value{Kind: exactjson.Object, Members: []exactjson.Member{{Key: name, Value: x.field(name)}}}, name, into)
}

// directions are the words for a direction, in lower case.
var directions = map[string]app.Direction{
	"in": app.In, "credit": app.In, "c": app.In, "cr": app.In, "+": app.In, "money_in": app.In, "tien vao": app.In, "tiền vào": app.In,
	"out": app.Out, "debit": app.Out, "d": app.Out, "dr": app.Out, "-": app.Out, "money_out": app.Out, "tien ra": app.Out, "tiền ra": app.Out,
}

// amount reads amount and direction. A minus sign means OUT; where a type is
// mapped as well, the two must agree.
func (x genericElement) amount(amount *int64, direction *app.Direction) *app.FieldError {
	n, err := parseAmountWord(x.field("amount"))
	if err != nil {
		return &app.FieldError{Field: "amount", Text: app.AmountFault(err)}
	}
	*direction = app.In
	if n < 0 {
		*direction = app.Out
	}
	if x.paths["type"] != nil {
		named, known := directions[strings.ToLower(strings.TrimSpace(x.field("type").Str()))]
		if !known {
			return &app.FieldError{Field: "type", Text: app.Text{
				EN: "must be in or out, credit or debit, C or D, CR or DR, + or -, money_in or money_out, tien vao or tien ra",
				VI: "phải là in hoặc out, credit hoặc debit, C hoặc D, CR hoặc DR, + hoặc -, money_in hoặc money_out, tien vao hoặc tien ra",
			}}
		}
		if n < 0 && named == app.In {
			return &app.FieldError{Field: "amount", Text: app.Text{EN: "is negative, but the type says money in", VI: "là số âm trong khi type là tiền vào"}}
		}
		*direction = named
	}
	*amount = max(n, -n)
	return nil
}
