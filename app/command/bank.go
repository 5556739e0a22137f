package command

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"baoco/app"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/inbound"
	"baoco/app/services"
	"baoco/app/vietqr"
	"baoco/web/api"

	"github.com/urfave/cli/v2"
)

// bankFlag is --bank. Its value is a bank's code, or a name that providers use for it.
func bankFlag(f cli.StringFlag) cli.Flag {
	f.Name = "bank"
	return terminal.Suggest(f, api.All(app.Banks(), func(b app.Bank) string { return b.Code })...)
}

func bankCommand() *cli.Command {
	return &cli.Command{
		Name: "bank", Usage: "bank accounts whose transactions are recorded",
		Subcommands: []*cli.Command{
			{
				Name: "link", Usage: "link a bank account and record the transactions that were waiting for it",
				Description: terminal.Example(`baoco bank link --bank ACB --number 19354957 --name "NGUYEN VAN A"`),
				Flags: terminal.AdminFlags(
					bankFlag(cli.StringFlag{Usage: "bank `CODE`: ACB, VCB, BIDV, MBB, CTG, TCB, …", Required: true}),
					&cli.StringFlag{Name: "number", Usage: "account `NUMBER`", Required: true},
					&cli.StringFlag{Name: "name", Usage: "account holder's `NAME`", Required: true},
					receivingFlag, prefixFlag,
					&cli.BoolFlag{Name: "pending", Usage: "stay pending until its first transaction"},
					&cli.BoolFlag{Name: "notify-all", Usage: "send all that were waiting to the webhooks, not only those of the last 24 hours"},
					&cli.BoolFlag{Name: "no-notify", Usage: "send none that were waiting to the webhooks"},
				),
				Action: session.WithoutArguments(linkBank),
			},
			session.Plain("bank list", "list the bank accounts", listBanks),
			{
				Name: "update", Usage: "correct the holder's name, or change the numbers to which customers pay", ArgsUsage: "ID",
				Description: terminal.Example(`baoco bank update 1 --receiving-number "96247CISI1=Till 1" --receiving-number 96247CISI2`,
					"baoco bank update 1 --content-prefix SEVQR", `baoco bank update 1 --name "TRAN THI B"`),
				Flags: terminal.AdminFlags(receivingFlag, prefixFlag,
					&cli.StringFlag{Name: "name", Usage: "`NAME` of the account's holder, as the bank has it", DefaultText: "as it is"}),
				Action: session.WithID("bank account", updateBank),
			},
			session.Of("bank toggle", "turn a bank account off or on", "bank account", toggleBank),
			session.Of("bank unlink", "unlink a bank account; its transactions are kept", "bank account",
				session.End(func(s *services.All) session.Ending { return s.Ledger.UnlinkBankAccount },
					"unlinked", "Bank account %d is unlinked; its transactions stay.")),
			{
				Name: "qr", Usage: "make a VietQR code for transfers to a bank account", ArgsUsage: "ID",
				Description: terminal.Example(`baoco bank qr 1 --amount 150000 --content DH123`, "baoco bank qr 1 --png counter.png"),
				Flags: terminal.AdminFlags(
					&cli.StringFlag{Name: "amount", Usage: "`VND` (default: the payer types it)"},
					&cli.StringFlag{Name: "receiving-number", Usage: "the code is for this receiving `NUMBER`", DefaultText: "the first one"},
					&cli.StringFlag{Name: "content", Usage: "transfer content, a `TEXT` of at most 25 characters; accents are dropped"},
					&cli.StringFlag{Name: "png", Usage: "write the code to a PNG `FILE`"},
				),
				Action: session.WithID("bank account", bankQR),
			},
		},
	}
}

func linkBank(c *cli.Context, s *session.Session) error {
	notify, err := notifyFlags(c)
	if err != nil {
		return err
	}
	result, err := s.Services.Inbound.LinkBankAccount(c.Context, s.Account, inbound.BankAccountLink{
		Bank: c.String("bank"), AccountNumber: c.String("number"), AccountName: c.String("name"),
		Pending: c.Bool("pending"), Notify: notify, BankAccountReceiving: readReceiving(c, app.BankAccountReceiving{}),
	}, s.Now)
	if err != nil {
		return err
	}
	b := result.BankAccount
	if result.Recorded > 0 {
		fmt.Fprintf(c.App.ErrWriter, "Recorded %d transactions that had been waiting; %d deliveries follow.\n",
			result.Recorded, result.Deliveries)
	}
	if result.More {
		fmt.Fprintln(c.App.ErrWriter, "The server records the rest.")
	}
	return terminal.Changed(c, nil, api.EncodeBankAccount(b, s.Services.Ledger.Zone()), "Bank account %d is linked: %s %s, %s.", b.ID, b.Bank,
		b.AccountNumber, terminal.OneLine(b.AccountName))
}

var (
	receivingFlag = &cli.StringSliceFlag{Name: "receiving-number", DefaultText: "as it is", Usage: "customers pay to `NUMBER`, or " +
		"NUMBER=NAME of a branch or till; repeat it for several, the first is the default; an empty one for none"}
	prefixFlag = &cli.StringFlag{Name: "content-prefix", DefaultText: "as it is",
		Usage: "contents of transfers begin with `LETTERS`, such as SEVQR, so that your provider hears of them"}
)

