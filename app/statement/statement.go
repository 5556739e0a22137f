package statement

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/inbound"
	"baoco/app/sheet"
)

// Options say how a file is read if the file itself doesn't say it.
type Options struct {
	// Zone is the time zone of the bank's clocks.
	Zone *time.Location
	// Map names the columns of [Fields], by header text, by number from 1 or by
	// letter. The other columns are found by their headers. If all columns are
	// named by number or letter, the table needs no header row.
	Map map[string]string
	// Sheet names the sheet of a spreadsheet. Empty: the only sheet that has rows
	// below a header.
	Sheet string
	// MaxRows is how many transactions the file may have; 0: any number. A file
	// with more is refused with ErrTooManyRows before anything is recorded.
	MaxRows int
}

// Row is one transaction of a file. If it couldn't be read, its Fault says why, and the
// other fields hold the readable parts.
type Row struct {
	Line             int // the line in the file or the sheet, from 1
	inbound.Incoming     // with an EventID only where Map names a column for it
	// Cells are the texts of the line. Dates of a spreadsheet are written as
	// yyyy-mm-dd, so that a file made of Cells can be read again.
	Cells []string
}

// Layout describes a file as far as it is known before its first row is read.
type Layout struct {
	Bank          string   // code of the bank that is named above the table; empty: unknown
	Sheet         string   // name of the sheet of a spreadsheet
	Columns       []string // what each column holds, one of [Fields] or another; empty: not known
	AccountNumber string   // the account that is named above the table; empty: none

	// UnclearAccount is true if the file names no account for certain: several account numbers
	// are above the table, or they are in a column that may be about the other side.
	UnclearAccount bool
}

// maxLooked is how many cells outside transactions a file may have, for each row of
// Options.MaxRows: each cell may be the name of a column, and the check takes time.
const maxLooked = 8

// record and cell are a line and a cell of the file.
type (
	record = sheet.Record
	cell   = sheet.Cell
)

// Reader reads the transactions of a file one by one.
type Reader struct {
	file    *sheet.File
	table   sheet.Table
	ahead   []record // lines that were read already
	behind  error    // the error or io.EOF that came after the lines of ahead
	commas  bool     // a text file whose cells stand between commas
	options Options
	layout  Layout
	header  header
	lines   int    // lines below the header that aren't empty
	looked  int    // filled cells of lines that are no transactions
	account string // the account that the latest line outside the table named

	day    date  // the date of the row above, for a bank that doesn't repeat dates
	held   *Row  // the row that was read last: its content may continue below
	open   bool  // the line above was that row, or continued its content
	failed error // the error of every further call of Next
	sums   int   // the line that named balances or totals last
	rows   int
	skips  []Skip

	certainty
	differences []Difference
	sides       Difference     // the reading of columns that are named only debit and credit; line 0: no such columns
	confirmed   bool           // some balances confirm the directions
	unseen      int            // how many rows hold something that a person doesn't see
	firstUnseen int            // the line of the first such row
	present     reconciliation // the reconciliation of the present account
	all         sums           // the sums of the whole file
}

// Open finds the table of transactions in a CSV or Excel file, which is read until ctx ends. A
// file that isn't understood is an [app.Error] that says what to do.
func Open(ctx context.Context, path string, o Options) (*Reader, error) {
	if err := checkMap(o.Map); err != nil {
		return nil, err
	}
	o.Zone = cmp.Or(o.Zone, time.UTC)
	file, err := sheet.Open(ctx, path, o.MaxRows)
	if err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	r, err := openTable(file, o)
	if err == nil && r == nil {
		err = noHeader(o)
	}
	if err != nil {
		return nil, errors.Join(cmp.Or(ctx.Err(), err), file.Close())
	}
	return r, nil
}

// openTable finds the table in a text file, in the named sheet, or in the only sheet with
// rows below a header. found is nil if no table was found.
func openTable(file *sheet.File, o Options) (found *Reader, err error) {
	if file.Sheets == nil {
		table, comma, err := openText(file, o)
		if err != nil {
			return nil, err
		}
		return begin(&Reader{file: file, table: table, commas: comma, options: o})
	}
	if o.Sheet != "" && !slices.ContainsFunc(file.Sheets, o.names) {
		return nil, noSheet(file, o)
	}
	for i, name := range file.Sheets {
		if !o.names(name) {
			continue
		}
		table, err := file.Sheet(i)
		if err != nil {
			return nil, err
		}
		r, err := begin(&Reader{file: file, table: table, options: o, layout: Layout{Sheet: name}})
		switch {
		case err != nil:
			return nil, err
		case found == nil:
			found = r
		case r != nil && slices.ContainsFunc(r.peek(headerLines), func(l record) bool { return l.Filled() > 0 }):
			return nil, severalSheets(found.layout.Sheet, name)
		}
	}
	return found, nil
}

// names tells whether a sheet of this name may be read.
func (o Options) names(name string) bool { return o.Sheet == "" || wordsOf(name) == wordsOf(o.Sheet) }

