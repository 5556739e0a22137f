package statement

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"baoco/app/fold"
)

// field is the kind of data in a column.
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
	fieldDay         field = "day" // it becomes fieldDate if no other column is that
	fieldClock       field = "time"
	fieldBalance     field = "balance"
	fieldCurrency    field = "currency"
	fieldCounterpart field = "counterpart"
	fieldCharge      field = "charge"
	fieldStatus      field = "status"
	fieldIndex       field = "index"
	fieldOwn         field = "baoco id" // only files that baoco exported have it
	fieldOther       field = "other"
)

// Fields are the fields for which Options.Map may name a column.
func Fields() []string {
	return strings.Fields("id date number content debit credit amount type account gateway")
}

// amountFields are the columns of amounts, moneyFields all columns of money. They
// must be understood beyond doubt.
var (
	amountFields = []field{fieldDebit, fieldCredit, fieldAmount}
	moneyFields  = append(amountFields, fieldBalance)
)

// list is a list of phrases, folded, each between spaces as in [wordsOf]. A phrase with "="
// before it must be the whole text.
type list []string

// listOf makes a list of phrases between "|".
func listOf(phrases string) list {
	all := strings.Split(phrases, "|")
	for i, phrase := range all {
		if whole, ok := strings.CutPrefix(phrase, "="); ok {
			all[i] = "= " + whole + " "
		} else {
			all[i] = " " + phrase + " "
		}
	}
	return all
}

// in tells whether words, a result of [wordsOf], contain a phrase of the list.
func (l list) in(words string) bool {
	return slices.ContainsFunc(l, func(phrase string) bool {
		if phrase[0] == '=' {
			return words == phrase[1:]
		}
		return strings.Contains(words, phrase)
	})
}

// begins tells whether words begin with a phrase of the list, ends whether they end with one.
func (l list) begins(words string) bool {
	return slices.ContainsFunc(l, func(phrase string) bool { return strings.HasPrefix(words, phrase) })
}

func (l list) ends(words string) bool {
	return slices.ContainsFunc(l, func(phrase string) bool { return strings.HasSuffix(words, phrase) })
}

// counterpartWords name the other side of a transaction.
var counterpartWords = listOf("doi ung|tk du|doi tac|doi phuong|thu huong|nguoi huong|nguoi nhan|nguoi chuyen|nguoi gui|nguoi nop|" +
	"nguoi tra|ben chuyen|ben nhan|ben gui|don vi chuyen|tai khoan chuyen|tai khoan nhan|tai khoan dich|tk chuyen|tk nhan|remitter|" +
	"remitters|beneficiary|beneficiarys|counterparty|counterpart|correspondent|offset|sender|receiver|payee|payer")

// headerWords are the words by which a header names a field. A header names the first
// field in this list of which it has a word, so the narrower field comes first ("số tài khoản
// đối ứng" is not the account, "số dư có" not a credit).
var headerWords = []struct {
	field field
	words list
}{
	{fieldOwn, listOf("=baoco id|=ma baoco")},
	{fieldOther, listOf("ma so thue|mst|tax code|tax id|gio uoc luong")},
	{fieldCurrency, listOf("loai tien|loai tien te|tien te|currency|ccy|=nguyen te")},
	{fieldStatus, listOf("trang thai|tinh trang|status")},
	{fieldBalance, listOf("so du|balance|sodu|=con lai|=ton")},
	{fieldCounterpart, slices.Concat(counterpartWords, listOf("=tk"))},
	{fieldCharge, listOf("phi|phi lai|thue|fee|fees|tax|vat|interest|charges")},
	{fieldDate, listOf("ngay giao dich|ngay gd|ngay phat sinh|ngay gio|thoi gian|thoi diem|transaction date|transactiondate|trans date|" +
		"tran date|txn date|tnx date|transaction time|date time|datetime|=when")},
	{fieldPosting, listOf("ngay hach toan|ngay hieu luc|ngay ghi so|ngay yeu cau|ngay gia tri|ngay kh thuc hien|posting date|post date|" +
		"value date|effective date|booking date|requesting date|request date|accounting date")},
	{fieldDay, listOf("ngay|date")},
	{fieldClock, listOf("gio|gio giao dich|time")},
	{fieldDebit, listOf("ghi no|phat sinh no|ps no|tien no|no tktt|rut ra|tien rut|tien ra|tien chi|chi ra|chi tieu|phat sinh giam|ps giam|" +
		"tien giam|tien tru|chuyen di|debit|debits|withdrawal|withdrawals|money out|paid out|amount out|=no|=no vnd|=chi|=giam|=dr")},
	{fieldCredit, listOf("ghi co|phat sinh co|ps co|tien co|co tktt|gui vao|tien gui|tien vao|tien thu|thu vao|phat sinh tang|ps tang|" +
		"tien tang|tien nhan|chuyen den|credit|credits|deposit|deposits|money in|paid in|amount in|=co|=co vnd|=thu|=tang|=cr")},
	{fieldType, listOf("loai giao dich|loai gd|transaction type|transfer type|transfertype|=type|=loai|=direction|=chieu|dau")},
	{fieldContent, listOf("noi dung|mo ta|dien giai|chi tiet|description|content|remark|remarks|narrative|narration|detail|details|" +
		"particulars|memo|ghi chu|ly do|thong tin giao dich")},
	{fieldIndex, listOf("stt|so tt|so thu tu|=no|=tt")},
	{fieldNumber, listOf("so but toan|ma but toan|so hieu giao dich|so tham chieu|ma tham chieu|so gd|ma gd|so giao dich|ma giao dich|so ct|" +
		"so chung tu|so tc|reference|ref|ref no|document no|document number|doc no|transaction number|transactionnumber|transaction no|" +
		"transaction id|trans id|trans no|tran no|trace|=tid")},
	{fieldAccount, listOf("so tai khoan|so tk|tai khoan|account number|accountnumber|account no|=account")},
	{fieldAmount, listOf("so tien|amount|transferamount|gia tri|=tien")},
	{fieldGateway, listOf("=gateway|=ngan hang|=bank")},
	{fieldID, listOf("=id|=event id")},
}

