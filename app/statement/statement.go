package statement

import (
	"errors"
	"fmt"
	"io"
	"os"
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
	// Sheet names the sheet of a spreadsheet. Empty: the first one that has a
	// header row.
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
	held     *Row      // read, but its content may go on below
	open     bool      // the line above was held
	failed   error
	skipped  int
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
		h, _ := findHeader(lines, o)
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
	r, err := findSheet(book, file, o)
	if err != nil {
		return nil, errors.Join(err, book.close())
	}
	return r, nil
}

// findSheet opens the sheet that is named, or the first with a header row.
func findSheet(book *workbook, file *os.File, o Options) (*Reader, error) {
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
		r := &Reader{table: t, date1904: book.date1904, options: o, sheet: s.name}
		found, err := r.begin()
		if err == nil && found {
			return r, nil
		}
		t.part.close()
		if err != nil {
			return nil, err
		}
	}
	if !named {
		return nil, noSheet(book, o)
	}
	return nil, noHeader(o)
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
	if r.header, found = findHeader(r.ahead, r.options); !found {
		return false, r.behind
	}
	above := r.ahead[:r.header.next]
	r.ahead = r.ahead[r.header.next:]
	r.bank = findBank(r.header, above, r.sheet)
	for _, line := range above {
		if number, labelled := namedAccount(line); labelled && r.account == "" {
			r.account = number
		}
	}
	r.first = r.account
	if r.account != "" || r.bank.bank != "" {
		if _, given := r.options.Map[string(fieldAccount)]; !given {
			delete(r.header.columns, fieldAccount)
		}
	}
	return true, nil
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

// Skipped is how many lines below the header held something and were no
// transaction: totals, balances, titles.
func (r *Reader) Skipped() int { return r.skipped }

// Close closes the file.
func (r *Reader) Close() error { return r.table.close() }

// Next gives the next transaction, or io.EOF. After another error the file
// can't be read on; what was given before stands.
func (r *Reader) Next() (Row, error) {
	for r.failed == nil {
		line, err := r.nextLine()
		if err != nil {
			r.failed = err
			break
		}
		row, ok := r.read(line)
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

func (r *Reader) nextLine() (record, error) {
	if len(r.ahead) > 0 {
		line := r.ahead[0]
		r.ahead = r.ahead[1:]
		return line, nil
	}
	if r.behind != nil {
		return record{}, r.behind
	}
	line, err := r.table.next()
	var known *app.Error
	if err != nil && !errors.Is(err, io.EOF) && !errors.As(err, &known) {
		err = fmt.Errorf("reading the statement: %w", err)
	}
	return line, err
}
