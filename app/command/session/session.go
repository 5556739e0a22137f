// Package session opens the database file and its use cases for one command, beside a
// running server or without one.
package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/command/serve"
	"baoco/app/command/terminal"
	"baoco/app/services"
	"baoco/sqlitestore"

	"github.com/urfave/cli/v2"
)

// Session is an open database file with its use cases, for one command.
type Session struct {
	Store    *sqlitestore.Store
	Services *services.All
	Account  int64
	Now      time.Time
}

// Admin wraps an action that works on the database file, beside a running server or
// without one. It never creates the file.
func Admin(action func(c *cli.Context, s *Session) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		store, err := serve.OpenDatabase(c.Context, c.String("db"), sqlitestore.Options{Migrating: SayMigrating(c.App.ErrWriter)})
		if errors.Is(err, sqlitestore.ErrNoFile) {
			return fmt.Errorf("%w; baoco serve creates it, --db names another", err)
		}
		if err != nil {
			return err
		}
		defer store.Close()
		if epoch := serve.Fenced(store.Path()); epoch != "" {
			fmt.Fprintln(c.App.ErrWriter, FencedText(epoch))
		}
		s := &Session{Store: store, Account: c.Int64("account"), Now: time.Now()}
		c.Context = Operating(c.Context, s.Now)
		if s.Services, _, err = serve.NewService(c.Context, store, nil); err != nil {
			return err
		}
		if _, err := s.Services.Ledger.Account(c.Context, s.Account); err != nil {
			return err
		}
		return action(c, s)
	}
}

// FencedText returns the warning that another server has taken over from this one.
func FencedText(epoch string) string {
	return fmt.Sprintf("Another server took over: %s. What is changed here reaches nobody.", terminal.OneLine(epoch))
}

// Operating returns a context with the user of the operating system as the actor.
func Operating(ctx context.Context, now time.Time) context.Context {
	name := os.Getenv("USER")
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if by := os.Getenv("SUDO_USER"); by != "" && os.Geteuid() == 0 {
		name = by + " (sudo)"
	}
	return app.ActingAs(ctx, app.Actor{Way: app.WayCommand, Name: name, At: now})
}

// WithoutArguments is Admin for a command that takes flags only.
func WithoutArguments(action func(c *cli.Context, s *Session) error) cli.ActionFunc {
	return terminal.WithoutArguments(Admin(action))
}

// WithArgument is Admin for a command with one argument; what describes it.
func WithArgument(what string, action func(c *cli.Context, s *Session, argument string) error) cli.ActionFunc {
	return Admin(func(c *cli.Context, s *Session) error {
		if c.NArg() != 1 {
			return terminal.Usagef("%s takes one argument, %s", c.Command.FullName(), what)
		}
		return action(c, s, c.Args().First())
	})
}

// WithID is Admin for a command whose one argument is the id of a thing; what is the noun
// of the thing.
func WithID(what string, action func(c *cli.Context, s *Session, id int64) error) cli.ActionFunc {
	return Admin(func(c *cli.Context, s *Session) error {
		id, err := terminal.IDArgument(c, what)
		if err != nil {
			return err
		}
		return action(c, s, id)
	})
}

// Plain returns a command without arguments and without own flags. line is the name of its
// parent command and its own name.
func Plain(line, usage string, action func(c *cli.Context, s *Session) error) *cli.Command {
	_, name, _ := strings.Cut(line, " ")
	return &cli.Command{Name: name, Usage: usage, Description: terminal.Example("baoco " + line), Flags: terminal.AdminFlags(),
		Action: WithoutArguments(action)}
}

// Of is Plain for a command whose one argument is the id of a thing.
func Of(line, usage, what string, action func(c *cli.Context, s *Session, id int64) error) *cli.Command {
	command := Plain(line, usage, nil)
	command.ArgsUsage, command.Description, command.Action = "ID", terminal.Example("baoco "+line+" 1"), WithID(what, action)
	return command
}

// Ending ends a thing of an account.
type Ending func(ctx context.Context, account, id int64, now time.Time) error

// End returns an action that ends a thing. It reports the state and, on stderr, the
// sentence, a format with one verb for the id.
func End(end func(*services.All) Ending, state, sentence string) func(c *cli.Context, s *Session, id int64) error {
	return func(c *cli.Context, s *Session, id int64) error {
		err := end(s.Services)(c.Context, s.Account, id, s.Now)
		return terminal.Done(c, err, StateJSON{id, state}, sentence, id)
	}
}

// SayMigrating returns a function that prints on w that an older file is migrated.
func SayMigrating(w io.Writer) func(sqlitestore.Migration) {
	return func(m sqlitestore.Migration) {
		fmt.Fprintf(w, "Bringing the database from schema %d to %d. A copy of it as it was: %s\n", m.From, m.To, m.Kept)
	}
}

// StateJSON is the new state of the thing with an id.
type StateJSON struct {
	ID    int64  `json:"id"`
	State string `json:"state"`
}

// Given returns the value of a flag; nil if it isn't given.
func Given[T any](c *cli.Context, flag string, value func(flag string) T) *T {
	if !c.IsSet(flag) {
		return nil
	}
	return new(value(flag))
}

// OnAccount returns the flag --account that a suggested command needs for an account.
func OnAccount(id int64) string {
	if id == app.DefaultAccountID {
		return ""
	}
	return " --account " + strconv.FormatInt(id, 10)
}
