// Package upkeep has the commands for the care of the database file: backup and restore,
// replica and takeover, doctor and prune.
package upkeep

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/provider"
	"baoco/app/upkeep"
	"baoco/sqlitestore"
	"baoco/web/api"

	"github.com/urfave/cli/v2"
)

func BackupCommand() *cli.Command {
	return &cli.Command{
		Name: "backup", Usage: "copy the database into FILE, and its key into FILE.key, beside a running server", ArgsUsage: "FILE",
		Description: terminal.Example(
			"baoco backup /mnt/usb/baoco.db",
			"baoco backup --dir /var/backups/baoco --keep 14     (for cron: a dated name each time)",
		),
		Flags: terminal.AdminFlags(
			&cli.BoolFlag{Name: "force", Usage: "replace FILE"},
			&cli.StringFlag{Name: "dir", Usage: "give the copy a dated name in `DIRECTORY`"},
			&cli.IntFlag{Name: "keep", Usage: "keep the newest `N` copies of this database in the directory", DefaultText: "all"},
			&cli.BoolFlag{Name: "no-key", Usage: "leave the key out; without it the copy can't be restored"},
		),
		Action: databaseCommand(session.Admin(backUp)),
	}
}

func RestoreCommand() *cli.Command {
	return &cli.Command{
		Name:  "restore",
		Usage: "restore a backup in place of the database, with the server stopped; what was there is set aside", ArgsUsage: "FILE",
		Description: terminal.Example(
			"baoco restore /var/backups/baoco/baoco-20261122T013000Z.db --dry-run",
			"baoco restore /var/backups/baoco/baoco-20261122T013000Z.db",
		),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "key", Usage: "`FILE` of the backup's key (default: the one beside it, else the database's)"},
			&cli.BoolFlag{Name: "dry-run", Usage: "check the backup and say what would happen, and change nothing"},
			terminal.DBFlag, terminal.OutputFlag,
		},
		Action: databaseCommand(restore),
	}
}

// databaseCommand wraps an action that copies databases, and makes it interruptible. Errors
// of the disk get ExitDatabase; a target that exists, or a copy by another process at the
// same time, get ExitConflict.
func databaseCommand(action cli.ActionFunc) cli.ActionFunc {
	return terminal.Interruptible(func(c *cli.Context) error {
		err := action(c)
		switch {
		case err != nil && c.Context.Err() != nil:
			return err
		case errors.Is(err, sqlitestore.ErrBackupRuns), errors.Is(err, sqlitestore.ErrInUse), errors.Is(err, fs.ErrExist):
			return terminal.Exit(terminal.ExitConflict, err)
		}
		return terminal.DatabaseError(err)
	})
}

type contentsJSON struct {
	Schema              int     `json:"schema"`
	Transactions        int64   `json:"transactions"`
	NewestTransactionID *string `json:"newest_transaction_id"`
	NewestTransactionAt *string `json:"newest_transaction_at"` // when it was recorded
	PendingDeliveries   int64   `json:"pending_deliveries"`
}

func encodeContents(held upkeep.Contents) contentsJSON {
	v := contentsJSON{Schema: held.Schema, Transactions: held.Transactions, PendingDeliveries: held.Pending}
	if held.NewestID != 0 {
		v.NewestTransactionID, v.NewestTransactionAt = new(fmt.Sprint(held.NewestID)), new(app.FormatTime(held.NewestAt, zoneOf(held)))
	}
	return v
}

func zoneOf(held upkeep.Contents) *time.Location {
	if zone, err := time.LoadLocation(held.Zone); err == nil {
		return zone
	}
	return time.UTC
}

// print describes the contents of a copy in one line.
func (v contentsJSON) print(w io.Writer) {
	fmt.Fprintf(w, "It holds %s", terminal.Counted(v.Transactions, "transaction", "transactions"))
	if v.NewestTransactionID != nil {
		fmt.Fprintf(w, ", the newest (%s) recorded at %s", *v.NewestTransactionID, *v.NewestTransactionAt)
	}
	fmt.Fprintf(w, "; %s pending; schema %d.\n", terminal.Counted(v.PendingDeliveries, "delivery is", "deliveries are"), v.Schema)
}

