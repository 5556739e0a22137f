package command

import (
	"io"
	"strconv"
	"strings"

	"baoco/app"
	"baoco/app/command/terminal"

	"github.com/urfave/cli/v2"
)

func auditCommand() *cli.Command {
	return &cli.Command{
		Name: "audit", Usage: "who did what, from where and how; kept for a year",
		Subcommands: []*cli.Command{{
			Name: "list", Usage: "list the lines of the audit log, newest first",
			Description: terminal.Example("baoco audit list", "baoco audit list --who lan --from 2026-11-01", "baoco audit list --noun webhook --id 1 -o json"),
			Flags: terminal.AdminFlags(
				&cli.StringFlag{Name: "who", Usage: "only what `NAME` did: a user, an API key or a user of this machine"},
				&cli.StringFlag{Name: "noun", Usage: "only about `NOUN`, such as webhook, user, source, bank_account or api_key"},
				&cli.Int64Flag{Name: "id", Usage: "with --noun: only about the one with this `ID`", DefaultText: "all"},
				&cli.StringFlag{Name: "from", Usage: "from `DATE` on, Y-m-d or Y-m-d H:i:s"},
				&cli.StringFlag{Name: "to", Usage: "through `DATE`"},
				&cli.Int64Flag{Name: "before", Usage: "only lines with a lower `ID`, for the next page", DefaultText: "none"},
				&cli.IntFlag{Name: "limit", Usage: "at most `N` lines, 1 to 1000", Value: 50},
			),
			Action: withoutArguments(listAudit),
		}},
	}
}

type auditJSON struct {
	ID      int64             `json:"id"`
	At      string            `json:"at"`
	Way     app.Way           `json:"way"`
	Who     string            `json:"who"`
	WhoID   int64             `json:"who_id"`  // of the user or the API key; 0: neither
	Address string            `json:"address"` // empty: this machine
	Deed    app.Deed          `json:"deed"`
	NounID  int64             `json:"noun_id"`
	Name    string            `json:"name"` // of what it was done to
	Count   int64             `json:"count"`
	Changes []app.AuditChange `json:"changes"`
}

func listAudit(c *cli.Context, s *session) error {
	f := app.AuditFilter{Who: c.String("who"), Noun: c.String("noun"), NounID: c.Int64("id"), Before: c.Int64("before")}
	limit := c.Int("limit")
	switch {
	case f.NounID != 0 && f.Noun == "":
		return terminal.Usagef("--id goes with --noun")
	case limit < 1 || limit > 1000:
		return terminal.Usagef("--limit takes a number from 1 to 1000")
	}
	var err error
	if f.From, f.To, err = rangeFlags(c, s.service.Zone()); err != nil {
		return err
	}
	lines, err := s.service.AuditLines(c.Context, s.account, f, limit)
	if err != nil {
		return err
	}
	list, rows := []auditJSON{}, [][]string{}
	for _, l := range lines {
		e := auditJSON{
			l.ID, app.FormatTime(l.Actor.At, s.service.Zone()), l.Actor.Way, l.Actor.Name, l.Actor.ID, l.Actor.Address,
			l.Deed, l.NounID, l.Name, l.Count, append([]app.AuditChange{}, l.Changes...),
		}
		list = append(list, e)
		rows = append(rows, []string{strconv.FormatInt(e.ID, 10), e.At, e.Who, app.WayName(e.Way).EN, e.Address, string(e.Deed), auditDetails(e)})
	}
	return terminal.Output(c, list, func(w io.Writer) {
		terminal.PrintTable(w, "There is no such line.", []string{"ID", "TIME", "WHO", "WAY", "ADDRESS", "DEED", "DETAILS"}, rows, "ID")
	})
}

// auditDetails writes the details of a line in one.
func auditDetails(e auditJSON) string {
	var parts []string
	if e.NounID != 0 {
		parts = append(parts, "#"+strconv.FormatInt(e.NounID, 10))
	}
	if e.Name != "" {
		parts = append(parts, e.Name)
	}
	if e.Count > 1 {
		parts = append(parts, "("+strconv.FormatInt(e.Count, 10)+" times)")
	}
	for _, change := range e.Changes {
		from := ""
		if change.From != "" {
			from = change.From + " → "
		}
		parts = append(parts, change.Field+": "+from+change.To)
	}
	return strings.Join(parts, " ")
}
