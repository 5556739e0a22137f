package paymentcode_test

import (
	"slices"
	"strings"
	"testing"

	"baoco/app/paymentcode"
)

func TestReference(t *testing.T) {
	for text, want := range map[string]string{
		"HD-2025/113": "HD2025113", "hd 2025 113": "HD2025113", "Đơn 15A": "DON15A", "ORDER-77": "ORDER77", " HD#1042-B ": "HD1042B",
		"": "", "1042": "", "ORDER": "", "A1": "", "HD-1/2/3/4/5": "", "1042-B": "", "T11/2025": "", "CK 1042": "", "TK-10421": "", "FT10421": "",
		"订单15": "", strings.Repeat("A1", 13): "",
	} {
		if got := paymentcode.Reference(text); got != want {
			t.Errorf("%q is looked for as %q, want %q", text, got, want)
		}
	}
}

// What may be a reference in a content, and what may be a part of a longer one, of a
// bank's own, or cut.
func TestReferences(t *testing.T) {
	for _, c := range []struct {
		content, reference string
		certain            bool
	}{
		{"HD2025113", "HD2025113", true},
		{"thanh toán hđ 2025/113", "HD2025113", true},
		{"MBVCB.3278907687.HD2025 CHUYEN TIEN.CT tu 0071000000001", "HD2025", true},
		{"HD-2025-113 nguyen van a chuyen", "HD2025113", true},
		{"tra don ORDER 7755 nhe", "ORDER7755", true},
		{"HD2025/113", "HD2025", false}, // a longer one
		{"HD2025 113", "HD2025", false}, // perhaps made of HD2025/113
		{"HD2025113", "HD2025", false},  // a part of a word
		{"DH-HD2025", "HD2025", false},  // the end of a longer one
		{"XHD2025", "HD2025", false},    //
		{"FT26326HD2025", "HD2025", false},
		{"FT2632612", "FT2632612", false}, // a bank's
		{"HD2025..", "HD2025", false},     // cut
		{"HD2025(...)", "HD2025", false},
		{"HD2025~", "HD2025", false},
		{"nguyen van a chuyen tien HD20251", "HD20251", false}, // may be cut after 25 characters
		{"nguyen van a HD20251 chuyen tien cho", "HD20251", true},
		{"HD\u202e2025", "HD2025", false},                        // shown in another order
		{"HD2025-", "HD2025", false},                             // cut after the hyphen
		{"thanh toan don hang HD2025113 ok", "HD2025113", false}, // ends where banks cut, with their own words behind it
		{"HD20251     113", "HD20251", false},                    // the end of a bank's line
		{"HD20251 0912345678", "HD20251", true},                  // a phone
		{"HD20251 84912345678", "HD20251", true},
		{"HD20251 113000000", "HD20251", false},
		{"HD20251 va HD20252", "HD20251", false}, // a list
		{"HD20251, HD20252", "HD20252", false},
		{"HD20251 va don 20252", "HD20251", false},
		{"HD20251 cung voi tien cua don so 77", "HD20251", false},
		{"HD20251 cung voi ban Nam mua chiec ao 77", "HD20251", false},
		{"HD20251, don 20252", "HD20251", false},
		{"HD20251 HD20251", "HD20251", true},
		{"HD20251 TRACE 44372", "HD20251", true}, // a bank's number
		{"HD20251 KH77", "HD20251", true},        // another thing
		{"HD20251 DEN SO TAI KHOAN 232000001", "HD20251", true},
		{"tra HD 150000", "HD150000", false}, // an amount, a year, a day, a unit, a count
		{"tra HD 2025", "HD2025", false},
		{"tra HD 261126", "HD261126", false},
		{"tra HD 25551 vnd", "HD25551", false},
		{"tra HD 1500k", "HD1500K", false},
		{"tra HD 77", "HD77", false},
		{"tra HD 7755", "HD7755", true},
		{"tra HD: 77551", "HD77551", true},
		{"CK 7755", "CK7755", false}, // words of banks
		{"TK 77551", "TK77551", false},
		{"7755A", "7755A", false},
	} {
		if certain := slices.Contains(paymentcode.References(c.content).Certain, c.reference); certain != c.certain {
			t.Errorf("%q in %q: %v (%q)", c.reference, c.content, certain, paymentcode.References(c.content))
		}
	}
	for _, nothing := range []string{
		"MBVCB.3278907687.NGUYEN VAN A chuyen tien.CT tu 0071000888888 NGUYEN VAN A toi 19354957", "NGUYEN VAN A CK 500",
		"TU TK 1234567 TOI 7654321", "",
	} {
		if named := paymentcode.References(nothing); len(named.All()) > 0 {
			t.Errorf("%q names %q", nothing, named)
		}
	}
	for _, doubtful := range []string{"HD2025..", "HD2025 113", "HD20251 HD20252", "HD20251 va don 20252"} {
		if named := paymentcode.References(doubtful); len(named.Doubtful) == 0 {
			t.Errorf("nothing in %q is doubtful", doubtful)
		}
	}
	for content, reference := range map[string]string{
		"nguyen van a chuyen tien HD20251": "HD20251", "103968000085-HD-2025-CHUYEN TIEN": "HD2025", "HD20251-061225-18:39:08 77555": "HD20251",
	} {
		if named := paymentcode.References(content); !slices.Contains(named.IfExact, reference) {
			t.Errorf("an exact amount doesn't count for %q: %q", content, named)
		}
	}
	if named := paymentcode.References(strings.Repeat("AA1B22 ", 400)); len(named.Certain) != 0 || len(named.Doubtful) > 64 {
		t.Errorf("%d references in one content", len(named.Doubtful))
	}
}

func FuzzReferences(f *testing.F) {
	f.Add("thanh toan HD 2025/113")
	f.Add("MBVCB.3278907687.HD2025 CHUYEN TIEN.CT tu 0071")
	f.Fuzz(func(t *testing.T, content string) {
		named := paymentcode.References(content)
		if len(named.All()) > 64 {
			t.Fatalf("%d references", len(named.All()))
		}
		for _, reference := range named.All() {
			if paymentcode.Reference(reference) != reference {
				t.Errorf("%q is not in its normal form", reference)
			}
		}
	})
}
