package command

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/upkeep"
	"baoco/web/api"

	"github.com/urfave/cli/v2"
)

func alertCommand() *cli.Command {
	return &cli.Command{
		Name: "alert", Usage: "alerts by chat or email when something needs attention, and a message for every payment",
		Subcommands: []*cli.Command{
			{
				Name: "telegram", Usage: "send alerts to a Telegram chat; without --token-file the saved token is kept",
				Description: terminal.Example(
					"baoco alert telegram --token-file bot.token --chat 123456789",
					"baoco alert telegram --token-file - --chat -1001234567890 --api-url https://bot-api.example.vn",
				),
				Flags: terminal.AdminFlags(
					&cli.StringFlag{Name: "token-file", Usage: "`FILE` that holds the bot token from @BotFather, - for standard input"},
					&cli.StringFlag{Name: "chat",
						Usage: "`ID` of the chat: of a person who pressed Start in the bot, or of a group with the bot in it", Required: true},
					&cli.StringFlag{Name: "api-url", Usage: "`URL` of a Bot API server of your own"},
				),
				Action: session.WithoutArguments(setAlertTelegram),
			},
			{
				Name: "email", Usage: "send alerts by email; without --password-file the saved password is kept",
				Description: terminal.Example(
					"baoco alert email --host smtp.gmail.com --user shop@gmail.com --password-file app.password --from shop@gmail.com --to lan@shop.vn",
					"baoco alert email --host mail.shop.vn --port 465 --security tls --user lan --password-file - --from lan@shop.vn --to "+
						"lan@shop.vn --to minh@shop.vn",
				),
				Flags: terminal.AdminFlags(
					&cli.StringFlag{Name: "host", Usage: "`NAME` of the mail server", Required: true},
					&cli.IntFlag{Name: "port", Usage: "its `PORT`", Value: 587},
					terminal.Suggest(cli.StringFlag{Name: "security", Usage: "`METHOD` of encryption: starttls (port 587) or tls (port 465)",
						Value: string(alert.MailStartTLS)}, alert.MailStartTLS, alert.MailTLS),
					&cli.StringFlag{Name: "user", Usage: "`NAME` to sign in with"},
					&cli.StringFlag{Name: "password-file", Usage: "`FILE` that holds the password, - for standard input"},
					&cli.StringFlag{Name: "from", Usage: "`ADDRESS` of the sender", Required: true},
					&cli.StringSliceFlag{Name: "to", Usage: "`ADDRESS` of a recipient (repeatable)"},
				),
				Action: session.WithoutArguments(setAlertEmail),
			},
			chatCommand(), paymentsCommand(),
			{
				Name: "set", Usage: "choose the language of alerts, what they are about, and when the report of the day is sent",
				Description: terminal.Example("baoco alert set --lang en", "baoco alert set --mute inbound --mute plan",
					"baoco alert set --unmute plan", "baoco alert set --report 21:30"),
				Flags: terminal.AdminFlags(
					terminal.Suggest(cli.StringFlag{Name: "lang", Usage: "`LANGUAGE` of the alerts: %s"}, app.Vietnamese, app.English),
					terminal.Choices(cli.StringSliceFlag{Name: "mute", Usage: "`KIND` to stop alerting about: %s (repeatable)"}, alert.Kinds),
					&cli.StringFlag{Name: "report", Usage: "`TIME` at which every channel gets the report of the day, such as 21:30, or off"},
					terminal.Choice(cli.StringFlag{Name: "month-report",
						Usage: "the report of the month before, on the first at 08:00, by every channel: %s"}, "on", "off"),
					terminal.Choices(cli.StringSliceFlag{Name: "unmute", Usage: "`KIND` to alert about again (repeatable)"}, alert.Kinds),
				),
				Action: session.WithoutArguments(setAlertPreferences),
			},
			session.Plain("alert list", "show where alerts go, what they are about and the last messages", listAlerts),
			{
				Name: "test", Usage: "send a test now", ArgsUsage: "[MEDIUM]",
				Description: terminal.Example("baoco alert test", "baoco alert test email"),
				Flags:       terminal.AdminFlags(), Action: session.Admin(testAlerts),
			},
			{
				Name: "remove", Usage: "remove an alert channel", ArgsUsage: "MEDIUM", Description: terminal.Example("baoco alert remove email"),
				Flags: terminal.AdminFlags(), Action: session.WithArgument("the medium of a channel", removeAlert),
			},
		},
	}
}

func setAlertTelegram(c *cli.Context, s *session.Session) error {
	token, err := terminal.ReadSecretFile(c, c.String("token-file"))
	if err != nil {
		return err
	}
	return setAlertChannel(c, s, alert.Channel{Medium: alert.Telegram, Telegram: alert.TelegramSettings{
		Token: token, Chat: c.String("chat"), APIURL: c.String("api-url"),
	}})
}

