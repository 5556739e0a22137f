package command

import (
	"strconv"

	"baoco/app"
	"baoco/app/audit"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/web/api"

	"github.com/urfave/cli/v2"
)

func auditCommand() *cli.Command {
	return &cli.Command{
		Name: "audit", Usage: "who did what, from where and how; kept for a year",
		Subcommands: []*cli.Command{{
			Name: "list", Usage: "list the lines of the audit log, newest first",
			Description: terminal.Example("baoco audit list", "baoco audit list --who lan --from 2026-11-01",
				"baoco audit list --noun webhook --id 1 -o json"),
			Flags: terminal.AdminFlags(
				&cli.StringFlag{Name: "who", Usage: "only what `NAME` did: a user, an API key or a user of this machine"},
				terminal.Choice(cli.StringFlag{Name: "way", Usage: "only by this `WAY`: %s"}, app.Ways...),
				&cli.StringFlag{Name: "deed", Usage: "only this `DEED`, such as webhook.change or user.sign_in; -o json shows those of lines"},
				terminal.Choice(cli.StringFlag{Name: "noun", Usage: "only about `NOUN`, such as webhook, user, source, bank_account or api_key"},
					nounIDs()...),
				&cli.Int64Flag{Name: "id", Usage: "with --noun: only about the one with this `ID`", DefaultText: "all"},
				&cli.StringFlag{Name: "from", Usage: "from `DATE` on, Y-m-d or Y-m-d H:i:s"},
				&cli.StringFlag{Name: "to", Usage: "through `DATE`"},
				&cli.Int64Flag{Name: "before", Usage: "only lines with a lower `ID`, for the next page", DefaultText: "none"},
				&cli.IntFlag{Name: "limit", Usage: "at most `N` lines, 1 to 1000", Value: 50},
			),
			Action: session.WithoutArguments(listAudit),
		}},
	}
}

// auditJSON is a line of the audit log, with its sentence and its fields.
type auditJSON struct {
	ID       int64             `json:"id"`
	At       string            `json:"at"`
	Way      app.Way           `json:"way"`
	Who      string            `json:"who"`
	WhoID    int64             `json:"who_id"`  // of the user or the API key; 0: neither
	Address  string            `json:"address"` // empty: this machine
	Deed     app.Deed          `json:"deed"`
	NounID   int64             `json:"noun_id"`
	Name     string            `json:"name"` // of the thing that was changed
	Count    int64             `json:"count"`
	Changes  []app.AuditChange `json:"changes"`
	Sentence string            `json:"sentence"`
}

func listAudit(c *cli.Context, s *session.Session) (err error) {
	f := app.AuditFilter{
		Who: c.String("who"), Way: app.Way(c.String("way")), Deed: app.Deed(c.String("deed")), Noun: c.String("noun"), NounID: c.Int64("id"),
		Before: c.Int64("before"),
	}
	limit := c.Int("limit")
	switch {
	case f.Deed != "" && !audit.Known(f.Deed):
		return terminal.Usagef("there is no deed called %q; -o json shows the deed of each line", string(f.Deed))
	case f.NounID != 0 && f.Noun == "":
		return terminal.Usagef("--id goes with --noun")
	case limit < 1 || limit > 1000:
		return terminal.Usagef("--limit takes a number from 1 to 1000")
	}
	zone := s.Services.Ledger.Zone()
	if f.From, f.To, err = rangeFlags(c, zone); err != nil {
		return err
	}
	lines, err := s.Services.Ledger.AuditLines(c.Context, s.Account, f, limit)
	table := terminal.Table{None: "There is no such line.", Columns: ">ID|TIME|WAY|ADDRESS|WHAT"}
	return terminal.List(c, err, lines, table, func(l app.AuditLine) (auditJSON, []string) {
		e := auditJSON{
			l.ID, app.FormatTime(l.Actor.At, zone), l.Actor.Way, l.Actor.Name, l.Actor.ID, l.Actor.Address,
			l.Deed, l.NounID, l.Name, l.Count, append([]app.AuditChange{}, l.Changes...), audit.Bare(audit.Sentence(l, zone).EN),
		}
		return e, []string{strconv.FormatInt(e.ID, 10), e.At, e.Way.Name().EN, e.Address, audit.Quoted(audit.Sentence(l, zone).EN)}
	})
}

func nounIDs() []string { return api.All(audit.Nouns, func(n audit.Noun) string { return n.ID }) }
