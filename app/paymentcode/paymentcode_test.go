package paymentcode_test

import (
	"errors"
	"strings"
	"testing"

	"baoco/app/paymentcode"
)

func TestCheck(t *testing.T) {
	for pattern, want := range map[paymentcode.Pattern]error{
		{"DH", 6, 6, paymentcode.Digits}:                   nil,
		{"DH", 3, 23, paymentcode.Digits}:                  nil,
		{"DH", 4, 23, paymentcode.LettersAndDigits}:        nil,
		{"H2", 3, 3, paymentcode.Digits}:                   nil,
		{"ABCDEFGHIJ", 3, 15, paymentcode.Digits}:          nil,
		{"CKDH", 6, 6, paymentcode.Digits}:                 nil,
		{"", 6, 6, paymentcode.Digits}:                     paymentcode.ErrPrefix,
		{"D", 6, 6, paymentcode.Digits}:                    paymentcode.ErrPrefix,
		{"ABCDEFGHIJK", 6, 6, paymentcode.Digits}:          paymentcode.ErrPrefix,
		{"12", 6, 6, paymentcode.Digits}:                   paymentcode.ErrPrefix,
		{"2H", 6, 6, paymentcode.Digits}:                   paymentcode.ErrPrefix,
		{"dh", 6, 6, paymentcode.Digits}:                   paymentcode.ErrPrefix,
		{"ĐH", 6, 6, paymentcode.Digits}:                   paymentcode.ErrPrefix,
		{"D H", 6, 6, paymentcode.Digits}:                  paymentcode.ErrPrefix,
		{"DH-", 6, 6, paymentcode.Digits}:                  paymentcode.ErrPrefix,
		{"D*", 6, 6, paymentcode.Digits}:                   paymentcode.ErrPrefix,
		{".*", 6, 6, paymentcode.LettersAndDigits}:         paymentcode.ErrPrefix,
		{"CK", 6, 6, paymentcode.Digits}:                   paymentcode.ErrBankWord,
		{"GD", 6, 6, paymentcode.Digits}:                   paymentcode.ErrBankWord,
		{"CKN", 6, 6, paymentcode.Digits}:                  paymentcode.ErrBankWord,
		{"SO", 6, 6, paymentcode.LettersAndDigits}:         paymentcode.ErrBankWord,
		{"SOX", 6, 6, paymentcode.Digits}:                  nil,
		{"FT", 14, 14, paymentcode.Digits}:                 paymentcode.ErrBankWord,
		{"FTX", 6, 6, paymentcode.Digits}:                  paymentcode.ErrBankWord,
		{"CHUYENTIEN", 6, 6, paymentcode.Digits}:           paymentcode.ErrBankWord,
		{"DH", 2, 2, paymentcode.Digits}:                   paymentcode.ErrLength,
		{"DH", 0, 0, paymentcode.Digits}:                   paymentcode.ErrLength,
		{"DH", -1, 6, paymentcode.Digits}:                  paymentcode.ErrLength,
		{"DH", 6, 5, paymentcode.Digits}:                   paymentcode.ErrLength,
		{"DH", 6, 24, paymentcode.Digits}:                  paymentcode.ErrLength,
		{"ABCDEFGHIJ", 3, 16, paymentcode.Digits}:          paymentcode.ErrLength,
		{"DH", 3, 6, paymentcode.LettersAndDigits}:         paymentcode.ErrLength,
		{"DH", 6, 1 << 30, paymentcode.LettersAndDigits}:   paymentcode.ErrLength,
		{"DH", 6, 6, ""}:                                   paymentcode.ErrAlphabet,
		{"DH", 6, 6, "letters"}:                            paymentcode.ErrAlphabet,
		{strings.Repeat("A", 10_000), 6, 6, "digits"}:      paymentcode.ErrPrefix,
		{"DH", 6, 6, paymentcode.Alphabet("digits\x00*.")}: paymentcode.ErrAlphabet,
	} {
		if err := pattern.Check(); !errors.Is(err, want) {
			t.Errorf("%.40v: %v, want %v", pattern, err, want)
		}
	}
}

// A finder without patterns, or with refused ones only, finds nothing.
func TestNoPatterns(t *testing.T) {
	var none *paymentcode.Finder
	for _, f := range []*paymentcode.Finder{none, {}, paymentcode.NewFinder(nil),
		paymentcode.NewFinder([]paymentcode.Pattern{{}, {"D", 1, 30, "letters_and_digits"}})} {
		for _, content := range []string{"", "DH001234", "D1"} {
			if code, ok := f.Find(content); code != "" || ok {
				t.Errorf("%q: %q, %t", content, code, ok)
			}
		}
	}
}

