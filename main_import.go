package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"baoco/app"
	"baoco/app/statement"
	"baoco/web"

	"github.com/urfave/cli/v2"
)

// The walk of a statement file: statement.Check reads it to its end and refuses
// what isn't understood → statement.Open finds the table → its rows are read
// beside what follows, a batch at a time → app.Import records a batch in
// one commit → what can't be read or belongs to no linked account goes to the
// reject file.

func importCommand() *cli.Command {
	return &cli.Command{
		Name: "import", Usage: "record the transactions of a bank statement, CSV or XLSX; importing it again records nothing new", ArgsUsage: "FILE",
		Description: example(
			"baoco transaction import statement.xlsx --dry-run",
			"baoco transaction import statement.xlsx",
			`baoco transaction import any.csv --map date=Ngày --map credit=Có --map debit=Nợ --map "content=Diễn giải" --bank-account-id 1`,
			"baoco transaction import --list",
			"baoco transaction import --undo 3 --dry-run",
		),
		Flags: adminFlags(
			&cli.BoolFlag{Name: "dry-run", Usage: "change nothing, and show what would be recorded, or removed"},
			&cli.BoolFlag{Name: "list", Usage: "list the files that were imported, newest first"},
			&cli.Int64Flag{Name: "undo", Usage: "take back import `ID`: remove its transactions, but those that a shop was told of"},
			&cli.BoolFlag{Name: "notify", Usage: "send new transactions to the webhooks"},
			&cli.StringSliceFlag{Name: "map", Usage: "the column of a field, `FIELD=COLUMN`, by its header, letter or number: id, date, number, content, debit, credit, amount, type, account, gateway (repeatable; default: found by the headers)"},
			&cli.StringFlag{Name: "sheet", Usage: "`NAME` of the sheet (default: the only one that holds a table of transactions)"},
			&cli.Int64Flag{Name: "bank-account-id", Usage: "the file is about bank account `ID` (default: the one that it names)"},
			&cli.StringFlag{Name: "rejects", Usage: "`FILE` for the rows that can't be recorded (default: beside the statement)"},
		),
		Action: interruptible(admin(importFile)),
	}
}

// imported is what became of a file.
type imported struct {
	File       string         `json:"file"`
	Bank       *string        `json:"bank"`  // of the layout; null: no bank's that is known
	Sheet      *string        `json:"sheet"` // of a spreadsheet
	DryRun     bool           `json:"dry_run"`
	Rows       int            `json:"rows"` // that hold money
	Recorded   int            `json:"recorded"`
	Duplicates int            `json:"duplicates"` // known already
	Rejected   int            `json:"rejected"`
	InCount    int64          `json:"in_count"` // of the transactions that are recorded, now or before
	InAmount   int64          `json:"in_amount"`
	OutCount   int64          `json:"out_count"`
	OutAmount  int64          `json:"out_amount"`
	Deliveries int            `json:"deliveries"`
	FirstRows  []importedRow  `json:"first_rows"` // what the first rows are understood as
	Skipped    []skipped      `json:"skipped"`    // lines that are no transactions: totals, titles
	Rejects    *string        `json:"rejects"`    // the reject file; null: there is none
	ImportID   *int64         `json:"import_id"`  // for --undo; null: nothing was recorded
	Reasons    []rejectReason `json:"reasons"`    // why, the most frequent first
	Error      *string        `json:"error"`      // why the file could not be read to its end
}

// importedRow is what a row of the file is understood as.
type importedRow struct {
	Line    int         `json:"line"`
	Date    string      `json:"transaction_date"`
	Type    string      `json:"type"`
	Amount  int64       `json:"amount"`
	Content string      `json:"content"`
	Outcome app.Outcome `json:"outcome"`
}

// skipped is why lines are no transactions, how many, and the first.
type skipped struct {
	Reason string `json:"reason"`
	Lines  int    `json:"lines"`
	First  int    `json:"first_line"`
}

func importFile(c *cli.Context, s *session) error {
	switch {
	case c.Bool("list") && c.IsSet("undo"):
		return usagef("--list and --undo don't go together")
	case c.Bool("list"):
		return listImports(c, s)
	case c.IsSet("undo"):
		return undoImport(c, s)
	}
	if c.NArg() != 1 {
		return usagef("import takes one argument, a statement file")
	}
	path := c.Args().First()
	columns, err := mapFlag(c)
	if err != nil {
		return err
	}
	options := statement.Options{Zone: s.service.Zone(), Map: columns, Sheet: c.String("sheet")}
	if err := statement.Check(c.Context, path, options); errors.Is(err, os.ErrNotExist) {
		return exitStatus{exitNotFound, err}
	} else if err != nil {
		return err
	}
	reader, err := statement.Open(path, options)
	if err != nil {
		return err
	}
	defer reader.Close()
	bankAccountID, err := statementAccount(c, s, reader.Layout())
	if err != nil {
		return err
	}
	in, err := s.service.NewImport(c.Context, app.ImportOptions{
		AccountID: s.account, BankAccountID: bankAccountID, File: filepath.Base(path), Notify: c.Bool("notify"), DryRun: c.Bool("dry-run"),
	})
	if err != nil {
		return err
	}
	rejects := newRejects(c, path)
	importer := &statement.Importer{Import: in, Now: s.now, Reject: func(row statement.Row, outcome app.Outcome, e app.Incoming) error {
		return rejects.add(row, rejection(outcome, e))
	}}
	return runImport(c, s, &fileImport{importer: importer, reader: reader, rejects: rejects, result: imported{
		File: path, Bank: orNull(reader.Layout().Bank), Sheet: orNull(reader.Layout().Sheet), DryRun: c.Bool("dry-run"),
	}})
}

