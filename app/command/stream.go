package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"baoco/app"
	"baoco/app/command/serve"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/delivery"
	"baoco/app/services"
	"baoco/app/stream"
	"baoco/web/api"

	"github.com/urfave/cli/v2"
)

func streamCommand() *cli.Command {
	credentials := func() []cli.Flag {
		return []cli.Flag{
			&cli.StringFlag{Name: "username", Usage: "user `NAME` at the broker"},
			&cli.StringFlag{Name: "password-file",
				Usage: "`FILE` that holds the password, a token of NATS or the text of its credentials file; - for standard input"},
		}
	}
	return &cli.Command{
		Name: "stream", Usage: "streams: every transaction to NATS JetStream or Kafka",
		Subcommands: []*cli.Command{
			{
				Name: "create", Usage: "create a stream and show its secret once",
				Description: terminal.Example("baoco stream create --name ledger --url nats+tls://nats.shop.vn --topic shop.transactions --username "+
					"baoco --password-file nats.password",
					"baoco stream create --name ledger --url kafka://10.0.0.5:9092,10.0.0.6:9092 --topic transactions --since-id 0"),
				Flags: terminal.AdminFlags(append(credentials(),
					&cli.StringFlag{Name: "name", Usage: "a `NAME` to recognise it by", Required: true},
					&cli.StringFlag{Name: "url",
						Usage: "`URL` of the brokers: nats://, nats+tls://, kafka:// or kafka+tls:// and their hosts", Required: true},
					&cli.StringFlag{Name: "topic", Usage: "subject of NATS, or `TOPIC` of Kafka", Required: true},
					terminal.Suggest(cli.StringFlag{Name: "type", Usage: "`TYPE`: %s", Value: string(delivery.WebhookAll)},
						delivery.WebhookTypes...),
					&cli.Int64Flag{Name: "bank-account-id", Usage: "only transactions of bank account `ID`", DefaultText: "all"},
					&cli.StringFlag{Name: "code-prefix", Usage: "only transactions whose payment code begins with `LETTERS`", DefaultText: "all"},
					&cli.Int64Flag{Name: "since-id", Usage: "begin after the transaction with this `ID`; 0: with the first",
						DefaultText: "what is recorded from now on"},
				)...),
				Action: session.WithoutArguments(createStream),
			},
			session.Plain("stream list", "list the streams and how far they are", listStreams),
			{
				Name: "update", Usage: "change a stream, or send again from an earlier transaction on", ArgsUsage: "ID",
				Description: terminal.Example("baoco stream update 1 --since-id 10293"),
				Flags: terminal.AdminFlags(append(credentials(),
					&cli.StringFlag{Name: "name", Usage: "new `NAME`"},
					&cli.StringFlag{Name: "url", Usage: "new `URL`"},
					&cli.StringFlag{Name: "topic", Usage: "new `TOPIC`"},
					terminal.Suggest(cli.StringFlag{Name: "type", Usage: "new `TYPE`: %s"}, delivery.WebhookTypes...),
					&cli.Int64Flag{Name: "since-id", Usage: "go on after the transaction with this `ID`", DefaultText: "where it is"},
				)...),
				Action: session.WithID("stream", updateStream),
			},
			session.Of("stream toggle", "turn a stream off, where it keeps its place, or on", "stream", toggleStream),
			session.Of("stream delete", "delete a stream; what is in the broker stays", "stream",
				session.End(func(s *services.All) session.Ending { return s.Streams.DeleteStream }, "deleted", "Stream %d is deleted.")),
			session.Of("stream test", "publish a signed test message; exits 6 unless the broker keeps it", "stream", testStream),
			session.Of("stream rotate-secret", "make a new secret, which signs messages from now on", "stream", rotateStreamSecret),
		},
	}
}

func createStream(c *cli.Context, s *session.Session) error {
	in := stream.Create{
		Name: c.String("name"), URL: c.String("url"), Topic: c.String("topic"), Type: delivery.WebhookType(c.String("type")),
		BankAccountID: c.Int64("bank-account-id"), CodePrefix: strings.ToUpper(c.String("code-prefix")),
		SinceID: session.Given(c, "since-id", c.Int64),
	}
	credentials, err := brokerCredentials(c)
	if err != nil {
		return err
	}
	if credentials != nil {
		in.Credentials = *credentials
	}
	st, secret, err := s.Services.Streams.CreateStream(c.Context, s.Account, in, s.Now)
	if err != nil {
		return err
	}
	created := struct {
		Stream api.StreamJSON `json:"stream"`
		Secret string         `json:"secret"`
	}{encodeStream(s, st), secret}
	lost := fmt.Sprintf("Stream %d was created, but nobody has seen its secret. Make a new one: baoco stream rotate-secret %d%s", st.ID, st.ID,
		session.OnAccount(s.Account))
	return terminal.Report(c, created, lost, func(w io.Writer) {
		fmt.Fprintf(w, "Stream: %d (%s)\nSecret: %s\n", st.ID, st.Type, secret)
		fmt.Fprintln(c.App.ErrWriter, "Save the secret now: it is not shown again. Try the broker: baoco stream test "+strconv.FormatInt(st.ID,
			10)+session.OnAccount(s.Account))
		warnOfPlainBroker(c, st, in.Credentials)
	})
}

func warnOfPlainBroker(c *cli.Context, st stream.Stream, given stream.BrokerCredentials) {
	if warning := st.PlainWarning(given.Password != "").EN; warning != "" {
		fmt.Fprintln(c.App.ErrWriter, strings.TrimSpace(warning))
	}
}

func encodeStream(s *session.Session, st stream.Stream) api.StreamJSON {
	return api.EncodeStream(st, s.Services.Ledger.Zone(), app.English)
}

