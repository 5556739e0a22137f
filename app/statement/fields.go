package statement

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"baoco/app/fold"
)

// field is the kind of what a column holds.
type field string

// The fields. [Options.Map] may name those up to fieldGateway. The others are
// known so that they aren't taken for one of these.
const (
	fieldID          field = "id"
	fieldDate        field = "date"
	fieldNumber      field = "number"
	fieldContent     field = "content"
	fieldDebit       field = "debit"
	fieldCredit      field = "credit"
	fieldAmount      field = "amount"
	fieldType        field = "type"
	fieldAccount     field = "account"
	fieldGateway     field = "gateway"
	fieldPosting     field = "posting date"
	fieldDay         field = "day" // it becomes fieldDate where no column is named so
	fieldClock       field = "time"
	fieldBalance     field = "balance"
	fieldCurrency    field = "currency"
	fieldCounterpart field = "counterpart"
	fieldCharge      field = "charge"
	fieldStatus      field = "status"
	fieldIndex       field = "index"
)

// mappable are the fields for which a person may name a column.
var mappable = []field{
	fieldID, fieldDate, fieldNumber, fieldContent, fieldDebit, fieldCredit, fieldAmount, fieldType, fieldAccount, fieldGateway,
}

// headerWords are the words by which a header names a field, folded. A header
// names the first field of which it has a word, so a field that looks like another
// one comes before it ("số tài khoản đối ứng" is not the account, "số dư có" not a
// credit). A word after "=" must be the whole header.
var headerWords = []struct {
	field field
	words []string
}{
	{fieldCurrency, []string{"loai tien", "loai tien te", "tien te", "currency", "ccy", "=nguyen te"}},
	{fieldStatus, []string{"trang thai", "tinh trang", "status"}},
	{fieldBalance, []string{"so du", "balance", "sodu", "=con lai", "=ton"}},
	{fieldCounterpart, []string{
		"doi ung", "doi tac", "doi phuong", "thu huong", "nguoi huong", "nguoi nhan", "nguoi chuyen", "nguoi gui", "ben chuyen", "ben nhan",
		"remitter", "remitters", "beneficiary", "beneficiarys", "counterparty", "counterpart", "correspondent", "offset", "sender",
		"receiver", "payee", "payer",
	}},
	{fieldCharge, []string{"phi", "phi lai", "thue", "fee", "fees", "tax", "vat", "interest", "charges"}},
	{fieldDate, []string{
		"ngay giao dich", "ngay gd", "ngay phat sinh", "ngay gio", "thoi gian", "thoi diem", "transaction date", "transactiondate", "trans date",
		"tran date", "txn date",
		"transaction time", "date time", "datetime", "=when",
	}},
	{fieldPosting, []string{
		"ngay hach toan", "ngay hieu luc", "ngay ghi so", "ngay yeu cau", "ngay gia tri", "posting date", "post date", "value date",
		"effective date", "booking date",
		"requesting date", "request date", "accounting date",
	}},
	{fieldDay, []string{"ngay", "date"}},
	{fieldClock, []string{"gio", "gio giao dich", "time"}},
	{fieldDebit, []string{
		"ghi no", "phat sinh no", "ps no", "tien no", "rut ra", "tien ra", "tien chi", "chi ra", "debit", "debits", "withdrawal", "withdrawals",
		"money out", "paid out", "=no", "=no vnd", "=chi", "=dr",
	}},
	{fieldCredit, []string{
		"ghi co", "phat sinh co", "ps co", "tien co", "gui vao", "tien vao", "tien thu", "thu vao", "credit", "credits", "deposit", "deposits",
		"money in", "paid in", "=co", "=co vnd", "=thu", "=cr",
	}},
	{fieldType, []string{"loai giao dich", "loai gd", "transaction type", "transfer type", "transfertype", "=type", "=loai", "=direction",
		"=chieu", "dau"}},
	{fieldContent, []string{
		"noi dung", "mo ta", "dien giai", "chi tiet", "description", "content", "remark", "remarks", "narrative", "narration", "details",
		"particulars", "memo", "ghi chu",
	}},
	{fieldNumber, []string{
		"so but toan", "so tham chieu", "ma tham chieu", "so gd", "ma gd", "so giao dich", "ma giao dich", "so ct", "so chung tu", "so tc",
		"reference", "ref", "ref no", "document no", "doc no",
		"transaction number", "transactionnumber", "transaction no", "transaction id", "trans id", "trace",
	}},
	{fieldAccount, []string{"so tai khoan", "so tk", "tai khoan", "account number", "accountnumber", "account no", "=account"}},
	{fieldAmount, []string{"so tien", "amount", "transferamount", "gia tri", "=tien"}},
	{fieldGateway, []string{"=gateway", "=ngan hang", "=bank"}},
	{fieldID, []string{"=id", "=event id"}},
	{fieldIndex, []string{"stt", "so tt", "=no", "=tt"}},
}

