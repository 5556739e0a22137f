package provider

import (
	"net/http"
	"time"

	"baoco/app"
	"baoco/app/exactjson"
)

// casso reads Casso's first webhook (developer.casso.vn): an array of
// transactions, authenticated by a token in a header of its own.
var casso = Kind{
	kind: app.ProviderKind{
		Provider: "casso", Auths: []app.Auth{app.AuthToken}, DefaultAuth: app.AuthToken, CatchUp: true,
		Setup: app.Text{
			EN: "1. At casso.vn, open Connections > Integrations, click Add integration and choose Webhook. 2. Choose the bank accounts, enter this URL, and enter the secret as the security key. 3. Click Test call, then save.",
			VI: "1. Tại casso.vn, mở Kết nối > Tích hợp, bấm Thêm tích hợp rồi chọn Webhook. 2. Chọn ngân hàng nhận webhook, nhập URL này và nhập secret vào ô Key bảo mật. 3. Bấm Gọi thử rồi lưu.",
		},
	},
	Verify: func(in Call, h http.Header) app.Refusal { return checkHeader(h, "Secure-Token", in.Source.Secret) },
	read:   readCasso,
	many:   true,
}

// cassoKeys are the keys that differ between the versions.
type cassoKeys struct {
	number, time string
	account      []string // the first that says something
}

var (
	cassoV1Keys = cassoKeys{"tid", "when", []string{"bank_sub_acc_id", "subAccId"}}
	cassoV2Keys = cassoKeys{"reference", "transactionDateTime", []string{"accountNumber"}}
)

func readCasso(in Call) Reading {
	if v, err := exactjson.Parse(in.Body); err == nil {
		if fault := cassoError(v); fault != nil {
			return Reading{Elements: []app.Incoming{{Fault: fault}}, Fault: true}
		}
	}
	return Reading{Elements: readList(in, "data", func(v exactjson.Value, zone *time.Location) app.Incoming {
		return readCassoElement(v, cassoV1Keys, zone)
	})}
}

// cassoError is Casso's own word that a call names no transaction.
func cassoError(v exactjson.Value) *app.FieldError {
	if e := v.Get("error"); e.Kind == exactjson.Null || e.Kind == exactjson.Number && exactjson.JSNumber(e.Text) == "0" {
		return nil
	}
	return &app.FieldError{Field: "error", Text: app.Text{EN: "is not 0: Casso reports an error of its own", VI: "khác 0: Casso báo lỗi từ phía họ"}}
}

// readCassoElement reads one transaction. A negative amount is money that went
// out.
func readCassoElement(v exactjson.Value, keys cassoKeys, zone *time.Location) app.Incoming {
	if v.Kind != exactjson.Object {
		return unreadable("body", "must be a JSON object", "phải là một đối tượng JSON")
	}
	e := app.Incoming{Type: app.In, Content: v.Get("description").Word(), Number: v.Get(keys.number).Word(), Gateway: cassoBank(v)}
	setDate(&e, v, keys.time, zone)
	accountKey := keys.account[0]
	for _, key := range keys.account[1:] {
		if v.Get(accountKey).Word() == "" {
			accountKey = key
		}
	}
	amount, err := parseAmountWord(v.Get("amount"))
	if e.Amount = amount; amount < 0 {
		e.Type, e.Amount = app.Out, -amount
	}
	e.Fault = firstFault(
		repeatedKey(v, append([]string{"id", "amount", "bankAbbreviation", "bankName", keys.number}, keys.account...)),
		readWord(v, "id", &e.EventID),
		readAccountWord(v, accountKey, &e.AccountNumber),
	)
	switch {
	case e.Fault != nil:
	case err != nil:
		e.Fault = &app.FieldError{Field: "amount", Text: app.AmountFault(err)}
	case e.EventID == "":
		e.Fault = &app.FieldError{Field: "id", Text: required}
	}
	return e
}

// cassoBank is the name of the account's bank that is known here, or whichever
// there is.
func cassoBank(v exactjson.Value) string {
	abbreviation, name := v.Get("bankAbbreviation").Str(), v.Get("bankName").Str()
	if _, known := app.FindBank(abbreviation); known || name == "" {
		return abbreviation
	}
	return name
}
