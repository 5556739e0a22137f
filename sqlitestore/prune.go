package sqlitestore

import (
	"context"
	"time"

	"baoco/app"
	"baoco/app/upkeep"
)

// Prune removes one step of old rows. Transactions, events that need attention and
// attempts of pending deliveries always stay. A reading connection finds the old rows,
// since many events that need attention may lie between them.
func (s *Store) Prune(ctx context.Context, limits upkeep.PruneLimits, now time.Time) (upkeep.Pruned, error) {
	events, err := s.old(ctx, `SELECT id`+oldInbound+` ORDER BY id`+stepLimit, limits.Inbound, now)
	if err != nil {
		return upkeep.Pruned{}, err
	}
	attempts, err := s.old(ctx, `SELECT a.id`+oldAttempts+` ORDER BY a.id`+stepLimit, limits.History, now)
	if err != nil {
		return upkeep.Pruned{}, err
	}
	kinds := []func(tx *tx, p *upkeep.Pruned) (more bool){
		func(tx *tx, p *upkeep.Pruned) bool { return pruneInbound(tx, events, p) },
		func(tx *tx, p *upkeep.Pruned) bool { return pruneAttempts(tx, attempts, p) },
		func(tx *tx, _ *upkeep.Pruned) bool {
			return pruneRows(tx,
				`DELETE FROM idempotency_keys WHERE (account_id, key) IN (SELECT account_id, key FROM idempotency_keys WHERE created_ms <= ?`+
					stepLimit+`)`,
				now.Add(-app.IdempotencyWindow).UnixMilli())
		},
		func(tx *tx, _ *upkeep.Pruned) bool {
			return pruneRows(tx, `DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE end_at <= ?`+stepLimit+`)`, now.Unix())
		},
		func(tx *tx, _ *upkeep.Pruned) bool { return pruneHealth(tx, now) },
		func(tx *tx, _ *upkeep.Pruned) bool { return pruneAudit(tx, now) },
		func(tx *tx, _ *upkeep.Pruned) bool {
			// A crash while a webhook was deleted leaves these.
			return cancel(tx, `SELECT d.id FROM webhooks w JOIN deliveries d INDEXED BY deliveries_due ON d.webhook_id = w.id AND d.state = 0
				WHERE w.deleted_at IS NOT NULL LIMIT ?`, cancelStep) == cancelStep
		},
	}
	return writing(ctx, s, func(tx *tx) (p upkeep.Pruned, err error) {
		for _, prune := range kinds {
			if more := prune(tx, &p); more || tx.full() { // the other kinds follow in later steps
				p.More = true
				break
			}
		}
		if n := p.InboundEvents + p.Attempts; n > 0 {
			return p, tx.auditOften(ctx, 24*time.Hour, app.AuditLine{
				AccountID: app.DefaultAccountID, Deed: app.DeedDatabasePrune, AuditDetail: app.AuditDetail{Count: int64(n)},
			})
		}
		return p, nil
	})
}

// old returns the ids of a step of rows that are older than keep; none if keep is 0.
func (s *Store) old(ctx context.Context, query string, keep time.Duration, now time.Time) ([]int64, error) {
	if keep == 0 {
		return nil, nil
	}
	return readAll(ctx, s, scanOne[int64], query, now.Add(-keep).UnixMilli())
}

// pruneRows removes a step of rows; more is true if the step was full.
func pruneRows(tx *tx, query string, args ...any) (more bool) {
	return tx.change(query, args...) == stepRows
}

// FROM and WHERE for the rows older than the time ?1, in milliseconds: the rows before the
// first younger one, since ids are in the order of receipt or settling.
var (
	oldInbound = ` FROM inbound_events WHERE received_ms < ?1 AND open = 0
		AND id < coalesce((SELECT id FROM inbound_events WHERE received_ms >= ?1 ORDER BY id LIMIT 1), ` + maxID + `)`
	oldAttempts = ` FROM attempts a JOIN deliveries d ON d.id = a.delivery_id WHERE a.started_ms < ?1 AND d.state <> 0
		AND a.id < coalesce((SELECT id FROM attempts WHERE started_ms >= ?1 ORDER BY id LIMIT 1), ` + maxID + `)`
)

// pruneInbound removes old events one by one, each after its items, until the step is
// full: an event may have a body of a megabyte, and thousands of items.
func pruneInbound(tx *tx, old []int64, p *upkeep.Pruned) (more bool) {
	for _, id := range old {
		if tx.full() {
			return true
		}
		const closed = `id = ? AND open = 0` // a retry may have opened it again
		if pruneRows(tx,
			`DELETE FROM inbound_items WHERE id IN (SELECT i.id FROM inbound_events e CROSS JOIN inbound_items i ON i.inbound_event_id = e.id
				WHERE e.`+closed+stepLimit+`)`, id) {
			return true
		}
		p.InboundEvents += int(tx.change(`DELETE FROM inbound_events WHERE `+closed, id))
	}
	return len(old) == stepRows
}

func pruneAttempts(tx *tx, old []int64, p *upkeep.Pruned) (more bool) {
	if len(old) == 0 {
		return false
	}
	list := jsonArray(old)
	tx.exec(`UPDATE account_totals AS t SET history_rows = history_rows - c.n
			FROM (SELECT account_id, count(*) AS n FROM attempts WHERE id IN (SELECT value FROM json_each(?)) GROUP BY account_id) AS c
			WHERE c.account_id = t.account_id`, list)
	p.Attempts = int(tx.change(`DELETE FROM attempts WHERE id IN (SELECT value FROM json_each(?))`, list))
	return p.Attempts == stepRows
}

func (s *Store) Prunable(ctx context.Context, limits upkeep.PruneLimits, now time.Time) (p upkeep.Pruned, err error) {
	if limits.Inbound > 0 {
		err = s.queryRow(ctx, `SELECT count(*)`+oldInbound, now.Add(-limits.Inbound).UnixMilli()).Scan(&p.InboundEvents)
	}
	if err == nil && limits.History > 0 {
		err = s.queryRow(ctx, `SELECT count(*)`+oldAttempts, now.Add(-limits.History).UnixMilli()).Scan(&p.Attempts)
	}
	return p, err
}

// reclaimStep is how many pages one commit gives back to the file system.
const reclaimStep = "250"

func (s *Store) Reclaimable(ctx context.Context) (int64, error) {
	return readOne[int64](ctx, s, `SELECT (SELECT freelist_count FROM pragma_freelist_count) * (SELECT page_size FROM pragma_page_size)`)
}

func (s *Store) Reclaim(ctx context.Context) error {
	return s.write(ctx, func(tx *tx) error { return tx.exec(`PRAGMA incremental_vacuum(` + reclaimStep + `)`) })
}
