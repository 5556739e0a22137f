// Package provider has one file for each provider: its texts, how its calls are
// verified, how they are read, and what to do on its side.
package provider

import (
	"fmt"
	"net/http"
	"time"

	"baoco/app"
	"baoco/app/exactjson"
	"baoco/app/inbound"
)

// Kind is one inbound format: how its calls are verified and how their
// bytes become transactions. A kind never falls back to a weaker way of
// authenticating than its source has.
type Kind struct {
	inbound.ProviderKind // without CatchUp, which List tells
	Verify               Verifier
	// read never fails: what it can't read becomes an element with a fault. It
	// sees no headers, so that a kept body can be read again.
	read func(in Call) inbound.Reading
	// Strict formats are answered 4xx when nothing of a body can be read; to
	// the others the provider would only give up.
	Strict bool
	// List is how the provider's list of transactions is read; nil: it has none.
	List *List
	// many formats can name several transactions in a call.
	many bool
}

// Verifier gives the reason, for the operator only, why a call is refused; the
// zero Refusal accepts it. It compares credentials in constant time.
type Verifier func(in Call, h http.Header) inbound.Refusal

// Bounds of a call. A notice of one transaction has some 25 values in a few
// kilobytes. A call of many has at most inbound.MaxElements transactions, of some 20
// values each.
const (
	MaxBodyOfMany   = 1 << 20 // of calls with several transactions
	maxNotice       = 64 << 10
	maxNoticeValues = 512
	maxManyValues   = 20 * inbound.MaxElements
)

// MaxBody is how many bytes of a body are read.
func (k Kind) MaxBody() int64 {
	if k.many {
		return MaxBodyOfMany
	}
	return maxNotice
}

// Elements reads a body. A body with more values or elements than a call may have
// becomes one element with a fault.
func (k Kind) Elements(in Call) inbound.Reading {
	most := maxNoticeValues
	if k.many {
		most = maxManyValues
	}
	if exactjson.Count(in.Body) > most {
		return inbound.Reading{Elements: []inbound.Incoming{unreadable("body",
			fmt.Sprintf("has more than %d values", most), fmt.Sprintf("có hơn %d giá trị", most))}}
	}
	read := k.read(in)
	if len(read.Elements) > inbound.MaxElements {
		read.Elements = []inbound.Incoming{unreadable("body",
			fmt.Sprintf("has more than %d transactions", inbound.MaxElements), fmt.Sprintf("có hơn %d giao dịch", inbound.MaxElements))}
	}
	return read
}

// Call is one call as a kind sees it.
type Call struct {
	Source inbound.Source
	Body   []byte
	At     time.Time // of receipt
	Zone   *time.Location
}

// Signed tells whether a call is verified by a signature over its body. The body
// of any other call is read after the call is verified.
func (in Call) Signed() bool { return in.Source.Auth == inbound.AuthHMAC }

// always is a Setup that doesn't depend on what was chosen for the source.
func always(t app.Text) func(inbound.Source) app.Text {
	return func(inbound.Source) app.Text { return t }
}

var (
	nothingNamed = app.Text{EN: "There is no transaction in it.", VI: "Không có giao dịch nào trong lần nhận này."}
	nothingPaid  = app.Text{EN: "The provider reports a payment that failed or was cancelled: no money came in.",
		VI: "Nhà cung cấp báo thanh toán thất bại hoặc đã huỷ: không có tiền vào."}
	onlyATest = app.Text{EN: "A test call by the provider: there is nothing to record.",
		VI: "Lần gọi thử của nhà cung cấp: không có gì để ghi nhận."}
	notMoney = app.Text{EN: "Not a message about money.", VI: "Không phải tin báo biến động số dư."}
	codeText = app.Text{EN: "Not a message about money. It was about a one-time code or a password, so its text was not kept.",
		VI: "Không phải tin báo biến động số dư. Tin này về mã OTP hoặc mật khẩu nên không lưu nội dung."}
)

func unreadable(field, en, vi string) inbound.Incoming {
	return inbound.Incoming{Fault: &app.FieldError{Field: field, Text: app.Text{EN: en, VI: vi}}}
}

// The names of faults that belong to no field: the body isn't JSON at all, or an
// element of the array isn't an object.
const (
	FaultNotJSON = "json"
	FaultElement = "element"
)

func notObject(field string) inbound.Incoming {
	return unreadable(field, "must be a JSON object", "phải là một đối tượng JSON")
}

func notArray(field string) []inbound.Incoming {
	return []inbound.Incoming{unreadable(field, "must be an array, given once", "phải là một mảng, chỉ xuất hiện một lần")}
}

func notJSON() []inbound.Incoming {
	return []inbound.Incoming{unreadable(FaultNotJSON, "is not valid JSON", "không phải JSON hợp lệ")}
}
