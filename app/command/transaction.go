package command

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"io"
	"slices"
	"time"

	"baoco/app"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/inbound"
	"baoco/web/api"

	"github.com/urfave/cli/v2"
)

func transactionCommand() *cli.Command {
	return &cli.Command{
		Name: "transaction", Usage: "recorded transactions",
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list transactions, newest first",
				Description: terminal.Example("baoco transaction list --q \"thanh toan\"",
					"baoco transaction list --from 2026-11-01 --type IN -o json"),
				Flags: append(transactionFilterFlags(), terminal.AdminFlags(append(pageFlags(),
					terminal.Choice(cli.StringFlag{Name: "sort", Usage: "`ORDER`: %s", Value: string(app.SortIDDesc)},
						app.SortIDDesc, app.SortID, app.SortDateDesc, app.SortDate),
				)...)...),
				Action: session.WithoutArguments(listTransactions),
			},
			{
				Name: "add", Usage: "record a transaction by hand; a running server sends it to the webhooks within a second",
				Description: terminal.Example("baoco transaction add --bank ACB --account-number 19354957 --type IN --amount 200000 --content DH123"),
				Flags: terminal.AdminFlags(
					bankFlag(cli.StringFlag{Usage: "bank `CODE` (default: the bank of the linked account with this number)"}),
					&cli.StringFlag{Name: "account-number", Usage: "account `NUMBER` (default: that of the only linked account)"},
					terminal.Choice(cli.StringFlag{Name: "type", Usage: "`TYPE` %s", Value: string(app.In)}, app.In, app.Out),
					&cli.StringFlag{Name: "amount", Usage: "amount in `VND`", Required: true},
					&cli.StringFlag{Name: "content", Usage: "transfer content, a `TEXT`"},
					&cli.StringFlag{Name: "transaction-number", Usage: "`NUMBER` that the bank gave the transfer"},
					&cli.StringFlag{Name: "id", Usage: "an `ID`: the same one is recorded once (default: the transaction number, or a new one)"},
					&cli.BoolFlag{Name: "not-a-repeat", Usage: "record it beside a transaction of the same amount and time that another source reported"},
					&cli.StringFlag{Name: "date", Usage: "time of the transfer, `Y-m-d H:i:s`, or its day (default: now)"},
				),
				Action: session.WithoutArguments(addTransaction),
			},
			importCommand(),
			exportCommand(),
			tailCommand(),
		},
	}
}

// transactionFilterFlags are the flags that narrow a list or an export of
// transactions. readTransactionFilter reads them.
func transactionFilterFlags() []cli.Flag {
	return []cli.Flag{
		&cli.Int64Flag{Name: "bank-account-id", Usage: "only those of bank account `ID`", DefaultText: "all"},
		terminal.Choice(cli.StringFlag{Name: "type", Usage: "only `TYPE` %s"}, app.In, app.Out),
		&cli.StringFlag{Name: "from", Usage: "from `DATE` on, Y-m-d or Y-m-d H:i:s"},
		&cli.StringFlag{Name: "to", Usage: "through `DATE`"},
		&cli.StringFlag{Name: "min-amount", Usage: "of at least `VND`"},
		&cli.StringFlag{Name: "max-amount", Usage: "of at most `VND`"},
		&cli.StringFlag{Name: "code", Usage: "only those with payment `CODE`"},
		&cli.StringFlag{Name: "q", Usage: "`TEXT` in content or number, without regard to case or accents"},
		terminal.Choice(cli.StringFlag{Name: "delivery-state", Usage: "only those in delivery `STATE` %s"}, app.TransactionStates...),
		&cli.BoolFlag{Name: "revenue", Usage: "only money in that is revenue; --revenue=false: only what isn't", DisableDefaultText: true},
		&cli.Int64Flag{Name: "since-id", Usage: "only ids above `ID`, oldest first", DefaultText: "all"},
	}
}

func readTransactionFilter(c *cli.Context, s *session.Session) (f app.TransactionFilter, err error) {
	f = app.TransactionFilter{
		BankAccountID: c.Int64("bank-account-id"), DeliveryState: app.DeliveryState(c.String("delivery-state")),
	}
	if f.Type, f.From, f.To, f.Query, err = filterFlags(c, s.Services.Ledger.Zone()); err != nil {
		return f, err
	}
	var bad app.Invalid
	f.Code = app.ReadCodeFilter("code", c.String("code"), &bad)
	f.MinAmount = app.ReadAmountBound("min_amount", c.String("min-amount"), true, &bad)
	f.MaxAmount = app.ReadAmountBound("max_amount", c.String("max-amount"), false, &bad)
	if err := bad.Err(); err != nil {
		return f, err
	}
	f.Revenue = session.Given(c, "revenue", c.Bool)
	if f.SinceID = session.Given(c, "since-id", c.Int64); f.SinceID != nil && *f.SinceID < 0 {
		return f, terminal.Usagef("--since-id must be an id, not %d", *f.SinceID)
	}
	return f, nil
}