// Contents that no table of text can hold.
func TestControlCharacters(t *testing.T) {
	f := paymentcode.NewFinder([]paymentcode.Pattern{{"DH", 6, 6, paymentcode.Digits}})
	for content, want := range map[string]string{
		"DH001234\nNGUYEN VAN A":     "DH001234",
		"NGUYEN VAN A\tDH001234\r\n": "DH001234",
		"DH\n001234":                 "",
		"DH\t001234":                 "",
		"DH\u00a0001234":             "DH001234",
		"DH\u200b001234":             "DH001234",
		"D\u0336H001234":             "DH001234",
		"DH001234\x00":               "DH001234",
		"DH\x00001234":               "",
		"\xffDH001234\xfe":           "DH001234",
		"ACSP/\r\nDH829868":          "",
		"DH001234\u20e3":             "DH001234",
		"Đơn hàng DH001234":          "DH001234",
		"Đơn hàng ĐH001234":          "DH001234",
	} {
		if code, _ := f.Find(content); code != want {
			t.Errorf("%q: %q, want %q", content, code, want)
		}
	}
}

// What begins as a code is told apart from what banks write.
func TestBegins(t *testing.T) {
	f := paymentcode.NewFinder([]paymentcode.Pattern{{"DH", 6, 6, paymentcode.Digits}})
	for content, want := range map[string]bool{
		"DH001234":            true,
		"tra DH00 nhe":        true,
		"CKDH0012345678":      true,
		"DHANG":               false,
		"NGUYEN VAN A":        false,
		"ACSP/DH829868":       false,
		"ACSP/DH829868 DH001": true,
		"don D H 1 2 3":       true,
		"don d-h 001234":      true,
		"tra D H001":          true,
		"DH 0 0 1":            true,
		"NGUYEN THI D HOA 5":  false,
		"D H 5 ANH":           true,
		"AD H 5":              false,
	} {
		if got := f.Begins(content); got != want {
			t.Errorf("%q: %t", content, got)
		}
	}
	var none *paymentcode.Finder
	if none.Begins("DH001234") {
		t.Error("without patterns")
	}
}

// long are contents of 10,000 characters that make a finder work, and their code.
var long = map[string]string{
	strings.Repeat("A", 10_000):                                     "",
	strings.Repeat("1", 10_000):                                     "",
	strings.Repeat("DAA", 3333):                                     "",
	strings.Repeat("DAA ", 2500):                                    "",
	strings.Repeat("DAA1 ", 2000):                                   "",
	"DAA" + strings.Repeat("1", 10_000):                             "",
	"DAA" + strings.Repeat("0 ", 5000):                              "",
	"DBA" + strings.Repeat("A", 10_000) + "1":                       "",
	strings.Repeat("CK", 5000):                                      "",
	strings.Repeat("CHUYENTIEN", 1000):                              "",
	strings.Repeat("TRACE ", 1667):                                  "",
	strings.Repeat(" ", 10_000):                                     "",
	strings.Repeat("đ", 10_000):                                     "",
	strings.Repeat("\u0301", 10_000):                                "",
	strings.Repeat("\xff", 10_000):                                  "",
	strings.Repeat("A ", 5000) + "DAA001234":                        "DAA001234",
	"DAA001234 " + strings.Repeat("A", 9990):                        "DAA001234",
	strings.Repeat("DAA001234 ", 1000):                              "DAA001234",
	strings.Repeat("DAA001234 ", 999) + "DAA001235":                 "",
	strings.Repeat("NGUYỄN VĂN A ", 700) + "DAA-001234 cảm ơn shop": "DAA001234",
}

func TestLongContents(t *testing.T) {
	f := paymentcode.NewFinder(fifty)
	for content, want := range long {
		if code, _ := f.Find(content); code != want {
			t.Errorf("%.30q…: %q, want %q", content, code, want)
		}
	}
}

// Goroutines share a finder; the race detector looks on.
func TestConcurrentUse(t *testing.T) {
	f := paymentcode.NewFinder(fifty)
	done := make(chan string)
	for range 8 {
		go func() {
			code, _ := f.Find("Cảm ơn DAA-001234")
			done <- code
		}()
	}
	for range 8 {
		if code := <-done; code != "DAA001234" {
			t.Errorf("%q", code)
		}
	}
}
