package sqlitestore

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"baoco/app"
	"baoco/app/inbound"
)

// errDryRun makes the writer roll a dry run back.
var errDryRun = errors.New("dry run")

// RecordInbound records a call in one commit, or in steps if it has very many elements.
// It returns after the last step. After a crash between two steps, the provider's next
// call finds the first elements recorded.
func (s *Store) RecordInbound(ctx context.Context, call inbound.Call, zone *time.Location) (inbound.Recording, error) {
	if call.DryRun {
		return s.dryRun(ctx, call, zone)
	}
	return inSteps(ctx, s, inbound.Recording{}, func(tx *tx, before inbound.Recording) (inbound.Recording, bool, error) {
		recording, more := recordInbound(tx, call, zone, before)
		if call.Channel == app.ChannelHand || call.Channel == app.ChannelFile { // a person acts, not a provider
			auditRecorded(ctx, tx, call, before, recording)
		}
		return recording, more, nil
	})
}

// auditRecorded writes the audit line of a transaction by hand, or one line for a whole
// file. Records by an API key may be many, so they are counted in one line an hour.
func auditRecorded(ctx context.Context, tx *tx, call inbound.Call, before, recording inbound.Recording) {
	a, _ := app.ActorOf(ctx)
	switch {
	case recording.Recorded == before.Recorded:
	case call.Channel == app.ChannelFile:
		if call.ImportID == 0 && before.ImportID == 0 {
			tx.audit(ctx, call.AccountID, app.DeedImportRecord, recording.ImportID, app.AuditNamed(call.File))
		}
	case a.Way == app.WayAPI:
		tx.auditOften(ctx, time.Hour, app.AuditLine{
			AccountID: call.AccountID, Deed: app.DeedTransactionRecord, AuditDetail: app.AuditDetail{Count: 1},
		})
	default:
		tx.audit(ctx, call.AccountID, app.DeedTransactionRecord, recording.TransactionIDs[0], app.AuditDetail{})
	}
}

// dryRun records a call and rolls it back.
func (s *Store) dryRun(ctx context.Context, call inbound.Call, zone *time.Location) (inbound.Recording, error) {
	var recording inbound.Recording
	err := s.write(ctx, func(tx *tx) error {
		recording, _ = recordInbound(tx, call, zone, inbound.Recording{})
		return errDryRun
	})
	if err != nil && !errors.Is(err, errDryRun) {
		return inbound.Recording{}, err
	}
	return recording, nil
}

// recordInbound records the elements after those of before, until the step is full.
func recordInbound(tx *tx, call inbound.Call, zone *time.Location, before inbound.Recording) (recording inbound.Recording, more bool) {
	recording = before
	if kept, found := earlier(tx, call.AccountID, call.Key, call.ReceivedAt); found {
		recording.Add(kept.outcome, kept.result)
		return recording, false
	}
	call.ImportID = max(call.ImportID, before.ImportID)
	r := &recorder{tx: tx, zone: zone, now: call.ReceivedAt, call: call, event: before.EventID}
	r.keepEvent()
	more = r.elements(&recording)
	if more || len(before.Outcomes) > 0 || recording.Recorded < len(call.Elements) {
		r.closeEvent(recording)
	}
	r.closeImport(len(before.Outcomes), &recording)
	tx.totals.addCall(call.Source.ID, call.ReceivedAt, recording.Recorded > 0)
	if more {
		return recording, true
	}
	if call.SourceFault {
		failServed(tx, call.Source.ID)
	}
	if call.Key.Key != "" {
		keepKey(tx, call.AccountID, call.Key, keptResult{recording.TransactionIDs[0], recording.Outcomes[0]}, call.ReceivedAt)
	}
	return recording, false
}

// retried is how far a retry has come.
type retried struct {
	inbound.Recording
	before    int64          // the items up to this id existed before the retry
	discarded map[int]string // as in recorder
}

