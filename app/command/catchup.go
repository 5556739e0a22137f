package command

import (
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/inbound"

	"github.com/urfave/cli/v2"
)

func catchUpSource(c *cli.Context, s *session.Session, id int64) error {
	progress := terminal.NewProgress(c, "reading the provider's list")
	r, err := s.Services.Inbound.CatchUpSource(c.Context, s.Account, id, s.Now)
	progress.Stop()
	if err != nil {
		return err
	}
	counts := map[string]int{
		"pages": r.Pages, "recorded": r.Recorded, "duplicates": r.Duplicates, "unassigned": r.Unassigned, "conflicts": r.Conflicts,
		"rejected": r.Rejected,
	}
	return terminal.Changed(c, nil, counts,
		"Source %d, pages read: %d. Transactions: %d recorded, %d duplicates, %d unassigned, %d in conflict, %d rejected.",
		id, r.Pages, r.Recorded, r.Duplicates, r.Unassigned, r.Conflicts, r.Rejected)
}

// lastPoll says when the list of a source was last read to its end, and the
// error since then. A source without an API key has "-".
func lastPoll(src inbound.SourceHealth, at *string) string {
	switch {
	case src.APIKey == "":
		return "-"
	case src.PollError != "":
		return orNever(at) + ", " + string(src.PollError)
	}
	return orNever(at)
}

// rotateAPIKey changes the API key only: the provider's website has the secret
// and the key at different places.
func rotateAPIKey(c *cli.Context, s *session.Session, id int64) error {
	if c.IsSet("secret-file") {
		return terminal.Usagef("--secret-file and --api-key-file need a command each")
	}
	apiKey, err := terminal.ReadSecretFile(c, c.String("api-key-file"))
	if err != nil {
		return err
	}
	if _, err := s.Services.Inbound.SetSourceAPIKey(c.Context, s.Account, id, apiKey, s.Now); err != nil {
		return err
	}
	return terminal.Done(c, nil, session.StateJSON{ID: id, State: "api_key_set"}, "Source %d has the new API key.", id)
}
