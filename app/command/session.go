package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"time"

	"baoco/app"
	"baoco/app/command/serve"
	"baoco/app/command/terminal"
	"baoco/app/services"
	"baoco/sqlitestore"

	"github.com/urfave/cli/v2"
)

// session is an open file with the use cases over it, for one command.
type session struct {
	store   *sqlitestore.Store
	service *services.All
	account int64
	now     time.Time
}

// admin wraps an action that works on the file, beside a running server or
// without one. It never creates the file.
func admin(action func(c *cli.Context, s *session) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		if err := terminal.CheckOutput(c); err != nil {
			return err
		}
		store, err := serve.OpenDatabase(c.Context, c.String("db"), sqlitestore.Options{Migrating: sayMigrating(c.App.ErrWriter)})
		if errors.Is(err, sqlitestore.ErrNoFile) {
			return fmt.Errorf("%w; baoco serve creates it, --db names another", err)
		}
		if err != nil {
			return err
		}
		defer store.Close()
		if epoch := serve.Fenced(store.Path()); epoch != "" {
			fmt.Fprintln(c.App.ErrWriter, fencedText(epoch))
		}
		s := &session{store: store, account: c.Int64("account"), now: time.Now()}
		c.Context = operating(c.Context, s.now)
		if s.service, _, err = serve.NewService(c.Context, store, nil); err != nil {
			return err
		}
		if _, err := s.service.Ledger.Account(c.Context, s.account); err != nil {
			return err
		}
		return action(c, s)
	}
}

// fencedText says that another server serves what this one served.
func fencedText(epoch string) string {
	return fmt.Sprintf("Another server took over: %s. What is changed here reaches nobody.", terminal.OneLine(epoch))
}

// operating gives a context in which the user of the operating system acts.
func operating(ctx context.Context, now time.Time) context.Context {
	name := os.Getenv("USER")
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if by := os.Getenv("SUDO_USER"); by != "" && os.Geteuid() == 0 {
		name = by + " (sudo)"
	}
	return app.ActingAs(ctx, app.Actor{Way: app.WayCommand, Name: name, At: now})
}

// withoutArguments is admin for a command that takes flags only.
func withoutArguments(action func(c *cli.Context, s *session) error) cli.ActionFunc {
	return admin(func(c *cli.Context, s *session) error {
		if err := terminal.NoArguments(c); err != nil {
			return err
		}
		return action(c, s)
	})
}

// withID is admin for a command whose one argument is the id of a thing; what
// names such things for a person.
func withID(what string, action func(c *cli.Context, s *session, id int64) error) cli.ActionFunc {
	return admin(func(c *cli.Context, s *session) error {
		id, err := terminal.IDArgument(c, what)
		if err != nil {
			return err
		}
		return action(c, s, id)
	})
}

// ending ends a thing of an account.
type ending func(ctx context.Context, account, id int64, now time.Time) error

// endByID is withID for a command that ends something. It reports the state and,
// on stderr, the sentence, which has a verb for the id.
func endByID(what string, end func(*services.All) ending, state, sentence string) cli.ActionFunc {
	return withID(what, func(c *cli.Context, s *session, id int64) error {
		if err := end(s.service)(c.Context, s.account, id, s.now); err != nil {
			return err
		}
		return terminal.Done(c, stateJSON{id, state}, sentence, id)
	})
}

// sayMigrating says on w that a file of an older version is migrated.
func sayMigrating(w io.Writer) func(sqlitestore.Migration) {
	return func(m sqlitestore.Migration) {
		fmt.Fprintf(w, "Bringing the database from schema %d to %d. A copy of it as it was: %s\n", m.From, m.To, m.Kept)
	}
}

// stateJSON is the new state of the thing with an id.
type stateJSON struct {
	ID    int64  `json:"id"`
	State string `json:"state"`
}

// given is the value of a flag; nil where the flag isn't given.
func given[T any](c *cli.Context, flag string, value func(flag string) T) *T {
	if !c.IsSet(flag) {
		return nil
	}
	return new(value(flag))
}
