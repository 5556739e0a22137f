// Package paymentcode finds the payment code of a shop in the content of a
// transfer.
//
// Money hangs on it: a transfer booked to the wrong order is far worse than a
// code that isn't found. So what can be read in two ways isn't read.
//
// The content is made plain first. Letters lose their accents and become upper
// case. Characters that can't be seen are left out. A word is a run of letters
// and digits; everything else separates words. A character that changes the
// direction of writing belongs to a word and matches nothing: a screen may show
// the digits behind it in another order.
//
// Where a code begins:
//   - A code begins a word: DH001234 isn't in XDH001234.
//   - One word of banks may be glued before it: CKDH001234. The list is short
//     and closed. If a pattern reads the word from its beginning, no such word
//     is taken off.
//   - A bank's own reference is no code: a word that begins with FT, TRACE, MOMO
//     and the like; DH829868 after "ACSP/"; ACE406195 after "TR" (the word
//     TRACE, broken by the end of a line).
//
// How it goes on, if it is of digits:
//   - The digits follow the prefix. All of them are read: DH12 isn't in DH123.
//   - After them the word ends, or one of the words that banks glue to it
//     begins: DH001234CHUYENTIEN.
//   - Separators may stand between the prefix and the digits: DH-001234,
//     DH: 001234. Then the digits are four at least, and five if there is a
//     space, and they don't look like an amount, a year, a date, a phone number
//     or the number of an account: "DH 150000" is an order of 150,000 dong. Nor
//     does a unit of money follow them: "DH 255510 VND".
//   - One hyphen or underscore may stand between digits, with three digits at
//     least on either side: DH001-234. No other separator joins digits.
//   - If the digits of the next words could belong to the code as well, there
//     is none: "DH1234 56", where codes have four to six digits.
//
// If it is of letters and digits:
//   - It is the rest of the word. It has a digit: DHANG is no code.
//   - One hyphen or underscore may stand after the prefix: DH-AB12CD. Then the
//     rest has a letter and a digit and isn't a number with its unit (DH-150K).
//   - If the next word has a digit, or stands after two spaces (a bank's end of
//     line), and could belong to the code as well, there is none. Nor is there
//     one if a short word of banks may be glued to it, as in DH1234CK where
//     lengths vary.
//
// Banks cut contents. What is left of a code of a fixed length is too short and
// isn't read. Where lengths vary, what is left can be another code. So a code
// that could be longer isn't read if an ellipsis follows, nor if it ends where
// banks may cut: 25 characters after the bank's own beginning, or later. A fixed
// length is better.
//
// The whole content:
//   - The same code twice is that code. Two different ones are none.
//   - What begins as a code and can't be read makes it none as well: it can be
//     a second order, cut. So does a code after "REF".
//   - A list of codes with one prefix is none: "DH001234-35", "DH001234 001235",
//     "DH001234 va don 1235".
//   - Where several patterns read a place, they must read the same code.
package paymentcode

import (
	"errors"
	"slices"
	"strings"
)

// Alphabet is what follows the prefix of a code.
type Alphabet string

const (
	Digits           Alphabet = "digits"
	LettersAndDigits Alphabet = "letters_and_digits"
)

// A Pattern describes the payment codes of a shop: a prefix and what follows it.
type Pattern struct {
	Prefix      string // A–Z and 0–9, begins with a letter
	Least, Most int    // how many characters follow the prefix
	Alphabet    Alphabet
}

// Bounds of a pattern.
const (
	MinPrefix, MaxPrefix = 2, 10
	MinDigits            = 3  // two digits are a count of things or a day
	MinLettersAndDigits  = 4  // three are a price (50K), a size or a name
	MaxCode              = 25 // prefix and all; banks carry 25 characters of a content without cutting them
)

// Refusals of a pattern.
var (
	ErrPrefix   = errors.New("the prefix must be 2 to 10 of A–Z and 0–9 and begin with a letter")
	ErrBankWord = errors.New("banks write this prefix themselves, before numbers of their own")
	ErrAlphabet = errors.New("the alphabet must be digits or letters_and_digits")
	ErrLength   = errors.New("the length after the prefix is out of bounds")
)

// IsPrefix reports whether codes can begin with s.
func IsPrefix(s string) bool {
	return len(s) >= MinPrefix && len(s) <= MaxPrefix && isLetter(s[0]) && !strings.ContainsFunc(s, notOfCodes)
}

// IsCode reports whether s can be a code of some pattern, in its normal form.
func IsCode(s string) bool {
	return len(s) >= MinPrefix+MinDigits && len(s) <= MaxCode && isLetter(s[0]) && hasDigit(s) && !strings.ContainsFunc(s, notOfCodes)
}

// Check refuses a new pattern that would read what isn't a code.
func (p Pattern) Check() error {
	if slices.Contains(prefixesOfBanks, p.Prefix) {
		return ErrBankWord
	}
	return p.check()
}

// check is Check, but for prefixes that a pattern of an earlier version may have.
func (p Pattern) check() error {
	if !IsPrefix(p.Prefix) {
		return ErrPrefix
	}
	if slices.Contains(wordsBefore, p.Prefix) || beginsWithAny(p.Prefix, references) || slices.Contains(tails, p.Prefix) {
		return ErrBankWord
	}
	if p.Alphabet != Digits && p.Alphabet != LettersAndDigits {
		return ErrAlphabet
	}
	if least, most := p.Lengths(); p.Least < least || p.Most < p.Least || p.Most > most {
		return ErrLength
	}
	return nil
}

// Lengths are the bounds of Least and Most.
func (p Pattern) Lengths() (least, most int) {
	if p.Alphabet == LettersAndDigits {
		return MinLettersAndDigits, MaxCode - len(p.Prefix)
	}
	return MinDigits, MaxCode - len(p.Prefix)
}

// fits reports whether n characters can follow the prefix.
func (p Pattern) fits(n int) bool { return n >= p.Least && n <= p.Most }

// goesOn reports whether code can be the beginning of a longer code.
func (p Pattern) goesOn(code string) bool {
	body, has := strings.CutPrefix(code, p.Prefix)
	if !has {
		return strings.HasPrefix(p.Prefix, code)
	}
	return len(body) < p.Most && (p.Alphabet == LettersAndDigits || digitsOf(body) == len(body))
}

func isLetter(c byte) bool { return c >= 'A' && c <= 'Z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func notOfCodes(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') }
