package command

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"baoco/app"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/inbound"
	"baoco/app/sheet"
	"baoco/app/statement"
	"baoco/web/api"

	"github.com/urfave/cli/v2"
)

func importCommand() *cli.Command {
	return &cli.Command{
		Name:      "import",
		Usage:     "record the transactions of a bank statement, Excel (.xls, .xlsx) or CSV; importing it again records nothing new",
		ArgsUsage: "FILE",
		Description: terminal.Example(
			"baoco transaction import statement.xlsx --dry-run",
			"baoco transaction import statement.xlsx",
			`baoco transaction import any.csv --map date=Ngày --map credit=Có --map debit=Nợ --map "content=Diễn giải" --bank-account-id 1`,
			"baoco transaction import --list",
			"baoco transaction import --undo 3 --dry-run",
		),
		Flags: terminal.AdminFlags(
			&cli.BoolFlag{Name: "dry-run", Usage: "change nothing, and show what would be recorded, or removed"},
			&cli.BoolFlag{Name: "list", Usage: "list the files that were imported, newest first"},
			&cli.Int64Flag{Name: "undo", Usage: "take back import `ID`: remove its transactions, but those that a shop was notified of",
				DefaultText: "none"},
			&cli.BoolFlag{Name: "notify", Usage: "send new transactions to the webhooks"},
			&cli.StringSliceFlag{Name: "map",
				Usage: "the column of a field, `FIELD=COLUMN`, by its header, letter or number: " +
					"id, date, number, content, debit, credit, amount, type, account, gateway (repeatable; default: found by the headers)"},
			&cli.StringFlag{Name: "sheet", Usage: "`NAME` of the sheet (default: the only one that holds a table of transactions)"},
			&cli.Int64Flag{Name: "bank-account-id", Usage: "the file is about bank account `ID`", DefaultText: "the one that it names"},
			&cli.BoolFlag{Name: "accept-differences",
				Usage: "record the file although its rows don't agree with its own balances and totals, or its sheet hides some (see --dry-run)"},
			&cli.StringFlag{Name: "rejects",
				Usage: "`FILE` for the rows that can't be recorded (default: beside the statement; with --dry-run: none)"},
		),
		Action: terminal.Interruptible(session.Admin(importFile)),
	}
}

type imported struct {
	File        string         `json:"file"`
	Bank        *string        `json:"bank"`  // from the file; null: it names none
	Sheet       *string        `json:"sheet"` // of a spreadsheet
	DryRun      bool           `json:"dry_run"`
	Rows        int64          `json:"rows"` // with an amount
	Recorded    int64          `json:"recorded"`
	Duplicates  int64          `json:"duplicates"` // known already
	Rejected    int64          `json:"rejected"`
	InCount     int64          `json:"in_count"` // of the transactions that were recorded now or before
	InAmount    int64          `json:"in_amount"`
	OutCount    int64          `json:"out_count"`
	OutAmount   int64          `json:"out_amount"`
	Deliveries  int64          `json:"deliveries"`
	FirstRows   []importedRow  `json:"first_rows"`  // the first rows as they were read
	Skipped     []skipped      `json:"skipped"`     // lines that are no transactions: totals, titles
	Rejects     *string        `json:"rejects"`     // the reject file; null: none
	Differences []difference   `json:"differences"` // where the file doesn't agree with itself
	ImportID    *int64         `json:"import_id"`   // for --undo; null: nothing was recorded
	Reasons     []rejectReason `json:"reasons"`     // of the rejects, the most frequent first
	Error       *string        `json:"error"`       // why the file could not be read to its end
}

type importedRow struct {
	Line    int             `json:"line"`
	Date    string          `json:"transaction_date"`
	Type    string          `json:"type"`
	Amount  int64           `json:"amount"`
	Content string          `json:"content"`
	Outcome inbound.Outcome `json:"outcome"`
}

// skipped is a reason why lines are no transactions, with the number of these lines and
// the first of them.
type skipped struct {
	Reason string `json:"reason"`
	Lines  int64  `json:"lines"`
	First  int    `json:"first_line"`
}

type difference struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

