package command

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/delivery"
	"baoco/web/api"

	"github.com/urfave/cli/v2"
)

func deliveryCommand() *cli.Command {
	return &cli.Command{
		Name: "delivery", Usage: "deliveries to webhooks and their history",
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list attempts, newest first",
				Description: terminal.Example("baoco delivery list", "baoco delivery list --status 0 --webhook-id 1"),
				Flags: terminal.AdminFlags(append(append(deliveryFilters("made"), pageFlags()...),
					&cli.StringFlag{Name: "delivery-id", Usage: "only those of delivery `ID`, its number or its webhook-id", DefaultText: "all"},
					&cli.IntFlag{Name: "status", Usage: "only `STATUS` 1 (succeeded) or 0 (failed)", DefaultText: "both"},
				)...),
				Action: session.WithoutArguments(listDeliveries),
			},
			{
				Name: "pending", Usage: "list waiting deliveries, the next attempt first; delivery list --delivery-id has the attempts made of one",
				Description: terminal.Example("baoco delivery pending", "baoco delivery pending --webhook-id 1"),
				Flags:       terminal.AdminFlags(append(deliveryFilters("created"), pageFlags()...)...),
				Action:      session.WithoutArguments(listPending),
			},
			{
				Name: "show", Usage: "show an attempt, by its ID in delivery list, and all other attempts of its delivery", ArgsUsage: "HISTORY_ID",
				Description: terminal.Example("baoco delivery show 12"), Flags: terminal.AdminFlags(), Action: session.Admin(showDelivery),
			},
			{
				Name: "resend", Usage: "resend deliveries, each named by an ID in delivery list, with all six attempts", ArgsUsage: "HISTORY_ID...",
				Description: terminal.Example("baoco delivery resend 12", "baoco delivery resend 12 14 15",
					"baoco delivery resend --failed --from 2026-11-20"),
				Flags: terminal.AdminFlags(append([]cli.Flag{
					&cli.BoolFlag{Name: "failed", Usage: "instead of ids: every failed delivery that has not been resent since, at most 500 at once"},
				}, deliveryFilters("created")...)...),
				Action: session.Admin(resendDeliveries),
			},
			{
				Name:        "send-now",
				Usage:       "send waiting deliveries now, each named by a DELIVERY of delivery pending; the schedule goes on if that fails",
				ArgsUsage:   "DELIVERY_ID...",
				Description: terminal.Example("baoco delivery send-now 5", "baoco delivery send-now --webhook-id 1"),
				Flags: terminal.AdminFlags(
					&cli.Int64Flag{Name: "webhook-id", Usage: "instead of ids: every waiting delivery of webhook `ID`"},
				),
				Action: session.Admin(sendNow),
			},
			{
				Name: "replay", Usage: "resend every failed delivery of a webhook that has not been resent since",
				Description: terminal.Example("baoco delivery replay --webhook-id 1 --from 2026-11-20"),
				Flags: terminal.AdminFlags(
					&cli.Int64Flag{Name: "webhook-id", Usage: "webhook `ID`", Required: true},
					&cli.StringFlag{Name: "from", Usage: "created from `DATE` on, Y-m-d or Y-m-d H:i:s"},
					&cli.StringFlag{Name: "to", Usage: "created through `DATE`"},
				),
				Action: session.WithoutArguments(replayDeliveries),
			},
		},
	}
}

// deliveryFilters are the flags that narrow a list of deliveries or attempts. made is the
// verb for --from and --to.
func deliveryFilters(made string) []cli.Flag {
	return []cli.Flag{
		&cli.Int64Flag{Name: "webhook-id", Usage: "only those of webhook `ID`", DefaultText: "all"},
		&cli.Int64Flag{Name: "transaction-id", Usage: "only those of transaction `ID`", DefaultText: "all"},
		terminal.Choice(cli.StringFlag{Name: "type", Usage: "only `TYPE` %s"}, app.In, app.Out),
		&cli.StringFlag{Name: "from", Usage: made + " from `DATE` on, Y-m-d or Y-m-d H:i:s"},
		&cli.StringFlag{Name: "to", Usage: made + " through `DATE`"},
		&cli.StringFlag{Name: "q", Usage: "`TEXT` in content or transaction number"},
	}
}