func setAlertEmail(c *cli.Context, s *session.Session) error {
	password, err := terminal.ReadSecretFile(c, c.String("password-file"))
	if err != nil {
		return err
	}
	return setAlertChannel(c, s, alert.Channel{Medium: alert.Email, Email: alert.EmailSettings{
		Host: c.String("host"), Port: c.Int("port"), Security: alert.MailSecurity(c.String("security")),
		Username: c.String("user"), Password: password, From: c.String("from"), To: c.StringSlice("to"),
	}})
}

func setAlertChannel(c *cli.Context, s *session.Session, channel alert.Channel) error {
	channel.AccountID = s.Account
	set, err := s.Services.Alerts.SetAlertChannel(c.Context, channel, s.Now)
	return terminal.Done(c, err, encodeAlertChannel(s, set), "Alerts go to %s by %s. Try it: baoco alert test %s",
		terminal.OneLine(set.Destination()), set.Medium.Name().EN, set.Medium)
}

func setAlertPreferences(c *cli.Context, s *session.Session) error {
	p, err := s.Services.Alerts.AlertPreferences(c.Context, s.Account)
	if err != nil {
		return err
	}
	if c.IsSet("lang") {
		p.Lang = app.Lang(c.String("lang"))
	}
	for _, kind := range c.StringSlice("mute") {
		p.Muted = append(p.Muted, alert.AttentionKind(kind))
	}
	for _, kind := range c.StringSlice("unmute") {
		p.Muted = slices.DeleteFunc(p.Muted, func(k alert.AttentionKind) bool { return string(k) == kind })
	}
	err = s.Services.Alerts.SetAlertPreferences(c.Context, s.Account, p)
	if err == nil && (c.IsSet("report") || c.IsSet("month-report")) {
		err = setReports(c, s)
	}
	return terminal.Done(c, err, encodeAlertPreferences(p), "Alerts are in %s, about: %s.",
		map[app.Lang]string{app.Vietnamese: "Vietnamese", app.English: "English"}[p.Lang], alertedKinds(p))
}

// setReports sets when every channel gets the report of the day, and whether it gets the report of the month.
func setReports(c *cli.Context, s *session.Session) error {
	at := alert.ReportTime(c.String("report"))
	if at == "off" {
		at = ""
	}
	channels, err := s.Services.Alerts.AlertChannels(c.Context, s.Account)
	if err == nil && len(channels) == 0 {
		err = alert.ErrNoChannel
	}
	for _, channel := range channels {
		if err == nil && c.IsSet("report") {
			err = s.Services.Alerts.SetReport(c.Context, s.Account, channel.Medium, at, s.Now)
		}
		if err == nil && c.IsSet("month-report") {
			err = s.Services.Alerts.SetMonthReport(c.Context, s.Account, channel.Medium, c.String("month-report") == "on", s.Now)
		}
	}
	return err
}

type alertPreferencesJSON struct {
	Lang  app.Lang              `json:"lang"`
	Muted []alert.AttentionKind `json:"muted"`
}

func encodeAlertPreferences(p alert.Preferences) alertPreferencesJSON {
	slices.Sort(p.Muted)
	return alertPreferencesJSON{p.Lang, append([]alert.AttentionKind{}, slices.Compact(p.Muted)...)}
}

