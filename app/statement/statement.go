package statement

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"baoco/app"
	"baoco/app/inbound"
)

// Options say how a file is read, where the file itself doesn't.
type Options struct {
	// Zone is the time zone of the bank's clocks.
	Zone *time.Location
	// Map names the columns of fields, by header text, by number from 1 or by
	// letter: id, date, number, content, debit, credit, amount, type, account,
	// gateway. The other columns are found by their headers. Where all columns are
	// named by number or letter, the table needs no header row.
	Map map[string]string
	// Sheet names the sheet of a spreadsheet. Empty: the only sheet that has rows
	// below a header.
	Sheet string
}

// Row is one transaction of a file. Where it couldn't be read, its Fault says
// why, and the other fields hold what could be read.
type Row struct {
	Line             int // in the file or the sheet, from 1
	inbound.Incoming     // with an EventID only where Map names a column for it
	// Cells are the texts of the line. Dates of a spreadsheet are written as
	// yyyy-mm-dd, so that a file made of Cells can be read again.
	Cells []string
}

// Layout is what was found out about a file before its first row was read.
type Layout struct {
	Bank          string // code of the bank that is named above the table; empty: unknown
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

// Reader reads the transactions of a file one by one.
type Reader struct {
	table    table
	ahead    []record // lines that were read already
	behind   error    // the error or io.EOF that came after the lines of ahead
	isText   bool     // a CSV file: its lines have as many cells as the header
	date1904 bool
	options  Options
	layout   Layout
	header   header
	lines    int    // lines below the header that held something
	account  string // named by the latest line outside the table

	day    date  // of the row above, for a bank that doesn't repeat dates
	held   *Row  // the row that was read last: its content may go on below
	open   bool  // the line above was that row, or went on with its content
	failed error // what every further call of Next returns
	sums   int   // the line that named balances or totals last
	rows   int
	skips  []Skip

	certainty
	differences []Difference
	present     reconciliation // of the present account
	file        sums
}

// Open finds the table of transactions in a file. The content of the file, not
// its name, tells whether it is CSV or XLSX. A file that isn't understood is an
// [app.Error] that says what to do.
func Open(path string, o Options) (*Reader, error) {
	if err := checkMap(o.Map); err != nil {
		return nil, err
	}
	o.Zone = cmp.Or(o.Zone, time.UTC)
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := open(file, o)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return r, nil
}

func open(file *os.File, o Options) (*Reader, error) {
	sample, size, err := readSample(file)
	if err != nil {
		return nil, err
	}
	if isWorkbook(sample) {
		return openSpreadsheet(file, size, o)
	}
	if err := notTable(sample); err != nil {
		return nil, err
	}
	table, err := openCSV(file, size, sample, o)
	if err != nil {
		return nil, err
	}
	r := &Reader{table: table, isText: true, options: o}
	found, err := r.begin()
	if err == nil && !found {
		err = noHeader(o)
	}
	return r, err
}

// readSample reads the beginning of a file, which tells what it is.
func readSample(file *os.File) (sample []byte, size int64, err error) {
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	sample = make([]byte, min(sampleSize, info.Size()))
	n, err := file.ReadAt(sample, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, err
	}
	return sample[:n], info.Size(), nil
}

func isWorkbook(sample []byte) bool {
	return bytes.HasPrefix(sample, []byte("PK\x03\x04")) || bytes.HasPrefix(sample, []byte("PK\x05\x06"))
}

// openSpreadsheet opens the sheet that is named, or the only one with rows below
// a header.
func openSpreadsheet(file *os.File, size int64, o Options) (found *Reader, err error) {
	book, err := openWorkbook(file, size)
	if err != nil {
		return nil, err
	}
	named := false
	for _, s := range book.sheets {
		if o.Sheet != "" && wordsOf(s.name) != wordsOf(o.Sheet) {
			continue
		}
		named = true
		t, err := book.open(s, file)
		if err != nil {
			return nil, err
		}
		r := &Reader{table: t, date1904: book.date1904, options: o, layout: Layout{Sheet: s.name}}
		ok, err := r.begin()
		if ok && err == nil && found != nil {
			if ok, err = r.hasLines(); ok {
				err = severalSheets(found.layout.Sheet, r.layout.Sheet)
			}
		} else if ok {
			found = r
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case !named:
		return nil, noSheet(book, o)
	case found == nil:
		return nil, noHeader(o)
	}
	return found, nil
}

// hasLines tells whether the table has lines below its header.
func (r *Reader) hasLines() (bool, error) {
	for {
		line, err := r.nextLine()
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil || !line.blank() {
			return err == nil, err
		}
	}
}

// begin reads the first lines and finds the header among them.
func (r *Reader) begin() (found bool, err error) {
	lines := r.peek(headerLines)
	r.header, found, err = findHeader(lines, r.options)
	if err == nil && !found && !errors.Is(r.behind, io.EOF) {
		err = r.behind
	}
	if !found || err != nil {
		return found, err
	}
	above := lines[:r.header.next-len(r.header.rows)]
	r.ahead = r.ahead[r.header.next:]
	r.readable, r.unread = map[field]int{}, map[field]int{}
	r.layout.Bank, r.layout.HeaderLine = findBank(above), r.header.line
	for _, line := range above {
		if number, labelled := namedAccount(line, namesAccount); labelled && number != "" {
			if r.account != "" && r.account != number {
				return true, refusedAt(line.line, "the file names two accounts above its table, %s and %s",
					"tệp nêu hai tài khoản phía trên bảng, %s và %s", r.account, number)
			}
			r.account = number
		}
		if err := errors.Join(r.ledgerTitle(line), r.readUnit(line)); err != nil {
			return true, err
		}
		r.note(line)
	}
	for _, f := range moneyFields {
		r.vnd = r.vnd || list{"vnd"}.in(headerKey(r.header.name(f)))
	}
	r.leaveAccounts(&r.header)
	r.leaveCounter()
	r.layout.Columns, r.layout.AccountNumber = r.header.list(), r.account
	return true, nil
}

// Layout returns what was found out before the first row.
func (r *Reader) Layout() Layout { return r.layout }

// Skipped lists why lines below the header that held something were no
// transactions, and why columns of transactions aren't recorded.
func (r *Reader) Skipped() []Skip { return r.skips }

// Differences lists where the rows that were read don't agree with what the file says
// about them. There may be more at the end of the file.
func (r *Reader) Differences() []Difference { return r.differences }

// Progress returns how much of the file, or of the sheet within it, was read, in
// bytes.
func (r *Reader) Progress() (done, total int64) { return r.table.progress() }

// Close closes the file.
func (r *Reader) Close() error { return r.table.close() }

// Next returns the next transaction, or io.EOF. Another error means that the file
// isn't understood or is damaged. It may come as late as the end of the file, so
// [Import.Run] reads a file to its end before a row is recorded.
func (r *Reader) Next() (Row, error) {
	for r.failed == nil {
		line, err := r.nextLine()
		if errors.Is(err, io.EOF) {
			if wrong := errors.Join(r.endTable(), r.endFile(), r.endAccount()); wrong != nil {
				err = wrong
			}
		}
		var row *Row
		if err == nil {
			row, err = r.read(line)
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
		line, err := r.table.next()
		if err != nil {
			r.behind = err
			break
		}
		r.ahead = append(r.ahead, line)
	}
	return r.ahead[:min(n, len(r.ahead))]
}

// nextLine takes the next line.
func (r *Reader) nextLine() (record, error) {
	if len(r.ahead) > 0 {
		line := r.ahead[0]
		r.ahead = r.ahead[1:]
		return line, nil
	}
	line, err := record{}, r.behind
	if err == nil {
		line, err = r.table.next()
	}
	var known *app.Error
	if err != nil && !errors.Is(err, io.EOF) && !errors.As(err, &known) {
		err = fmt.Errorf("reading the statement: %w", err)
	}
	return line, err
}
