package scheduler

import (
	"context"
	"time"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/services"
)

const feedsAtOnce = 32

// tellPayments begins the messages that are due. They end by themselves: one message of a
// channel at a time, so that they stay in order, and no channel waits for another.
func (s *Scheduler) tellPayments(ctx context.Context, service *services.All) {
	channels, err := service.Alerts.PaymentChannels(ctx, time.Now())
	s.logFault(ctx, "tell payments", err)
	for _, c := range channels {
		s.feeds.begin(&s.running, c.ID, func() {
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
