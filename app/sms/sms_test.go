package sms_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"

	"baoco/app"
	"baoco/app/sms"
)

var zone = time.FixedZone("", 7*60*60)

// received is when the phone got the texts of these tests.
var received = time.Date(2026, 3, 1, 12, 34, 56, 0, zone)

// read reads text as if it came from the bank with this code, and gives what
// it found as samples are written, or its kind and the field at fault.
func read(bank, text string) string {
	m, kind, fault := sms.Read(sms.Message{Sender: bank, Text: text, ReceivedAt: received}, zone)
	switch {
	case fault != nil:
		return kind.String() + " " + fault.Field
	case kind != sms.Balance:
		return kind.String()
	}
	at := "impossible"
	switch {
	case m.Time.Equal(received):
		at = "received"
	case !m.Time.IsZero():
		at = app.FormatTime(m.Time, zone)
	}
	return fmt.Sprintf("%s|%d|%s|%s|%s|%s", m.Type, m.Amount, m.AccountNumber, at, m.Number, m.Content)
}

func TestSamples(t *testing.T) {
	banks := map[string]bool{}
	for _, s := range samples {
		banks[s.bank] = true
		if got := read(s.bank, s.text); got != s.reads {
			t.Errorf("%s: %q\nreads %q\nwant  %q", s.bank, s.text, got, s.reads)
		}
	}
	for _, bank := range []string{"VCB", "CTG", "MBB", "ACB", "BIDV", "TCB", "TPB", "STB", "VIB", "VBA", "VPB"} {
		if !banks[bank] {
			t.Errorf("no sample of %s", bank)
		}
	}
}

// What happens to a text on its way doesn't change what it says.
func TestSamplesOnTheirWay(t *testing.T) {
	group := regexp.MustCompile(`(\d),(\d\d\d)`)
	for name, change := range map[string]struct {
		text  func(string) string
		reads func(string) string // what changes in the content; nil: nothing
	}{
		"decomposed":         {norm.NFD.String, norm.NFD.String},
		"composed":           {norm.NFC.String, nil},
		"lower case":         {strings.ToLower, lowerContent},
		"CRLF":               {replace("\n", "\r\n"), nil},
		"line feeds":         {replace("\n", "\n\n"), nil},
		"white space around": {func(s string) string { return " \r\n" + s + "\t\n" }, nil},
		"byte order mark":    {func(s string) string { return "\ufeff" + s }, nil},
		"no-break spaces":    {replace(": ", ":\u00a0"), contentSpaces(": ", ":\u00a0")},
		"doubled spaces":     {replace(" ", "  "), contentSpaces(" ", "  ")},
		"dots for commas": {func(s string) string { return group.ReplaceAllString(group.ReplaceAllString(s, "$1.$2"), "$1.$2") },
			func(s string) string { return group.ReplaceAllString(s, "$1.$2") }},
		"other sign": {swapFirstSign, otherDirection},
	} {
		for _, s := range samples {
			want := s.reads
			if change.reads != nil {
				want = change.reads(want)
			}
			if got := read(s.bank, change.text(s.text)); got != want {
				t.Errorf("%s, %s: %q\nreads %q\nwant  %q", s.bank, name, change.text(s.text), got, want)
			}
		}
	}
}

// A text that lost its line breaks, or all spaces before its content, says the
// same; only a reference can't be told from what the payer wrote any more, and stays
// in the content.
func TestSamplesWithoutSpaces(t *testing.T) {
	for _, s := range samples {
		fields := strings.Split(s.reads, "|")
		content := fields[5]
		oneLine := strings.ReplaceAll(s.text, "\n", " ")
		want := strings.Join(append(fields[:4:4], "", content), "|")
		if fields[4] != "" {
			want += " SO GD: " + fields[4]
		}
		if got := read(s.bank, oneLine); got != want {
			t.Errorf("%s: %q\nreads %q\nwant  %q", s.bank, oneLine, got, want)
		}
		if s.bank == "TCB" || s.bank == "VPB" { // content and balance, bank and direction would be one
			continue
		}
		head, tail, _ := strings.Cut(s.text, content)
		squeezed := strings.NewReplacer(" ", "", "\n", "").Replace(head) + content + tail
		got := strings.Split(read(s.bank, squeezed), "|")
		if len(got) != 6 || got[0] != fields[0] || got[1] != fields[1] || got[2] != fields[2] ||
			strings.TrimPrefix(got[5], "Ref") != content {
			t.Errorf("%s: %q\nreads %q\nwant  %q", s.bank, squeezed, got, s.reads)
		}
	}
}

