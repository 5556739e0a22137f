package sms_test

import (
	"testing"

	"baoco/app/sms"
)

func TestFromBank(t *testing.T) {
	for code, senders := range map[string][]string{
		"VCB": {"Vietcombank", "VIETCOMBANK", "VCB", "vcb", " VietcomBank "}, "CTG": {"VietinBank", "VIETINBANK", "CTG"},
		"MBB": {"MBBANK", "MBBank", "MB", "MB Bank", "MBB"},
		"ACB": {"ACB"}, "BIDV": {"BIDV"}, "TCB": {"Techcombank", "TECHCOMBANK", "TCB"}, "TPB": {"TPBank", "TPB"},
		"STB": {"Sacombank", "STB"}, "VIB": {"VIB"},
		"VBA": {"Agribank", "AGRIBANK", "VBA"}, "VPB": {"VPBank", "VPB"},
	} {
		for _, sender := range senders {
			if !sms.FromBank(sender, code) {
				t.Errorf("%q isn't from %s", sender, code)
			}
			for _, other := range []string{"", "OCB", "XYZ", "0"} {
				if sms.FromBank(sender, other) {
					t.Errorf("%q is from %q", sender, other)
				}
			}
		}
	}
	for _, sender := range []string{
		"", " ", "0912345678", "+84912345678", "84912345678", "8149", "1900545413", "970436", "Techcombank", "Vietcombank VN",
		"V1etcombank", "Vietcombank0",
		"VCВ",         // the last letter is Cyrillic
		"VCB\u200b",   // something that can't be seen
		"ＶＣＢ",         // wide letters
		"Viétcombank", // an accent
		"V\u0301CB",   // the same, decomposed
		"+VCB", "VCB!", "(VCB)", "VCB\n", "VCB\x00", "VCB/0912345678", "vcb@example.com", "VCB,0912345678",
	} {
		want := sender == "VCB\n" // white space around a name is nothing
		if sms.FromBank(sender, "VCB") != want {
			t.Errorf("%q from VCB: %t", sender, !want)
		}
	}
}
