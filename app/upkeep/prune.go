package upkeep

import (
	"context"
	"time"
)

// PruneLimits is how long old rows are kept; 0: for ever.
type PruneLimits struct {
	Inbound time.Duration // inbound events without open items
	History time.Duration // attempts
}

// Pruned is how much was removed.
type Pruned struct {
	InboundEvents, Attempts int
	More                    bool // old rows are left
}

// Prune removes rows that are older than limits, in steps: between them others can
// write.
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

// Reclaim gives free space in the file back to the disk, in steps: between them others
// can write. It returns how many bytes. It ends when a step frees nothing more: others
// may need space faster than Reclaim frees it.
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
