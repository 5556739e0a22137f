package statement

import (
	"context"
	"errors"
	"io"
	"time"

	"baoco/app"
)

// Batch is how many rows are recorded at a time: many enough that a sync costs
// little, few enough that whoever else writes waits for some milliseconds, also
// for a dry run, which is one commit that is taken back.
const Batch = 100

// Importer records the rows of a file, and counts what becomes of them.
type Importer struct {
	Import *app.Import
	Now    time.Time
	// Reject is told of every row that isn't recorded and isn't known: what it
	// was found to be says e, and why not its fault or the outcome.
	Reject func(row Row, outcome app.Outcome, e app.Incoming) error

	Rows, Recorded, Duplicates, Deliveries int

	In, Out app.Amounts // of the rows that are recorded, now or before
	First   []Outcome   // what becomes of the first rows that are or could be
}

// Outcome is what becomes of a row.
type Outcome struct {
	Row
	Outcome app.Outcome
}

// firstRows is how many rows are shown to people, so that they see whether they
// are understood.
const firstRows = 20

// Add records what of a batch can be read, in one commit.
func (i *Importer) Add(ctx context.Context, batch []Row) error {
	i.Rows += len(batch)
	elements, rows := make([]app.Incoming, 0, len(batch)), make([]Row, 0, len(batch))
	for _, row := range batch {
		if row.Fault != nil {
			if err := i.Reject(row, app.OutcomeRejected, row.Incoming); err != nil {
				return err
			}
			continue
		}
		elements, rows = append(elements, row.Incoming), append(rows, row)
	}
	if len(elements) == 0 {
		return nil
	}
	recording, err := i.Import.Add(ctx, elements, i.Now)
	if err != nil {
		return err
	}
	i.Recorded += recording.Recorded
	i.Duplicates += recording.Duplicates
	i.Deliveries += recording.Deliveries
	for n, outcome := range recording.Outcomes {
		if outcome == app.OutcomeRecorded || outcome == app.OutcomeDuplicate {
			i.count(rows[n], outcome)
		} else if err := i.Reject(rows[n], outcome, elements[n]); err != nil {
			return err
		}
	}
	return nil
}

func (i *Importer) count(row Row, outcome app.Outcome) {
	sum := &i.In
	if row.Type == app.Out {
		sum = &i.Out
	}
	sum.Count++
	sum.Total += row.Amount
	if len(i.First) < firstRows {
		row.Cells = nil
		i.First = append(i.First, Outcome{row, outcome})
	}
}

// Check reads a file to its end, and tells why it isn't understood: nothing of
// such a file is recorded, not what stands above the line that says so either.
func Check(ctx context.Context, path string, o Options) (err error) {
	r, err := Open(path, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for err == nil {
		if _, err = r.Next(); err == nil {
			err = ctx.Err()
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// NamesAccount tells whether the file says which bank account it is about.
func (l Layout) NamesAccount() bool {
	for _, column := range l.Columns {
		if column.Field == "account" {
			return true
		}
	}
	return l.AccountNumber != ""
}

// CanBeAbout lists those of the linked bank accounts that a file can be about
// which names none.
func (l Layout) CanBeAbout(linked []app.BankAccount) (list []app.BankAccount) {
	for _, b := range linked {
		if l.Bank == "" || l.Bank == b.Bank {
			list = append(list, b)
		}
	}
	return list
}
