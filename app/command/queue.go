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
	ids, err := readIDs(c, func(text string) (int64, error) { return terminal.ParseID(text, "history record") })
	if err != nil {
		return err
	}
	r, err := s.Services.Deliveries.ResendMany(c.Context, s.Account, ids, app.IdempotencyKey{}, s.Now)
	return printResent(c, r, err)
}

func readIDs(c *cli.Context, read func(text string) (int64, error)) (ids []int64, err error) {
	for _, text := range c.Args().Slice() {
		id, err := read(text)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func resendFailed(c *cli.Context, s *session.Session) (err error) {
	if err := terminal.NoArguments(c); err != nil {
		return err
	}
	f := delivery.Filter{WebhookID: c.Int64("webhook-id"), TransactionID: c.Int64("transaction-id")}
	if f.Type, f.From, f.To, f.Query, err = filterFlags(c, s.Services.Ledger.Zone()); err != nil {
		return err
	}
	progress := terminal.NewProgress(c, "queueing")
	r, err := s.Services.Deliveries.ResendFailed(c.Context, s.Account, f, app.IdempotencyKey{}, s.Now)
	progress.Stop()
	return printResent(c, r, err)
}

// printResent prints the queued deliveries and the refused records. If a record was
// refused, the exit code is that of a conflict.
func printResent(c *cli.Context, r delivery.ResendResult, err error) error {
	if err != nil {
		return err
	}
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
	err = terminal.Report(c, shown, lost, func(w io.Writer) {
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

// pendingJSON is a pending delivery. The history has the same names for the same fields.
type pendingJSON struct {
	DeliveryID    string        `json:"delivery_id"`
	MessageID     string        `json:"message_id"` // webhook-id
	WebhookID     int64         `json:"webhook_id"`
	Paused        bool          `json:"paused"` // the webhook is switched off
	Attempts      int           `json:"attempts"`
	DueAt         *string       `json:"due_at"` // null: not before the webhook is switched on, or its secret rotated
	CreatedAt     string        `json:"created_at"`
	TransactionID string        `json:"transaction_id"`
	Bank          string        `json:"bank"`
	Account       string        `json:"account"`
	Type          app.Direction `json:"type"`
	Amount        int64         `json:"amount"`
	Description   string        `json:"description"`
	SecretLost    bool          `json:"secret_lost,omitempty"` // of the webhook: nothing is sent until it is rotated
}

func listPending(c *cli.Context, s *session.Session) error {
	f := delivery.Filter{WebhookID: c.Int64("webhook-id"), TransactionID: c.Int64("transaction-id")}
	page, err := readPage(c)
	if err != nil {
		return err
	}
	if f.Type, f.From, f.To, f.Query, err = filterFlags(c, s.Services.Ledger.Zone()); err != nil {
		return err
	}
	found, total, err := s.Services.Deliveries.Pending(c.Context, s.Account, f, page)
	table := terminal.Table{
		None:    "No deliveries are waiting.",
		Columns: ">DELIVERY|NEXT|>WEBHOOK|MADE|TYPE|>AMOUNT|CONTENT",
		After:   func(io.Writer) { terminal.More(c, len(found), total) },
	}
	return terminal.List(c, err, found, table, func(d delivery.Pending) (pendingJSON, []string) {
		p := d.Payload
		e := pendingJSON{
			DeliveryID: strconv.FormatInt(d.ID, 10), MessageID: d.MessageID(), WebhookID: d.WebhookID, Paused: d.Paused, Attempts: d.Attempts,
			CreatedAt:     app.FormatTime(d.CreatedAt, s.Services.Ledger.Zone()),
			TransactionID: p.ID, Bank: p.Gateway, Account: p.AccountNumber, Type: p.TransferType, Amount: p.TransferAmount, Description: p.Content,
			SecretLost: d.SecretLost,
		}
		var next string
		switch {
		case e.Paused:
			next = "once the webhook is on"
		case e.SecretLost:
			next = "once the secret is rotated"
		default:
			next = app.FormatTime(d.DueAt, s.Services.Ledger.Zone())
			e.DueAt = new(next)
		}
		return e, []string{
			e.DeliveryID, next, strconv.FormatInt(e.WebhookID, 10), fmt.Sprintf("%d/%d", e.Attempts, len(delivery.RetrySchedule)),
			string(e.Type), terminal.VND(e.Amount), terminal.Clip(e.Description, 40),
		}
	})
}

// sendNow makes the named deliveries due, or all waiting ones to --webhook-id. If one is
// refused, the rest are made due all the same.
func sendNow(c *cli.Context, s *session.Session) error {
	if c.IsSet("webhook-id") {
		if err := terminal.NoArguments(c); err != nil {
			return err
		}
		n, err := s.Services.Deliveries.SendWaiting(c.Context, s.Account, c.Int64("webhook-id"), app.IdempotencyKey{}, s.Now)
		return sentNow(c, n, err)
	}
	if !c.Args().Present() {
		return terminal.Usagef("%s takes the ids of deliveries, or --webhook-id", c.Command.FullName())
	}
	ids, err := readIDs(c, deliveryID)
	if err != nil {
		return err
	}
	refused := 0
	for _, id := range ids {
		err := s.Services.Deliveries.SendNow(c.Context, s.Account, id, app.IdempotencyKey{}, s.Now)
		if err != nil && len(ids) == 1 {
			return err
		}
		if err != nil {
			refused++
			fmt.Fprintf(c.App.ErrWriter, "Delivery %d is not sent: %v\n", id, err)
		}
	}
	err = sentNow(c, len(ids)-refused, nil)
	if err == nil && refused > 0 {
		err = terminal.Exit(terminal.ExitConflict, fmt.Errorf("%d of the deliveries are not sent", refused))
	}
	return err
}

func sentNow(c *cli.Context, n int, err error) error {
	return terminal.Changed(c, err, map[string]int{"deliveries": n},
		"Deliveries that are due now: %d; a running server sends them within a second.", n)
}
