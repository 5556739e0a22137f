package statement

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"baoco/app"
)

// Options is what a file doesn't say.
type Options struct {
	// Zone is where the bank's clocks are.
	Zone *time.Location
	// Map gives the columns of fields, by header text, by number from 1 or by
	// letter: id, date, number, content, debit, credit, amount, type, account,
	// gateway. The others are found by their headers. Where all that are given
	// are numbers or letters, the table need not have a header row.
	Map map[string]string
	// Sheet names the sheet of a spreadsheet. Empty: the only one that has rows
	// below a header.
	Sheet string
}

// Row is one transaction of a file. Where it couldn't be read its Fault says
// why, and the other fields hold what could.
type Row struct {
	Line         int // in the file or the sheet, from 1
	app.Incoming     // EventID only where Map gives a column for it
	// Cells are what stands in the file, dates of a spreadsheet as
	// yyyy-mm-dd: a file made of them can be read again.
	Cells []string
}

// Reader reads the transactions of a file one by one.
type Reader struct {
	table    table
	ahead    []record // read before while the header was looked for
	behind   error    // met behind them
	isText   bool     // a CSV file: its lines have a fixed width
	date1904 bool
	options  Options
	header   header
	lines    int // below the header that held something
	bank     bankLayout
	sheet    string
	account  string    // named by the latest line outside the table
	first    string    // the one above the table
	day      time.Time // of the row above, where a bank doesn't repeat it
	debits   int       // the sign of the first amount in the debit column
	doubt    error     // about the direction of rows above
	held     *Row      // read, but its content may go on below
	open     bool      // the line above was held
	failed   error
	skips    []Skip
	vnd      bool // the file says that it is in VND
	rows     int
	unsigned int // the line of the first amount without a sign, while there is none with one
	sawSign  bool
	format   numberFormat
	book     *ledger            // of the present account
	byColumn map[string]*ledger // of each account of a column
	file     sums
	other    otherAccounts
}

