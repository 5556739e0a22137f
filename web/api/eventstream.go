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

// The transactions of an account as server-sent events, for programs without a broker that
// want each transaction once, in order. A reader that connects again sends the id of its last
// transaction, and gets all transactions after it, a few at a time. Between two reads the
// server holds nothing of the file, however slow the reader is.

// eventStreamPath is the only address of the API whose answer stays open.
const eventStreamPath = "/api/v1/transactions/stream"

const (
	maxEventStreams          = 1000 // in all
	maxEventStreamsOfAccount = 200
	maxEventStreamsOfClient  = 100 // a client address
	maxEventStreamsOfKey     = 50

	eventsRead  = 50               // transactions at a time
	eventsPoll  = time.Second      // how often the newest ids are read, for all event streams together
	quietWait   = time.Minute      // the longest wait before an event stream checks for new rows by itself
	eventsRetry = time.Second      // the wait before a failed read is tried again
	eventsPause = time.Millisecond // the pause after a read, times the open event streams: together 1,000 reads a second at most
	leastPause  = 20 * eventsPause // the pause if few event streams are open
	readerRetry = 2 * time.Second  // the wait of a reader before it connects again

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

// errTooManyEventStreams refuses an event stream beyond a bound. wire.Lasting logs it.
var errTooManyEventStreams = app.Refused(app.CodeUnavailable, app.Text{
	EN: "Too many event streams are open. Close some of them and try again.",
	VI: "Đang mở quá nhiều luồng sự kiện. Hãy đóng bớt rồi thử lại.",
})

type eventStream struct {
	*wire.EventStream
	server *Server
	q      *Request
	of     stream.Stream // the filter of its transactions
	passed int64         // transactions up to this id are sent, or don't match
	// The reader may have the transactions after begin up to has.
	begin, has int64
	removals   int64 // removals up to this number are sent, or aren't of transactions of the reader
	failed     bool  // the last read failed
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
	newest, startID, err := s.startOfEvents(q, f, since)
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
	e := eventStream{server: s, q: q, passed: newest.TransactionID, removals: newest.Removals,
		of: stream.Stream{AccountID: q.account(), BankAccountID: f.BankAccountID, Type: cmp.Or(delivery.WebhookType(f.Type), delivery.WebhookAll),
			CodePrefix: codePrefix}}
	e.begin, e.has = e.passed, e.passed
	if since != nil { // it gets the removals of the time without a connection
		e.begin, e.has, e.removals = 0, *since, 0
	}
	e.EventStream = wire.OpenEventStream(q.writer, q.Request, s.closing, e.allowed, eventBeat)
	defer e.Close()
	if q.Method != http.MethodHead {
		e.run(startID)
	}
	return nil
}

// lastEvent is the id of the last transaction that a reader has; nil: it wants the
// transactions that are recorded from now on. The header goes before the address, since a
// reader whose connection broke uses the same address again.
func lastEvent(q *Request, p *wire.Params) (since *int64) {
	if text := p.Values.Get("since_id"); text != "" {
		since = new(readSinceID("since_id", text, &p.Bad))
	}
	if text := strings.Join(q.Header.Values("Last-Event-ID"), ","); text != "" {
		since = new(readSinceID("Last-Event-ID", text, &p.Bad))
	}
	return since
}

// startOfEvents finds where an event stream begins: after newest. The reader gets startID
// before the first event, so that it can begin there again if its connection breaks. It is the
// id of one of its own transactions, since ids count the transactions of all accounts.
//
// If no transaction has the id since yet, as after the restore of an old backup, the stream
// begins with the transactions that are recorded from now on.
func (s *Server) startOfEvents(q *Request, f app.TransactionFilter, since *int64) (newest delivery.NewestIDs, startID int64, err error) {
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
		startID = last.Rows[0].ID
	}
	if since != nil && *since < startID {
		newest.TransactionID, startID = *since, *since
	}
	return newest, startID, nil
}

// newestEvents are the newest ids of the rows that event streams send.
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

func (e *eventStream) run(startID int64) {
	start := "retry: " + strconv.FormatInt(readerRetry.Milliseconds(), 10) + "\nid: " + strconv.FormatInt(startID, 10) + "\n" + heartbeat
	if err := e.Send([]byte(start)); err != nil {
		return
	}
	for {
		newest, _, changed := e.server.newest.State()
		wait := quietWait
		if before := *e; newest.TransactionID > e.passed || newest.Removals > e.removals {
			changed, wait = nil, e.pause()
			switch err := e.sendNext(newest); {
			case e.Broken:
				return
			case err != nil:
				wait = eventsRetry
			case before.passed < e.passed && e.passed < newest.TransactionID, before.removals < e.removals && e.removals < newest.Removals:
				wait = 0
			}
		}
		if e.Wait(changed, wait, e.beat) != nil {
			return
		}
	}
}

// pause is how long an event stream waits after a read before it reads again, so that many
// event streams leave time for the calls of providers.
func (e *eventStream) pause() time.Duration {
	return max(leastPause, time.Duration(e.server.eventStreams.Count(e.server.allEventStreams()))*eventsPause)
}

func (e *eventStream) beat() error { return e.Send([]byte(heartbeat)) }

// sendNext sends the ids of transactions that were removed, and the next transactions. Of
// several successive errors it logs the first.
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
	e.passed, e.has, e.removals = next.passed, max(e.has, next.passed), next.removals
	return nil
}

// removedJSON is the schema RemovedTransactions of openapi.yaml.
func removedJSON(ids []int64) []byte {
	texts := All(ids, func(id int64) string { return strconv.FormatInt(id, 10) })
	b, _ := json.Marshal(map[string][]string{"removed": texts}) // strings can be encoded
	return b
}

type nextEvents struct {
	removed          []int64
	list             []app.Transaction
	passed, removals int64
}

// read reads the next events. Only one event stream at a time reads, so that many readers that
// connect again leave the storage free for others. It reads the removals first: so a
// transaction that is removed between the two reads is not in the list, or its removal comes
// with the next read.
func (e *eventStream) read(newest delivery.NewestIDs) (next nextEvents, err error) {
	next.passed, next.removals = e.passed, e.removals
	ctx, cancel := context.WithTimeout(e.q.Context(), wire.RequestTimeout)
	defer cancel()
	select {
	case e.server.reading <- struct{}{}:
		defer func() { <-e.server.reading }()
	case <-ctx.Done():
		return next, app.Unavailable(ctx.Err())
	}
	if newest.Removals > e.removals {
		if next.removed, next.removals, err = e.server.service.Streams.RemovedTransactions(ctx, e.of, e.removals, e.has); err != nil {
			return next, err
		}
		next.removed = slices.DeleteFunc(next.removed, func(id int64) bool { return id <= e.begin })
		if next.removals == e.removals { // the newer ones are of other accounts
			next.removals = newest.Removals
		}
	}
	next.list, next.passed, err = e.server.service.Streams.StreamTransactions(ctx, e.of, e.passed, eventsRead)
	return next, err
}
