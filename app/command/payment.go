package command

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/payment"
	"baoco/web/api"

	"github.com/urfave/cli/v2"
)

func paymentCommand() *cli.Command {
	transaction := &cli.Int64Flag{Name: "transaction-id", Usage: "`ID` of the transaction", Required: true}
	return &cli.Command{
		Name: "payment", Usage: "payment requests: an amount under a code, and what has come for it",
		Subcommands: []*cli.Command{
			{
				Name: "create", Usage: "ask for a payment; its page has the path that is printed",
				Description: terminal.Example("baoco payment create --amount 200000 --reference HD-1042 --expires-in 30m",
					"baoco payment create --amount 1.500.000 --bank-account-id 2 --code DH001042"),
				Flags: terminal.AdminFlags(
					&cli.StringFlag{Name: "amount", Usage: "`VND` to ask for", Required: true},
					&cli.Int64Flag{Name: "bank-account-id", Usage: "the money is to go to bank account `ID`", DefaultText: "the only one"},
					&cli.StringFlag{Name: "receiving-number", Usage: "it is to be paid to this receiving `NUMBER`", DefaultText: "the first one"},
					&cli.StringFlag{Name: "reference", Usage: "your own reference, a `TEXT` such as the number of the order"},
					&cli.StringFlag{Name: "code", Usage: "payment `CODE` of one of your patterns (default: a new one)"},
					&cli.StringFlag{Name: "prefix", Usage: "make the code by the pattern with this prefix, `LETTERS`",
						DefaultText: "the first pattern that has a code left"},
					&cli.DurationFlag{Name: "expires-in", Usage: "it can be paid for this `TIME`, such as 30m or 24h", DefaultText: "without end"},
					&cli.StringFlag{Name: "return-url", Usage: "its page leads back to this `URL`"},
					&cli.BoolFlag{Name: "distinct-amount", Usage: "ask for a few dong more, so that no other open request has the amount"},
				),
				Action: session.WithoutArguments(createPayment),
			},
			{
				Name: "list", Usage: "list the payment requests, newest first",
				Description: terminal.Example("baoco payment list --status underpaid", "baoco payment list --reference HD-1042"),
				Flags: terminal.AdminFlags(append(pageFlags(),
					terminal.Choice(cli.StringFlag{Name: "status", Usage: "`STATUS`: %s", DefaultText: "all"}, app.PaymentOpen, app.PaymentUnderpaid,
						app.PaymentPaid, app.PaymentOverpaid, app.PaymentPaidLate, app.PaymentExpired, app.PaymentCancelled),
					&cli.StringFlag{Name: "reference", Usage: "your own reference, `TEXT`"},
				)...),
				Action: session.WithoutArguments(listPayments),
			},
			session.Of("payment show", "show a payment request with its transfers", "payment request", showPayment),
			{
				Name: "qr", Usage: "make the VietQR code of what is still to be paid", ArgsUsage: "ID",
				Description: terminal.Example("baoco payment qr 7 --png order.png"),
				Flags:       terminal.AdminFlags(&cli.StringFlag{Name: "png", Usage: "write the code to a PNG `FILE`"}),
				Action:      session.WithID("payment request", paymentQR),
			},
			session.Of("payment cancel", "cancel a payment request that isn't paid", "payment request", cancelPayment),
			{
				Name: "unmatched", Usage: "list money in without a payment request, and what it may be for",
				Description: terminal.Example("baoco payment unmatched"),
				Flags: terminal.AdminFlags(append(pageFlags(),
					&cli.BoolFlag{Name: "put-aside", Usage: "list what was put aside instead"})...),
				Action: session.WithoutArguments(listUnmatched),
			},
			{
				Name: "put-aside", Usage: "note that unmatched money belongs to no order", ArgsUsage: "TRANSACTION_ID",
				Description: terminal.Example("baoco payment put-aside 812", "baoco payment put-aside 812 --undo"),
				Flags:       terminal.AdminFlags(&cli.BoolFlag{Name: "undo", Usage: "make it unmatched again"}),
				Action:      session.WithID("transaction", putAside),
			},
			{
				Name: "match", Usage: "match a transaction with a payment request by hand", ArgsUsage: "ID",
				Description: terminal.Example("baoco payment match 7 --transaction-id 812"),
				Flags:       terminal.AdminFlags(transaction), Action: session.WithID("payment request", matchPayment),
			},
			{
				Name: "unmatch", Usage: "undo the match of a transaction with a payment request", ArgsUsage: "ID",
				Description: terminal.Example("baoco payment unmatch 7 --transaction-id 812"),
				Flags:       terminal.AdminFlags(transaction), Action: session.WithID("payment request", unmatchPayment),
			},
			{
				Name: "settings", Usage: "show or change the settings for new payment requests",
				Description: terminal.Example("baoco payment settings", "baoco payment settings --tolerance 1000 --distinct-amounts"),
				Flags: terminal.AdminFlags(
					&cli.Int64Flag{Name: "tolerance", Usage: "so many dong less are enough, a `NUMBER` up to 100000; a tenth of the amount at most",
						DefaultText: "as it is"},
					&cli.BoolFlag{Name: "distinct-amounts",
						Usage: "allow requests to ask for a few dong more, so that no other open one has the amount; --distinct-amounts=false ends it"},
					&cli.Int64Flag{Name: "small-amount", Usage: "counters warn of payments of no bill below this `NUMBER` of dong, up to 100000; 0: never",
						DefaultText: "as it is"},
				),
				Action: session.WithoutArguments(paymentSettings),
			},
		},
	}
}