// summaryWords stand in lines above or below a table, never in its header.
var summaryWords = []string{"tong", "total", "tu ngay", "den ngay", "from date", "to date", "dau ky", "cuoi ky"}

// fieldOf tells which field a header names. It is empty where that isn't known.
func fieldOf(header string) field {
	words := headerKey(header)
	if words == "" {
		return ""
	}
	if indicates(words) {
		return fieldType
	}
	if slices.ContainsFunc(summaryWords, func(w string) bool { return hasWord(words, w) }) {
		return ""
	}
	if strings.Trim(words, " ") == "no" && !strings.ContainsRune(strings.ToLower(norm.NFC.String(header)), 'ợ') {
		return fieldIndex // "No." is a number; "Nợ" a debit
	}
	for _, known := range headerWords {
		if slices.ContainsFunc(known.words, func(w string) bool { return hasWord(words, w) }) {
			return narrowed(known.field, words)
		}
	}
	return ""
}

// The words that tell what a column holds if its header also has the words of a
// debit, a credit or a balance.
var (
	oppositeWords = map[field][]string{
		fieldDebit:  {"co", "credit", "thu", "vao", "gui", "in", "deposit", "deposits", "cr"},
		fieldCredit: {"no", "debit", "chi", "ra", "rut", "out", "withdrawal", "withdrawals", "dr"},
	}
	amountWords   = []string{"so tien", "amount", "phat sinh", "ps", "tien", "money"}
	notMoneyWords = []string{"tai khoan", "tk", "account", "ngan hang", "bank", "ten", "name"}
	otherBalances = []string{"kha dung", "available", "truoc", "before", "previous"}
)

// narrowed looks again at the header of a column of money: "Số tiền ghi nợ/có"
// holds debits and credits, "Tài khoản ghi nợ" no money. An available balance, or
// one before the row, doesn't follow from the rows.
func narrowed(f field, words string) field {
	switch {
	case f == fieldBalance && hasAny(words, otherBalances):
		return ""
	case f != fieldDebit && f != fieldCredit:
		return f
	case hasAny(words, notMoneyWords):
		return ""
	case !hasAny(words, oppositeWords[f]):
		return f
	case hasAny(words, amountWords):
		return fieldAmount
	}
	return fieldType
}

// hasWord tells whether w, as in headerWords, stands in words, as of [wordsOf].
func hasWord(words, w string) bool {
	if whole, ok := strings.CutPrefix(w, "="); ok {
		return len(words) == len(whole)+2 && words[1:len(words)-1] == whole
	}
	for from := 1; from < len(words); {
		at := strings.Index(words[from:], w)
		if at < 0 {
			return false
		}
		if at += from; words[at-1] == ' ' && words[at+len(w)] == ' ' {
			return true
		}
		from = at + 1
	}
	return false
}

// indicates tells whether words name a column that says debit or credit, like
// "Nợ/Có", "D/C" or "+/-", and no column of amounts.
func indicates(words string) bool {
	switch words {
	case " + ", " d c ", " c d ", " dr cr ", " cr dr ", " no co ", " co no ", " debit credit ", " credit debit ", " ghi no ghi co ",
		" thu chi ", " ghi no co ", " in out ":
		return true
	}
	return false
}

// headerKey returns the [wordsOf] of a header, by which headers are compared. It is
// empty for a text that can't be a header.
func headerKey(header string) string {
	if len(header) > 200 {
		return ""
	}
	words := wordsOf(header)
	if words == "" {
		if strings.Contains(header, "+") && strings.ContainsAny(header, "-–−") {
			return " + "
		}
		return ""
	}
	digits := 0
	for _, c := range words {
		if unicode.IsDigit(c) {
			digits++
		}
	}
	if digits > 3 {
		return "" // a title with a date, an amount or an account number
	}
	return words
}

// wordsOf returns the words of text, folded, with one space before, between and
// after them. It is empty where there are no words.
func wordsOf(text string) string {
	words := strings.FieldsFunc(fold.String(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 {
		return ""
	}
	return " " + strings.Join(words, " ") + " "
}
