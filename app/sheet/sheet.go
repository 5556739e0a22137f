// Package sheet writes transactions, and the audit log, as files that spreadsheets
// open: CSV and XLSX, a row at a time, so that memory doesn't grow with the file.
// A text of a payer or a user stays a text: no cell of it is a formula, whatever it begins
// with (owasp.org/www-community/attacks/CSV_Injection).
//
// It also reads such files of anyone into cells (read.go), a line at a time and within
// bounds: text.go makes cells of a text file, workbook.go and worksheet.go of a workbook,
// and page.go of a web page. xls.go makes them of a workbook of Excel 97, which ole.go finds
// in its container and whose records biff.go decodes. format.go says what numbers look like,
// and view.go and pageview.go which cells a person doesn't see. Only the texts that a workbook
// shares among its cells, and a workbook of Excel 97, are held in memory, up to 64 MiB.
// Package statement makes transactions of the cells.
package sheet

import (
	"cmp"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/book"
)

// Format is a file format.
type Format string

const (
	CSV  Format = "csv"
	XLSX Format = "xlsx"

	// Semicolons is CSV with semicolons: Excel cuts it into columns in countries where the
	// comma is the decimal sign, such as Vietnam. A first line of "sep=," has the same effect,
	// but then Excel doesn't read UTF-8, and other programs take that line for the header.
	Semicolons Format = "csv-semicolon"
)

// Known tells whether f is one of the formats.
func (f Format) Known() bool { return f == CSV || f == XLSX || f == Semicolons }

// Ending is the ending of a file's name.
func (f Format) Ending() string {
	if f == XLSX {
		return ".xlsx"
	}
	return ".csv"
}

