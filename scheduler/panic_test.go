package scheduler_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/services"
	"baoco/app/stream"
	"baoco/scheduler"
	"baoco/scheduler/courier"
	"baoco/sqlitestore"
)

// faultyStore is a file whose methods panic for some, as a fault in ours would
// have it.
type faultyStore struct {
	*sqlitestore.Store
	webhook, source, channel int64
	fault                    error       // of Settle; nil: it panics
	taken                    atomic.Bool // Settle has no fault any more
	refusals                 atomic.Int64
	backlogs                 atomic.Bool
	refused, inDoubt         atomic.Bool // the next SettleStream fails, and has kept nothing; has kept it all the same
	away                     atomic.Bool // no stream can be read
	asked                    atomic.Int64
	late                     atomic.Int64 // nanoseconds from a commit of RecordInbound to its return
}

func (s *faultyStore) RecordInbound(ctx context.Context, call inbound.Call, zone *time.Location) (inbound.Recording, error) {
	r, err := s.Store.RecordInbound(ctx, call, zone)
	time.Sleep(time.Duration(s.late.Load()))
	return r, err
}

func (s *faultyStore) Settle(ctx context.Context, a delivery.Attempt) (delivery.Attempt, error) {
	if a.Delivery.WebhookID == s.webhook && !s.taken.Load() {
		if s.fault != nil {
			s.refusals.Add(1)
			return a, s.fault
		}
		panic("settle")
	}
	return s.Store.Settle(ctx, a)
}

func (s *faultyStore) Backlogs(ctx context.Context, now time.Time) ([]delivery.WebhookBacklog, error) {
	if s.backlogs.CompareAndSwap(true, false) {
		panic("backlogs")
	}
	return s.Store.Backlogs(ctx, now)
}

func (s *faultyStore) StreamWork(ctx context.Context, accountID, id int64) (stream.Work, error) {
	if s.asked.Add(1); s.away.Load() {
		return stream.Work{}, app.Unavailable(errors.New("away"))
	}
	return s.Store.StreamWork(ctx, accountID, id)
}

func (s *faultyStore) SettleStream(ctx context.Context, p stream.Progress) error {
	if s.refused.CompareAndSwap(true, false) {
		return app.Unavailable(errors.New("refused"))
	}
	err := s.Store.SettleStream(ctx, p)
	if s.inDoubt.CompareAndSwap(true, false) {
		return errors.Join(err, errors.New("the answer was lost"))
	}
	return err
}

func (s *faultyStore) RecordPage(ctx context.Context, call inbound.Call, progress string, complete bool,
	zone *time.Location) (inbound.Recording, error) {
	if call.Source.ID == s.source {
		panic("record page")
	}
	return s.Store.RecordPage(ctx, call, progress, complete, zone)
}

func (s *faultyStore) AlertConditions(ctx context.Context, channelID int64) ([]alert.Condition, error) {
	if channelID == s.channel {
		panic("alert conditions")
	}
	return s.Store.AlertConditions(ctx, channelID)
}

