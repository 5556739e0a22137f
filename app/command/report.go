package command

import (
	"fmt"
	"io"
	"strings"

	"baoco/app"
	"baoco/app/book"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/sheet"
	"baoco/web/api"

	"github.com/urfave/cli/v2"
)

func reportCommand() *cli.Command {
	return &cli.Command{
		Name: "report", Usage: "add up the money of a period, and compare it with the one before",
		Description: terminal.Example("baoco report --from 2026-11-01 --to 2026-11-30",
			"baoco report --from 2026-01-01 --to 2026-12-31 --by month --format xlsx --output-file 2026.xlsx"),
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "from", Usage: "first `DAY`, Y-m-d", DefaultText: "the first of this month"},
			&cli.StringFlag{Name: "to", Usage: "last `DAY`", DefaultText: "today"},
			terminal.Choice(cli.StringFlag{Name: "by", Usage: "a row for each `WHAT`: %s", Value: string(book.ByDay)}, book.ReportGroupings...),
			&cli.Int64Flag{Name: "bank-account-id", Usage: "only bank account `ID`", DefaultText: "all"},
		}, fileFlags()...),
		Action: terminal.Interruptible(session.WithoutArguments(report)),
	}
}

func report(c *cli.Context, s *session.Session) error {
	asked, err := book.ReadReport(c.String("from"), c.String("to"), book.Grouping(c.String("by")), c.Int64("bank-account-id"),
		app.DayOf(s.Now, s.Services.Ledger.Zone()))
	if err != nil {
		return err
	}
	r, err := s.Services.Books.Report(c.Context, s.Account, asked, s.Now)
	if err != nil {
		return err
	}
	lang := app.Lang(c.String("lang"))
	if c.String("format") == "" && c.String("output-file") == "" {
		return printReport(c, r, lang)
	}
	return writeFile(c, s, r.Name(), func(format sheet.Format, w io.Writer) (int, error) {
		return len(r.Rows), sheet.WriteReport(format, w, r, lang)
	})
}

func printReport(c *cli.Context, r *book.Report, lang app.Lang) error {
	names := strings.ToUpper(r.By.Name().In(lang))
	for _, column := range r.Columns() {
		names += "|>" + strings.ToUpper(column.Name.In(lang))
	}
	var rows [][]string
	for _, row := range append(r.Rows, r.Sums()...) {
		cells := []string{terminal.OneLine(row.Text.In(lang))}
		for _, column := range r.Columns() {
			cells = append(cells, terminal.VND(column.Of(row.Sums)))
		}
		rows = append(rows, cells)
	}
	return terminal.Output(c, api.EncodeReport(r), func(w io.Writer) {
		fmt.Fprintln(w, r.Name())
		terminal.PrintTable(w, "", names, rows)
	})
}
