package sqlitestore

import (
	"context"
	"time"

	"baoco/app"
)

// pruneStep is how many rows of a kind one commit removes.
const pruneStep = 1000

// Prune removes one step of what is old. Transactions and items that need
// attention always stay, and so do deliveries that aren't finished.
func (s *Store) Prune(ctx context.Context, limits app.PruneLimits, now time.Time) (app.Pruned, error) {
	return writing(ctx, s, func(tx *tx) (p app.Pruned, err error) {
		if limits.Inbound > 0 {
			n, err := pruneInbound(tx, now.Add(-limits.Inbound))
			if err != nil {
				return p, err
			}
			p.InboundEvents, p.More = int(n), n == pruneStep
		}
		if limits.History > 0 {
			n, err := pruneAttempts(tx, now.Add(-limits.History))
			if err != nil {
				return p, err
			}
			p.Attempts, p.More = int(n), p.More || n == pruneStep
		}
		if err := tx.exec(`DELETE FROM idempotency_keys WHERE created_ms <= ?`, now.Add(-app.IdempotencyWindow).UnixMilli()); err != nil {
			return p, err
		}
		if err := tx.exec(`DELETE FROM sessions WHERE end_at <= ?`, now.Unix()); err != nil {
			return p, err
		}
		if err := pruneHealth(tx, now); err != nil {
			return p, err
		}
		// A crash in the middle of deleting a webhook leaves these.
		_, err = cancel(tx, `SELECT d.id FROM webhooks w JOIN deliveries d INDEXED BY deliveries_due ON d.webhook_id = w.id AND d.state = 0
				WHERE w.deleted_at IS NOT NULL LIMIT ?`, pruneStep)
		return p, err
	})
}

// The rows that are old: from the oldest on to the first that is young enough,
// since ids are in the order of receipt, and of settling. ?1 is the time before
// which they are old.
const (
	oldInbound = ` FROM inbound_events WHERE received_ms < ?1 AND open = 0
		AND id < coalesce((SELECT id FROM inbound_events WHERE received_ms >= ?1 ORDER BY id LIMIT 1), 9223372036854775807)`
	oldAttempts = ` FROM attempts a JOIN deliveries d ON d.id = a.delivery_id WHERE a.started_ms < ?1 AND d.state <> 0
		AND a.id < coalesce((SELECT id FROM attempts WHERE started_ms >= ?1 ORDER BY id LIMIT 1), 9223372036854775807)`
)

func pruneInbound(tx *tx, before time.Time) (int64, error) {
	const old = `(SELECT id` + oldInbound + ` ORDER BY id LIMIT ?2)`
	if err := tx.exec(`DELETE FROM inbound_items WHERE inbound_event_id IN `+old, before.UnixMilli(), pruneStep); err != nil {
		return 0, err
	}
	return tx.change(`DELETE FROM inbound_events WHERE id IN `+old, before.UnixMilli(), pruneStep)
}

func pruneAttempts(tx *tx, before time.Time) (int64, error) {
	rows, err := tx.query(`SELECT a.id`+oldAttempts+` ORDER BY a.id LIMIT ?2`, before.UnixMilli(), pruneStep)
	old, err := collect(rows, err, func(row scanner) (id int64, err error) { return id, row.Scan(&id) })
	if err != nil || len(old) == 0 {
		return 0, err
	}
	list := joinIDs(old)
	if err := tx.exec(`UPDATE account_totals AS t SET history_rows = history_rows - c.n
			FROM (SELECT account_id, count(*) AS n FROM attempts WHERE id IN (SELECT value FROM json_each(?)) GROUP BY account_id) AS c
			WHERE c.account_id = t.account_id`, list); err != nil {
		return 0, err
	}
	n, err := tx.change(`DELETE FROM attempts WHERE id IN (SELECT value FROM json_each(?))`, list)
	if err != nil {
		return 0, err
	}
	var blocks []int64
	for _, id := range old { // in ascending order
		if block := id >> blockShift; len(blocks) == 0 || blocks[len(blocks)-1] != block {
			blocks = append(blocks, block)
		}
	}
	return n, recountBlocks(tx, "attempts", blocks)
}

func (s *Store) Prunable(ctx context.Context, limits app.PruneLimits, now time.Time) (p app.Pruned, err error) {
	if limits.Inbound > 0 {
		err = s.queryRow(ctx, `SELECT count(*)`+oldInbound, now.Add(-limits.Inbound).UnixMilli()).Scan(&p.InboundEvents)
	}
	if err == nil && limits.History > 0 {
		err = s.queryRow(ctx, `SELECT count(*)`+oldAttempts, now.Add(-limits.History).UnixMilli()).Scan(&p.Attempts)
	}
	return p, storageError(err)
}

// reclaimStep is how many pages one commit gives back.
const reclaimStep = "250"

func (s *Store) Reclaimable(ctx context.Context) (n int64, err error) {
	err = s.queryRow(ctx, `SELECT (SELECT freelist_count FROM pragma_freelist_count) * (SELECT page_size FROM pragma_page_size)`).Scan(&n)
	return n, storageError(err)
}

func (s *Store) Reclaim(ctx context.Context) error {
	return s.write(ctx, func(tx *tx) error { return tx.exec(`PRAGMA incremental_vacuum(` + reclaimStep + `)`) })
}
