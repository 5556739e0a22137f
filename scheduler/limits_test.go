package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/services"
	"baoco/scheduler"
)

// slowStore takes its time after a record's commit, and after a look for due
// deliveries.
type slowStore struct {
	*faultyStore
	afterRecord, afterDue time.Duration
}

func (s *slowStore) RecordInbound(ctx context.Context, call inbound.Call, zone *time.Location) (inbound.Recording, error) {
	r, err := s.faultyStore.RecordInbound(ctx, call, zone)
	time.Sleep(s.afterRecord)
	return r, err
}

func (s *slowStore) Due(ctx context.Context, f delivery.DueFilter, now time.Time) ([]delivery.Outgoing, error) {
	list, err := s.faultyStore.Due(ctx, f, now)
	if len(list) > 0 {
		time.Sleep(s.afterDue)
	}
	return list, err
}

// A delivery that a sweep read from the file while its caller was about to hand
// it on is sent once, even if it is settled before the sweep gets to it.
func TestSettledWhileASweepReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &network{start: time.Now(), answer: func(int, *http.Request) (*http.Response, error) { return respond(200), nil }}
		s := open(t, newFile(t), n)
		// The commit, within 500 ms a sweep that reads, a second later the
		// caller hands on, and later still the sweep goes on.
		slow := &slowStore{faultyStore: &faultyStore{Store: s.Store}, afterRecord: time.Second, afterDue: 3 * time.Second}
		s.Services = apptest.Over(t, s.Store, services.Config{Store: slow, Send: s.sender.Send})
		s.webhook(t, "https://shop.example.vn/")
		s.start(t)
		time.Sleep(100 * time.Millisecond)
		call := inbound.Call{AccountID: 1, Source: inbound.Source{AccountID: 1}, Channel: app.ChannelCall, ReceivedAt: time.Now(),
			Elements: []inbound.Incoming{{
				EventID: "1", Gateway: "ACB", AccountNumber: "19354957", Type: app.In, Amount: 1000, Time: time.Now(),
			}}}
		_, err := s.Services.Inbound.RecordTransactions(context.Background(), call)
		must(t, err)
		time.Sleep(10 * time.Second)
		if at := n.times(); len(at) != 1 {
			t.Errorf("sent %d times, at %v", len(at), at)
		}
		s.close(t)
	})
}

// A stop waits for attempts in flight, for as long as the longest may take, and
// records them.
func TestStopWaitsForAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := newFile(t)
		s := open(t, path, &network{start: time.Now(), answer: func(_ int, r *http.Request) (*http.Response, error) {
			time.Sleep(9900 * time.Millisecond)
			response := respond(200)
			response.Body = &answerBody{ctx: r.Context(), size: 1, silent: true} // a second more
			return response, nil
		}})
		s.webhook(t, "https://shop.example.vn/")
		s.start(t)
		s.Record("FT1")
		time.Sleep(100 * time.Millisecond)
		stopping := time.Now()
		must(t, s.courier.Stop(context.Background()))
		if took := time.Since(stopping); took < 10*time.Second || took > 12*time.Second {
			t.Errorf("the stop took %v; the attempt took 10.9 s", took)
		}
		if list := s.history(t); len(list) != 1 || !list[0].Result.OK() {
			t.Errorf("the history holds %+v; want the attempt that was in flight", list)
		}
		must(t, s.Store.Close())
	})
}

// Whatever time a provider or Telegram asks for, it is a day at most.
func TestRetryAfterIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const day = 24 * time.Hour
		for _, header := range []string{"86401", "10000000000", "Fri, 31 Dec 9999 23:59:59 GMT"} {
			busy := sepayList()
			busy.answer(http.StatusTooManyRequests, "Retry-After", header)
			_, err := scheduler.NewPoller(nil, time.UTC, "test", busy).Poll(t.Context(),
				inbound.Source{Provider: "sepay", APIKey: listKey}, "", time.Now())
			var fault *inbound.PollError
			if !errors.As(err, &fault) || fault.RetryAfter != day {
				t.Errorf("Retry-After %s of a list: %v", header, err)
			}
		}
		for _, seconds := range []string{"86401", "9223372036854775807"} {
			telegram := roundTrip(func(*http.Request) (*http.Response, error) {
				return answerOf(respond(http.StatusTooManyRequests), `{"ok":false,"description":"later","parameters":{"retry_after":`+seconds+`}}`), nil
			})
			err := scheduler.NewAlerter(apptest.Targets(t), "test", telegram).Send(t.Context(), alert.Channel{
				Medium: alert.Telegram, Telegram: alert.TelegramSettings{Token: someToken, Chat: "1"},
			}, alert.Message{})
			var fault *alert.Error
			if !errors.As(err, &fault) || fault.RetryAfter != day {
				t.Errorf("retry_after %s of Telegram: %v", seconds, err)
			}
		}
	})
}

// A page beyond 4 MiB is no page, even if its first 4 MiB would be one.
func TestLargePage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		size     int
		readable bool
	}{{4 << 20, true}, {4<<20 + 1, false}} {
		page := `{"status":"success","data":[],"meta":{"pagination":{"has_more":false}}}`
		page += strings.Repeat(" ", c.size-len(page))
		poller := scheduler.NewPoller(nil, time.UTC, "test",
			roundTrip(func(*http.Request) (*http.Response, error) { return answerOf(respond(200), page), nil }))
		_, err := poller.Poll(t.Context(), inbound.Source{Provider: "sepay", APIKey: listKey}, "", time.Now())
		var fault *inbound.PollError
		if unreadable := errors.As(err, &fault) && fault.Fault == inbound.PollUnreadable; unreadable == c.readable || c.readable && err != nil {
			t.Errorf("a page of %d bytes: %v", c.size, err)
		}
	}
}

// A bank books late: Casso's list is read from the day before that on which the
// last whole reading began, and from no later day than that of the source's key.
func TestCassoOverlap(t *testing.T) {
	t.Parallel()
	for last, from := range map[string]string{"": "2026-10-01", "2026-10-01": "2026-10-01", "2026-11-20": "2026-11-19",
		"2026-11-01": "2026-10-31"} {
		l := cassoList()
		progress := ""
		if last != "" {
			progress = fmt.Sprintf(`{"day":%q}`, last)
		}
		source := inbound.Source{Provider: "casso", APIKey: listKey, ListFrom: time.Date(2026, 10, 1, 5, 0, 0, 0, time.UTC)}
		_, err := scheduler.NewPoller(nil, time.UTC, "test", l).Poll(t.Context(), source, progress, time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC))
		must(t, err)
		if asked := l.asked("fromDate"); len(asked) != 1 || asked[0] != from {
			t.Errorf("after a reading that began on %q: from %v, want %s", last, asked, from)
		}
	}
}
