package command

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/delivery"
	"baoco/app/verify"
	"baoco/web/api"

	"github.com/urfave/cli/v2"
)

func verifyCommand() *cli.Command {
	return &cli.Command{
		Name: "verify", Usage: "say why a call's signature doesn't match in a receiver; exits 6 unless it matches", ArgsUsage: "[ID]",
		Description: "With the ID of a webhook, or with --delivery-id, the call is compared with what was sent, under the\n" +
			"webhook's own secret. With --secret-file alone no database is needed: it can run where the receiver runs.\n\n" +
			terminal.Example("baoco webhook verify 1 --body-file body.bin --signature 9f3c…",
				"baoco webhook verify --delivery-id 8121 --body-file body.bin --secret-file secret.txt",
				"baoco webhook verify --secret-file secret.txt --body-file - --signature 9f3c… < body.bin"),
		Flags: terminal.AdminFlags(
			&cli.StringFlag{Name: "body-file", Usage: "`FILE` with the raw body as the receiver saw it; - is standard input", Required: true},
			&cli.StringFlag{Name: "signature", Usage: "`VALUE` of X-Webhook-Signature, or of webhook-signature; not needed with --delivery-id"},
			&cli.StringFlag{Name: "secret-file",
				Usage: "`FILE` with the secret that the receiver has, less one final line break; - is standard input"},
			&cli.Int64Flag{Name: "delivery-id", Usage: "compare with what delivery `ID` sent", DefaultText: "none"},
			&cli.StringFlag{Name: "message-id", Usage: "`VALUE` of webhook-id"},
			&cli.StringFlag{Name: "timestamp", Usage: "`VALUE` of webhook-timestamp"},
		),
		Action: func(c *cli.Context) error {
			if c.Args().Present() || c.IsSet("delivery-id") {
				return session.Admin(verifySignature)(c)
			}
			return verifySignature(c, nil)
		},
	}
}

// verifySignature checks the signature of a call. Without a session it has only the flags;
// with a session it has also the secrets and deliveries of the account.
func verifySignature(c *cli.Context, s *session.Session) (err error) {
	claim := verify.Claim{Signature: c.String("signature"), MessageID: c.String("message-id"), Timestamp: c.String("timestamp")}
	claim.DeliveryID = c.Int64("delivery-id")
	if c.Args().Present() {
		if claim.WebhookID, err = terminal.IDArgument(c, "webhook"); err != nil {
			return err
		}
	}
	if c.String("body-file") == "-" && c.String("secret-file") == "-" {
		return terminal.Usagef("only one of --body-file and --secret-file can be standard input")
	}
	if claim.Secret, err = terminal.ReadSecretFile(c, c.String("secret-file")); err != nil {
		return err
	}
	if claim.Body, err = terminal.ReadFile(c, c.String("body-file"), verify.MaxBody+1); err != nil {
		return err
	}
	if s == nil && claim.Secret == "" {
		return terminal.Usagef("webhook verify needs the ID of a webhook, --delivery-id or --secret-file")
	}
	var facts delivery.SignatureFacts
	if s != nil {
		if facts, err = s.Services.Deliveries.SignatureFacts(c.Context, s.Account, claim.Reference(), s.Now); err != nil {
			return err
		}
	}
	check, err := verify.Check(claim, facts, time.Now())
	if err != nil {
		return err
	}
	if err := terminal.Output(c, encodeCheck(check), func(w io.Writer) { printCheck(w, check) }); err != nil || check.Matches {
		return err
	}
	return terminal.Exit(terminal.ExitCheck, errors.New("the signature does not match"))
}

type signatureJSON struct {
	Matches    bool               `json:"matches"`
	Mistakes   []mistakeJSON      `json:"mistakes"`
	Notes      []mistakeJSON      `json:"notes"`
	Difference *verify.Difference `json:"difference"`
}

type mistakeJSON struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

func encodeCheck(check verify.Result) signatureJSON {
	texts := func(mistakes []verify.Mistake) []mistakeJSON {
		return api.All(mistakes, func(m verify.Mistake) mistakeJSON { return mistakeJSON{m.Code, m.Text.EN} })
	}
	return signatureJSON{check.Matches, texts(check.Mistakes), texts(check.Notes), check.Difference}
}

func printCheck(w io.Writer, check verify.Result) {
	if check.Matches {
		fmt.Fprintln(w, "✓ The signature matches.")
	} else {
		fmt.Fprintln(w, "✗ The signature does not match.")
	}
	for _, m := range append(check.Mistakes, check.Notes...) {
		fmt.Fprintln(w, "- "+terminal.OneLine(m.Text.EN))
	}
	if d := check.Difference; d != nil {
		fmt.Fprintln(w, "First difference: byte "+strconv.Itoa(d.Byte))
		fmt.Fprintln(w, "  sent: "+terminal.OneLine(d.Before+"⟦"+d.Sent+"⟧"))
		fmt.Fprintln(w, "  seen: "+terminal.OneLine(d.Before+"⟦"+d.Seen+"⟧"))
	}
}
