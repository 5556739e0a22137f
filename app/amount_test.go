package app_test

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"baoco/app"
	"baoco/app/paymentcode"
)

func TestParseAmount(t *testing.T) {
	zeros := func(n int) string { return strings.Repeat("0", n) }
	tests := []struct {
		literal string
		want    int64
		err     error
	}{
		{"150000", 150000, nil},
		{"150000.0", 150000, nil},
		{"150000.000000000000000000000", 150000, nil},
		{"1.5e5", 150000, nil},
		{"1.5E5", 150000, nil},
		{"1.5e+5", 150000, nil},
		{"1.5e005", 150000, nil},
		{"15000000e-2", 150000, nil},
		{"0.15e6", 150000, nil},
		{"0.00000000000000000001e20", 1, nil},
		{"1", 1, nil},
		{"1e0", 1, nil},
		{"1e-0", 1, nil},
		{"10e-1", 1, nil},
		{"1e12", 1_000_000_000_000, nil},
		{"9999999999999", 9_999_999_999_999, nil},
		{"9999999999999.0", 9_999_999_999_999, nil},
		{"9.999999999999e12", 9_999_999_999_999, nil},
		{"-150000", -150000, nil},
		{"-1.5e5", -150000, nil},
		{"-9999999999999", -9_999_999_999_999, nil},

		// An exponent and a long mantissa that cancel out.
		{"1" + zeros(1_000_000) + "e-1000000", 1, nil},
		{"0." + zeros(999_999) + "1e1000000", 1, nil},
		{"12345." + zeros(1_000_000), 12345, nil},
		{"1e" + zeros(1_000_000) + "3", 1000, nil},

		{"0", 0, app.ErrAmountRange},
		{"-0", 0, app.ErrAmountRange},
		{"0.0", 0, app.ErrAmountRange},
		{"-0.000", 0, app.ErrAmountRange},
		{"0e0", 0, app.ErrAmountRange},
		{"0e99999999999999999999", 0, app.ErrAmountRange},
		{"0.0e-99999999999999999999", 0, app.ErrAmountRange},
		{"1e13", 0, app.ErrAmountRange},
		{"10000000000000", 0, app.ErrAmountRange},
		{"-10000000000000", 0, app.ErrAmountRange},
		{"9007199254740993", 0, app.ErrAmountRange},     // 2^53+1
		{"9223372036854775807", 0, app.ErrAmountRange},  // 2^63-1
		{"9223372036854775808", 0, app.ErrAmountRange},  // 2^63
		{"18446744073709551617", 0, app.ErrAmountRange}, // 2^64+1
		{"-9223372036854775808", 0, app.ErrAmountRange},
		{"1" + zeros(400), 0, app.ErrAmountRange},
		{"1e400", 0, app.ErrAmountRange},
		{"1e9223372036854775807", 0, app.ErrAmountRange},
		{"1e9223372036854775808", 0, app.ErrAmountRange},
		{"1e18446744073709551616", 0, app.ErrAmountRange}, // 2^64: 1 where it wraps
		{"1e" + strings.Repeat("9", 1_000_000), 0, app.ErrAmountRange},
		{strings.Repeat("9", 1_000_000), 0, app.ErrAmountRange},

		{"0.5", 0, app.ErrAmountFraction},
		{"150000.5", 0, app.ErrAmountFraction},
		{"150000.000000000000000000000000001", 0, app.ErrAmountFraction},
		{"0.99999999999999999999999999", 0, app.ErrAmountFraction},
		{"1.55e1", 0, app.ErrAmountFraction},
		{"1e-1", 0, app.ErrAmountFraction},
		{"-0.1", 0, app.ErrAmountFraction},
		{"1e-400", 0, app.ErrAmountFraction},
		{"1e-18446744073709551616", 0, app.ErrAmountFraction},
		{"1e-" + strings.Repeat("9", 1_000_000), 0, app.ErrAmountFraction},
		{"1" + zeros(1_000_000) + "e-1000001", 0, app.ErrAmountFraction},
	}
	for _, literal := range []string{
		"", "-", "+5", "+", "--5", "01", "00", "-01", "00.5", "0x10", "0b1", "0o7", "1_000", "1,000", "1.000,5",
		"1e", "1e+", "1e-", "1.e5", "1.", ".5", "-.5", ".", "e5", "1e5e5", "1E5e5", "1e5.0", "1e1.5", "1e--5", "1e+-5", "1e-+5",
		"1..0", "1.2.3", "1.-5", "1-", "5-", "(5)", " 1", "1 ", "1\n", "\t1", "1 000", "1\x00", "\x001",
		"NaN", "nan", "Infinity", "-Infinity", "inf", "null", "true", `"150000"`, "150000đ", "150000 VND", "$5",
		"１５００００", "١٥", "१", "1\u00a0000", "−5", "1e５", "\xff", "1\xff", "0X1P-2", "1f", "1L", "150k", "[1]",
	} {
		tests = append(tests, struct {
			literal string
			want    int64
			err     error
		}{literal, 0, app.ErrAmountSyntax})
	}
	for _, test := range tests {
		got, err := app.ParseAmount(test.literal)
		if got != test.want || !errors.Is(err, test.err) {
			t.Errorf("ParseAmount(%s) = %d, %v; want %d, %v", short(test.literal), got, err, test.want, test.err)
		}
	}
}