// Open finds the table of transactions in a file, which is CSV or XLSX by what
// it holds and not by its name. A file that isn't understood gives an
// [app.Error] that says what to do.
func Open(path string, o Options) (*Reader, error) {
	if err := checkMap(o.Map); err != nil {
		return nil, err
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
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
	begin := make([]byte, 512)
	n, err := file.ReadAt(begin, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch kind := kindOf(begin[:n]); kind {
	case kindText:
		return openText(file, o)
	case kindZip:
		return openSpreadsheet(file, o)
	default:
		return nil, refused(file, kind)
	}
}

func openText(file *os.File, o Options) (*Reader, error) {
	t, err := openCSV(file, func(lines []record) int {
		h, _, _ := findHeader(lines, o)
		return len(h.columns)
	})
	if err != nil {
		return nil, err
	}
	r := &Reader{table: t, isText: true, options: o}
	found, err := r.begin()
	if err == nil && !found {
		err = noHeader(o)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

func openSpreadsheet(file *os.File, o Options) (*Reader, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	book, err := openWorkbook(file, info.Size())
	if err != nil {
		return nil, err
	}
	return findSheet(book, file, o)
}

// findSheet opens the sheet that is named, or the only one with rows below a
// header.
func findSheet(book *workbook, file *os.File, o Options) (*Reader, error) {
	var found *Reader
	named := false
	for _, s := range book.sheets {
		if o.Sheet != "" && wordsOf(s.name) != wordsOf(o.Sheet) {
			continue
		}
		named = true
		r, err := openSheet(book, s, file, o)
		if err == nil && r != nil && found != nil {
			var second bool
			if second, err = r.hasLines(); err == nil && second {
				err = severalSheets(found.sheet, r.sheet)
			}
			r.table.(*xlsxTable).part.close()
		} else if r != nil {
			found = r
		}
		if err != nil {
			if found != nil {
				found.table.(*xlsxTable).part.close()
			}
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

// openSheet reads the first lines of a sheet; nil where it has no header.
func openSheet(book *workbook, s sheet, file *os.File, o Options) (*Reader, error) {
	t, err := book.open(s, file)
	if err != nil {
		return nil, err
	}
	r := &Reader{table: t, date1904: book.date1904, options: o, sheet: s.name}
	found, err := r.begin()
	if err == nil && found {
		return r, nil
	}
	t.part.close()
	return nil, err
}

// hasLines tells whether something stands below the header.
func (r *Reader) hasLines() (bool, error) {
	for {
		line, err := r.nextLine()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return false, err
		}
		if !line.blank() {
			return true, nil
		}
	}
}

// begin reads the first lines and finds the header among them.
func (r *Reader) begin() (found bool, err error) {
	for len(r.ahead) < headerLines {
		line, err := r.table.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			r.behind = err
			break
		}
		r.ahead = append(r.ahead, line)
	}
	if r.header, found, err = findHeader(r.ahead, r.options); !found || err != nil {
		return found, errors.Join(err, r.behind)
	}
	above := r.ahead[:r.header.next]
	r.ahead = r.ahead[r.header.next:]
	r.bank = findBank(r.header, above, r.sheet)
	r.book = &ledger{}
	if err := r.readAbove(above[:r.header.next-len(r.header.rows)]); err != nil {
		return true, err
	}
	r.leaveAccounts(&r.header)
	return true, nil
}

// readAbove reads the lines above the header.
func (r *Reader) readAbove(above []record) error {
	for i, line := range above {
		if i > 0 && isSummary(above[i-1], line) {
			if err := r.noteSummary(above[i-1], line); err != nil {
				return err
			}
		}
		if number, labelled := namedAccount(line, namesAccount); labelled && number != "" {
			if r.account != "" && r.account != number {
				return refusedAt(line.line, "the file names two accounts above its table, %s and %s", "tệp nêu hai tài khoản phía trên bảng, %s và %s", r.account, number)
			}
			r.account = number
		}
		if err := errors.Join(r.ledgerTitle(line), r.readUnit(line)); err != nil {
			return err
		}
		if err := r.note(line); err != nil {
			return err
		}
	}
	r.first = r.account
	for _, f := range moneyFields {
		if i := r.header.columns.of(f); i >= 0 && i < len(r.header.names) {
			r.vnd = r.vnd || slices.Contains(strings.Fields(headerKey(r.header.names[i])), "vnd")
		}
	}
	return nil
}

// readUnit refuses a line that says another unit than VND.
func (r *Reader) readUnit(line record) error {
	value, vnd := statedUnit(line)
	if value == "" {
		return nil
	}
	if r.vnd = r.vnd || vnd; vnd {
		return nil
	}
	return refusedAt(line.line, "it says “%s”, but only amounts in VND are recorded, not in another currency nor in thousands",
		"dòng này ghi “%s” nhưng chỉ ghi nhận số tiền bằng đồng (VND), không nhận ngoại tệ hay đơn vị nghìn, triệu", app.CleanText(value, 60))
}

// Layout tells what was found out before the first row.
func (r *Reader) Layout() Layout {
	return Layout{
		Bank: r.bank.bank, Sheet: r.sheet, HeaderLine: r.header.line, Columns: r.header.list(), AccountNumber: r.first,
	}
}

// Progress tells how much of the file was read, in bytes of the file or of
// the sheet within it.
func (r *Reader) Progress() (done, total int64) { return r.table.progress() }

// Close closes the file.
func (r *Reader) Close() error { return r.table.close() }

// Next gives the next transaction, or io.EOF. Another error, which may come as
// late as the end of the file, means that the file isn't understood or is
// damaged: [Check] finds that out before a row is recorded.
func (r *Reader) Next() (Row, error) {
	for r.failed == nil {
		line, err := r.nextLine()
		if errors.Is(err, io.EOF) {
			err = errors.Join(r.endTable(), r.endAccount())
			if r.failed = err; err == nil {
				r.failed = io.EOF
			}
			break
		}
		var row Row
		var ok bool
		if err == nil {
			row, ok, err = r.read(line)
		}
		if err != nil {
			r.failed = err
			break
		}
		if !ok {
			continue
		}
		before := r.held
		r.held, r.open = &row, true
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

// peek gives the next lines, up to n, without taking them.
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
