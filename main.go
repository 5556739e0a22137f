// Command baoco is a bank transaction notification service for one merchant's
// own server: the bank's transactions come in through a provider's webhook,
// are recorded once and for ever, and pushed at once to the shop's own URLs as
// signed webhooks, retried on a fixed schedule.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // a small server may have none

	"baoco/app/command"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // a write to a reader that has gone fails like any other
	os.Exit(command.Run(context.Background(), os.Args, os.Stdin, os.Stdout, os.Stderr))
}
