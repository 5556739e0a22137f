package sms_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/unicode/norm"

	"baoco/app/sms"
)

// structured are texts as banks might write them, whose labels leave no doubt.
var structured = []struct{ sender, text, reads string }{
	{"Vietcombank", "VCB: TK 0121000000319 +4,100,000 VND luc 29-02-2020 00:11:31. So du 112,734,090 VND. ND: DH123",
		"IN|4100000|0121000000319|2020-02-29 00:11:31||DH123"},
	{"Vietcombank", "Số dư TK VCB 0111000000751 -20,000 VND lúc 26-06-2021 08:10:14. Số dư 877,172 VND. Nội dung: POS 79900",
		"OUT|20000|0111000000751|2021-06-26 08:10:14||POS 79900"},
	{"Vietcombank", "So du TK 0123456789 giam 50,000 VND luc 10:20 09/10/2026. SD: 1,000,000 VND. ND: PHI SMS BANKING",
		"OUT|50000|0123456789|2026-10-09 10:20:00||PHI SMS BANKING"},
	{"VietinBank",
		"Thời gian: 09/04/2026 16:51\nTài khoản: 109876000577\nGiao dịch: +1,200,000 VND\nSố dư hiện tại: 1,504,322 VND\nNội dung: DH123",
		"IN|1200000|109876000577|2026-04-09 16:51:00||DH123"},
	{"MBBANK", "TK 03xxx492 GD: +35,000VND luc 26/09/25 09:15. SD: 64,368VND. ND: DH123", "IN|35000|03xxx492|2025-09-26 09:15:00||DH123"},
	{"MBBANK", "TK: 03xxx492|PS: -35,000 VND|26/09/2025 09:15|So du: 64,368 VND|Noi dung: DH123",
		"OUT|35000|03xxx492|2025-09-26 09:15:00||DH123"},
	{"BIDV", "TK 670xxx7492 tai BIDV +30,000,000VND. So du: 921,301,529VND. Thoi gian: 02:11 29/02/2020. ND: DH123",
		"IN|30000000|670xxx7492|2020-02-29 02:11:00||DH123"},
	{"BIDV", "BIDV: 29/02/2020 02:11 TK 670xxx7492 ghi co +30.000.000 VND, so du cuoi: 921.301.529 VND, ND: DH123",
		"IN|30000000|670xxx7492|2020-02-29 02:11:00||DH123"},
	{"Techcombank", "TK 19034000000017 +10,000,000 luc 12:19 29/02/2020. So du 734,571,040. ND: DH123",
		"IN|10000000|19034000000017|2020-02-29 12:19:00||DH123"},
	{"Techcombank", "TK 19034000000017 GD: -3,286,802VND So du: 112,765,887VND ND: tien dien",
		"OUT|3286802|19034000000017|received||tien dien"},
	{"VPBank", "TK 18xxxx098 +500,000VND luc 10:20 29/02/2020. SD: 553,115,403VND. ND: DH123",
		"IN|500000|18xxxx098|2020-02-29 10:20:00||DH123"},
	{"VPBank", "VPB: TK 186700098 tai VPB giam 1,116,781 VND luc 10h20 29/02/2020, so du kha dung: 16,860,648 VND, noi dung: dien",
		"OUT|1116781|186700098|2020-02-29 10:20:00||dien"},
	{"VPBank", "Tai khoan 123456789 duoc ghi no 500.000 VND. So du kha dung: 4.500.000 VND. Noi dung: DH123",
		"OUT|500000|123456789|received||DH123"},
	{"NCB", "NCB : 13/06/2018 16:34 TK 100000077688. Phat sinh: +3,352,988VND. So du: +6,289,849,118VND. ND: DH123",
		"IN|3352988|100000077688|2018-06-13 16:34:00||DH123"},
	{"TPBank", "(TPBank):09/10/26TK:xxxx5847+500,000VNDSD:3,000,000VNDND:DH123", "IN|500000|xxxx5847|2026-10-09 12:34:56||DH123"},
	{"OCB", "OCB 11/06 09:03 TK 0068100000815007 (+) 1,200,000 VND N/dung: DH123 So du: 1,264,907 VND",
		"IN|1200000|0068100000815007|2025-06-11 09:03:00||DH123"},
	{"OCB", "OCB: 11/06 09:03 TK 0068100000815007 (+) 1,200,000 VND N/dung: DH123 So du: 1,264,907 VND",
		"IN|1200000|0068100000815007|2025-06-11 09:03:00||DH123"},
	{"ACB", "TK 12345xxx5847 | -2,000,000 VND | 09/10/2026 13:30 | SD: -500,000 VND | ND: RUT TIEN ATM",
		"OUT|2000000|12345xxx5847|2026-10-09 13:30:00||RUT TIEN ATM"},
	{"ACB", "TK 0123456789 +500,000VND luc 10:20. SD 1,000,000VND. ND: Ma OTP 123456 cho DH123",
		"IN|500000|0123456789|2026-03-01 10:20:00||Ma OTP 123456 cho DH123"},
	{"ACB", "TK 0123456789 +500,000VND luc 10:20. ND: OTP 123456. SD 1,000,000VND.", "IN|500000|0123456789|2026-03-01 10:20:00||OTP 123456"},
	{"ACB", "TK 0123456789 +500,000VND SD 1,000,000VND ND: sao ke du no uu dai", "IN|500000|0123456789|received||sao ke du no uu dai"},
	{"VCB", "TK 0123456789 thay doi so du +200.000VND. So du 500.000VND. ND: DH1", "IN|200000|0123456789|received||DH1"},
	{"VCB", "Bien dong so du TK 0121000000319: +200,000 VND, so du hien tai 500,000 VND - DH1", "IN|200000|0121000000319|received||DH1"},
	{"VCB", "TK 0121000000319 bien dong so du -200,000, so du 500,000", "OUT|200000|0121000000319|received||"},
	{"VCB", "Tai khoan 123456789 duoc ghi co 500.000 VND. Noi dung: DH123", "IN|500000|123456789|received||DH123"},
	{"VCB", "TK 0123456789 +500,000VND luc 10:20. ND: DH123", "IN|500000|0123456789|2026-03-01 10:20:00||DH123"},
	{"TPBank", "TPBank: TK xxx1234 GD: +20,000VND. ND CK: PAYDDD444. SD: 1,234,567VND", "IN|20000|xxx1234|received||PAYDDD444"},
	{"Agribank", "AGRIBANK +123,000VND TK 123456 18/04/2026 12:34 ND: PAYFFF666 SDC 1,234,567",
		"IN|123000|123456|2026-04-18 12:34:00||PAYFFF666"},
	{"Sacombank", "Sacombank: TK 0123*** +1,000,000VND luc 14:30 25/02. SD 4,500,000VND. ND: LUONG T4",
		"IN|1000000|0123xxx|2026-02-25 14:30:00||LUONG T4"},
	{"MBBANK", "MBBANK: So du TK 0381xxxx1234 -200,000VND\n vao luc 08:30 ngay 01/03/2025. SD hien tai: 3,800,000VND.\n Noi dung: dien",
		"OUT|200000|0381xxxx1234|2025-03-01 08:30:00||dien"},
	{"BIDV", "Thông báo BIDV\nThời gian giao dịch: 10:14 17/02/2026\nTài khoản thanh toán: 8832123271\nSố tiền GD: -10,000 VND\n" +
		"Số dư cuối: 578,597 VND\nNội dung giao dịch: 8821702530 an uong\nMã giao dịch: 0392TzXK-8CBAkPtKO",
		"OUT|10000|8832123271|2026-02-17 10:14:00|0392TzXK-8CBAkPtKO|8821702530 an uong"},
	{"Techcombank", "+ VND 70,592\nTai khoan Thanh toan: 19030000333339\nSo du: VND 955,190,940\nngay 12/05 do an trua REF",
		"IN|70592|19030000333339|received||ngay 12/05 do an trua REF"},
	{"Techcombank", "TK 1903xxxx5847\nSo tien GD:+2,000,000\nSo du:15,000,000\nND: coc phong 305\n09/10/2025 08:30",
		"IN|2000000|1903xxxx5847|2025-10-09 08:30:00||coc phong 305"},
	{"Sacombank", "Sacombank Pay\nTài khoản: 0201xxxx5847\nSố tiền: -1.500.000 VND\nSố dư: 8.500.000 VND\n09/10/2025 10:20\nCHUYEN TIEN",
		"OUT|1500000|0201xxxx5847|2025-10-09 10:20:00||CHUYEN TIEN"},
	{"SHB", "SHB: TK 1012xxxx5847. So GD: 88776655. So tien: +700,000 VND luc 11:11:11 09/10/2025. SD: 900,000 VND. ND: FT26",
		"IN|700000|1012xxxx5847|2025-10-09 11:11:11|88776655|FT26"},
	{"NamABank", "Nam A Bank: TK 0123xxx789 +500,000VND luc 09/10/2025 10:20. SD: 1,000,000VND. ND: abc",
		"IN|500000|0123xxx789|2025-10-09 10:20:00||abc"},
	{"OCB", "OCB: TK xxxx5847 +500,000 VND, Noi dung: NGUYEN VAN A CK, SD: 1,500,000 VND", "IN|500000|xxxx5847|received||NGUYEN VAN A CK"},
	{"MSB", "Thong bao GD: TK: 0400xxxx847 PS tang: 500,000 VND; SD: 1,000,000 VND; Ngay: 09/10/2025 10:20; ND: abc",
		"IN|500000|0400xxxx847|2025-10-09 10:20:00||abc"},
	{"VCB", "Tài khoản 0011004xxx789 của Quý khách vừa nhận +500,000 VND. Số dư 12,345,678 VND. ND: abc",
		"IN|500000|0011004xxx789|received||abc"},
	{"SeABank", "SeABank: Ngay 04/06/2018 TK: 10200000417193 Phat sinh: +3,200,000 VND. So du: 1,330,825 VND. Nguoi chuyen: NGUYEN VAN A. " +
		"Noi dung: DH123", "IN|3200000|10200000417193|2018-06-04 12:34:56||DH123"},
	{"VIETBANK", "TK VND 83637 -100,000 LUC 14:35 04/06/2018. SO DU: 1,060,315. ND: \\NAP 0901000897",
		"OUT|100000|83637|2018-06-04 14:35:00||\\NAP 0901000897"},
	{"HDBank", "HDBank TB: TK 0687xxx345 tai HDBank: thay doi +1,000,000 VND luc 10:20 09/10/2025. SD: 5,000,000 VND. ND: DH123",
		"IN|1000000|0687xxx345|2025-10-09 10:20:00||DH123"},
	{"VPBank", "Tài khoản 18xxxx098 của Quý khách đã được ghi có 500.000 VND. Số dư: 1.000.000 VND. Nội dung: DH123",
		"IN|500000|18xxxx098|received||DH123"},
	{"SCB", "TK 2020100000830001 NGAY 04/06/18 11:10 SD DAU 4,156,080 TANG 3,068,000 SD CUOI 7,224,080 VND (NGUYEN VAN A CT,DH123)",
		"IN|3068000|2020100000830001|2018-06-04 11:10:00||(NGUYEN VAN A CT,DH123)"},
	{"MB", "TK 03xxx814|GD: +5,000VND 30/12/25 01:13 |SD: ******** VND|ND: NGUYEN VAN A chuyen tien",
		"IN|5000|03xxx814|2025-12-30 01:13:00||NGUYEN VAN A chuyen tien"},
	{"HSBC", "Tai khoan/Account: 202****82001; +VND21,313,871; 19/06/2025. So du kha dung/Available Balance: VND21,313,871",
		"IN|21313871|202xxxx82001|2025-06-19 12:34:56||"},
	{"VietinBank", "Biến động số dư: TK 101012000678 | -200,000VND | SD: 800,000VND | ND: DH123", "OUT|200000|101012000678|received||DH123"},
	{"WooriBank", "[WooriBank] TK 100xxxxx123 +500,000VND 09/10/2025 10:20. So du: 1,000,000VND. ND: DH123",
		"IN|500000|100xxxxx123|2025-10-09 10:20:00||DH123"},
	{"TECHCOMBANK", "Ngân hàng Techcombank thông báo: Số tài khoản: 19001000567 Số tiền giao dịch: +500.000 VND " +
		"Số dư khả dụng: 12.345.678 VND Nội dung: DH123", "IN|500000|19001000567|received||DH123"},
	{"ACB", "TK 0123456789 +500,000VND luc 09:20. So du 1,000,000VND", "IN|500000|0123456789|2026-03-01 09:20:00||"},
}

