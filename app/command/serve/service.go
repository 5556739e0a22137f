package serve

import (
	"context"
	"time"

	"baoco/app"
	"baoco/app/command/terminal"
	"baoco/app/provider"
	"baoco/scheduler"
	"baoco/sqlitestore"
	"baoco/web/dashboard"
)

// Version is set at release: -ldflags "-X baoco/app/command/serve.Version=1.2.3".
var Version = "dev"

// OpenDatabase opens the file. Whatever keeps it from that, a disk that can
// only be read among others, is a failure of the database.
func OpenDatabase(ctx context.Context, path string, o sqlitestore.Options) (*sqlitestore.Store, error) {
	store, err := sqlitestore.Open(ctx, path, o)
	return store, terminal.DatabaseError(err)
}

// NewService wires the use cases over a file, with what the file knows of the
// installation. A nil schedule is that of the interface.
func NewService(ctx context.Context, store *sqlitestore.Store, schedule []time.Duration) (*app.Service, *scheduler.Sender, error) {
	zone, err := store.Zone(ctx)
	if err != nil {
		return nil, nil, err
	}
	allowed, err := store.AllowTargets(ctx)
	if err != nil {
		return nil, nil, err
	}
	targets, err := app.ParseTargetPolicy(allowed)
	if err != nil {
		return nil, nil, err
	}
	sender := scheduler.NewSender(targets, Version, nil)
	return app.NewService(app.Config{
		Store: store, Zone: zone, Targets: targets,
		Providers: provider.Facts(), Read: provider.Read, Poll: scheduler.NewPoller(targets, zone, Version, nil).Poll,
		Send: sender.Send, Alert: scheduler.NewAlerter(targets, Version, nil).Send, AttentionPath: dashboard.AttentionPath, Schedule: schedule,
	}), sender, nil
}
