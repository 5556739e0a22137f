package command

import (
	"fmt"
	"io"
	"strconv"

	"baoco/app"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/delivery"

	"github.com/urfave/cli/v2"
)

// resendFilters are the flags that go with --failed only.
var resendFilters = []string{"webhook-id", "transaction-id", "type", "from", "to", "q"}

func resendDeliveries(c *cli.Context, s *session.Session) error {
	if c.Bool("failed") {
		return resendFailed(c, s)
	}
	for _, name := range resendFilters {
		if c.IsSet(name) {
			return terminal.Usagef("--%s narrows --failed, and says nothing about single records", name)
		}
	}
	if c.NArg() > 1 {
		return resendMany(c, s)
	}
	a, err := historyRecord(c, s)
	if err != nil {
		return err
	}
	d, err := s.Services.Deliveries.Resend(c.Context, s.Account, a.ID, app.IdempotencyKey{}, s.Now)
	return terminal.Changed(c, err, map[string]string{"delivery_id": strconv.FormatInt(d.ID, 10)},
		"Delivery %d is queued; a running server sends it within a second.", d.ID)
}

func resendMany(c *cli.Context, s *session.Session) error {
	var ids []int64
	for _, text := range c.Args().Slice() {
		id, err := terminal.ParseID(text, "history record")
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	r, err := s.Services.Deliveries.ResendMany(c.Context, s.Account, ids, app.IdempotencyKey{}, s.Now)
	if err != nil {
		return err
	}
	return printResent(c, r)
}

func resendFailed(c *cli.Context, s *session.Session) error {
	if err := terminal.NoArguments(c); err != nil {
		return err
	}
	f := delivery.Filter{WebhookID: c.Int64("webhook-id"), TransactionID: c.Int64("transaction-id")}
	var err error
	if f.Type, f.From, f.To, f.Query, err = filterFlags(c, s.Services.Ledger.Zone()); err != nil {
		return err
	}
	progress := terminal.NewProgress(c, "queueing")
	r, err := s.Services.Deliveries.ResendFailed(c.Context, s.Account, f, app.IdempotencyKey{}, s.Now)
	progress.Stop()
	if err != nil {
		return err
	}
	return printResent(c, r)
}

// printResent prints what is queued and what was refused. A refused record makes
// the exit code that of a conflict.
func printResent(c *cli.Context, r delivery.ResendResult) error {
	type refused struct {
		HistoryID int64    `json:"history_id"`
		Code      app.Code `json:"code"`
		Message   string   `json:"message"`
	}
	shown := struct {
		Deliveries int       `json:"deliveries"`
		Refused    []refused `json:"refused"`
		More       bool      `json:"more"`
	}{r.Count, []refused{}, r.More}
	for _, one := range r.Refused {
		shown.Refused = append(shown.Refused, refused{one.HistoryID, one.Err.Code, one.Err.Text.EN})
	}
	lost := fmt.Sprintf("%d deliveries are queued, %d records were refused.", r.Count, len(r.Refused))
	err := terminal.Report(c, shown, lost, func(w io.Writer) {
		fmt.Fprintf(w, "%d deliveries are queued; a running server sends them from now on.\n", r.Count)
		for _, one := range shown.Refused {
			fmt.Fprintf(w, "Record %d is not resent: %s\n", one.HistoryID, one.Message)
		}
		if r.More {
			fmt.Fprintln(w, "There are more: repeat the command for the rest.")
		}
	})
	if n := len(r.Refused); err == nil && n > 0 {
		err = terminal.Exit(terminal.ExitConflict, fmt.Errorf("%d of the records were not resent", n))
	}
	return err
}