// summaryWords stand in lines above or below a table, never in its header.
var summaryWords = listOf("tong|total|tu ngay|den ngay|from date|to date|dau ky|cuoi ky")

// These words decide what a column holds if its header also has the words of a debit, a
// credit or a balance.
var (
	oppositeWords = map[field]list{
		fieldDebit:  listOf("co|credit|thu|vao|gui|in|deposit|deposits|cr"),
		fieldCredit: listOf("no|debit|chi|ra|rut|out|withdrawal|withdrawals|dr"),
	}
	amountWords   = listOf("so tien|amount|phat sinh|ps|tien|money")
	notMoneyWords = listOf("tai khoan|tk|account|ngan hang|bank|ten|name")
	otherBalances = listOf("kha dung|available|truoc|before|previous")
)

// directionWords are the names of the parts of a divided column of amounts.
var directionWords = map[field]list{
	fieldDebit:  listOf("=ra|=rut|=rut tien|=giam|=xuat|=out|=ghi no"),
	fieldCredit: listOf("=vao|=gui|=gui tien|=nop|=nop tien|=tang|=nhap|=in|=ghi co"),
}

// indicators name a column that says debit or credit, and no column of amounts.
var indicators = listOf("=+|=d c|=c d|=dr cr|=cr dr|=no co|=co no|=debit credit|=credit debit|=ghi no ghi co|=thu chi|=ghi no co|=in out|" +
	"=cd|=dc|=dor c|=d c indicator|=debit credit indicator|=credit debit indicator")

// fieldOf returns the field that a header names; empty: unknown.
func fieldOf(header string) field {
	words := headerKey(header)
	switch {
	case words == "":
		return ""
	case indicators.in(words):
		return fieldType
	case summaryWords.in(words):
		return ""
	case words == " no " && !strings.ContainsRune(strings.ToLower(norm.NFC.String(header)), 'ợ'):
		return fieldIndex // "No." is a number; "Nợ" a debit
	}
	for _, known := range headerWords {
		if known.words.in(words) {
			return narrowed(known.field, words)
		}
	}
	return ""
}

// narrowed checks a field of money by the other words of its header: "Số tiền ghi nợ/có"
// holds debits and credits, "Tài khoản ghi nợ" no money. An available balance, or one before
// the row, doesn't follow from the rows, so it is no balance here.
func narrowed(f field, words string) field {
	switch {
	case f == fieldBalance && otherBalances.in(words):
		return ""
	case f != fieldDebit && f != fieldCredit:
		return f
	case notMoneyWords.in(words):
		return ""
	case !oppositeWords[f].in(words):
		return f
	case amountWords.in(words):
		return fieldAmount
	}
	return fieldType
}

// directionOf returns fieldDebit or fieldCredit by the name of a column in a group of
// columns; empty: the name gives no direction.
func directionOf(name string) field {
	f, words := fieldOf(name), headerKey(name)
	for _, d := range amountFields[:2] {
		if f == d || directionWords[d].in(words) {
			return d
		}
	}
	return ""
}

// headerKey returns the [wordsOf] of a header, by which headers are compared; "TNXDate"
// is two words. A text that can't be a header gives an empty key.
func headerKey(header string) string {
	if len(header) > 200 {
		return ""
	}
	var b strings.Builder
	digits, letters := 0, []rune(header)
	for i, c := range letters {
		if unicode.IsDigit(c) {
			digits++
		}
		if i > 0 && unicode.IsUpper(c) && (unicode.IsLower(letters[i-1]) ||
			unicode.IsUpper(letters[i-1]) && i+1 < len(letters) && unicode.IsLower(letters[i+1])) {
			b.WriteByte(' ')
		}
		b.WriteRune(c)
	}
	words := wordsOf(b.String())
	switch {
	case digits > 3: // a title with a date, an amount or an account number
		return ""
	case words == "" && strings.Contains(header, "+") && strings.ContainsAny(header, "-–−"):
		return " + "
	}
	return words
}

// wordsOf returns the words of text, folded, with one space before, between and after
// them; empty: the text has no words.
func wordsOf(text string) string {
	words := strings.FieldsFunc(fold.String(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 {
		return ""
	}
	return " " + strings.Join(words, " ") + " "
}
