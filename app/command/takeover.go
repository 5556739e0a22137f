package command

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/command/serve"
	"baoco/app/command/terminal"
	"baoco/app/replica"
	"baoco/sqlitestore"

	"github.com/urfave/cli/v2"
)

// A takeover puts the copy of a lost server in the place of a database here, and this
// machine in the place of that server. The order of its steps:
//
//  1. restore the copy and check it: a living server isn't stopped for a copy that
//     is of no use;
//  2. take the next epoch: from now on a living server stops within serve.FenceTime,
//     and of two takeovers one goes on;
//  3. where the old server may live, wait until it has stopped and its Litestream has
//     carried its last transactions here, and restore once more: what it acknowledged
//     meanwhile comes along;
//  4. put the copy in place, as baoco restore does: the ids go on a million further;
//  5. write the configuration of the replica with the new epoch, whose copy lies in a
//     directory of its own: a Litestream that still runs on the old machine writes
//     into the old one.
//
// After a kill before step 4 nothing here has changed. From then on until the end of
// step 5 a file says that a takeover isn't finished, and serve refuses to start: it
// would serve without a fence. Run again, the command takes one more epoch.

func takeoverCommand() *cli.Command {
	return &cli.Command{
		Name: "takeover", Usage: "serve from this machine what a lost one served: restore its replica at URL, and fence it off", ArgsUsage: "URL",
		Description: "The lost server, should it come back, finds that it was replaced and doesn't serve. Run this with the server here stopped, as the user that runs it.\n\n" + terminal.Example(
			"baoco takeover file:///mnt/disk/baoco --key baoco.db.key",
			"baoco takeover sftp://backup@nas.shop.vn/srv/baoco --credentials-file replica.txt --key baoco.db.key --db /var/lib/baoco/baoco.db",
		),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "credentials-file", Usage: "`FILE` with the credentials of the place, readable by its owner alone"},
			&cli.StringFlag{Name: "litestream", Usage: "`FILE` of the program Litestream (default: that of PATH)"},
			&cli.StringFlag{Name: "key", Usage: "`FILE` of the database's key (default: the one beside the database)"},
			&cli.BoolFlag{Name: "force", Usage: "take over although another machine did that before and has written no copy"},
			terminal.DBFlag, terminal.OutputFlag,
		},
		Action: databaseCommand(takeOver),
	}
}

// takeover is one run of the command.
type takeover struct {
	objects  replica.Objects
	program  replica.Program
	config   replica.Config // of the copy that is read, and then that of this machine
	copy     replica.Copy
	key      string
	drafts   string // what the names of restored copies begin with
	progress func(format string, args ...any)
}

type takeoverJSON struct {
	Database string `json:"database"`
	Replica  string `json:"replica"`
	Epoch    int64  `json:"epoch"`
	contentsJSON
	NewestObjectAt string   `json:"newest_object_at"` // when the copy's last object was written
	SetAside       []string `json:"set_aside"`
}

func takeOver(c *cli.Context) error {
	if err := terminal.CheckOutput(c); err != nil {
		return err
	}
	if c.NArg() != 1 {
		return terminal.Usagef("takeover takes one argument, the URL of the replica")
	}
	t, err := openTakeover(c)
	if err != nil {
		return err
	}
	defer t.objects.Close()
	now := time.Now()
	restored, err := t.run(operating(c.Context, now), c.Bool("force"), now)
	if err != nil {
		return err
	}
	v := takeoverJSON{
		Database: t.config.Database, Replica: t.config.Place.String(), Epoch: t.config.Epoch, contentsJSON: encodeContents(restored.Contents),
		NewestObjectAt: t.copy.Newest.UTC().Format(time.RFC3339), SetAside: append([]string{}, restored.SetAside...),
	}
	return terminal.Report(c, v, fmt.Sprintf("%s is restored from %s, and this machine has epoch %d.", v.Database, v.Replica, v.Epoch), v.print)
}