// RetryInbound removes the old items only after every element is recorded or has a new
// item: so after a crash in between the event still needs attention, and can be retried.
func (s *Store) RetryInbound(ctx context.Context, id int64, call inbound.Call, zone *time.Location,
	now time.Time) (inbound.Recording, error) {
	done, err := inSteps(ctx, s, retried{}, func(tx *tx, at retried) (retried, bool, error) {
		if at.EventID == 0 {
			at.before = findValue[int64](tx, `SELECT coalesce(max(id), 0) FROM inbound_items WHERE inbound_event_id = ?`, id)
			// The discarded items, by their position, with the reasons.
			list := findValue[string](tx, `SELECT json_group_object(position, reason_en) FROM inbound_items
				WHERE inbound_event_id = ? AND state = 'discarded'`, id)
			tx.fail(json.Unmarshal([]byte(list), &at.discarded))
			tx.audit(ctx, call.AccountID, app.DeedInboundRetry, id, app.AuditDetail{})
		}
		recorded := at.Recorded
		r := &recorder{tx: tx, zone: zone, now: now, call: call, event: id, retry: true, before: at.before, discarded: at.discarded}
		more := r.elements(&at.Recording)
		if !more {
			n := tx.change(`DELETE FROM inbound_items WHERE id IN (SELECT id FROM inbound_items
					WHERE inbound_event_id = ? AND id <= ? AND state IN ('rejected', 'conflict')`+stepLimit+`)`, id, at.before)
			more = n == stepRows
		}
		return at, more,
			tx.exec(`UPDATE inbound_events SET recorded = recorded + ?1, unassigned = ?3, conflicts = ?4, rejected = ?5, open = `+openItems+`
			WHERE id = ?2`, at.Recorded-recorded, id, at.Unassigned, at.Conflicts, at.Rejected)
	})
	return done.Recording, err
}

func (s *Store) DiscardInbound(ctx context.Context, accountID, id, itemID int64) (int, error) {
	type discarding struct {
		items int
		line  int64 // of the audit log
	}
	done, err := inSteps(ctx, s, discarding{}, func(tx *tx, at discarding) (discarding, bool, error) {
		ownInboundEvent(tx, accountID, id)
		if itemID != 0 {
			find(tx, app.ErrUnknownReference("item_id"), scanOne[int], `SELECT 1 FROM inbound_items WHERE id = ? AND inbound_event_id = ?`,
				itemID, id)
		}
		n := tx.change(`UPDATE inbound_items SET state = 'discarded' WHERE id IN (SELECT id FROM inbound_items
				WHERE inbound_event_id = ?1 AND (?2 = 0 OR id = ?2) AND `+isOpen+stepLimit+`)`, id, itemID)
		at.items += int(n)
		at.line = tx.auditCount(ctx, app.AuditLine{
			ID: at.line, AccountID: accountID, Deed: app.DeedInboundDiscard, NounID: id, AuditDetail: app.AuditDetail{Count: int64(at.items)},
		})
		return at, n == stepRows, tx.exec(`UPDATE inbound_events SET open = `+openItems+` WHERE id = ?`, id)
	})
	return done.items, err
}

// ownInboundEvent refuses the id of an event that the account doesn't have.
func ownInboundEvent(tx *tx, accountID, id int64) {
	find(tx, inbound.ErrNoEvent, scanOne[int], `SELECT 1 FROM inbound_events WHERE id = ? AND account_id = ?`, id, accountID)
}

func (s *Store) NoteRefusedCall(c inbound.RefusedCall) {
	s.writer.offer(func(tx *tx) error {
		tx.exec(`INSERT INTO refused_calls (source_id, received_ms, remote, code, reason_en, reason_vi) VALUES (?, ?, ?, ?, ?, ?)`,
			nullIfZero(c.SourceID), c.ReceivedAt.UnixMilli(), c.Remote, string(c.Code), c.Text.EN, c.Text.VI)
		return tx.exec(`DELETE FROM refused_calls WHERE id <= (SELECT id FROM refused_calls ORDER BY id DESC LIMIT 1 OFFSET ?)`,
			inbound.KeptRefusedCalls)
	})
}
