package delivery

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/exactjson"
)

// A webhook of WebhookSepay calls a shop that was made for SePay: with the same body and
// the same authentication, and with the same rule for when the shop took a delivery.

// SepayAuth is how a call proves that it comes from here.
type SepayAuth string

// The ways of SePay.
const (
	SepayAPIKey SepayAuth = "apikey" // Authorization: Apikey …
	SepayHMAC   SepayAuth = "hmac"   // X-SePay-Signature over X-SePay-Timestamp and the body
)

// Original is what SePay itself sent about a transaction.
type Original struct {
	ID   int64  // SePay's; 0: another provider brought the transaction
	Body []byte // of SePay's call, JSON or a form; nil: it is no longer kept, or there was no call
}

// SePay numbers its transactions too. Our own ids and those of tests begin at these numbers, so that
// no id is used twice: a shop skips an id that it knows. All ids fit into 32 bits.
const (
	ownSepayIDs  = 1_000_000_000
	testSepayIDs = 2_000_000_000
)

// ParseSepayID reads an id of SePay's that can be passed on. It refuses 07 and +7, which differ from 7.
func ParseSepayID(text string) (id int64, ok bool) {
	id, err := strconv.ParseInt(text, 10, 64)
	return id, err == nil && id > 0 && id < ownSepayIDs && strconv.FormatInt(id, 10) == text
}

// maxOriginalValues is how many values a call of SePay's has at most.
const maxOriginalValues = 512

// sepayBody is the body of a delivery in SePay's form: the same bytes on every attempt.
func (o Outgoing) sepayBody() []byte {
	p, said := o.Payload, o.Original.fields()
	id, number := o.Original.ID, p.TransactionNumber
	if own, err := strconv.ParseInt(p.ID, 10, 64); id == 0 && err == nil {
		id = ownSepayIDs + own
		number = cmp.Or(number, strconv.FormatInt(id, 10)) // some shops skip a number, or an amount with it, that they know
	}
	if p.Test {
		id = testSepayIDs + p.TestID
	}
	bank, _ := app.FindBank(p.Gateway)
	orNull := func(text string) string {
		if text == "" {
			return "null"
		}
		return string(app.AppendJSONString(nil, text))
	}
	b := strconv.AppendInt([]byte(`{"id":`), id, 10)
	b = app.AppendMember(b, `,"gateway":`, said.text("gateway", cmp.Or(sepayNames[bank.Code], bank.ShortName)))
	b = app.AppendMember(b, `,"transactionDate":`, said.text("transactionDate", p.TransactionDate))
	b = app.AppendMember(b, `,"accountNumber":`, p.AccountNumber)
	b = append(append(b, `,"subAccount":`...), said.literal("subAccount", orNull(p.ReceivingNumber))...)
	b = append(append(b, `,"code":`...), said.literal("code", orNull(p.Code.Text))...)
	b = app.AppendMember(b, `,"content":`, said.text("content", p.Content))
	b = app.AppendMember(b, `,"transferType":`, strings.ToLower(string(p.TransferType)))
	b = app.AppendMember(b, `,"description":`, said.text("description", p.Content))
	b = strconv.AppendInt(append(b, `,"transferAmount":`...), p.TransferAmount, 10)
	b = append(append(b, `,"accumulated":`...), said.literal("accumulated", "0")...)
	b = app.AppendMember(b, `,"referenceCode":`, said.text("referenceCode", number))
	return append(b, '}')
}

// sepayNames are SePay's names of banks that are called otherwise here.
var sepayNames = map[string]string{"ABB": "ABBANK", "KLB": "KienLongBank", "NCB": "NCB", "OCB": "OCB", "PBVN": "PublicBank"}

// originalFields are the fields of SePay's own call.
type originalFields map[string]exactjson.Value

func (o Original) fields() originalFields {
	fields := originalFields{}
	v, _ := exactjson.ParseFields(o.Body, maxOriginalValues) // a body that can't be read has no fields
	for _, m := range v.Members {
		if _, has := fields[m.Key]; !has { // the first one counts, as it does where the call was read
			fields[m.Key] = m.Value
		}
	}
	return fields
}

// text is a field as SePay sent it.
func (f originalFields) text(key, otherwise string) string {
	if v, has := f[key]; has && v.Kind == exactjson.String {
		return v.Text
	}
	return otherwise
}

// literal is a field as SePay sent it, as JSON. In a form a number is a text, and a missing
// value an empty text. A balance must fit into 64 bits, as every shop's program expects.
func (f originalFields) literal(key, otherwise string) string {
	v, has := f[key]
	switch {
	case !has || v.Kind == exactjson.Array || v.Kind == exactjson.Object:
		return otherwise
	case v.Kind == exactjson.String && v.Text == "":
		return otherwise
	case key == "accumulated":
		balance, err := strconv.ParseInt(v.Text, 10, 64)
		if err != nil {
			return otherwise
		}
		return strconv.FormatInt(balance, 10) // JSON has no 007
	}
	return string(exactjson.AppendJS(nil, v))
}

// sepayHeaders are the headers of a body that is sent at now. A shop made with Laravel says
// why it refuses only if Accept asks for JSON; otherwise it redirects to its home page.
func (o Outgoing) sepayHeaders(userAgent, key string, now time.Time, body []byte) []Header {
	headers := []Header{{"Content-Type", "application/json"}, {"Accept", "application/json"}, {"User-Agent", userAgent}}
	if o.Auth == SepayAPIKey {
		return append(headers, Header{"Authorization", "Apikey " + key})
	}
	stamp := strconv.FormatInt(now.Unix(), 10)
	return append(headers, Header{"X-SePay-Timestamp", stamp},
		Header{"X-SePay-Signature", "sha256=" + Signature(key, append([]byte(stamp+"."), body...))})
}

// NewSepayKey is 40 random letters and digits.
func NewSepayKey() string {
	return rand.Text() + rand.Text()[:14]
}

func isSepayKey(text string) bool {
	return len(text) >= 8 && len(text) <= 200 && isPrintable(text) && !strings.Contains(text, " ")
}

// sepayRefused reports whether the body of an answer says that the shop didn't take the
// delivery: the first JSON in it is an object whose "success" is false or "false". A program
// may write other text before and after the JSON, as PHP writes its warnings.
func sepayRefused(body []byte) bool {
	var said struct{ Success any }
	first := json.NewDecoder(bytes.NewReader(body[max(0, bytes.IndexAny(body, "{[")):]))
	return first.Decode(&said) == nil && (said.Success == false || said.Success == "false")
}