func importFile(c *cli.Context, s *session.Session) error {
	switch {
	case c.Bool("list") && c.IsSet("undo"):
		return terminal.Usagef("--list and --undo don't go together")
	case c.Bool("list"):
		return listImports(c, s)
	case c.IsSet("undo"):
		return undoImport(c, s)
	}
	if c.NArg() != 1 {
		return terminal.Usagef("import takes one argument, a statement file")
	}
	path := c.Args().First()
	columns, err := mapFlag(c)
	if err != nil {
		return err
	}
	rejects := newRejects(c, path)
	progress := terminal.NewProgress(c, "reading")
	result, err := statement.Import{
		Path: path, Now: s.Now, AcceptDifferences: c.Bool("accept-differences"),
		Read: statement.Options{Zone: s.Services.Ledger.Zone(), Map: columns, Sheet: c.String("sheet")},
		Record: inbound.ImportOptions{
			AccountID: s.Account, BankAccountID: c.Int64("bank-account-id"), File: filepath.Base(path), Notify: c.Bool("notify"),
			DryRun: c.Bool("dry-run"),
		},
		Rejected: func(row statement.Row, outcome inbound.Outcome, e inbound.Incoming) (string, error) {
			reason := rejection(outcome, e)
			return reason, rejects.add(row, reason)
		},
		Progress: func(rows, done, total int64) { progress.Update(terminal.VND(rows)+" transactions", done, total) },
	}.Run(c.Context, s.Services.Ledger, s.Services.Inbound)
	progress.Stop()
	if e := rejects.close(); err == nil {
		err = e
	}
	var unclear *statement.UnclearAccountError
	switch {
	case result == nil && errors.Is(err, os.ErrNotExist):
		return terminal.Exit(terminal.ExitNotFound, err)
	case errors.As(err, &unclear):
		return terminal.Usagef("the file doesn't say which bank account it is about (a column of accounts may be about the other side), and "+
			"%d linked ones can be meant; "+
			"name one with --bank-account-id (see baoco bank list)", unclear.Candidates)
	case result == nil:
		return err
	case err != nil && c.Context.Err() != nil:
		err = terminal.Unfinished(errors.New("interrupted"), "the rows that are counted above are done; import the file again for the rest")
	}
	v := newImported(c, s, path, result, rejects)
	if err != nil {
		v.Error = new(terminal.OneLine(terminal.ErrorText(err)))
	}
	var lost string
	if !v.DryRun {
		lost = fmt.Sprintf("%s: %d recorded, %d known already, %d rejected.", path, v.Recorded, v.Duplicates, v.Rejected)
	}
	if e := terminal.Report(c, v, lost, v.print); err == nil {
		err = e
	}
	if err == nil && v.Rows > 0 && v.Rejected == v.Rows {
		err = terminal.Exit(terminal.ExitCheck, errors.New("every row was rejected"))
	}
	return err
}

// shownReasons is how many different reasons are shown; the reject file has all.
const shownReasons = 5

func newImported(c *cli.Context, s *session.Session, path string, r *statement.Result, rejects *rejects) imported {
	return imported{
		File: path, Bank: api.OrNull(r.Layout.Bank), Sheet: api.OrNull(r.Layout.Sheet), DryRun: c.Bool("dry-run"),
		Rows: r.Rows, Recorded: r.Recorded, Duplicates: r.Duplicates, Rejected: r.Rejected, Deliveries: r.Deliveries,
		InCount: r.In.Count, InAmount: r.In.Total, OutCount: r.Out.Count, OutAmount: r.Out.Total,
		FirstRows: api.All(r.First, func(row statement.Outcome) importedRow {
			return importedRow{row.Line, app.FormatTime(row.Time, s.Services.Ledger.Zone()), string(row.Type), row.Amount, row.Content, row.Outcome}
		}),
		Skipped:     api.All(r.Skipped, func(skip statement.Skip) skipped { return skipped{skip.Reason.EN, skip.Lines, skip.First} }),
		Differences: api.All(r.Differences, func(d statement.Difference) difference { return difference{d.Line, d.Text.EN} }),
		Reasons: api.All(r.Reasons[:min(len(r.Reasons), shownReasons)],
			func(reason statement.Reason) rejectReason { return rejectReason{reason.Text, reason.Rows} }),
		Rejects: api.OrNull(rejects.made), ImportID: api.OrNull(r.ImportID),
	}
}

