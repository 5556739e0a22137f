package scheduler

import (
	"context"
	"sync"
	"time"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/services"
)

// feedsAtOnce is how many channels are told of payments at a time.
const feedsAtOnce = 32

// feeds are the channels that are being told of payments: one message of a channel
// at a time, so that they stay in order, and no channel waits for another.
type feeds struct {
	mu   sync.Mutex
	busy map[int64]bool
}

func (f *feeds) begin(channelID int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy[channelID] || len(f.busy) >= feedsAtOnce {
		return false
	}
	f.busy[channelID] = true
	return true
}

func (f *feeds) end(channelID int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.busy, channelID)
}

// tellPayments begins the messages that are due. They end by themselves.
func (s *Scheduler) tellPayments(ctx context.Context, service *services.All) {
	channels, err := service.Alerts.PaymentChannels(ctx, time.Now())
	s.logFault(ctx, "tell payments", err)
	for _, c := range channels {
		if !s.feeds.begin(c.ID) {
			continue
		}
		s.running.Go(func() {
			defer s.feeds.end(c.ID)
			var result alert.Alerted
			told := false
			err := app.Protected(func() error {
				result, told = service.Alerts.TellPayments(s.ctx, c, time.Now())
				return nil
			})
			if err != nil {
				result, told = alert.Alerted{Channel: c, Err: err}, true
			}
			if told {
				s.logAlerted(result)
			}
		})
	}
}
