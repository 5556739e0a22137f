package command

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/delivery"
	"baoco/app/services"
	"baoco/web/api"

	"github.com/urfave/cli/v2"
)

// webhookFlags are flags of webhook create and webhook update. all and none are the texts for
// their defaults. A change of a filter counts for transactions that are recorded afterwards.
func webhookFlags(all, none string) []cli.Flag {
	return []cli.Flag{
		&cli.Int64SliceFlag{Name: "bank-account-id", Usage: "only transactions of bank account `ID`; repeat it for several", DefaultText: all},
		&cli.StringSliceFlag{Name: "code-prefix",
			Usage: "only transactions whose payment code begins with `LETTERS`; repeat it for several", DefaultText: all},
		&cli.BoolFlag{Name: "code-only", Usage: "only transactions with a payment code"},
		&cli.StringFlag{Name: "receiving-number", Usage: "only transactions that came to this receiving `NUMBER`; empty: all", DefaultText: all},
		&cli.StringFlag{Name: "header-file",
			Usage: "`FILE` with own headers for each call, at most five lines NAME: VALUE; - is standard input", DefaultText: none},
	}
}

func webhookCommand() *cli.Command {
	return &cli.Command{
		Name: "webhook", Usage: "webhooks: URLs of your shop that are called for every transaction",
		Subcommands: []*cli.Command{
			{
				Name: "create", Usage: "create a webhook and show its secret once",
				Description: terminal.Example("baoco webhook create --name shop --url https://shop.vn/baoco --type IN",
					"baoco webhook create --name sheet --kind sheet --url https://script.google.com/macros/s/AKfyc…/exec --type IN",
					"baoco webhook create --name woo --kind sepay --auth apikey --secret-file key.txt --url https://shop.vn/… --type IN"),
				Flags: terminal.AdminFlags(append(webhookFlags("all", "none"),
					&cli.StringFlag{Name: "name", Usage: "a `NAME` to recognise it by", Required: true},
					terminal.Suggest(cli.StringFlag{Name: "kind", Value: string(delivery.WebhookStandard),
						Usage: "`KIND`: standard, sepay for a shop that was made for SePay, or sheet for a Google Sheet"},
						delivery.WebhookStandard, delivery.WebhookSepay, delivery.WebhookSheet),
					terminal.Suggest(cli.StringFlag{Name: "auth", Usage: "of the kind sepay, `WAY` to prove who calls: %s", DefaultText: "none"},
						delivery.SepayAPIKey, delivery.SepayHMAC),
					&cli.StringFlag{Name: "secret-file", Usage: "of the kind sepay, `FILE` with the key that the shop has already; - is standard input",
						DefaultText: "one is made"},
					&cli.StringFlag{Name: "url", Usage: "`URL` that receives the POSTs", Required: true},
					terminal.Suggest(cli.StringFlag{Name: "type", Usage: "`TYPE`: %s", Required: true}, delivery.WebhookTypes...),
				)...),
				Action: session.WithoutArguments(createWebhook),
			},
			session.Plain("webhook list", "list the webhooks", listWebhooks),
			{
				Name: "update", Usage: "change a webhook", ArgsUsage: "ID",
				Description: terminal.Example("baoco webhook update 1 --url https://shop.vn/new"),
				Flags: terminal.AdminFlags(append(webhookFlags("as it is", "as they are"),
					&cli.StringFlag{Name: "name", Usage: "new `NAME`"},
					&cli.StringFlag{Name: "url", Usage: "new `URL`, for waiting deliveries too"},
					terminal.Suggest(cli.StringFlag{Name: "type", Usage: "new `TYPE`: %s"}, delivery.WebhookTypes...),
					&cli.BoolFlag{Name: "all-bank-accounts", Usage: "transactions of all bank accounts"},
					&cli.BoolFlag{Name: "all-codes", Usage: "transactions with any payment code, or none"},
				)...),
				Action: session.WithID("webhook", updateWebhook),
			},
			session.Of("webhook toggle", "turn a webhook off or on; waiting deliveries are kept", "webhook", toggleWebhook),
			session.Of("webhook delete", "delete a webhook; waiting deliveries are cancelled, its history is kept", "webhook",
				session.End(func(s *services.All) session.Ending { return s.Deliveries.DeleteWebhook },
					"deleted", "Webhook %d is deleted; its history is kept.")),
			session.Of("webhook test", "send a signed test and show the response; exits 6 unless it is accepted", "webhook", testWebhook),
			verifyCommand(),
			{
				Name: "rotate-secret", Usage: "rotate the secret of a webhook, with an overlap", ArgsUsage: "ID",
				Description: terminal.Example("baoco webhook rotate-secret 1 --overlap-hours 48"),
				Flags: terminal.AdminFlags(&cli.IntFlag{Name: "overlap-hours",
					Usage: "`HOURS` that the old secret keeps signing, 0 to 168", Value: 24}),
				Action: session.WithID("webhook", rotateSecret),
			},
			session.Of("webhook activate-secret", "end the overlap of a rotation: use the new secret only", "webhook",
				session.End(func(s *services.All) session.Ending { return s.Deliveries.ActivateSecret },
					"activated", "The new secret of webhook %d is now the only one in use.")),
		},
	}
}

