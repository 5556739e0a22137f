package dashboard

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"baoco/app"
)

// Live pages. A page that shows what changes by itself holds one stream of
// server-sent events open. The stream says only that something has changed; then
// the page asks for itself anew, and static/live.js puts what differs into it. So
// whatever stands on a page is live, and is rendered in one place.

// liveHeader marks the request with which a live page asks for itself anew.
const liveHeader = "X-Live"

// position names the newest ids that a page or an event was made with. Those of a
// page were read before its rows, so that it shows all of them. Positions can only
// be compared: the ids count the rows of all accounts, so nobody may read them.
func (s *Server) position(n app.NewestIDs) string {
	mac := hmac.New(sha256.New, s.positionKey[:])
	fmt.Fprint(mac, n)
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// livePage streams two events: changed, with the position, at first and whenever it
// is another, which pages compare with their own; and alive, at once and every 15
// seconds, by which pages notice a connection that died silently. A visitor who is
// limited to some bank accounts hears of what they show, and of nothing else.
func (s *Server) livePage(v *visit) error {
	stream, err := s.openStream(v, streamHolder{account: v.account.ID, user: v.user.ID}, func() error { return s.stillAllowed(v) })
	if err != nil {
		return err
	}
	defer stream.close()
	if err := stream.alive(); err != nil {
		return nil
	}
	sent := ""
	for {
		newest, read, changed := s.changes.state()
		if read && v.user.Limit.On {
			if newest, err = s.Service.NewestIDs(v.Context()); err != nil {
				read, changed = false, after(storageRetry)
			}
		}
		if now := s.position(newest); read && now != sent {
			if err := stream.Event("changed", "", now); err != nil {
				return nil // the page connects anew
			}
			sent = now
		}
		if err := stream.wait(changed, stream.alive); err != nil {
			return nil
		}
	}
}

// liveInterval is how often the newest ids are read while a stream is open: once
// for all streams of all accounts. Rows that another process records are seen the
// same way.
const liveInterval = 250 * time.Millisecond

// changeFeed wakes all open streams when the newest ids of the file change.
type changeFeed struct {
	mu      sync.Mutex
	streams int // subscribed
	stop    context.CancelFunc
	newest  app.NewestIDs // as they were read last
	read    bool          // newest was read since the first stream began
	next    chan struct{} // closed at the next change
	tests   map[int64]int // test payments by account, since the program began
}

// subscribe counts one more stream. The first one starts the reading of the
// newest ids, the last one that leaves ends it.
func (f *changeFeed) subscribe(read func(ctx context.Context) (app.NewestIDs, error), log *slog.Logger) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.streams++; f.streams == 1 {
		var ctx context.Context
		ctx, f.stop = context.WithCancel(context.Background())
		f.next, f.read = make(chan struct{}), false
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
			log.Error("read the newest ids for live pages", "err", err)
		}
		failed = err != nil
		f.mu.Lock()
		if err == nil && (newest != f.newest || !f.read) {
			f.newest, f.read = newest, true
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

// state returns the newest ids, whether they were read yet, and a channel that is
// closed when that changes.
func (f *changeFeed) state() (newest app.NewestIDs, read bool, changed <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.newest, f.read, f.next
}

// test tells the streams that an account has one more test payment.
func (f *changeFeed) test(account int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tests == nil {
		f.tests = map[int64]int{}
	}
	f.tests[account]++
	if f.streams > 0 {
		close(f.next)
		f.next = make(chan struct{})
	}
}

// testsOf counts the test payments of an account.
func (f *changeFeed) testsOf(account int64) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tests[account]
}
