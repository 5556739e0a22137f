package command

import (
	"fmt"
	"io"
	"strconv"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/payment"
	"baoco/app/services"
	"baoco/web/api"

	"github.com/urfave/cli/v2"
)

func counterCommand() *cli.Command {
	return &cli.Command{
		Name: "counter", Usage: "counter links, which open the counter screen on a tablet",
		Subcommands: []*cli.Command{
			{
				Name: "create", Usage: "create a link and show it once", ArgsUsage: "NAME",
				Description: terminal.Example(`baoco counter create "Quầy 1"`, `baoco counter create "Quầy 2" --bank-account-id 3 --total`,
					`baoco counter create "Quầy 3" --receiving-number 96247CISI3`),
				Flags: terminal.AdminFlags(
					&cli.Int64Flag{Name: "bank-account-id", Usage: "show this bank account only, by its `ID`", DefaultText: "all"},
					&cli.StringFlag{Name: "receiving-number", Usage: "show money to this receiving `NUMBER` only", DefaultText: "all"},
					&cli.BoolFlag{Name: "total", Usage: "show today's total too"},
				),
				Action: session.WithArgument("a name for the counter", createCounterLink),
			},
			session.Plain("counter list", "list the links", listCounterLinks),
			session.Of("counter revoke", "revoke a link and close the screens that use it, within a second", "counter link",
				session.End(func(s *services.All) session.Ending { return s.Payments.RevokeCounterLink },
					"revoked", "Counter link %d is revoked.")),
		},
	}
}

type counterLinkJSON struct {
	ID              int64   `json:"id"`
	Name            string  `json:"name"`
	BankAccountID   *int64  `json:"bank_account_id"`
	ReceivingNumber string  `json:"receiving_number,omitempty"`
	ShowsTotal      bool    `json:"shows_total"`
	CreatedAt       string  `json:"created_at"`
	RevokedAt       *string `json:"revoked_at"`
}

func encodeCounterLink(s *session.Session, l payment.CounterLink) counterLinkJSON {
	zone := s.Services.Ledger.Zone()
	return counterLinkJSON{l.ID, l.Name, api.OrNull(l.BankAccountID), l.ReceivingNumber, l.ShowsTotal, app.FormatTime(l.CreatedAt, zone),
		api.TimeOrNull(l.RevokedAt, zone)}
}

func createCounterLink(c *cli.Context, s *session.Session, name string) error {
	l, token, err := s.Services.Payments.CreateCounterLink(c.Context, s.Account, payment.CounterLinkCreate{
		Name: name, BankAccountID: c.Int64("bank-account-id"), ReceivingNumber: c.String("receiving-number"),
		ShowsTotal: c.Bool("total"),
	}, s.Now)
	if err != nil {
		return err
	}
	base, err := s.Store.BaseURL(c.Context)
	if err != nil {
		return err
	}
	v := struct {
		counterLinkJSON
		URLPath string `json:"url_path"`
	}{encodeCounterLink(s, l), l.Path(token)}
	lost := fmt.Sprintf("Counter link %d was created, but nobody has seen it. Revoke it and create another: baoco counter revoke %d%s", l.ID,
		l.ID, session.OnAccount(s.Account))
	return terminal.Report(c, v, lost, func(w io.Writer) {
		fmt.Fprintln(w, base+v.URLPath)
		fmt.Fprintf(c.App.ErrWriter, "This is counter link %d. Open it on the tablet now: it is not shown again.\n", l.ID)
	})
}

func listCounterLinks(c *cli.Context, s *session.Session) error {
	links, err := s.Services.Payments.CounterLinks(c.Context, s.Account)
	table := terminal.Table{
		None:    "There is no counter link yet: baoco counter create NAME",
		Columns: ">ID|NAME|BANK ACCOUNT|TOTAL|STATE|CREATED",
	}
	return terminal.List(c, err, links, table, func(l payment.CounterLink) (counterLinkJSON, []string) {
		e := encodeCounterLink(s, l)
		state, bankAccount := "valid", "all"
		if e.RevokedAt != nil {
			state = "revoked"
		}
		if e.BankAccountID != nil {
			bankAccount = bankAccountsText(access.BankAccountLimit{On: true, IDs: []int64{l.BankAccountID}, ReceivingNumber: l.ReceivingNumber})
		}
		return e, []string{strconv.FormatInt(e.ID, 10), e.Name, bankAccount, terminal.YesNo(e.ShowsTotal), state, e.CreatedAt}
	})
}
