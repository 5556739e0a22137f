package payer_test

import (
	"testing"

	"baoco/app"
	"baoco/app/payer"
)

// Contents as banks write them, of testdata and app/sms, and what a payer may write that is like a name.
func TestOf(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]payer.Payer{
		"MBVCB351883554.DH123.CT tu 0881000000606 NGUYEN VAN A toi 0011001234567":                     {"NGUYEN VAN A", "0881000000606"},
		"MBVCB.1457193831.CODE329014.CT tu 0291000285902 NGUYEN VAN A toi0071000962707 NGUYEN VAN B":  {"NGUYEN VAN A", "0291000285902"},
		"MBVCB.6916176124.NGUYEN VAN A ung ho.CT tu 0071000000001 CONG TY TNHH HOA toi 0011000000002": {"CONG TY TNHH HOA", "0071000000001"},
		"NGUYEN VAN A chuyen tien DH123":            {"NGUYEN VAN A", ""},
		"NGUYEN VAN A Chuyen tien; tai iPay":        {"NGUYEN VAN A", ""},
		"NGUYEN VAN A CK, DH123":                    {"NGUYEN VAN A", ""},
		"CK31310000000217 NGUYEN VAN A Chuyen tien": {"NGUYEN VAN A", ""},
		"108609376869-NGUYEN VAN A chuyen tien qua MoMo-CHUYEN TIEN-OQCH00044xSs-MOMO108609376869MOMO": {"NGUYEN VAN A", ""},
		"Mua hang Tu: NGUYEN VAN A":                                         {"NGUYEN VAN A", ""},
		"Nguyễn Văn Đức chuyển tiền đơn hàng":                               {"NGUYEN VAN DUC", ""},
		"LE VAN C chuyen tien":                                              {"LE VAN C", ""},
		"LE PHI DICH VU chuyen tien":                                        {},
		"PHAN CON LAI chuyen tien":                                          {},
		"KHACH HANG QUEN chuyen tien":                                       {},
		"LY DO MUA HANG chuyen tien":                                        {},
		"cho NGUYEN VAN A chuyen tien":                                      {},
		"CT DI:610K2580GPLHU0GZ NGUYEN VAN A chuyen tien":                   {},
		"NGUYEN VAN B DH001234":                                             {},
		"MBVCB.6916176124.NGUYEN VAN A ung ho.CT tu 0071000000001 NGUYEN V": {},
		"MBVCB.3278907687.dh001234.CT tu 0071000888888":                     {},
		"chuyen tien": {},
	} {
		if got := payer.Of(app.Transaction{Type: app.In, Content: content}); got != want {
			t.Errorf("%q: %+v, want %+v", content, got, want)
		}
		if got := payer.Of(app.Transaction{Type: app.Out, Content: content}); got != (payer.Payer{}) {
			t.Errorf("money out, %q: %+v", content, got)
		}
	}
}