// dateFlag reads --from, or --to if upper, which is inclusive.
func dateFlag(c *cli.Context, name string, upper bool, zone *time.Location) (time.Time, error) {
	if !c.IsSet(name) {
		return time.Time{}, nil
	}
	t, err := app.ParseBound(c.String(name), upper, zone)
	if err != nil {
		return t, terminal.Usagef("--%s must be a date as Y-m-d or Y-m-d H:i:s, not %q", name, c.String(name))
	}
	return t, nil
}

func rangeFlags(c *cli.Context, zone *time.Location) (from, to time.Time, err error) {
	if from, err = dateFlag(c, "from", false, zone); err == nil {
		to, err = dateFlag(c, "to", true, zone)
	}
	return from, to, err
}

func pageFlags() []cli.Flag {
	return []cli.Flag{
		&cli.Int64Flag{Name: "page", Usage: "page `N`", Value: 1},
		&cli.IntFlag{Name: "limit", Usage: "`N` a page, at most 100", Value: app.DefaultPageSize},
	}
}

func readPage(c *cli.Context) (app.Page, error) {
	p := app.Page{Number: c.Int64("page"), Size: c.Int("limit")}
	if p.Number < 1 || p.Number > 1<<40 || p.Size < 1 || p.Size > app.MaxPageSize {
		return p, terminal.Usagef("--page must be from 1, --limit from 1 to %d", app.MaxPageSize)
	}
	return p, nil
}

// filterFlags reads the flags that both lists of transactions and lists of deliveries have.
func filterFlags(c *cli.Context, zone *time.Location) (d app.Direction, from, to time.Time, query string, err error) {
	d = app.Direction(c.String("type"))
	var bad app.Invalid
	if query = app.ReadQuery(c.String("q"), &bad); bad.Err() != nil {
		return d, from, to, query, terminal.Usagef("--q must be at most %d characters", app.MaxContent)
	}
	from, to, err = rangeFlags(c, zone)
	return d, from, to, query, err
}

func listDeliveries(c *cli.Context, s *session.Session) (err error) {
	f := delivery.HistoryFilter{
		WebhookID: c.Int64("webhook-id"), TransactionID: c.Int64("transaction-id"),
	}
	if c.IsSet("delivery-id") {
		if f.DeliveryID, err = deliveryID(c.String("delivery-id")); err != nil {
			return err
		}
	}
	if f.Page, err = readPage(c); err != nil {
		return err
	}
	if f.Type, f.From, f.To, f.Query, err = filterFlags(c, s.Services.Ledger.Zone()); err != nil {
		return err
	}
	if c.IsSet("status") {
		if c.Int("status") != 0 && c.Int("status") != 1 {
			return terminal.Usagef("--status must be 1 (success) or 0 (error)")
		}
		f.OK = new(c.Int("status") == 1)
	}
	attempts, total, err := s.Services.Deliveries.History(c.Context, s.Account, f)
	if err != nil {
		return err
	}
	return printAttempts(c, s, attempts, total)
}

// printAttempts prints a list of attempts, and below it why some failed and what to
// do. There is nothing to do if a later attempt or a resend was accepted.
func printAttempts(c *cli.Context, s *session.Session, attempts []delivery.Attempt, total int64) error {
	ids := api.All(attempts, func(a delivery.Attempt) int64 { return a.Delivery.TransactionID })
	deliveries, err := s.Services.Deliveries.DeliveriesOf(c.Context, s.Account, ids)
	why := explanations{}
	table := terminal.Table{
		None:    "No attempts yet.",
		Columns: ">ID|TIME|>WEBHOOK|>DELIVERY|ATTEMPT|ANSWER|>MS|TYPE|>AMOUNT|CONTENT|NEXT",
		After: func(w io.Writer) {
			why.print(w)
			terminal.More(c, len(attempts), total)
		},
	}
	return terminal.List(c, err, attempts, table, func(a delivery.Attempt) (api.HistoryJSON, []string) {
		e := api.EncodeAttempt(a, s.Services.Ledger.Zone(), app.English)
		delivered := slices.ContainsFunc(deliveries[a.Delivery.TransactionID], func(d delivery.Latest) bool {
			return d.WebhookID == a.Delivery.WebhookID && d.State == app.DeliveryDelivered
		})
		switch {
		case e.Explanation != nil && delivered:
			why.add(e.ID, "Failed, but delivered since: there is nothing to do.")
		case e.Explanation != nil:
			why.add(e.ID, *e.Explanation)
		}
		return e, []string{
			strconv.FormatInt(e.ID, 10), e.CallTime, strconv.FormatInt(e.WebhookID, 10), e.DeliveryID,
			fmt.Sprintf("%d/%d", e.Attempt, len(delivery.RetrySchedule)),
			terminal.Clip(outcome(a), 40), strconv.FormatInt(e.DurationMS, 10), string(e.Type), terminal.VND(e.Amount),
			terminal.Clip(e.Description, 30), textOf(e.NextAttemptAt, "-"),
		}
	})
}

