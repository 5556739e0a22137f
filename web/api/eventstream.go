package api

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/stream"
	"baoco/web/wire"
)

// The transactions of an account as server-sent events, for programs that want each
// once, in order, and have no broker. A reader who was away says which transaction was
// its last, and gets all after it, a few at a time: between two readings of the file
// nothing of it is held, however slow the reader is.

// eventStreamPath is the one address of the API whose answer lasts.
const eventStreamPath = "/api/v1/transactions/stream"

const (
	maxEventStreams          = 1000 // in all
	maxEventStreamsOfAccount = 200
	maxEventStreamsOfClient  = 100 // an address
	maxEventStreamsOfKey     = 50

	eventsRead  = 50               // transactions at a time
	eventsLook  = time.Second      // between two looks for what another process has recorded, for all streams together
	quietWait   = time.Minute      // at most, before a stream looks by itself
	eventsRetry = time.Second      // before a failed reading is tried again
	eventsPause = time.Millisecond // after a reading, for each stream that is open: together they read a thousand times a second
	leastPause  = 20 * eventsPause // also where few are open
	readerRetry = 2 * time.Second  // before a reader whose connection broke connects anew

	heartbeat = ": the connection is alive\n\n" // a comment, which readers skip
	eventBeat = 15 * time.Second                // between two heartbeats
)

func (s *Server) allEventStreams() wire.Bound {
	return wire.Bound{Of: "all", Most: s.Share(maxEventStreams, 4)}
}

func (s *Server) eventStreamBounds(q *Request) []wire.Bound {
	return []wire.Bound{
		s.allEventStreams(), {Of: "account", ID: q.account(), Most: s.Share(maxEventStreamsOfAccount, 8)},
		{Of: "api_key", ID: q.key.ID, Most: s.Share(maxEventStreamsOfKey, 8)},
		{Of: "client", ID: s.Client(q.Request), Most: s.Share(maxEventStreamsOfClient, 8)},
	}
}

// errTooManyEventStreams refuses a stream beyond a bound. It is logged where it is
// counted.
var errTooManyEventStreams = app.Refused(app.CodeUnavailable, app.Text{
	EN: "Too many event streams are open. Close some of them and try again.",
	VI: "Đang mở quá nhiều luồng sự kiện. Hãy đóng bớt rồi thử lại.",
})

type eventStream struct {
	*wire.EventStream
	server *Server
	q      *Request
	of     stream.Stream // whose transactions it sends
	passed int64         // transactions up to this id are sent, or don't belong to the stream
	begin  int64         // the reader has transactions after this id,
	has    int64         // up to this one
	told   int64         // removals up to this number are told, or aren't of what the reader has
	failed bool          // the last reading failed
}

func (s *Server) streamTransactions(q *Request) error {
	p := wire.ParamsOf(q.Request, s.zone)
	f := app.TransactionFilter{BankAccountID: p.ID("bank_account_id"), Type: p.Direction()}
	codePrefix := p.Values.Get("code_prefix")
	if codePrefix != "" {
		p.Bad.Merge(app.CheckCodePrefix("code_prefix", codePrefix))
	}
	since := lastEvent(q, p)
	if err := p.Bad.Err(); err != nil {
		return err
	}
	newest, told, err := s.startOfEvents(q, f, since)
	if err != nil {
		return err
	}
	bounds := s.eventStreamBounds(q)
	if !s.eventStreams.Take(bounds, s.Log, q.now) {
		return errTooManyEventStreams
	}
	defer s.eventStreams.Give(bounds)
	s.newest.Subscribe()
	defer s.newest.Unsubscribe()
	e := eventStream{server: s, q: q, passed: newest.TransactionID, told: newest.Removals,
		of: stream.Stream{AccountID: q.account(), BankAccountID: f.BankAccountID, Type: cmp.Or(delivery.WebhookType(f.Type), delivery.WebhookAll),
			CodePrefix: codePrefix}}
	e.begin, e.has = e.passed, e.passed
	if since != nil { // it is told what was removed while it was away
		e.begin, e.has, e.told = 0, *since, 0
	}
	e.EventStream = wire.OpenEventStream(q.writer, q.Request, s.closing, e.allowed, eventBeat)
	defer e.Close()
	if q.Method != http.MethodHead {
		e.run(told)
	}
	return nil
}

// lastEvent is the id of the last transaction that a reader has; nil where it wants
// what is recorded from now on. A reader whose connection broke asks at the same
// address as before, so the header counts more than the address.
func lastEvent(q *Request, p *wire.Params) (since *int64) {
	if text := p.Values.Get("since_id"); text != "" {
		since = new(readSinceID("since_id", text, &p.Bad))
	}
	if text := strings.Join(q.Header.Values("Last-Event-ID"), ","); text != "" {
		since = new(readSinceID("Last-Event-ID", text, &p.Bad))
	}
	return since
}

