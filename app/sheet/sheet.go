// Package sheet writes transactions, and the audit log, as files that spreadsheets
// open: CSV and XLSX, a row at a time, so that memory doesn't grow with the file.
// A text of a payer or a user stays a text: no cell of it is a formula, whatever it begins
// with (owasp.org/www-community/attacks/CSV_Injection).
//
// It also reads such files of anyone into cells (read.go), a line at a time and within
// bounds: text.go makes cells of a text file, workbook.go of a workbook, and format.go says
// what its numbers look like. Only the texts that a workbook shares among its cells are held
// in memory, up to 64 MiB. Package statement makes transactions of the cells.
package sheet

import (
	"io"
	"regexp"
	"slices"
	"time"

	"baoco/app"
	"baoco/app/book"
)

// Format is a file format.
type Format string

// The formats.
const (
	CSV  Format = "csv"
	XLSX Format = "xlsx"

	// Semicolons is CSV with semicolons, which Excel cuts into columns where the
	// comma is the decimal sign, as in Vietnam. A first line of "sep=," would do so
	// too, but then Excel reads no UTF-8, and other programs take it for the header.
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

// Extra are columns that only some shops need.
type Extra struct {
	Receiving bool // the receiving number
	Revenue   bool // whether money in is revenue
}

// New begins a file with its header in lang; times are written in zone.
func New(format Format, w io.Writer, lang app.Lang, zone *time.Location, extra Extra) (Writer[app.Transaction], error) {
	layout := Layout{Columns: slices.Clone(columns), Lang: lang, Zone: zone}
	if extra.Receiving {
		layout.Columns = append(layout.Columns, Column{app.Text{EN: "Receiving number", VI: "Số nhận tiền"}, 20})
	}
	if extra.Revenue {
		layout.Columns = append(layout.Columns, Column{app.Text{EN: "Is revenue", VI: "Là doanh thu"}, 14},
			Column{app.Text{EN: "Not revenue because", VI: "Lý do không phải doanh thu"}, 30})
	}
	rows, err := NewRows(format, w, layout)
	return rowsOf[app.Transaction]{Rows: rows, cells: func(t app.Transaction) []Value {
		cells := cellsOf(t)
		if extra.Receiving {
			cells = append(cells, Text(t.ReceivingNumber))
		}
		if extra.Revenue {
			cells = append(cells, revenueCells(t, lang)...)
		}
		return cells
	}}, err
}

// NewDay begins an XLSX file of the transactions of one day with titles. Its last row, which has
// the name total, has the sums.
func NewDay(w io.Writer, titles []string, total string, lang app.Lang, zone *time.Location) (Writer[app.Transaction], error) {
	rows, err := NewRows(XLSX, w, Layout{Lines: titles, Columns: columns, Lang: lang, Zone: zone})
	var sums app.Flow
	return rowsOf[app.Transaction]{Rows: rows, cells: func(t app.Transaction) []Value {
		if t.Type == app.Out {
			sums.Out.Total += t.Amount
		} else {
			sums.In.Total += t.Amount
		}
		return cellsOf(t)
	}, total: func() []Value {
		return []Value{Title(total), {}, {}, {}, Amount(sums.In.Total), Amount(sums.Out.Total)}
	}}, err
}

// columns are those of every file of transactions. Package statement reads them by these names,
// all but the first and the last four: in another database, an id is the id of another
// transaction. "Date flagged" is 1 where the date is the time of receipt, else 0.
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
	{app.Text{EN: "Date flagged", VI: "Giờ ước lượng (1 = lấy giờ nhận)"}, 12},
	{app.Text{EN: "Shop note", VI: "Ghi chú cửa hàng"}, 40},
	{app.Text{EN: "Payment code", VI: "Mã thanh toán"}, 16},
}

// breaks are line breaks and tabs, with the blanks around them.
var breaks = regexp.MustCompile(`[ ]*[\t\n\v\f\r\x{85}\x{2028}\x{2029}][ \t\n\v\f\r\x{85}\x{2028}\x{2029}]*`)

// OneLine is a content as lists and files show it: line breaks and tabs are one blank.
func OneLine(content string) string { return breaks.ReplaceAllString(content, " ") }

// cellsOf are the cells of a transaction; that of money in or that of money out is empty.
func cellsOf(t app.Transaction) []Value {
	in, out, at, flagged := Amount(t.Amount), Value{}, Time(t.Time), int64(0)
	if t.Type == app.Out {
		in, out = out, in
	}
	if t.DateOnly {
		at = Date(t.Time)
	}
	if t.DateFlaw != "" {
		flagged = 1
	}
	return []Value{Number(t.ID), at, Text(t.Bank), Text(t.AccountNumber), in, out, Text(OneLine(t.Content)), Text(t.Number), Time(t.CreatedAt),
		Number(flagged), Text(t.Note), Text(t.Code.Text)}
}

// revenueCells says whether money in is revenue, and why not; both are empty for money out.
func revenueCells(t app.Transaction, lang app.Lang) []Value {
	switch kind := book.Kind(t.Revenue); kind {
	case "":
		return []Value{{}, {}}
	case book.Revenue:
		return []Value{Text(app.Text{EN: "yes", VI: "có"}.In(lang)), Text(t.RevenueNote)}
	default:
		why := kind.Name().In(lang)
		if t.RevenueNote != "" {
			why += ": " + t.RevenueNote
		}
		return []Value{Text(app.Text{EN: "no", VI: "không"}.In(lang)), Text(why)}
	}
}
