package payment_test

import (
	"strings"
	"testing"

	"baoco/app"
	"baoco/app/payment"
)

func TestAmountInWords(t *testing.T) {
	for _, c := range []struct {
		amount int64
		vi, en string
	}{
		{0, "không", "zero"},
		{1, "một", "one"},
		{4, "bốn", "four"},
		{5, "năm", "five"},
		{10, "mười", "ten"},
		{11, "mười một", "eleven"},
		{14, "mười bốn", "fourteen"},
		{15, "mười lăm", "fifteen"},
		{20, "hai mươi", "twenty"},
		{21, "hai mươi mốt", "twenty-one"},
		{24, "hai mươi tư", "twenty-four"},
		{25, "hai mươi lăm", "twenty-five"},
		{55, "năm mươi lăm", "fifty-five"},
		{100, "một trăm", "one hundred"},
		{101, "một trăm linh một", "one hundred one"},
		{104, "một trăm linh bốn", "one hundred four"},
		{105, "một trăm linh năm", "one hundred five"},
		{110, "một trăm mười", "one hundred ten"},
		{111, "một trăm mười một", "one hundred eleven"},
		{115, "một trăm mười lăm", "one hundred fifteen"},
		{121, "một trăm hai mươi mốt", "one hundred twenty-one"},
		{999, "chín trăm chín mươi chín", "nine hundred ninety-nine"},
		{1_000, "một nghìn", "one thousand"},
		{1_001, "một nghìn không trăm linh một", "one thousand one"},
		{1_005, "một nghìn không trăm linh năm", "one thousand five"},
		{1_010, "một nghìn không trăm mười", "one thousand ten"},
		{1_015, "một nghìn không trăm mười lăm", "one thousand fifteen"},
		{1_021, "một nghìn không trăm hai mươi mốt", "one thousand twenty-one"},
		{1_100, "một nghìn một trăm", "one thousand one hundred"},
		{10_000, "mười nghìn", "ten thousand"},
		{15_000, "mười lăm nghìn", "fifteen thousand"},
		{21_000, "hai mươi mốt nghìn", "twenty-one thousand"},
		{105_000, "một trăm linh năm nghìn", "one hundred five thousand"},
		{200_000, "hai trăm nghìn", "two hundred thousand"},
		{1_000_000, "một triệu", "one million"},
		{1_000_001, "một triệu không trăm linh một", "one million one"},
		{1_001_000, "một triệu không trăm linh một nghìn", "one million one thousand"},
		{1_010_000, "một triệu không trăm mười nghìn", "one million ten thousand"},
		{1_549_000, "một triệu năm trăm bốn mươi chín nghìn", "one million five hundred forty-nine thousand"},
		{21_024_025, "hai mươi mốt triệu không trăm hai mươi tư nghìn không trăm hai mươi lăm",
			"twenty-one million twenty-four thousand twenty-five"},
		{1_000_000_000, "một tỷ", "one billion"},
		{1_000_005_000, "một tỷ không trăm linh năm nghìn", "one billion five thousand"},
		{15_000_000_000, "mười lăm tỷ", "fifteen billion"},
		{1_000_000_000_000, "một nghìn tỷ", "one trillion"},
		{1_005_000_000_000, "một nghìn không trăm linh năm tỷ", "one trillion five billion"},
		{1_000_000_000_001, "một nghìn tỷ không trăm linh một", "one trillion one"},
		{
			app.MaxAmount,
			"chín nghìn chín trăm chín mươi chín tỷ chín trăm chín mươi chín triệu chín trăm chín mươi chín nghìn chín trăm chín mươi chín",
			"nine trillion nine hundred ninety-nine billion nine hundred ninety-nine million nine hundred ninety-nine thousand " +
				"nine hundred ninety-nine",
		},
	} {
		if got := payment.AmountInWords(c.amount, app.Vietnamese); got != c.vi+" đồng" {
			t.Errorf("%d: %q, want %q", c.amount, got, c.vi+" đồng")
		}
		if got := payment.AmountInWords(c.amount, app.English); got != c.en+" dong" {
			t.Errorf("%d: %q, want %q", c.amount, got, c.en+" dong")
		}
	}
	if got, want := payment.Announcement(200_000),
		(app.Text{EN: "Received two hundred thousand dong", VI: "Đã nhận hai trăm nghìn đồng"}); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Every amount is read as itself: what a listener writes down is the amount.
func TestVietnameseWordsMeanTheAmount(t *testing.T) {
	amounts := []int64{app.MaxAmount, app.MaxAmount - 1}
	for n := range int64(12_000) {
		amounts = append(amounts, n, n*1_000, n*1_000+7, n*1_000_000+15, n*1_000_000_000/2)
	}
	for _, n := range amounts {
		words := payment.AmountInWords(n, app.Vietnamese)
		if got := written(words); got != n {
			t.Fatalf("%d is read %q, which is %d", n, words, got)
		}
	}
}

// written is the number that words name.
func written(words string) int64 {
	digits := map[string]int64{
		"không": 0, "một": 1, "mốt": 1, "hai": 2, "ba": 3, "bốn": 4, "tư": 4, "năm": 5, "lăm": 5, "sáu": 6, "bảy": 7, "tám": 8, "chín": 9,
	}
	units := map[string]int64{"nghìn": 1_000, "triệu": 1_000_000, "tỷ": 1_000_000_000}
	var sum, group, last int64
	for word := range strings.SplitSeq(strings.TrimSuffix(words, " đồng"), " ") {
		digit, isDigit := digits[word]
		switch {
		case isDigit:
			last = digit
		case word == "trăm":
			group, last = last*100, 0
		case word == "mươi":
			group, last = group+last*10, 0
		case word == "mười":
			group += 10
		case word == "tỷ":
			sum, group, last = (sum+group+last)*units[word], 0, 0
		case units[word] > 0:
			sum, group, last = sum+(group+last)*units[word], 0, 0
		}
	}
	return sum + group + last
}

func TestAnnouncementOfMany(t *testing.T) {
	for _, c := range []struct {
		count, sum int64
		vi, en     string
	}{
		{1, 5_000, "Có 1 khoản mới, tổng năm nghìn đồng", "1 new payment, five thousand dong in total"},
		{25, 325_000, "Có 25 khoản mới, tổng ba trăm hai mươi lăm nghìn đồng",
			"25 new payments, three hundred twenty-five thousand dong in total"},
	} {
		if got := payment.AnnouncementOfMany(c.count, c.sum); got.VI != c.vi || got.EN != c.en {
			t.Errorf("%d, %d: %+v", c.count, c.sum, got)
		}
	}
}

// What the counter says of every state of a bill, and of money without one.
func TestAnnouncementOfBills(t *testing.T) {
	bill := func(status app.PaymentStatus, received int64) app.PaymentState {
		return app.PaymentState{ID: 7, Reference: "HD-7", Due: 200_000, Received: received, Status: status}
	}
	for _, c := range []struct {
		amount  int64
		bill    app.PaymentState
		small   int64
		verdict payment.Verdict
		en, vi  string
	}{
		{50_000, bill(app.PaymentPaid, 195_000), 60_000, payment.VerdictFull, // with a tolerance
			"Paid in full, one hundred ninety-five thousand dong", "Đủ tiền, một trăm chín mươi lăm nghìn đồng"},
		{1, bill(app.PaymentPaid, 195_001), 60_000, payment.VerdictCheck, // 195,000 were enough
			"Received one dong more, for a bill that was paid before", "Nhận thêm một đồng cho đơn đã đủ tiền từ trước"},
		{5_001, bill(app.PaymentPaid, 200_000), 60_000, payment.VerdictFull, "Paid in full, two hundred thousand dong",
			"Đủ tiền, hai trăm nghìn đồng"},
		{50_000, bill(app.PaymentUnderpaid, 120_000), 60_000, payment.VerdictShort,
			"Not enough: received only one hundred twenty thousand dong, eighty thousand dong still due",
			"Thiếu: mới nhận một trăm hai mươi nghìn đồng, còn thiếu tám mươi nghìn đồng"},
		{50_000, bill(app.PaymentOverpaid, 230_000), 60_000, payment.VerdictOver,
			"Too much: received two hundred thirty thousand dong, thirty thousand dong more than due",
			"Thừa: đã nhận hai trăm ba mươi nghìn đồng, thừa ba mươi nghìn đồng"},
		{50_000, bill(app.PaymentPaidLate, 200_000), 60_000, payment.VerdictCheck,
			"Too late: received fifty thousand dong for a bill that was cancelled or had expired",
			"Tiền đến muộn: nhận năm mươi nghìn đồng cho đơn đã huỷ hoặc hết hạn"},
		{50_000, app.PaymentState{ID: 7, Due: 200_000, Overpaid: 30_000, Received: 230_000, Status: app.PaymentPaidLate}, 60_000,
			payment.VerdictCheck,
			"Too late and too much: received fifty thousand dong for a bill that was cancelled or had expired, thirty thousand dong more than due",
			"Tiền đến muộn và thừa: nhận năm mươi nghìn đồng cho đơn đã huỷ hoặc hết hạn, thừa ba mươi nghìn đồng"},
		{50_000, bill(app.PaymentCancelled, 120_000), 60_000, payment.VerdictCheck,
			"The bill was cancelled, but fifty thousand dong has come", "Đơn đã huỷ nhưng vẫn có năm mươi nghìn đồng"},
		{50_000, app.PaymentState{}, 0, payment.VerdictNone, "Received fifty thousand dong", "Đã nhận năm mươi nghìn đồng"},
		{50_000, app.PaymentState{}, 50_000, payment.VerdictNone, "Received fifty thousand dong", "Đã nhận năm mươi nghìn đồng"},
		{50_000, app.PaymentState{}, 50_001, payment.VerdictSmall, "Careful: received only fifty thousand dong",
			"Chú ý: chỉ nhận năm mươi nghìn đồng"},
	} {
		said, verdict := payment.Announce(app.Transaction{Amount: c.amount, PaymentSent: c.bill, PaymentRequest: c.bill},
			app.Account{SmallAmount: c.small, PaymentTolerance: 5000}, false)
		if said != (app.Text{EN: c.en, VI: c.vi}) || verdict != c.verdict {
			t.Errorf("%s of %d, small %d: %q, %q, %q", c.bill.Status, c.bill.Received, c.small, said.EN, said.VI, verdict)
		}
		atTill, itsVerdict := payment.Announce(app.Transaction{Amount: c.amount, PaymentSent: c.bill, PaymentRequest: c.bill},
			app.Account{SmallAmount: c.small, PaymentTolerance: 5000}, true)
		if c.verdict == payment.VerdictNone {
			said, verdict = app.Text{EN: c.en + ", of no known bill", VI: c.vi + ", chưa rõ của đơn nào"}, payment.VerdictOther
		}
		if atTill != said || itsVerdict != verdict {
			t.Errorf("at a till, %s of %d, small %d: %q, %q, %q", c.bill.Status, c.bill.Received, c.small, atTill.EN, atTill.VI, itsVerdict)
		}
	}
}