var balanceLabel = regexp.MustCompile(`(?i)s[oố] d[uư]|SD`)

func TestStructure(t *testing.T) {
	for _, test := range structured {
		for _, form := range []string{test.text, norm.NFD.String(test.text), strings.ReplaceAll(test.text, "\n", "\r\n"),
			" " + test.text + "\n"} {
			if got := read(test.sender, form); got != test.reads {
				t.Errorf("%s: %q\nreads %q\nwant  %q", test.sender, form, got, test.reads)
			}
		}
	}
}

// Any doubt keeps a text for a person.
func TestStructureInDoubt(t *testing.T) {
	const amount, rest = "TK 0123456789 +500,000VND", " luc 10:20 09/10/2025. SD: 1,000,000VND. ND: DH123"
	if got, want := read("VPBank", amount+rest), "IN|500000|0123456789|2025-10-09 10:20:00||DH123"; got != want {
		t.Fatalf("reads %q, want %q", got, want)
	}
	for name, text := range map[string]string{
		"two amounts":                  amount + " -11,000VND" + rest,
		"a fee":                        amount + " Phi: 11,000VND" + rest,
		"two accounts":                 amount + " TK 0123456780" + rest,
		"no sign":                      "TK 0123456789 500,000VND" + rest,
		"sign against word":            "TK 0123456789 giam +500,000VND" + rest,
		"a month alone":                amount + " luc 10:20 10/2025. SD: 1,000,000VND. ND: DH123",
		"a date as no bank writes it":  amount + " luc 10:20 2025-10-09. SD: 1,000,000VND. ND: DH123",
		"two times":                    amount + " ngay 08/10/2025" + rest,
		"no balance, a warning":        amount + " luc 10:20 09/10/2025. ND: DH123. Khong chia se OTP",
		"no balance, a transfer to be": "TK 0123456789 +500,000VND luc 10:20 09/10/2026. ND: DH123",
		"no balance, perhaps a gift":   "TK 0123456789 duoc tặng 50,000VND. ND: Uu dai thang 10",
		"no balance, a failed one":     amount + " luc 10:20 09/10/2025. ND: DH123. Giao dich khong thanh cong",
		"a failed one":                 "TK 0123456789 -500,000VND. SD: 1,000,000VND. Giao dich khong thanh cong",
		"a failed one by its content":  "TK 0123456789 -500,000VND luc 10:20 09/10/2025. SD: 1,000,000VND. ND: GD khong thanh cong",
		"a figure behind the balance":  amount + ". SD: 1,000,000VND. Phi 11,000",
		"an amount behind the balance": amount + ". SD: 1,000,000VND. Thu 500,000 VND",
		"a currency behind a balance":  "TK 0123456789 +500,000. SD: 1,000,000 USD. NGUYEN VAN A",
		"a balance in blanks":          "TK 0123456789 +500,000. SD: 1 000 000. NGUYEN VAN A",
		"a second notice":              amount + rest + "\nTK 0123456789 +300,000VND luc 10:21 09/10/2025. SD: 1,300,000VND. ND: DH124",
		"a second notice in words":     amount + rest + ". TK 0123456789 giam 300,000VND",
		"a second labelled amount":     amount + rest + ". GD moi nhat: -300,000 VND: x",
		"a second notice unlabelled":   amount + " SD: 1,000,000VND NGUYEN VAN A\n-300000 TK 0123456789",
		"no balance nor content":       amount + " luc 10:20 09/10/2025",
		"no account":                   "+500,000VND" + rest,
		"two digits of an account":     "TK xxx89 +500,000VND" + rest,
		"a balance with cents":         amount + " luc 10:20 09/10/2025. SD: 1,000,000.50. ND: DH123",
		"a balance cut off":            amount + " luc 10:20 09/10/2025. SD: 1,000,0",
		"a last balance with cents":    amount + " luc 10:20 09/10/2025. ND: DH123. SD: 1,000.50",
		"another currency":             "TK 0123456789 +500,000USD" + rest,
		"an amount with cents":         "TK 0123456789 +500,000.50VND" + rest,
		"an amount in unknown groups":  "TK 0123456789 +500,00VND" + rest,
		"an amount in spaces":          "TK 0123456789 +500 000VND" + rest,
		"two banks named":              "NCB: TK 0123456789 tai BIDV +500,000VND" + rest,
		"money that is to come":        "TK 0123456789 se duoc ghi co 500,000VND" + rest,
		"a word without a meaning":     "TK 0123456789 bi tu choi +500,000VND" + rest,
		"an opening balance in USD":    amount + " SD DAU 500,000USD" + rest,
		"too many parts":               amount + strings.Repeat(". SD: 1,000,000VND", 40) + rest,
	} {
		if got := read("VPBank", text); !strings.HasPrefix(got, "unreadable") {
			t.Errorf("%s: %q reads %q", name, text, got)
		}
	}
	if got := read("0912345678", "TK KLM 0123456789 +500,000VND"+rest); got != "unreadable text" {
		t.Errorf("no bank named: reads %q", got)
	}
}

