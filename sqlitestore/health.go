package sqlitestore

import (
	"context"
	"database/sql"
	"time"

	"baoco/app"
)

// healthKept is how long the hours of webhooks are kept: a day is shown, and a
// clock that was set back still finds its hours.
const healthKept = 48 * time.Hour

func hourOf(t time.Time) int64 { return t.UnixMilli() / time.Hour.Milliseconds() }

type hourKey struct{ webhookID, hour int64 }

// streak is what attempts do to the failures in a row: those before one that
// succeeded don't count any more.
type streak struct {
	last, failed int64
	succeeded    bool
}

func (t *totals) flushHealth(tx *tx) error {
	if len(t.attempts) == 0 {
		return nil
	}
	hours, streaks := map[hourKey]app.HourHealth{}, map[int64]streak{}
	for _, d := range t.attempts { // in the order of their ids
		key := hourKey{d.webhookID, hourOf(d.startedAt)}
		hour, row := hours[key], streaks[d.webhookID]
		row.last = d.id
		if d.ok {
			hour.Succeeded++
			row.failed, row.succeeded = 0, true
		} else {
			hour.Failed++
			row.failed++
		}
		hours[key], streaks[d.webhookID] = hour, row
	}
	for key, hour := range hours {
		if err := tx.exec(`INSERT INTO webhook_hours (webhook_id, hour, succeeded, failed) VALUES (?, ?, ?, ?)
				ON CONFLICT DO UPDATE SET succeeded = succeeded + excluded.succeeded, failed = failed + excluded.failed`,
			key.webhookID, key.hour, hour.Succeeded, hour.Failed); err != nil {
			return err
		}
	}
	for id, row := range streaks {
		if err := tx.exec(`INSERT INTO webhook_totals (webhook_id, last_attempt_id, failed_in_row) VALUES (?1, ?2, ?3)
				ON CONFLICT DO UPDATE SET last_attempt_id = ?2, failed_in_row = iif(?4, 0, failed_in_row) + ?3`,
			id, row.last, row.failed, row.succeeded); err != nil {
			return err
		}
	}
	return nil
}

// pruneHealth removes the hours that nobody is shown any more.
func pruneHealth(tx *tx, now time.Time) (more bool, err error) {
	return pruneRows(tx, `DELETE FROM webhook_hours WHERE (webhook_id, hour) IN
			(SELECT h.webhook_id, h.hour FROM webhooks w CROSS JOIN webhook_hours h ON h.webhook_id = w.id AND h.hour < ?`+stepLimit+`)`, hourOf(now.Add(-healthKept)))
}

func (s *Store) WebhookHealth(ctx context.Context, accountID, webhookID int64, now time.Time) ([]app.WebhookHealth, error) {
	const of = ` WHERE w.account_id = ?1 AND w.deleted_at IS NULL AND (?2 = 0 OR w.id = ?2)`
	rows, err := s.query(ctx, `SELECT w.id, coalesce(t.failed_in_row, 0), coalesce(a.id, 0), a.started_ms, coalesce(a.duration_ms, 0), coalesce(a.status_code, 0),
			coalesce(a.error, ''), coalesce(a.detail, '')
		FROM webhooks w LEFT JOIN webhook_totals t ON t.webhook_id = w.id LEFT JOIN attempts a ON a.id = t.last_attempt_id`+of+` ORDER BY w.id`, accountID, webhookID)
	list, err := collect(rows, err, func(row scanner) (h app.WebhookHealth, err error) {
		var started sql.NullInt64
		var duration int64
		err = row.Scan(&h.WebhookID, &h.FailedInRow, &h.HistoryID, &started, &duration, &h.Last.StatusCode, &h.Last.Error, &h.Last.Detail)
		h.Last.StartedAt, h.Last.Duration = fromMillis(started), time.Duration(duration)*time.Millisecond
		return h, err
	})
	if err != nil {
		return nil, err
	}
	type hourRow struct {
		hourKey
		app.HourHealth
	}
	first := hourOf(now) - app.HealthHours + 1
	rows, err = s.query(ctx, `SELECT h.webhook_id, h.hour, h.succeeded, h.failed FROM webhooks w CROSS JOIN webhook_hours h ON h.webhook_id = w.id`+of+
		` AND h.hour BETWEEN ?3 AND ?4 ORDER BY w.id`, accountID, webhookID, first, first+app.HealthHours-1)
	hours, err := collect(rows, err, func(row scanner) (h hourRow, err error) {
		return h, row.Scan(&h.webhookID, &h.hour, &h.Succeeded, &h.Failed)
	})
	for i := range list { // both by id
		for len(hours) > 0 && hours[0].webhookID <= list[i].WebhookID {
			if hours[0].webhookID == list[i].WebhookID {
				list[i].Hours[hours[0].hour-first] = hours[0].HourHealth
			}
			hours = hours[1:]
		}
	}
	return list, err
}

func (s *Store) RecentAttempts(ctx context.Context, accountID int64, now time.Time) (app.HourHealth, error) {
	var sum app.HourHealth
	first := hourOf(now) - app.HealthHours + 1
	err := s.queryRow(ctx, `SELECT coalesce(sum(h.succeeded), 0), coalesce(sum(h.failed), 0) FROM webhooks w CROSS JOIN webhook_hours h ON h.webhook_id = w.id
			WHERE w.account_id = ? AND h.hour BETWEEN ? AND ?`, accountID, first, first+app.HealthHours-1).Scan(&sum.Succeeded, &sum.Failed)
	return sum, storageError(err)
}

func (s *Store) PendingOf(ctx context.Context, accountID, webhookID int64) (int64, error) {
	var n int64
	err := s.queryRow(ctx, `SELECT count(*) FROM webhooks w CROSS JOIN deliveries d INDEXED BY deliveries_due ON d.webhook_id = w.id AND d.state = 0
			WHERE w.id = ? AND w.account_id = ?`, webhookID, accountID).Scan(&n)
	return n, storageError(err)
}
