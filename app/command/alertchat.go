package command

import (
	"slices"
	"strings"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/delivery"
	"baoco/web/api"

	"github.com/urfave/cli/v2"
)

func chatCommand() *cli.Command {
	return &cli.Command{
		Name: "chat", Usage: "send alerts to Zalo, Discord, Slack, Lark or ntfy; what is not given is kept", ArgsUsage: chatNames(),
		Description: terminal.Example(
			"baoco alert chat discord --url-file webhook.url",
			"baoco alert chat zalo --token-file bot.token --chat 6ede9afa66b88fe6d6a9",
			"baoco alert chat ntfy --url-file topic.url --token-file access.token",
		),
		Flags: terminal.AdminFlags(
			&cli.StringFlag{Name: "url-file", Usage: "`FILE` that holds the URL of the incoming webhook, or of the topic; - for standard input"},
			&cli.StringFlag{Name: "token-file",
				Usage: "`FILE` that holds the token of the bot (zalo), the signing secret (lark) or the access token (ntfy)"},
			&cli.StringFlag{Name: "chat", Usage: "`ID` of the chat (zalo)"},
		),
		Action: session.WithArgument(chatNames(), setAlertChat),
	}
}

func chatNames() string {
	return strings.Join(api.All(alert.ChatMedia, func(m alert.Medium) string { return string(m) }), "|")
}

func setAlertChat(c *cli.Context, s *session.Session, argument string) (err error) {
	channel := alert.Channel{Medium: alert.Medium(argument)}
	if !slices.Contains(alert.ChatMedia, channel.Medium) {
		return terminal.Usagef("alert chat takes %s, not %q", chatNames(), channel.Medium)
	}
	if channel.Chat.URL, err = terminal.ReadSecretFile(c, c.String("url-file")); err != nil {
		return err
	}
	if channel.Chat.Token, err = terminal.ReadSecretFile(c, c.String("token-file")); err != nil {
		return err
	}
	channel.Chat.Chat = c.String("chat")
	return setAlertChannel(c, s, channel)
}

func paymentsCommand() *cli.Command {
	return &cli.Command{
		Name: "payments", Usage: "have a channel tell of every payment, from now on", ArgsUsage: "telegram|" + chatNames(),
		Description: terminal.Example("baoco alert payments telegram --type IN", "baoco alert payments zalo --min-amount 200000 --no-content",
			"baoco alert payments telegram --off"),
		Flags: terminal.AdminFlags(
			terminal.Choice(cli.StringFlag{Name: "type", Usage: "`TYPE`: %s", Value: string(delivery.WebhookAll)},
				delivery.WebhookTypes...),
			&cli.StringFlag{Name: "min-amount", Usage: "smallest `AMOUNT`", DefaultText: "any"},
			&cli.Int64Flag{Name: "bank-account-id", Usage: "only payments of bank account `ID`", DefaultText: "all"},
			&cli.BoolFlag{Name: "no-content", Usage: "leave out the content of payments"},
			&cli.BoolFlag{Name: "off", Usage: "tell of no payment any more"},
		),
		Action: session.WithArgument("the medium of a channel", setAlertPayments),
	}
}

func setAlertPayments(c *cli.Context, s *session.Session, argument string) error {
	medium := alert.Medium(argument)
	f := alert.PaymentFeed{On: !c.Bool("off"), BankAccountID: c.Int64("bank-account-id"), Content: !c.Bool("no-content")}
	if t := c.String("type"); t != string(delivery.WebhookAll) {
		f.Type = app.Direction(t)
	}
	if c.IsSet("min-amount") {
		least, err := app.ReadShortAmount(c.String("min-amount"))
		if err != nil {
			return terminal.Usagef("--min-amount %s", app.AmountFault(err).EN)
		}
		f.Least = least
	}
	if err := s.Services.Alerts.SetPaymentFeed(c.Context, s.Account, medium, f); err != nil {
		return err
	}
	channel, err := s.Services.Alerts.AlertChannel(c.Context, s.Account, medium)
	said := "%s tells of every payment that fits, from now on."
	if !f.On {
		said = "%s tells of no payment any more."
	}
	return terminal.Done(c, err, encodeAlertChannel(s, channel), said, medium.Name().EN)
}

type paymentFeedJSON struct {
	BankAccountID int64         `json:"bank_account_id"` // 0: all
	Type          app.Direction `json:"type"`            // empty: both
	Least         int64         `json:"min_amount"`
	Content       bool          `json:"content"`
	SentAt        *string       `json:"sent_at"`
	Failures      int           `json:"failures"`
	Problem       string        `json:"problem"`
}