// What a person typed is read as grouped, and as nothing else.
func TestReadAmount(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "200": 200, "200000": 200_000, "200.000": 200_000, "200,000": 200_000, "200 000": 200_000, "1.549.000": 1_549_000,
		"1,549,000": 1_549_000, "1 549 000": 1_549_000,
		"9.999.999.999.999": app.MaxAmount, "9999999999999": app.MaxAmount, " 200.000 ": 200_000, "200.000đ": 200_000, "200.000 đ": 200_000,
		"200.000 Đ": 200_000, "200.000₫": 200_000, "200000 VND": 200_000, "200000vnd": 200_000,
		"200.000 VNĐ": 200_000, "1\u00a0549\u00a0000\u00a0₫": 1_549_000, "1\u202f549\u202f000": 1_549_000,
	} {
		if got, err := app.ReadAmount(text); got != want || err != nil {
			t.Errorf("ReadAmount(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", " ", "0", "00", "0.000", "000.200", "0200000", "0.200", "-200", "+200", "(200)", "1.5", "1,5", "200.00", "200.0", "200000.0",
		"200.0000", "1.549.00", "1.5490.00", "1549.000", "1.549,000", "1,549.000", "1.549 000", "1 549.000",
		"1..549", ".200", "200.", "200.000.", ",200", "1  549", "1.549.000,00", "2e5", "1.5e6", "200k", "1tr5", "1 triệu", "đ200", "VND 200",
		"200 USD", "$200", "200đđ", "200 vnd đ", "NaN", "0x10", "２００", "٢٠٠", "200\x00", "1_000", "1'000",
		"10000000000000", "10.000.000.000.000", strings.Repeat("9", 1_000_000), "1" + strings.Repeat(".000", 300_000),
		"1" + strings.Repeat("0", 1_000_000) + "đ",
	} {
		if got, err := app.ReadAmount(text); got != 0 || err == nil {
			t.Errorf("ReadAmount(%s) = %d, %v", short(text), got, err)
		}
	}
}

// What a person searches for may be shortened. What is no such amount, or could be
// two, is none.
func TestReadShortAmount(t *testing.T) {
	for text, want := range map[string]int64{
		"200000": 200_000, "200.000": 200_000, "1.549.000 đ": 1_549_000, "1,549,000": 1_549_000, "200 000 ₫": 200_000,
		"200k": 200_000, "200 k": 200_000, "200K": 200_000, "200kđ": 200_000, "200k vnd": 200_000, "200 nghìn": 200_000, "200 ngàn đ": 200_000,
		"200 NGHIN": 200_000, "1,5k": 1500, "1k5": 1500,
		"1tr": 1_000_000, "1tr5": 1_500_000, "1TR5": 1_500_000, "1 triệu 5": 1_500_000, "1,5tr": 1_500_000, "1.5 triệu": 1_500_000,
		"0,5tr": 500_000, "1.25tr": 1_250_000, "1tr05": 1_050_000,
		"1tr549": 1_549_000, "1tr500k": 1_500_000, "1tr50k": 1_050_000, "1 triệu 50 nghìn": 1_050_000, "12m": 12_000_000, "1.5M": 1_500_000,
		"1\u00a0tr\u00a05": 1_500_000,
		"1 tỷ":             1_000_000_000, "1 tỉ 2": 1_200_000_000, "1ty200tr": 1_200_000_000, "1,25 tỷ": 1_250_000_000,
		"9999tỷ": 9_999_000_000_000, "2b": 2_000_000_000, "9999999999k": 9_999_999_999_000,
	} {
		if got, err := app.ReadShortAmount(text); got != want || err != nil {
			t.Errorf("ReadShortAmount(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "k", "tr5", "0k", "0,0tr", "00k", "-200k", "+200k", "1.500k", "1,549tr", "1.5tr5", "1tr5tr", "1k5tr", "1k500k", "1tr1234", "1tr 5 6",
		"200kk", "200 x", "k200", "DH200k", "200k DH1", "1,5", "1.5",
		"10000tỷ", "18446744074b", "9999999999999k", "9999999999999b", "99999999999999999999k", "1tr5 usd", "$2k", "200₫k", "２００k\x00",
	} {
		if got, err := app.ReadShortAmount(text); got != 0 || err == nil {
			t.Errorf("ReadShortAmount(%s) = %d, %v", short(text), got, err)
		}
	}
	// What is recorded or paid is never read so.
	for _, text := range []string{"200k", "1tr5", "1,5 triệu"} {
		if _, err := app.ReadAmount(text); err == nil {
			t.Errorf("ReadAmount takes %q", text)
		}
	}
}

// A search text means an amount, the end of an account number, the beginning of a
// nickname, several of them or none.
func TestMeaningOf(t *testing.T) {
	banks := []app.BankAccount{{ID: 1, AccountNumber: "19354957"}, {ID: 2, AccountNumber: "0071001234957"},
		{ID: 3, AccountNumber: "VQRQAAbc200000"}, {ID: 4, AccountNumber: "957", BankAccountLabel: app.BankAccountLabel{Nickname: "Quầy chính"}}}
	type meaning struct {
		Amount int64
		Banks  string
		Code   string
	}
	codes := app.NewCodeReader([]app.CodePattern{{Pattern: paymentcode.Pattern{Prefix: "DH", Least: 6, Most: 6,
		Alphabet: paymentcode.Digits}}})
	for text, want := range map[string]meaning{
		"": {}, "nguyen van a": {}, "DH10293": {}, "FT26326123": {}, "%": {}, "·": {}, "····": {}, "957": {957, "", ""},
		"4957": {4957, "1 2", ""}, "··4957": {0, "1 2", ""}, "••4957": {0, "1 2", ""}, "...4957": {0, "1 2", ""}, "…4957": {0, "1 2", ""},
		"*** 4957": {0, "1 2", ""}, "xxxx4957": {0, "1 2", ""}, " 4957 ": {4957, "1 2", ""}, "54957": {54957, "1", ""}, "··957": {}, "··1935": {},
		"··123": {}, "··0071": {},
		"0071001234957": {0, "2", ""}, "19354957": {19354957, "1", ""}, "119354957": {119354957, "", ""}, "vqrqaabc200000": {0, "3", ""},
		"200000": {200_000, "3", ""}, "200.000": {200_000, "", ""},
		"QUAY": {0, "4", ""}, "quầy chính": {0, "4", ""}, "qua": {}, "chính": {}, "quầy chính 2": {},
		"200k": {200_000, "", ""}, "+200.000 ₫": {200_000, "", ""}, "−1.549.000\u00a0₫": {1_549_000, "", ""}, "-1tr5": {1_500_000, "", ""},
		"dh 001234": {0, "", "DH001234"}, "DH001234": {0, "", "DH001234"}, "DH00123": {}, "FT001234": {},
	} {
		m := app.MeaningOf(text, banks, codes)
		got := meaning{Amount: m.Amount, Code: m.Code}
		for _, b := range m.BankAccounts {
			got.Banks = strings.TrimSpace(fmt.Sprint(got.Banks, " ", b.ID))
		}
		if got != want || m.Any() != (want != meaning{}) {
			t.Errorf("%q means %+v, want %+v", text, got, want)
		}
	}
}

// What a program wrote as a text is read exactly, or refused.
func TestParseAmountText(t *testing.T) {
	for text, want := range map[string]int64{
		"150000": 150_000, "150000.0": 150_000, "150000.00": 150_000, "150000.0000": 150_000, "200.0000": 200, "-193000": -193_000, "-5.0": -5,
		"9999999999999.00":                    app.MaxAmount,
		"1." + strings.Repeat("0", 1_000_000): 1,
	} {
		if got, err := app.ParseAmountText(text); got != want || err != nil {
			t.Errorf("ParseAmountText(%s) = %d, %v; want %d", short(text), got, err, want)
		}
	}
	for text, want := range map[string]error{
		"150.000": app.ErrAmountAmbiguous, "-150.000": app.ErrAmountAmbiguous, "150000.000": app.ErrAmountAmbiguous,
		"1.549.000": app.ErrAmountAmbiguous, "1,549,000": app.ErrAmountAmbiguous, "1 549 000": app.ErrAmountAmbiguous,
		"0.000": app.ErrAmountAmbiguous, "150.500": app.ErrAmountAmbiguous, ".000": app.ErrAmountAmbiguous,
		"1.549.000,00": app.ErrAmountSyntax, "1,549.00": app.ErrAmountSyntax, "1,5": app.ErrAmountSyntax, "1.5e5": app.ErrAmountSyntax,
		"15E4": app.ErrAmountSyntax, "": app.ErrAmountSyntax, " 150000": app.ErrAmountSyntax, "150000đ": app.ErrAmountSyntax,
		"+5":      app.ErrAmountSyntax,
		"0150000": app.ErrAmountSyntax, "150000.": app.ErrAmountSyntax, "150000.5": app.ErrAmountFraction, "0": app.ErrAmountRange,
		"-0": app.ErrAmountRange, "0.00": app.ErrAmountRange, "10000000000000": app.ErrAmountRange,
		strings.Repeat("9", 1_000_000): app.ErrAmountRange,
	} {
		if got, err := app.ParseAmountText(text); got != 0 || !errors.Is(err, want) {
			t.Errorf("ParseAmountText(%s) = %d, %v; want %v", short(text), got, err, want)
		}
	}
}

// Every amount there can be reads as itself in every notation: at the borders
// of each power of ten.
func TestParseAmountNotations(t *testing.T) {
	for power := int64(1); power <= 1_000_000_000_000; power *= 10 {
		for _, n := range []int64{power, power + 1, power*2 - 1, power * 5, power*10 - 1} {
			decimal := strconv.FormatInt(n, 10)
			for _, literal := range []string{
				decimal, decimal + ".0", decimal + "e0", decimal + "00e-2", decimal + ".00E+0",
				decimal[:1] + "." + decimal[1:] + "0e" + strconv.Itoa(len(decimal)-1), "0." + decimal + "e" + strconv.Itoa(len(decimal)),
			} {
				if got, err := app.ParseAmount(literal); got != n || err != nil {
					t.Errorf("ParseAmount(%s) = %d, %v; want %d", literal, got, err, n)
				}
				if got, err := app.ParseAmount("-" + literal); got != -n || err != nil {
					t.Errorf("ParseAmount(-%s) = %d, %v; want %d", literal, got, err, -n)
				}
			}
		}
	}
}

// numberGrammar is the number of RFC 8259.
var numberGrammar = regexp.MustCompile(`\A(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?\z`)

// exactAmount reads an amount with math/big.
func exactAmount(literal string) (int64, error) {
	parts := numberGrammar.FindStringSubmatch(literal)
	if parts == nil {
		return 0, app.ErrAmountSyntax
	}
	digits, _ := new(big.Int).SetString(parts[2]+parts[3], 10)
	if digits.Sign() == 0 {
		return 0, app.ErrAmountRange
	}
	exponent := new(big.Int)
	if parts[4] != "" {
		exponent.SetString(strings.TrimPrefix(parts[4], "+"), 10)
	}
	exponent.Sub(exponent, big.NewInt(int64(len(parts[3]))))
	// Beyond this an exponent outweighs the mantissa whatever that is.
	limit := big.NewInt(int64(len(literal)) + 20)
	value := new(big.Rat).SetInt(digits)
	switch {
	case exponent.Cmp(limit) > 0:
		return 0, app.ErrAmountRange
	case exponent.CmpAbs(limit) > 0:
		return 0, app.ErrAmountFraction
	case exponent.Sign() >= 0:
		value.Mul(value, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), exponent, nil)))
	default:
		value.Quo(value, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), exponent.Neg(exponent), nil)))
	}
	switch {
	case !value.IsInt():
		return 0, app.ErrAmountFraction
	case value.Num().Cmp(big.NewInt(app.MaxAmount)) > 0:
		return 0, app.ErrAmountRange
	case parts[1] == "-":
		return -value.Num().Int64(), nil
	}
	return value.Num().Int64(), nil
}

