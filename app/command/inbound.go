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

// The commands of the inbound log are part of baoco source: log, event, link,
// retry, settle and discard.

func logCommand() *cli.Command {
	return &cli.Command{
		Name: "log", Usage: "the inbound log: the last calls, newest first",
		Description: terminal.Example("baoco source log --open", "baoco source log --state unassigned", "baoco source log --refused"),
		Flags: terminal.AdminFlags(
			&cli.BoolFlag{Name: "open", Usage: "only those with transactions that need a decision"},
			terminal.Choice(cli.StringFlag{Name: "state", Usage: "only those with transactions in `STATE` %s"},
				inbound.OutcomeUnassigned, inbound.OutcomeConflict, inbound.OutcomeRejected, inbound.OutcomeMayBeRepeat),
			&cli.BoolFlag{Name: "refused", Aliases: []string{"rejected"}, Usage: "refused calls instead, with the reason"},
			&cli.Int64Flag{Name: "source-id", Usage: "only those of source `ID`", DefaultText: "all"},
			&cli.StringFlag{Name: "from", Usage: "from `DATE` on, Y-m-d or Y-m-d H:i:s"},
			&cli.StringFlag{Name: "to", Usage: "through `DATE`"},
			&cli.IntFlag{Name: "limit", Usage: "at most `N`", Value: 20},
		),
		Action: session.WithoutArguments(sourceLog),
	}
}

func linkCommand() *cli.Command {
	return &cli.Command{
		Name: "link", Usage: "assign the unassigned transactions of a call to a bank account and record them", ArgsUsage: "ID",
		Description: terminal.Example(`baoco source link 17 --name "NGUYEN VAN A"`,
			`baoco source link 17 --bank VCB --account-number 7220111112005 --name "NGUYEN VAN A"`),
		Flags: terminal.AdminFlags(
			bankFlag(cli.StringFlag{Usage: "bank `CODE` (default: as the call names it)"}),
			&cli.StringFlag{Name: "account-number", Usage: "account `NUMBER` (default: as the call names it)"},
			&cli.StringFlag{Name: "name", Usage: "account holder's `NAME`, of an account that is not linked yet"},
			&cli.BoolFlag{Name: "notify-all", Usage: "send all of them to the webhooks, not only those of the last 24 hours"},
			&cli.BoolFlag{Name: "no-notify", Usage: "send none of them to the webhooks"},
		),
		Action: session.WithID("inbound event", linkEvent),
	}
}

func settleCommand() *cli.Command {
	return &cli.Command{
		Name: "settle", Usage: "say whether a transaction that may be a repeat is one", ArgsUsage: "ID",
		Description: terminal.Example("baoco source settle 17 --repeat", "baoco source settle 17 --item-id 30 --another"),
		Flags: terminal.AdminFlags(
			&cli.BoolFlag{Name: "repeat", Usage: "it is the transaction that source event names: record nothing"},
			&cli.BoolFlag{Name: "another", Usage: "it is another transfer: record it, unless it may be yet another transaction"},
			&cli.Int64Flag{Name: "item-id", Usage: "item `ID`, as source event shows it", DefaultText: "the only one"},
			&cli.Int64Flag{Name: "transaction-id", Usage: "only if the item names transaction `ID`", DefaultText: "any"},
		),
		Action: session.WithID("inbound event", settleEvent),
	}
}

func discardCommand() *cli.Command {
	return &cli.Command{
		Name: "discard", Usage: "discard the items of a call that need attention", ArgsUsage: "ID",
		Description: terminal.Example("baoco source discard 17", "baoco source discard 17 --item-id 30"),
		Flags:       terminal.AdminFlags(&cli.Int64Flag{Name: "item-id", Usage: "only item `ID`, as source event shows it", DefaultText: "all"}),
		Action:      session.WithID("inbound event", discardEvent),
	}
}

func sourceLog(c *cli.Context, s *session.Session) (err error) {
	limit := c.Int("limit")
	if limit < 1 || limit > 1000 {
		return terminal.Usagef("--limit must be from 1 to 1000")
	}
	if c.Bool("refused") {
		return refusedLog(c, s, limit)
	}
	f := inbound.Filter{SourceID: c.Int64("source-id"), OpenOnly: c.Bool("open"), State: inbound.Outcome(c.String("state")),
		Page: app.Page{Number: 1, Size: limit}}
	if f.From, f.To, err = rangeFlags(c, s.Services.Ledger.Zone()); err != nil {
		return err
	}
	events, _, err := s.Services.Inbound.InboundEvents(c.Context, s.Account, f)
	if err != nil {
		return err
	}
	list := encodeEvents(s, events)
	none := "No calls yet."
	if f.OpenOnly || f.State != "" || f.SourceID != 0 || !f.From.IsZero() || !f.To.IsZero() {
		none = "No such call."
	}
	return terminal.Output(c, list, func(w io.Writer) { printEvents(w, none, list) })
}

