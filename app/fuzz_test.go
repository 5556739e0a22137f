package app_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"baoco/app"
)

// FuzzParseTime: what is accepted is exactly what would be written, and the
// bounds of a range are in order.
func FuzzParseTime(f *testing.F) {
	for _, seed := range []string{
		"2026-11-21 10:59:30", "2026-11-21", "2026-02-30", "2026-02-29 00:00:00", "0000-00-00", "0000-01-01", "9999-12-31 23:59:59",
		"2026-11-21 24:00:00",
		"2026-11-21 10:59:60", "2026-11-21  1:02:03", "2026-11-21 10:59:30.5", "2026-11-21 10:59:30Z", "2026-1-2", "-001-01-01", "+026-01-01",
		"２０２６-01-01", " ", "2026-11-21 ",
	} {
		f.Add(seed)
	}
	zone := time.FixedZone("", 7*60*60)
	f.Fuzz(func(t *testing.T, s string) {
		if at, err := app.ParseTime(s, zone); err == nil && app.FormatTime(at, zone) != s {
			t.Errorf("%q is read as %s", s, app.FormatTime(at, zone))
		}
		from, err := app.ParseBound(s, false, zone)
		to, errTo := app.ParseBound(s, true, zone)
		if (err == nil) != (errTo == nil) {
			t.Fatalf("%q: as a lower bound %v, as an upper one %v", s, err, errTo)
		}
		if err != nil {
			return
		}
		whole := strings.TrimSuffix(app.FormatTime(from, zone), " 00:00:00")
		if !from.Before(to) || s != whole && s != app.FormatTime(from, zone) {
			t.Errorf("%q is from %v to before %v", s, from, to)
		}
		if end, err := app.ParseExpiry(s, zone); err != nil || end.Before(from) || !end.Before(to) {
			t.Errorf("%q expires at %v, %v", s, end, err)
		}
	})
}

// FuzzAcceptedLang: any header gives one of the two languages.
func FuzzAcceptedLang(f *testing.F) {
	for _, seed := range []string{"", "vi", "vi-VN,vi;q=0.9,en;q=0.8", "en, vi", "*", ";;,,q=", "VI;q=0",
		"fr;q=1, vi;q=0.001", "vi;q=0.000;x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if l := app.AcceptedLang(header, app.English); l != app.English &&
			(l != app.Vietnamese || !strings.Contains(strings.ToLower(header), "vi")) {
			t.Errorf("%q: %q", header, l)
		}
	})
}

// FuzzFindBank: a bank that is found by any name is found by its code too.
func FuzzFindBank(f *testing.F) {
	for _, seed := range []string{"ACB", "Vietcombank", "MB Bank", "mbbank", "TCB", "", " ", "V I B", "ngân hàng", "Sacom-bank", "970436"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		bank, found := app.FindBank(name)
		again, same := app.FindBank(bank.Code)
		if found && (!same || again != bank || len(bank.BIN) != 6) {
			t.Errorf("%q is %+v, whose code is %+v", name, bank, again)
		}
		if strings.Trim(name, " -.") == "" && found {
			t.Errorf("%q is %+v", name, bank)
		}
	})
}

// FuzzCleanText: what is kept is valid, without NUL, within its limit, and
// stays as it is when it is cleaned again.
func FuzzCleanText(f *testing.F) {
	for _, seed := range []string{"", "đơn hàng", "a\x00b", "\xff\xfe", "\xed\xa0\x80", strings.Repeat("é", 20), "e\u0301", "\u202e"} {
		f.Add(seed, 10)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		if limit < 0 || limit > 4000 {
			return
		}
		clean := app.CleanText(s, limit)
		if !utf8.ValidString(clean) || strings.Contains(clean, "\x00") || utf8.RuneCountInString(clean) > limit ||
			app.CleanText(clean, limit) != clean {
			t.Errorf("CleanText(%q, %d) = %q", s, limit, clean)
		}
		if utf8.ValidString(s) && !strings.Contains(s, "\x00") && utf8.RuneCountInString(s) <= limit && clean != s {
			t.Errorf("CleanText(%q, %d) = %q", s, limit, clean)
		}
	})
}

// FuzzMeaningOf: a search text means an amount that there can be, or none, and the
// same however it is folded; and only bank accounts whose numbers end so.
func FuzzMeaningOf(f *testing.F) {
	for _, seed := range []string{"200k", "1tr5", "1,5 triệu", "1 tỷ 2", "1tr500k", "9999999999999b", "··6789", "-0k", "+200.000 ₫", "x1234",
		"99999999999999999999tr", "1\u0300k"} {
		f.Add(seed)
	}
	banks := []app.BankAccount{{ID: 1, AccountNumber: "19356789"}, {ID: 2, AccountNumber: "VQRQ0001"}, {ID: 3}}
	f.Fuzz(func(t *testing.T, text string) {
		m := app.MeaningOf(text, banks, app.CodeReader{})
		if m.Amount < 0 || m.Amount > app.MaxAmount {
			t.Errorf("%q means %d", text, m.Amount)
		}
		if n, err := app.ReadAmount(text); err == nil && m.Amount != n {
			t.Errorf("%q means %d, and reads as %d", text, m.Amount, n)
		}
		if short, err := app.ReadShortAmount(text); (err == nil) != (short > 0) || short > app.MaxAmount {
			t.Errorf("%q: %d, %v", text, short, err)
		}
		for _, b := range m.BankAccounts {
			if letters := len(text); letters < 4 || !strings.Contains(strings.ToUpper(text), b.AccountNumber[len(b.AccountNumber)-4:]) {
				t.Errorf("%q means %s", text, b.AccountNumber)
			}
		}
	})
}
