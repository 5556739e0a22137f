package serve

import (
	"context"
	"runtime/debug"
	"time"

	"baoco/app/command/terminal"
	"baoco/app/provider"
	"baoco/app/services"
	"baoco/app/target"
	"baoco/scheduler"
	"baoco/scheduler/courier"
	"baoco/sqlitestore"
)

// Version is set at release: -ldflags "-X baoco/app/command/serve.Version=1.2.3".
var Version = "dev"

// Commit is the commit of which the program was built, with a plus sign where
// files differed from it. It is empty where the build didn't know.
func Commit() (commit string) {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			commit += "+"
		}
	}
	return commit
}

// OpenDatabase opens the file. Every error, also that of a read-only disk, gets the
// exit code of the database.
func OpenDatabase(ctx context.Context, path string, o sqlitestore.Options) (*sqlitestore.Store, error) {
	store, err := sqlitestore.Open(ctx, path, o)
	return store, terminal.DatabaseError(err)
}

// NewService makes the use cases over a file, with the zone and the allowed targets
// that are saved in it. A nil schedule means delivery.RetrySchedule.
func NewService(ctx context.Context, store *sqlitestore.Store, schedule []time.Duration) (*services.All, *courier.Sender, error) {
	zone, err := store.Zone(ctx)
	if err != nil {
		return nil, nil, err
	}
	allowed, err := store.AllowTargets(ctx)
	if err != nil {
		return nil, nil, err
	}
	targets, err := target.ParsePolicy(allowed)
	if err != nil {
		return nil, nil, err
	}
	sender, alerter := courier.NewSender(targets, Version, nil), scheduler.NewAlerter(targets, Version, nil)
	return services.New(services.Config{
		Store: store, Zone: zone, Targets: targets,
		Providers: provider.Facts(), Read: provider.Read, Poll: scheduler.NewPoller(targets, zone, Version, nil).Poll,
		Send: sender.Send, OpenBroker: scheduler.BrokersOf(targets), Alert: alerter.Send, TelegramChats: alerter.TelegramChats,
		Push: alerter.Push, Schedule: schedule,
	}), sender, nil
}
