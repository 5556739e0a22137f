package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"baoco/app/command/serve"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/replica"
	"baoco/app/upkeep"
	"baoco/sqlitestore"

	"github.com/urfave/cli/v2"
)

// A takeover replaces a database here by the copy of a lost server, and this machine
// replaces that server. The order of its steps:
//
//  1. restore the copy into a draft, lock the database here, and check the draft: a
//     running server must not be stopped for a copy that can't be used;
//  2. take the next epoch: from now on a running server stops within serve.FenceTime,
//     and of two takeovers only one continues;
//  3. if the old server may still run, wait until it has stopped and its Litestream has
//     copied its last transactions to the place. If the copy has changed, do step 1 again,
//     to get what that server has acknowledged meanwhile;
//  4. put the draft in place, as baoco restore does, with a gap in the ids;
//  5. write the configuration of the replica with the new epoch. Each epoch has a
//     directory of its own, so a Litestream that still runs on the old machine writes
//     into another one.
//
// After a kill before step 4 nothing here has changed. From then on until the end of
// step 5 a file marks the takeover as unfinished, and serve refuses to start, since it
// would serve without a fence. If the command is run again, it takes one more epoch.

func TakeoverCommand() *cli.Command {
	return &cli.Command{
		Name: "takeover", Usage: "serve from this machine what a lost one served: restore its replica at URL, and fence it off", ArgsUsage: "URL",
		Description: "The lost server, should it come back, finds that it was replaced and doesn't serve. " +
			"Run this with the server here stopped, as the user that runs it.\n\n" + terminal.Example(
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

type takeover struct {
	objects  replica.Objects
	program  replica.Program
	config   replica.Config // of the copy that is read, and later of this machine
	copy     replica.Copy
	own      replica.Epoch
	taken    bool
	key      string
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
	if c.NArg() != 1 {
		return terminal.Usagef("takeover takes one argument, the URL of the replica")
	}
	t, err := openTakeover(c)
	if err != nil {
		return err
	}
	defer t.objects.Close()
	now := time.Now()
	restored, err := t.run(session.Operating(c.Context, now), c.Bool("force"), now)
	if err != nil {
		return err
	}
	v := takeoverJSON{
		Database: t.config.Database, Replica: t.config.Place.String(), Epoch: t.config.Epoch, contentsJSON: encodeContents(restored.Contents),
		NewestObjectAt: t.copy.Newest.UTC().Format(time.RFC3339), SetAside: append([]string{}, restored.SetAside...),
	}
	return terminal.Report(c, v,
		fmt.Sprintf("%s is restored from %s, and this machine has epoch %d.", v.Database, v.Replica, v.Epoch), v.print)
}

func openTakeover(c *cli.Context) (*takeover, error) {
	t := &takeover{key: c.String("key"), progress: func(format string, args ...any) { fmt.Fprintf(c.App.ErrWriter, format+"\n", args...) }}
	var err error
	if t.config.Place, t.config.Credentials, err = placeArgument(c); err != nil {
		return nil, err
	}
	if t.config.Database, err = placeOf(c.String("db")); err != nil {
		return nil, err
	}
	if t.program, err = replica.FindProgram(c.Context, c.String("litestream")); err != nil {
		return nil, err
	}
	t.config.Program, t.program.Urgent = t.program.Path, true
	t.objects, err = replica.Open(c.Context, t.config.Place, t.config.Credentials)
	return t, err
}

// placeOf returns the path by which the server and Litestream will find a database, which
// may not exist yet.
func placeOf(db string) (string, error) {
	path, err := resolved(db)
	if !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	dir, err := resolved(filepath.Dir(db))
	return filepath.Join(dir, filepath.Base(db)), err
}

// errNewer is the error if the copy has changed since it was restored.
var errNewer = errors.New("the copy has changed")

func (t *takeover) run(ctx context.Context, force bool, now time.Time) (r sqlitestore.Restored, err error) {
	if err := t.find(ctx, force); err != nil {
		return r, err
	}
	t.own = replica.NewEpoch(t.own.Number, hostname(), now)
	dir, others, remove, err := sqlitestore.RestoreDir(t.config.Database, ".taking-over-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	if others {
		return r, terminal.Exit(terminal.ExitConflict, fmt.Errorf("another takeover of %s is under way", t.config.Database))
	}
	for err = errNewer; errors.Is(err, errNewer); {
		r, err = t.restore(ctx, filepath.Join(dir, "copy.db"), now)
	}
	if errors.Is(err, sqlitestore.ErrServed) {
		err = fmt.Errorf("%w; stop it first", err)
	}
	if err != nil {
		return r, err
	}
	t.config.Epoch = t.own.Number
	if err := t.config.Write(); err != nil {
		return r, err
	}
	return r, errors.Join(serve.NotFenced(t.config.Database), os.Remove(serve.UnfinishedTakeover(t.config.Database)))
}

func (t *takeover) find(ctx context.Context, force bool) error {
	last, err := replica.Newest(ctx, t.objects)
	if err != nil {
		return err
	}
	if last.Number == 0 {
		return terminal.Exit(terminal.ExitNotFound, fmt.Errorf("no server has written a replica at %s", t.config.Place))
	}
	if t.own.Number = last.Number + 1; t.own.Number > replica.MaxEpoch {
		return terminal.Exit(terminal.ExitConflict,
			fmt.Errorf("the place names epoch %d, which no server reaches: see who wrote that into its directory epochs, and remove it",
				last.Number))
	}
	if t.copy, err = replica.LastCopy(ctx, t.objects, last.Number); err != nil {
		return err
	}
	t.config.Epoch = t.copy.Epoch
	_, unfinished := os.Lstat(serve.UnfinishedTakeover(t.config.Database))
	here, noConfig := replica.ReadConfig(t.config.Database)
	switch {
	case force || unfinished == nil:
		return nil
	case noConfig == nil && here.Place == t.config.Place && here.Epoch == last.Number:
		return terminal.Exit(terminal.ExitConflict,
			fmt.Errorf("this machine has epoch %d itself: start the server; --force restores the copy of epoch %d in the place of the database",
				here.Epoch, t.copy.Epoch))
	case t.copy.Epoch != last.Number:
		return terminal.Exit(terminal.ExitConflict,
			fmt.Errorf("%s and has written no copy here: if that machine served, the copy of epoch %d lacks what it recorded. "+
				"Take over from that machine, or add --force", last, t.copy.Epoch))
	}
	return nil
}

// restore restores the copy into a draft. When the draft is checked and this machine has the
// epoch, it puts the draft in place. The error is errNewer if the copy has changed meanwhile.
func (t *takeover) restore(ctx context.Context, draft string, now time.Time) (r sqlitestore.Restored, err error) {
	if t.copy, err = replica.CopyOf(ctx, t.objects, t.copy.Epoch); err != nil {
		return r, err
	}
	t.progress("Restoring the copy of epoch %d, last written at %s …", t.copy.Epoch, t.copy.Newest.UTC().Format(time.RFC3339))
	if err := os.RemoveAll(draft); err != nil {
		return r, err
	}
	if err := t.program.Restore(ctx, t.config, draft); err != nil {
		return r, err
	}
	return sqlitestore.Restore(ctx, t.config.Database, sqlitestore.RestoreSource{
		File: draft, Draft: true, Key: t.key, Servers: t.own.Number - t.copy.Epoch,
		Origin: fmt.Sprintf("%s (epoch %d)", t.config.Place, t.copy.Epoch),
		Decide: func() error {
			if err := t.take(ctx); err != nil {
				return err
			}
			return os.WriteFile(serve.UnfinishedTakeover(t.config.Database), nil, 0o600)
		},
	}, now)
}

// take takes the epoch, once, and waits until an old server has stopped that may still run.
func (t *takeover) take(ctx context.Context) error {
	if t.taken {
		return nil
	}
	if err := t.own.Take(ctx, t.objects); err != nil {
		if errors.Is(err, replica.ErrEpochTaken) {
			return terminal.Exit(terminal.ExitConflict, err)
		}
		return err
	}
	t.taken = true
	t.progress("This machine has epoch %d.", t.own.Number)
	changed, err := t.waitForOldServer(ctx)
	if err == nil && changed {
		err = errNewer
	}
	return err
}

const (
	// beatAge is how old the newest object in the copy of a running server can be.
	beatAge = upkeep.BeatInterval + 15*time.Second
	// lastWrites is how long Litestream takes to copy the last transactions of a fenced
	// server.
	lastWrites = 3 * time.Second
	// longestWait ends the wait for a server that still writes: it can't see the epoch, or
	// its Litestream takes longer.
	longestWait = 2 * time.Minute
)

// waitForOldServer waits until an old server that may still run has stopped, and reports whether its
// copy has changed since it was restored.
func (t *takeover) waitForOldServer(ctx context.Context) (changed bool, err error) {
	taken, err := replica.EpochTime(ctx, t.objects, t.own.Number)
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

// hostname is the name of this machine in the epoch.
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "unnamed"
	}
	return name
}

func (v takeoverJSON) print(w io.Writer) {
	fmt.Fprintf(w, "%s is restored from the replica at %s, which was last written at %s.\n", terminal.OneLine(v.Database),
		terminal.OneLine(v.Replica), v.NewestObjectAt)
	v.contentsJSON.print(w)
	fmt.Fprintf(w,
		"This machine has epoch %d. An old server that can reach the place stops when it sees that. One that can't goes on: "+
			"see that it is off.\n", v.Epoch)
	for _, name := range v.SetAside {
		fmt.Fprintf(w, "Set aside: %s\n", terminal.OneLine(name))
	}
	fmt.Fprint(w, `
Now:
- Start the server: systemctl start baoco. What is pending is sent at once; your shop may have got some of it before and knows that by `+
		`the id of the transaction.
- Keep a replica of this machine: baoco replica setup with the same URL prints the unit of Litestream.
- Lead the name of your server to this machine, or enter its address at the providers.
- What came in while no server ran: sources that catch up read their lists by themselves; for others import the bank's statement: baoco `+
		`transaction import.
- Ids go on a million further, or more where the copy is old: none is given twice.
`)
}
