package app

import "strconv"

// PaymentStatus is how far a payment request has come.
type PaymentStatus string

// The statuses of a payment request.
const (
	PaymentOpen      PaymentStatus = "open"      // nothing has come
	PaymentUnderpaid PaymentStatus = "underpaid" // too little
	PaymentPaid      PaymentStatus = "paid"
	PaymentOverpaid  PaymentStatus = "overpaid"  // more than asked for
	PaymentPaidLate  PaymentStatus = "paid_late" // made full by a transfer after it had ended; Overpaid says whether more came
	PaymentExpired   PaymentStatus = "expired"   // nothing came before its end
	PaymentCancelled PaymentStatus = "cancelled" // the shop ended it before it was full
)

// PaymentStatuses are all of them.
var PaymentStatuses = []PaymentStatus{PaymentOpen, PaymentUnderpaid, PaymentPaid, PaymentOverpaid, PaymentPaidLate,
	PaymentExpired, PaymentCancelled}

// Name says the status in a word or two.
func (s PaymentStatus) Name() Text {
	return map[PaymentStatus]Text{
		PaymentOpen:      {"Waiting for payment", "Chờ thanh toán"},
		PaymentUnderpaid: {"Not enough", "Thiếu"},
		PaymentPaid:      {"Paid in full", "Đủ tiền"},
		PaymentOverpaid:  {"Too much", "Thừa"},
		PaymentPaidLate:  {"Paid too late", "Đủ tiền nhưng muộn"},
		PaymentExpired:   {"Expired", "Đã hết hạn"},
		PaymentCancelled: {"Cancelled", "Đã huỷ"},
	}[s]
}

// PaymentState is what a transaction says of the request that it was matched with. The
// zero PaymentState is that of a transaction without one. To whom the bank account of the
// request is hidden it has an id and no status.
type PaymentState struct {
	Due       int64         `json:"due"` // the amount of the request
	ID        int64         `json:"id"`
	Overpaid  int64         `json:"overpaid,omitempty"` // how much more came than was asked for
	Received  int64         `json:"received"`
	Reference string        `json:"reference"`
	Status    PaymentStatus `json:"status"`
}

// AppendJSON writes p as it is delivered, with its keys in ascending order: so a receiver
// that sorts only the keys of the transaction gets the text of the checksum too.
func (p PaymentState) AppendJSON(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"due":`...), p.Due, 10)
	b = strconv.AppendInt(append(b, `,"id":`...), p.ID, 10)
	if p.Overpaid != 0 {
		b = strconv.AppendInt(append(b, `,"overpaid":`...), p.Overpaid, 10)
	}
	b = strconv.AppendInt(append(b, `,"received":`...), p.Received, 10)
	b = AppendMember(b, `,"reference":`, p.Reference)
	return append(AppendMember(b, `,"status":`, string(p.Status)), '}')
}