// A panic behind a delivery, a sweep, a list or an alert ends nothing but that:
// it is logged with where it was, and the others go on.
func TestPanicsEndNothingElse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		s := open(t, newFile(t),
			&network{start: time.Now(), answer: func(int, *http.Request) (*http.Response, error) { return respond(200), nil }})
		faulty := &faultyStore{Store: s.Store, webhook: 1, source: 1, channel: 1}
		poll := func(_ context.Context, source inbound.Source, _ string, now time.Time) (inbound.PolledPage, error) {
			return inbound.PolledPage{Body: []byte("{}"), Elements: []inbound.Incoming{{
				EventID: source.Name, Gateway: "ACB", AccountNumber: "19354957", Type: app.In, Amount: 1000, Time: now,
			}}}, nil
		}
		var alerted []int64
		s.Services = apptest.Over(t, s.Store, services.Config{
			Store: faulty, Poll: poll, Send: s.sender.Send,
			Alert: func(_ context.Context, c alert.Channel, _ alert.Message) error {
				alerted = append(alerted, c.ID)
				return nil
			},
		})
		bad, good := s.webhook(t, "https://bad.example.vn/"), s.webhook(t, "https://good.example.vn/")
		for _, name := range []string{"one", "two"} {
			_, err := s.Services.Inbound.AddSource(ctx, 1,
				inbound.SourceAdd{Provider: "sepay", Auth: inbound.AuthAPIKey, Name: name, APIKey: listKey}, time.Now())
			must(t, err)
		}
		other, err := s.Services.Ledger.CreateAccount(ctx, "Quán Hoa", time.Now())
		must(t, err)
		ends := time.Now().Add(5 * 24 * time.Hour) // which both are to be told
		for _, account := range []int64{1, other.ID} {
			_, err := s.Services.Ledger.UpdateAccount(ctx, account, app.AccountUpdate{ExpiresAt: &ends})
			must(t, err)
			_, err = s.Services.Alerts.SetAlertChannel(ctx, alert.Channel{
				AccountID: account, Medium: alert.Telegram, Telegram: alert.TelegramSettings{Token: someToken, Chat: "-100200300"},
			}, time.Now())
			must(t, err)
		}
		faulty.backlogs.Store(true)
		s.courier, err = scheduler.Start(s.Services, s.sender.Send,
			scheduler.Options{CatchUp: time.Hour, Logger: slog.New(slog.NewTextHandler(s.log, nil))})
		must(t, err)
		time.Sleep(10 * time.Second)
		s.Record("FT1")
		time.Sleep(65 * time.Second)

		told := map[int64]int{}
		for _, a := range s.history(t) {
			told[a.Delivery.WebhookID]++
		}
		if told[bad.ID] != 0 || told[good.ID] != 2 { // of the list that could be recorded, and by hand
			t.Errorf("attempts recorded by webhook: %v", told)
		}
		for what, want := range map[string]int{"panic: backlogs": 1, "panic: settle": 2, "panic: record page": 1, "panic: alert conditions": 2} {
			if n := strings.Count(s.log.String(), what); n != want {
				t.Errorf("%q is logged %d times, want %d", what, n, want)
			}
		}
		if !slices.Equal(alerted, []int64{2}) {
			t.Errorf("told by channels %v, want that of the second account once", alerted)
		}
		if !strings.Contains(s.log.String(), "RecordPage") {
			t.Error("the log doesn't say where a panic was")
		}
		s.close(t)
	})
}

// The transport dials in a goroutine of its own. A panic there, as TLS may have in
// what a stranger sends, is that of the attempt, whose goroutine catches it.
func TestPanicWhileDialling(t *testing.T) {
	t.Parallel()
	connecting := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{ConnectStart: func(_, _ string) { panic("connect") }})
	shaking := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{TLSHandshakeStart: func() { panic("shake hands") }})
	for name, c := range map[string]struct {
		sender *courier.Sender
		ctx    context.Context
		url    string
	}{
		"connect":   {senderAllowing(t, "127.0.0.1/32"), connecting, "http://127.0.0.1:1/"},
		"TLS":       {senderAllowing(t, "127.0.0.1/32"), shaking, asHTTPS(raw(t, "", untilClosed))},
		"judgement": {courier.NewSender(nil, "test", nil), t.Context(), "http://127.0.0.1:1/"},
	} {
		err := app.Protected(func() error { c.sender.Send(c.ctx, outgoing(c.url)); return nil })
		if panicked := (*app.PanicError)(nil); !errors.As(err, &panicked) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A result that the store refuses for a reason of its own is recorded as soon as the
// store takes it, without another request, and meanwhile the other webhooks are told.
func TestRefusedResultIsRecordedLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &network{start: time.Now(), answer: always200}
		s := open(t, newFile(t), n)
		faulty := &faultyStore{Store: s.Store, webhook: 1, fault: errors.New("constraint failed")}
		s.Services = apptest.Over(t, s.Store, services.Config{Store: faulty, Send: s.sender.Send})
		bad, good := s.webhook(t, "https://bad.example.vn/"), s.webhook(t, "https://good.example.vn/")
		s.start(t)
		told := func() map[int64]int {
			told := map[int64]int{}
			for _, a := range s.history(t) {
				told[a.Delivery.WebhookID]++
			}
			return told
		}
		s.Record("FT1")
		time.Sleep(10 * time.Minute)
		s.Record("FT2")
		time.Sleep(time.Second)
		if got := told(); got[bad.ID] != 0 || got[good.ID] != 2 {
			t.Errorf("attempts recorded by webhook: %v", got)
		}
		faulty.taken.Store(true)
		time.Sleep(2 * time.Minute)
		if got := told(); got[bad.ID] != 2 || got[good.ID] != 2 || len(n.times()) != 4 {
			t.Errorf("attempts recorded by webhook: %v, of %d requests", got, len(n.times()))
		}
		s.close(t)
	})
}

