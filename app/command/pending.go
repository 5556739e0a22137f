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

// pendingJSON is a pending delivery. Fields that the history has too have the same
// names.
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