func alertedKinds(p alert.Preferences) string {
	var names []string
	for _, kind := range alert.Kinds {
		if !slices.Contains(p.Muted, kind) {
			names = append(names, string(kind))
		}
	}
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// alertChannelJSON is a channel without its secret.
type alertChannelJSON struct {
	Medium   alert.Medium       `json:"medium"`
	To       []string           `json:"to"`
	APIURL   string             `json:"api_url,omitempty"`
	Host     string             `json:"host,omitempty"`
	Port     int                `json:"port,omitempty"`
	Security alert.MailSecurity `json:"security,omitempty"`
	User     string             `json:"user,omitempty"`
	From     string             `json:"from,omitempty"`
	SetAt    string             `json:"set_at"`
	SentAt   *string            `json:"sent_at"`
	Failures int                `json:"failures"`
	Problem  string             `json:"problem"`
	RetryAt  *string            `json:"retry_at"`
	Report   alert.ReportTime   `json:"report_time,omitempty"`
	Monthly  bool               `json:"month_report,omitempty"`
	Payments *paymentFeedJSON   `json:"payments,omitempty"`
}

func encodeAlertChannel(s *session.Session, c alert.Channel) alertChannelJSON {
	zone, e := s.Services.Ledger.Zone(), c.Email
	v := alertChannelJSON{
		c.Medium, []string{c.Telegram.Chat}, c.Telegram.APIURL, e.Host, e.Port, e.Security, e.Username, e.From,
		app.FormatTime(c.SetAt, zone), api.TimeOrNull(c.SentAt, zone), c.Failures, c.Problem.EN,
		api.TimeOrNull(c.RetryAt, zone), c.ReportTime, c.ReportedMonth != 0, nil,
	}
	switch {
	case c.Medium == alert.Email:
		v.To = e.To
	case c.Medium != alert.Telegram:
		v.To = []string{c.Destination()}
	}
	if f := c.Feed; f.On {
		v.Payments = &paymentFeedJSON{f.BankAccountID, f.Type, f.Least, f.Content, api.TimeOrNull(f.SentAt, zone), f.Failures, f.Problem.EN}
	}
	return v
}

// alertMessageJSON is an alert that was sent, or that failed.
type alertMessageJSON struct {
	At      string       `json:"at"`
	Medium  alert.Medium `json:"medium"`
	Test    bool         `json:"test"`
	Subject string       `json:"subject"`
	Text    string       `json:"text"`
	Sent    bool         `json:"sent"`
	Tries   int          `json:"tries"`
	Problem string       `json:"problem"`
}

func encodeAlertMessage(m alert.Message, zone *time.Location) alertMessageJSON {
	return alertMessageJSON{app.FormatTime(m.At, zone), m.Medium, m.Test, m.Subject, m.Text, m.Sent, m.Tries, m.Problem.EN}
}

const shownAlertMessages = 10

func listAlerts(c *cli.Context, s *session.Session) error {
	channels, err := s.Services.Alerts.AlertChannels(c.Context, s.Account)
	if err != nil {
		return err
	}
	p, err := s.Services.Alerts.AlertPreferences(c.Context, s.Account)
	if err != nil {
		return err
	}
	messages, err := s.Services.Alerts.AlertMessages(c.Context, s.Account, shownAlertMessages)
	if err != nil {
		return err
	}
	type listed struct {
		alertChannelJSON
		Messages []alertMessageJSON `json:"messages"` // the last ones to it
	}
	list := []listed{}
	var channelRows, messageRows [][]string
	for _, channel := range channels {
		e := listed{encodeAlertChannel(s, channel), []alertMessageJSON{}}
		for _, m := range messages {
			if m.Medium == channel.Medium {
				e.Messages = append(e.Messages, encodeAlertMessage(m, s.Services.Ledger.Zone()))
			}
		}
		list = append(list, e)
		channelRows = append(channelRows,
			[]string{string(e.Medium), strings.Join(e.To, ", "), orNever(e.SentAt), strconv.Itoa(e.Failures), e.Problem})
	}
	for _, m := range messages {
		e := encodeAlertMessage(m, s.Services.Ledger.Zone())
		messageRows = append(messageRows,
			[]string{e.At, string(e.Medium), terminal.YesNo(e.Sent), strconv.Itoa(e.Tries), terminal.Clip(e.Subject, 60), e.Problem})
	}
	return terminal.Output(c, list, func(w io.Writer) {
		terminal.PrintTable(w, "There is no alert channel yet: baoco alert telegram --token-file FILE --chat ID",
			"CHANNEL|TO|LAST SENT|>FAILURES|PROBLEM", channelRows)
		fmt.Fprintf(w, "\nAlerts are about: %s. Language: %s.\n\n", alertedKinds(p), p.Lang)
		terminal.PrintTable(w, "No messages yet.", "TIME|CHANNEL|SENT|>TRIES|MESSAGE|PROBLEM", messageRows)
	})
}

func testAlerts(c *cli.Context, s *session.Session) error {
	media := []alert.Medium{alert.Medium(c.Args().First())}
	if c.NArg() > 1 {
		return terminal.Usagef("alert test takes at most one argument, the medium of a channel")
	}
	if c.NArg() == 0 {
		channels, err := s.Services.Alerts.AlertChannels(c.Context, s.Account)
		if err != nil {
			return err
		}
		media = api.All(channels, func(c alert.Channel) alert.Medium { return c.Medium })
		if len(media) == 0 {
			return alert.ErrNoChannel
		}
	}
	base, err := s.Store.BaseURL(c.Context)
	if err != nil {
		return err
	}
	type tested struct {
		Medium  alert.Medium `json:"medium"`
		Sent    bool         `json:"sent"`
		Problem string       `json:"problem"`
	}
	var list []tested
	failed := 0
	for _, medium := range media {
		err := s.Services.Alerts.TestAlert(c.Context, s.Account, medium, upkeep.Installation{BaseURL: base}, s.Now)
		var fault *alert.Error
		switch {
		case errors.As(err, &fault):
			failed++
			list = append(list, tested{medium, fault.Partly, fault.Text.EN})
		case err != nil:
			return err
		default:
			list = append(list, tested{medium, true, ""})
		}
	}
	err = terminal.Output(c, list, func(w io.Writer) {
		for _, t := range list {
			if t.Problem == "" {
				t.Problem = "the test was taken; look whether it arrived."
			}
			fmt.Fprintf(w, "%s: %s\n", t.Medium, terminal.OneLine(t.Problem))
		}
	})
	if err == nil && failed > 0 {
		err = terminal.Exit(terminal.ExitCheck, fmt.Errorf("%d of %d tests failed", failed, len(list)))
	}
	return err
}

func removeAlert(c *cli.Context, s *session.Session, argument string) error {
	medium := alert.Medium(argument)
	err := s.Services.Alerts.RemoveAlertChannel(c.Context, s.Account, medium)
	return terminal.Done(c, err, map[string]any{"medium": medium, "state": "removed"}, "Alerts by %s are not sent any more.", medium.Name().EN)
}
