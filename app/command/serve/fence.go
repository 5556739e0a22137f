package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"baoco/app/command/terminal"
	"baoco/app/replica"
)

// Only tests change these two, so that they wait less: no flag and no variable of the
// environment does.
var (
	// FenceEvery is how often a server looks whether another one took over.
	FenceEvery = 3 * time.Second
	// FenceTime is how long a server may serve after another one took over: until its next
	// look, during the requests of the look, and until its attempts in flight end.
	FenceTime = 7 * time.Second
)

const fenceLook = 3 * time.Second // for the requests of a look

// fence looks beside the replica whether another server took over. A server without a
// replica has none.
type fence struct {
	db      string
	log     *slog.Logger
	objects replica.Objects // nil: not connected
	config  replica.Config  // of the last look
	away    bool            // the last look found the place unreachable
	looks   int             // with this configuration
	gone    bool            // the configuration was removed
}

// UnfinishedTakeover is a file that lies beside a database while a takeover puts it in
// place. If the takeover is killed, the file says that the database has no fence yet.
func UnfinishedTakeover(db string) string { return db + ".taking-over" }

// fencedFile is a file that lies beside a database after another server took over. It
// says which server, for the commands.
func fencedFile(db string) string { return db + ".fenced" }

// Fenced says which server took over from the one that served a database here; empty:
// none is known. Commands only print it: the server does the looking.
func Fenced(db string) string {
	text, err := os.ReadFile(fencedFile(db))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// NotFenced notes that the server here may serve.
func NotFenced(db string) error {
	if err := os.Remove(fencedFile(db)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// start looks for the first time. It also refuses a database whose takeover was interrupted.
func (f *fence) start(ctx context.Context) error {
	if path, err := filepath.EvalSymlinks(f.db); err == nil {
		f.db = path
	}
	if _, err := os.Lstat(UnfinishedTakeover(f.db)); err == nil {
		return terminal.Exit(terminal.ExitDatabase, fmt.Errorf("a takeover of %s was interrupted: run baoco takeover again", f.db))
	}
	if _, err := replica.ReadConfig(f.db); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return terminal.Exit(terminal.ExitDatabase, fmt.Errorf("it can't be seen whether another server took over: %w, or remove that file", err))
	}
	if err := f.look(ctx); err != nil {
		return err
	}
	if f.away {
		return nil
	}
	return NotFenced(f.db)
}

// look returns the error with which the server must stop if another server took over. A
// place that can't be reached is logged once.
func (f *fence) look(ctx context.Context) error {
	err := f.readConfig()
	if err == nil && f.config == (replica.Config{}) {
		return nil
	}
	var epoch replica.Epoch
	taken := false
	if err == nil {
		epoch, taken, err = f.higher(ctx)
	}
	switch {
	case taken:
		if own, err := f.own(ctx, epoch); own || err != nil {
			return err
		}
		return f.takenOver(epoch)
	case err != nil:
		f.close() // an SFTP connection may have ended
		if !f.away {
			f.log.Warn("it can't be seen whether another server took over, so baoco continues", "place", f.config.Place.String(), "err", err)
		}
	case f.away:
		f.log.Info("the replica's place is reached again: no other server took over")
	}
	f.away = err != nil
	return nil
}

// readConfig reads the configuration for each look, since a replica may be set up beside
// a running server. A configuration that is removed is used until the server ends.
func (f *fence) readConfig() error {
	config, err := replica.ReadConfig(f.db)
	gone := errors.Is(err, fs.ErrNotExist)
	if gone && !f.gone && f.config != (replica.Config{}) {
		f.log.Warn("the configuration of the replica is gone; until the next start baoco still looks whether another server took over",
			"place", f.config.Place.String())
	}
	f.gone = gone
	if gone {
		return nil
	}
	if err == nil && config != f.config {
		f.close()
		f.config, f.looks = config, 0
	}
	return err
}

// takenOver writes for commands that another server took over, and returns the error with
// which this one stops.
func (f *fence) takenOver(epoch replica.Epoch) error {
	at := ""
	if !epoch.At.IsZero() {
		at = " at " + epoch.At.Format(time.RFC3339)
	}
	if err := os.WriteFile(fencedFile(f.db), []byte(epoch.String()+"\n"), 0o600); err != nil {
		f.log.Error("the takeover by another server could not be noted for commands", "err", err)
	}
	return terminal.Exit(terminal.ExitConflict, fmt.Errorf("another server took over%s: %s. "+
		"This one (epoch %d) must not serve any more; baoco replica remove, if that is wrong", at, epoch, f.config.Epoch))
}

// looksForNext is how many looks in a row ask for the next epoch only.
const looksForNext = 9

// higher looks for an epoch above that of this server. Most looks ask for the next epoch
// only, which costs little. The first, and one every half minute, list all epochs, in case
// the object of the next one was lost.
func (f *fence) higher(ctx context.Context) (e replica.Epoch, taken bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, fenceLook)
	defer cancel()
	if f.objects == nil {
		if f.objects, err = replica.Open(ctx, f.config.Place, f.config.Credentials); err != nil {
			return e, false, err
		}
	}
	f.looks++
	if f.looks%(1+looksForNext) != 1 {
		return replica.EpochAfter(ctx, f.objects, f.config.Epoch)
	}
	e, err = replica.Newest(ctx, f.objects)
	return e, e.Number > f.config.Epoch, err
}

// own reports whether this machine took the epoch itself, for a new copy whose
// configuration is being written now: it waits a second for the configuration. The error
// is that of ctx if this ends first.
func (f *fence) own(ctx context.Context, taken replica.Epoch) (bool, error) {
	if host, err := os.Hostname(); err != nil || taken.Host != host {
		return false, nil
	}
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-time.After(time.Second):
	}
	config, err := replica.ReadConfig(f.db)
	return err == nil && config.Epoch == taken.Number, nil
}

// watch looks until ctx ends, or until another server took over, which its error says.
func (f *fence) watch(ctx context.Context) error {
	defer f.close()
	tick := time.NewTicker(FenceEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := f.look(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

func (f *fence) close() {
	if f.objects != nil {
		_ = f.objects.Close() // only reads
	}
	f.objects = nil
}