func createWebhook(c *cli.Context, s *session.Session) (err error) {
	in := delivery.WebhookCreate{
		Name: c.String("name"), Kind: delivery.WebhookKind(c.String("kind")), URL: c.String("url"), Type: delivery.WebhookType(c.String("type")),
		BankAccountIDs: c.Int64Slice("bank-account-id"), CodePrefixes: codePrefixes(c), CodeOnly: c.Bool("code-only"),
		ReceivingNumber: c.String("receiving-number"), Auth: delivery.SepayAuth(c.String("auth")),
	}
	if in.Secret, err = terminal.ReadSecretFile(c, c.String("secret-file")); err != nil {
		return err
	}
	if in.Headers, err = readHeaders(c); err != nil {
		return err
	}
	hook, secret, err := s.Services.Deliveries.CreateWebhook(c.Context, s.Account, in, s.Now)
	if err != nil {
		return err
	}
	created := struct {
		Webhook api.WebhookJSON `json:"webhook"`
		Secret  string          `json:"secret"`
		Script  string          `json:"script,omitempty"`
	}{Webhook: api.EncodeWebhook(hook, s.Services.Ledger.Zone()), Secret: secret}
	if hook.Kind == delivery.WebhookSheet {
		created.Script = delivery.SheetScript(secret, app.English)
	}
	lost := fmt.Sprintf("Webhook %d was created, but nobody has seen its secret. Make a new one: "+
		"baoco webhook rotate-secret %d --overlap-hours 0%s", hook.ID, hook.ID, session.OnAccount(s.Account))
	return terminal.Report(c, created, lost, func(w io.Writer) {
		fmt.Fprintf(w, "Webhook: %d (%s)\nSecret:  %s\n", hook.ID, hook.Type, secret)
		fmt.Fprintln(c.App.ErrWriter, "Save the secret now: it is not shown again.")
		if created.Script != "" {
			fmt.Fprintf(w, "\n%s", created.Script)
			fmt.Fprintln(c.App.ErrWriter,
				"Put this script in the place of the one that is deployed: Deploy, Manage deployments, Edit, New version. The URL stays.")
		}
		warnOf(c, s, hook)
	})
}

// warnOf prints the warning about a webhook that was made or changed, if it has one.
func warnOf(c *cli.Context, s *session.Session, hook delivery.Webhook) {
	if warning, err := s.Services.Deliveries.Warning(c.Context, hook); err == nil && warning.EN != "" {
		fmt.Fprintln(c.App.ErrWriter, strings.TrimSpace(warning.EN))
	}
}

func codePrefixes(c *cli.Context) (list []string) {
	for _, prefix := range c.StringSlice("code-prefix") {
		list = append(list, strings.ToUpper(prefix))
	}
	return list
}

func readHeaders(c *cli.Context) (list []delivery.Header, err error) {
	text, err := terminal.ReadSecretFile(c, c.String("header-file"))
	for line := range strings.Lines(text) {
		name, value, found := strings.Cut(strings.TrimSpace(line), ":")
		if !found {
			return nil, terminal.Usagef("a line of %s is not NAME: VALUE", c.String("header-file"))
		}
		list = append(list, delivery.Header{Name: name, Value: strings.TrimSpace(value)})
	}
	return list, err
}

func listWebhooks(c *cli.Context, s *session.Session) error {
	hooks, err := s.Services.Deliveries.Webhooks(c.Context, s.Account)
	table := terminal.Table{
		None:    "There is no webhook yet: baoco webhook create --name NAME --url URL --type IN",
		Columns: ">ID|NAME|URL|TYPE|BANK ACCOUNTS|CODES|ACTIVE",
		After: func(w io.Writer) {
			for _, hook := range hooks {
				if hook.SecretLost {
					fmt.Fprintf(c.App.ErrWriter, "Webhook %d has lost its secret, so nothing is sent to it: baoco webhook rotate-secret %d%s\n", hook.ID,
						hook.ID, session.OnAccount(s.Account))
				}
				if hook.Silent {
					fmt.Fprintf(c.App.ErrWriter, "Webhook %d gets nothing: no linked bank account is one that it is limited to.\n", hook.ID)
				}
			}
		},
	}
	return terminal.List(c, err, hooks, table, func(hook delivery.Webhook) (api.WebhookJSON, []string) {
		return api.EncodeWebhook(hook, s.Services.Ledger.Zone()), []string{
			strconv.FormatInt(hook.ID, 10), hook.Name, terminal.Clip(hook.URL, 60), string(hook.Type),
			bankAccountsText(access.BankAccountLimit{On: hook.BankAccountIDs != nil, IDs: hook.BankAccountIDs}), codesText(hook),
			terminal.YesNo(hook.IsActive),
		}
	})
}

