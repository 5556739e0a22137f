package provider

import (
	"cmp"
	"crypto/sha512"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/exactjson"
	"baoco/app/inbound"
)

// casso reads Casso's first webhook (developer.casso.vn): an array of
// transactions, authenticated by a token in a header of its own.
var casso = Kind{
	ProviderKind: inbound.ProviderKind{
		Provider: "casso", Name: "Casso", Group: inbound.Gateways,
		About: app.Text{EN: "casso.vn, webhook", VI: "casso.vn, webhook"},
		Auths: []inbound.Auth{inbound.AuthToken}, DefaultAuth: inbound.AuthToken,
		Setup: always(app.Text{
			EN: "1. At casso.vn, open Connections > Integrations, click Add integration and choose Webhook. 2. " +
				"Choose the bank accounts, enter this URL, and enter the secret as the security key. 3. Click Test call, then save.",
			VI: "1. Tại casso.vn, mở Kết nối > Tích hợp, bấm Thêm tích hợp rồi chọn Webhook. 2. Chọn ngân hàng nhận webhook, nhập URL này và nhập " +
				"khoá bí mật vào ô Key bảo mật. 3. Bấm Gọi thử rồi lưu.",
		}),
	},
	Verify: func(in Call, h http.Header) inbound.Refusal { return checkHeader(h, "Secure-Token", in.Source.Secret) },
	read:   readCasso,
	List:   &cassoList,
	many:   true,
}

func readCasso(in Call) inbound.Reading {
	v, fault := parseObject(in.Body)
	if fault != nil {
		return inbound.Reading{Elements: fault}
	}
	if fault := cassoError(v); fault != nil {
		return inbound.Reading{Elements: []inbound.Incoming{{Fault: fault}}, Fault: true}
	}
	data := v.Get("data")
	if data.Kind == exactjson.Object { // one transaction
		data = exactjson.Value{Kind: exactjson.Array, Items: []exactjson.Value{data}}
	}
	if data.Kind != exactjson.Array || v.Times("data") != 1 {
		return inbound.Reading{Elements: notArray("data")}
	}
	read := inbound.Reading{}
	for _, item := range data.Items {
		if isCassoTest(item) {
			read.Explanation = onlyATest
			continue
		}
		read.Elements = append(read.Elements, readElement(item, in.Zone, readCassoElement))
	}
	return read
}

func isCassoTest(v exactjson.Value) bool {
	id := v.Get("id")
	return id.Kind == exactjson.Number && id.Text == "0"
}

// cassoError is Casso's own word that a call names no transaction.
func cassoError(v exactjson.Value) *app.FieldError {
	if e := v.Get("error"); e.Kind != exactjson.String && isZero(e) {
		return nil
	}
	return &app.FieldError{Field: "error",
		Text: app.Text{EN: "is not 0: Casso reports an error of its own", VI: "khác 0: Casso báo lỗi từ phía họ"}}
}

// The keys of an account number, and all that must be unmistakable.
var (
	cassoAccount = []string{"bankSubAccId", "bank_sub_acc_id", "subAccId", "accountNumber"}
	cassoMoney   = append([]string{"id", "tid", "reference", "amount", "virtualAccount", "virtualAccountNumber", "bankAbbreviation",
		"bankName", "bankCodeName"}, cassoAccount...)
)

// readCassoElement reads one transaction, of a call of either version or of the list, which
// have other names for the same. A negative amount is money that went out.
func readCassoElement(v exactjson.Value, zone *time.Location) inbound.Incoming {
	e := inbound.Incoming{
		EventIDChannel: app.ChannelCall, Gateway: cassoBank(v), AccountNumber: firstWord(v, cassoAccount...),
		SubAccount: firstWord(v, "virtualAccount", "virtualAccountNumber"), Type: app.In, Number: firstWord(v, "tid", "reference"),
		Content: v.Get("description").Word(), Balance: readBalance(v, "cusum_balance", "cusumBalance", "runningBalance"),
	}
	at, found := v.Lookup("when")
	if !found {
		at = v.Get("transactionDateTime")
	}
	setDate(&e, at, zone)
	e.Fault = firstFault(
		repeatedKey(v, cassoMoney),
		readWord("id", v.Get("id"), &e.EventID),
		missing("accountNumber", e.AccountNumber),
		readSignedAmount(v, &e),
		missing("id", e.EventID),
	)
	return e
}

