// Package sms reads the texts by which Vietnamese banks tell a phone that the
// balance of an account changed.
//
// A text proves nothing by itself: anybody can send one in a bank's shape.
// [Read] says what a text says, [FromBank] whether its sender is a name of
// that bank's; the caller asks both before it believes in money. (A sender's
// name can be forged too, by a false base station beside the phone. A merchant
// for whom that matters needs a provider that signs.)
//
// Banks change their texts without notice. So a text is read by its labels and its
// structure where they leave no doubt (structure.go), not by a pattern for each bank.
// The rest is sorted by the rules of classify.go: what looks like money is kept for a
// person, one-time codes are never kept.
package sms

import (
	"strings"
	"time"

	"baoco/app"
)

// Message is an SMS, or a notice of a bank's app, as a forwarding app hands it on.
type Message struct {
	Sender     string // a brand name or a number; the package of the app that showed a notice
	Title      string // of a notice; empty: it has none
	Text       string
	ReceivedAt time.Time // by the phone, or by the server where the phone doesn't say
}

// Kind says what a text is.
type Kind int

const (
	Balance    Kind = iota // a movement of money
	Other                  // advertising, a login, what a friend writes: nothing to record
	Code                   // has to do with a one-time code or a password: must not be stored
	Unreadable             // looks like a movement of money and can't be read: must be kept for a person
)

// Movement is what a Balance text says.
type Movement struct {
	// Bank is the code of the bank that the text or the sender names; "" where neither does.
	Bank string
	// AccountNumber is as the text shows it, each character that it hides an
	// x: 0121000000319, 7220xxxx2005, xxxx5847. Only digits unless Masked.
	AccountNumber string
	Masked        bool
	Type          app.Direction
	Amount        int64  // VND, 1 to app.MaxAmount
	Content       string // of the transfer, at most app.MaxContent characters
	Number        string // the bank's reference, where the text has one that the payer can't have written; "" elsewhere
	// Time is in the zone given to Read. What the text doesn't say is that of
	// receipt; it is zero where the text says something impossible. Clocked tells
	// whether the text has the time of day.
	Time    time.Time
	Clocked bool
	// Balance is that of the account after the movement, Available the part of it
	// that can be spent, in VND; 0: the text has none that can be read.
	Balance, Available int64
}

// maxText is how many characters of a text are read. The longest SMS has 255
// parts; what banks send has five.
const maxText = 4096

// Read reads a text. For a Balance the movement is whole. For an Unreadable
// text the movement holds at most the bank and the account, and the fault says
// what is wrong; for any other text both are empty. A title counts where it may say
// something of the money.
func Read(m Message, zone *time.Location) (Movement, Kind, *app.FieldError) {
	text := foldText(app.CleanText(m.Text, maxText))
	if title := foldText(m.Title).plain; strings.ContainsAny(title, "0123456789") || noMoney().MatchString(title) {
		text = foldText(app.CleanText(m.Title+"\n"+strings.TrimPrefix(m.Text, m.Title), maxText))
	}
	movement, fault := readStructure(text, m, zone)
	if fault == nil {
		return movement, Balance, nil
	}
	if kind := classify(text.plain); kind != Unreadable {
		return Movement{}, kind, nil
	}
	return movement, Unreadable, fault
}