// MediaType is the format's name in HTTP.
func (f Format) MediaType() string {
	if f == XLSX {
		return "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	}
	return "text/csv; charset=utf-8"
}

// Writer writes one file of rows. The file isn't complete before Close.
type Writer[Row any] interface {
	Add(r Row) error
	Close() error
}

// Extra are columns that only some shops need, and the contents of the heading in XLSX.
type Extra struct {
	Receiving bool // the receiving number
	Revenue   bool // whether money in is revenue

	Shop     string    // its name
	Accounts string    // names of the bank accounts; empty: all
	From, To time.Time // from From on, before To; a zero time is no bound
	Filter   string    // the other filters, in words
}

// New begins a file with its header in lang; times are written in zone. XLSX has a heading, and a last row
// with the sums. CSV is for programs: each row after the header is a transaction.
func New(format Format, w io.Writer, lang app.Lang, zone *time.Location, extra Extra) (Writer[app.Transaction], error) {
	layout := Layout{Lines: extra.lines(lang, zone), Columns: slices.Clone(columns), Lang: lang, Zone: zone}
	if extra.Receiving {
		layout.Columns = append(layout.Columns, Column{app.Text{EN: "Receiving number", VI: "Số nhận tiền"}, 20})
	}
	if extra.Revenue {
		layout.Columns = append(layout.Columns, Column{app.Text{EN: "Is revenue", VI: "Là doanh thu"}, 14},
			Column{app.Text{EN: "Not revenue because", VI: "Lý do không phải doanh thu"}, 30})
	}
	rows, err := NewRows(format, w, layout)
	var sums app.Flow
	file := rowsOf[app.Transaction]{Rows: rows, cells: func(t app.Transaction) []Value {
		sums.Add(t.Type, app.Amounts{Count: 1, Total: t.Amount})
		cells := cellsOf(t, lang)
		if extra.Receiving {
			cells = append(cells, Text(t.ReceivingNumber))
		}
		if extra.Revenue {
			cells = append(cells, revenueCells(t, lang)...)
		}
		return cells
	}}
	if format == XLSX {
		file.total = func() []Value {
			count := app.GroupDigits(sums.In.Count+sums.Out.Count, lang)
			return []Value{Title(app.Text{EN: "Total", VI: "Tổng cộng"}.In(lang)),
				Title(app.Textf("Transactions: %s", "Số giao dịch: %s", count).In(lang)), {}, {}, Amount(sums.In.Total), Amount(sums.Out.Total)}
		}
	}
	return file, err
}

// lines returns the lines of the heading.
func (e Extra) lines(lang app.Lang, zone *time.Location) []string {
	accounts := cmp.Or(e.Accounts, app.Text{EN: "All bank accounts", VI: "Tất cả tài khoản"}.In(lang))
	lines := []string{app.Text{EN: "Transactions", VI: "Giao dịch"}.In(lang), e.Shop, accounts}
	bound := func(t time.Time, step time.Duration) string { // a day alone, if t is the start of a day
		if t.Equal(app.DayOf(t, zone).Start(zone)) {
			return t.Add(-step).In(zone).Format("02/01/2006")
		}
		return t.Add(-step).In(zone).Format("02/01/2006 15:04:05")
	}
	if !e.From.IsZero() {
		lines = append(lines, app.Textf("From: %s", "Từ: %s", bound(e.From, 0)).In(lang))
	}
	if !e.To.IsZero() {
		lines = append(lines, app.Textf("Through: %s", "Đến hết: %s", bound(e.To, time.Second)).In(lang))
	}
	if e.Filter != "" {
		lines = append(lines, app.Textf("Only: %s", "Chỉ gồm: %s", e.Filter).In(lang))
	}
	return lines
}

// columns are the columns of every file of transactions. Package statement reads them by these
// names, except the first and the last four: in another database, an id belongs to another
// transaction. "Date flagged" is yes if the date is the time of receipt.
var columns = []Column{
	{app.Text{EN: "baoco id", VI: "Mã baoco"}, 10},
	{app.Text{EN: "Transaction date", VI: "Thời gian"}, 20},
	{app.Text{EN: "Bank", VI: "Ngân hàng"}, 11},
	{app.Text{EN: "Account number", VI: "Số tài khoản"}, 20},
	{app.Text{EN: "Money in", VI: "Tiền vào"}, 15},
	{app.Text{EN: "Money out", VI: "Tiền ra"}, 15},
	{app.Text{EN: "Content", VI: "Nội dung"}, 60},
	{app.Text{EN: "Transaction number", VI: "Mã giao dịch"}, 22},
	{app.Text{EN: "Recorded at", VI: "Ghi nhận lúc"}, 20},
	{app.Text{EN: "Date flagged", VI: "Giờ ước lượng"}, 12},
	{app.Text{EN: "Shop note", VI: "Ghi chú cửa hàng"}, 40},
	{app.Text{EN: "Payment code", VI: "Mã thanh toán"}, 16},
}

// breaks are line breaks and tabs, and withBlanks those with the blanks around them.
const breaks = "\t\n\v\f\r\u0085\u2028\u2029"

var withBlanks = regexp.MustCompile(`[ ]*[` + breaks + `][ ` + breaks + `]*`)

// OneLine returns a content in the form of lists and files: line breaks and tabs become one blank.
func OneLine(content string) string {
	if !strings.ContainsAny(content, breaks) {
		return content
	}
	return withBlanks.ReplaceAllString(content, " ")
}

// cellsOf returns the cells of a transaction. Either money in or money out is empty.
func cellsOf(t app.Transaction, lang app.Lang) []Value {
	in, out, at := Amount(t.Amount), Value{}, Time(t.Time)
	if t.Type == app.Out {
		in, out = out, in
	}
	if t.DateOnly {
		at = Date(t.Time)
	}
	return []Value{Number(t.ID), at, Text(t.Bank), Text(t.AccountNumber), in, out, Text(OneLine(t.Content)), Text(t.Number), Time(t.CreatedAt),
		yesOrNo(t.DateFlaw != "", lang), Text(t.Note), Text(t.Code.Text)}
}

// revenueCells says whether money in is revenue, and why not; both are empty for money out.
func revenueCells(t app.Transaction, lang app.Lang) []Value {
	switch kind := book.Kind(t.Revenue); kind {
	case "":
		return []Value{{}, {}}
	case book.Revenue:
		return []Value{yesOrNo(true, lang), Text(t.RevenueNote)}
	default:
		why := kind.Name().In(lang)
		if t.RevenueNote != "" {
			why += ": " + t.RevenueNote
		}
		return []Value{yesOrNo(false, lang), Text(why)}
	}
}

func yesOrNo(yes bool, lang app.Lang) Value {
	if yes {
		return Text(app.Text{EN: "yes", VI: "có"}.In(lang))
	}
	return Text(app.Text{EN: "no", VI: "không"}.In(lang))
}