// orNull is null for the empty text.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// statementAccount is the bank account that a file is about, where it doesn't
// name one: that of the flag, or the only one that it can be.
func statementAccount(c *cli.Context, s *session, layout statement.Layout) (int64, error) {
	if id := c.Int64("bank-account-id"); c.IsSet("bank-account-id") {
		return id, nil
	}
	if layout.NamesAccount() {
		return 0, nil
	}
	linked, err := s.service.BankAccounts(c.Context, s.account)
	if err != nil {
		return 0, err
	}
	only := layout.CanBeAbout(linked)
	if len(only) != 1 {
		return 0, usagef("the file doesn't say which bank account it is about, and %d linked ones can be meant; name one with --bank-account-id (see baoco bank list)", len(only))
	}
	return only[0].ID, nil
}

// fileImport is one run.
type fileImport struct {
	importer *statement.Importer
	reader   *statement.Reader
	rejects  *rejects
	result   imported
}

func runImport(c *cli.Context, s *session, f *fileImport) error {
	bar := newFileBar(c.App.ErrWriter, "reading")
	err := f.record(c.Context, bar)
	bar.stop()
	if e := f.rejects.close(); err == nil {
		err = e
	}
	if err != nil && c.Context.Err() != nil {
		err = unfinished(errors.New("interrupted"), "the rows that are counted above are done; import the file again for the rest")
	}
	f.result.Rows, f.result.Recorded, f.result.Duplicates, f.result.Deliveries = f.importer.Rows, f.importer.Recorded, f.importer.Duplicates, f.importer.Deliveries
	f.result.Rejected, f.result.Rejects = f.rejects.rows, orNull(f.rejects.made)
	if id := f.importer.Import.ID(); id != 0 {
		f.result.ImportID = &id
	}
	f.result.InCount, f.result.InAmount = f.importer.In.Count, f.importer.In.Total
	f.result.OutCount, f.result.OutAmount = f.importer.Out.Count, f.importer.Out.Total
	f.result.Reasons, f.result.Skipped, f.result.FirstRows = f.rejects.mostFrequent(), []skipped{}, []importedRow{}
	for _, skip := range f.reader.Skipped() {
		f.result.Skipped = append(f.result.Skipped, skipped{skip.Reason.EN, skip.Lines, skip.First})
	}
	for _, row := range f.importer.First {
		f.result.FirstRows = append(f.result.FirstRows, importedRow{
			row.Line, app.FormatTime(row.Time, s.service.Zone()), string(row.Type), row.Amount, row.Content, row.Outcome,
		})
	}
	if err != nil {
		text := oneLine(errorText(err))
		f.result.Error = &text
	}
	lost := fmt.Sprintf("%s: %d recorded, %d known already, %d rejected.", f.result.File, f.result.Recorded, f.result.Duplicates, f.result.Rejected)
	if e := report(c, f.result, lost, f.result.print); err == nil {
		err = e
	}
	return err
}

// record records the rows batch by batch, while the next are read.
func (f *fileImport) record(ctx context.Context, bar *fileBar) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	batches, failed := make(chan rowBatch, 2), make(chan error, 1)
	go func() {
		defer close(batches)
		failed <- readBatches(ctx, f.reader, batches)
	}()
	for batch := range batches {
		if err := f.importer.Add(ctx, batch.rows); err != nil {
			cancel()
			for range batches { // the reader is done before the file is closed
			}
			return err
		}
		bar.update(vnd(int64(f.importer.Rows))+" transactions", batch.done, batch.total)
	}
	return <-failed
}

// rowBatch is what one commit records, and how far the file is read with it.
type rowBatch struct {
	rows        []statement.Row
	done, total int64
}

