package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"baoco/app"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/sheet"

	"github.com/urfave/cli/v2"
)

func exportCommand() *cli.Command {
	return &cli.Command{
		Name: "export", Usage: "write transactions by date as a file for a spreadsheet, CSV or XLSX; baoco transaction import reads it",
		Description: terminal.Example(
			"baoco transaction export --from 2026-11-01 --to 2026-11-30 --format xlsx --output-file november.xlsx",
			"baoco transaction export --type IN > in.csv",
		),
		Flags: append(transactionFilterFlags(), terminal.AdminFlags(
			terminal.Choice(cli.StringFlag{Name: "format", Usage: "`FORMAT`: %s", Value: string(sheet.CSV)},
				sheet.CSV, sheet.XLSX, sheet.Semicolons),
			&cli.StringFlag{Name: "output-file", Usage: "write `FILE`, which appears when it is complete (default: the standard output)"},
		)...),
		Action: terminal.Interruptible(session.WithoutArguments(exportTransactions)),
	}
}

func exportTransactions(c *cli.Context, s *session.Session) error {
	format := sheet.Format(c.String("format"))
	f, err := readTransactionFilter(c, s)
	if err != nil {
		return err
	}
	if c.String("output-file") == "" && c.String("output") == "json" && (terminal.Typed(c, "output") || terminal.Typed(c, "o")) {
		return terminal.Usagef("-o json needs --output-file: the export itself is CSV or XLSX; baoco transaction list prints JSON")
	}
	return exportTo(c, "transactions", func(w io.Writer) (int, error) { return writeExport(c, s, f, format, w) })
}

// exportTo writes things to the file of --output-file, or to the standard output. put writes
// them and returns how many it wrote.
func exportTo(c *cli.Context, things string, put func(io.Writer) (int, error)) error {
	write := func(w io.Writer) (int, error) {
		out := bufio.NewWriterSize(w, 64<<10)
		n, err := put(out)
		if err == nil {
			err = out.Flush()
		}
		return n, err
	}
	path := c.String("output-file")
	if path == "" {
		_, err := write(c.App.Writer)
		return terminal.Unfinished(err, "what was written is not complete")
	}
	n, err := exportFile(path, write)
	if err != nil {
		return terminal.Unfinished(err, terminal.OneLine(path)+" is not written")
	}
	return terminal.Changed(c, nil, map[string]any{"file": path, things: n}, "%s holds %s %s.", terminal.OneLine(path), terminal.VND(int64(n)),
		things)
}

func writeExport(c *cli.Context, s *session.Session, f app.TransactionFilter, format sheet.Format, w io.Writer) (n int, err error) {
	banks, err := s.Services.Ledger.BankAccounts(c.Context, s.Account)
	if err != nil {
		return 0, err
	}
	a, err := s.Services.Ledger.Account(c.Context, s.Account)
	if err != nil {
		return 0, err
	}
	extra := sheet.Extra{
		Receiving: slices.ContainsFunc(banks, func(b app.BankAccount) bool { return b.ReceivingNumbers != "" }), Revenue: a.MarksRevenue,
		Shop: a.ShopName("baoco"), From: f.From, To: f.To,
	}
	if f.BankAccountID != 0 {
		extra.Accounts = fmt.Sprint("id ", f.BankAccountID) // it may be unlinked
	}
	for _, b := range banks {
		if b.ID == f.BankAccountID {
			extra.Accounts = b.Title()
		}
	}
	var also []string
	for _, name := range []string{"type", "min-amount", "max-amount", "code", "q", "delivery-state", "revenue", "since-id"} {
		if c.IsSet(name) {
			also = append(also, fmt.Sprint(name, " ", c.Value(name)))
		}
	}
	extra.Filter = strings.Join(also, ", ")
	file, err := sheet.New(format, w, app.English, s.Services.Ledger.Zone(), extra)
	if err != nil {
		return 0, err
	}
	progress := terminal.NewProgress(c, "exporting")
	defer progress.Stop()
	err = s.Services.Ledger.ExportTransactions(c.Context, s.Account, f, func(list []app.Transaction) error {
		for _, t := range list {
			if err := file.Add(t); err != nil {
				return err
			}
		}
		n += len(list)
		progress.Update(terminal.Counted(int64(n), "transaction", "transactions"), 0, 0)
		return nil
	})
	if err == nil {
		err = file.Close()
	}
	return n, err
}

// exportFile writes a file under another name and renames it once it is complete.
// Only its owner may read it. A device, a pipe or a link, such as /dev/stdout, is
// refused, because the rename would replace it.
func exportFile(path string, write func(io.Writer) (int, error)) (n int, err error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return 0, terminal.Usagef("--output-file must name a file, and %s is something else; without it the export goes to the standard output",
			terminal.OneLine(path))
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".baoco-export-*")
	if err != nil {
		return 0, terminal.Exit(terminal.ExitDatabase, fmt.Errorf("the exported file: %w", err))
	}
	if n, err = write(file); err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return 0, errors.Join(err, os.Remove(file.Name()))
	}
	return n, nil
}
