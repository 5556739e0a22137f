package provider

import (
	"bytes"
	"crypto/sha512"
	"net/http"
	"strings"

	"baoco/app"
	"baoco/app/exactjson"
)

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
		return Refusalf(app.RefusalMalformed, "%s does not consist of t= with a timestamp in digits and v1= with a signature.", "%s không có dạng t= kèm thời gian bằng chữ số và v1= kèm chữ ký.", name)
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