func FuzzParseAmount(f *testing.F) {
	for _, seed := range []string{
		"150000", "150000.0", "1.5e5", "-0", "0", "0.0", "1e13", "9999999999999", "1e400", "1e-400", "9007199254740993",
		"9223372036854775808", "01", "0x10", "+5", "", "1e", "1.e5", "1e99999999999999999999", "1000e-3", "0.001e3", "-1E+2",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, literal string) {
		if len(literal) > 1000 {
			return // the exact way is quadratic
		}
		got, err := app.ParseAmount(literal)
		want, wantErr := exactAmount(literal)
		if got != want || !errors.Is(err, wantErr) {
			t.Errorf("ParseAmount(%q) = %d, %v; exactly %d, %v", literal, got, err, want, wantErr)
		}
	})
}

// FuzzReadAmount: what is read of a text has that text's digits and no others,
// less a fraction of zeros in a program's, whatever separates them.
func FuzzReadAmount(f *testing.F) {
	for _, seed := range []string{"200000", "200.000", "1,549,000", "1 549 000đ", "150000.00", "-5.0", "0", "200.000 VNĐ", "1.549.00",
		"9.999.999.999.999", "1\u00a0549"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		digits := strings.Map(func(r rune) rune {
			if r < '0' || r > '9' {
				return -1
			}
			return r
		}, text)
		if got, err := app.ReadAmount(text); err == nil && (strconv.FormatInt(got, 10) != digits || got < 1 || got > app.MaxAmount) ||
			err != nil && got != 0 {
			t.Errorf("ReadAmount(%q) = %d, %v", text, got, err)
		}
		got, err := app.ParseAmountText(text)
		if err != nil {
			if got != 0 {
				t.Errorf("ParseAmountText(%q) = %d, %v", text, got, err)
			}
			return
		}
		whole, fraction, _ := strings.Cut(text, ".")
		if strconv.FormatInt(got, 10) != whole || strings.Trim(fraction, "0") != "" || len(fraction) == 3 {
			t.Errorf("ParseAmountText(%q) = %d", text, got)
		}
	})
}

// short is a text that may be a megabyte long as a failure shows it.
func short(s string) string {
	if len(s) > 80 {
		return strconv.Quote(s[:30]) + "…" + strconv.Quote(s[len(s)-30:]) + " (" + strconv.Itoa(len(s)) + " bytes)"
	}
	return strconv.Quote(s)
}
