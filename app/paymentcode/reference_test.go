package paymentcode_test

import (
	"slices"
	"strings"
	"testing"

	"baoco/app/paymentcode"
)

func TestReference(t *testing.T) {
	for text, want := range map[string]string{
		"HD-2025/113": "HD2025113", "hd 2025 113": "HD2025113", "Đơn 15A": "DON15A", "ORDER-77": "ORDER77", " #1042-B ": "1042B",
		"": "", "1042": "", "ORDER": "", "A1": "", "HD-1/2/3/4/5": "", "订单15": "", strings.Repeat("A1", 13): "",
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
		found              bool
	}{
		{"HD2025113", "HD2025113", true},
		{"thanh toán hđ 2025/113", "HD2025113", true},
		{"MBVCB.3278907687.HD2025 CHUYEN TIEN.CT tu 0071", "HD2025", true},
		{"HD-2025-113 nguyen van a chuyen", "HD2025113", true},
		{"tra don ORDER 77 nhe", "ORDER77", true},
		{"HD2025/113", "HD2025", false}, // a longer one
		{"HD2025 113", "HD2025", false}, // perhaps made of HD2025/113
		{"HD2025113", "HD2025", false},  // a part of a word
		{"DH-HD2025", "HD2025", false},  // the end of a longer one
		{"XHD2025", "HD2025", false},    //
		{"FT26326HD2025", "HD2025", false},
		{"FT2632612", "FT2632612", false},                      // a bank's
		{"HD2025..", "HD2025", false},                          // cut
		{"nguyen van a chuyen tien HD20251", "HD20251", false}, // may be cut after 25 characters
		{"nguyen van a HD20251 chuyen tien cho", "HD20251", true},
		{"HD\u202e2025", "HD2025", false}, // shown in another order
	} {
		if found := slices.Contains(paymentcode.References(c.content), c.reference); found != c.found {
			t.Errorf("%q in %q: %v (%q)", c.reference, c.content, found, paymentcode.References(c.content))
		}
	}
	if list := paymentcode.References(strings.Repeat("A1B2 ", 400)); len(list) > 64 {
		t.Errorf("%d references in one content", len(list))
	}
}

func FuzzReferences(f *testing.F) {
	f.Add("thanh toan HD 2025/113")
	f.Add("MBVCB.3278907687.HD2025 CHUYEN TIEN.CT tu 0071")
	f.Fuzz(func(t *testing.T, content string) {
		list := paymentcode.References(content)
		if len(list) > 64 {
			t.Fatalf("%d references", len(list))
		}
		for _, reference := range list {
			if paymentcode.Reference(reference) != reference {
				t.Errorf("%q is not in its normal form", reference)
			}
		}
	})
}
