package sqlitestore

import (
	"context"
	"errors"
	"time"

	"baoco/app"
)

// errDryRun takes back what a dry run has recorded.
var errDryRun = errors.New("dry run")

func (s *Store) RecordInbound(ctx context.Context, call app.InboundCall, zone *time.Location) (app.Recording, error) {
	var recording app.Recording
	err := s.write(ctx, func(tx *tx) (err error) {
		if recording, err = recordInbound(tx, call, zone); err == nil && call.DryRun {
			err = errDryRun
		}
		return err
	})
	if err != nil && !errors.Is(err, errDryRun) {
		return app.Recording{}, err
	}
	return recording, nil
}

func recordInbound(tx *tx, call app.InboundCall, zone *time.Location) (recording app.Recording, err error) {
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
	if call.Fault {
		if err := failServed(tx, call.Source.ID); err != nil {
			return recording, err
		}
	}
	tx.totals.addCall(call.Source.ID, call.ReceivedAt, recording.Recorded > 0)
	if call.Key.Key == "" {
		return recording, nil
	}
	return recording, keepKey(tx, call.AccountID, call.Key, keptResult{recording.TransactionIDs[0], recording.Outcomes[0]}, call.ReceivedAt)
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

func (s *Store) DiscardInbound(ctx context.Context, accountID, id, itemID int64) (int, error) {
	return writing(ctx, s, func(tx *tx) (int, error) {
		if err := inboundEventExists(tx, accountID, id); err != nil {
			return 0, err
		}
		if itemID != 0 {
			var known bool
			err := tx.queryRow(`SELECT EXISTS (SELECT 1 FROM inbound_items WHERE id = ? AND inbound_event_id = ?)`, itemID, id).Scan(&known)
			if err == nil && !known {
				err = app.ErrUnknownReference("item_id")
			}
			if err != nil {
				return 0, err
			}
		}
		n, err := tx.change(`UPDATE inbound_items SET state = 'discarded' WHERE inbound_event_id = ?1 AND (?2 = 0 OR id = ?2) AND `+isOpen, id, itemID)
		if err != nil {
			return 0, err
		}
		return int(n), tx.exec(`UPDATE inbound_events SET open = `+openItems+` WHERE id = ?`, id)
	})
}

// inboundEventExists refuses an id that names no event of the account's.
func inboundEventExists(tx *tx, accountID, id int64) error {
	var one int
	err := tx.queryRow(`SELECT 1 FROM inbound_events WHERE id = ? AND account_id = ?`, id, accountID).Scan(&one)
	if noRows(err) {
		return app.ErrNoInboundEvent()
	}
	return err
}

func (s *Store) NoteRefusedCall(c app.RefusedCall) {
	s.writer.offer(func(tx *tx) error {
		err := tx.exec(`INSERT INTO refused_calls (source_id, received_ms, remote, code, reason_en, reason_vi) VALUES (?, ?, ?, ?, ?, ?)`,
			id0(c.SourceID), c.ReceivedAt.UnixMilli(), c.Remote, string(c.Code), c.Text.EN, c.Text.VI)
		if err != nil {
			return err
		}
		return tx.exec(`DELETE FROM refused_calls WHERE id <= (SELECT id FROM refused_calls ORDER BY id DESC LIMIT 1 OFFSET ?)`, app.KeptRefusedCalls)
	})
}
