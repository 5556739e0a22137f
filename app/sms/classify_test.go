package sms_test

import (
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"baoco/app/sms"
)

// Texts that aren't read as movements. What follows a kind are texts of that kind.
var kinds = map[sms.Kind][]string{
	// Codes, whatever else is said: an amount, an account, a sign.
	sms.Code: {
		"Ma OTP cua Quy khach la 123456",
		"OTP: 123456",
		"otp123456",
		"123456 la ma OTP cua Quy khach",
		"123456 is your OTP",
		"Ma xac thuc: 482913. Hieu luc 2 phut.",
		"Mã xác thực của bạn là 482913, không chia sẻ cho bất kỳ ai",
		"Ma OTP 123456 de chuyen 5,000,000 VND tu TK 0121000000319",
		"Ma OTP:\n123456\nGD chuyen tien 5,000,000VND tu TK 0121000000319",
		"Ma OTP 123456 - 5,000,000VND - TK 0121000000319",
		"Ma OTP 123 456 de chuyen -5,000,000 VND tu TK 0121000000319",
		"Quy khach dang chuyen 5,000,000 VND tu TK 0121000000319. Ma OTP: 123456. Tuyet doi khong chia se.",
		"GD -5,000,000VND tu TK 0121000000319. Ma OTP 123456",
		"Ma OTP cho GD -5,000,000 VND tu TK 0121000000319 den TK 0881000000606 la 987654. Khong chia se",
		"Ma OTP 123456 cho GD -5,000,000VND tu TK 0121000000319, so du 9,000,000VND",
		"123456 la ma OTP cho GD -5,000,000VND tu TK 0121000000319",
		"123456 la so de nhap khi Quy khach can ma OTP cho GD -5,000,000VND tu TK 0121000000319",
		"Ma OTP cho GD -5,000,000VND tu TK 0121000000319 den TK 0881000000606 cua CONG TY TRACH NHIEM HUU HAN THUONG MAI DICH VU VAN TAI " +
			"NGUYEN VAN A tai Vietcombank la 987654",
		"Khong chia se OTP. Ma xac thuc 123456 cho GD -5,000,000VND tu TK 0121000000319",
		"Ma OTP cho GD -5,000,000VND tu TK: 0121000000319 la 987654",
		"Smart OTP: 123456 xac nhan +5,000,000VND vao TK 0121000000319",
		"VCB: Ma kich hoat VCB Digibank la 12345678",
		"Mat khau moi cua Quy khach la 987654",
		"<#> 482913 la ma xac nhan dang nhap MB",
		"KHONG cung cap OTP cho bat ky ai, ke ca nhan vien ngan hang. LH 1900545413",
		"Khong chia se OTP, LH 19006769",
		"Ma xac\nthuc 123456 cho GD -5,000,000VND tu TK 0121000000319",
	},
	sms.Other: {
		"",
		" ",
		"chieu nay con ve muon",
		"+500,000 VND nhe",
		"Chuyen cho t 200,000 vao TK 0121000000319 nhe",
		"Mo tai khoan ngay, nhan +50.000d. Truy cap www.example.com",
		"Uu dai: giam 50% toi da 500.000d khi thanh toan bang the. LH 1900545413",
		"Lai suat tiet kiem +0,5% cho khoan tu 100,000,000 VND tai Techcombank",
		"Tai khoan 0912345678 vua dang nhap tren thiet bi moi luc 10:20 09/10/2026",
		"Tài khoản của bạn vừa đăng nhập trên thiết bị mới",
		"TK 0121000000319: so du 5,000,000 VND, so du kha dung 4,950,000 VND",
		"TK 0121000000319: so du 5,000,000VND, so du kha dung 4,950,000VND",
		"So du kha dung TK 0121000000319 la 5,000,000 VND",
		"Tien dien ky 06 thang 06/18 la 153,835 VND.TK 1351000005096 khong du so du de thanh toan. QK vui long nop them tien",
		"Sacombank 13/06/18 den ky t.toan tu dong 139,755d UTTT TIEN DIEN cho HD Dien PC03DD0400354 Vui long k.tra " +
			"TK040000094660 dam bao du so du",
		"Sao ke the xxxx1234 thang 9: du no 5,000,000 VND, thanh toan toi thieu 250,000 VND, han thanh toan 15/10",
		"So du diem thuong 500.000d. Mua goi 50.000d de duoc khuyen mai",
		"Giam 500,000 VND khi mo tai khoan",
		"Sao ke the xxxx1234: GD trong ky 5,000,000 VND, han thanh toan 15/10",
		"Nhac no: khoan vay cua TK 0121000000319 den han 2.000.000 VND",
		"Quy khach da thanh toan thanh cong hoa don tien Dien 51.117 cho khach hang NGUYEN VAN A",
		"HTX TB: Tien dien T5/2018 KH ma D0870, SD 461 kWh, so chot 2006, so tien 912.164 d.",
		"Gia han thanh cong. So dien thoai ho tro: +84 24 3824 3524",
		strings.Repeat("quang cao ", 1000),
	},
	// Money in shapes that aren't known, with whatever a payer may write in them.
	sms.Unreadable: {
		"13/06 13:59 TK 040xx4593 VND (-) 1.911.000 (GD:1.900.000,Thue/Phi: 11.000) ND: DH123 SD: 132.827",
		"11/06/18 14:38 DongA Bank thong bao: TK 0107000887 da thay doi: +194,500 VND. DH123. So du hien tai la: 196,338 VND.",
		"EIB PHAN XICH LONG TK 220610000144240 04/06/18 19:59 THANH TOAN TIEN DIEN 544,885VND SD 15,043,195VND.",
		"TK0603000000349 duoc ghi no -29 300 150 So du hien thoi: 1 014 058 947 (GD:060000084 12/06/2018 DH123",
		"TK 3319600-002 tai IVB giam(-) 1,000 VND luc 12/06/18 13:25. SDC: 128,037,855 VND. ND: DH123",
		"TK 741000011007 thay doi: -348,962 VND so GD: FT18164003000069-DH123. So du tinh den 20:11",
		"Tai khoan/Account: 202****82001; +VND21,313,871; 19/06/2026. So du",
		"TK 0123456789 da nhan 500.000d tu NGUYEN VAN A",
		"Số dư TK VCB 0111000000751 −20,000 VND lúc 26-06-2021 08:10:14. Số dư 877,172 VND. Ref POS",
		"+200.000đ vào tài khoản. Nội dung: NGUYEN VAN D gui tien. Số dư: 1.200.000đ",
		"Tài khoản thanh toán của bạn vừa tăng 10.000 đ. Nội dung: DH123. Số dư hiện tại của tài khoản thanh toán là 500.683 đ",
		"KHONG CUNG CAP OTP CHO BAT KY AI. TK 0123456789 +500,000VND. ND: DH123",
		"TK 0123456789 +500,000VND ND: OTP cho DH123",
		"TK 0123456789 +500,000VND. Khong chia se OTP, LH 19006769",
		"TK 0123456789 +500,000VND. Khong chia se OTP, tong dai 19006769",
		"TK 0123456789 +500,000VND ND: OTP cho DH. SO GD: 12345678",
		"TK 0123456789 +500,000VND ND: OTP 0881000000606",
		"TK 0123456789 +500,000VND ND: OTP 1234a567",
		"TK 0123456789 +500,000VND ND: OTP 1234.567",
		"TK 0123456789 +500,000VND ND: OTP 2026-10-09",
		// Known shapes that changed.
		"SD TK 0121000000319 +4 100 000VND luc 29-02-2020 00:11:31. SD 112 734 090VND. Ref DH123",
		"VietinBank:29/02/2020 09:33|TK:104870000370|GD:+5,000,000VND|PHI:0VND|SDC:522,578,293VND|ND:DH123",
		"TK 7220xxxx2005|GD: +5,000,000VND 29/02/20 01:15|SD:151,4",
	},
}

