package sms

import (
	"strings"

	"baoco/app"
)

// apps are the packages of the banks' apps on Android, with the codes of their banks. An app
// that forwards notices hands the package on as the sender: only the bank's own app can
// show a notice under it.
var apps = map[string]string{
	"com.VCB":                    "VCB",
	"com.vietinbank.ipay":        "CTG",
	"com.vnpay.bidv":             "BIDV",
	"com.vnpay.Agribank3g":       "VBA",
	"com.mbmobile":               "MBB",
	"mobile.acb.com.vn":          "ACB",
	"vn.com.techcombank.bb.app":  "TCB",
	"com.vnpay.vpbankonline":     "VPB",
	"com.tpb.mb.gprsandroid":     "TPB",
	"src.com.sacombank":          "STB",
	"com.sacombank.ewallet":      "STB",
	"com.vib.myvib2":             "VIB",
	"com.vnpay.hdbank":           "HDB",
	"vn.shb.mbanking":            "SHB",
	"com.shinhan.global.vn.bank": "SHBVN",
	"vn.com.ocb.awe":             "OCB",
	"com.ocb.omniextra":          "OCB",
	"vn.com.lpb.lienviet24h":     "LPB",
	"vn.com.msb.smartBanking":    "MSB",
	"vn.com.seabank.mb1":         "SSB",
	"com.vnpay.EximBankOmni":     "EIB",
	"ops.namabank.com.vn":        "NAB",
	"com.pvcombank.retail":       "PVCOMBANK",
	"com.sunshine.ksbank":        "KLB",
	"com.vnpay.vietbank":         "VBB",
	"com.ncb.bank":               "NCB",
	"vn.shb.saha.mbanking":       "SHB",
	"io.lifestyle.plus":          "TIMO",
	"xyz.be.cake":                "CAKE",
	"com.mservice.momotransfer":  "MOMO",
}

// FromApp tells whether a sender is the package of a bank's app.
func FromApp(sender string) bool { return apps[strings.TrimSpace(sender)] != "" }

// FromBank tells whether sender is a name under which the bank with this code
// sends. A telephone number or a short code never is: anybody can write a text
// that looks like a bank's. It is false for the code "".
func FromBank(sender, code string) bool {
	bank, known := senderBank(sender)
	return known && bank.Is(code)
}

// FromAnyBank tells whether sender is a name under which a bank sends.
func FromAnyBank(sender string) bool {
	_, known := senderBank(sender)
	return known
}

// senderBank finds the bank that sends under a name. app.FindBank passes over all characters
// but letters and digits, so that a name which only looks like a bank's, with a Cyrillic
// letter more, would be the bank's.
func senderBank(sender string) (app.Bank, bool) {
	sender = strings.TrimSpace(sender)
	if code, known := apps[sender]; known {
		return app.FindBank(code)
	}
	if strings.Trim(sender, nameLetters) != "" {
		return app.Bank{}, false
	}
	return app.FindBank(sender)
}

const nameLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .-_"