type BackupJSON struct {
	File   string  `json:"file"`
	Key    *string `json:"key"` // the copy of the key; null: it was left out
	Bytes  int64   `json:"bytes"`
	MadeAt string  `json:"made_at"`
	contentsJSON
	Removed []string `json:"removed"` // older copies, more than --keep
	Left    []string `json:"left"`    // copies that --keep doesn't count: of another database or key, or damaged
}

func backUp(c *cli.Context, s *session.Session) error {
	target, err := backupTarget(c)
	if err != nil {
		return err
	}
	progress := terminal.NewProgress(c, "copying")
	target.Progress = func(done, of int64) { progress.Update("copying", done, of) }
	made, err := s.Store.Backup(c.Context, target, s.Now)
	progress.Stop()
	if made.Path == "" {
		return err
	}
	v := BackupJSON{
		File: made.Path, Bytes: made.Size, MadeAt: app.FormatTime(made.At, s.Services.Ledger.Zone()), contentsJSON: encodeContents(made.Contents),
		Removed: append([]string{}, made.Removed...), Left: append([]string{}, made.Left...),
	}
	if made.WithKey {
		v.Key = new(made.Path + ".key")
	}
	return errors.Join(err, terminal.Report(c, v, "The backup is "+v.File+", whole and checked.", v.print))
}

func backupTarget(c *cli.Context) (t sqlitestore.BackupTarget, err error) {
	t = sqlitestore.BackupTarget{Dir: c.String("dir"), Keep: c.Int("keep"), Replace: c.Bool("force"), NoKey: c.Bool("no-key")}
	switch {
	case t.Dir != "" && (c.Args().Present() || t.Replace):
		return t, terminal.Usagef("backup takes a file, or --dir and no file")
	case t.Dir == "" && c.NArg() != 1:
		return t, terminal.Usagef("backup takes one argument, the file to make; or --dir")
	case c.IsSet("keep") && (t.Dir == "" || t.Keep < 1):
		return t, terminal.Usagef("--keep takes a number from 1 on, and goes with --dir")
	}
	t.File = c.Args().First()
	dir := cmp.Or(t.Dir, filepath.Dir(t.File))
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return t, terminal.Exit(terminal.ExitDatabase, fmt.Errorf("there is no directory %s: make it first", dir))
	}
	if info, err := os.Stat(t.File); t.Dir == "" && err == nil && info.IsDir() {
		return t, terminal.Usagef("%s is a directory; --dir makes a dated copy in it", t.File)
	}
	return t, nil
}

func (v BackupJSON) print(w io.Writer) {
	fmt.Fprintf(w, "%s is a backup, whole and checked: %s MB.\n", terminal.OneLine(v.File), terminal.Decimals(float64(v.Bytes)/1e6))
	v.contentsJSON.print(w)
	if v.Key != nil {
		fmt.Fprintf(w, "Its key is %s: restoring takes both, and whoever has both can read every secret.\n", terminal.OneLine(*v.Key))
	} else {
		fmt.Fprintln(w, "The key was left out: keep a copy of it elsewhere, because the backup can't be restored without it.")
	}
	for _, name := range v.Removed {
		fmt.Fprintf(w, "Removed %s.\n", terminal.OneLine(name))
	}
	for _, name := range v.Left {
		fmt.Fprintf(w, "Left %s: it is of another database or of an older key, or damaged.\n", terminal.OneLine(name))
	}
}

type RestoreJSON struct {
	Database string `json:"database"`
	Backup   string `json:"backup"`
	Key      string `json:"key"`
	DryRun   bool   `json:"dry_run"`
	contentsJSON
	SetAside []string `json:"set_aside"` // the replaced files; in a dry run, the files that would be set aside
	Served   bool     `json:"served"`    // in a dry run: a server or another program holds the database
	Replica  bool     `json:"replica"`   // a replica is set up: Litestream copies the whole database again
	Finished *string  `json:"finished"`  // the files that an earlier, interrupted restore set aside, which was finished first; null: none
}

