package provider

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/exactjson"
	"baoco/app/inbound"
)

// generic reads any JSON: where its fields stand is said when the
// source is added.
var generic = Kind{
	ProviderKind: inbound.ProviderKind{
		Provider: "generic", Name: "JSON", Group: inbound.OwnPrograms,
		About: app.Text{EN: "Any JSON: you define the field paths", VI: "JSON bất kỳ: bạn tự khai báo vị trí các trường"},
		Auths: []inbound.Auth{inbound.AuthBearer, inbound.AuthToken}, DefaultAuth: inbound.AuthBearer,
		Options: []inbound.SourceOption{inbound.OptionMap, inbound.OptionHeader}, Check: checkGeneric,
		Setup: func(s inbound.Source) app.Text {
			header := app.Text{EN: "Authorization: Bearer with the secret", VI: "Authorization: Bearer và khoá bí mật"}
			if s.Auth == inbound.AuthToken {
				header = app.Textf("%s, with the secret alone", "%s, chỉ chứa khoá bí mật", s.Options.Header)
			}
			return app.Text{
				EN: "1. Have the sender POST its JSON to this URL. 2. Have it send the header " + header.EN +
					". 3. Send a test call and check it in the inbound log.",
				VI: "1. Cho bên gửi POST JSON tới URL này. 2. Gửi kèm header " + header.VI + ". 3. Gọi thử một lần rồi xem lại trong lịch sử nhận.",
			}
		},
	},
	Verify: verifySecretHeader,
	read:   readGeneric,
	many:   true,
}

// verifySecretHeader is for what can send a header that doesn't change: the
// secret as a Bearer token, or alone in the header of the source's choice.
func verifySecretHeader(in Call, h http.Header) inbound.Refusal {
	if in.Source.Auth == inbound.AuthToken {
		return checkHeader(h, in.Source.Options.Header, in.Source.Secret)
	}
	return checkCredential(h, "Bearer", in.Source.Secret)
}

// checkSecretHeader is the Check of what verifySecretHeader verifies.
func checkSecretHeader(in inbound.SourceAdd) error {
	if in.Auth == inbound.AuthToken && in.Options.Header == "" {
		return app.InvalidField("header", "is required with auth token", "là bắt buộc với auth token")
	}
	return nil
}

// genericFields are the names under which a field can be mapped: its own, and
// those of the native format and of the API.
var genericFields = map[string]string{
	"list": "list", "id": "id",
	"amount": "amount", "transferAmount": "amount",
	"account": "account", "accountNumber": "account",
	"type": "type", "transferType": "type", "direction": "type",
	"number": "number", "transactionNumber": "number",
	"gateway": "gateway", "bank": "gateway",
	"content": "content",
	"time":    "time", "transactionDate": "time", "date": "time",
}

// mapping reads what is mapped, by field.
func mapping(fields map[string]string) (map[string]exactjson.Path, error) {
	var v app.Invalid
	paths := map[string]exactjson.Path{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		field, known := genericFields[name]
		p, ok := exactjson.ParsePath(fields[name])
		switch {
		case !known:
			v.Merge(mapFault("%s is no field; there are id, amount, account, type, content, number, time, gateway and list",
				"không có trường %s; chỉ có id, amount, account, type, content, number, time, gateway và list", name))
		case !ok:
			v.Merge(mapFault(`%s is no path; one is data.sum, items.0.sum, items[0].sum or "a.b".sum`,
				`%s không phải đường dẫn; ví dụ data.sum, items.0.sum, items[0].sum hoặc "a.b".sum`, fields[name]))
		case paths[field] != nil:
			v.Merge(mapFault("%s is given twice, under two names", "%s bị nêu hai lần dưới hai tên", field))
		}
		paths[field] = p
	}
	return paths, v.Err()
}

func mapFault(en, vi string, args ...any) error {
	text := app.Textf(en, vi, args...)
	return app.InvalidField("map", text.EN, text.VI)
}

func checkGeneric(in inbound.SourceAdd) error {
	paths, err := mapping(in.Options.Map)
	switch {
	case err != nil:
	case paths["amount"] == nil:
		err = mapFault("needs amount", "phải có amount")
	case paths["id"] == nil && paths["number"] == nil:
		err = mapFault("needs id, or number where each has its own", "phải có id, hoặc number nếu mỗi giao dịch có một mã riêng")
	case paths["account"] == nil && in.BankAccountID == 0:
		err = mapFault("needs account, unless the source is for one bank account", "phải có account, trừ khi nguồn chỉ dành cho một tài khoản")
	}
	var v app.Invalid
	v.Merge(checkSecretHeader(in))
	v.Merge(err)
	return v.Err()
}

func readGeneric(in Call) inbound.Reading {
	paths, err := mapping(in.Source.Options.Map)
	if err != nil {
		return inbound.Reading{Elements: []inbound.Incoming{unreadable("map", "could not be read", "không đọc được")}}
	}
	body, err := exactjson.Parse(in.Body)
	if err != nil {
		return inbound.Reading{Elements: notJSON()}
	}
	items := []exactjson.Value{body}
	if p := paths["list"]; p != nil {
		list, once := body.At(p)
		if list.Kind != exactjson.Array || !once {
			return inbound.Reading{Elements: notArray(in.Source.Options.Map["list"])}
		}
		items = list.Items
	} else if body.Kind == exactjson.Array {
		items = body.Items
	}
	elements := make([]inbound.Incoming, len(items))
	for i, item := range items {
		elements[i] = readGenericElement(item, paths, in.Zone)
	}
	return inbound.Reading{Elements: elements}
}

// genericElement is one transaction in a generic body, and where its fields
// stand.
type genericElement struct {
	exactjson.Value
	paths map[string]exactjson.Path
}

// readGenericElement reads one transaction. Only the money fields can be at
// fault. What is mapped must be there: an account that is missing is not the
// source's only one.
func readGenericElement(v exactjson.Value, paths map[string]exactjson.Path, zone *time.Location) inbound.Incoming {
	if v.Kind != exactjson.Object && v.Kind != exactjson.Array {
		return notObject(FaultElement)
	}
	x := genericElement{v, paths}
	e := inbound.Incoming{Gateway: x.field("gateway").Str(), Content: x.field("content").Word()}
	setDate(&e, x.field("time"), zone)
	e.Fault = firstFault(
		x.repeated("id", "amount", "account", "type", "number", "gateway"),
		readWord("id", x.field("id"), &e.EventID),
		readWord("number", x.field("number"), &e.Number),
		readWord("account", x.field("account"), &e.AccountNumber),
		x.amount(&e.Amount, &e.Type),
	)
	e.EventID = cmp.Or(e.EventID, e.Number)
	switch {
	case e.Fault != nil:
	case e.EventID == "":
		e.Fault = &app.FieldError{Field: "id", Text: inbound.IDRule}
	case e.AccountNumber == "" && paths["account"] != nil:
		e.Fault = &app.FieldError{Field: "account", Text: required}
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
			return &app.FieldError{Field: name, Text: repeated}
		}
	}
	return nil
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
			return &app.FieldError{Field: "amount",
				Text: app.Text{EN: "is negative, but the type says money in", VI: "là số âm trong khi type là tiền vào"}}
		}
		*direction = named
	}
	*amount = max(n, -n)
	return nil
}