// While the storage can't keep a result no other attempt begins; as soon as it can, what is
// due begins at once, and what comes after that.
func TestStorageAwayAtASettlement(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &network{start: time.Now(), answer: always200}
		s := open(t, newFile(t), n)
		faulty := &faultyStore{Store: s.Store, webhook: 1, fault: app.Unavailable(errors.New("away"))}
		s.Services = apptest.Over(t, s.Store, services.Config{Store: faulty, Send: s.sender.Send})
		s.webhook(t, "https://bad.example.vn/")
		s.webhook(t, "https://good.example.vn/")
		s.start(t)
		time.Sleep(500 * time.Millisecond) // between two regular sweeps
		s.Record("FT1")
		time.Sleep(time.Minute)
		s.Record("FT2")
		time.Sleep(10 * time.Second)
		if sent, kept, asked := len(n.times()), len(s.history(t)), faulty.refusals.Load(); sent != 2 || kept != 1 || asked < 35 || asked > 45 {
			t.Errorf("%d requests, %d results kept; the storage was asked %d times in 70 seconds", sent, kept, asked)
		}
		faulty.taken.Store(true)
		back := time.Now()
		for len(s.history(t)) == 1 {
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		if took := time.Since(back); len(n.times()) != 4 || len(s.history(t)) != 4 || took > 2100*time.Millisecond {
			t.Errorf("after %v %d requests, %d results kept", took, len(n.times()), len(s.history(t)))
		}
		faulty.taken.Store(false)
		s.Record("FT3")
		time.Sleep(50 * time.Millisecond)
		faulty.taken.Store(true)
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if sent, kept := len(n.times()), len(s.history(t)); sent != 6 || kept != 6 {
			t.Errorf("after a moment without the storage %d requests, %d results kept", sent, kept)
		}
		s.close(t)
	})
}

// A delivery that a sweep has found before its recording returns isn't sent once more, also
// where an older one was tried again meanwhile.
func TestSweepBeforeTheRecordingReturns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &network{start: time.Now(), answer: func(count int, _ *http.Request) (*http.Response, error) {
			if count == 1 {
				return respond(500), nil
			}
			return respond(200), nil
		}}
		s := open(t, newFile(t), n)
		faulty := &faultyStore{Store: s.Store}
		s.Services = apptest.Over(t, s.Store, services.Config{Store: faulty, Send: s.sender.Send})
		s.webhook(t, "https://shop.example.vn/")
		s.start(t)
		s.Record("FT1")
		time.Sleep(8 * time.Second)
		faulty.late.Store(int64(5 * time.Second))
		s.Record("FT2") // the second attempt of FT1 is after ten seconds
		time.Sleep(time.Second)
		synctest.Wait()
		if want := []string{n.ids[0], n.ids[1], n.ids[0]}; !slices.Equal(n.ids, want) || n.ids[0] == n.ids[1] {
			t.Errorf("sent were %v, want %v", n.ids, want)
		}
		s.close(t)
	})
}