func encodeEvents(s *session.Session, events []inbound.Event) []api.InboundEventJSON {
	return api.All(events, func(e inbound.Event) api.InboundEventJSON {
		return api.EncodeInboundEvent(e, s.Services.Ledger.Zone(), app.English)
	})
}

func printEvents(w io.Writer, none string, events []api.InboundEventJSON) {
	var rows [][]string
	for _, e := range events {
		rows = append(rows,
			[]string{strconv.FormatInt(e.ID, 10), e.ReceivedAt, textOf(e.Source, "-"), strconv.Itoa(e.Recorded), strconv.Itoa(e.Duplicates),
				strconv.Itoa(e.Unassigned), strconv.Itoa(e.Conflicts), strconv.Itoa(e.Rejected), openReasons(e)})
	}
	terminal.PrintTable(w, none,
		">EVENT|RECEIVED|SOURCE|>RECORDED|>DUPLICATES|>UNASSIGNED|>CONFLICTS|>REJECTED|OPEN", rows)
}

// openReasons returns the reasons of the first open items, for one cell.
func openReasons(e api.InboundEventJSON) string {
	var parts []string
	for _, i := range e.Items {
		parts = append(parts, fmt.Sprintf("%s: %s %s", *i.State, i.Field, i.Reason))
	}
	return terminal.Clip(strings.Join(parts, "; "), 80)
}

func refusedLog(c *cli.Context, s *session.Session, limit int) error {
	calls, err := s.Services.Inbound.RefusedCalls(c.Context, s.Account, c.Int64("source-id"), limit)
	if err != nil {
		return err
	}
	list := encodeRefused(s, calls)
	return terminal.Output(c, list, func(w io.Writer) { printRefused(w, list) })
}

func encodeRefused(s *session.Session, calls []inbound.RefusedCall) []api.RefusedCallJSON {
	return api.All(calls, func(c inbound.RefusedCall) api.RefusedCallJSON {
		return api.EncodeRefusedCall(c, s.Services.Ledger.Zone(), app.English)
	})
}

func printRefused(w io.Writer, calls []api.RefusedCallJSON) {
	var rows [][]string
	for _, r := range calls {
		rows = append(rows, []string{r.ReceivedAt, textOf(r.Source, "-"), r.Remote, string(r.Code), r.Reason})
	}
	terminal.PrintTable(w, "No calls were refused.", "RECEIVED|SOURCE|FROM|CODE|REASON", rows)
}

func showEvent(c *cli.Context, s *session.Session, id int64) error {
	event, err := s.Services.Inbound.ReadInboundEvent(c.Context, s.Account, id)
	if err != nil {
		return err
	}
	e := api.EncodeInboundBody(event, s.Services.Ledger.Zone(), app.English)
	return terminal.Output(c, e, func(w io.Writer) {
		fmt.Fprintf(w, "Event %d of %s, received %s (%s)\n", e.ID, terminal.OneLine(textOf(e.Source, "-")), e.ReceivedAt, e.Channel)
		fmt.Fprintf(w, "%d recorded, %d duplicates, %d unassigned, %d in conflict, %d rejected%s; %d need attention.\n\n",
			e.Recorded, e.Duplicates, e.Unassigned, e.Conflicts, e.Rejected, mayBeRepeats(e.MayRepeat), e.Open)
		printElements(w, e)
		fmt.Fprintln(w)
		fmt.Fprintln(w, terminal.Visible(string(event.Body)))
	})
}

// mayBeRepeats returns the number of possible repeats, for the end of a list; empty for 0.
func mayBeRepeats(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d may be repeats", n)
}

