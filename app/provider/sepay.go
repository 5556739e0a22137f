package provider

import (
	"crypto/sha256"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/exactjson"
	"baoco/app/inbound"
)

// sepay reads SePay's webhook (developer.sepay.vn): one transaction a
// call, as JSON or as a form, authenticated by an Apikey or by an HMAC with a
// timestamp over the body in each format. SePay wants a 2xx and gives up after 8
// attempts in about 33 minutes.
var sepay = Kind{
	ProviderKind: inbound.ProviderKind{
		Provider: "sepay", Name: "SePay", Group: inbound.Gateways,
		About: app.Text{EN: "my.sepay.vn, webhook integration", VI: "my.sepay.vn, tích hợp webhook"},
		Auths: []inbound.Auth{inbound.AuthAPIKey, inbound.AuthHMAC},
		Setup: func(s inbound.Source) app.Text {
			security := "API Key"
			if s.Auth == inbound.AuthHMAC {
				security = "HMAC-SHA256"
			}
			return app.Textf(
				"1. At my.sepay.vn, open Webhook integrations and click Add webhook. 2. "+
					"Choose your bank account, and as event both money in and money out. 3. "+
					"Enter this URL, choose any payload format, and turn on retries on errors. 4. Under Security, choose %s and enter the secret.",
				"1. Tại my.sepay.vn, mở Tích hợp Webhook rồi bấm Thêm webhook. 2. Chọn tài khoản, chọn sự kiện: cả tiền vào và tiền ra. 3. "+
					"Nhập URL này, chọn kiểu dữ liệu bất kỳ và bật gửi lại khi lỗi. 4. Ở bước Bảo mật, chọn %s rồi nhập khoá bí mật.", security)
		},
	},
	Verify: verifySePay,
	read:   readSePay,
	List:   &sepayList,
}

// sepayWindow is how far SePay's timestamp may be from now.
const sepayWindow = 300 * time.Second

func verifySePay(in Call, h http.Header) inbound.Refusal {
	if in.Source.Auth == inbound.AuthAPIKey {
		return checkCredential(h, "Apikey", in.Source.Secret)
	}
	stamp, why := oneHeader(h, "X-SePay-Timestamp")
	if why.Code != "" {
		return why
	}
	signature, why := oneHeader(h, "X-SePay-Signature")
	if why.Code != "" {
		return why
	}
	hexDigits, found := strings.CutPrefix(signature, "sha256=")
	if !found {
		return refusal(inbound.RefusalMalformed, "X-SePay-Signature does not start with sha256=.",
			"X-SePay-Signature không bắt đầu bằng sha256=.")
	}
	why = checkHexHMAC("X-SePay-Signature", hexDigits, sha256.New, in.Source.Secret, []byte(stamp), []byte("."), in.Body)
	if why.Code != "" {
		return why
	}
	return checkStamp("X-SePay-Timestamp", stamp, time.Second, in.At, sepayWindow)
}

func readSePay(in Call) inbound.Reading {
	v, err := exactjson.ParseFields(in.Body, maxNoticeValues)
	if err != nil {
		return inbound.Reading{Elements: []inbound.Incoming{unreadable(FaultNotJSON, "is neither valid JSON nor a form",
			"không phải JSON hợp lệ, cũng không phải biểu mẫu")}}
	}
	e := readTransfer(v, "referenceCode", in.Zone)
	e.Balance = readBalance(v, "accumulated")
	return inbound.Reading{Elements: []inbound.Incoming{e}}
}

// readTransfer reads the object that SePay and Pay2S name a transaction with;
// number is the key of the bank's transaction number.
func readTransfer(v exactjson.Value, number string, zone *time.Location) inbound.Incoming {
	e := inbound.Incoming{Gateway: v.Get("gateway").Str(), Content: v.Get("content").Word(), Number: v.Get(number).Word(),
		AccountNumber: v.Get("accountNumber").Word(), SubAccount: v.Get("subAccount").Word()}
	setDate(&e, v.Get("transactionDate"), zone)
	e.Fault = firstFault(
		repeatedKey(v, []string{"id", "gateway", "accountNumber", "subAccount", "transferType", "transferAmount", number}),
		readWord("id", v.Get("id"), &e.EventID),
		missing("accountNumber", e.AccountNumber),
		readInOut(v, "transferType", &e.Type),
		readAmountWord("transferAmount", v.Get("transferAmount"), &e.Amount),
	)
	e.Fault = firstFault(e.Fault, missing("id", e.EventID))
	return e
}

var required = app.Text{EN: "is required", VI: "là bắt buộc"}

func readInOut(v exactjson.Value, key string, into *app.Direction) *app.FieldError {
	switch strings.ToLower(v.Get(key).Str()) {
	case "in":
		*into = app.In
	case "out":
		*into = app.Out
	default:
		return &app.FieldError{Field: key, Text: app.Text{EN: "must be in or out", VI: "phải là in hoặc out"}}
	}
	return nil
}

// SePay's list, API v2 (developer.sepay.vn: /en/sepay-api/v2/giao-dich/danh-sach
// for the list, /en/sepay-api/v2/xac-thuc for the key, the errors and the
// limit, /en/sepay-webhooks/doi-soat-giao-dich for reading it regularly).
//
// since_id gives the transactions after one that is known. Whether "after" is
// in the order of their dates or in that in which SePay learned of them isn't
// said, and a bank may book late. So the list is read in two ways: by since_id
// in between, and once an hour by date, from three days before the last
// reading by date began. In both, page by page in the order of the dates,
// until has_more is false: what is new meanwhile moves others to later pages,
// never to earlier ones. The first reading is by date, from the day on which
// the source got its API key.
var sepayList = List{
	Base: "https://userapi.sepay.vn", Path: "/v2/transactions", Scheme: "Bearer",
	Pace: 350 * time.Millisecond, // 3 requests a second for each address, with room for what is late on the way
	Ask:  askSePay,
	read: func(body []byte, zone *time.Location) ([]inbound.Incoming, error) {
		page, err := readSePayPage(body, zone)
		return page.elements, err
	},
}