func rejection(outcome inbound.Outcome, e inbound.Incoming) string {
	switch outcome {
	case inbound.OutcomeUnassigned:
		if e.AccountNumber == "" {
			return "account is not named; give --bank-account-id"
		}
		return strings.TrimSpace("account "+e.Gateway+" "+e.AccountNumber) +
			" is not a linked bank account, or not the one that was named; baoco bank link links it"
	case inbound.OutcomeConflict:
		return "id was recorded with another amount, direction or account"
	case inbound.OutcomeMayBeRepeat:
		return "may be the same money as a recorded transaction; baoco source log --state may_be_repeat shows it until somebody says which"
	}
	return app.FieldName(e.Fault.Field).EN + " " + e.Fault.Text.EN
}

func (r imported) print(w io.Writer) {
	what := "Recorded"
	if r.DryRun {
		what = "Would be recorded"
	}
	bank := "it names no bank"
	if r.Bank != nil {
		bank = "of " + *r.Bank
	}
	if r.Sheet != nil {
		bank += ", sheet " + terminal.OneLine(*r.Sheet)
	}
	fmt.Fprintf(w, "File:              %s (%s)\n", terminal.OneLine(r.File), bank)
	for _, line := range []struct {
		name string
		n    int64
	}{{"Transactions", r.Rows}, {what, r.Recorded}, {"Known already", r.Duplicates}, {"Rejected", r.Rejected}, {"Deliveries", r.Deliveries}} {
		fmt.Fprintf(w, "%-19s%s\n", line.name+":", terminal.VND(line.n))
	}
	fmt.Fprintf(w, "Money in:          %s VND (%s)\nMoney out:         %s VND (%s)\n", terminal.VND(r.InAmount), terminal.VND(r.InCount),
		terminal.VND(r.OutAmount), terminal.VND(r.OutCount))
	if r.ImportID != nil {
		fmt.Fprintf(w, "Import:            %d (baoco transaction import --undo %d takes it back)\n", *r.ImportID, *r.ImportID)
	}
	if r.Rejects != nil {
		fmt.Fprintf(w, "Rejected rows:     %s (line, reason, and the row as it stands)\n", terminal.OneLine(*r.Rejects))
	}
	for _, reason := range r.Reasons {
		fmt.Fprintf(w, "  %s × %s\n", terminal.VND(reason.Rows), terminal.OneLine(reason.Reason))
	}
	for _, d := range r.Differences {
		fmt.Fprintf(w, "Difference:        line %d: %s\n", d.Line, terminal.OneLine(d.Text))
	}
	for _, skip := range r.Skipped {
		fmt.Fprintf(w, "Skipped:           %s from line %d: %s\n", terminal.Counted(skip.Lines, "line", "lines"), skip.First, skip.Reason)
	}
	var rows [][]string
	for _, row := range r.FirstRows {
		rows = append(rows, []string{strconv.Itoa(row.Line), row.Date, row.Type, terminal.VND(row.Amount),
			terminal.Clip(terminal.OneLine(row.Content), 40), string(row.Outcome)})
	}
	if len(rows) > 0 {
		fmt.Fprintln(w, "The first rows:")
		terminal.PrintTable(w, "", ">LINE|TIME|TYPE|>AMOUNT|CONTENT|OUTCOME", rows)
	}
}

type rejectReason struct {
	Reason string `json:"reason"`
	Rows   int64  `json:"rows"`
}

// rejects is the file for rows that can't be recorded. It is created for the first of
// them.
type rejects struct {
	path, made string // path is empty if no file is wanted; made is empty until the file is created
	file       *os.File
	csv        *csv.Writer
}

func newRejects(c *cli.Context, path string) *rejects {
	switch {
	case c.IsSet("rejects"):
		path = c.String("rejects")
	case c.Bool("dry-run"):
		path = ""
	default:
		path += ".rejected.csv"
	}
	return &rejects{path: path}
}

func (r *rejects) add(row statement.Row, reason string) error {
	if r.path == "" {
		return nil
	}
	if r.file == nil {
		file, err := os.OpenFile(r.path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return terminal.Exit(terminal.ExitDatabase, fmt.Errorf("the reject file: %w", err))
		}
		r.file, r.made, r.csv = file, r.path, csv.NewWriter(file)
	}
	line := []string{strconv.Itoa(row.Line), reason}
	for _, cell := range row.Cells {
		if strings.Trim(cell, "0123456789.,+- ") != "" { // not an amount
			cell = sheet.Guard(cell)
		}
		line = append(line, cell)
	}
	return r.csv.Write(line)
}

func (r *rejects) close() error {
	if r.file == nil {
		return nil
	}
	r.csv.Flush()
	return errors.Join(r.csv.Error(), r.file.Close())
}
