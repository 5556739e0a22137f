package app

import (
	"context"
	"time"
)

// PruneLimits is how long what may go is kept; zero is for ever.
type PruneLimits struct {
	Inbound time.Duration // inbound events that need no attention
	History time.Duration // attempts
}

// Pruned is how much was removed.
type Pruned struct {
	InboundEvents, Attempts int
	More                    bool // old rows are left
}

// What is never pruned, however old: transactions and their totals, items that
// need attention, and deliveries. A finished delivery is a small row, and it is
// what says for as long as the transaction is there that the shop was told of
// it, or was not. Without it a page of the transaction would be silent, the
// filter by failed deliveries would forget them, and a replay could tell a shop
// again of what a later delivery had told it.

// Prune removes what is older than limits, in steps that let others write in
// between.
func (s *Service) Prune(ctx context.Context, limits PruneLimits, now time.Time) (Pruned, error) {
	var sum Pruned
	for {
		p, err := s.store.Prune(ctx, limits, now)
		sum.InboundEvents += p.InboundEvents
		sum.Attempts += p.Attempts
		if err != nil || !p.More {
			return sum, err
		}
	}
}

// Reclaim gives what holds nothing back to the disk, in steps that let others
// write in between, and gives how many bytes that was. It ends when a step
// finds nothing more to give: others may need room faster than it is given.
func (s *Service) Reclaim(ctx context.Context) (int64, error) {
	first, err := s.Reclaimable(ctx)
	left := first
	for before := left + 1; err == nil && left > 0 && left < before; {
		before = left
		if err = s.store.Reclaim(ctx); err == nil {
			left, err = s.Reclaimable(ctx)
		}
	}
	return max(first-left, 0), err
}
