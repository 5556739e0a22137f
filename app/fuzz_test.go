package app_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/target"
)

// FuzzParseTime: what is accepted is exactly what would be written, and the
// bounds of a range are in order.
func FuzzParseTime(f *testing.F) {
	for _, seed := range []string{
		"2026-11-21 10:59:30", "2026-11-21", "2026-02-30", "2026-02-29 00:00:00", "0000-00-00", "0000-01-01", "9999-12-31 23:59:59", "2026-11-21 24:00:00",
		"2026-11-21 10:59:60", "2026-11-21  1:02:03", "2026-11-21 10:59:30.5", "2026-11-21 10:59:30Z", "2026-1-2", "-001-01-01", "+026-01-01", "２０２６-01-01", " ", "2026-11-21 ",
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

// FuzzTargetPolicy: whatever an operator allows, metadata addresses stay
// closed and public ones open, and an entry means what it says.
func FuzzTargetPolicy(f *testing.F) {
	for _, seed := range []string{
		"10.0.0.0/8", "127.0.0.1", "127.0.0.1/32@9000", "::1", "::ffff:10.0.0.0/104", "::/0", "0.0.0.0/0@80", "shop.local", "SHOP.local.", "10.0.0.0/33", "10.0.0.1@0", "10.0.0.1@+80",
		"10.0.0.1@", "fe80::1%eth0", "@80", "", "a..b", "-a.b", "1.2.3", "0x7f.1", "::ffff:0:0/90", "10.0.0.1@80@81", "64:ff9b::/96", "①.1.1.1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, entry string) {
		p, err := target.ParseTargetPolicy([]string{entry})
		if err != nil {
			return
		}
		for _, addr := range []string{"169.254.169.254", "100.100.100.200", "168.63.129.16", "fd00:ec2::254", "64:ff9b::a9fe:a9fe", "::ffff:169.254.169.254"} {
			if p.CheckAddr(netip.AddrPortFrom(netip.MustParseAddr(addr), 80)) == nil {
				t.Errorf("%q opens %s", entry, addr)
			}
		}
		if err := p.CheckAddr(netip.MustParseAddrPort("1.1.1.1:443")); err != nil {
			t.Errorf("%q closes a public address: %v", entry, err)
		}
		if !strings.ContainsAny(entry, "0123456789") && p.CheckAddr(netip.MustParseAddrPort("10.1.2.3:80")) == nil && !strings.Contains(entry, ":") {
			t.Errorf("%q opens 10.1.2.3", entry)
		}
		_, port, hasPort := strings.Cut(strings.TrimSpace(entry), "@")
		if hasPort && port != "81" && strings.TrimLeft(port, "0") != "81" && p.CheckAddr(netip.MustParseAddrPort("10.1.2.3:81")) == nil {
			t.Errorf("%q opens another port", entry)
		}
	})
}

// FuzzAcceptedLang: any header gives one of the two languages.
func FuzzAcceptedLang(f *testing.F) {
	for _, seed := range []string{"", "vi", "vi-VN,vi;q=0.9,en;q=0.8", "en, vi", "*", ";;,,q=", "VI;q=0", "fr;q=1, vi;q=0.001", "vi;q=0.000;x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if l := app.AcceptedLang(header, app.English); l != app.English && (l != app.Vietnamese || !strings.Contains(strings.ToLower(header), "vi")) {
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
		if !utf8.ValidString(clean) || strings.Contains(clean, "\x00") || utf8.RuneCountInString(clean) > limit || app.CleanText(clean, limit) != clean {
			t.Errorf("CleanText(%q, %d) = %q", s, limit, clean)
		}
		if utf8.ValidString(s) && !strings.Contains(s, "\x00") && utf8.RuneCountInString(s) <= limit && clean != s {
			t.Errorf("CleanText(%q, %d) = %q", s, limit, clean)
		}
	})
}

// FuzzExplanation: whatever a receiver answers is explained as
// TestEveryFailureIsExplained wants it, and its query stays out.
func FuzzExplanation(f *testing.F) {
	for i, detail := range []string{
		"https://shop.vn/login?token=tell-nobody", "https://a@b.vn/", "//x/y", "https://shop.vn/%2e.%20. Call us. Now.", "HTTPS://[::1%25eth0]/", "https://shop.vn/\u202e", "10.0.0.1 is", "169.254.169.254 is",
		"expired: x", "tls", "https://shop.vn/?", "https://xn--ca-xga.vn:443/đ", "https://shop.vn/a.%0a", "::ffff:1.2.3.4 x", "fe80::1%eth0 x",
	} {
		f.Add(byte(i), 302, detail)
		f.Add(byte(slices.Index(classes, delivery.ErrorRedirect)), 302, detail)
		f.Add(byte(slices.Index(classes, delivery.ErrorBlocked)), 0, detail)
	}
	f.Fuzz(func(t *testing.T, class byte, status int, detail string) {
		r := delivery.Result{Error: classes[int(class)%len(classes)], StatusCode: status, Detail: delivery.ParseDetail(detail)}
		if r.OK() {
			return
		}
		var secrets []string
		if _, query, found := strings.Cut(detail, "?"); found && len(query) > 3 && strings.Contains(query, "=") {
			secrets = []string{query}
		}
		checkExplanation(t, detail, r.Explanation(), secrets)
	})
}

// FuzzMeaningOf: a search text means an amount that there can be, or none, and the
// same however it is folded; and only bank accounts whose numbers end so.
func FuzzMeaningOf(f *testing.F) {
	for _, seed := range []string{"200k", "1tr5", "1,5 triệu", "1 tỷ 2", "1tr500k", "9999999999999b", "··6789", "-0k", "+200.000 ₫", "x1234", "99999999999999999999tr", "1\u0300k"} {
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
