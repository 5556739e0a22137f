package fold_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"baoco/app/fold"
)

func TestString(t *testing.T) {
	for s, want := range map[string]string{
		"":                       "",
		"thanh toan":             "thanh toan",
		"THANH TOAN #42 (50%)":   "thanh toan #42 (50%)",
		"Thanh Toán":             "thanh toan",
		"Nguyễn Thị Ưởng":        "nguyen thi uong",
		"ĐẶNG ĐÌNH đức":          "dang dinh duc",
		"Kỳ, kỵ, Kỷ, kỹ, Kỷ":     "ky, ky, ky, ky, ky",
		"quốc lộ 1A – ½":         "quoc lo 1a – 1⁄2",
		"ＡＣＢ１２３":                 "acb123",
		"cà phê ☕ 🧾":             "ca phe ☕ 🧾",
		"a\u0301\u0323\u031bb":   "ab",
		"İSTANBUL":               "istanbul",
		"tab\tnew\nline\x01\x7f": "tab\tnew\nline\x01\x7f",
		"\xffĐ\xfe":              "\uFFFDd\uFFFD",
	} {
		if got := fold.String(s); got != want {
			t.Errorf("String(%q) = %q, want %q", s, got, want)
		}
	}
}

// Every vowel of Vietnamese in every tone, composed and decomposed, in either
// case, is its letter.
func TestStringOfEveryVietnameseLetter(t *testing.T) {
	for plain, letters := range map[string]string{
		"a": "aàáảãạăằắẳẵặâầấẩẫậ",
		"e": "eèéẻẽẹêềếểễệ",
		"i": "iìíỉĩị",
		"o": "oòóỏõọôồốổỗộơờớởỡợ",
		"u": "uùúủũụưừứửữự",
		"y": "yỳýỷỹỵ",
		"d": "dđ",
	} {
		for _, letter := range letters {
			lower, upper := string(letter), string(unicode.ToUpper(letter))
			for _, form := range []string{lower, upper, norm.NFD.String(lower), norm.NFD.String(upper), norm.NFC.String(norm.NFD.String(upper))} {
				if got := fold.String(form); got != plain {
					t.Errorf("String(%q) = %q, want %q", form, got, plain)
				}
			}
		}
	}
}

// What is stored folded and what is looked for folded meet: folding again
// changes nothing, for any character there is.
func TestStringTwice(t *testing.T) {
	for r := range unicode.MaxRune + 1 {
		if !utf8.ValidRune(r) {
			continue
		}
		once := fold.String(string(r))
		if twice := fold.String(once); twice != once {
			t.Errorf("%U: String = %q, again %q", r, once, twice)
		}
	}
}

func FuzzString(f *testing.F) {
	for _, s := range []string{"Thanh toán đơn hàng", "thanh TOAN", norm.NFD.String("Nguyễn Thị Ưởng"), "\xff", "ﬁ", "ẞ", "한글"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		folded := fold.String(s)
		if !utf8.ValidString(folded) {
			t.Fatalf("String(%q) = %q is not UTF-8", s, folded)
		}
		if strings.ContainsFunc(folded, func(r rune) bool { return unicode.Is(unicode.Mn, r) || r == 'đ' || 'A' <= r && r <= 'Z' }) {
			t.Fatalf("String(%q) = %q", s, folded)
		}
		if utf8.ValidString(s) && fold.String(norm.NFD.String(s)) != folded {
			t.Fatalf("String(%q) = %q, decomposed %q", s, folded, fold.String(norm.NFD.String(s)))
		}
	})
}