func TestKinds(t *testing.T) {
	for want, texts := range kinds {
		for _, text := range texts {
			for _, form := range []string{text, norm.NFD.String(text), strings.ToUpper(text), strings.ReplaceAll(text, " ", "  "),
				strings.ReplaceAll(text, "\n", "\r\n")} {
				m, kind, fault := sms.Read(sms.Message{Sender: "Vietcombank", Text: form, ReceivedAt: received}, zone)
				if kind != want || m.Amount != 0 || m.Type != "" ||
					want != sms.Unreadable && m != (sms.Movement{}) || (fault != nil) != (want == sms.Unreadable) {
					t.Errorf("%q is %v, %+v; want %v", form, kind, m, want)
				}
			}
		}
	}
}

// A movement in a known shape stays one whatever its content says.
func TestCodeInContent(t *testing.T) {
	for _, content := range []string{"OTP cho DH123", "OTP 123456", "Ma xac thuc la 123456", "mat khau wifi 12345678",
		"khuyen mai uu dai", "sao ke du no"} {
		want := "IN|5000000|7220xxxx2005|2020-02-29 01:15:00||" + content
		if got := read("MBB", "TK 7220xxxx2005|GD: +5,000,000VND 29/02/20 01:15|SD:151,495,520VND|ND: "+content); got != want {
			t.Errorf("%q reads %q", content, got)
		}
	}
}
