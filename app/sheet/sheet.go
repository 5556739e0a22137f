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
	"slices"
	"strconv"
	"time"

	"baoco/app"
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

// New begins a file with its header in lang; times are written in zone.
func New(format Format, w io.Writer, lang app.Lang, zone *time.Location) (Writer[app.Transaction], error) {
	return newFile(format, w, columns(header, lang), zone)
}

// NewReceiving is New with one column more: the receiving number.
func NewReceiving(format Format, w io.Writer, lang app.Lang, zone *time.Location) (Writer[app.Transaction], error) {
	return newFile(format, w, columns(append(slices.Clone(header), app.Text{EN: "Receiving number", VI: "Số nhận tiền"}), lang), zone)
}

func newFile(format Format, w io.Writer, names []string, zone *time.Location) (Writer[app.Transaction], error) {
	if format == XLSX {
		return newXLSX(w, names, append(slices.Clone(widths), 20)[:len(names)], Intro{}, zone)
	}
	return newCSV(format, w, names, zone)
}

// Intro is what stands above and below the rows of a file of one day.
type Intro struct {
	Lines []string // titles; the first is the greatest
	Total string   // name of the last row, which has the sums
}

// NewDay begins an XLSX file with an intro. It ends with the sums of its rows.
func NewDay(w io.Writer, intro Intro, lang app.Lang, zone *time.Location) (Writer[app.Transaction], error) {
	return newXLSX(w, columns(header, lang), widths, intro, zone)
}

func columns(header []app.Text, lang app.Lang) []string {
	names := make([]string, len(header))
	for i, name := range header {
		names[i] = name.In(lang)
	}
	return names
}

// header names the columns. Package statement reads them by these names, all but
// the first and the last four: in another database, an id is the id of another
// transaction. "Date flagged" is 1 where the date is the time of receipt, else 0.
var header = []app.Text{
	{EN: "baoco id", VI: "Mã baoco"},
	{EN: "Transaction date", VI: "Thời gian"},
	{EN: "Bank", VI: "Ngân hàng"},
	{EN: "Account number", VI: "Số tài khoản"},
	{EN: "Money in", VI: "Tiền vào"},
	{EN: "Money out", VI: "Tiền ra"},
	{EN: "Content", VI: "Nội dung"},
	{EN: "Transaction number", VI: "Mã giao dịch"},
	{EN: "Recorded at", VI: "Ghi nhận lúc"},
	{EN: "Date flagged", VI: "Ngày giờ là lúc nhận"},
	{EN: "Shop note", VI: "Ghi chú cửa hàng"},
	{EN: "Payment code", VI: "Mã thanh toán"},
}

// widths are those of the columns, in characters.
var widths = []int{10, 20, 11, 20, 15, 15, 60, 22, 20, 12, 40, 16}

// flagged returns the cell that tells whether the date is flagged.
func flagged(t app.Transaction) string {
	if t.DateFlaw != "" {
		return "1"
	}
	return "0"
}

// amounts returns the cells of money in and money out; one of them is empty.
func amounts(t app.Transaction) (in, out string) {
	n := strconv.FormatInt(t.Amount, 10)
	if t.Type == app.Out {
		return "", n
	}
	return n, ""
}
