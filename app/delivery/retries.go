package delivery

import (
	"context"
	"time"
)

// PullRetries corrects retries that are due later than the longest wait of the schedule
// allows: the clock was ahead when their waits began. Their waits begin again now. It
// returns how many there were.
func (s *Service) PullRetries(ctx context.Context, now time.Time) (int64, error) {
	return s.store.PullRetries(ctx, s.config.Schedule, now)
}

// LongestWait is the longest wait of the schedule.
func (s *Service) LongestWait() (longest time.Duration) {
	for _, wait := range s.config.Schedule {
		longest = max(longest, wait)
	}
	return longest
}
