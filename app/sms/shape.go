package sms

// shape is one form of text that a bank sends. To add one, write down some
// texts as they came, what is to be read from them, and a pattern; the tests
// run the samples, and everything that can be done to a text without changing
// what it says is done to them. Never guess a shape: a text in no known one is
// kept for a person, a wrong shape makes money.
//
// A pattern describes a text from its first character to where the content of
// the transfer begins, so that nothing the payer writes can be taken for what
// the bank says. It is a regular expression over the folded text (lower case,
// no marks: see foldText) with two additions: a space is any white space or
// none, since texts lose their spaces and line breaks on the way, and a word
// in braces is a field, see fields. A group named bank says that the text
// names its bank.
type shape struct {
	bank    string
	pattern string
	// tail is what follows the content in some shapes; the last place where it
	// fits ends the content. A group named number holds the bank's reference.
	tail string
	// parentheses: the content stands in them.
	parentheses bool
	samples     []sample
}

// sample is a text and what is to be read from it: direction, amount, account,
// time, number and content, between bars. What a text doesn't say of its time
// is that of the tests' receipt on 1 March 2026. Names and account numbers are
// made up.
type sample struct{ text, reads string }

// The shapes. Those of 2018 to 2020 are held up by two collections of real
// texts, published as tests of other programs; where a younger text was found,
// it stands beside them. The first that fits counts; no text fits two.
var shapes = []shape{{
	bank: "VCB",
	pattern: `(?:so du|sd) tk (?P<bank>vcb)? {account} (?:thay doi)? {amount} {vnd}? luc {time} [.;]? (?:so du|sd) {balance} (?:vnd)? [.;]? ` +
		`ref`,
	samples: []sample{{
		"SD TK 0121000000319 +4,100,000VND luc 29-02-2020 00:11:31. SD 112,734,090VND. Ref MBVCB351883554.DH123.CT tu 0881000000606 NGUYEN " +
			"VAN A toi 0121000000319",
		"IN|4100000|0121000000319|2020-02-29 00:11:31||MBVCB351883554.DH123.CT tu 0881000000606 NGUYEN VAN A toi 0121000000319",
	}, {
		"SD TK 0121000000319 -2,005,500VND luc 26-12-2020 10:07:01. SD 217,908,847VND. Ref MBVCB.911539506.048292.NGUYEN VAN A " +
			"chuyen tien.CT tu 012100000…",
		"OUT|2005500|0121000000319|2020-12-26 10:07:01||MBVCB.911539506.048292.NGUYEN VAN A chuyen tien.CT tu 012100000…",
	}, {
		"Số dư TK VCB 0111000000751 -20,000 VND lúc 26-06-2021 08:10:14. Số dư 877,172 VND. Ref POS.79900 008.830963.20210626.081014.9704",
		"OUT|20000|0111000000751|2021-06-26 08:10:14||POS.79900 008.830963.20210626.081014.9704",
	}, {
		"Số dư TK VCB 0111000000751 +310,000 VND lúc 05-04-2026 11:53:17.Số dư 530,250 Ref NGUYEN VAN A chuyen tien#SP#0200970422",
		"IN|310000|0111000000751|2026-04-05 11:53:17||NGUYEN VAN A chuyen tien#SP#0200970422",
	}, {
		"So du TK VCB 0501000000042 thay doi +20,160,000 VND luc 26-12-2017 14:44:29. So du 25,160,000 VND. Ref IBVCB.2612170123",
		"IN|20160000|0501000000042|2017-12-26 14:44:29||IBVCB.2612170123",
	}},
}, {
	bank:    "CTG",
	pattern: `(?:(?P<bank>vietinbank) :)? {time} \| tk : {account} \| gd : {amount} {vnd}? \| sdc : {balance} (?:vnd)? \| nd :`,
	samples: []sample{{
		"VietinBank:29/02/2020 09:33|TK:104870000370|GD:+5,000,000VND|SDC:522,578,293VND|ND:NGUYEN VAN A Chuyen tien; tai iPay",
		"IN|5000000|104870000370|2020-02-29 09:33:00||NGUYEN VAN A Chuyen tien; tai iPay",
	}, {
		"11/08/2025 10:33|TK:104870000370|GD:-4,000,000VND|SDC:63,908,063VND|ND:CT DI:610K2580GPLHU0GZ NGUYEN VAN A chuyen tien; tai iPay",
		"OUT|4000000|104870000370|2025-08-11 10:33:00||CT DI:610K2580GPLHU0GZ NGUYEN VAN A chuyen tien; tai iPay",
	}},
}, {
	bank:    "MBB",
	pattern: `tk {account} \| gd : {amount} {vnd}? {time} \| sd : {balance} (?:vnd)? (?:\| (?:tu|den) : [^|]{0,200})? \| nd :`,
	samples: []sample{{
		"TK 7220xxxx2005|GD: +5,000,000VND 29/02/20 01:15|SD:151,495,520VND|ND: Mua hang Tu: NGUYEN VAN A",
		"IN|5000000|7220xxxx2005|2020-02-29 01:15:00||Mua hang Tu: NGUYEN VAN A",
	}, {
		"TK 03xxx492|GD: -35,000VND 26/09/25 09:15 |SD: 64,368VND|DEN: NGUYEN VAN A - 0300000492|ND: DH123 - Ma giao dich/Trace 723215",
		"OUT|35000|03xxx492|2025-09-26 09:15:00||DH123 - Ma giao dich/Trace 723215",
	}, {
		"TK 05xxx999|GD: +10,000VND 10/04/26 20:51 |SD: 411,224VND|TU: NGUYEN VAN A - 4300000353|ND: " +
			"NGUYEN VAN A Chuyen tien- Ma GD ACSP/ az453273",
		"IN|10000|05xxx999|2026-04-10 20:51:00||NGUYEN VAN A Chuyen tien- Ma GD ACSP/ az453273",
	}},
}, {
	bank:    "ACB",
	pattern: `(?P<bank>acb) : tk {account} \( vnd \) {amount} {vnd}? luc {time} [.;]? so du :? {balance} (?:vnd)? [.;]? gd :`,
	samples: []sample{{
		"ACB: TK 7241387(VND) + 2,000,000 luc 08:24 29/02/2020. So du 763,222,700. GD: NGUYEN VAN A CK, DH123",
		"IN|2000000|7241387|2020-02-29 08:24:00||NGUYEN VAN A CK, DH123",
	}, {
		"ACB: TK 193000579(VND) - 37,092,000 luc 14:58 04/06/2018. So du 23,446,625.GD: " +
			"CK cho NGUYEN VAN A, VCB HCM, IBTIEN 37,800 - 288 + 420 = 37,092",
		"OUT|37092000|193000579|2018-06-04 14:58:00||CK cho NGUYEN VAN A, VCB HCM, IBTIEN 37,800 - 288 + 420 = 37,092",
	}},
}, {
	bank:    "BIDV",
	pattern: `tk {account} tai (?P<bank>bidv) {amount} {vnd} vao {time} [.;]? so du : {balance} (?:vnd)? [.;]? nd :`,
	samples: []sample{{
		"TK670xxx7492 tai BIDV +30,000,000VND vao 02:11 29/02/2020. So du:921,301,529VND. ND: CK31310000000217 NGUYEN VAN A Chuyen tien",
		"IN|30000000|670xxx7492|2020-02-29 02:11:00||CK31310000000217 NGUYEN VAN A Chuyen tien",
	}, {
		"TK21510000000146 tai BIDV -10,000VND vao 11:23 13/11/2018. So du:5,637,054.592VND. ND: Nap vi dien tu MoMo 0120000969",
		"OUT|10000|21510000000146|2018-11-13 11:23:00||Nap vi dien tu MoMo 0120000969",
	}, {
		"TK 426xxx8540 tai BIDV +195,000VND vao 08:51 01/01/2026. So du:696,852VND. ND: TKThe :1005200000969, tai MSCBVNVX. " +
			"Tra no -B2B0200970422010108514120",
		"IN|195000|426xxx8540|2026-01-01 08:51:00||TKThe :1005200000969, tai MSCBVNVX. Tra no -B2B0200970422010108514120",
	}},
}, {
	// The text names no currency: a balance with a fraction says that it isn't VND.
	bank:    "TCB",
	pattern: `tk {account} so tien gd : {amount} so du : {whole}`,
	samples: []sample{{
		"TK 19034000000017\nSo tien GD:+10,000,000\nSo du:734,571,040\nNGUYEN VAN A chuyen tien",
		"IN|10000000|19034000000017|received||NGUYEN VAN A chuyen tien",
	}, {
		"TK 19132000000018 So tien GD:-3,286,802 So du:112,765,887 VND_TGTT_NGUYEN VAN A thanh toan tien dien 13.612.07",
		"OUT|3286802|19132000000018|received||VND_TGTT_NGUYEN VAN A thanh toan tien dien 13.612.07",
	}},
}, {
	bank: "TPB",
	pattern: `\( (?P<bank>tpbank) \) : {time} tk : {account} ps : {amount} {vnd} (?:sd : {balance} (?:vnd)?)? (?:sd kha dung : {available} ` +
		`(?:vnd)?)? nd :`,
	tail: `\sso gd : (?P<number>[0-9a-z]+)`,
	samples: []sample{{
		"(TPBank): 09/10/26;10:20\nTK: xxxx5847\nPS:+500,000VND\nSD: 3,000,000VND\nSD KHA DUNG: 3,000,000VND\nND: DH123\nSO GD: 123456789",
		"IN|500000|xxxx5847|2026-10-09 10:20:00|123456789|DH123",
	}, {
		"(TPBank): 07/02/26;15:03\nTK: xxxx2000205\nPS:-22.000VND\nSD KHA DUNG: 257.093VND\nND: NAP TIEN VI MOMO - 0812000501\nSO GD: " +
			"570CTMB260380195",
		"OUT|22000|xxxx2000205|2026-02-07 15:03:00|570CTMB260380195|NAP TIEN VI MOMO - 0812000501",
	}, {
		"(TPBank): 19/08/26;15:41 TK: xxxx2000886 PS:+22.165.337VND SD KHA DUNG: 22.198.783VND ND: NGUYEN VAN A HO CHUYEN TIEN LUONG THANG 8",
		"IN|22165337|xxxx2000886|2026-08-19 15:41:00||NGUYEN VAN A HO CHUYEN TIEN LUONG THANG 8",
	}},
}, {
	bank:    "STB",
	pattern: `(?P<bank>sacombank) {time} tk : {account} ps : {amount} {vnd} so du kha dung : {available} (?:vnd)?`,
	samples: []sample{{
		"Sacombank 29/02/2020 10:14\nTK: 050100000355\nPS: +1,200,000 VND\nSo du kha dung: 414,546,016 VND\nNGUYEN VAN A NOP TM TK",
		"IN|1200000|050100000355|2020-02-29 10:14:00||NGUYEN VAN A NOP TM TK",
	}, {
		"Sacombank 01/05/2024 22:04 TK: 060200000607 PS: -5,000 VND So du kha dung: 231,466 VND DH-150324-00001",
		"OUT|5000|060200000607|2024-05-01 22:04:00||DH-150324-00001",
	}},
}, {
	bank:    "VIB",
	pattern: `{time} tk : {account} vnd ps : {amount} nd :`,
	tail:    `(?:^|\s)sodu : [+-]? [0-9]`,
	samples: []sample{{
		"12:19;29/02/2020\nTK:659700000036VND\nPS:+5,000,000\nND:DH123\nSODU:+9,315,200",
		"IN|5000000|659700000036|2020-02-29 12:19:00||DH123",
	}, {
		"16:54;11/06/2018 TK:041700000058013VND PS:-155,595 ND:PD1300T281181 NGUYEN VAN A thanh toan tien dien thang: 6/2018 SODU:+1,524,080",
		"OUT|155595|041700000058013|2018-06-11 16:54:00||PD1300T281181 NGUYEN VAN A thanh toan tien dien thang: 6/2018",
	}},
}, {
	bank:        "VBA",
	pattern:     `(?P<bank>agribank) : {time} (?:tk|tai khoan) {account} : {amount} vnd \.? (?:noi dung giao dich :)?`,
	tail:        `(?:^|\.) (?:sd|so du cuoi) : [+-]? [0-9]`,
	parentheses: true,
	samples: []sample{{
		"Agribank: 11h28p 11/06 TK 5003200000742: -93,995VND (BPMENT: DH123). SD: 203,719VND.",
		"OUT|93995|5003200000742|2025-06-11 11:28:00||BPMENT: DH123",
	}, {
		"agribank: 10h54p 23/05 tk 5003200000742: +4,997,800vnd mb(8888888). sd: 285,574,239vnd.",
		"IN|4997800|5003200000742|2025-05-23 10:54:00||mb(8888888)",
	}, {
		"Agribank: 14:28 07/02/2026 Tài khoản 4603200000514: -22,000VND. Nội dung giao dịch: Vietcombank:1054000512:NGUYEN VAN A chuyen tien. " +
			"Số dư cuối: 1,680,462VND",
		"OUT|22000|4603200000514|2026-02-07 14:28:00||Vietcombank:1054000512:NGUYEN VAN A chuyen tien",
	}},
}, {
	bank:    "VPB",
	pattern: `tk {account} tai (?P<bank>vpb) (?P<sign>[+-]|tang|giam) {figure} vnd do`,
	tail:    `\. so du tk sau gd la [+-]? [0-9]`,
	samples: []sample{{
		"TK 186700098 tai VPB tang 500,000VND do KHACH HANG CMT 141700020 NOP TIEN T AI MAY CDM. So du TK sau GD la 553,115,403VND",
		"IN|500000|186700098|received||KHACH HANG CMT 141700020 NOP TIEN T AI MAY CDM",
	}, {
		"TK 73900173 tai VPB giam 1,116,781VND do Can 1906 101 dong tien dien thang 5 nam 2018. So du TK sau GD la 16,860,648VND",
		"OUT|1116781|73900173|received||Can 1906 101 dong tien dien thang 5 nam 2018",
	}},
}}
