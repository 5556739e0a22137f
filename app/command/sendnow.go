package command

import (
	"fmt"

	"baoco/app"
	"baoco/app/command/session"
	"baoco/app/command/terminal"

	"github.com/urfave/cli/v2"
)

// sendNow makes the named deliveries due, or those that wait for --webhook-id. One
// that is refused keeps nothing else back.
func sendNow(c *cli.Context, s *session.Session) error {
	if c.IsSet("webhook-id") {
		if err := terminal.NoArguments(c); err != nil {
			return err
		}
		n, err := s.Services.Deliveries.SendWaiting(c.Context, s.Account, c.Int64("webhook-id"), app.IdempotencyKey{}, s.Now)
		if err != nil {
			return err
		}
		return sentNow(c, n)
	}
	if !c.Args().Present() {
		return terminal.Usagef("%s takes the ids of deliveries, or --webhook-id", c.Command.FullName())
	}
	var ids []int64
	for _, text := range c.Args().Slice() {
		id, err := deliveryID(text)
		if err != nil {
			return err
		}
		ids = append(ids, id)
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
	err := sentNow(c, len(ids)-refused)
	if err == nil && refused > 0 {
		err = terminal.Exit(terminal.ExitConflict, fmt.Errorf("%d of the deliveries are not sent", refused))
	}
	return err
}

func sentNow(c *cli.Context, n int) error {
	return terminal.Changed(c, nil, map[string]int{"deliveries": n},
		"Deliveries that are due now: %d; a running server sends them within a second.", n)
}