func replace(old, new string) func(string) string {
	return func(s string) string { return strings.ReplaceAll(s, old, new) }
}

// contentSpaces changes white space in the content of what is to be read.
func contentSpaces(old, new string) func(string) string {
	return func(reads string) string {
		fields := strings.Split(reads, "|")
		fields[5] = strings.ReplaceAll(fields[5], old, new)
		return strings.Join(fields, "|")
	}
}

func lowerContent(reads string) string {
	fields := strings.Split(reads, "|")
	fields[4], fields[5] = strings.ToLower(fields[4]), strings.ToLower(fields[5])
	return strings.Join(fields, "|")
}

var firstSign = regexp.MustCompile(`(?:[+-])( ?\d{1,3}[,.]\d{3}|\d)|tang|giam`)

func swapFirstSign(s string) string {
	at := firstSign.FindStringIndex(strings.ReplaceAll(s, "29-02-2020", "29/02/2020"))
	signs := strings.NewReplacer("+", "-", "-", "+", "tang", "giam", "giam", "tang")
	return s[:at[0]] + signs.Replace(s[at[0]:at[1]]) + s[at[1]:]
}

func otherDirection(reads string) string {
	if rest, in := strings.CutPrefix(reads, "IN|"); in {
		return "OUT|" + rest
	}
	return "IN|" + strings.TrimPrefix(reads, "OUT|")
}

// Whatever a payer writes changes neither direction, amount, account, time nor bank of what
// the bank says. A second notice, and what may be a part of the bank's where the content has
// no label, keep the text for a person.
func TestContentIsOnlyContent(t *testing.T) {
	notices := []string{
		"+9,000,000VND", "-9,000,000VND", "tang 9,000,000VND", "Ma OTP 123456 khong chia se", // beside an account or another balance
		". SD TK 0121000000319 +9,000,000VND luc 01-01-2026 00:00:00. SD 1VND. Ref DH1",
		"|TK:104870000370|GD:+9,000,000VND|SDC:1VND|ND:x",
		"|GD: +9,000,000VND 01/01/26 01:15|SD:1VND|ND: x",
		"\nTK: 9999\nPS:+9,000,000VND\nSD: 1VND\nND: x\nSO GD: 666",
		" tai BIDV +9,000,000VND vao 01:01 01/01/2026. So du:1VND. ND: x",
	}
	contents := []string{
		" SO GD: 666", "\nSO GD: 666", " SODU:+9,000,000", ". SD: 9,000,000VND. x", ". So du TK sau GD la 9,000,000VND x", "). SD: 1VND. (",
		"SD 9,999", "OTP 123456", "uu dai khuyen mai sao ke du no", "'; drop table", "\x00\xff\xfe", "…", "|", "((",
		"{account} {amount}",
	}
	for _, s := range samples {
		notices = append(notices, s.text, "\n"+s.text, ". "+s.text)
	}
	for _, s := range samples {
		fields := strings.Split(s.reads, "|")
		// What follows VPBank's balance may be anything.
		labelled := s.bank != "TCB" && s.bank != "STB" && s.bank != "VBA" && s.bank != "VPB"
		check := func(content string, mayBeKept bool) {
			for _, text := range []string{
				strings.Replace(s.text, fields[5], content, 1),
				strings.Replace(s.text, fields[5], fields[5]+content, 1),
				s.text + content,
			} {
				m, kind, fault := sms.Read(sms.Message{Sender: s.bank, Text: text, ReceivedAt: received}, zone)
				if kind != sms.Balance {
					if kind != sms.Unreadable || !mayBeKept {
						t.Errorf("%s: %q is %v, %v", s.bank, text, kind, fault)
					}
					continue
				}
				at := received
				if fields[3] != "received" {
					at, _ = app.ParseTime(fields[3], zone)
				}
				got := fmt.Sprintf("%s|%d|%s|%s|%s", m.Type, m.Amount, m.AccountNumber, app.FormatTime(m.Time, zone), m.Bank)
				want := fmt.Sprintf("%s|%s|%s|%s|%s", fields[0], fields[1], fields[2], app.FormatTime(at, zone), s.bank)
				if got != want || strings.Contains(m.Content, "9,000,000VND luc") {
					t.Errorf("%s: %q reads %s, want %s", s.bank, text, got, want)
				}
			}
		}
		for _, content := range notices {
			check(content, true)
		}
		for _, content := range contents {
			check(content, !labelled)
		}
	}
}