// What payers write where no label stands before it, and what would be a fee or a transfer
// to be if the bank had written it.
func TestUnlabelledContent(t *testing.T) {
	for _, content := range []string{"LE PHI LONG DH000123", "thue nha T5", "tien thue phong 305", "phi ship 123", "dat lich cat toc",
		"thanh toan theo yeu cau DH123", "NGUYEN DA HUY chuyen tien"} {
		const head = "TK 19034000000017\nSo tien GD:+10,000,000\nSo du:734,571,040\n"
		if got, want := read("TCB", head+content), "IN|10000000|19034000000017|received||"+content; got != want {
			t.Errorf("%q reads %q", content, got)
		}
	}
}

// Whatever a payer writes changes none of what the bank says; what may be the bank's keeps the text.
func TestStructureContentIsOnlyContent(t *testing.T) {
	for _, test := range structured {
		fields := strings.Split(test.reads, "|")
		if len(fields) != 6 || fields[5] == "" {
			continue
		}
		for _, content := range []string{
			"TK 9999999 -9,000,000VND luc 01:01 01/01/2020. SD: 1VND. ND: x", "-9,000,000VND", "giam 9,000,000VND", ". SD: 9VND", ". SD: 9VND. x",
			"ND: x", "NCB:", "|", "OTP 123456",
		} {
			text := strings.Replace(test.text, fields[5], fields[5]+" "+content, 1)
			m, kind, fault := sms.Read(sms.Message{Sender: test.sender, Text: text, ReceivedAt: received}, zone)
			got := fmt.Sprintf("%s|%d|%s", m.Type, m.Amount, m.AccountNumber)
			unlabelled := strings.Contains(test.text, "- DH1") || strings.Contains("Techcombank Sacombank SCB", test.sender)
			code := content == "OTP 123456" && !balanceLabel.MatchString(test.text)
			if kind == sms.Unreadable && (unlabelled || code || strings.HasPrefix(content, "TK ")) {
				continue
			}
			if want := strings.Join(fields[:3], "|"); kind != sms.Balance || got != want {
				t.Errorf("%q reads %s (%v, %v), want %s", text, got, kind, fault, want)
			}
		}
	}
}

