// Package vietqr makes VietQR codes: the EMV QR codes by which Vietnamese
// banking apps fill in a transfer (NAPAS, "Technical specification of QR
// format for switching service").
package vietqr

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"rsc.io/qr"
)

// MaxContent is how much of a transfer's content banks carry without cutting
// it, in characters.
const MaxContent = 25

// Transfer is what a code asks for.
type Transfer struct {
	BIN     string // of the bank, six digits
	Account string
	Amount  int64  // VND; 0 leaves it to the payer
	Content string // printable ASCII; may be empty
}

// ErrContent refuses a content that no code can hold.
var ErrContent = errors.New("the content must be printable ASCII of at most 95 characters")

// String is the text of the code: tag, length, value.
func (t Transfer) String() (string, error) {
	if len(t.Content) > 95 || strings.IndexFunc(t.Content, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 {
		return "", ErrContent
	}
	if len(t.BIN) != 6 || t.Account == "" || len(t.Account) > 50 || t.Amount < 0 {
		return "", fmt.Errorf("a transfer to bank %q, account %q of %d VND can't be coded", t.BIN, t.Account, t.Amount)
	}
	initiation := "11" // the same code for every payment
	if t.Amount > 0 {
		initiation = "12"
	}
	beneficiary := field("00", t.BIN) + field("01", t.Account)
	text := field("00", "01") + field("01", initiation) +
		field("38", field("00", "A000000727")+field("01", beneficiary)+field("02", "QRIBFTTA")) + // to an account
		field("53", "704")
	if t.Amount > 0 {
		text += field("54", strconv.FormatInt(t.Amount, 10))
	}
	text += field("58", "VN")
	if t.Content != "" {
		text += field("62", field("08", t.Content))
	}
	text += "6304"
	return text + fmt.Sprintf("%04X", checksum(text)), nil
}

func field(tag, value string) string { return fmt.Sprintf("%s%02d%s", tag, len(value), value) }

// checksum is CRC-16/CCITT-FALSE.
func checksum(s string) uint16 {
	sum := uint16(0xffff)
	for i := range len(s) {
		sum ^= uint16(s[i]) << 8
		for range 8 {
			if sum&0x8000 != 0 {
				sum = sum<<1 ^ 0x1021
			} else {
				sum <<= 1
			}
		}
	}
	return sum
}

// Code draws text as a QR code of medium error correction.
func Code(text string) (*qr.Code, error) { return qr.Encode(text, qr.M) }

// SVG draws a code as a picture that is sharp at any size, one unit a module; the quiet
// zone is part of it.
func SVG(code *qr.Code) string {
	const quiet = 4
	size := code.Size + 2*quiet
	var b strings.Builder
	fmt.Fprintf(&b,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h%dv%dH0z"/><path d="`,
		size, size, size, size)
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			from := x
			for code.Black(x, y) { // outside it is white
				x++
			}
			if x > from {
				fmt.Fprintf(&b, "M%d %dh%dv1h-%dz", from+quiet, y+quiet, x-from, x-from)
			}
		}
	}
	b.WriteString(`"/></svg>`)
	return b.String()
}

// Blocks draws a code with half blocks, two rows a line, for a terminal with
// light text on dark ground; the quiet zone is part of it.
func Blocks(code *qr.Code) string {
	const quiet = 2
	light := func(x, y int) bool { return !code.Black(x, y) }
	var b strings.Builder
	for y := -quiet; y < code.Size+quiet; y += 2 {
		for x := -quiet; x < code.Size+quiet; x++ {
			switch top, bottom := light(x, y), light(x, y+1); {
			case top && bottom:
				b.WriteRune('█')
			case top:
				b.WriteRune('▀')
			case bottom:
				b.WriteRune('▄')
			default:
				b.WriteRune(' ')
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
