package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"baoco/app"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/delivery"
	"baoco/web/api"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/urfave/cli/v2"
)

func tailCommand() *cli.Command {
	return &cli.Command{
		Name: "tail", Usage: "print the last transactions, and new ones as they are recorded, until Ctrl-C",
		Description: terminal.Example("baoco transaction tail", "baoco transaction tail --limit 0 --type IN -o json | your-program"),
		Flags: terminal.AdminFlags(
			&cli.IntFlag{Name: "limit", Usage: "the last `N` first, at most 1000", Value: 10},
			&cli.Int64Flag{Name: "bank-account-id", Usage: "only those of bank account `ID`", DefaultText: "all"},
			terminal.Choice(cli.StringFlag{Name: "type", Usage: "only `TYPE` %s"}, app.In, app.Out),
			&cli.BoolFlag{Name: "once", Usage: "end after the last N"},
		),
		Action: session.WithoutArguments(tailTransactions),
	}
}

// Tail asks for new transactions as often as the dashboard does. It holds a new
// transaction back for a while, so that its line can say how the first attempts
// ended.
const (
	tailInterval = 250 * time.Millisecond
	tailPatience = time.Second
	tailPage     = 200
)

func tailTransactions(c *cli.Context, s *session.Session) error {
	n := c.Int("limit")
	if n < 0 || n > 1000 {
		return terminal.Usagef("--limit must be from 0 to 1000, not %d", n)
	}
	ctx, stop := terminal.UntilStopped(c.Context)
	defer stop()
	t := &tailing{c: c, s: s, filter: app.TransactionFilter{BankAccountID: c.Int64("bank-account-id"), Type: app.Direction(c.String("type"))}}
	err := t.last(ctx, n)
	if err == nil && !c.Bool("once") {
		err = t.follow(ctx)
	}
	if ctx.Err() != nil || errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

// tailing prints transactions in the order of their ids. That is also the order of
// their commits, so no transaction is missed between two queries.
type tailing struct {
	c      *cli.Context
	s      *session.Session
	filter app.TransactionFilter
	since  int64 // all transactions up to this id are printed
}

// last prints the last n transactions.
func (t *tailing) last(ctx context.Context, n int) error {
	newest, err := t.s.Services.Deliveries.NewestIDs(ctx)
	if err != nil {
		return err
	}
	f := t.filter
	f.UntilID, f.Page = newest.TransactionID, app.Page{Number: 1, Size: max(n, 1)}
	page, err := t.s.Services.Ledger.Transactions(ctx, t.s.Account, f) // with n = 0 too: the filter may be at fault
	if err != nil {
		return err
	}
	list := page.Rows
	if newest.TransactionID == 0 || n == 0 {
		list = nil
	}
	slices.Reverse(list)
	t.since = newest.TransactionID
	return t.print(ctx, list, false)
}

// follow prints the transactions that any process records, until ctx is done.
func (t *tailing) follow(ctx context.Context) error {
	tick := time.NewTicker(tailInterval)
	defer tick.Stop()
	for {
		newest, err := t.s.Services.Deliveries.NewestIDs(ctx)
		for more := err == nil && newest.TransactionID > t.since; more; {
			more, err = t.next(ctx, newest.TransactionID)
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// next prints one page of the transactions up to newest, and reports whether
// another page may be ready now.
func (t *tailing) next(ctx context.Context, newest int64) (more bool, err error) {
	f := t.filter
	f.SinceID, f.UntilID, f.Page = &t.since, newest, app.Page{Number: 1, Size: tailPage}
	page, err := t.s.Services.Ledger.Transactions(ctx, t.s.Account, f)
	if err != nil {
		return false, err
	}
	list, before := page.Rows, t.since
	if err := t.print(ctx, list, true); err != nil {
		return false, err
	}
	if len(list) == 0 || len(list) < tailPage && t.since == list[len(list)-1].ID {
		t.since = newest // the rest doesn't match the filter
		return false, nil
	}
	return t.since != before, nil
}

// print prints transactions up to the first one that is held back, and moves
// since. It writes them at once, so that no line is cut in two.
func (t *tailing) print(ctx context.Context, list []app.Transaction, hold bool) error {
	ids := api.All(list, func(one app.Transaction) int64 { return one.ID })
	deliveries, err := t.s.Services.Deliveries.DeliveriesOf(ctx, t.s.Account, ids)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for _, one := range list {
		if hold && slices.ContainsFunc(deliveries[one.ID], func(d delivery.Latest) bool { return unattempted(d.Delivery, time.Now()) }) {
			break
		}
		if err := t.line(&out, one, deliveries[one.ID]); err != nil {
			return err
		}
		t.since = max(t.since, one.ID)
	}
	if out.Len() == 0 {
		return nil
	}
	_, err = t.c.App.Writer.Write(out.Bytes())
	return err
}

// unattempted reports whether a delivery was created a moment ago and its first
// attempt hasn't ended.
func unattempted(d delivery.Delivery, now time.Time) bool {
	age := now.Sub(d.CreatedAt)
	return d.State == app.DeliveryPending && d.Attempts == 0 && age >= 0 && age < tailPatience
}

func (t *tailing) line(out *bytes.Buffer, one app.Transaction, deliveries []delivery.Latest) error {
	e := api.EncodeTransaction(one, t.s.Services.Ledger.Zone())
	if t.c.String("output") == "json" {
		line, err := terminal.LineJSON(e)
		out.Write(line)
		return err
	}
	fmt.Fprintf(out, "%-19s  %-4s %-5s %18s  %s  %s\n", datedCell(one, t.s.Services.Ledger.Zone()), terminal.OneLine(e.Bank),
		accountTail(e.AccountNumber), terminal.Signed(e.Type, e.Amount),
		text.Pad(terminal.Clip(terminal.OneLine(e.Content), 50), 50, ' '), deliverySummary(deliveries))
	return nil
}

// accountTail returns the last four characters of an account number, by which people know
// their accounts.
func accountTail(number string) string {
	runes := []rune(terminal.OneLine(number))
	if len(runes) <= 4 {
		return string(runes)
	}
	return "…" + string(runes[len(runes)-4:])
}

// deliverySummary counts the deliveries of a transaction by state, the worst state
// first. If all have the same state it is one word.
func deliverySummary(deliveries []delivery.Latest) string {
	count := map[app.DeliveryState]int{}
	for _, d := range deliveries {
		count[d.State]++
	}
	var parts []string
	for _, state := range []app.DeliveryState{app.DeliveryFailed, app.DeliveryPending, app.DeliveryCancelled, app.DeliveryDelivered} {
		switch n := count[state]; {
		case n > 0 && len(count) == 1:
			return string(state)
		case n > 0:
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	if parts == nil {
		return "-"
	}
	return strings.Join(parts, ", ")
}
