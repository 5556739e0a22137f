package sqlitestore

import (
	"context"
	"time"
)

// Recount makes anew whatever is kept beside its rows: totals and counts in one
// commit, and then the indexes, step by step; after an error in between
// IndexSearch goes on with them. The calendar is that of the installation. What
// was pruned can't be counted: the attempts ever made are at least those that
// are there. The hours of webhooks are kept up to now.
func (s *Store) Recount(ctx context.Context, now time.Time) error {
	err := s.write(ctx, func(tx *tx) error {
		for _, k := range keptThings {
			if k.indexed {
				if err := tx.exec(k.clear()); err != nil {
					return err
				}
			}
		}
		if err := tx.exec(`UPDATE settings SET value = '0' WHERE name = 'searched_to'`); err != nil {
			return err
		}
		return countAnew(tx.exec, now)
	})
	for left := int64(1); err == nil && left > 0; {
		left, err = s.IndexSearch(ctx)
	}
	return err
}
