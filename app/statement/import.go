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
)

// Import is one statement file on its way into the ledger. The command line
// and the dashboard both run it.
type Import struct {
	Path   string
	Read   Options
	Record inbound.ImportOptions // BankAccountID 0: the account that the file names, or the only possible one
	Now    time.Time
	// AcceptDifferences records the rows of a file that doesn't agree with itself. Without it,
	// such a file is refused, except in a dry run.
	AcceptDifferences bool
	// Rejected is called with every row that is neither recorded nor a duplicate. e is
	// the transaction as read: its Fault, or the outcome, says what is wrong. Rejected
	// returns the reason by which such rows are counted. An error ends the import.
	Rejected func(row Row, outcome inbound.Outcome, e inbound.Incoming) (reason string, err error)
	// Progress is called after every batch with the number of rows so far, the bytes of the
	// file that were read, and its size. It may be nil.
	Progress func(rows, done, total int64)
}

// Result is the result of an import, or of a dry run.
type Result struct {
	Layout      Layout
	BankAccount app.BankAccount // the one that Record named, or the only possible one; empty: the file names it
	ImportID    int64           // used to take the import back; 0: nothing was recorded

	Rows, Recorded, Duplicates, Rejected, Deliveries int64

	In, Out app.Amounts // sums of the rows that are recorded, now or before
	First   []Outcome   // the first rows that are recorded, now or before, so that people can check their reading
	Skipped []Skip
	// Differences are the lines at which the file doesn't agree with its rows.
	Differences []Difference
	Reasons     []Reason // why rows were rejected, the most frequent reason first
}

// Outcome is a row with its outcome.
type Outcome struct {
	Row
	Outcome inbound.Outcome
}

// Reason is why rows were rejected, how many, and the line of the first.
type Reason struct {
	Text string
	Rows int64
	Line int
}

const (
	maxFirst   = 20
	maxReasons = 100
)

// Batch is how many rows are recorded in one commit: enough that syncing costs little, few
// enough that other writers wait only some milliseconds. A dry run rolls its batches back.
const Batch = 100

// ErrTooManyRows is the error of a file with more than Options.MaxRows
// transactions.
var ErrTooManyRows = errors.New("the file has too many rows")

// UnclearAccountError is the error of a file that doesn't name its bank account if several
// of the linked ones, or none, are possible.
type UnclearAccountError struct{ Candidates int }

func (e *UnclearAccountError) Error() string {
	return fmt.Sprintf("the file doesn't name its bank account, and %d linked ones can be meant", e.Candidates)
}

// Run reads the file to its end, and then records its rows batch by batch. A
// file that isn't understood is refused before anything is recorded: Run then returns an
// error and no Result. If recording is interrupted it returns both, and the same import can
// be run again for the rest.
func (i Import) Run(ctx context.Context, ledger *app.Service, inbound *inbound.Service) (*Result, error) {
	differences, err := i.check(ctx)
	if err != nil {
		return nil, err
	}
	if len(differences) > 0 && !i.AcceptDifferences && !i.Record.DryRun {
		return nil, errDiffers(differences)
	}
	reader, err := Open(ctx, i.Path, i.Read)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	r := &Result{Layout: reader.Layout(), Differences: differences}
	if r.BankAccount, err = i.bankAccount(ctx, ledger, r.Layout); err != nil {
		return nil, err
	}
	i.Record.BankAccountID = r.BankAccount.ID
	in, err := inbound.NewImport(ctx, i.Record)
	if err != nil {
		return nil, err
	}
	err = i.record(ctx, in, reader, r)
	r.ImportID, r.Skipped = in.ID(), reader.Skipped()
	slices.SortStableFunc(r.Reasons, func(a, b Reason) int { return cmp.Compare(b.Rows, a.Rows) })
	return r, err
}