// A sender that is no bank gives no bank; the text may name one.
func TestStructureBank(t *testing.T) {
	const rest = "TK 0123456789 +500,000VND luc 10:20 09/10/2025. SD: 1,000,000VND. ND: DH123"
	for _, test := range []struct{ sender, text, bank string }{
		{"VPBank", rest, "VPB"}, {"0912345678", rest, ""}, {"", rest, ""}, {"VPBаnk", rest, ""}, {"VPBankа", rest, ""}, // with a Cyrillic а
		{"0912345678", "VPBank: " + rest, "VPB"}, {"MB", rest, "MBB"}, {"MB", "VPBank: " + rest, "VPB"},
		{"MB", "TK MB" + rest[2:], "MBB"}, {"VPBank", "TK 0123456789 tai BIDV" + rest[13:], "BIDV"},
	} {
		m, kind, fault := sms.Read(sms.Message{Sender: test.sender, Text: test.text, ReceivedAt: received}, zone)
		if kind != sms.Balance || m.Bank != test.bank {
			t.Errorf("%q from %q: %v %v, bank %q, want %q", test.text, test.sender, kind, fault, m.Bank, test.bank)
		}
	}
}

// A balance below zero is another one than the same above it: by balances reports are taken
// for one movement.
func TestBalanceBelowZero(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"TK 12345xxx5847 | -2,000,000 VND | 09/10/2026 13:30 | SD: -500,000 VND | ND: RUT TIEN ATM": -500_000,
		"TK 12345xxx5847 | -2,000,000 VND | 09/10/2026 13:30 | SD: 500,000 VND | ND: RUT TIEN ATM":  500_000,
	} {
		at := time.Date(2026, 10, 9, 7, 0, 0, 0, time.UTC)
		read, _, fault := sms.Read(sms.Message{Sender: "ACB", Text: text, ReceivedAt: at}, time.UTC)
		if fault != nil || read.Balance != want {
			t.Errorf("%s: balance %d, %v", text, read.Balance, fault)
		}
	}
}