// cassoBank is the account's bank that is known here, by its code or the word that a name
// such as acb_digi begins with, or whichever name there is.
func cassoBank(v exactjson.Value) string {
	abbreviation, name := v.Get("bankAbbreviation").Str(), v.Get("bankName").Str()
	first, _, _ := strings.Cut(v.Get("bankCodeName").Word(), "_")
	if bank, known := app.FindBank(cmp.Or(abbreviation, first)); known {
		return bank.Code
	}
	return cmp.Or(name, abbreviation)
}

// cassoV2 reads Casso's second webhook: one transaction, signed by its
// fields. An old timestamp may be one that is tried again, so it is accepted.
var cassoV2 = Kind{
	ProviderKind: inbound.ProviderKind{
		Provider: "casso-v2", Name: "Casso V2", Group: inbound.Gateways,
		About: app.Text{EN: "casso.vn, where your webhook there is called V2: its calls are signed",
			VI: "casso.vn, khi webhook bên đó ghi là V2: lần gọi có chữ ký"},
		Auths: []inbound.Auth{inbound.AuthHMAC}, DefaultAuth: inbound.AuthHMAC,
		Setup: always(app.Text{
			EN: "1. At casso.vn, open Connections > Integrations, click Add integration and choose Webhook V2. 2. " +
				"Enter this URL and choose the bank accounts. 3. The security key there and the secret here must match: " +
				"if Casso gives you a key, use it as this source’s secret.",
			VI: "1. Tại casso.vn, mở Kết nối > Tích hợp, bấm Thêm tích hợp rồi chọn Webhook V2. 2. Nhập URL này và chọn ngân hàng nhận webhook. " +
				"3. Key bảo mật bên đó và khoá bí mật bên này phải giống nhau: nếu Casso cấp key, hãy dùng key đó làm khoá bí mật của nguồn này.",
		}),
	},
	Verify: verifyCassoV2,
	read:   readCassoV2,
	List:   &cassoList,
}

// verifyCassoV2 checks "t=<milliseconds>,v1=<hexadecimal digits>": the
// HMAC-SHA512 over t, a dot and the JSON of the whole body with its keys sorted
// at every level (github.com/CassoHQ/casso-webhook-v2-verify-signature).
func verifyCassoV2(in Call, h http.Header) inbound.Refusal {
	const name = "X-Casso-Signature"
	header, why := oneHeader(h, name)
	if why.Code != "" {
		return why
	}
	stamp, signature, found := strings.Cut(header, ",v1=")
	stamp, begins := strings.CutPrefix(stamp, "t=")
	if !found || !begins || !app.AllDigits(stamp) {
		return refusalf(inbound.RefusalMalformed, "%s does not consist of t= with a timestamp in digits and v1= with a signature.",
			"%s không có dạng t= kèm thời gian bằng chữ số và v1= kèm chữ ký.", name)
	}
	if _, why = parseSigned(in.Body); why.Code != "" {
		return why
	}
	return checkHexHMAC(name, signature, sha512.New, in.Source.Secret, []byte(stamp+"."), exactjson.Canonical(in.Body))
}

func readCassoV2(in Call) inbound.Reading {
	v, err := exactjson.Parse(exactjson.Canonical(in.Body))
	if err != nil {
		return inbound.Reading{Elements: notJSON()}
	}
	if fault := cassoError(v); fault != nil {
		return inbound.Reading{Elements: []inbound.Incoming{{Fault: fault}}, Fault: true}
	}
	data := v.Get("data")
	if data.Kind != exactjson.Object {
		return inbound.Reading{Elements: []inbound.Incoming{notObject("data")}}
	}
	if isCassoTest(data) {
		return inbound.Reading{Explanation: onlyATest}
	}
	return inbound.Reading{Elements: []inbound.Incoming{readCassoElement(data, in.Zone)}}
}

