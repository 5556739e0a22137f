package upkeep

import (
	"fmt"
	"io"
	"slices"
	"time"

	"baoco/app"
	"baoco/app/command/serve"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/inbound"
	"baoco/app/provider"
	"baoco/app/upkeep"
	"baoco/sqlitestore"
	"baoco/web/api"

	"github.com/urfave/cli/v2"
)

func DoctorCommand() *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: "check the database and its surroundings, beside a running server or without one; exits 6 if something is wrong",
		Description: terminal.Example("baoco doctor", "baoco doctor --full", "baoco doctor --new-key", "baoco doctor --repair-totals"),
		Flags: terminal.AdminFlags(
			&cli.BoolFlag{Name: "full", Usage: "read everything: every index, reference and row; minutes for a file of some gigabytes"},
			&cli.BoolFlag{Name: "new-key",
				Usage: "with the server stopped: make a new key file and seal every secret with it; drop those that the old key file does not open"},
			&cli.BoolFlag{Name: "repair-totals",
				Usage: "with the server stopped: first rebuild every total and index from the transactions and attempts"},
		),
		Action: terminal.WithoutArguments(doctor),
	}
}

// CheckJSON is a check as baoco doctor prints it.
type CheckJSON struct {
	Check   string             `json:"check"`
	Result  upkeep.CheckResult `json:"result"`
	Message string             `json:"message"`
	Cure    *string            `json:"cure"`
}

// doctor doesn't use session.Admin, because it must also examine a file that no other
// command can open.
func doctor(c *cli.Context) error {
	switch {
	case c.Bool("new-key") && (c.Bool("repair-totals") || c.Bool("full")):
		return terminal.Usagef("--new-key goes with no other")
	case c.Bool("new-key"):
		return replaceKey(c)
	case c.Bool("repair-totals"):
		if err := repairTotals(c); err != nil {
			return err
		}
	}
	progress := terminal.NewProgress(c, "reading")
	checks, err := sqlitestore.Examine(c.Context, c.String("db"), sqlitestore.Examination{
		Full: c.Bool("full"), Now: time.Now(), Progress: func(what string) { progress.Update("reading: "+what, 0, 0) },
	})
	progress.Stop()
	if err != nil {
		return err
	}
	if db, err := resolved(c.String("db")); err == nil {
		if epoch := serve.Fenced(db); epoch != "" {
			checks = append(checks, upkeep.Check{Name: "fence", Result: upkeep.CheckFailed, Text: app.Text{EN: session.FencedText(epoch)},
				Cure: app.Text{EN: "Use that server. If that is wrong: baoco replica remove"}})
		}
	}
	list, wrong := []CheckJSON{}, 0
	for _, check := range checks {
		list = append(list, CheckJSON{check.Name, check.Result, check.Text.EN, api.OrNull(check.Cure.EN)})
		if check.Result == upkeep.CheckFailed {
			wrong++
		}
	}
	if err := terminal.Output(c, list, func(w io.Writer) { printChecks(w, list) }); err != nil {
		return err
	}
	if wrong > 0 {
		return terminal.Exit(terminal.ExitCheck, fmt.Errorf("checks that failed: %d of %d", wrong, len(list)))
	}
	return nil
}

func printChecks(w io.Writer, checks []CheckJSON) {
	for _, c := range checks {
		fmt.Fprintf(w, "%-8s %-13s %s\n", c.Result, c.Check, terminal.OneLine(c.Message))
		if c.Cure != nil {
			fmt.Fprintf(w, "%22s %s\n", "→", terminal.OneLine(*c.Cure))
		}
	}
}

func repairTotals(c *cli.Context) error {
	store, err := serve.OpenDatabase(c.Context, c.String("db"),
		sqlitestore.Options{Serve: true, Migrating: session.SayMigrating(c.App.ErrWriter)})
	if err != nil {
		return err
	}
	defer store.Close()
	if err := store.Recount(c.Context, time.Now()); err != nil {
		return err
	}
	fmt.Fprintln(c.App.ErrWriter, "Every total and index was rebuilt.")
	return nil
}

// lostJSON is a webhook or a stream that lost its secret, which a user must rotate.
type lostJSON struct {
	ID      int64  `json:"id"`
	Account int64  `json:"account_id"`
	Name    string `json:"name"`
}

// lostSourceJSON is a source that lost its secret, and its options if its kind has any.
type lostSourceJSON struct {
	lostJSON
	Provider app.Provider `json:"provider"`
	Options  bool         `json:"options_lost"`
}

