package app

import (
	"bytes"
	"crypto/hmac"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// seenTransaction is a transaction as a body that was seen tells it.
type seenTransaction struct {
	Payload
	checksum string
}

// readTransactions reads what stands in a body, in whatever JSON it is written;
// nil where it isn't one of baoco's.
func readTransactions(body []byte) []seenTransaction {
	body = bytes.TrimPrefix(body, []byte(byteOrderMark))
	var read struct {
		Transactions []struct {
			ID, Gateway, TransactionDate, TransactionNumber, AccountNumber anyText
			Content, TransferType, TransferAmount, Checksum                anyText
		}
		Test bool
	}
	if json.Unmarshal(body, &read) != nil {
		return nil
	}
	var list []seenTransaction
	for _, t := range read.Transactions {
		amount, err := strconv.ParseInt(string(t.TransferAmount), 10, 64)
		if err != nil {
			return nil
		}
		list = append(list, seenTransaction{Payload{
			ID: string(t.ID), Gateway: string(t.Gateway), TransactionDate: string(t.TransactionDate), TransactionNumber: string(t.TransactionNumber),
			AccountNumber: string(t.AccountNumber), Content: string(t.Content), TransferType: Direction(t.TransferType), TransferAmount: amount, Test: read.Test,
		}, string(t.Checksum)})
	}
	return list
}

// anyText is a string, or a number as it is written: what reads JSON and writes
// it again may make one of the other.
type anyText string

func (t *anyText) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, (*string)(t))
	}
	*t = anyText(bytes.TrimSuffix(data, []byte(".0")))
	return nil
}

// checksums checks every transaction under a secret.
func checksums(seen []seenTransaction, secret string) []ChecksumCheck {
	var list []ChecksumCheck
	for _, t := range seen {
		list = append(list, ChecksumCheck{t.ID, hmac.Equal([]byte(t.checksum), []byte(t.Checksum(secret)))})
	}
	return list
}

// reencodings are what was done to a body on its way to what was seen, where
// both say the same; none where they don't.
func reencodings(sent, seen []byte) (list []mistakeCode) {
	if rest, found := bytes.CutPrefix(seen, []byte(byteOrderMark)); found {
		seen, list = rest, append(list, mistakeBodyMark)
	}
	if rest := bytes.TrimSpace(seen); len(rest) < len(seen) {
		seen, list = rest, append(list, mistakeBodyEnd)
	}
	if bytes.Equal(sent, seen) {
		return list
	}
	var a, b any
	if json.Unmarshal(sent, &a) != nil || json.Unmarshal(seen, &b) != nil {
		return nil
	}
	var compact bytes.Buffer
	if json.Compact(&compact, seen) == nil && compact.Len() < len(seen) {
		seen, list = compact.Bytes(), append(list, mistakeBodySpaces)
	}
	for _, escape := range []struct {
		written string
		wrong   mistakeCode
	}{{`\/`, mistakeBodySlashes}, {`\u`, mistakeBodyUnicode}} {
		if bytes.Count(seen, []byte(escape.written)) > bytes.Count(sent, []byte(escape.written)) {
			list = append(list, escape.wrong)
		}
	}
	if !slices.Equal(keysOf(sent), keysOf(seen)) {
		list = append(list, mistakeBodyOrder)
	}
	if len(list) == 0 {
		list = append(list, mistakeBodyValues)
	}
	return list
}

// keysOf is the keys of a JSON text as they come, and the brackets around them.
func keysOf(text []byte) (keys []string) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var objects []bool // the open brackets: whether each is an object's
	key := true        // the next string in an object is one
	for {
		token, err := d.Token()
		if err != nil {
			return keys
		}
		switch token := token.(type) {
		case json.Delim:
			if token == '{' || token == '[' {
				objects = append(objects, token == '{')
			} else {
				objects = objects[:len(objects)-1]
			}
			key = true
			continue
		case string:
			if len(objects) > 0 && objects[len(objects)-1] && key {
				keys = append(keys, token)
				key = false
				continue
			}
		}
		key = true
	}
}

// Difference is where two bodies part: what stands there in each, every
// character visible.
type Difference struct {
	Byte   int    // counted from 1
	Before string // what both have before it
	Sent   string // from there on; empty: it ended there
	Seen   string
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
	for from > 0 && from < n && !utf8.RuneStart(sent[from]) {
		from--
	}
	d.Before, d.Sent, d.Seen = unmistakable(sent[from:n]), excerpt(sent[n:]), excerpt(seen[n:])
	return d
}

// excerpt is the beginning of b, up to the end of a character.
func excerpt(b []byte) string {
	end := min(len(b), around)
	for end < len(b) && end < around+utf8.UTFMax && !utf8.RuneStart(b[end]) {
		end++
	}
	return unmistakable(b[:end])
}

// unmistakable names every character that can't be seen or told from another.
func unmistakable(b []byte) string {
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
