package command

import (
	"fmt"
	"strconv"
	"strings"

	"baoco/app"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/paymentcode"
	"baoco/app/services"
	"baoco/web/api"

	"github.com/urfave/cli/v2"
)

func codeCommand() *cli.Command {
	return &cli.Command{
		Name: "code", Usage: "patterns of the payment codes that customers write into a transfer",
		Subcommands: []*cli.Command{
			{
				Name: "create", Usage: "create a pattern; transactions that are recorded from now on are read by it",
				Description: terminal.Example("baoco code create --prefix DH --min-length 6",
					"baoco code create --prefix SHOP --min-length 5 --max-length 8 --alphabet letters_and_digits"),
				Flags: terminal.AdminFlags(
					&cli.StringFlag{Name: "prefix", Usage: "`LETTERS` with which each code begins", Required: true},
					&cli.IntFlag{Name: "min-length", Usage: "so many characters follow the prefix at least, a `NUMBER` from 3 on", Required: true},
					&cli.IntFlag{Name: "max-length", Usage: "so many characters follow at most, a `NUMBER`", DefaultText: "--min-length"},
					terminal.Suggest(cli.StringFlag{Name: "alphabet", Usage: "`KIND` of what follows: %s", Value: string(paymentcode.Digits)},
						paymentcode.Digits, paymentcode.LettersAndDigits),
				),
				Action: session.WithoutArguments(createCodePattern),
			},
			session.Plain("code list", "list the patterns", listCodePatterns),
			session.Of("code delete", "delete a pattern; the codes of recorded transactions are kept", "code pattern",
				session.End(func(s *services.All) session.Ending { return s.Ledger.DeleteCodePattern }, "deleted",
					"Code pattern %d is deleted; the codes of recorded transactions are kept.")),
		},
	}
}

func createCodePattern(c *cli.Context, s *session.Session) error {
	in := paymentcode.Pattern{
		Prefix: strings.ToUpper(c.String("prefix")), Least: c.Int("min-length"), Most: c.Int("min-length"),
		Alphabet: paymentcode.Alphabet(c.String("alphabet")),
	}
	if c.IsSet("max-length") {
		in.Most = c.Int("max-length")
	}
	p, err := s.Services.Ledger.CreateCodePattern(c.Context, s.Account, in, s.Now)
	return terminal.Changed(c, err, api.EncodeCodePattern(p, s.Services.Ledger.Zone()),
		"Code pattern %d: %s and %s", p.ID, p.Prefix, follows(p))
}

func follows(p app.CodePattern) string {
	what := "digits"
	if p.Alphabet == paymentcode.LettersAndDigits {
		what = "letters and digits"
	}
	if p.Least == p.Most {
		return fmt.Sprintf("%d %s", p.Least, what)
	}
	return fmt.Sprintf("%d to %d %s", p.Least, p.Most, what)
}

func listCodePatterns(c *cli.Context, s *session.Session) error {
	patterns, err := s.Services.Ledger.CodePatterns(c.Context, s.Account)
	table := terminal.Table{
		None:    "There is no code pattern yet: baoco code create --prefix DH --min-length 6",
		Columns: ">ID|PREFIX|FOLLOWED BY",
	}
	return terminal.List(c, err, patterns, table, func(p app.CodePattern) (api.CodePatternJSON, []string) {
		return api.EncodeCodePattern(p, s.Services.Ledger.Zone()), []string{strconv.FormatInt(p.ID, 10), p.Prefix, follows(p)}
	})
}