// check reads the file to its end and records nothing. A line at the end may
// say that the lines above weren't understood.
func (i Import) check(ctx context.Context) ([]Difference, error) {
	r, err := Open(ctx, i.Path, i.Read)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for rows := 0; err == nil; rows++ {
		if _, err = r.Next(); err == nil && i.Read.MaxRows > 0 && rows == i.Read.MaxRows {
			err = ErrTooManyRows
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return r.Differences(), err
}

// bankAccount returns the bank account of the file; empty: the file itself names it.
func (i Import) bankAccount(ctx context.Context, ledger *app.Service, layout Layout) (app.BankAccount, error) {
	linked, err := ledger.BankAccounts(ctx, i.Record.AccountID)
	if err != nil {
		return app.BankAccount{}, err
	}
	var candidates []app.BankAccount
	for _, b := range linked {
		if b.ID == i.Record.BankAccountID {
			return b, nil
		}
		if layout.Bank == "" || layout.Bank == b.Bank {
			candidates = append(candidates, b)
		}
	}
	switch {
	case i.Record.BankAccountID != 0:
		return app.BankAccount{}, app.ErrUnknownBankAccountID
	case layout.AccountNumber != "", slices.Contains(layout.Columns, string(fieldAccount)): // the file names it
		return app.BankAccount{}, nil
	case layout.UnclearAccount || len(candidates) != 1:
		return app.BankAccount{}, &UnclearAccountError{len(candidates)}
	}
	return candidates[0], nil
}

// record records the rows batch by batch.
func (i Import) record(ctx context.Context, in *inbound.Import, reader *Reader, r *Result) (err error) {
	for err == nil {
		var rows []Row
		for err == nil && len(rows) < Batch {
			var row Row
			if row, err = reader.Next(); err == nil {
				rows = append(rows, row)
			}
		}
		if len(rows) == 0 {
			break
		}
		if err := i.add(ctx, in, rows, r); err != nil {
			return err
		}
		if i.Progress != nil {
			done, total := reader.Progress()
			i.Progress(r.Rows, done, total)
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// add records those rows of a batch that could be read, in one commit.
func (i Import) add(ctx context.Context, in *inbound.Import, batch []Row, r *Result) error {
	r.Rows += int64(len(batch))
	elements, rows := make([]inbound.Incoming, 0, len(batch)), make([]Row, 0, len(batch))
	for _, row := range batch {
		r.setBankAccount(&row.Incoming)
		if row.Fault != nil {
			if err := i.reject(r, row, inbound.OutcomeRejected, row.Incoming); err != nil {
				return err
			}
			continue
		}
		elements, rows = append(elements, row.Incoming), append(rows, row)
	}
	if len(elements) == 0 {
		return nil
	}
	recording, err := in.Add(ctx, elements, i.Now)
	if err != nil {
		return err
	}
	r.Recorded += int64(recording.Recorded)
	r.Duplicates += int64(recording.Duplicates)
	r.Deliveries += int64(recording.Deliveries)
	for n, outcome := range recording.Outcomes {
		if outcome == inbound.OutcomeRecorded || outcome == inbound.OutcomeDuplicate {
			r.count(rows[n], outcome)
		} else if err := i.reject(r, rows[n], outcome, elements[n]); err != nil {
			return err
		}
	}
	return nil
}

// setBankAccount gives a row the bank account that a person named, or the only possible one,
// unless the row or the lines above the table name another number. A number with other
// characters than digits may be masked; a spreadsheet may have lost zeros at its beginning.
func (r *Result) setBankAccount(e *inbound.Incoming) {
	if r.BankAccount.ID == 0 || e.Gateway != r.Layout.Bank {
		return
	}
	e.Gateway = r.BankAccount.Bank
	number := app.NormalizeAccountNumber(e.AccountNumber)
	if !app.AllDigits(number) || strings.TrimLeft(number, "0") == strings.TrimLeft(r.BankAccount.AccountNumber, "0") {
		e.AccountNumber = r.BankAccount.AccountNumber
	}
}

// count counts a row that is recorded, now or before.
func (r *Result) count(row Row, outcome inbound.Outcome) {
	sum := &r.In
	if row.Type == app.Out {
		sum = &r.Out
	}
	sum.Count++
	sum.Total += row.Amount
	if len(r.First) < maxFirst {
		row.Cells = nil
		r.First = append(r.First, Outcome{row, outcome})
	}
}

// reject counts a row that isn't recorded, by its reason.
func (i Import) reject(r *Result, row Row, outcome inbound.Outcome, e inbound.Incoming) error {
	reason, err := i.Rejected(row, outcome, e)
	if err != nil {
		return err
	}
	r.Rejected++
	at := slices.IndexFunc(r.Reasons, func(known Reason) bool { return known.Text == reason })
	switch {
	case at >= 0:
		r.Reasons[at].Rows++
	case len(r.Reasons) < maxReasons:
		r.Reasons = append(r.Reasons, Reason{reason, 1, row.Line})
	}
	return nil
}
