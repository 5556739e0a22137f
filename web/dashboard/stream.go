package dashboard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"baoco/app"
	"baoco/web/wire"
)

// A stream is an answer that lasts: a live page, a counter screen, an export.
// The number of open streams is bounded, in all, for each account and for each
// holder. A stream ends within a second once its visitor may not see it any
// more.

const (
	maxStreams          = 500 // in all
	maxStreamsOfAccount = 200
	maxStreamsOfHolder  = 20

	accessInterval = 400 * time.Millisecond // between two checks whether a visitor is still allowed
	storageRetry   = time.Second            // before a failed read is tried again
	liveHeartbeat  = 15 * time.Second
	liveDeadline   = 10 * time.Second // for one event to be sent
)

// streamHolder is who holds a stream open: a user, or a link to a counter
// screen.
type streamHolder struct{ account, user, link int64 }

// streamCounts counts the streams that are open.
type streamCounts struct {
	mu        sync.Mutex
	all       int
	byAccount map[int64]int
	byHolder  map[streamHolder]int
	loggedAt  time.Time // when a refusal was last logged
}

// errTooManyStreams refuses a stream beyond a bound. It is logged by take.
var errTooManyStreams = app.Refused(app.CodeUnavailable, app.Text{
	EN: "Too many live pages and exports are open. Close some of them and try again.",
	VI: "Đang mở quá nhiều trang trực tiếp và tệp đang xuất. Hãy đóng bớt rồi thử lại.",
})

// take counts one more stream. errTooManyStreams if a bound is reached, which is
// logged at most once a minute.
func (c *streamCounts) take(h streamHolder, log *slog.Logger, now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all >= maxStreams || c.byAccount[h.account] >= maxStreamsOfAccount || c.byHolder[h] >= maxStreamsOfHolder {
		if now.Sub(c.loggedAt) >= time.Minute {
			c.loggedAt = now
			log.Warn("too many streams are open", "all", c.all, "account", h.account, "of_account", c.byAccount[h.account],
				"user", h.user, "counter_link", h.link, "of_holder", c.byHolder[h])
		}
		return errTooManyStreams
	}
	if c.byAccount == nil {
		c.byAccount, c.byHolder = map[int64]int{}, map[streamHolder]int{}
	}
	c.all++
	c.byAccount[h.account]++
	c.byHolder[h]++
	return nil
}

func (c *streamCounts) give(h streamHolder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
	if c.byAccount[h.account]--; c.byAccount[h.account] == 0 {
		delete(c.byAccount, h.account)
	}
	if c.byHolder[h]--; c.byHolder[h] == 0 {
		delete(c.byHolder, h)
	}
}

// errRevoked ends a stream whose visitor may not see it any more.
var errRevoked = errors.New("the visitor may not see this any more")

// stillAllowed returns errRevoked once the visitor has signed out, was removed or has
// another role, each of which ends their sessions, or must set up a second factor, or
// is limited to other bank accounts. It reads the session from
// the storage, since the request holds it as it was when the request came. Any
// other error means that the storage doesn't answer.
func (s *Server) stillAllowed(v *visit) error {
	ctx, cancel := context.WithTimeout(context.Background(), wire.RequestTimeout)
	defer cancel()
	ctx, err := s.sessions.Load(ctx, s.sessions.Token(v.Context()))
	if err != nil {
		return err
	}
	u, err := s.signedIn(ctx)
	if err == nil && (u.ID != v.user.ID || u.MustEnrol && !v.user.MustEnrol || !u.Limit.Equal(v.user.Limit)) {
		return errRevoked
	}
	return err
}

// stream is one connection for server-sent events.
type stream struct {
	server  *Server
	holder  streamHolder
	allowed func() error // see openStream
	ctx     context.Context
	w       http.ResponseWriter
	control *http.ResponseController
	beat    *time.Ticker
	broken  bool // an event could not be sent
}

// openStream begins a stream. It ends once allowed returns errRevoked.
func (s *Server) openStream(v *visit, holder streamHolder, allowed func() error) (*stream, error) {
	if err := s.streams.take(holder, s.Log, v.now); err != nil {
		return nil, err
	}
	s.changes.subscribe(s.Service.NewestIDs, s.Log)
	h := v.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would keep the events back
	stream := &stream{
		server: s, holder: holder, allowed: allowed, ctx: v.Context(), w: v.w, control: http.NewResponseController(v.w), beat: time.NewTicker(liveHeartbeat),
	}
	_ = stream.control.SetReadDeadline(time.Time{}) // that of the request would end the stream
	v.w.WriteHeader(http.StatusOK)
	return stream, nil
}

func (s *stream) close() {
	s.beat.Stop()
	s.server.changes.unsubscribe()
	s.server.streams.give(s.holder)
}

// lineEnds makes one of the three ends of a line in an event stream. A carriage
// return in a payer's text would otherwise begin a line of the stream, which could
// be any event.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// event writes an event. A browser whose connection broke sends the id of its last
// event when it connects anew; with an empty id it keeps the id of the event
// before.
func (s *stream) event(name, id, html string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "event: %s\n", name)
	if id != "" {
		fmt.Fprintf(&b, "id: %s\n", id)
	}
	for line := range strings.SplitSeq(lineEnds.Replace(html), "\n") {
		b.WriteString("data: " + line + "\n")
	}
	b.WriteString("\n")
	return s.write(b.String())
}

// alive tells the page that the connection lives, and the server's time in unix
// seconds.
func (s *stream) alive() error {
	return s.event("alive", "", strconv.FormatInt(time.Now().Unix(), 10))
}

func (s *stream) write(text string) error {
	err := s.control.SetWriteDeadline(time.Now().Add(liveDeadline))
	if err == nil {
		_, err = s.w.Write([]byte(text))
	}
	if err == nil {
		err = s.control.Flush()
	}
	s.broken = s.broken || err != nil
	return err
}

// wait returns nil once changed is closed and the visitor is still allowed. Until
// then it calls beat every 15 seconds. An error ends the stream. While the
// storage can't say whether the visitor is allowed, wait goes on waiting.
func (s *stream) wait(changed <-chan struct{}, beat func() error) error {
	check := time.NewTicker(accessInterval)
	defer check.Stop()
	due := false
	for {
		select {
		case <-s.ctx.Done():
			return s.ctx.Err()
		case <-s.server.Closing:
			return context.Canceled
		case <-s.beat.C:
			if err := beat(); err != nil {
				return err
			}
			continue
		case <-changed:
			changed, due = nil, true
		case <-check.C:
		}
		switch err := s.allowed(); {
		case errors.Is(err, errRevoked):
			_ = s.event("ended", "", "")
			return err
		case err == nil && due:
			return nil
		}
	}
}

// after returns a channel that is closed after a time.
func after(d time.Duration) <-chan struct{} {
	c := make(chan struct{})
	time.AfterFunc(d, func() { close(c) })
	return c
}
