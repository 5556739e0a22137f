package command

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/services"
	"baoco/web/api"

	"github.com/urfave/cli/v2"
)

func apiKeyCommand() *cli.Command {
	return &cli.Command{
		Name: "apikey", Usage: "API keys",
		Subcommands: []*cli.Command{
			{
				Name: "create", Usage: "create a key and show it once", ArgsUsage: "NAME",
				Description: terminal.Example("baoco apikey create shop", "baoco apikey create report --scope read --expires 2027-12-31"),
				Flags: terminal.AdminFlags(
					terminal.Suggest(cli.StringFlag{Name: "scope", Usage: "`SCOPE`: full, read, or listen for baoco listen only",
						Value: string(access.ScopeFull)}, access.ScopeFull, access.ScopeRead, access.ScopeListen),
					&cli.StringFlag{Name: "expires", Usage: "`DATE` of its last day, Y-m-d or Y-m-d H:i:s (default: never)"},
				),
				Action: session.WithArgument("a name for the key", createAPIKey),
			},
			session.Plain("apikey list", "list the keys", listAPIKeys),
			session.Of("apikey revoke", "revoke a key; it stops working within a second", "API key",
				session.End(func(s *services.All) session.Ending { return s.Access.RevokeAPIKey }, "revoked", "API key %d is revoked.")),
		},
	}
}

func createAPIKey(c *cli.Context, s *session.Session, name string) error {
	var expires time.Time
	if c.IsSet("expires") {
		var err error
		if expires, err = parseExpiry(c.String("expires"), s.Services.Ledger.Zone()); err != nil {
			return err
		}
	}
	k, key, err := s.Services.Access.CreateAPIKey(c.Context, s.Account, access.APIKeyCreate{
		Name: name, Scope: access.Scope(c.String("scope")), ExpiresAt: expires,
	}, s.Now)
	if err != nil {
		return err
	}
	created := struct {
		ID        int64        `json:"id"`
		Name      string       `json:"name"`
		Scope     access.Scope `json:"scope"`
		Key       string       `json:"key"`
		ExpiresAt *string      `json:"expires_at"`
	}{k.ID, k.Name, k.Scope, key, api.TimeOrNull(k.ExpiresAt, s.Services.Ledger.Zone())}
	lost := fmt.Sprintf("API key %d was created, but nobody has seen it. Revoke it and create another: baoco apikey revoke %d%s", k.ID, k.ID,
		session.OnAccount(s.Account))
	return terminal.Report(c, created, lost, func(w io.Writer) {
		fmt.Fprintln(w, key)
		fmt.Fprintf(c.App.ErrWriter, "This is key %d (%s). Keep it now: it is not shown again.\n", k.ID, k.Scope)
	})
}

func parseExpiry(text string, zone *time.Location) (time.Time, error) {
	t, err := app.ParseExpiry(text, zone)
	if err != nil {
		return t, terminal.Usagef("--expires must be a date as Y-m-d or Y-m-d H:i:s, not %q", text)
	}
	return t, nil
}

// textOf returns the text that p points to, or otherwise if p is nil.
func textOf[T any](p *T, otherwise string) string {
	if p == nil {
		return otherwise
	}
	return fmt.Sprint(*p)
}

func orNever(s *string) string { return textOf(s, "never") }

func listAPIKeys(c *cli.Context, s *session.Session) error {
	keys, err := s.Services.Access.APIKeys(c.Context, s.Account)
	type key struct {
		ID         int64        `json:"id"`
		Name       string       `json:"name"`
		Scope      access.Scope `json:"scope"`
		Hint       string       `json:"hint"`
		CreatedAt  string       `json:"created_at"`
		ExpiresAt  *string      `json:"expires_at"`
		RevokedAt  *string      `json:"revoked_at"`
		LastUsedAt *string      `json:"last_used_at"`
	}
	zone := s.Services.Ledger.Zone()
	table := terminal.Table{
		None:    "There is no API key yet: baoco apikey create NAME",
		Columns: ">ID|NAME|SCOPE|KEY|STATE|EXPIRES|LAST USED",
	}
	return terminal.List(c, err, keys, table, func(k access.APIKey) (key, []string) {
		e := key{k.ID, k.Name, k.Scope, k.Hint, app.FormatTime(k.CreatedAt, zone), api.TimeOrNull(k.ExpiresAt, zone),
			api.TimeOrNull(k.RevokedAt, zone), api.TimeOrNull(k.LastUsedAt, zone)}
		state := "valid"
		switch {
		case !k.RevokedAt.IsZero():
			state = "revoked"
		case !k.Valid(s.Now):
			state = "expired"
		}
		return e, []string{strconv.FormatInt(k.ID, 10), k.Name, string(k.Scope), k.Hint, state, orNever(e.ExpiresAt), orNever(e.LastUsedAt)}
	})
}
