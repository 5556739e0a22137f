package sqlitestore

import (
	"context"
	"time"

	"baoco/app"
)

func (s *Store) PolledSources(ctx context.Context) ([]app.Source, error) {
	rows, err := s.query(ctx, `SELECT `+sourceColumns+` FROM sources WHERE api_key IS NOT NULL AND removed_at IS NULL ORDER BY id`)
	return collect(rows, err, func(row scanner) (app.Source, error) { return s.scanSource(row) })
}

func (s *Store) RecordPage(ctx context.Context, call app.InboundCall, progress string, complete bool, zone *time.Location) (app.Recording, error) {
	recording, err := inSteps(ctx, s, app.Recording{}, func(tx *tx, before app.Recording) (recording app.Recording, more bool, err error) {
		recording = before
		var used bool
		err = tx.queryRow(`SELECT EXISTS (SELECT 1 FROM sources WHERE id = ? AND removed_at IS NULL)`, call.Source.ID).Scan(&used)
		if err == nil && !used {
			err = app.ErrNoSource()
		}
		if err != nil {
			return recording, false, err
		}
		r := &recorder{tx: tx, zone: zone, now: call.ReceivedAt, call: call, event: before.EventID}
		if more, err = r.elements(&recording); err != nil {
			return recording, false, err
		}
		if err := r.closeEvent(recording); err != nil || more {
			return recording, more, err
		}
		return recording, false, tx.exec(`UPDATE sources SET progress = ?2, polled_at = CASE ?3 WHEN 1 THEN ?4 ELSE polled_at END,
				poll_error = CASE ?3 WHEN 1 THEN '' ELSE poll_error END, last_transaction_at = CASE ?5 WHEN 0 THEN last_transaction_at ELSE ?4 END
				WHERE id = ?1`, call.Source.ID, progress, complete, call.ReceivedAt.Unix(), recording.Recorded)
	})
	if err != nil {
		return app.Recording{}, err
	}
	return recording, nil
}

func (s *Store) NotePollFault(ctx context.Context, sourceID int64, fault app.PollFault) (bool, error) {
	return writing(ctx, s, func(tx *tx) (bool, error) {
		n, err := tx.change(`UPDATE sources SET poll_error = ?2 WHERE id = ?1 AND poll_error NOT IN (?2, ?3) AND removed_at IS NULL`,
			sourceID, string(fault), string(app.PollKeyRefused))
		if err != nil || n == 0 || fault != app.PollKeyRefused {
			return n > 0, err
		}
		return true, failServed(tx, sourceID)
	})
}

// failServed puts the bank accounts that a source serves to error: the one that
// it is for, else those that it has recorded on. What somebody switched off
// stays off.
func failServed(tx *tx, sourceID int64) error {
	return tx.exec(`UPDATE bank_accounts SET status = ?1 WHERE unlinked_at IS NULL AND status <> ?2 AND id IN
			(SELECT bank_account_id FROM sources WHERE id = ?3
			UNION SELECT b.bank_account_id FROM source_bank_accounts b JOIN sources s ON s.id = b.source_id
				WHERE b.source_id = ?3 AND s.bank_account_id IS NULL)`,
		string(app.BankAccountError), string(app.BankAccountInactive), sourceID)
}