func restore(c *cli.Context) error {
	if c.NArg() != 1 {
		return terminal.Usagef("restore takes one argument, the backup")
	}
	now := time.Now()
	progress := terminal.NewProgress(c, "checking and restoring")
	r, err := sqlitestore.Restore(session.Operating(c.Context, now), c.String("db"), sqlitestore.RestoreSource{
		File: c.Args().First(), Key: c.String("key"), DryRun: c.Bool("dry-run"),
	}, now)
	progress.Stop()
	if r.Finished != "" {
		fmt.Fprintf(c.App.ErrWriter, "A restore that was interrupted is finished: what it took the place of is %s.\n",
			terminal.OneLine(r.Finished))
	}
	if errors.Is(err, sqlitestore.ErrServed) {
		return fmt.Errorf("%w; stop it first, and look with --dry-run meanwhile", err)
	}
	if err != nil {
		return err
	}
	v := RestoreJSON{
		Database: r.Path, Backup: r.From, Key: r.Key, DryRun: c.Bool("dry-run"), contentsJSON: encodeContents(r.Contents),
		SetAside: append([]string{}, r.SetAside...), Served: r.Served, Replica: hasReplica(r.Path), Finished: api.OrNull(r.Finished),
	}
	if v.DryRun {
		return terminal.Output(c, v, v.print)
	}
	return terminal.Report(c, v,
		fmt.Sprintf("%s is restored from %s; set aside: %s.", v.Database, v.Backup, strings.Join(v.SetAside, ", ")), v.print)
}

func (v RestoreJSON) print(w io.Writer) {
	verb, aside := "is restored from", "Set aside"
	if v.DryRun {
		verb, aside = "would be restored from", "Would be set aside"
	}
	fmt.Fprintf(w, "%s %s %s, which is whole.\n", terminal.OneLine(v.Database), verb, terminal.OneLine(v.Backup))
	v.contentsJSON.print(w)
	fmt.Fprintf(w, "Its secrets are opened by the key %s.\n", terminal.OneLine(v.Key))
	if len(v.SetAside) == 0 {
		fmt.Fprintln(w, "There was no database in its place.")
	}
	for _, name := range v.SetAside {
		fmt.Fprintf(w, "%s: %s\n", aside, terminal.OneLine(name))
	}
	if v.Served {
		fmt.Fprintln(w, "A server or another program is using the database: stop it first, Litestream by systemctl stop baoco-litestream.")
	}
	fmt.Fprint(w, `
When the server starts:
`)
	for _, line := range v.beforeStart() {
		fmt.Fprintln(w, "- "+line)
	}
}

// beforeStart returns what the operator should know before the server starts again.
func (v RestoreJSON) beforeStart() []string {
	since := "the backup"
	if v.NewestTransactionAt != nil {
		since = *v.NewestTransactionAt
	}
	list := []string{"Start it with the flags that it had: of them the file keeps only the time zone from one start to the next."}
	if v.Replica {
		list = append(list,
			"Litestream copies the restored database as a whole; the replica holds what was there before for three days. Start it again: "+
				"systemctl start baoco-litestream")
	}
	if v.PendingDeliveries > 0 {
		list = append(list,
			"What is pending is sent, at once. Your shop may have got some of it before: it knows that by the id of the transaction.")
	}
	return append(list,
		"What came in after "+since+" is missing. Sources that catch up ("+provider.Names(provider.HasList)+
			" with an API key) read their lists again and record it; for other sources import the bank's statement: baoco transaction import.",
		"What is recorded again gets another id: your shop knows it by transactionNumber. Ids go on a million further: none is given twice.",
		"API keys, passwords, sources and webhooks are as they were: what was revoked, changed or rotated since is so no more. "+
			"See baoco apikey list, user list, webhook list.",
	)
}
