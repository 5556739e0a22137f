package terminal

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v2"
)

// Interruptible lets a long command end in order when the process gets a signal to stop:
// its context is done, and its error says what is unfinished.
func Interruptible(action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		ctx, stop := UntilStopped(c.Context)
		defer stop()
		c.Context = ctx
		err := action(c)
		if err == nil || ctx.Err() == nil {
			return err
		}
		text := "interrupted"
		if rest, found := errors.AsType[unfinishedError](err); found {
			text += "; " + rest.state
		}
		return Exit(ExitError, errors.New(text))
	}
}

// UntilStopped returns a context that is done at Ctrl-C, at SIGTERM, and when the
// terminal is closed, unless the process ignores SIGHUP (nohup). A second signal ends the
// process at once.
func UntilStopped(ctx context.Context) (context.Context, context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, cancel := context.WithCancel(ctx)
	received := make(chan os.Signal, 1)
	signal.Notify(received, signals...)
	go func() {
		select {
		case <-received:
		case <-ctx.Done():
		}
		signal.Stop(received) // before ctx is done, so that a second signal ends the process
		cancel()
	}()
	return ctx, cancel
}

// unfinishedError is the error of an interrupted command. state is a sentence about what
// is done and what isn't.
type unfinishedError struct {
	error
	state string
}

func (e unfinishedError) Unwrap() error { return e.error }

// Unfinished adds to an error what is done and what isn't, for Interruptible.
func Unfinished(err error, state string) error {
	if err == nil {
		return nil
	}
	return unfinishedError{err, state}
}