// The reference is the bank's last line or none: never what the payer wrote.
func TestNumberIsTheBanks(t *testing.T) {
	const head = "(TPBank): 09/10/26;10:20\nTK: xxxx5847\nPS:+500,000VND\nSD: 3,000,000VND\nND: "
	for text, want := range map[string]string{
		"DH123\nSO GD: 570CTMB26":                  "570CTMB26|DH123",
		"DH123\r\nSO GD:570CTMB26\r\n":             "570CTMB26|DH123",
		"DH123 \n SO GD: 570CTMB26":                "570CTMB26|DH123",
		"DH123\nSO GD: 570CTMB26\nLH 19001234":     "570CTMB26|DH123",
		"DH123 SO GD: 666\nSO GD: 570CTMB26":       "570CTMB26|DH123 SO GD: 666",
		"DH123\nSO GD: 666\nSO GD: 570CTMB26":      "|DH123\nSO GD: 666",
		"DH123 SO GD: 666":                         "|DH123 SO GD: 666",
		"DH123 so gd 666":                          "|DH123 so gd 666",
		"SO GD: 666":                               "|SO GD: 666",
		"DH123\nSO GD: ":                           "|DH123\nSO GD:",
		"DH123 SO GD: 666 SO GD: 667\n":            "|DH123 SO GD: 666 SO GD: 667",
		"DH123":                                    "|DH123",
		"":                                         "|",
		"NGUYỄN VĂN Á trả tiền\nSO GD: 1a2B":       "1a2B|NGUYỄN VĂN Á trả tiền",
		norm.NFD.String("trả tiền") + "\nSO GD: 1": "1|" + norm.NFD.String("trả tiền"),
	} {
		const read500 = "IN|500000|xxxx5847|2026-10-09 10:20:00|"
		if got := read("TPB", head+text); got != read500+want {
			t.Errorf("%q reads %q, want %q", text, got, read500+want)
		}
	}
}