// lostAlertJSON is an alert channel that lost its settings and must be set up again.
type lostAlertJSON struct {
	Medium  string `json:"medium"`
	Account int64  `json:"account_id"`
}

type replacedKey struct {
	OldKey   *string          `json:"old_key_file"`
	Copy     *string          `json:"copy"` // the copy of the database with the dropped secrets
	Webhooks []lostJSON       `json:"webhooks"`
	Sources  []lostSourceJSON `json:"sources"`
	Streams  []lostJSON       `json:"streams"`
	Alerts   []lostAlertJSON  `json:"alert_channels"`
	Replica  bool             `json:"replica"` // a replica is set up: the sealed key beside it is old
}

func replaceKey(c *cli.Context) error {
	now := time.Now()
	progress := terminal.NewProgress(c, "sealing with a new key")
	replaced, err := sqlitestore.ReplaceKey(session.Operating(c.Context, now), c.String("db"), now)
	progress.Stop()
	if err != nil {
		return terminal.DatabaseError(err)
	}
	r := replacedKey{OldKey: api.OrNull(replaced.Aside), Copy: api.OrNull(replaced.Copy),
		Webhooks: []lostJSON{}, Sources: []lostSourceJSON{}, Streams: []lostJSON{}, Alerts: []lostAlertJSON{}}
	kinds := provider.Facts()
	for _, l := range replaced.Lost {
		one := lostJSON{l.ID, l.AccountID, l.Name}
		switch {
		case l.Medium != "":
			r.Alerts = append(r.Alerts, lostAlertJSON{l.Medium, l.AccountID})
			continue
		case l.Stream:
			r.Streams = append(r.Streams, one)
			continue
		case l.Provider == "":
			r.Webhooks = append(r.Webhooks, one)
			continue
		}
		options := slices.ContainsFunc(kinds, func(k inbound.ProviderKind) bool { return k.Provider == l.Provider && len(k.Options) > 0 })
		r.Sources = append(r.Sources, lostSourceJSON{one, l.Provider, options})
	}
	r.Replica = hasReplica(c.String("db"))
	lost := "The database has a new key file; baoco webhook list, source list, stream list and alert list name what has lost its secret."
	return terminal.Report(c, r, lost, func(w io.Writer) { printReplacedKey(w, r) })
}

func printReplacedKey(w io.Writer, r replacedKey) {
	fmt.Fprintln(w, "The database has a new key file. Make a backup of both now: baoco backup")
	if r.OldKey != nil {
		fmt.Fprintf(w, "The old one opens older backups; it is kept as %s\n", terminal.OneLine(*r.OldKey))
	}
	if r.Copy != nil {
		fmt.Fprintf(w, "The database as it was is kept as %s, with the secrets that were dropped: only the lost key opens them.\n",
			terminal.OneLine(*r.Copy))
	}
	lost := func(l lostJSON, noun, what, command string) {
		fmt.Fprintf(w, "%s %d (%s) has lost %s:\n  baoco %s %[2]d%[6]s\n", noun, l.ID, terminal.OneLine(l.Name), what, command,
			session.OnAccount(l.Account))
	}
	for _, l := range r.Webhooks {
		lost(l, "Webhook", "its secret; its deliveries wait. Rotate it, and put the new one into your shop", "webhook rotate-secret")
	}
	for _, l := range r.Sources {
		lost(l.lostJSON, "Source", "its secret; its calls are refused. Rotate it, and enter the new one at the provider", "source rotate")
		if l.Options {
			fmt.Fprintln(w, "  Options such as --map, --sender or --username are lost as well: if it had any, remove the source and add it again.")
		}
	}
	for _, l := range r.Streams {
		lost(l, "Stream", "its secret and its password; its transactions wait. Rotate the secret and set the password again",
			"stream rotate-secret")
	}
	for _, l := range r.Alerts {
		fmt.Fprintf(w, "The alert channel %s of account %d has lost its settings; it sends nothing. Set it up again: baoco alert %[1]s%[3]s\n",
			l.Medium, l.Account, session.OnAccount(l.Account))
	}
	if r.Replica {
		fmt.Fprintln(w,
			"A sealed key beside the replica is the old one, which the copy doesn't fit any more: baoco replica seal-key --passphrase-file FILE")
	}
	if len(r.Webhooks)+len(r.Sources)+len(r.Streams)+len(r.Alerts) == 0 {
		fmt.Fprintln(w, "Every secret is sealed with it; none was lost.")
	}
}
