package wire

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"baoco/app"
)

// Feed reads the value that event streams wait for, once for all of them, and wakes them
// when it changes. It reads only while a stream is subscribed.
type Feed[T comparable] struct {
	read   func(ctx context.Context) (T, error)
	every  time.Duration
	sooner func() <-chan struct{}
	log    *slog.Logger

	mu      sync.Mutex
	streams int // subscribed
	stop    context.CancelFunc
	newest  T             // the value that was read last
	known   bool          // newest was read since the first stream subscribed
	next    chan struct{} // closed at the next change
}

// feedPause is the least time between two readings.
const feedPause = 20 * time.Millisecond

// NewFeed makes a feed that reads at an interval, and when the channel that sooner returns
// is closed. A nil sooner means at the interval only.
func NewFeed[T comparable](read func(ctx context.Context) (T, error), every time.Duration, sooner func() <-chan struct{},
	log *slog.Logger) *Feed[T] {
	if sooner == nil {
		sooner = func() <-chan struct{} { return nil }
	}
	return &Feed[T]{read: read, every: every, sooner: sooner, log: log}
}

// Subscribe counts one more stream. The first stream starts the reading; the reading ends
// when the last one unsubscribes.
func (f *Feed[T]) Subscribe() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.streams++; f.streams == 1 {
		var ctx context.Context
		ctx, f.stop = context.WithCancel(context.Background())
		f.next, f.known = make(chan struct{}), false
		go f.run(ctx)
	}
}

// Unsubscribe counts one stream less.
func (f *Feed[T]) Unsubscribe() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.streams--; f.streams == 0 {
		f.stop()
	}
}

// run reads until ctx ends. It logs the first of several errors in a row.
func (f *Feed[T]) run(ctx context.Context) {
	tick := time.NewTicker(f.every)
	defer tick.Stop()
	failed := false
	for {
		sooner := f.sooner()
		var newest T
		err := app.Protected(func() (err error) { newest, err = f.read(ctx); return err })
		if err != nil && !failed && ctx.Err() == nil && app.CodeOf(err) != app.CodeUnavailable {
			f.log.Error("read what is new for event streams", "err", err)
		}
		failed = err != nil
		f.mu.Lock()
		if err == nil && (newest != f.newest || !f.known) {
			f.newest, f.known = newest, true
			f.wake()
		}
		f.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-time.After(feedPause):
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-sooner:
		}
	}
}

func (f *Feed[T]) wake() {
	close(f.next)
	f.next = make(chan struct{})
}

// Wake wakes the streams for another reason.
func (f *Feed[T]) Wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.streams > 0 {
		f.wake()
	}
}

// State returns the value that was read last, whether a value was read yet, and a channel
// that is closed at the next change.
func (f *Feed[T]) State() (newest T, known bool, changed <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.newest, f.known, f.next
}