// startOfEvents finds where a stream begins: after newest. told is what the reader is
// told of that, so that it comes back there if its connection breaks before the first
// event: the id of one of its own transactions, since ids count those of all accounts.
//
// An id that isn't given yet, as after the restore of an old backup, begins with what
// is recorded from now on.
func (s *Server) startOfEvents(q *Request, f app.TransactionFilter, since *int64) (newest delivery.NewestIDs, told int64, err error) {
	ctx, cancel := context.WithTimeout(q.Context(), wire.RequestTimeout)
	defer cancel()
	if newest, err = s.newestEvents(ctx); err != nil {
		return newest, 0, err
	}
	f.UntilID, f.Page = newest.TransactionID, app.Page{Number: 1, Size: 1}
	last, err := s.service.Ledger.Transactions(ctx, q.account(), f)
	if err != nil {
		return newest, 0, err
	}
	if len(last.Rows) > 0 {
		told = last.Rows[0].ID
	}
	if since != nil && *since < told {
		newest.TransactionID, told = *since, *since
	}
	return newest, told, nil
}

// newestEvents are the ends of what event streams send.
func (s *Server) newestEvents(ctx context.Context) (delivery.NewestIDs, error) {
	newest, err := s.service.Deliveries.NewestIDs(ctx)
	return delivery.NewestIDs{TransactionID: newest.TransactionID, Removals: newest.Removals}, err
}

// allowed returns wire.ErrRevoked once the key is revoked or has expired.
func (e *eventStream) allowed() error {
	_, err := e.server.authenticate(e.q.Request, time.Now())
	if app.CodeOf(err) == app.CodeUnauthorized {
		return wire.ErrRevoked
	}
	return err
}

func (e *eventStream) run(told int64) {
	start := "retry: " + strconv.FormatInt(readerRetry.Milliseconds(), 10) + "\nid: " + strconv.FormatInt(told, 10) + "\n" + heartbeat
	if err := e.Send([]byte(start)); err != nil {
		return
	}
	for {
		newest, _, changed := e.server.newest.State()
		wait := quietWait
		if before := *e; newest.TransactionID > e.passed || newest.Removals > e.told {
			changed, wait = nil, e.pause()
			switch err := e.sendNext(newest); {
			case e.Broken:
				return
			case err != nil:
				wait = eventsRetry
			case before.passed < e.passed && e.passed < newest.TransactionID, before.told < e.told && e.told < newest.Removals:
				wait = 0
			}
		}
		if e.Wait(changed, wait, e.beat) != nil {
			return
		}
	}
}

// pause is how long a stream that has sent all rests before it reads again, so that
// many streams beside many calls of providers don't take the machine from both.
func (e *eventStream) pause() time.Duration {
	return max(leastPause, time.Duration(e.server.eventStreams.Count(e.server.allEventStreams()))*eventsPause)
}

func (e *eventStream) beat() error { return e.Send([]byte(heartbeat)) }

// sendNext sends which transactions were removed, and the next ones. It logs the first of
// several errors of the storage.
func (e *eventStream) sendNext(newest delivery.NewestIDs) error {
	next, err := e.read(newest)
	if err != nil && !e.failed && e.q.Context().Err() == nil && app.CodeOf(err) != app.CodeUnavailable {
		e.server.Log.Error("read transactions for an event stream", "request_id", wire.RequestID(e.q.Request), "err", err)
	}
	if e.failed = err != nil; e.failed {
		return err
	}
	var events []byte
	if len(next.removed) > 0 {
		events = wire.AppendEvent(events, "removed", "", string(removedJSON(next.removed)))
	}
	for _, t := range next.list {
		p := delivery.PayloadOf(t)
		events = wire.AppendEvent(events, "transaction", p.ID, string(p.Unsigned()))
	}
	if len(events) > 0 {
		if err := e.Send(events); err != nil {
			return err
		}
	}
	e.passed, e.has, e.told = next.passed, max(e.has, next.passed), next.told
	return nil
}

// removedJSON is the schema RemovedTransactions of openapi.yaml.
func removedJSON(ids []int64) []byte {
	texts := All(ids, func(id int64) string { return strconv.FormatInt(id, 10) })
	b, _ := json.Marshal(map[string][]string{"removed": texts}) // texts can be encoded
	return b
}

type nextEvents struct {
	removed      []int64
	list         []app.Transaction
	passed, told int64
}

// read reads what is next. One stream at a time does that, so that many which were away
// leave the storage to others. The removals are read first: a transaction that is removed
// between the two is in neither, or in the list and told the next time.
func (e *eventStream) read(newest delivery.NewestIDs) (next nextEvents, err error) {
	next.passed, next.told = e.passed, e.told
	ctx, cancel := context.WithTimeout(e.q.Context(), wire.RequestTimeout)
	defer cancel()
	select {
	case e.server.reading <- struct{}{}:
		defer func() { <-e.server.reading }()
	case <-ctx.Done():
		return next, app.Unavailable(ctx.Err())
	}
	if newest.Removals > e.told {
		if next.removed, next.told, err = e.server.service.Streams.RemovedTransactions(ctx, e.of, e.told, e.has); err != nil {
			return next, err
		}
		next.removed = slices.DeleteFunc(next.removed, func(id int64) bool { return id <= e.begin })
		if next.told == e.told { // what is newer is of other accounts
			next.told = newest.Removals
		}
	}
	next.list, next.passed, err = e.server.service.Streams.StreamTransactions(ctx, e.of, e.passed, eventsRead)
	return next, err
}
