package paymentcode_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"baoco/app/paymentcode"
)

// shops are patterns that lie near each other, of either alphabet, of fixed
// lengths and of ranges.
var shops = [][]paymentcode.Pattern{
	{{"DH", 6, 6, paymentcode.Digits}},
	{{"DH", 4, 8, paymentcode.Digits}},
	{{"DH", 8, 8, paymentcode.LettersAndDigits}},
	{{"DH", 4, 12, paymentcode.LettersAndDigits}},
	{{"DH", 4, 4, paymentcode.Digits}, {"DHX", 3, 6, paymentcode.Digits}, {"KH", 5, 9, paymentcode.LettersAndDigits},
		{"H2", 3, 3, paymentcode.Digits}},
	{{"DH", 6, 6, paymentcode.Digits}, {"DH", 7, 9, paymentcode.LettersAndDigits}, {"CKDH", 6, 6, paymentcode.Digits}},
}

var marks = regexp.MustCompile(`[\p{Mn}\p{Cf}]`)

// slowFold is the content in upper case without marks, by other means than the
// finder's; what isn't ASCII stays.
func slowFold(s string) string {
	return strings.Map(func(r rune) rune {
		if letter := marks.ReplaceAllString(norm.NFKD.String(string(r)), ""); unicode.IsLetter(r) && len(letter) == 1 {
			return unicode.ToUpper(rune(letter[0]))
		} else if letter == "" {
			return -1
		}
		if r == 'đ' || r == 'Đ' || r == 'ð' || r == 'Ð' {
			return 'D'
		}
		if unicode.Is(unicode.Pd, r) {
			return '-'
		}
		if unicode.IsSpace(r) && r > unicode.MaxASCII {
			return ' '
		}
		return unicode.ToUpper(r)
	}, s)
}

// fits reports whether code has the form of a pattern.
func fits(patterns []paymentcode.Pattern, code string) bool {
	for _, p := range patterns {
		body, has := strings.CutPrefix(code, p.Prefix)
		form := `^[0-9]+$`
		if p.Alphabet == paymentcode.LettersAndDigits {
			form = `^[A-Z]*[0-9][A-Z0-9]*$`
		}
		if has && len(body) >= p.Least && len(body) <= p.Most && regexp.MustCompile(form).MatchString(body) {
			return true
		}
	}
	return false
}

// standsIn reports whether code stands in a folded content between boundaries,
// with nothing but separators in it.
func standsIn(content, code string) bool {
	const edge = `[^\p{L}\p{N}]`
	form := `(?:^|` + edge + `)(?:CK|CT|ND|QR|TT|IBFT|NOIDUNG|CHUYENTIEN|CHUYENKHOAN|THANHTOAN)?` +
		strings.Join(strings.Split(code, ""), `[ \-_./:#]{0,3}`) + `(?:$|` + edge + `|CHUYENTIEN|CHUYENKHOAN|THANHTOAN)`
	return regexp.MustCompile(form).MatchString(content)
}

func FuzzFind(f *testing.F) {
	for i, r := range rows(f) {
		f.Add(r.content, byte(i))
		f.Add(r.content, byte(i+1))
	}
	f.Add("DH1234  5", byte(1))
	f.Add("DH\u0301001234\u200b", byte(0))
	f.Add("\xffDH001234", byte(0))
	f.Fuzz(func(t *testing.T, content string, shop byte) {
		patterns := shops[int(shop)%len(shops)]
		finder := paymentcode.NewFinder(patterns)
		code, ok := finder.Find(content)
		if ok != (code != "") {
			t.Fatalf("%q, %t", code, ok)
		}
		if !ok {
			return
		}
		if !fits(patterns, code) {
			t.Fatalf("%q has the form of no pattern", code)
		}
		if folded := slowFold(content); !standsIn(folded, code) {
			t.Fatalf("%q doesn't stand in %q", code, folded)
		}
		if again, _ := finder.Find(code); again != code {
			t.Errorf("%q read again: %q", code, again)
		}
		// What stands apart changes nothing.
		if with, _ := finder.Find(content + ", XIN CAM ON"); with != code {
			t.Errorf("with words behind: %q, want %q", with, code)
		}
		fixed := true
		for _, p := range patterns {
			fixed = fixed && p.Least == p.Most && len(patterns) == 1
		}
		if with, _ := finder.Find("XIN CHAO, " + content); with != code && (fixed || with != "") {
			t.Errorf("with words before: %q, want %q", with, code)
		}
		if with, _ := finder.Find(content + ", " + code); with != code && (fixed || with != "") {
			t.Errorf("with the code behind: %q, want %q", with, code)
		}
		// What is glued to it, and what is another code, does.
		for _, other := range []string{code + "7", "7" + code, "X" + code, code[:len(code)-1]} {
			if got, _ := finder.Find(other); got == code {
				t.Errorf("%q read as %q", other, got)
			}
		}
		other := code[:len(code)-1] + string('0'+('9'-rune(code[len(code)-1])+10)%10)
		if code[len(code)-1] >= '0' && code[len(code)-1] <= '9' && other != code {
			if got, _ := finder.Find(content + ", " + other); got != "" {
				t.Errorf("two codes, %q and %q: %q", code, other, got)
			}
		}
	})
}
