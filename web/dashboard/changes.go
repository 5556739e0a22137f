package dashboard

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"baoco/app"
)

// liveInterval is how often the newest ids are read while a stream is open: once
// for all streams of all accounts. Rows that another process records are seen the
// same way.
const liveInterval = 250 * time.Millisecond

// changeFeed wakes all open streams when the newest ids of the file change.
type changeFeed struct {
	mu      sync.Mutex
	streams int // subscribed
	stop    context.CancelFunc
	newest  app.NewestIDs
	next    chan struct{} // closed at the next change
	version int64         // counts the changes
}

// subscribe counts one more stream. The first one starts the reading of the
// newest ids, the last one that leaves ends it.
func (f *changeFeed) subscribe(read func(ctx context.Context) (app.NewestIDs, error), log *slog.Logger) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.streams++; f.streams == 1 {
		var ctx context.Context
		ctx, f.stop = context.WithCancel(context.Background())
		f.next = make(chan struct{})
		go f.run(ctx, read, log)
	}
}

func (f *changeFeed) unsubscribe() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.streams--; f.streams == 0 {
		f.stop()
	}
}

// run reads the newest ids until ctx ends. It logs the first of several errors.
func (f *changeFeed) run(ctx context.Context, read func(ctx context.Context) (app.NewestIDs, error), log *slog.Logger) {
	tick := time.NewTicker(liveInterval)
	defer tick.Stop()
	failed := false
	for {
		var newest app.NewestIDs
		err := app.Protected(func() (err error) { newest, err = read(ctx); return err })
		if err != nil && !failed && ctx.Err() == nil && app.CodeOf(err) != app.CodeUnavailable {
			log.Error("read the newest ids for live rows", "err", err)
		}
		failed = err != nil
		f.mu.Lock()
		if err == nil && newest != f.newest {
			f.newest = newest
			f.version++
			close(f.next)
			f.next = make(chan struct{})
		}
		f.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// changed returns a channel that is closed at the next change, and the version
// before that change.
func (f *changeFeed) changed() (next <-chan struct{}, version int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.next, f.version
}

// last returns the newest ids as they were read last.
func (f *changeFeed) last() app.NewestIDs {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.newest
}