func printElements(w io.Writer, e api.InboundEventBodyJSON) {
	var rows [][]string
	for _, i := range e.Elements {
		reason, amount := "-", "-"
		if i.Reason != "" {
			reason = i.Field + " " + i.Reason
		}
		if i.Amount != nil {
			amount = terminal.VND(*i.Amount)
		}
		rows = append(rows, []string{textOf(i.ItemID, "-"), textOf(i.State, "-"), reason, terminal.Clip(i.EventID, 40),
			terminal.Clip(i.Gateway, 20), terminal.Clip(i.AccountNumber, 30), textOf(i.Type, "-"), amount, i.TransactionDate,
			terminal.Clip(i.Content, 40), textOf(i.TransactionID, "-")})
	}
	terminal.PrintTable(w, textOf(e.Nothing, ""), ">ITEM|STATE|REASON|ID|BANK|ACCOUNT|TYPE|>AMOUNT|DATE|CONTENT|>TRANSACTION", rows)
	if more := e.ElementCount - len(e.Elements); more > 0 {
		fmt.Fprintf(w, "%d more are not shown.\n", more)
	}
}

func linkEvent(c *cli.Context, s *session.Session, id int64) error {
	notify, err := notifyFlags(c)
	if err != nil {
		return err
	}
	r, err := s.Services.Inbound.LinkInbound(c.Context, s.Account, inbound.EventLink{
		EventID: id, Bank: c.String("bank"), AccountNumber: c.String("account-number"), AccountName: c.String("name"), Notify: notify,
	}, s.Now)
	if err != nil {
		return err
	}
	b := r.BankAccount
	lost := fmt.Sprintf("Event %d: %d recorded on bank account %d; %d still need attention.", id, r.Recorded, b.ID, r.Open)
	return terminal.Report(c, api.EncodeInboundLink(r, s.Services.Ledger.Zone()), lost, func(w io.Writer) {
		if r.Linked {
			fmt.Fprintf(w, "Bank account %d is linked: %s %s, %s.\n", b.ID, b.Bank, b.AccountNumber, terminal.OneLine(b.AccountName))
		}
		fmt.Fprintf(w, "Event %d: %d recorded on bank account %d, %d duplicates; %d still need attention.\n", id, r.Recorded, b.ID,
			r.Duplicates, r.Open)
		if r.Waiting > 0 {
			fmt.Fprintf(w, "Recorded of other events, which had been waiting too: %d.\n", r.Waiting)
		}
		fmt.Fprintf(w, "Deliveries that follow: %d.\n", r.Deliveries)
		if r.More {
			fmt.Fprintln(w, "The server records the rest.")
		}
	})
}

func retryEvent(c *cli.Context, s *session.Session, id int64) error {
	r, err := s.Services.Inbound.RetryInbound(c.Context, s.Account, id, s.Now)
	left := ""
	if r.Discarded > 0 {
		left = fmt.Sprintf(" Of these, still discarded: %d.", r.Discarded)
	}
	return terminal.Changed(c, err, api.EncodeInboundCounts(r),
		"Event %d: %d recorded, %d duplicates, %d unassigned, %d in conflict, %d rejected%s.%s",
		id, r.Recorded, r.Duplicates, r.Unassigned, r.Conflicts, r.Rejected, mayBeRepeats(r.MayBeRepeats), left)
}

func settleEvent(c *cli.Context, s *session.Session, id int64) error {
	repeat := c.Bool("repeat")
	if repeat == c.Bool("another") {
		return terminal.Usagef("give --repeat or --another")
	}
	r, err := s.Services.Inbound.SettleRepeat(c.Context, s.Account, inbound.RepeatSettle{
		EventID: id, ItemID: c.Int64("item-id"), TransactionID: c.Int64("transaction-id"), Repeat: repeat,
	}, s.Now)
	shown := map[string]any{"state": r.Outcome, "transaction_id": strconv.FormatInt(r.TransactionID, 10), "deliveries": len(r.Webhooks)}
	switch r.Outcome {
	case inbound.OutcomeDuplicate:
		return terminal.Changed(c, err, shown, "Event %d: it is transaction %d.", id, r.TransactionID)
	case inbound.OutcomeMayBeRepeat:
		return terminal.Changed(c, err, shown, "Event %d: it may be transaction %d instead; settle it again.", id, r.TransactionID)
	}
	return terminal.Changed(c, err, shown, "Event %d: recorded as transaction %d; deliveries that follow: %d.", id,
		r.TransactionID, len(r.Webhooks))
}

func discardEvent(c *cli.Context, s *session.Session, id int64) (err error) {
	var n int
	if c.IsSet("item-id") {
		n, err = s.Services.Inbound.DiscardInboundItem(c.Context, s.Account, id, c.Int64("item-id"))
	} else {
		n, err = s.Services.Inbound.DiscardInbound(c.Context, s.Account, id)
	}
	return terminal.Changed(c, err, map[string]int{"discarded": n}, "Event %d: %d discarded.", id, n)
}
