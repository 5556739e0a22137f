package web

import (
	"net/http"
	"strconv"
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

// vietQREntrance is the way in for transaction-sync. VietQR counts a call as
// failed where its answer has no reftransactionid.
var vietQREntrance = entrance{
	find: (*Server).findVietQRByToken,
	success: func(r *http.Request, recording app.Recording) any {
		answer := vietQRAnswer{ToastMessage: ok(r, "The call was recorded.", "Đã ghi nhận.").Messages, Object: &vietQRReference{}}
		answer.Object.RefTransactionID = "inbound-" + strconv.FormatInt(recording.EventID, 10)
		if ids := recording.TransactionIDs; len(ids) > 0 && ids[0] != 0 {
			answer.Object.RefTransactionID = strconv.FormatInt(ids[0], 10)
		}
		return answer
	},
	failure: func(f failure) any {
		reason := string(f.Code)
		return vietQRAnswer{Error: true, ErrorReason: &reason, ToastMessage: f.Messages}
	},
}

type vietQRAnswer struct {
	Error        bool             `json:"error"`
	ErrorReason  *string          `json:"errorReason"`
	ToastMessage string           `json:"toastMessage"`
	Object       *vietQRReference `json:"object"`
}

type vietQRReference struct {
	RefTransactionID string `json:"reftransactionid"`
}

// findVietQRByToken finds a source by the path's token, or on the bare path by
// the source that its access token names.
func (s *Server) findVietQRByToken(r *http.Request) (app.Source, adapter, bool, error) {
	if r.PathValue("token") != "" {
		return s.findVietQRByPath(r)
	}
	token, ok := parseVietQRToken(bearer(r.Header))
	if !ok {
		return app.Source{}, adapter{}, false, nil
	}
	source, found, err := s.service.SourceByID(r.Context(), token.source)
	return source, vietQRAdapter, found && source.Provider == providerVietQR, err
}

func (s *Server) findVietQRByPath(r *http.Request) (app.Source, adapter, bool, error) {
	source, a, found, err := s.findSource(r)
	return source, a, found && source.Provider == providerVietQR, err
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