func TestAmount(t *testing.T) {
	for amount, want := range map[string]string{
		"+1,000,000VND":         "IN 1000000",
		"+1.000.000VND":         "IN 1000000",
		"+1000000VND":           "IN 1000000",
		"+ 1,000,000 VND":       "IN 1000000",
		"+1,000,000":            "IN 1000000",
		"+1,000,000 VNĐ":        "IN 1000000",
		"+1,000,000đ":           "IN 1000000",
		"+1,000,000 đồng":       "IN 1000000",
		"+1,000,000d":           "IN 1000000",
		"+80VND":                "IN 80",
		"-1VND":                 "OUT 1",
		"- 500 VND":             "OUT 500",
		"+9,999,999,999,999VND": "IN 9999999999999",

		"+10,000,000,000,000VND": "amount",
		"+99999999999999999VND":  "amount",
		"+0VND":                  "amount",
		"+000VND":                "amount",
		"+02VND":                 "amount",
		"+1,00,000VND":           "amount",
		"+1,0000VND":             "amount",
		"+1000,000VND":           "amount",
		"+1,000.000VND":          "amount",
		"+1.000,000VND":          "amount",
		"+11,762.50VND":          "amount",
		"+1,000,000.00VND":       "IN 1000000",
		"+1.000.000,00VND":       "IN 1000000",
		"+1,000,000.00":          "text",
		"+VND 1,000,000":         "IN 1000000",
		"+1,000,000 ₫":           "IN 1000000",
		"+1,,000VND":             "amount",
		"+1,50VND":               "amount",
		"1,000,000VND":           "text",
		"+1,000,000USD":          "text",
		"+USD 1,000":             "text",
		"+-1,000,000VND":         "text",
		"+1 000 000VND":          "text",
		"−1,000,000VND":          "text", // a minus that no bank writes
		"+１,000,000VND":          "text",
		"+1e6VND":                "text",
		"+VND":                   "other",
	} {
		text := "SD TK 0121000000319 " + amount + " luc 29-02-2020 00:11:31. SD 112,734,090VND. Ref DH123"
		m, kind, fault := sms.Read(sms.Message{Sender: "VCB", Text: text, ReceivedAt: received}, zone)
		got := fmt.Sprintf("%s %d", m.Type, m.Amount)
		if kind != sms.Balance {
			got = kind.String()
			if fault != nil {
				got = fault.Field
			}
		}
		if got != want {
			t.Errorf("%q reads %q, want %q", amount, got, want)
		}
	}
}

// TCB names no currency; an account that isn't kept in VND shows it by cents.
func TestForeignCurrency(t *testing.T) {
	for _, text := range []string{
		"TK 19132000000026 So tien GD:+11,762.50 So du:2,089,129.16 12705464 LTD 235",
		"TK 19132000000026 So tien GD:-30,000 So du:1,077,366.66 1688438734209 NH MUA CUA KH 30000 USD",
		"TK 19132000000026\nSo tien GD:+USD 1,123.00\nSo du:USD 2,000.00\nabc",
		"ACB: TK 7241387(USD) + 2,000,000 luc 08:24 29/02/2020. So du 763,222,700. GD: DH123",
		"Agribank: 11h28p 11/06 TK 5003200000742: -93,995USD (BPMENT). SD: 203,719USD.",
		"TK 7220xxxx2005|GD: +5,000USD 29/02/20 01:15|SD:151,495USD|ND: Mua hang",
	} {
		if got := read("TCB", text); !strings.HasPrefix(got, "unreadable") {
			t.Errorf("%q is %q", text, got)
		}
	}
}

func TestAccountNumber(t *testing.T) {
	for account, want := range map[string]string{
		"0121000000319": "0121000000319", "7220xxxx2005": "7220xxxx2005", "7220XXXX2005": "7220xxxx2005", "xxxx5847": "xxxx5847",
		"***5847": "xxx5847", "670xxx7492": "670xxx7492",
		"670***7492": "670xxx7492", "19036xxxxxx": "19036xxxxxx", "xx123": "xx123", "0071": "0071",
		"xx12": "unreadable account_number", "xxxx": "unreadable account_number", "12": "unreadable account_number",
		"12x34x56": "unreadable text", "0121-000-319": "unreadable text", strings.Repeat("1", 80): "unreadable text",
	} {
		m, kind, fault := sms.Read(sms.Message{Sender: "BIDV",
			Text: "TK" + account + " tai BIDV +30,000VND vao 02:11 29/02/2020. So du:921,301,529VND. ND: DH123"}, zone)
		got := m.AccountNumber
		if fault != nil {
			got = kind.String() + " " + fault.Field
		} else if m.Masked != strings.Contains(want, "x") {
			t.Errorf("%q is masked: %t", account, m.Masked)
		}
		if got != want {
			t.Errorf("%q reads %q, want %q", account, got, want)
		}
	}
}