const (
	sepayReread = time.Hour
	sepayLate   = app.SameTransferWindow
)

// sepayProgress is how far a list of SePay's is read.
type sepayProgress struct {
	Since string `json:"since,omitempty"` // the last transaction that was read
	Dated int64  `json:"dated,omitempty"` // when the last complete reading by date began; 0: there was none

	// The reading that goes on; Page 0: none does.
	Page  int   `json:"page,omitempty"`  // that is next
	From  int64 `json:"from,omitempty"`  // by date, from this second on; 0: by Since
	Began int64 `json:"began,omitempty"` // when the reading did
	// Last is the last transaction that it met.
	Last string `json:"last,omitempty"`
}

// begin begins a reading, unless one goes on.
func (s *sepayProgress) begin(source inbound.Source, now time.Time, zone *time.Location) {
	if s.Page > 0 {
		return
	}
	s.Page, s.Began, s.From, s.Last = 1, now.Unix(), 0, ""
	began := time.Unix(s.Dated, 0)
	if s.Since != "" && s.Dated != 0 && now.Before(began.Add(sepayReread)) && !now.Before(began) {
		return
	}
	from := app.DayOf(source.ListFrom, zone).Start(zone)
	if s.Dated != 0 && began.Add(-sepayLate).After(from) {
		from = began.Add(-sepayLate)
	}
	s.From = from.Unix()
}

func (s *sepayProgress) query(zone *time.Location) url.Values {
	q := url.Values{"per_page": {strconv.Itoa(pageSize)}, "page": {strconv.Itoa(s.Page)}, "transaction_date_sort": {"asc"}}
	if s.From != 0 {
		q.Set("transaction_date_from", app.FormatTime(time.Unix(s.From, 0), zone))
	} else {
		q.Set("since_id", s.Since)
	}
	return q
}

func (s *sepayProgress) read(page sepayPage) {
	if page.last != "" {
		s.Last = page.last
	}
	if page.more {
		s.Page++
		return
	}
	if s.Last != "" {
		s.Since = s.Last
	}
	if s.From != 0 {
		s.Dated = s.Began
	}
	s.Page, s.From, s.Began, s.Last = 0, 0, 0, ""
}

func askSePay(source inbound.Source, progress string, now time.Time, zone *time.Location) Question {
	at := parseProgress[sepayProgress](progress)
	at.begin(source, now, zone)
	q := Question{Query: at.query(zone)}
	if at.From == 0 { // a transaction that SePay doesn't know any more: by date, then
		q.Otherwise = progressText(sepayProgress{Dated: at.Dated})
	}
	q.Read = func(body []byte) (inbound.PolledPage, error) {
		page, err := readSePayPage(body, zone)
		if err != nil {
			return inbound.PolledPage{}, err
		}
		at.read(page)
		return inbound.PolledPage{Body: body, Elements: page.elements, Progress: progressText(at), More: page.more}, nil
	}
	return q
}

type sepayPage struct {
	elements []inbound.Incoming
	last     string // id of the last element
	more     bool
}

func readSePayPage(body []byte, zone *time.Location) (page sepayPage, err error) {
	answer, err := parsePage(body)
	if err != nil {
		return page, err
	}
	if status := answer.Get("status").Str(); status != "success" {
		return page, unreadablePage("the page has the status %.20q", status)
	}
	if page.elements, err = readRecords(answer, "data", zone, readSePayRecord); err != nil {
		return page, err
	}
	for _, e := range page.elements {
		if !strings.HasPrefix(e.EventID, noID) {
			page.last = e.EventID
		}
	}
	more := answer.Get("meta").Get("pagination").Get("has_more")
	if more.Kind != exactjson.Bool {
		return page, unreadablePage("the page doesn't say whether more follow")
	}
	page.more = more.Text == "true" && len(page.elements) > 0
	return page, nil
}

// sepayMoney are the keys of a record that must be unmistakable.
var sepayMoney = []string{"id", "account_number", "va", "transfer_type", "amount_in", "amount_out", "reference_number", "bank_brand_name"}

func readSePayRecord(v exactjson.Value, zone *time.Location) inbound.Incoming {
	e := inbound.Incoming{
		EventID: v.Get("id").Word(), Gateway: v.Get("bank_brand_name").Word(), AccountNumber: v.Get("account_number").Word(),
		SubAccount: v.Get("va").Word(),
		Number:     v.Get("reference_number").Word(), Content: v.Get("transaction_content").Word(), Balance: readBalance(v, "accumulated"),
	}
	setDate(&e, v.Get("transaction_date"), zone)
	e.Fault = firstFault(repeatedKey(v, sepayMoney), readInOut(v, "transfer_type", &e.Type))
	amount, other := "amount_in", "amount_out"
	if e.Type == app.Out {
		amount, other = other, amount
	}
	e.Fault = firstFault(e.Fault, readAmountWord(amount, v.Get(amount), &e.Amount))
	if !isZero(v.Get(other)) && e.Fault == nil {
		e.Fault = &app.FieldError{Field: other, Text: app.Text{EN: "must be 0 beside " + amount, VI: "phải bằng 0 khi có " + amount}}
	}
	return e
}
