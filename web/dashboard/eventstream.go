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

// An event stream is an answer that lasts: to a live page or a counter screen. An export
// may last as long, and is counted as one. The number of open ones is bounded, in all, for
// each account and for each holder. One ends within a second once its visitor may not see
// it any more.

const (
	maxEventStreams          = 500 // in all
	maxEventStreamsOfAccount = 200
	maxEventStreamsOfHolder  = 20

	liveLook = time.Minute // at most, before an event stream looks again whether it has something to send
	// liveBeat is how often a page hears that the connection lives. After two of them without a
	// word it says that it has no connection: silence of static/live.js.
	liveBeat = 4 * time.Second

	storageRetry = time.Second // before a failed read is tried again
)

// eventStreamHolder is who holds an event stream open: a user, or a link to a counter
// screen.
type eventStreamHolder struct{ account, user, link int64 }

func (s *Server) eventStreamBounds(h eventStreamHolder) []wire.Bound {
	holder := wire.Bound{Of: "user", ID: h.user, Most: maxEventStreamsOfHolder}
	if h.link != 0 {
		holder.Of, holder.ID = "counter_link", h.link
	}
	return []wire.Bound{{Of: "all", Most: s.Share(maxEventStreams, 4)},
		{Of: "account", ID: h.account, Most: s.Share(maxEventStreamsOfAccount, 8)}, holder}
}

// errTooManyEventStreams refuses an event stream beyond a bound. It is logged where it is
// counted.
var errTooManyEventStreams = app.Refused(app.CodeUnavailable, app.Text{
	EN: "Too many live pages and exports are open. Close some of them and try again.",
	VI: "Đang mở quá nhiều trang trực tiếp và tệp đang xuất. Hãy đóng bớt rồi thử lại.",
})

// takeEventStream counts one more event stream; give ends that. errTooManyEventStreams if a bound is
// reached.
func (s *Server) takeEventStream(h eventStreamHolder, now time.Time) (give func(), _ error) {
	bounds := s.eventStreamBounds(h)
	if !s.eventStreams.Take(bounds, s.Log, now) {
		return nil, errTooManyEventStreams
	}
	return func() { s.eventStreams.Give(bounds) }, nil
}

// stillAllowed returns wire.ErrRevoked once the visitor has signed out, was removed or
// has another role, each of which ends their sessions, or must set up a second factor,
// or is limited to other bank accounts. It reads the session from
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
		return wire.ErrRevoked
	}
	return err
}

// eventStream is one connection for server-sent events to a page.
type eventStream struct {
	*wire.EventStream
	server *Server
	give   func()
}

// openEventStream begins a stream. It ends once allowed returns wire.ErrRevoked.
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

// alive tells the page that the connection lives, and the server's time in unix
// seconds.
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

// wait is Wait, and tells a page that may not see more that the stream has ended.
func (s *eventStream) wait(changed <-chan struct{}, most time.Duration, beat func() error) error {
	err := s.Wait(changed, most, beat)
	if errors.Is(err, wire.ErrRevoked) {
		_ = s.Event("ended", "", "")
	}
	return err
}