// readReceiving returns r, which says how customers pay a bank account, with the values of the given flags.
func readReceiving(c *cli.Context, r app.BankAccountReceiving) app.BankAccountReceiving {
	if c.IsSet("content-prefix") {
		r.ContentPrefix = c.String("content-prefix")
	}
	if c.IsSet("receiving-number") {
		r.ReceivingNumbers = strings.Join(c.StringSlice("receiving-number"), "\n")
	}
	return r
}

func updateBank(c *cli.Context, s *session.Session, id int64) error {
	receiving, name := c.IsSet("receiving-number") || c.IsSet("content-prefix"), c.IsSet("name")
	if !receiving && !name {
		return terminal.Usagef("bank update needs at least one of --name, --receiving-number and --content-prefix")
	}
	b, err := s.Services.Ledger.BankAccount(c.Context, s.Account, id)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("Bank account %d is held by %s.", id, terminal.OneLine(c.String("name")))
	if receiving {
		b, err = s.Services.Ledger.SetBankAccountReceiving(c.Context, s.Account, id, readReceiving(c, b.BankAccountReceiving))
		text = receivingText(b)
	}
	if err == nil && name {
		b, err = s.Services.Ledger.SetAccountName(c.Context, s.Account, id, c.String("name"))
	}
	return terminal.Changed(c, err, api.EncodeBankAccount(b, s.Services.Ledger.Zone()), "%s", text)
}

func receivingText(b app.BankAccount) string {
	text := fmt.Sprintf("Bank account %d is paid to %s", b.ID, cmp.Or(b.ReceivingNumbers, b.AccountNumber))
	if b.ContentPrefix != "" {
		text += "; contents begin with " + b.ContentPrefix
	}
	return strings.ReplaceAll(text, "\n", ", ") + "."
}

func notifyFlags(c *cli.Context) (inbound.NotifyOnLink, error) {
	switch all, none := c.Bool("notify-all"), c.Bool("no-notify"); {
	case all && none:
		return 0, terminal.Usagef("--notify-all and --no-notify exclude each other")
	case all:
		return inbound.NotifyAll, nil
	case none:
		return inbound.NotifyNone, nil
	}
	return inbound.NotifyRecent, nil
}

func listBanks(c *cli.Context, s *session.Session) error {
	banks, err := s.Services.Ledger.BankAccountSummaries(c.Context, s.Account, s.Now)
	table := terminal.Table{
		None:    "No bank account is linked yet: baoco bank link --bank ACB --number N --name NAME",
		Columns: ">ID|BANK|NUMBER|NAME|STATUS|>TRANSACTIONS|>IN TODAY|>OUT TODAY|>IN THIS MONTH|>OUT THIS MONTH",
		After: func(w io.Writer) {
			for _, b := range banks {
				if b.BankAccountReceiving != (app.BankAccountReceiving{}) {
					fmt.Fprintln(w, receivingText(b.BankAccount))
				}
			}
		},
	}
	return terminal.List(c, err, banks, table, func(b app.BankAccountSummary) (api.BankAccountJSON, []string) {
		return api.EncodeBankAccount(b.BankAccount, s.Services.Ledger.Zone()), []string{
			strconv.FormatInt(b.ID, 10), b.Bank, b.AccountNumber, b.AccountName, string(b.Status),
			strconv.FormatInt(b.All.Count, 10), terminal.VND(b.Today.In.Total), terminal.VND(b.Today.Out.Total), terminal.VND(b.Month.In.Total),
			terminal.VND(b.Month.Out.Total),
		}
	})
}

func toggleBank(c *cli.Context, s *session.Session, id int64) error {
	b, err := s.Services.Ledger.ToggleBankAccount(c.Context, s.Account, id, s.Now)
	return terminal.Changed(c, err, api.EncodeBankAccount(b, s.Services.Ledger.Zone()), "Bank account %d is %s now.", b.ID, b.Status)
}

func bankQR(c *cli.Context, s *session.Session, id int64) error {
	var amount int64
	if c.IsSet("amount") {
		var err error
		if amount, err = app.ReadAmount(c.String("amount")); err != nil {
			return terminal.Usagef("--amount %s, not %q", app.TypedAmountRule.EN, c.String("amount"))
		}
	}
	b, err := s.Services.Ledger.BankAccount(c.Context, s.Account, id)
	if err != nil {
		return err
	}
	to, err := b.PayTo(c.String("receiving-number"))
	if err != nil {
		return err
	}
	transfer, text, err := b.Transfer(amount, c.String("content"), to)
	if err != nil {
		return err
	}
	if len(transfer.Content) > vietqr.MaxContent {
		fmt.Fprintf(c.App.ErrWriter, "Banks may cut a content of more than %d characters.\n", vietqr.MaxContent)
	}
	return drawQR(c, map[string]any{"bank_account_id": id, "qr": text}, text)
}

// drawQR prints a QR code, and writes it to the file of --png. encoded is what -o json
// prints.
func drawQR(c *cli.Context, encoded map[string]any, text string) error {
	code, err := vietqr.Code(text)
	if err != nil {
		return err
	}
	if file := c.String("png"); file != "" {
		if err := os.WriteFile(file, code.PNG(), 0o644); err != nil {
			return terminal.Exit(terminal.ExitDatabase, err)
		}
	}
	return terminal.Output(c, encoded, func(w io.Writer) {
		fmt.Fprintf(w, "%s\n%s\n", vietqr.Blocks(code), text)
	})
}