// brokerCredentials reads --username and --password-file; nil if neither is given.
func brokerCredentials(c *cli.Context) (*stream.BrokerCredentials, error) {
	if !c.IsSet("username") && !c.IsSet("password-file") {
		return nil, nil
	}
	credentials := stream.BrokerCredentials{Username: c.String("username")}
	var err error
	if file := c.String("password-file"); file != "" {
		credentials.Password, err = terminal.ReadSecretFile(c, file)
	}
	return &credentials, err
}

func listStreams(c *cli.Context, s *session.Session) error {
	streams, err := s.Services.Streams.Streams(c.Context, s.Account)
	table := terminal.Table{
		None:    "There is no stream yet: baoco stream create --name NAME --url URL --topic TOPIC",
		Columns: ">ID|NAME|URL|TOPIC|TYPE|BANK ACCOUNT|CODES|ACTIVE|>SENT UP TO|>SENT",
		After: func(w io.Writer) {
			for _, st := range streams {
				switch {
				case st.SecretLost:
					fmt.Fprintf(c.App.ErrWriter, "Stream %d has lost its secret, so nothing is sent: baoco stream rotate-secret %d%s\n", st.ID, st.ID,
						session.OnAccount(s.Account))
				case st.IsActive && !st.FailingSince.IsZero():
					fmt.Fprintf(c.App.ErrWriter, "Stream %d fails since %s: %s\n", st.ID, app.FormatTime(st.FailingSince, s.Services.Ledger.Zone()),
						terminal.OneLine(st.Problem.EN))
				}
			}
		},
	}
	return terminal.List(c, err, streams, table, func(st stream.Stream) (api.StreamJSON, []string) {
		e := encodeStream(s, st)
		return e, []string{
			strconv.FormatInt(st.ID, 10), st.Name, terminal.Clip(st.URL, 50), st.Topic, string(st.Type),
			textOf(e.BankAccountID, "all"), cmp.Or(st.CodePrefix, "all"), terminal.YesNo(st.IsActive),
			strconv.FormatInt(st.Position, 10), strconv.FormatInt(st.Sent, 10),
		}
	})
}

func updateStream(c *cli.Context, s *session.Session, id int64) (err error) {
	u := stream.Update{
		Name: session.Given(c, "name", c.String), URL: session.Given(c, "url", c.String), Topic: session.Given(c, "topic", c.String),
		Type: (*delivery.WebhookType)(session.Given(c, "type", c.String)), SinceID: session.Given(c, "since-id", c.Int64),
	}
	if c.IsSet("password-file") && !c.IsSet("username") {
		return terminal.Usagef(`--username is needed with --password-file; --username "" is that of a token or a credentials file`)
	}
	if u.Credentials, err = brokerCredentials(c); err != nil {
		return err
	}
	if u == (stream.Update{}) {
		return terminal.Usagef("stream update needs at least one of --name, --url, --topic, --type, --since-id, --username and --password-file")
	}
	st, err := s.Services.Streams.UpdateStream(c.Context, s.Account, id, u, s.Now)
	if err != nil {
		return err
	}
	if u.Credentials != nil {
		warnOfPlainBroker(c, st, *u.Credentials)
	}
	return terminal.Changed(c, nil, encodeStream(s, st), "Stream %d: %s, %s, %s, %s; sent up to %d", st.ID, terminal.OneLine(st.Name), st.URL,
		st.Topic, st.Type, st.Position)
}

func toggleStream(c *cli.Context, s *session.Session, id int64) error {
	st, err := s.Services.Streams.ToggleStream(c.Context, s.Account, id, s.Now)
	state := "on."
	if !st.IsActive {
		state = fmt.Sprintf("off; it goes on after transaction %d when it is on again.", st.Position)
	}
	return terminal.Changed(c, err, encodeStream(s, st), "Stream %d is %s", id, state)
}

func testStream(c *cli.Context, s *session.Session, id int64) error {
	problem, err := s.Services.Streams.TestStream(c.Context, s.Account, id, delivery.UserAgent(serve.Version), s.Now)
	if err != nil {
		return err
	}
	outcome := struct {
		Success bool    `json:"success"`
		Problem *string `json:"problem"`
	}{problem == app.Text{}, api.OrNull(problem.EN)}
	said := "The broker has kept the test message."
	if !outcome.Success {
		said = terminal.OneLine(problem.EN)
	}
	err = terminal.Report(c, outcome, said, func(w io.Writer) { fmt.Fprintln(w, said) })
	if err == nil && !outcome.Success {
		err = terminal.Exit(terminal.ExitCheck, errors.New("the broker did not keep the test message"))
	}
	return err
}

func rotateStreamSecret(c *cli.Context, s *session.Session, id int64) error {
	before, err := s.Services.Streams.Stream(c.Context, s.Account, id)
	if err != nil {
		return err
	}
	secret, err := s.Services.Streams.RotateStreamSecret(c.Context, s.Account, id, app.IdempotencyKey{}, s.Now)
	if err != nil {
		return err
	}
	lost := fmt.Sprintf("Stream %d has a new secret, but nobody has seen it. Make another: baoco stream rotate-secret %d%s", id, id,
		session.OnAccount(s.Account))
	return terminal.Report(c, map[string]any{"id": id, "secret": secret}, lost, func(w io.Writer) {
		fmt.Fprintln(w, secret)
		fmt.Fprintln(c.App.ErrWriter, "Save the new secret now: it is not shown again. Messages from now on are signed with it.")
		if before.SecretLost {
			fmt.Fprintln(c.App.ErrWriter, stream.PasswordLost.EN)
		}
	})
}
