package delivery

import (
	"context"
	"time"
)

// PullRetries makes retries that wait for longer than the longest wait of the schedule
// wait once more, from now on: the clock was ahead when their waits began. It returns
// how many there were.
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