func createPayment(c *cli.Context, s *session.Session) error {
	if c.IsSet("expires-in") && c.Duration("expires-in") < time.Minute {
		return terminal.Usagef("--expires-in must be a minute or more, not %q; without it the request never expires", c.Duration("expires-in"))
	}
	amount, err := app.ReadAmount(c.String("amount"))
	if err != nil {
		return terminal.Usagef("--amount %s, not %q", app.TypedAmountRule.EN, c.String("amount"))
	}
	r, err := s.Services.Payments.CreatePaymentRequest(c.Context, s.Account, payment.RequestCreate{
		Amount: amount, BankAccountID: c.Int64("bank-account-id"), Reference: c.String("reference"), Code: c.String("code"),
		Prefix: c.String("prefix"), ReceivingNumber: c.String("receiving-number"),
		ExpiresIn: c.Duration("expires-in"), ReturnURL: c.String("return-url"), DistinctAmount: c.Bool("distinct-amount"),
	}, app.IdempotencyKey{}, s.Now)
	return terminal.Changed(c, err, encodePayment(s, r), "Payment request %d: %s VND with the content %s. Its page is %s", r.ID,
		terminal.VND(r.TransferAmount), r.Code, r.URLPath())
}

func encodePayment(s *session.Session, r payment.Request) api.PaymentRequestJSON {
	return api.EncodePaymentRequest(r, s.Services.Ledger.Zone(), s.Now)
}

func listPayments(c *cli.Context, s *session.Session) (err error) {
	f := payment.Filter{Status: app.PaymentStatus(c.String("status")), Reference: c.String("reference")}
	if f.Page, err = readPage(c); err != nil {
		return err
	}
	page, err := s.Services.Payments.PaymentRequests(c.Context, s.Account, f, s.Now)
	if err != nil {
		return err
	}
	list := api.All(page.Rows, func(r payment.Request) api.PaymentRequestJSON { return encodePayment(s, r) })
	return terminal.Output(c, list, func(w io.Writer) {
		printPayments(s, w, page.Rows, "No payment request found.")
		if page.Total > 0 {
			fmt.Fprintf(w, "Asked for %s VND, received %s VND; cancelled requests are not asked for.\n", terminal.VND(page.Due),
				terminal.VND(page.Received))
		}
		terminal.More(c, len(list), page.Total)
	})
}

func printPayments(s *session.Session, w io.Writer, list []payment.Request, none string) {
	var rows [][]string
	for _, r := range list {
		expires := textOf(api.TimeOrNull(r.ExpiresAt, s.Services.Ledger.Zone()), "")
		rows = append(rows, []string{strconv.FormatInt(r.ID, 10), r.Code, r.Reference, string(r.Status(s.Now)), terminal.VND(r.Amount),
			terminal.VND(r.Received), app.FormatTime(r.CreatedAt, s.Services.Ledger.Zone()), expires})
	}
	terminal.PrintTable(w, none, ">ID|CODE|REFERENCE|STATUS|>AMOUNT|>RECEIVED|CREATED|EXPIRES", rows)
}

func showPayment(c *cli.Context, s *session.Session, id int64) error {
	r, err := s.Services.Payments.PaymentRequest(c.Context, s.Account, id)
	if err != nil {
		return err
	}
	transfers, err := s.Services.Payments.PaymentTransfers(c.Context, s.Account, id, app.MaxPageSize)
	if err != nil {
		return err
	}
	encoded := struct {
		api.PaymentRequestJSON
		Transactions []api.PaymentTransferJSON `json:"transactions"`
	}{encodePayment(s, r), []api.PaymentTransferJSON{}}
	var rows [][]string
	for _, t := range transfers {
		encoded.Transactions = append(encoded.Transactions, api.EncodePaymentTransfer(t, s.Services.Ledger.Zone()))
		rows = append(rows, []string{strconv.FormatInt(t.ID, 10), datedCell(t.Transaction, s.Services.Ledger.Zone()), terminal.VND(t.Amount),
			string(t.FoundBy), terminal.Clip(t.Content, 50)})
	}
	return terminal.Output(c, encoded, func(w io.Writer) {
		printPayments(s, w, []payment.Request{r}, "")
		if r.Overpaid() > 0 {
			fmt.Fprintf(w, "%s VND more came than was asked for.\n", terminal.VND(r.Overpaid()))
		}
		fmt.Fprintf(w, "To %s %s, %s. Page: %s\n", r.BankAccount.Bank, r.AccountNumber(),
			terminal.OneLine(r.BankAccount.AccountName), r.URLPath())
		terminal.PrintTable(w, "No transfer has come yet.", ">TRANSACTION|TIME|>AMOUNT|FOUND BY|CONTENT", rows)
	})
}

