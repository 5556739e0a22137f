package statement

import (
	"slices"
	"strings"
)

// companyLedger refuses a company's own ledger of its bank account, where debit is
// money in. The accounts beside its rows are of a chart of accounts, such as 131 or
// 33311; no bank has such short numbers. Receipts and payments ("Thu", "Chi") mean
// the same in both.
func (r *Reader) companyLedger(l line) error {
	text := r.text(l, fieldCounterpart)
	if len(text) < 3 || len(text) > 5 || strings.Trim(text, "0123456789") != "" || !r.hasSides() {
		return nil
	}
	return errLedger(l.line, text)
}

// ledgerTitle refuses a line above the table that calls it a company's own ledger.
func (r *Reader) ledgerTitle(rec record) error {
	for _, text := range rec.texts() {
		if len(text) < 200 && hasAny(wordsOf(text), ledgerTitles) && r.hasSides() {
			return errLedger(rec.line, text)
		}
	}
	return nil
}

func errLedger(line int, named string) error {
	return withFlag("--map credit=…",
		refusedAt(line,
			"“%s” is of a company’s own ledger, where debit is money in; import the statement of the bank, or choose the columns yourself",
			"“%s” là của sổ kế toán công ty, ở đó Nợ là tiền vào; hãy nhập sao kê của ngân hàng, hoặc tự chọn cột", named))
}

// hasSides tells whether headers name the columns of money by the sides of an
// account, and no person names them.
func (r *Reader) hasSides() bool {
	return !r.options.mapsMoney() && slices.ContainsFunc([]field{fieldDebit, fieldCredit}, func(f field) bool {
		return hasAny(wordsOf(r.header.name(f)), ledgerWords)
	})
}

// ledgerWords name the sides of an account, ledgerTitles name a company's ledger.
// Both are folded.
var (
	ledgerWords  = []string{"no", "co", "debit", "credit"}
	ledgerTitles = []string{"so cai", "so chi tiet tai khoan", "so chi tiet cac tai khoan", "so chi tiet tk", "so ke toan",
		"nhat ky chung", "general ledger"}
)
