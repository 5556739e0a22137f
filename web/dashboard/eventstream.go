package dashboard

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"time"

	"baoco/app"
	"baoco/web/wire"
)

// An event stream is an answer that stays open, to a live page or a counter screen. An export
// may take as long, and is counted as an event stream. The number of open ones is bounded, in
// all, for each account and for each holder. An event stream ends within a second once its
// visitor may not see it any more.

const (
	maxEventStreams          = 500 // in all
	maxEventStreamsOfAccount = 200
	maxEventStreamsOfHolder  = 20

	liveWait = time.Minute // the longest time until an event stream checks again whether it has something to send
	// liveBeat is how often a page gets the event alive. After two beats without an event the
	// page says that it has no connection: silence of static/live.js.
	liveBeat = 4 * time.Second

	storageRetry = time.Second // the wait before a failed read is tried again
)

// eventStreamHolder is the user or the counter link that has an event stream open.
type eventStreamHolder struct{ account, user, link int64 }

func (s *Server) eventStreamBounds(h eventStreamHolder) []wire.Bound {
	holder := wire.Bound{Of: "user", ID: h.user, Most: maxEventStreamsOfHolder}
	if h.link != 0 {
		holder.Of, holder.ID = "counter_link", h.link
	}
	return []wire.Bound{{Of: "all", Most: s.Share(maxEventStreams, 4)},
		{Of: "account", ID: h.account, Most: s.Share(maxEventStreamsOfAccount, 8)}, holder}
}

// errTooManyEventStreams refuses an event stream beyond a bound. wire.Lasting logs it.
var errTooManyEventStreams = app.Refused(app.CodeUnavailable, app.Text{
	EN: "Too many live pages and exports are open. Close some of them and try again.",
	VI: "Đang mở quá nhiều trang trực tiếp và tệp đang xuất. Hãy đóng bớt rồi thử lại.",
})

// takeEventStream counts one more open event stream, until give is called. It returns
// errTooManyEventStreams if a bound is reached.
func (s *Server) takeEventStream(h eventStreamHolder, now time.Time) (give func(), _ error) {
	bounds := s.eventStreamBounds(h)
	if !s.eventStreams.Take(bounds, s.Log, now) {
		return nil, errTooManyEventStreams
	}
	return func() { s.eventStreams.Give(bounds) }, nil
}

// stillAllowed returns wire.ErrRevoked if the visitor's session has ended (by signing out, by
// removal or by another role), or if the visitor must set up a second factor or has another
// limit of bank accounts. It reads the session from the storage, since the request holds the
// session as it was when the request came. Any other error means that the storage failed.
func (s *Server) stillAllowed(v *visit) error {
	ctx, cancel := context.WithTimeout(context.Background(), wire.RequestTimeout)
	defer cancel()
	ctx, err := s.sessions.Load(ctx, s.sessions.Token(v.Context()))
	if err != nil {
		return err
	}
	u, err := s.signedIn(ctx)
	if err == nil && (u.ID != v.user.ID || u.MustEnrol && !v.user.MustEnrol || !u.Limit.Equal(v.user.Limit)) {
		return wire.ErrRevoked
	}
	return err
}

// eventStream is an open answer of server-sent events to a page.
type eventStream struct {
	*wire.EventStream
	server *Server
	give   func()
}

// openEventStream begins an event stream, which ends once allowed returns wire.ErrRevoked.
func (s *Server) openEventStream(v *visit, holder eventStreamHolder, allowed func() error) (*eventStream, error) {
	give, err := s.takeEventStream(holder, v.now)
	if err != nil {
		return nil, err
	}
	s.changes.Subscribe()
	return &eventStream{wire.OpenEventStream(v.w, v.Request, s.Closing, allowed, liveBeat), s, give}, nil
}

func (s *eventStream) close() {
	s.Close()
	s.server.changes.Unsubscribe()
	s.give()
}

// alive sends the event by which the page knows that the connection works. Its data is the
// server's time in unix seconds.
func (s *eventStream) alive() error {
	return s.Event("alive", "", strconv.FormatInt(time.Now().Unix(), 10))
}

// part sends a template as an event.
func (s *eventStream) part(name, event, id string, data any) error {
	var html bytes.Buffer
	if err := templates().ExecuteTemplate(&html, name, data); err != nil {
		return err
	}
	return s.Event(event, id, html.String())
}

// wait is Wait, and sends the event ended if the visitor may not see more.
func (s *eventStream) wait(changed <-chan struct{}, most time.Duration, beat func() error) error {
	err := s.Wait(changed, most, beat)
	if errors.Is(err, wire.ErrRevoked) {
		_ = s.Event("ended", "", "")
	}
	return err
}
