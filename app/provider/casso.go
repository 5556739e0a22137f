package provider

import (
	"bytes"
	"crypto/sha512"
	"net/http"
	"strings"
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

// cassoV2 reads Casso's second webhook: one transaction, signed by its
// fields. An old timestamp may be one that is tried again, so it is accepted.
var cassoV2 = Kind{
	kind: app.ProviderKind{
		Provider: "casso-v2", Auths: []app.Auth{app.AuthHMAC}, DefaultAuth: app.AuthHMAC, CatchUp: true,
		Setup: app.Text{
			EN: "1. At casso.vn, open Connections > Integrations, click Add integration and choose Webhook V2. 2. Enter this URL and choose the bank accounts. 3. The security key there and the secret here must match: if Casso gives you a key, use it as this source’s secret.",
			VI: "1. Tại casso.vn, mở Kết nối > Tích hợp, bấm Thêm tích hợp rồi chọn Webhook V2. 2. Nhập URL này và chọn ngân hàng nhận webhook. 3. Key bảo mật bên đó và secret bên này phải giống nhau: nếu Casso cấp key, hãy dùng key đó làm secret của nguồn này.",
		},
	},
	Verify: verifyCassoV2,
	read:   readCassoV2,
}

// cassoEscapes are what the sample programs of Casso in PHP, Go and Python
// escape in the JSON that is signed; those in JavaScript, C# and Java escape
// only what JSON must. Each of these texts reads back as the same values, so a
// signature over one of them is over the body's values too.
var cassoEscapes = []func(r rune) bool{
	func(r rune) bool { return r == '/' || r > 0x7f },
	func(r rune) bool { return r == '<' || r == '>' || r == '&' || r == 0x2028 || r == 0x2029 },
	func(r rune) bool { return r > 0x7f },
}

// verifyCassoV2 checks "t=<milliseconds>,v1=<hexadecimal digits>": the
// HMAC-SHA512 over t, a dot and the JSON of the whole body with its keys sorted
// at every level (github.com/CassoHQ/casso-webhook-v2-verify-signature).
func verifyCassoV2(in Call, h http.Header) app.Refusal {
	const name = "X-Casso-Signature"
	header, why := oneHeader(h, name)
	if why.Code != "" {
		return why
	}
	stamp, signature, found := strings.Cut(header, ",v1=")
	stamp, begins := strings.CutPrefix(stamp, "t=")
	if !found || !begins || !exactjson.IsInteger(stamp) {
		return refusalf(app.RefusalMalformed, "%s does not consist of t= with a timestamp in digits and v1= with a signature.", "%s không có dạng t= kèm thời gian bằng chữ số và v1= kèm chữ ký.", name)
	}
	v, why := ParseSigned(in.Body)
	if why.Code != "" {
		return why
	}
	text := exactjson.AppendJS(nil, exactjson.SortedMembers(exactjson.WithJSNumbers(v), true))
	why = checkHexHMAC(name, signature, sha512.New, in.Source.Secret, []byte(stamp+"."), text)
	for _, escapes := range cassoEscapes {
		if why.Code == app.RefusalSignature && bytes.ContainsFunc(text, escapes) {
			why = checkHexHMAC(name, signature, sha512.New, in.Source.Secret, []byte(stamp+"."), exactjson.EscapeJSON(text, escapes))
		}
	}
	return why
}

func readCassoV2(in Call) Reading {
	v, err := exactjson.Parse(in.Body)
	if err != nil {
		return Reading{Elements: notJSON()}
	}
	v = exactjson.WithJSNumbers(v) // which is what was signed
	if fault := cassoError(v); fault != nil {
		return Reading{Elements: []app.Incoming{{Fault: fault}}, Fault: true}
	}
	data := v.Get("data")
	if data.Kind != exactjson.Object {
		return Reading{Elements: []app.Incoming{unreadable("data", "must be a JSON object", "phải là một đối tượng JSON")}}
	}
	if id := data.Get("id"); id.Kind == exactjson.Number && id.Text == "0" {
		return Reading{nothing: onlyATest}
	}
	return Reading{Elements: []app.Incoming{readCassoElement(data, cassoV2Keys, in.Zone)}}
}