// openTakeover reads what the command line says.
func openTakeover(c *cli.Context) (*takeover, error) {
	place, err := replica.ParsePlace(c.Args().First())
	if err != nil {
		return nil, terminal.Exit(terminal.ExitUsage, err)
	}
	var secret replica.Credentials
	if file := c.String("credentials-file"); file != "" {
		if secret, err = replica.ReadCredentials(file); err != nil {
			return nil, err
		}
	}
	db, err := filepath.Abs(c.String("db"))
	if err != nil {
		return nil, err
	}
	if path, err := resolved(db); err == nil {
		db = path
	}
	program, err := replica.FindProgram(c.Context, c.String("litestream"))
	if err != nil {
		return nil, err
	}
	objects, err := replica.Open(c.Context, place, secret)
	if err != nil {
		return nil, err
	}
	return &takeover{
		objects: objects, program: program, key: c.String("key"), drafts: db + ".taking-over-",
		config:   replica.Config{Database: db, Place: place, Credentials: secret, Program: program.Path},
		progress: func(format string, args ...any) { fmt.Fprintf(c.App.ErrWriter, format+"\n", args...) },
	}, nil
}

func (t *takeover) run(ctx context.Context, force bool, now time.Time) (r sqlitestore.Restored, err error) {
	defer t.removeDrafts()
	if err := t.removeDrafts(); err != nil { // of a run that was killed
		return r, err
	}
	last, err := t.find(ctx, force)
	if err != nil {
		return r, err
	}
	draft, err := t.restore(ctx, now)
	if err != nil {
		return r, err
	}
	own := replica.NewEpoch(last.Number+1, hostname(), now)
	if err := own.Take(ctx, t.objects); err != nil {
		if errors.Is(err, replica.ErrEpochTaken) {
			return r, terminal.Exit(terminal.ExitConflict, err)
		}
		return r, err
	}
	t.progress("This machine has epoch %d.", own.Number)
	changed, err := t.outwait(ctx, own)
	if err != nil {
		return r, err
	}
	if changed {
		if draft, err = t.restore(ctx, now); err != nil {
			return r, err
		}
	}
	if err := os.WriteFile(serve.UnfinishedTakeover(t.config.Database), nil, 0o600); err != nil {
		return r, err
	}
	r, err = sqlitestore.Restore(ctx, t.config.Database, sqlitestore.RestoreSource{
		File: draft, Key: t.key, Origin: fmt.Sprintf("%s (epoch %d)", t.config.Place, t.copy.Epoch),
	}, now)
	if err != nil {
		return r, err
	}
	t.config.Epoch = own.Number
	if err := t.config.Write(); err != nil {
		return r, err
	}
	return r, os.Remove(serve.UnfinishedTakeover(t.config.Database))
}

// find finds the copy to restore and the last epoch that was taken.
func (t *takeover) find(ctx context.Context, force bool) (last replica.Epoch, err error) {
	last, err = replica.Newest(ctx, t.objects)
	if err != nil {
		return last, err
	}
	if last.Number == 0 {
		return last, terminal.Exit(terminal.ExitNotFound, fmt.Errorf("no server has written a replica at %s", t.config.Place))
	}
	if t.copy, err = replica.LastCopy(ctx, t.objects, last.Number); err != nil {
		return last, err
	}
	if t.copy.Epoch != last.Number && last.Host != hostname() && !force {
		return last, terminal.Exit(terminal.ExitConflict, fmt.Errorf("%s and has written no copy here: if that machine served, the copy of epoch %d lacks what it recorded. Take over from that machine, or add --force", last, t.copy.Epoch))
	}
	t.config.Epoch = t.copy.Epoch
	return last, nil
}

