package provider

import (
	"strings"

	"baoco/app"
	"baoco/app/exactjson"
)

const VietQR app.Provider = "vietqr"

// VietQRAdapter reads VietQR.vn's transaction-sync (api.vietqr.vn). VietQR
// fetches a token first: see provider_vietqr_token.go.
var VietQRAdapter = Kind{
	kind: app.ProviderKind{
		Provider: VietQR, Auths: []app.Auth{app.AuthBasic}, DefaultAuth: app.AuthBasic, Options: []app.SourceOption{app.OptionUsername},
		Setup: app.Text{
			EN: "1. At VietQR.vn, create a merchant connection with this URL as its base. 2. Enter the username, and the secret as the password. 3. Transfer a small amount and check it in the inbound log. (VietQR’s Test Callback is recorded like a real payment.)",
			VI: "1. Tại VietQR.vn, khai báo kết nối merchant với URL này làm địa chỉ gốc. 2. Nhập tên đăng nhập, và secret làm mật khẩu. 3. Chuyển thử một khoản nhỏ rồi xem lại trong lịch sử nhận. (Test Callback của VietQR cũng được ghi nhận như một khoản tiền thật.)",
		},
	},
	Verify: verifyVietQR,
	read:   readVietQR,
}

// readVietQR reads one transaction. VietQR's documents write its keys in two
// ways, bankaccount and bankAccount, so their case doesn't count.
func readVietQR(in Call) Reading {
	body, err := exactjson.Parse(in.Body)
	if err != nil {
		return Reading{Elements: notJSON()}
	}
	if body.Kind != exactjson.Object {
		return Reading{Elements: []app.Incoming{unreadable("body", "must be a JSON object", "phải là một đối tượng JSON")}}
	}
	v := exactjson.Value{Kind: exactjson.Object}
	for _, m := range body.Members {
		v.Members = append(v.Members, exactjson.Member{Key: strings.ToLower(m.Key), Value: m.Value})
	}
	e := app.Incoming{Content: v.Get("content").Word()}
	setDate(&e, v, "transactiontime", in.Zone)
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
	return Reading{Elements: []app.Incoming{e}}
}

func readVietQRDirection(v exactjson.Value, into *app.Direction) *app.FieldError {
	switch v.Get("transtype").Str() {
	case "C", "c":
		*into = app.In
	case "D", "d":
		*into = app.Out
	default:
		return &app.FieldError{Field: "transtype", Text: app.Text{EN: "must be C or D", VI: "phải là C hoặc D"}}
	}
	return nil
}