func listTransactions(c *cli.Context, s *session.Session) error {
	f, err := readTransactionFilter(c, s)
	if err != nil {
		return err
	}
	f.Sort = app.TransactionSort(c.String("sort"))
	if f.Page, err = readPage(c); err != nil {
		return err
	}
	if c.IsSet("since-id") && c.IsSet("sort") && f.Sort != app.SortID {
		return terminal.Usagef("--since-id lists by id, not by %s", f.Sort)
	}
	f.Sums = true
	page, err := s.Services.Ledger.Transactions(c.Context, s.Account, f)
	coded := slices.ContainsFunc(page.Rows, func(t app.Transaction) bool { return t.Code.Read })
	table := terminal.Table{
		None:    "No transactions found.",
		Columns: ">ID|TIME|BANK|ACCOUNT|TYPE|>AMOUNT|CONTENT|NUMBER",
		After: func(w io.Writer) {
			if page.Total > 0 {
				fmt.Fprintf(w, "In %s VND (%s), out %s VND (%s).\n", terminal.VND(page.Sums.In.Total), terminal.VND(page.Sums.In.Count),
					terminal.VND(page.Sums.Out.Total), terminal.VND(page.Sums.Out.Count))
			}
			terminal.More(c, len(page.Rows), page.Total)
		},
	}
	if coded { // false: the account had no code patterns
		table.Columns += "|CODE"
	}
	return terminal.List(c, err, page.Rows, table, func(t app.Transaction) (api.TransactionJSON, []string) {
		e := api.EncodeTransaction(t, s.Services.Ledger.Zone())
		row := []string{e.ID, datedCell(t, s.Services.Ledger.Zone()), e.Bank, e.AccountNumber, string(e.Type), terminal.VND(e.Amount),
			terminal.Clip(e.Content, 50), e.TransactionNumber}
		if coded {
			row = append(row, t.Code.Text)
		}
		return e, row
	})
}

// datedCell is the time of a transaction, or only its day if the time is unknown.
func datedCell(t app.Transaction, zone *time.Location) string {
	text := app.FormatDate(t.Time, t.DateOnly, zone)
	if t.DateFlaw != "" {
		text += " (received)"
	}
	return text
}

func addTransaction(c *cli.Context, s *session.Session) error {
	amount, err := app.ReadAmount(c.String("amount"))
	if err != nil {
		return terminal.Usagef("--amount %s, not %q", app.TypedAmountRule.EN, c.String("amount"))
	}
	e := inbound.Incoming{
		EventID: c.String("id"), Gateway: c.String("bank"), AccountNumber: c.String("account-number"), Number: c.String("transaction-number"),
		Type: app.Direction(c.String("type")), Amount: amount, Content: c.String("content"), Time: s.Now,
		NotRepeat: c.Bool("not-a-repeat"),
	}
	if _, known := app.FindBank(e.Gateway); e.Gateway != "" && !known {
		return terminal.Usagef("--bank %q is not a known bank code", e.Gateway)
	}
	if e.AccountNumber == "" {
		banks, err := s.Services.Ledger.BankAccounts(c.Context, s.Account)
		if err != nil {
			return err
		}
		if len(banks) != 1 {
			return terminal.Usagef("--account-number is needed, since %d bank accounts are linked", len(banks))
		}
		e.Gateway, e.AccountNumber = banks[0].Bank, banks[0].AccountNumber
	}
	if c.IsSet("date") {
		var known bool
		if e.Time, e.DateOnly, known = app.ReadDate(c.String("date"), s.Services.Ledger.Zone()); !known {
			return terminal.Usagef("--date must be a time as 2026-11-22 08:30:00, 22/11/2026 08:30 or 2026-11-22T08:30:00+07:00, "+
				"or a date alone, not %q", c.String("date"))
		}
	}
	e.EventID = cmp.Or(e.EventID, e.Number, "hand-"+rand.Text())
	t, result, err := s.Services.Inbound.RecordByHand(c.Context, s.Account, inbound.TransactionCreate{Incoming: e}, s.Now)
	if err != nil {
		return err
	}
	shown := api.EncodeTransaction(t, s.Services.Ledger.Zone())
	if result == inbound.OutcomeDuplicate {
		return terminal.Changed(c, nil, shown, "Transaction %d was recorded before.", t.ID)
	}
	recorded := app.Text{EN: fmt.Sprintf("Transaction %d is recorded: %s %s VND on %s %s.", t.ID, t.Type, terminal.VND(t.Amount),
		t.Bank, t.AccountNumber)}
	return terminal.Changed(c, nil, shown, "%s", recorded.And(t.DateFlaw.Notice()).EN)
}