// restore brings the copy into a draft, and checks what a restore checks.
func (t *takeover) restore(ctx context.Context, now time.Time) (draft string, err error) {
	if t.copy, err = replica.CopyOf(ctx, t.objects, t.copy.Epoch); err != nil {
		return "", err
	}
	t.progress("Restoring the copy of epoch %d, last written at %s …", t.copy.Epoch, t.copy.Newest.UTC().Format(time.RFC3339))
	draft = t.drafts + rand.Text()[:8]
	if err := t.program.Restore(ctx, t.config, draft); err != nil {
		return "", err
	}
	if err := os.Chmod(draft, 0o600); err != nil {
		return "", err
	}
	r, err := sqlitestore.Restore(ctx, t.config.Database, sqlitestore.RestoreSource{File: draft, Key: t.key, DryRun: true}, now)
	if err == nil && r.Served {
		err = sqlitestore.ErrServed
	}
	if errors.Is(err, sqlitestore.ErrServed) {
		err = fmt.Errorf("%w; stop it first", err)
	}
	return draft, err
}

const (
	// beatAge is how old the newest object of a living server's copy is at most.
	beatAge = app.BeatInterval + 15*time.Second
	// lastWrites is how long Litestream takes to carry the last transactions of a
	// server that was fenced.
	lastWrites = 3 * time.Second
	// longestWait ends the wait for a server that goes on writing: it can't see the
	// epoch, or its Litestream has more to carry than that.
	longestWait = 2 * time.Minute
)

// outwait waits for an old server that may live to stop, and says whether its copy has
// changed since it was restored.
func (t *takeover) outwait(ctx context.Context, own replica.Epoch) (changed bool, err error) {
	taken, err := replica.EpochTime(ctx, t.objects, own.Number)
	if err != nil {
		return false, err
	}
	now, err := replica.CopyOf(ctx, t.objects, t.copy.Epoch)
	if err != nil || taken.Sub(now.Newest) > beatAge {
		return now != t.copy, err
	}
	t.progress("The old server wrote %s before: it may live. Waiting until it has stopped …", taken.Sub(now.Newest).Round(time.Second))
	for waited, pause := time.Duration(0), serve.FenceTime+lastWrites; ; pause = lastWrites {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(pause):
		}
		waited += pause
		before := now
		if now, err = replica.CopyOf(ctx, t.objects, t.copy.Epoch); err != nil {
			return false, err
		}
		if pause == lastWrites && now == before || now.Newest.Before(taken) {
			return now != t.copy, nil
		}
		if waited >= longestWait {
			t.progress("The old server still writes. What it records from now on is not here: stop it.")
			return true, nil
		}
	}
}

// removeDrafts removes restored copies, of this run or of one that was killed.
func (t *takeover) removeDrafts() error {
	entries, err := os.ReadDir(filepath.Dir(t.drafts))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(t.drafts)) {
			err = errors.Join(err, os.Remove(filepath.Join(filepath.Dir(t.drafts), e.Name())))
		}
	}
	return err
}

// hostname names this machine beside the replica.
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "unnamed"
	}
	return name
}

func (v takeoverJSON) print(w io.Writer) {
	fmt.Fprintf(w, "%s is restored from the replica at %s, which was last written at %s.\n", terminal.OneLine(v.Database), terminal.OneLine(v.Replica), v.NewestObjectAt)
	v.contentsJSON.print(w)
	fmt.Fprintf(w, "This machine has epoch %d. An old server that can reach the place stops when it sees that. One that can't goes on: see that it is off.\n", v.Epoch)
	for _, name := range v.SetAside {
		fmt.Fprintf(w, "Set aside: %s\n", terminal.OneLine(name))
	}
	fmt.Fprint(w, `
Now:
- Start the server: systemctl start baoco. What is pending is sent at once; your shop may have got some of it before and knows that by checksum.
- Keep a replica of this machine: baoco replica setup with the same URL prints the unit of Litestream.
- Lead the name of your server to this machine, or enter its address at the providers.
- What came in while no server ran: sources that catch up read their lists by themselves; for others import the bank's statement: baoco transaction import.
- Ids go on a million further: none is given twice.
`)
}
