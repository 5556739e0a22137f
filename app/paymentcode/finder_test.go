package paymentcode_test

import (
	"testing"

	"baoco/app/paymentcode"
)

var fifty = func() (patterns []paymentcode.Pattern) {
	for i := range 50 {
		p := paymentcode.Pattern{Prefix: "D" + string(rune('A'+i%10)) + string(rune('A'+i/10)), Least: 6, Most: 6, Alphabet: paymentcode.Digits}
		if i%2 == 1 {
			p.Least, p.Most, p.Alphabet = 4, 10, paymentcode.LettersAndDigits
		}
		patterns = append(patterns, p)
	}
	return patterns
}()

func BenchmarkFind(b *testing.B) {
	f := paymentcode.NewFinder(fifty)
	for name, content := range map[string]string{
		"found":    "MBVCB.3278907687.234567.DAA001234.CT tu 0071000000001 NGUYEN VAN A toi 1020000000002",
		"none":     "NHAN TU 19036000000011 TRACE 443725 ND CHUYEN TIEN DEN SO TAI KHOAN 232000001 cam on",
		"prefixes": "DAA DBA DCA DDA DEA DFA DGA DHA DIA DJA DAB DBB DCB DDB DEB DFB DGB DHB DIB DJB",
		"accents":  "Nguyễn Thị Ưởng chuyển khoản thanh toán đơn hàng số DAA-001234 cảm ơn cửa hàng nhé",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f.Find(content)
			}
		})
	}
	b.Run("long", func(b *testing.B) { // all of long, 20 contents of 10,000 characters
		for b.Loop() {
			for content := range long {
				f.Find(content)
			}
		}
	})
}

// A shop that has a prefix from before it was refused is paid as before.
func TestFindEarlierPrefix(t *testing.T) {
	f := paymentcode.NewFinder([]paymentcode.Pattern{{Prefix: "SO", Least: 6, Most: 6, Alphabet: paymentcode.Digits}})
	if code, ok := f.Find("tra SO001234"); !ok || code != "SO001234" {
		t.Errorf("%q, %t", code, ok)
	}
}