func readBatches(ctx context.Context, reader *statement.Reader, batches chan<- rowBatch) error {
	var batch rowBatch
	for {
		row, err := reader.Next()
		if err == nil {
			if batch.rows = append(batch.rows, row); len(batch.rows) < statement.Batch {
				continue
			}
		}
		if len(batch.rows) > 0 {
			batch.done, batch.total = reader.Progress()
			select {
			case batches <- batch:
			case <-ctx.Done():
				return ctx.Err()
			}
			batch = rowBatch{}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// rejection says why a row was not recorded.
func rejection(outcome app.Outcome, e app.Incoming) string {
	switch outcome {
	case app.OutcomeUnassigned:
		if e.AccountNumber == "" {
			return "account is not named; give --bank-account-id"
		}
		return strings.TrimSpace("account "+e.Gateway+" "+e.AccountNumber) + " is not a linked bank account; baoco bank link links it"
	case app.OutcomeConflict:
		return "id was recorded with another amount, direction or account"
	}
	return web.FieldName(e.Fault.Field).EN + " " + e.Fault.Text.EN
}

func (r imported) print(w io.Writer) {
	what := "Recorded"
	if r.DryRun {
		what = "Would be recorded"
	}
	bank := "no bank's layout that is known; columns by their headers"
	if r.Bank != nil {
		bank = "layout of " + *r.Bank
	}
	if r.Sheet != nil {
		bank += ", sheet " + oneLine(*r.Sheet)
	}
	fmt.Fprintf(w, "File:              %s (%s)\n", oneLine(r.File), bank)
	for _, line := range []struct {
		name string
		n    int
	}{{"Transactions", r.Rows}, {what, r.Recorded}, {"Known already", r.Duplicates}, {"Rejected", r.Rejected}, {"Deliveries", r.Deliveries}} {
		fmt.Fprintf(w, "%-19s%s\n", line.name+":", vnd(int64(line.n)))
	}
	fmt.Fprintf(w, "Money in:          %s VND (%s)\nMoney out:         %s VND (%s)\n", vnd(r.InAmount), vnd(r.InCount), vnd(r.OutAmount), vnd(r.OutCount))
	if r.ImportID != nil {
		fmt.Fprintf(w, "Import:            %d (baoco transaction import --undo %d takes it back)\n", *r.ImportID, *r.ImportID)
	}
	if r.Rejects != nil {
		fmt.Fprintf(w, "Rejected rows:     %s (line, reason, and the row as it stands)\n", oneLine(*r.Rejects))
	}
	for _, reason := range r.Reasons {
		fmt.Fprintf(w, "  %s × %s\n", vnd(int64(reason.Rows)), oneLine(reason.Reason))
	}
	for _, skip := range r.Skipped {
		fmt.Fprintf(w, "Skipped:           %s from line %d: %s\n", counted(int64(skip.Lines), "line", "lines"), skip.First, skip.Reason)
	}
	var rows [][]string
	for _, row := range r.FirstRows {
		rows = append(rows, []string{strconv.Itoa(row.Line), row.Date, row.Type, vnd(row.Amount), clip(oneLine(row.Content), 40), string(row.Outcome)})
	}
	if len(rows) > 0 {
		fmt.Fprintln(w, "The first rows:")
		printTable(w, "", []string{"LINE", "TIME", "TYPE", "AMOUNT", "CONTENT", "OUTCOME"}, rows, "LINE", "AMOUNT")
	}
}

// rejectReason is why rows were rejected, and how many.
type rejectReason struct {
	Reason string `json:"reason"`
	Rows   int    `json:"rows"`
}

// shownReasons is how many different reasons are told; the file has all.
const shownReasons = 5

// rejects is the file of the rows that can't be recorded. It is made with the
// first of them.
type rejects struct {
	path, made string
	rows       int
	reasons    []rejectReason
	file       *os.File
	csv        *csv.Writer
}

func newRejects(c *cli.Context, path string) *rejects {
	if c.IsSet("rejects") {
		return &rejects{path: c.String("rejects")}
	}
	return &rejects{path: path + ".rejected.csv"}
}

func (r *rejects) add(row statement.Row, reason string) error {
	if r.file == nil {
		file, err := os.OpenFile(r.path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return exitStatus{exitDatabase, fmt.Errorf("the reject file: %w", err)}
		}
		r.file, r.made, r.csv = file, r.path, csv.NewWriter(file)
	}
	r.rows++
	r.count(reason)
	return r.csv.Write(append([]string{strconv.Itoa(row.Line), reason}, row.Cells...))
}

// count counts a reason among the first hundred different ones.
func (r *rejects) count(reason string) {
	for n := range r.reasons {
		if r.reasons[n].Reason == reason {
			r.reasons[n].Rows++
			return
		}
	}
	if len(r.reasons) < 100 {
		r.reasons = append(r.reasons, rejectReason{reason, 1})
	}
}

func (r *rejects) mostFrequent() []rejectReason {
	list := slices.Clone(r.reasons)
	slices.SortStableFunc(list, func(a, b rejectReason) int { return b.Rows - a.Rows })
	return append([]rejectReason{}, list[:min(len(list), shownReasons)]...)
}

func (r *rejects) close() error {
	if r.file == nil {
		return nil
	}
	r.csv.Flush()
	return errors.Join(r.csv.Error(), r.file.Close())
}