// Casso's list, API v2 (developer.casso.vn/casso-api/api/lay-giao-dich; the key
// as in /casso-api/chung-thuc/tao-api-key-thu-cong). Its records have the ids
// of Casso's calls, so a transaction is known by its id whichever way it came.
//
// The list is narrowed by days alone. Every reading goes from the day before
// that on which the last complete one began, since a bank may book late, page
// by page in the order of the dates: what is new meanwhile moves others to
// later pages, never to earlier ones. The first goes from the day on which the
// source got its API key.
var cassoList = List{
	Base: "https://oauth.casso.vn", Path: "/v2/transactions", Scheme: "Apikey",
	Pace: 350 * time.Millisecond, // as for SePay: Casso states no limit
	Ask:  askCasso,
	read: func(body []byte, zone *time.Location) ([]inbound.Incoming, error) {
		page, err := readCassoPage(body, zone)
		return page.elements, err
	},
}

// cassoProgress is how far a list of Casso's is read. Days are Y-m-d.
type cassoProgress struct {
	Day string `json:"day,omitempty"` // on which the last complete reading began

	// The reading that goes on; Page 0: none does.
	Page  int    `json:"page,omitempty"` // that is next
	From  string `json:"from,omitempty"`
	Began string `json:"began,omitempty"`
}

// begin begins a reading, unless one goes on.
func (c *cassoProgress) begin(source inbound.Source, now time.Time, zone *time.Location) {
	if c.Page > 0 {
		return
	}
	from := app.DayOf(source.ListFrom, zone)
	if last, err := app.ParseDay(c.Day); err == nil {
		from = max(from, last-1)
	}
	c.Page, c.From, c.Began = 1, from.String(), app.DayOf(now, zone).String()
}

func (c *cassoProgress) query(now time.Time, zone *time.Location) url.Values {
	return url.Values{
		"fromDate": {c.From}, "toDate": {(app.DayOf(now, zone) + 1).String()}, // whether it counts itself isn't said
		"page": {strconv.Itoa(c.Page)}, "pageSize": {strconv.Itoa(pageSize)}, "sort": {"ASC"},
	}
}

// read moves on behind a page.
func (c *cassoProgress) read(page cassoPage) (more bool) {
	if c.Page < page.pages && len(page.elements) > 0 {
		c.Page++
		return true
	}
	*c = cassoProgress{Day: c.Began}
	return false
}

func askCasso(source inbound.Source, progress string, now time.Time, zone *time.Location) Question {
	at := parseProgress[cassoProgress](progress)
	at.begin(source, now, zone)
	return Question{Query: at.query(now, zone), Read: func(body []byte) (inbound.PolledPage, error) {
		page, err := readCassoPage(body, zone)
		if err != nil {
			return inbound.PolledPage{}, err
		}
		more := at.read(page)
		return inbound.PolledPage{Body: body, Elements: page.elements, Progress: progressText(at), More: more}, nil
	}}
}

type cassoPage struct {
	elements []inbound.Incoming
	pages    int // there are
}

func readCassoPage(body []byte, zone *time.Location) (page cassoPage, err error) {
	answer, err := parsePage(body)
	if err != nil {
		return page, err
	}
	if err := cassoAnswer(answer); err != nil {
		return page, err
	}
	data := answer.Get("data")
	if page.elements, err = readRecords(data, "records", zone, readCassoElement); err != nil {
		return page, err
	}
	if page.pages, err = strconv.Atoi(data.Get("totalPages").Word()); err != nil {
		return page, unreadablePage("the page doesn't say how many there are")
	}
	return page, nil
}

// cassoAnswer is the fault that an answer of status 200 names: 0 is none, the
// others are numbered as the statuses of HTTP.
func cassoAnswer(answer exactjson.Value) error {
	code, err := strconv.Atoi(answer.Get("error").Word())
	if err == nil && code == 0 {
		return nil
	}
	return &inbound.PollError{Fault: inbound.PollFaultOf(code), Err: fmt.Errorf("the provider answered %d", code)}
}

// readSignedAmount reads Casso's amount, which is negative for money that went
// out.
func readSignedAmount(v exactjson.Value, e *inbound.Incoming) *app.FieldError {
	n, err := parseAmountWord(v.Get("amount"))
	if err != nil {
		return &app.FieldError{Field: "amount", Text: app.AmountFault(err)}
	}
	if e.Amount = n; n < 0 {
		e.Type, e.Amount = app.Out, -n
	}
	return nil
}