// openText chooses the delimiter that gives the header with the most columns. If no
// delimiter gives a header, only one may cut the lines: the file is refused if a second one
// cuts at least half as many lines, such as commas in the amounts of a file with semicolons.
// Columns that are named by letter don't matter here: they are those of the preview, which
// is read without them.
func openText(file *sheet.File, o Options) (table sheet.Table, comma bool, err error) {
	if !o.mapsHeaders() {
		o.Map = nil
	}
	type cut struct {
		delimiter      byte
		columns, lines int
	}
	var cuts []cut
	for _, d := range []byte(sheet.Delimiters) {
		r := Reader{table: file.Sample(d)}
		c := cut{delimiter: d}
		for _, l := range r.peek(headerLines) {
			if l.Filled() >= 2 {
				c.lines++
			}
		}
		if h, _, _ := findHeader(r.ahead, o); h.line > 0 {
			c.columns = len(h.columns)
		}
		cuts = append(cuts, c)
	}
	slices.SortStableFunc(cuts, func(a, b cut) int { return cmp.Or(b.columns-a.columns, b.lines-a.lines) })
	if best := cuts[0]; best.columns > 0 || cuts[1].lines*2 < max(best.lines, 1) {
		return file.Text(best.delimiter), best.delimiter == ',', nil
	}
	return nil, false, errDelimiter
}

// begin reads the first lines and finds the header among them. It returns nil if they have
// no header.
func begin(r *Reader) (*Reader, error) {
	lines := r.peek(headerLines)
	h, found, err := findHeader(lines, r.options)
	if err == nil && !found && !errors.Is(r.behind, io.EOF) {
		err = r.behind
	}
	if !found || err != nil {
		return nil, err
	}
	r.header, r.ahead = h, r.ahead[h.next:]
	above := lines[:h.next-h.height]
	r.readable, r.unread = map[app.Direction]bool{}, map[field][]int{}
	several := false
	for _, line := range above {
		number, _ := namedAccount(line, namesAccount)
		if number != "" {
			several = several || r.account != "" && r.account != number
			r.account = number
		}
		inVND := r.vnd
		if err := cmp.Or(r.title(line), r.readUnit(line)); err != nil {
			return nil, err
		}
		if number != "" || r.vnd != inVND {
			r.addUnseen(line, false, true)
		}
		r.note(line)
	}
	for _, f := range moneyFields {
		r.vnd = r.vnd || strings.Contains(headerKey(h.name(f)), " vnd ")
	}
	if several {
		r.account, r.layout.UnclearAccount = "", true
	}
	r.leaveAccounts(&r.header)
	r.leaveCounter()
	r.layout.Bank, r.layout.Columns, r.layout.AccountNumber = findBank(above), r.header.fields(), r.account
	return r, nil
}

// Layout returns the layout of the file.
func (r *Reader) Layout() Layout { return r.layout }

// Skipped lists why filled lines below the header were no transactions, and why columns of
// transactions aren't recorded.
func (r *Reader) Skipped() []Skip { return r.skips }

// Differences lists the differences between the rows that were read so far and the rest of
// the file. The end of the file may add more.
func (r *Reader) Differences() []Difference { return r.differences }

// Progress returns how many bytes of the file, or of its sheet, were read, and its size.
func (r *Reader) Progress() (done, total int64) { return r.table.Progress() }

// Close closes the file.
func (r *Reader) Close() error { return r.file.Close() }

// Next returns the next transaction, or io.EOF. Another error means that the file
// isn't understood or is damaged. It may come as late as the end of the file, so
// [Import.Run] reads a file to its end before a row is recorded.
func (r *Reader) Next() (Row, error) {
	for r.failed == nil {
		line, err := r.nextLine()
		if errors.Is(err, io.EOF) {
			err = cmp.Or(r.endTable(), r.endFile(), r.endAccount(), err)
			r.endQuestions()
		}
		var row *Row
		if err == nil {
			row, err = r.read(line)
		}
		if most := r.options.MaxRows * maxLooked; err == nil && row == nil && most > 0 {
			if r.looked += line.Filled(); r.looked > most {
				err = ErrTooManyRows
			}
		}
		if r.failed = err; err != nil || row == nil {
			continue
		}
		before := r.held
		r.held, r.open = row, true
		if before != nil {
			return *before, nil
		}
	}
	if last := r.held; last != nil {
		r.held = nil
		return *last, nil
	}
	return Row{}, r.failed
}

// peek returns up to n of the next lines without taking them.
func (r *Reader) peek(n int) []record {
	for len(r.ahead) < n && r.behind == nil {
		var line record
		if line, r.behind = r.table.Next(); r.behind == nil {
			r.ahead = append(r.ahead, line)
		}
	}
	return r.ahead[:min(n, len(r.ahead))]
}

// nextLine takes the next line.
func (r *Reader) nextLine() (record, error) {
	lines := r.peek(1)
	if err := r.file.Ended(); err != nil {
		return record{}, err
	}
	if len(lines) > 0 {
		r.ahead = r.ahead[1:]
		return lines[0], nil
	}
	var known *app.Error
	if err := r.behind; errors.Is(err, io.EOF) || errors.As(err, &known) {
		return record{}, err
	}
	return record{}, fmt.Errorf("reading the statement: %w", r.behind)
}
