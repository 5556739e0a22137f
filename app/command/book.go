package command

import (
	"cmp"
	"fmt"
	"io"

	"baoco/app"
	"baoco/app/book"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/sheet"

	"github.com/urfave/cli/v2"
)

func bookCommand() *cli.Command {
	period := &cli.StringFlag{Name: "period", Usage: "`PERIOD`: a month 2026-11, quarter 2026-Q4 or year 2026", Required: true}
	read := func(form book.Form, name, usage string, more ...cli.Flag) *cli.Command {
		return &cli.Command{
			Name: string(form), Usage: usage,
			Description: terminal.Example("baoco book "+string(form)+" --period 2026-11",
				"baoco book "+string(form)+" --period 2026-Q4 --format xlsx --output-file "+name+".xlsx"),
			Flags: append(append(more, period), fileFlags()...),
			Action: terminal.Interruptible(session.WithoutArguments(func(c *cli.Context, s *session.Session) error {
				return writeBook(c, s, form)
			})),
		}
	}
	return &cli.Command{
		Name: "book", Usage: "the books of a household business: revenue, and money at banks",
		Subcommands: []*cli.Command{
			read(book.S1a, "revenue", "the book of revenue, form S1a-HKD",
				terminal.Choice(cli.StringFlag{Name: "by", Usage: "a line for each `WHAT`: %s", Value: string(book.ByDay)},
					book.ByTransaction, book.ByDay, book.ByDayAccount)),
			read(book.S2e, "banks", "the book of money at banks, form S2e-HKD"),
			{
				Name: "close", Usage: "close the books through the end of a period: they don't change any more",
				Description: terminal.Example("baoco book close --period 2026-11"),
				Flags:       terminal.AdminFlags(period), Action: session.WithoutArguments(closeBook),
			},
			session.Plain("book open", "take back the last closing", openBook),
			session.Plain("book status", "list what is closed", bookStatus),
		},
	}
}

func readPeriod(c *cli.Context, s *session.Session) (book.Period, error) {
	return book.ParsePeriod(c.String("period"), app.DayOf(s.Now, s.Services.Ledger.Zone()))
}

type lineJSON struct {
	Kind     string  `json:"kind"`
	Document string  `json:"document,omitempty"`
	Date     *string `json:"date"`
	Text     string  `json:"text"`
	In       *int64  `json:"in"`
	Out      *int64  `json:"out"`
}

var lineKinds = map[book.LineKind]string{book.Item: "item", book.Account: "bank_account", book.Sum: "sum"}

func writeBook(c *cli.Context, s *session.Session, form book.Form) error {
	p, err := readPeriod(c, s)
	if err != nil {
		return err
	}
	lang := app.Lang(c.String("lang"))
	b, err := s.Services.Books.Book(c.Context, s.Account, book.Request{Form: form, Period: p, By: book.Grouping(c.String("by"))})
	if err != nil {
		return err
	}
	if c.String("format") == "" && c.String("output-file") == "" {
		return printBook(c, b, lang)
	}
	return writeFile(c, s, b.Text.Number+" "+p.String(), func(format sheet.Format, w io.Writer) (n int, err error) {
		file, err := sheet.NewBook(format, w, b, lang, s.Services.Ledger.Zone())
		if err != nil {
			return 0, err
		}
		err = b.Each(c.Context, func(l book.Line) error { n++; return file.Add(l) })
		if err == nil {
			err = file.Close()
		}
		return n, err
	})
}

func fileFlags() []cli.Flag {
	return terminal.AdminFlags(
		terminal.Choice(cli.StringFlag{Name: "format", Usage: "`FORMAT`: %s", DefaultText: "a table"}, sheet.CSV, sheet.XLSX, sheet.Semicolons),
		&cli.StringFlag{Name: "output-file", Usage: "write `FILE`, which appears when it is complete (default: the standard output)"},
		terminal.Choice(cli.StringFlag{Name: "lang", Usage: "`LANGUAGE` of the file: %s", Value: string(app.Vietnamese)},
			app.Vietnamese, app.English))
}

// writeFile writes a book or a report. The audit log gets name. put returns how many lines it wrote.
func writeFile(c *cli.Context, s *session.Session, name string, put func(sheet.Format, io.Writer) (int, error)) error {
	if err := s.Services.Ledger.Audit(c.Context, s.Account, book.DeedExport, 0, app.AuditNamed(name)); err != nil {
		return err
	}
	format := sheet.Format(cmp.Or(c.String("format"), string(sheet.CSV)))
	return exportTo(c, "lines", func(w io.Writer) (int, error) { return put(format, w) })
}

func printBook(c *cli.Context, b *book.Book, lang app.Lang) error {
	encoded, rows := []lineJSON{}, [][]string{}
	amount := func(n *int64) string {
		if n == nil {
			return ""
		}
		return terminal.VND(*n)
	}
	err := b.Each(c.Context, func(l book.Line) error {
		e := lineJSON{Kind: lineKinds[l.Kind], Document: l.Document, Text: l.Text.In(lang), In: l.In, Out: l.Out}
		day := ""
		if l.Day != 0 {
			day = l.Day.String()
			e.Date = &day
		}
		encoded, rows = append(encoded, e), append(rows, []string{l.Document, day, terminal.Clip(e.Text, 60), amount(l.In), amount(l.Out)})
		return nil
	})
	if err != nil {
		return err
	}
	return terminal.Output(c, encoded, func(w io.Writer) {
		for _, title := range b.Titles() {
			fmt.Fprintln(w, terminal.OneLine(title.In(lang)))
		}
		terminal.PrintTable(w, "Nothing stands in this book.", "DOCUMENT|DATE|DESCRIPTION|>IN|>OUT", rows)
	})
}

type closingJSON struct {
	Number   int64  `json:"number"`
	Through  string `json:"through"`
	ClosedAt string `json:"closed_at"`
	ClosedBy string `json:"closed_by"`
}

func encodeClosing(s *session.Session, closing book.Closing) closingJSON {
	return closingJSON{closing.Number, closing.Through.String(), app.FormatTime(closing.ClosedAt, s.Services.Ledger.Zone()), closing.ClosedBy}
}

func closeBook(c *cli.Context, s *session.Session) error {
	p, err := readPeriod(c, s)
	if err != nil {
		return err
	}
	closing, err := s.Services.Books.Close(c.Context, s.Account, p, "", s.Now)
	return terminal.Changed(c, err, encodeClosing(s, closing), "The books are closed through %s.", closing.Through)
}

func openBook(c *cli.Context, s *session.Session) error {
	closing, err := s.Services.Books.LastClosing(c.Context, s.Account)
	if err == nil {
		closing, err = s.Services.Books.OpenBooks(c.Context, s.Account, closing.Through)
	}
	return terminal.Changed(c, err, encodeClosing(s, closing), "The book that was closed through %s is open again.", closing.Through)
}

func bookStatus(c *cli.Context, s *session.Session) error {
	list, err := s.Services.Books.Closings(c.Context, s.Account)
	table := terminal.Table{None: "No book is closed.", Columns: "THROUGH|CLOSED AT|BY"}
	return terminal.List(c, err, list, table, func(closing book.Closing) (closingJSON, []string) {
		e := encodeClosing(s, closing)
		return e, []string{e.Through, e.ClosedAt, e.ClosedBy}
	})
}