func updateWebhook(c *cli.Context, s *session.Session, id int64) error {
	u := delivery.WebhookUpdate{Name: session.Given(c, "name", c.String), URL: session.Given(c, "url", c.String),
		Type: (*delivery.WebhookType)(session.Given(c, "type", c.String))}
	switch {
	case c.IsSet("bank-account-id") && c.Bool("all-bank-accounts"), c.IsSet("code-prefix") && c.Bool("all-codes"):
		return terminal.Usagef("--bank-account-id and --all-bank-accounts, and --code-prefix and --all-codes, exclude each other")
	case c.IsSet("bank-account-id") || c.Bool("all-bank-accounts"):
		u.BankAccountIDs = new(c.Int64Slice("bank-account-id"))
	}
	if c.IsSet("code-prefix") || c.Bool("all-codes") {
		u.CodePrefixes = new(codePrefixes(c))
	}
	u.CodeOnly, u.ReceivingNumber = session.Given(c, "code-only", c.Bool), session.Given(c, "receiving-number", c.String)
	if c.IsSet("header-file") {
		headers, err := readHeaders(c)
		if err != nil {
			return err
		}
		u.Headers = &headers
	}
	if u == (delivery.WebhookUpdate{}) {
		return terminal.Usagef("webhook update needs at least one of its flags, such as --url")
	}
	hook, err := s.Services.Deliveries.UpdateWebhook(c.Context, s.Account, id, u, s.Now)
	if err != nil {
		return err
	}
	warnOf(c, s, hook)
	return terminal.Changed(c, nil, api.EncodeWebhook(hook, s.Services.Ledger.Zone()), "Webhook %d: %s, %s, %s", hook.ID,
		terminal.OneLine(hook.Name), hook.URL, hook.Type)
}

func codesText(hook delivery.Webhook) string {
	switch {
	case hook.CodePrefixes != nil:
		return strings.Join(hook.CodePrefixes, " ")
	case hook.CodeOnly:
		return "any"
	}
	return "all"
}

func toggleWebhook(c *cli.Context, s *session.Session, id int64) error {
	hook, err := s.Services.Deliveries.ToggleWebhook(c.Context, s.Account, id, s.Now)
	state := "on."
	if !hook.IsActive {
		state = "off; its waiting deliveries are kept until it is on again."
	}
	return terminal.Changed(c, err, api.EncodeWebhook(hook, s.Services.Ledger.Zone()), "Webhook %d is %s", id, state)
}

func testWebhook(c *cli.Context, s *session.Session, id int64) error {
	a, err := s.Services.Deliveries.TestWebhook(c.Context, s.Account, id, s.Now)
	if err != nil {
		return err
	}
	err = terminal.Report(c, api.EncodeAttempt(a, s.Services.Ledger.Zone(), app.English), "The test was sent: "+outcome(a), func(w io.Writer) {
		fmt.Fprintf(w, "POST %s\n%s in %d ms\n", a.URL, outcome(a), a.Result.Duration.Milliseconds())
		if len(a.Result.Body) > 0 {
			fmt.Fprintln(w, terminal.OneLine(string(a.Result.Body)))
		}
		if why := a.Result.Explanation().EN; why != "" {
			fmt.Fprintln(w, terminal.OneLine(why))
		}
	})
	if err == nil && !a.Result.OK() {
		err = terminal.Exit(terminal.ExitCheck, fmt.Errorf("the shop did not accept the test: %s", outcome(a)))
	}
	return err
}

// outcome describes the result of an attempt in a few words.
func outcome(a delivery.Attempt) string {
	switch {
	case a.Result.OK(), a.Result.StatusCode != 0 && a.Result.Error != delivery.ErrorTimeout:
		return fmt.Sprintf("HTTP %d", a.Result.StatusCode)
	case a.Result.Detail != delivery.Detail{}:
		return string(a.Result.Error) + ": " + terminal.OneLine(a.Result.Detail.String())
	}
	return string(a.Result.Error)
}

func rotateSecret(c *cli.Context, s *session.Session, id int64) error {
	secret, err := s.Services.Deliveries.RotateSecret(c.Context, s.Account, id, delivery.SecretRotate{
		Overlap: time.Duration(c.Int("overlap-hours")) * time.Hour,
	}, s.Now)
	if err != nil {
		return err
	}
	lost := fmt.Sprintf("Webhook %d has a new secret, but nobody has seen it. Make another: baoco webhook rotate-secret %d%s", id, id,
		session.OnAccount(s.Account))
	return terminal.Report(c, map[string]any{"id": id, "secret": secret}, lost, func(w io.Writer) {
		fmt.Fprintln(w, secret)
		fmt.Fprintf(c.App.ErrWriter,
			"Save the new secret now: it is not shown again. Once your shop uses it: baoco webhook activate-secret %d\n", id)
	})
}
