package apptest

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/inbound"
	"baoco/app/provider"
)

// Transfer is a transaction that a provider sends. Zero fields get the values of a default
// transfer.
type Transfer struct {
	ID, Number, Account, Gateway, Direction, Date, Content string
	Amount                                                 int64
}

const (
	SomeAccount = "19354957"
	SomeDate    = "2025-10-14 10:59:30"
)

func (x Transfer) filled() Transfer {
	x.ID, x.Account, x.Gateway = cmp.Or(x.ID, "3521"), cmp.Or(x.Account, SomeAccount), cmp.Or(x.Gateway, "ACB")
	x.Direction, x.Date = cmp.Or(x.Direction, "IN"), cmp.Or(x.Date, SomeDate)
	x.Content, x.Amount = cmp.Or(x.Content, "NAPTIEN MOMO"), cmp.Or(x.Amount, 200000)
	return x
}

func (x Transfer) Native() string {
	x = x.filled()
	return Quoted(map[string]any{
		"id": x.ID, "gateway": x.Gateway, "transactionDate": x.Date, "transactionNumber": x.Number, "accountNumber": x.Account,
		"content": x.Content, "transferType": x.Direction, "transferAmount": x.Amount,
	})
}

func (x Transfer) Sepay() string {
	x = x.filled()
	return Quoted(map[string]any{
		"id": x.ID, "gateway": x.Gateway, "transactionDate": x.Date, "referenceCode": x.Number, "accountNumber": x.Account,
		"content": x.Content, "transferType": strings.ToLower(x.Direction), "transferAmount": x.Amount, "code": nil,
	})
}

func Quoted(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Batch returns the body of a native call with elements in JSON.
func Batch(elements ...string) string {
	return `{"transactions":[` + strings.Join(elements, ",") + `]}`
}

// ReadNative reads the body of a native call.
func ReadNative(body []byte) []inbound.Incoming {
	zone, err := time.LoadLocation(app.DefaultZone)
	if err != nil {
		panic(err)
	}
	return provider.Read(inbound.Source{Provider: "native"}, app.ChannelCall, body, time.Now(), zone).Elements
}

func VietQRBody(pairs ...any) string {
	v := map[string]any{
		"transactionid": "b9a2c8a1-5d3e-4a51-9a0f-2f2a4f1b0c11", "transactiontime": int64(1760414370000),
		"referencenumber": "FT253146879VN", "amount": 200000,
		"content": "VQR26044A5CCKYZA DH123", "bankaccount": SomeAccount, "transType": "C", "orderId": "DH123", "terminalCode": "", "sign": "",
	}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == nil {
			delete(v, pairs[i].(string))
			continue
		}
		v[pairs[i].(string)] = pairs[i+1]
	}
	return Quoted(v)
}

// Forms returns fields in the two encodings of an HTML form.
func Forms(fields map[string]string) (form, multipart string) {
	values := url.Values{}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		values.Set(key, fields[key])
		multipart += "--x1\r\nContent-Disposition: form-data; name=\"" + key + "\"\r\n\r\n" + fields[key] + "\r\n"
	}
	return values.Encode(), multipart + "--x1--\r\n"
}

// Mapped reads pairs of field and path.
func Mapped(pairs ...string) map[string]string {
	fields := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		fields[pairs[i]] = pairs[i+1]
	}
	return fields
}

var FlatMap = Mapped("id", "id", "amount", "amount", "account", "acc", "type", "type", "time", "time", "content", "text", "number",
	"ref", "gateway", "bank")

// Amounts are literals of JSON and their values in VND; 0: no amount, -1: not JSON.
var Amounts = []struct {
	Literal string
	VND     int64
}{
	{"1", 1}, {"150000", 150000}, {"150000.0", 150000}, {"1.5e5", 150000}, {"1e5", 100000}, {"1E5", 100000}, {"1e+5", 100000},
	{"100000.0", 100000}, {"15000000e-2", 150000}, {"0.000001e11", 100000}, {"9999999999999", 9999999999999},
	{"9.999999999999e12", 9999999999999},
	{"1e12", 1000000000000}, {"9999999999999.000000000000000000000000000000", 9999999999999}, {"1" + strings.Repeat("0", 400) + "e-400", 1},
	{"0", 0}, {"-0", 0}, {"0.0", 0}, {"0e9", 0}, {"-5", 0}, {"-200000", 0}, {"100000.5", 0}, {"0.5", 0}, {"1e-1", 0},
	{"1.00000000000000000001", 0},
	{"9999999999999.5", 0}, {"10000000000000", 0}, {"1e13", 0}, {"9007199254740993", 0}, {"9223372036854775807", 0},
	{"9223372036854775808", 0},
	{"18446744073709751616", 0}, {"1" + strings.Repeat("0", 400), 0}, {"1e400", 0}, {"1e-400", 0}, {"1e99999999999999999999", 0},
	{"0e99999999999999999999", 0},
	{"1e-99999999999999999999", 0}, {"null", 0}, {"true", 0}, {"false", 0}, {`""`, 0}, {`" "`, 0}, {`"abc"`, 0}, {`"1,000"`, 0},
	{`"1.000.000"`, 0}, {`"0x10"`, 0},
	{`"-5"`, 0}, {`"100000.5"`, 0}, {`"NaN"`, 0}, {`"Infinity"`, 0}, {`"１００"`, 0}, {`"100000đ"`, 0}, {"[]", 0}, {"[100000]", 0}, {"{}", 0},
	{`{"value":100000}`, 0},
	{"NaN", -1}, {"Infinity", -1}, {"0x10", -1}, {"01", -1}, {"+5", -1}, {".5", -1}, {"5.", -1}, {"1e", -1}, {"1_000", -1}, {"", -1},
	{"100000L", -1}, {"'100000'", -1},
}
