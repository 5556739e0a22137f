package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"baoco/app"
	"baoco/app/delivery"
)

// seenTransaction is a transaction as it stands in a body that a receiver saw.
type seenTransaction struct {
	delivery.Payload
	checksum string
}

// readTransactions reads the transactions of a body in whatever way its JSON is
// written; nil where the body isn't one of baoco's.
func readTransactions(body []byte) []seenTransaction {
	var read struct {
		Transactions []struct {
			ID, Gateway, TransactionDate, TransactionNumber, AccountNumber anyText
			Content, TransferType, TransferAmount, Checksum                anyText
			Code                                                           *anyText
			PaymentRequest                                                 *struct {
				Due, ID, Received, Reference, Status anyText
			} `json:"payment_request"`
		}
		Test bool
	}
	if json.Unmarshal(bytes.TrimPrefix(body, []byte("\ufeff")), &read) != nil {
		return nil
	}
	var list []seenTransaction
	for _, t := range read.Transactions {
		amount, err := strconv.ParseInt(string(t.TransferAmount), 10, 64)
		if err != nil {
			return nil
		}
		list = append(list, seenTransaction{delivery.Payload{
			ID: string(t.ID), Gateway: string(t.Gateway), TransactionDate: string(t.TransactionDate), TransactionNumber: string(t.TransactionNumber),
			AccountNumber: string(t.AccountNumber), Content: string(t.Content), TransferType: app.Direction(t.TransferType), TransferAmount: amount, Test: read.Test,
		}, string(t.Checksum)})
		if t.Code != nil {
			list[len(list)-1].Code = app.PaymentCode{Text: string(*t.Code), Read: true}
		}
		if r := t.PaymentRequest; r != nil {
			p := &list[len(list)-1].PaymentRequest
			p.Reference, p.Status = string(r.Reference), app.PaymentStatus(r.Status)
			for _, number := range []struct {
				text anyText
				to   *int64
			}{{r.Due, &p.Due}, {r.ID, &p.ID}, {r.Received, &p.Received}} {
				if *number.to, err = strconv.ParseInt(string(number.text), 10, 64); err != nil {
					return nil
				}
			}
		}
	}
	return list
}

// anyText is a string, or a number as it is written. A program that reads JSON
// and writes it again may make one from the other.
type anyText string

func (t *anyText) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, (*string)(t))
	}
	*t = anyText(bytes.TrimSuffix(data, []byte(".0")))
	return nil
}

// Difference is the first place where two bodies differ, with the bytes of each
// around it. Every character is visible.
type Difference struct {
	Byte   int    `json:"byte"`   // counted from 1
	Before string `json:"before"` // the end of what both have before it
	Sent   string `json:"sent"`   // the body that was sent, from there on; empty: it ended there
	Seen   string `json:"seen"`   // the body that was seen, from there on
}

// around is how many bytes of a difference are shown before it and after it.
const around = 16

// firstDifference is nil where the bodies are the same.
func firstDifference(sent, seen []byte) *Difference {
	if bytes.Equal(sent, seen) {
		return nil
	}
	n := 0
	for n < len(sent) && n < len(seen) && sent[n] == seen[n] {
		n++
	}
	d := &Difference{Byte: n + 1}
	// Whole characters are shown.
	for n > 0 && (n < len(sent) && !utf8.RuneStart(sent[n]) || n < len(seen) && !utf8.RuneStart(seen[n])) {
		n--
	}
	from := max(0, n-around)
	for from < n && !utf8.RuneStart(sent[from]) {
		from++
	}
	d.Before, d.Sent, d.Seen = visible(sent[from:n]), excerpt(sent[n:]), excerpt(seen[n:])
	return d
}

// excerpt is the beginning of b, up to the end of a character.
func excerpt(b []byte) string {
	end := min(len(b), around)
	for end < len(b) && end < around+utf8.UTFMax && !utf8.RuneStart(b[end]) {
		end++
	}
	return visible(b[:end])
}

// visible is b with a name for every character that nobody sees, or that looks
// like another.
func visible(b []byte) string {
	var text strings.Builder
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&text, "‹%02X›", b[0])
		case r != ' ' && !unicode.IsGraphic(r), r != ' ' && unicode.IsSpace(r), unicode.Is(unicode.Mn, r):
			fmt.Fprintf(&text, "‹U+%04X›", r)
		default:
			text.WriteRune(r)
		}
		b = b[size:]
	}
	return text.String()
}
