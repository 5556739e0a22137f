package statement

import (
	"slices"
	"strings"
)

// Layout is what was found out about a file before its first row was read.
type Layout struct {
	Bank          string // code of the bank; empty: unknown
	Sheet         string // name of the sheet of a spreadsheet
	HeaderLine    int    // 0: the table has no header row
	Columns       []Column
	AccountNumber string // the account that is named above the table; empty: none is

	// UnclearAccount tells that a column of account numbers may be about the other side, so
	// that the file names no account.
	UnclearAccount bool
}

// Column says which field a column of the file holds. The field is one that
// [Options.Map] can name, or another one, such as "balance".
type Column struct {
	Field  string
	Number int    // from 1
	Header string // as it stands in the file
}

// bankLayout is how one bank lays out its statements.
type bankLayout struct {
	bank    string
	headers []string // words, each of them in a column header of its own
	titles  []string // one of them stands above the table or in the name of the sheet; nil: not needed
	// datesOnce tells that a row without a date is of the day of the row above.
	datesOnce bool
}

// bankLayouts are tried in this order. The header words are folded.
var bankLayouts = []bankLayout{
	{bank: "ACB", headers: []string{"ngay hieu luc", "ngay giao dich", "so gd", "rut ra", "gui vao"}},
	{bank: "TCB", headers: []string{"requesting date", "transaction date", "reference number", "debit", "credit"}},
	{bank: "TCB", headers: []string{"so but toan", "dien giai", "no", "co", "thue"}},
	{bank: "CTG", headers: []string{"ngay hach toan", "ngay phat sinh", "mo ta giao dich", "no", "co", "so giao dich"}, datesOnce: true},
	{bank: "MBB", headers: []string{"ngay hach toan", "ngay giao dich", "phat sinh no", "phat sinh co", "noi dung"}},
	{bank: "BIDV", headers: []string{"ngay hieu luc", "ghi no", "ghi co", "so du", "mo ta"}},
	{bank: "BIDV", headers: []string{"ngay gd", "so tham chieu", "mo ta", "phat sinh no", "phat sinh co"}},
	{bank: "VCB", headers: []string{"stt", "ngay giao dich", "so tham chieu", "so tien ghi no", "so tien ghi co", "mo ta"}},
	{bank: "VCB", headers: []string{"debit", "credit", "balance", "description"},
		titles: []string{"vcbaccountdetail", "sao ke tai khoan statement of account"}},
}

// bankNames are the names of the banks as they stand above a table, folded.
var bankNames = map[string][]string{
	"ACB":  {"acb", "ngan hang a chau", "asia commercial"},
	"BIDV": {"bidv", "dau tu va phat trien"},
	"CTG":  {"vietinbank", "cong thuong viet nam"},
	"MBB":  {"mbbank", "mb bank", "ngan hang quan doi", "military commercial"},
	"TCB":  {"techcombank", "ky thuong"},
	"VCB":  {"vietcombank", "vcb", "ngoai thuong"},
}

// findBank finds the bank of a table by its header and by the lines above it. If
// only one of them tells, it is this bank. If they differ, the bank is unknown:
// whose account it is isn't guessed.
func findBank(h header, titles []record, sheet string) bankLayout {
	above := titleText(titles, sheet)
	var layout bankLayout
	for _, l := range bankLayouts {
		if l.fits(h.names, above) {
			layout = l
			break
		}
	}
	for code, names := range bankNames {
		if !slices.ContainsFunc(names, func(n string) bool { return strings.Contains(above, " "+n+" ") }) {
			continue
		}
		if layout.bank != "" && layout.bank != code {
			return bankLayout{}
		}
		layout.bank = code
	}
	return layout
}

// fits tells whether each of the header words is in a column of its own.
func (l bankLayout) fits(names []string, above string) bool {
	if l.titles != nil && !slices.ContainsFunc(l.titles, func(t string) bool { return strings.Contains(above, t) }) {
		return false
	}
	taken := make([]bool, len(names))
	for _, words := range l.headers {
		found := false
		for i := 0; i < len(names) && !found; i++ {
			found = !taken[i] && hasWord(headerKey(names[i]), words)
			taken[i] = taken[i] || found
		}
		if !found {
			return false
		}
	}
	return true
}

// titleText returns the texts above a table as [wordsOf] does.
func titleText(titles []record, sheet string) string {
	var b strings.Builder
	b.WriteString(sheet)
	for _, r := range titles {
		for _, c := range r.cells {
			if text := c.plain(); text != "" && len(text) < 500 {
				b.WriteString(" " + text)
			}
		}
	}
	return wordsOf(b.String())
}