// explanations are sentences, each with the ids of the records that it explains.
type explanations []struct {
	text string
	ids  []string
}

func (e *explanations) add(id int64, text string) {
	for i := range *e {
		if (*e)[i].text == text {
			(*e)[i].ids = append((*e)[i].ids, strconv.FormatInt(id, 10))
			return
		}
	}
	*e = append(*e, struct {
		text string
		ids  []string
	}{text, []string{strconv.FormatInt(id, 10)}})
}

func (e explanations) print(w io.Writer) {
	for _, x := range e {
		ids := strings.Join(x.ids, ", ")
		if len(x.ids) > 6 {
			ids = strings.Join(x.ids[:5], ", ") + ", …"
		}
		fmt.Fprintf(w, "\n%s: %s\n", ids, terminal.OneLine(x.text))
	}
}

// deliveryID reads the number of a delivery, or the webhook-id of its requests.
func deliveryID(text string) (int64, error) {
	if id, ok := delivery.ParseID(text); ok {
		return id, nil
	}
	return terminal.ParseID(text, "delivery")
}

func historyRecord(c *cli.Context, s *session.Session) (delivery.Attempt, error) {
	id, err := terminal.IDArgument(c, "history record")
	if err != nil {
		return delivery.Attempt{}, err
	}
	return s.Services.Deliveries.HistoryRecord(c.Context, s.Account, id)
}

func showDelivery(c *cli.Context, s *session.Session) error {
	a, err := historyRecord(c, s)
	if err != nil {
		return err
	}
	attempts, total, err := s.Services.Deliveries.History(c.Context, s.Account, delivery.HistoryFilter{
		DeliveryID: a.Delivery.ID, Page: app.Page{Number: 1, Size: app.MaxPageSize},
	})
	if err != nil {
		return err
	}
	d, p, zone := a.Delivery, a.Payload, s.Services.Ledger.Zone()
	if c.String("output") == "json" {
		return terminal.Output(c, struct {
			DeliveryID string            `json:"delivery_id"`
			MessageID  string            `json:"message_id"`
			State      app.DeliveryState `json:"state"`
			Attempts   int               `json:"attempts"`
			DueAt      *string           `json:"due_at"`
			CreatedAt  string            `json:"created_at"`
			History    []api.HistoryJSON `json:"history"`
		}{strconv.FormatInt(d.ID, 10), d.MessageID(), d.State, d.Attempts, api.TimeOrNull(d.DueAt, zone), app.FormatTime(d.CreatedAt, zone),
			api.All(attempts, func(a delivery.Attempt) api.HistoryJSON { return api.EncodeAttempt(a, zone, app.English) })}, nil)
	}
	w := c.App.Writer
	fmt.Fprintf(w, "Delivery %d to webhook %d: %s, attempts made: %d\n", d.ID, d.WebhookID, d.State, d.Attempts)
	fmt.Fprintf(w, "Transaction %s: %s %s VND, %s %s, %s\n%s\n\n", p.ID, p.TransferType, terminal.VND(p.TransferAmount), p.Gateway,
		p.AccountNumber, p.TransactionDate, terminal.OneLine(p.Content))
	return printAttempts(c, s, attempts, total)
}

func replayDeliveries(c *cli.Context, s *session.Session) (err error) {
	in := delivery.ReplayCreate{WebhookID: c.Int64("webhook-id")}
	if in.From, in.To, err = rangeFlags(c, s.Services.Ledger.Zone()); err != nil {
		return err
	}
	progress := terminal.NewProgress(c, "queueing")
	n, err := s.Services.Deliveries.Replay(c.Context, s.Account, in, s.Now)
	progress.Stop()
	return terminal.Changed(c, err, map[string]int{"deliveries": n}, "%d deliveries are queued; a running server sends them from now on.", n)
}
