package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/inbound"
	"baoco/app/sms"
)

// This file is the common way of the apps that forward what a phone gets: from the
// text of an SMS, or of a notice of a bank's app, to an element.

type forwardedSMS struct {
	id     string // the app's own; empty where it has none
	sender string // empty where the app names none
	title  string // of a notice
	text   string
	// received is the phone's own time of receipt, as the app wrote it, and
	// receivedKey where it stood. It is never the server's: a call that is
	// tried again must be the same event.
	received    string
	receivedKey string
	notice      bool            // of a bank's app, not an SMS
	fault       *app.FieldError // of what can't be a text at all
}

// readSMS gives a text as the one element of a call. What reads like money counts only if a
// bank sent it. Of what is none, what a known sender sent is kept, without its body where that
// has to do with a code; the rest, such as what friends write, is dropped.
func readSMS(in Call, m forwardedSMS) inbound.Reading {
	receivedAt := readReceipt(m.received, in.Zone)
	readAt := receivedAt
	if readAt.IsZero() {
		readAt = in.At
	}
	movement, kind, fault := sms.Read(sms.Message{Sender: m.sender, Title: m.title, Text: m.text, ReceivedAt: readAt}, in.Zone)
	if m.fault == nil && (kind == sms.Other || kind == sms.Code) {
		known := sms.FromAnyBank(m.sender) || isAllowed(m.sender, in.Source)
		return inbound.Reading{Drop: !known || kind == sms.Code, Trace: known, Explanation: notMoney}
	}
	e := inbound.Incoming{
		EventID: m.eventID(receivedAt), Gateway: movement.Bank, AccountNumber: movement.AccountNumber, Masked: movement.Masked,
		Number: movement.Number, Type: movement.Type, Amount: movement.Amount, Content: movement.Content, Time: movement.Time,
		Balance: movement.Balance, Available: movement.Available, Forwarded: true, Clocked: movement.Clocked,
	}
	if m.notice {
		e.EventIDChannel = app.ChannelNotice
	}
	refused := checkSMSSender(m.sender, movement.Bank, in.Source)
	if e.Fault = firstFault(m.fault, fault, refused); refused != nil && e.Fault == refused {
		e.Sender = strings.TrimSpace(m.sender)
	}
	if e.Fault == nil && m.id == "" && receivedAt.IsZero() {
		e.Fault = &app.FieldError{Field: m.receivedKey, Text: app.Text{
			EN: "must be the phone's time of receipt, the only difference between two equal texts",
			VI: "phải là thời gian điện thoại nhận tin: không có gì khác để phân biệt hai tin giống nhau",
		}}
	}
	return inbound.Reading{Elements: []inbound.Incoming{e}}
}

// readReceipt reads when a phone received a text. A date alone is none: it
// would make one of two texts alike. Zero: it doesn't say.
func readReceipt(text string, zone *time.Location) time.Time {
	if t, dateOnly, ok := app.ReadDate(text, zone); ok && !dateOnly {
		return t
	}
	return time.Time{}
}

// eventID is what a text is known by when it comes again. An app's own id may
// be made of the text alone, so the time is always a part of it.
func (m forwardedSMS) eventID(receivedAt time.Time) string {
	stamp := m.received
	if !receivedAt.IsZero() {
		stamp = strconv.FormatInt(receivedAt.UnixMilli(), 10)
	}
	parts := []string{m.sender, m.text, stamp}
	if m.title != "" {
		parts = append(parts, m.title)
	}
	if m.id != "" {
		parts = []string{m.id, stamp}
	}
	sum := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// checkSMSSender refuses a movement of money that didn't come from the bank:
// anybody can send a text in a bank's shape to the shop's phone.
func checkSMSSender(sender, bank string, source inbound.Source) *app.FieldError {
	if sms.FromBank(sender, bank) || isAllowed(sender, source) {
		return nil
	}
	if strings.TrimSpace(sender) == "" {
		return &app.FieldError{Field: "sender", Text: app.Text{
			EN: "is not named: nothing shows that the bank wrote this. The title of a notification is no sender, since any app can choose it; " +
				"SmsForwarder names the app",
			VI: "không được nêu: không có gì cho thấy tin này là của ngân hàng. Tiêu đề thông báo không phải người gửi, vì ứng dụng nào cũng " +
				"tự đặt được; SmsForwarder có nêu tên ứng dụng",
		}}
	}
	en, vi := bank, bank
	if bank == "" {
		en, vi = "a bank", "ngân hàng"
	}
	sender = app.CleanText(sender, 50)
	return &app.FieldError{Field: "sender", Text: app.Text{
		EN: fmt.Sprintf("%q is not a name under which %s is known to send: this may be a forgery. "+
			"If it is the bank's, run source allow with --sender and this name, then source retry", sender, en),
		VI: fmt.Sprintf("%q không phải tên gửi tin đã biết của %s: có thể là tin giả mạo. Nếu đúng là của ngân hàng, chạy source allow với "+
			"--sender và tên này, rồi source retry", sender, vi),
	}}
}

func isAllowed(sender string, source inbound.Source) bool {
	return slices.Contains(source.Options.Senders, strings.TrimSpace(sender))
}