// The bank is what the text or the sender says, and only if the shape agrees.
func TestBank(t *testing.T) {
	const mbb = "TK 7220xxxx2005|GD: +5,000,000VND 29/02/20 01:15|SD:151,495,520VND|ND: DH123"
	const vcb = "SD TK 0121000000319 +4,100,000VND luc 29-02-2020 00:11:31. SD 112,734,090VND. Ref DH123"
	const vcbNamed = "Số dư TK VCB 0111000000751 -20,000 VND lúc 26-06-2021 08:10:14. Số dư 877,172 VND. Ref POS"
	for _, test := range []struct{ sender, text, bank string }{
		{"MBBANK", mbb, "MBB"}, {"MB", mbb, "MBB"}, {"MBB", mbb, "MBB"}, {"MB Bank", mbb, "MBB"},
		{"Techcombank", mbb, "TCB"}, {"0912345678", mbb, ""}, {"+84912345678", mbb, ""}, {"", mbb, ""}, {"MB 0912345678", mbb, ""},
		{"Vietcombank", vcb, "VCB"}, {"VCB", vcb, "VCB"}, {"Techcombank", vcb, "TCB"}, {"0912345678", vcb, ""},
		{"Vietcombank", vcbNamed, "VCB"}, {"Techcombank", vcbNamed, "VCB"}, {"0912345678", vcbNamed, "VCB"},
	} {
		m, kind, fault := sms.Read(sms.Message{Sender: test.sender, Text: test.text, ReceivedAt: received}, zone)
		if kind != sms.Balance || m.Bank != test.bank {
			t.Errorf("%q from %q: %v %v, bank %q, want %q", test.text, test.sender, kind, fault, m.Bank, test.bank)
		}
	}
}

// What was read of a text that can't be read as a whole helps the person who
// looks at it; its money is never given.
func TestUnreadableMovement(t *testing.T) {
	m, kind, fault := sms.Read(sms.Message{Sender: "0912345678",
		Text: "TK670xxx7492 tai BIDV +30,0000VND vao 02:11 29/02/2020. So du:921VND. ND: DH123", ReceivedAt: received}, zone)
	if kind != sms.Unreadable || fault == nil || fault.Field != "amount" || fault.Text.EN == "" || fault.Text.VI == "" {
		t.Errorf("%v, %+v", kind, fault)
	}
	if diff := cmp.Diff(sms.Movement{Bank: "BIDV", AccountNumber: "670xxx7492", Masked: true}, m); diff != "" {
		t.Error(diff)
	}
}

func TestLongTexts(t *testing.T) {
	const head = "TK 7220xxxx2005|GD: +5,000,000VND 29/02/20 01:15|SD:151,495,520VND|ND: "
	m, kind, _ := sms.Read(sms.Message{Sender: "MB", Text: head + strings.Repeat("ả", 1<<20), ReceivedAt: received}, zone)
	if want := strings.Repeat("ả", app.MaxContent); kind != sms.Balance || m.Content != want {
		t.Errorf("%v, %d characters", kind, len([]rune(m.Content)))
	}
	for _, long := range []string{"TK", "1", " ", "x", "+1,000", "so du ", "otp ", "otp: 123,", "\u0301", ". sd: 1", "\nso gd: 1",
		"tk 1234 gd ", "|"} {
		text := strings.Repeat(long, 1<<20/len(long))
		for _, text := range []string{text, head + text, "(TPBank): 1\nTK: 123\nPS:+500VND\nSD: 3VND\nND: " + text} {
			start := time.Now()
			sms.Read(sms.Message{Sender: "MB", Text: text, ReceivedAt: received}, zone)
			if took := time.Since(start); took > time.Second {
				t.Errorf("1 MB of %q took %v", long, took)
			}
		}
	}
}
