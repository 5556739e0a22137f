package web

import (
	"strings"

	"baoco/app"
)

const providerVietQR app.Provider = "vietqr"

// vietQRAdapter reads VietQR.vn's transaction-sync (api.vietqr.vn). VietQR
// fetches a token first: see provider_vietqr_token.go.
var vietQRAdapter = adapter{
	kind: app.ProviderKind{
		Provider: providerVietQR, Auths: []app.Auth{app.AuthBasic}, DefaultAuth: app.AuthBasic, Options: []app.SourceOption{app.OptionUsername},
		Setup: app.Text{
			EN: "1. At VietQR.vn, create a merchant connection with this URL as its base. 2. Enter the username, and the secret as the password. 3. Transfer a small amount and check it in the inbound log. (VietQR’s Test Callback is recorded like a real payment.)",
			VI: "1. Tại VietQR.vn, khai báo kết nối merchant với URL này làm địa chỉ gốc. 2. Nhập tên đăng nhập, và secret làm mật khẩu. 3. Chuyển thử một khoản nhỏ rồi xem lại trong lịch sử nhận. (Test Callback của VietQR cũng được ghi nhận như một khoản tiền thật.)",
		},
	},
	verify: verifyVietQR,
	read:   readVietQR,
}

// readVietQR reads one transaction. VietQR's documents write its keys in two
// ways, bankaccount and bankAccount, so their case doesn't count.
func readVietQR(in inbound) reading {
	body, err := parseJSON(in.body)
	if err != nil {
		return reading{elements: notJSON()}
	}
	if body.kind != jsonObject {
		return reading{elements: []app.Incoming{unreadable("body", "must be a JSON object", "phải là một đối tượng JSON")}}
	}
	v := jsonValue{kind: jsonObject}
	for _, m := range body.members {
		v.members = append(v.members, jsonMember{strings.ToLower(m.key), m.value})
	}
	e := app.Incoming{Content: v.get("content").word()}
	setDate(&e, v, "transactiontime", in.zone)
	e.Fault = firstFault(
		repeatedKey(v, []string{"transactionid", "referencenumber", "bankaccount", "transtype", "amount"}),
		readWord(v, "transactionid", &e.EventID),
		readWord(v, "referencenumber", &e.Number),
		readAccountWord(v, "bankaccount", &e.AccountNumber),
		readVietQRDirection(v, &e.Type),
		readAmountWord(v, "amount", &e.Amount),
	)
	if e.EventID == "" {
		e.EventID = e.Number
	}
	if e.EventID == "" && e.Fault == nil {
		e.Fault = &app.FieldError{Field: "transactionid", Text: app.Text{EN: "is required", VI: "là bắt buộc"}}
	}
	return reading{elements: []app.Incoming{e}}
}

func readVietQRDirection(v jsonValue, into *app.Direction) *app.FieldError {
	switch v.get("transtype").str() {
	case "C", "c":
		*into = app.In
	case "D", "d":
		*into = app.Out
	default:
		return &app.FieldError{Field: "transtype", Text: app.Text{EN: "must be C or D", VI: "phải là C hoặc D"}}
	}
	return nil
}
