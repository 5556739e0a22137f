package command

import (
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/command/session"
	"baoco/app/command/terminal"

	"github.com/urfave/cli/v2"
)

func accountCommand() *cli.Command {
	return &cli.Command{
		Name: "account", Usage: "accounts of this installation, and their plans",
		Subcommands: []*cli.Command{
			{
				Name: "create", Usage: "create an account", ArgsUsage: "NAME", Description: terminal.Example(`baoco account create "Second shop"`),
				Flags: terminal.AdminFlags(), Action: session.WithArgument("the name of the account", createAccount),
			},
			session.Plain("account list", "list the accounts", listAccounts),
			{
				Name: "set", Usage: "change the plan of the account that --account names",
				Description: terminal.Example("baoco account set --account 2 --plan basic --expires 2027-06-30 --max-bank-accounts 3"),
				Flags: terminal.AdminFlags(
					&cli.StringFlag{Name: "plan", Usage: "`NAME` of the plan"},
					&cli.StringFlag{Name: "expires", Usage: "`DATE` of its last day, Y-m-d or Y-m-d H:i:s"},
					&cli.IntFlag{Name: "max-bank-accounts", Usage: "at most `N` bank accounts", DefaultText: "as it is"},
					&cli.BoolFlag{Name: "trial", Usage: "a trial; --trial=false ends it"},
				),
				Action: session.WithoutArguments(setAccount),
			},
		},
	}
}

type accountJSON struct {
	ID              int64  `json:"id"`
	Name            string `json:"name"`
	Plan            string `json:"plan"`
	ExpiresAt       string `json:"expires_at"`
	IsTrial         bool   `json:"is_trial"`
	MaxBankAccounts int    `json:"max_bank_accounts"`
}

func encodeAccount(a app.Account, zone *time.Location) accountJSON {
	return accountJSON{a.ID, a.Name, a.Plan, app.FormatExpiry(a.ExpiresAt, zone), a.IsTrial, a.MaxBankAccounts}
}

func createAccount(c *cli.Context, s *session.Session, name string) error {
	a, err := s.Services.Ledger.CreateAccount(c.Context, name, s.Now)
	return printAccount(c, s, a, err)
}

func printAccount(c *cli.Context, s *session.Session, a app.Account, err error) error {
	e := encodeAccount(a, s.Services.Ledger.Zone())
	trial := ""
	if e.IsTrial {
		trial = ", a trial"
	}
	return terminal.Changed(c, err, e, "Account %d (%s): plan %s%s until %s, at most %d bank accounts.", e.ID, terminal.OneLine(e.Name),
		terminal.OneLine(e.Plan), trial, e.ExpiresAt, e.MaxBankAccounts)
}

func listAccounts(c *cli.Context, s *session.Session) error {
	accounts, err := s.Services.Ledger.Accounts(c.Context)
	table := terminal.Table{None: "There is no account.", Columns: ">ID|NAME|PLAN|EXPIRES|TRIAL|>BANK ACCOUNTS"}
	return terminal.List(c, err, accounts, table, func(a app.Account) (accountJSON, []string) {
		e := encodeAccount(a, s.Services.Ledger.Zone())
		return e, []string{strconv.FormatInt(e.ID, 10), e.Name, e.Plan, e.ExpiresAt, terminal.YesNo(e.IsTrial), strconv.Itoa(e.MaxBankAccounts)}
	})
}

func setAccount(c *cli.Context, s *session.Session) error {
	u := app.AccountUpdate{Plan: session.Given(c, "plan", c.String), MaxBankAccounts: session.Given(c, "max-bank-accounts", c.Int),
		IsTrial: session.Given(c, "trial", c.Bool)}
	if c.IsSet("expires") {
		expires, err := parseExpiry(c.String("expires"), s.Services.Ledger.Zone())
		if err != nil {
			return err
		}
		u.ExpiresAt = &expires
	}
	if u == (app.AccountUpdate{}) {
		return terminal.Usagef("account set needs at least one of --plan, --expires, --max-bank-accounts and --trial")
	}
	a, err := s.Services.Ledger.UpdateAccount(c.Context, s.Account, u)
	return printAccount(c, s, a, err)
}
