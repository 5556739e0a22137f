package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"baoco/app"
	"baoco/app/command/serve"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/replica"

	"github.com/urfave/cli/v2"
)

type replicaSetup struct {
	c       *cli.Context
	s       *session.Session
	config  replica.Config // the new configuration
	program replica.Program
	objects replica.Objects
	before  replica.Config // the earlier configuration; without a database: no replica is set up
	taken   bool           // this machine has the epoch already
}

func setUpReplica(c *cli.Context, s *session.Session) (err error) {
	r := replicaSetup{c: c, s: s}
	if err := r.read(); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(c.Context, replicaTime)
	defer stop()
	if r.objects, err = replica.Open(ctx, r.config.Place, r.config.Credentials); err != nil {
		return fmt.Errorf("open %s: %w", r.config.Place, err)
	}
	defer r.objects.Close()
	progress := terminal.NewProgress(c, "trying the place")
	err = r.prove(ctx)
	progress.Stop()
	if err != nil {
		return err
	}
	if file := c.String("passphrase-file"); file != "" {
		if err := putSealedKey(ctx, r.objects, r.config.Database, file); err != nil {
			return err
		}
	}
	// A running server sees the new epoch, and soon after it must find the configuration: so
	// nothing between the two may take time.
	if !r.taken {
		if err := replica.NewEpoch(r.config.Epoch, hostname(), s.Now).Take(ctx, r.objects); err != nil {
			return err
		}
	}
	if err := r.config.Write(); err != nil {
		return err
	}
	if err := s.Services.Ledger.Audit(c.Context, app.DefaultAccountID, app.DeedReplicaSetUp, 0,
		app.AuditNamed(r.config.Place.String())); err != nil {
		return err
	}
	return r.report(ctx)
}

func (r *replicaSetup) read() (err error) {
	if r.config.Place, r.config.Credentials, err = placeArgument(r.c); err != nil {
		return err
	}
	if file := r.c.String("passphrase-file"); file != "" { // it is checked before anything is changed
		if _, err := replica.ReadPassphrase(file); err != nil {
			return terminal.Usagef("%v", err)
		}
	}
	if r.program, err = replica.FindProgram(r.c.Context, r.c.String("litestream")); err != nil {
		return err
	}
	if r.config.Program = r.program.Path; strings.ContainsAny(r.config.Program, "\"'\\") {
		return terminal.Usagef("systemd runs no program whose path has quotes or backslashes, as %s has", r.config.Program)
	}
	if r.config.Database, err = resolved(r.c.String("db")); err != nil {
		return err
	}
	r.before, err = replica.ReadConfig(r.config.Database)
	switch force := r.c.Bool("force"); {
	case errors.Is(err, fs.ErrNotExist) || err != nil && force:
		return nil
	case err != nil:
		return err
	case r.before.Place != r.config.Place && !force:
		return terminal.Exit(terminal.ExitConflict,
			fmt.Errorf("the copy goes to %s; --force sends it to the other place from now on", r.before.Place))
	}
	return nil
}

// prove finds the epoch, and proves that the place keeps two servers apart and that
// Litestream can open it.
func (r *replicaSetup) prove(ctx context.Context) error {
	if r.config.Place.Scheme == replica.File && rootForAnother(r.config.Database) {
		return terminal.Usagef("Litestream runs as the owner of the database and must be able to write there: " +
			"run this as that user (runuser -u), and let root install the unit that it prints")
	}
	if r.config.Place.Scheme == replica.File {
		if dir := filepath.Dir(r.config.Place.Path); !isDir(dir) {
			return terminal.Usagef("there is no directory %s: see that its disk is mounted", dir)
		}
	}
	if err := replica.TryExclusive(ctx, r.objects, r.s.Now); err != nil {
		return fmt.Errorf("try %s: %w", r.config.Place, err)
	}
	last, err := replica.Newest(ctx, r.objects)
	if err != nil {
		return fmt.Errorf("read %s: %w", r.config.Place, err)
	}
	switch own := r.before.Epoch; {
	case r.before.Place == r.config.Place && last.Number > own:
		return terminal.Exit(terminal.ExitConflict, fmt.Errorf("another server has taken over: %s; this one must not write there any more", last))
	case r.before.Place == r.config.Place && r.c.Bool("anew"):
		r.config.Epoch = own + 1
	case r.before.Place == r.config.Place:
		r.config.Epoch, r.taken = own, last.Number == own
	case last.Number > 0 && !r.c.Bool("force"):
		return terminal.Exit(terminal.ExitConflict,
			fmt.Errorf("the copy of another server lies there: %s; baoco takeover continues it here, --force begins a new one beside "+
				"it and ends that server", last))
	default:
		r.config.Epoch = last.Number + 1
	}
	return r.program.Reach(ctx, r.config)
}

func (r *replicaSetup) report(ctx context.Context) error {
	v := encodeReplica(ctx, r.config)
	file, unit, err := writeUnit(r.c.String("unit-dir"), r.config)
	if err != nil {
		return terminal.Unfinished(err, "the configuration "+v.Config+" is written, the unit is not; run this again")
	}
	next, text := "install the unit that this printed as /etc/systemd/system/baoco-litestream.service; then", string(unit)
	v.Unit = &text
	if file != "" {
		next, v.Unit = "the unit is "+file+";", &file
	}
	err = terminal.Report(r.c, v, "The copy is set up: "+v.Config+" is Litestream's configuration.", func(w io.Writer) {
		_, _ = w.Write(unit)
	})
	fmt.Fprintf(r.c.App.ErrWriter,
		"The database will be copied to %s. As root: %s\n  systemctl daemon-reload && systemctl enable baoco-litestream && systemctl "+
			"restart baoco-litestream\n", v.Place, next)
	if v.SealedKey != nil {
		fmt.Fprintln(r.c.App.ErrWriter, "The sealed key: "+sealedKeyText[*v.SealedKey])
	}
	if r.config.Place.Scheme == replica.File {
		fmt.Fprintln(r.c.App.ErrWriter, "A directory of this machine is lost with it, unless another machine's disk is mounted there.")
	}
	return err
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// rootForAnother reports whether root runs this command, and another user owns the database.
func rootForAnother(db string) bool {
	owner, err := serve.OwnerName(db)
	return err == nil && os.Geteuid() == 0 && owner != "root"
}
