package command

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"baoco/app"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/inbound"
	"baoco/web/api"

	"github.com/urfave/cli/v2"
)

type importJSON struct {
	ID         int64   `json:"id"`
	File       string  `json:"file"`
	ImportedAt string  `json:"imported_at"`
	InCount    int64   `json:"in_count"` // of the recorded transactions, also if they were removed again
	InAmount   int64   `json:"in_amount"`
	OutCount   int64   `json:"out_count"`
	OutAmount  int64   `json:"out_amount"`
	UndoneAt   *string `json:"undone_at"`
}

// listedImports is how many imports are listed, newest first.
const listedImports = 100

func listImports(c *cli.Context, s *session.Session) error {
	if err := terminal.NoArguments(c); err != nil {
		return err
	}
	files, err := s.Services.Inbound.Imports(c.Context, s.Account, app.Page{Number: 1, Size: listedImports})
	table := terminal.Table{None: "No files were imported.", Columns: ">ID|TIME|FILE|>IN|>VND IN|>OUT|>VND OUT|TAKEN BACK"}
	return terminal.List(c, err, files, table, func(f inbound.ImportedFile) (importJSON, []string) {
		e := importJSON{
			ID: f.ID, File: f.File, ImportedAt: app.FormatTime(f.At, s.Services.Ledger.Zone()),
			InCount: f.In.Count, InAmount: f.In.Total, OutCount: f.Out.Count, OutAmount: f.Out.Total,
			UndoneAt: api.TimeOrNull(f.UndoneAt, s.Services.Ledger.Zone()),
		}
		return e, []string{strconv.FormatInt(e.ID, 10), e.ImportedAt, terminal.Clip(terminal.OneLine(e.File), 40),
			terminal.VND(e.InCount), terminal.VND(e.InAmount), terminal.VND(e.OutCount), terminal.VND(e.OutAmount), textOf(e.UndoneAt, "")}
	})
}

// undoneJSON is the result of an undo, also of a dry run.
type undoneJSON struct {
	ImportID      int64    `json:"import_id"`
	File          string   `json:"file"`
	DryRun        bool     `json:"dry_run"`
	InCount       int64    `json:"in_count"`
	InAmount      int64    `json:"in_amount"`
	OutCount      int64    `json:"out_count"`
	OutAmount     int64    `json:"out_amount"`
	From          *string  `json:"from"` // date of the first removed transaction
	To            *string  `json:"to"`
	Notified      []string `json:"told"` // transactions that stay: a shop was notified of them, or may be
	NotifiedCount int64    `json:"told_count"`
	Named         []string `json:"named"` // transactions that stay: a provider, a person or another file has them too
	NamedCount    int64    `json:"named_count"`
	Closed        int64    `json:"closed_count,omitempty"` // transactions that stay: they are in a closed book
}

// undoImport undoes an import. It first shows what will be removed; with --dry-run it does
// nothing else.
func undoImport(c *cli.Context, s *session.Session) error {
	if err := terminal.NoArguments(c); err != nil {
		return err
	}
	id := c.Int64("undo")
	u, err := s.Services.Inbound.Undoable(c.Context, s.Account, id, s.Now)
	if err != nil {
		return err
	}
	v := undoneJSON{
		ImportID: id, File: u.File.File, DryRun: c.Bool("dry-run"),
		InCount: u.In.Count, InAmount: u.In.Total, OutCount: u.Out.Count, OutAmount: u.Out.Total,
		Notified: formatIDs(u.Notified), NotifiedCount: u.NotifiedCount, Named: formatIDs(u.Named), NamedCount: u.NamedCount,
		Closed: u.ClosedCount,
	}
	v.From, v.To = api.TimeOrNull(u.First, s.Services.Ledger.Zone()), api.TimeOrNull(u.Last, s.Services.Ledger.Zone())
	if v.DryRun {
		return terminal.Output(c, v, func(w io.Writer) { v.print(w, "Would be removed") })
	}
	again := !u.File.UndoneAt.IsZero() && v.InCount+v.OutCount == 0
	if !again {
		v.print(c.App.ErrWriter, "To be removed")
	}
	progress := terminal.NewProgress(c, "removing")
	err = s.Services.Inbound.UndoImport(c.Context, s.Account, id, s.Now)
	progress.Stop()
	if err != nil {
		return fmt.Errorf("%w; run it again to go on", err)
	}
	return terminal.Output(c, v, func(w io.Writer) {
		if again {
			fmt.Fprintf(w, "Import %d was taken back already, at %s.\n", id, app.FormatTime(u.File.UndoneAt, s.Services.Ledger.Zone()))
			return
		}
		fmt.Fprintf(w, "Import %d is taken back: %s removed. The file can be imported again.\n", id,
			terminal.Counted(v.InCount+v.OutCount, "transaction is", "transactions are"))
	})
}

func formatIDs(ids []int64) []string {
	return api.All(ids, func(id int64) string { return strconv.FormatInt(id, 10) })
}

func (v undoneJSON) print(w io.Writer, what string) {
	fmt.Fprintf(w, "%s of %s: %s in (%s VND), %s out (%s VND)", what, terminal.OneLine(v.File), terminal.VND(v.InCount),
		terminal.VND(v.InAmount), terminal.VND(v.OutCount), terminal.VND(v.OutAmount))
	if v.From != nil {
		fmt.Fprintf(w, ", dated %s to %s", *v.From, *v.To)
	}
	fmt.Fprintln(w, ".")
	if v.Closed > 0 {
		fmt.Fprintf(w, "Staying, since they stand in a closed book: %s\n", terminal.Counted(v.Closed, "transaction", "transactions"))
	}
	for _, kept := range []struct {
		ids []string
		n   int64
		why string
	}{{v.Notified, v.NotifiedCount, "a shop was notified of them, or may be"},
		{v.Named, v.NamedCount, "a provider, somebody by hand, or another file named them too"}} {
		if kept.n > 0 {
			fmt.Fprintf(w, "Staying, since %s: %s: %s", kept.why, terminal.Counted(kept.n, "transaction", "transactions"),
				strings.Join(kept.ids, ", "))
			if more := kept.n - int64(len(kept.ids)); more > 0 {
				fmt.Fprintf(w, " and %s more", terminal.VND(more))
			}
			fmt.Fprintln(w)
		}
	}
}
