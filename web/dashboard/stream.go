package dashboard

import (
	"context"
	"errors"
	"strconv"
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

	liveLook     = time.Minute // at most, before a stream looks again whether it has something to send
	storageRetry = time.Second // before a failed read is tried again
)

// streamHolder is who holds a stream open: a user, or a link to a counter
// screen.
type streamHolder struct{ account, user, link int64 }

func (h streamHolder) bounds() []wire.Bound {
	holder := wire.Bound{Of: "user", ID: h.user, Most: maxStreamsOfHolder}
	if h.link != 0 {
		holder.Of, holder.ID = "counter_link", h.link
	}
	return []wire.Bound{{Of: "all", Most: maxStreams}, {Of: "account", ID: h.account, Most: maxStreamsOfAccount}, holder}
}

// errTooManyStreams refuses a stream beyond a bound. It is logged where it is
// counted.
var errTooManyStreams = app.Refused(app.CodeUnavailable, app.Text{
	EN: "Too many live pages and exports are open. Close some of them and try again.",
	VI: "Đang mở quá nhiều trang trực tiếp và tệp đang xuất. Hãy đóng bớt rồi thử lại.",
})

// takeStream counts one more stream; give ends that. errTooManyStreams if a bound is
// reached.
func (s *Server) takeStream(h streamHolder, now time.Time) (give func(), _ error) {
	bounds := h.bounds()
	if !s.streams.Take(bounds, s.Log, now) {
		return nil, errTooManyStreams
	}
	return func() { s.streams.Give(bounds) }, nil
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

// stream is one connection for server-sent events to a page.
type stream struct {
	*wire.EventStream
	server *Server
	give   func()
}

// openStream begins a stream. It ends once allowed returns wire.ErrRevoked.
func (s *Server) openStream(v *visit, holder streamHolder, allowed func() error) (*stream, error) {
	give, err := s.takeStream(holder, v.now)
	if err != nil {
		return nil, err
	}
	s.changes.Subscribe()
	return &stream{wire.OpenEventStream(v.w, v.Request, s.Closing, allowed), s, give}, nil
}

func (s *stream) close() {
	s.Close()
	s.server.changes.Unsubscribe()
	s.give()
}

// alive tells the page that the connection lives, and the server's time in unix
// seconds.
func (s *stream) alive() error {
	return s.Event("alive", "", strconv.FormatInt(time.Now().Unix(), 10))
}

// wait is Wait, and tells a page that may not see more that the stream has ended.
func (s *stream) wait(changed <-chan struct{}, most time.Duration, beat func() error) error {
	err := s.Wait(changed, most, beat)
	if errors.Is(err, wire.ErrRevoked) {
		_ = s.Event("ended", "", "")
	}
	return err
}