func paymentQR(c *cli.Context, s *session.Session, id int64) error {
	r, err := s.Services.Payments.PaymentRequest(c.Context, s.Account, id)
	if err != nil {
		return err
	}
	if !r.Payable(s.Now) {
		return payment.ErrEnded
	}
	_, text, err := r.Transfer()
	if err != nil {
		return err
	}
	return drawQR(c, map[string]any{"payment_request_id": id, "qr": text}, text)
}

func cancelPayment(c *cli.Context, s *session.Session, id int64) error {
	r, err := s.Services.Payments.CancelPaymentRequest(c.Context, s.Account, id, s.Now)
	return terminal.Changed(c, err, encodePayment(s, r), "Payment request %d is cancelled.", id)
}

func listUnmatched(c *cli.Context, s *session.Session) error {
	page, err := readPage(c)
	if err != nil {
		return err
	}
	f := payment.UnmatchedFilter{Aside: c.Bool("put-aside"), Page: page}
	list, total, err := s.Services.Payments.UnmatchedTransactions(c.Context, s.Account, f, s.Now)
	table := terminal.Table{
		None:    "All money in of the last 30 days has its payment request, or was put aside.",
		Columns: ">TRANSACTION|TIME|>AMOUNT|CONTENT|MAY BE FOR",
		After:   func(io.Writer) { terminal.More(c, len(list), total) },
	}
	if f.Aside {
		table.None = "No money in of the last 30 days was put aside."
	}
	return terminal.List(c, err, list, table, func(t payment.UnmatchedTransaction) (api.UnmatchedJSON, []string) {
		likely := api.All(t.Likely, func(r payment.Request) string { return fmt.Sprintf("%d (%s)", r.ID, r.Code) })
		return api.EncodeUnmatched(t, s.Services.Ledger.Zone(), s.Now), []string{strconv.FormatInt(t.ID, 10),
			datedCell(t.Transaction, s.Services.Ledger.Zone()), terminal.VND(t.Amount), terminal.Clip(t.Content, 50), strings.Join(likely, ", ")}
	})
}

func putAside(c *cli.Context, s *session.Session, id int64) error {
	aside, now := !c.Bool("undo"), "unmatched"
	err := s.Services.Payments.PutAside(c.Context, s.Account, id, aside)
	if aside {
		now = "put aside"
	}
	return terminal.Changed(c, err, map[string]any{"transaction_id": strconv.FormatInt(id, 10), "put_aside": aside},
		"Transaction %d is %s now.", id, now)
}

func matchPayment(c *cli.Context, s *session.Session, id int64) error {
	r, err := s.Services.Payments.MatchTransaction(c.Context, s.Account, id, c.Int64("transaction-id"), s.Now)
	return printMatch(s, c, r, err)
}

func unmatchPayment(c *cli.Context, s *session.Session, id int64) error {
	r, err := s.Services.Payments.UnmatchTransaction(c.Context, s.Account, id, c.Int64("transaction-id"))
	return printMatch(s, c, r, err)
}

func printMatch(s *session.Session, c *cli.Context, r payment.Request, err error) error {
	return terminal.Changed(c, err, encodePayment(s, r), "Payment request %d is %s now: received %s of %s VND.", r.ID, r.Status(s.Now),
		terminal.VND(r.Received), terminal.VND(r.Amount))
}

func paymentSettings(c *cli.Context, s *session.Session) error {
	u := app.AccountUpdate{
		PaymentTolerance: session.Given(c, "tolerance", c.Int64), DistinctAmounts: session.Given(c, "distinct-amounts", c.Bool),
		SmallAmount: session.Given(c, "small-amount", c.Int64),
	}
	if u == (app.AccountUpdate{}) {
		a, err := s.Services.Ledger.Account(c.Context, s.Account)
		if err != nil {
			return err
		}
		return terminal.Output(c, encodePaymentSettings(a), func(w io.Writer) { fmt.Fprintln(w, paymentSettingsText(a)) })
	}
	a, err := s.Services.Ledger.UpdateAccount(c.Context, s.Account, u)
	return terminal.Changed(c, err, encodePaymentSettings(a), "%s", paymentSettingsText(a))
}

type paymentSettingsJSON struct {
	Tolerance       int64 `json:"tolerance"`
	DistinctAmounts bool  `json:"distinct_amounts"`
	SmallAmount     int64 `json:"small_amount"`
}

func encodePaymentSettings(a app.Account) paymentSettingsJSON {
	return paymentSettingsJSON{a.PaymentTolerance, a.DistinctAmounts, a.SmallAmount}
}

func paymentSettingsText(a app.Account) string {
	return fmt.Sprintf("Tolerance: %s VND. Distinct amounts: %s. Counters warn below %s VND.", terminal.VND(a.PaymentTolerance),
		terminal.YesNo(a.DistinctAmounts), terminal.VND(a.SmallAmount))
}
