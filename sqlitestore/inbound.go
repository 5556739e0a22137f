package sqlitestore

import (
	"context"
	"database/sql"
	"time"

	"baoco/app"
)

func (s *Store) RecordInbound(ctx context.Context, call app.InboundCall, zone *time.Location) (app.Recording, error) {
	return writing(ctx, s, func(tx *tx) (recording app.Recording, err error) {
		if before, found, err := earlier(tx, call.AccountID, call.Key, call.ReceivedAt); err != nil || found {
			recording.Count(before.outcome, before.result)
			return recording, err
		}
		r := &recorder{tx: tx, zone: zone, now: call.ReceivedAt, call: call}
		if err := r.keepEvent(); err != nil {
			return recording, err
		}
		if err := r.elements(&recording); err != nil {
			return recording, err
		}
		if err := r.closeEvent(recording); err != nil {
			return recording, err
		}
		tx.totals.addCall(call.Source.ID, call.ReceivedAt, recording.Recorded > 0)
		if call.Key.Key == "" {
			return recording, nil
		}
		return recording, keepKey(tx, call.AccountID, call.Key, keptResult{recording.TransactionIDs[0], recording.Outcomes[0]}, call.ReceivedAt)
	})
}

func (r *recorder) elements(recording *app.Recording) error {
	for i, e := range r.call.Elements {
		outcome, id, err := r.element(i, e)
		if err != nil {
			return err
		}
		recording.Count(outcome, id)
	}
	recording.Deliveries, recording.Webhooks, recording.Ready = r.deliveries, r.webhooks, r.ready
	recording.EventID = r.event
	return nil
}

// keepEvent keeps the raw body once, in the hope that every element will be
// recorded; closeEvent corrects it otherwise.
func (r *recorder) keepEvent() (err error) {
	if r.event != 0 || r.call.Body == nil {
		return nil
	}
	r.event, err = r.tx.insert(`INSERT INTO inbound_events (account_id, source_id, channel, received_ms, body, recorded, duplicates, unassigned, conflicts, rejected, open)
			VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0)`,
		r.call.AccountID, id0(r.call.Source.ID), string(r.call.Channel), r.call.ReceivedAt.UnixMilli(), r.call.Body, len(r.call.Elements))
	return err
}

func (r *recorder) closeEvent(n app.Recording) error {
	if r.event == 0 || n.Recorded == len(r.call.Elements) {
		return nil
	}
	return r.tx.exec(`UPDATE inbound_events SET recorded = ?, duplicates = ?, unassigned = ?, conflicts = ?, rejected = ?, open = ? WHERE id = ?`,
		n.Recorded, n.Duplicates, n.Unassigned, n.Conflicts, n.Rejected, r.open, r.event)
}

func (s *Store) RetryInbound(ctx context.Context, id int64, call app.InboundCall, zone *time.Location, now time.Time) (app.Recording, error) {
	return writing(ctx, s, func(tx *tx) (recording app.Recording, err error) {
		// What is still at fault is noted anew.
		if err := tx.exec(`DELETE FROM inbound_items WHERE inbound_event_id = ? AND state IN ('rejected', 'conflict')`, id); err != nil {
			return recording, err
		}
		r := &recorder{tx: tx, zone: zone, now: now, call: call, event: id, retry: true}
		if err := r.elements(&recording); err != nil {
			return recording, err
		}
		return recording, tx.exec(`UPDATE inbound_events SET recorded = recorded + ?1, unassigned = ?3, conflicts = ?4, rejected = ?5, open = `+openItems+`
			WHERE id = ?2`, recording.Recorded, id, recording.Unassigned, recording.Conflicts, recording.Rejected)
	})
}

func (s *Store) DiscardInbound(ctx context.Context, accountID, id int64) (int, error) {
	return writing(ctx, s, func(tx *tx) (int, error) {
		found, err := tx.change(`UPDATE inbound_events SET open = 0 WHERE id = ? AND account_id = ?`, id, accountID)
		if err == nil && found == 0 {
			err = app.ErrNoInboundEvent()
		}
		if err != nil {
			return 0, err
		}
		n, err := tx.change(`UPDATE inbound_items SET state = 'discarded' WHERE inbound_event_id = ? AND state IN ('unassigned', 'rejected', 'conflict')`, id)
		return int(n), err
	})
}

const inboundEventColumns = `e.id, coalesce(e.source_id, 0), coalesce(s.name, ''), e.channel, e.received_ms, e.body, e.recorded, e.duplicates, e.unassigned, e.conflicts, e.rejected, e.open`

