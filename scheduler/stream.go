package scheduler

import (
	"context"
	"log/slog"
	"time"

	"baoco/app"
	"baoco/app/services"
	"baoco/app/stream"
	"baoco/app/target"
	"baoco/scheduler/broker/kafka"
	"baoco/scheduler/broker/nats"
	"baoco/scheduler/courier"
)

// Each active stream has a loop of its own, so that a broker that can't be reached delays
// no other stream. A loop reads the transactions after the position of its stream,
// publishes them, and settles the position. It settles at most once a second, so that a
// stream costs one more commit a second and not one for each transaction. Transactions
// that were published and not settled when the process was killed are published again.

// BrokersOf opens publishers that connect where policy allows.
func BrokersOf(policy *target.Policy) func(stream.Broker) stream.Publisher {
	n := courier.NewNetwork(policy, nil, nil)
	return func(b stream.Broker) stream.Publisher {
		open := nats.Open
		if b.Kind == stream.Kafka {
			open = kafka.Open
		}
		return open(b, n.Dial, n.TLS(""))
	}
}

const (
	streamLook   = time.Second // for new streams, and for transactions of other processes
	streamSettle = time.Second // between two settlements of a stream that goes well
)

// beginStreams begins the loops of active streams that have none.
func (s *Scheduler) beginStreams(ctx context.Context, service *services.All, userAgent string) {
	list, err := service.Streams.Streams(ctx, 0)
	s.logFault(ctx, "look for streams", err)
	for _, st := range list {
		if !st.IsActive || st.SecretLost {
			continue
		}
		l := &streamLoop{service: service, userAgent: userAgent, id: st.ID, account: st.AccountID,
			log: s.log.With("stream", st.ID, "account", st.AccountID)}
		s.streams.begin(&s.running, st.ID, func() {
			if err := app.Protected(func() error { l.run(s.ctx, s.quit); return nil }); err != nil {
				l.log.Error("panic while a stream was sent", "err", err) // it begins again in a second
			}
		})
	}
}

type streamLoop struct {
	service     *services.All
	userAgent   string
	id, account int64
	log         *slog.Logger

	work      stream.Work      // as it was read last
	publisher stream.Publisher // nil: none is open
	progress  stream.Progress
	changed   bool // the progress isn't settled
	settledAt time.Time
	failures  int // in a row
}

func (l *streamLoop) run(ctx context.Context, quit <-chan struct{}) {
	defer l.close()
	defer func() { l.settle(context.WithoutCancel(ctx)) }()
	for {
		recorded := l.service.Inbound.Recorded() // before reading, so that no transaction is overlooked
		pause, active := l.step(ctx)
		if !active {
			return
		}
		if l.failures > 0 {
			recorded = nil
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-recorded:
		case <-quit:
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// step sends the next transactions, at most stream.MaxBatch, and returns how long to wait
// for more. active is false where the stream no longer exists or isn't active.
func (l *streamLoop) step(ctx context.Context) (pause time.Duration, active bool) {
	work, err := l.service.Streams.StreamWork(ctx, l.account, l.id)
	switch {
	case app.CodeOf(err) == app.CodeNotFound || err == nil && (!work.IsActive || work.SecretLost):
		return 0, false
	case err != nil:
		return l.fault("read a stream", err), true
	}
	l.use(work)
	list, passed, err := l.service.Streams.StreamTransactions(ctx, work.Stream, l.progress.To, stream.MaxBatch)
	if err != nil {
		return l.fault("read the transactions of a stream", err), true
	}
	if len(list) == 0 {
		l.changed = l.changed || passed > l.progress.To
		l.progress.To = passed
		return l.rest(ctx), true
	}
	if err := l.publish(ctx, list, passed); err != nil {
		l.settle(context.WithoutCancel(ctx))
		return stream.Wait(l.failures), true
	}
	l.settleIfDue(ctx)
	return 0, true
}

// use takes over changes of the stream since the last step. After a move back its messages
// are sent again, so the publisher is closed: it remembers which ones its broker has kept.
func (l *streamLoop) use(work stream.Work) {
	begins := l.progress.From != work.Position || l.progress.Moves != work.Moves || l.progress.StreamID == 0
	if before := l.work; begins || before.URL != work.URL || before.Topic != work.Topic || before.Username != work.Username ||
		before.Password != work.Password {
		l.close()
		l.failures = 0
	}
	if l.work = work; begins {
		l.progress = stream.Progress{
			StreamID: l.id, From: work.Position, To: work.Position, Moves: work.Moves, Tried: l.progress.Tried,
			FailingSince: work.FailingSince, Problem: work.Problem,
		}
	}
	if l.publisher == nil {
		l.publisher = l.service.Streams.OpenBroker(work)
	}
}

// publish sends the messages of transactions. passed is the id up to which all
// transactions are then sent, or don't belong to the stream.
func (l *streamLoop) publish(ctx context.Context, list []app.Transaction, passed int64) error {
	messages := make([]stream.Message, len(list))
	now := time.Now()
	for i, t := range list {
		messages[i] = l.work.Message(t, l.userAgent, now)
	}
	limited, cancel := context.WithTimeout(ctx, stream.Timeout)
	defer cancel()
	l.progress.Tried = max(l.progress.Tried, list[len(list)-1].ID)
	var kept int
	err := app.Protected(func() (err error) { kept, err = l.publisher.Publish(limited, messages); return err })
	switch {
	case kept == len(list):
		l.progress.Kept(kept, passed, time.Now())
	case kept > 0:
		l.progress.Kept(kept, list[kept-1].ID, time.Now())
	}
	l.changed = true
	if err != nil && ctx.Err() != nil {
		return err // the server stops; that is no failure of the broker
	}
	l.progress.Attempted(err, time.Now())
	l.note(err)
	if err == nil || kept > 0 {
		l.failures = 0
	}
	if err != nil {
		l.failures++
	}
	return err
}

// note logs the first failure, and the end of failures.
func (l *streamLoop) note(err error) {
	switch was := l.failures > 0; {
	case err != nil && !was:
		l.log.Warn("a stream can't be sent; it is tried again", "problem", stream.Problem(err).EN)
	case err == nil && was:
		l.log.Info("the stream is sent again")
	}
}

// rest settles the progress if that is due, and returns how long to wait for more
// transactions.
func (l *streamLoop) rest(ctx context.Context) time.Duration {
	l.settleIfDue(ctx)
	if l.changed {
		return max(0, streamSettle-time.Since(l.settledAt))
	}
	return streamLook
}

func (l *streamLoop) settleIfDue(ctx context.Context) {
	if time.Since(l.settledAt) >= streamSettle {
		l.settle(ctx)
	}
}

// settle writes the progress. If that fails, the next settle writes it.
func (l *streamLoop) settle(ctx context.Context) {
	if !l.changed {
		return
	}
	l.settledAt = time.Now()
	if err := l.service.Streams.SettleStream(ctx, l.progress); err != nil {
		l.fault("settle a stream", err)
		return
	}
	l.progress.From, l.progress.Sent, l.progress.SentAt = l.progress.To, 0, time.Time{}
	l.changed = false
}

// fault logs an error of the storage, and returns how long to wait. An unavailable storage
// is logged elsewhere; a loop that must stop gets that error too.
func (l *streamLoop) fault(what string, err error) time.Duration {
	if app.CodeOf(err) != app.CodeUnavailable {
		l.log.Error(what, "err", err)
	}
	return streamLook
}

func (l *streamLoop) close() {
	if l.publisher != nil {
		l.publisher.Close()
		l.publisher = nil
	}
}