func scanInboundEvent(row scanner) (app.InboundEvent, error) {
	var e app.InboundEvent
	var received sql.NullInt64
	err := row.Scan(&e.ID, &e.SourceID, &e.SourceName, &e.Channel, &received, &e.Body, &e.Recorded, &e.Duplicates, &e.Unassigned, &e.Conflicts, &e.Rejected, &e.Open)
	e.ReceivedAt = fromMillis(received)
	e.EventID = e.ID
	return e, err
}

func (s *Store) InboundEvents(ctx context.Context, accountID int64, f app.InboundFilter) ([]app.InboundEvent, error) {
	const from = ` FROM inbound_events e LEFT JOIN sources s ON s.id = e.source_id WHERE e.account_id = ?1 AND (?2 = 0 OR e.source_id = ?2)`
	query := `SELECT ` + inboundEventColumns + from + ` ORDER BY e.id DESC LIMIT ?3 OFFSET ?4`
	if f.OpenOnly {
		query = `SELECT ` + inboundEventColumns + from + ` AND e.open > 0 ORDER BY e.id DESC LIMIT ?3 OFFSET ?4`
	}
	rows, err := s.query(ctx, query, accountID, f.SourceID, f.Page.Size, f.Page.Offset())
	return collect(rows, err, scanInboundEvent)
}

func (s *Store) InboundEvent(ctx context.Context, accountID, id int64) (app.InboundEvent, app.Source, error) {
	e, err := scanInboundEvent(s.queryRow(ctx, `SELECT `+inboundEventColumns+` FROM inbound_events e LEFT JOIN sources s ON s.id = e.source_id
			WHERE e.account_id = ? AND e.id = ?`, accountID, id))
	if noRows(err) {
		return e, app.Source{}, app.ErrNoInboundEvent()
	}
	if err != nil || e.SourceID == 0 {
		return e, app.Source{}, storageError(err)
	}
	src, err := s.scanSource(s.queryRow(ctx, `SELECT `+sourceColumns+` FROM sources WHERE id = ?`, e.SourceID))
	return e, src, storageError(err)
}

func (s *Store) InboundItems(ctx context.Context, accountID, eventID int64) ([]app.InboundItem, error) {
	rows, err := s.query(ctx, `SELECT id, inbound_event_id, position, state, reason_field, reason_en, reason_vi, event_id, gateway, account_number, number,
			type, amount, content, occurred_at, date_flagged, masked
		FROM inbound_items WHERE account_id = ? AND inbound_event_id = ? ORDER BY position, id`, accountID, eventID)
	return collect(rows, err, func(row scanner) (app.InboundItem, error) {
		var i app.InboundItem
		var occurred sql.NullInt64
		var fault app.FieldError
		err := row.Scan(&i.ID, &i.InboundEventID, &i.Position, &i.State, &fault.Field, &fault.Text.EN, &fault.Text.VI, &i.EventID, &i.Gateway,
			&i.AccountNumber, &i.Number, &i.Type, &i.Amount, &i.Content, &occurred, &i.DateFlagged, &i.Masked)
		i.Time, i.Fault = fromSeconds(occurred), &fault
		return i, err
	})
}

// keptRefusedCalls is how many calls that didn't authenticate are kept.
const keptRefusedCalls = 200

func (s *Store) NoteRefusedCall(c app.RefusedCall) {
	s.writer.offer(func(tx *tx) error {
		id, err := tx.insert(`INSERT INTO refused_calls (source_id, received_ms, remote, code, reason_en, reason_vi) VALUES (?, ?, ?, ?, ?, ?)`,
			id0(c.SourceID), c.ReceivedAt.UnixMilli(), c.Remote, string(c.Code), c.Text.EN, c.Text.VI)
		if err != nil {
			return err
		}
		return tx.exec(`DELETE FROM refused_calls WHERE id <= ?`, id-keptRefusedCalls)
	})
}

func (s *Store) RefusedCalls(ctx context.Context, accountID, sourceID int64, limit int) ([]app.RefusedCall, error) {
	rows, err := s.query(ctx, `SELECT r.id, coalesce(r.source_id, 0), coalesce(s.name, ''), r.received_ms, r.remote, r.code, r.reason_en, r.reason_vi
		FROM refused_calls r LEFT JOIN sources s ON s.id = r.source_id
		WHERE (s.account_id = ?1 OR r.source_id IS NULL) AND (?2 = 0 OR r.source_id = ?2) ORDER BY r.id DESC LIMIT ?3`, accountID, sourceID, limit)
	return collect(rows, err, func(row scanner) (app.RefusedCall, error) {
		var c app.RefusedCall
		var received sql.NullInt64
		err := row.Scan(&c.ID, &c.SourceID, &c.SourceName, &received, &c.Remote, &c.Code, &c.Text.EN, &c.Text.VI)
		c.ReceivedAt = fromMillis(received)
		return c, err
	})
}
