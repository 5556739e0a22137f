package sqlitestore

import (
	"context"

	"baoco/app"
)

// fromEvent joins to a transaction t the inbound event e that recorded it, as
// long as it isn't pruned.
const fromEvent = `LEFT JOIN inbound_events e ON e.id = t.inbound_event_id`

func (s *Store) Provenance(ctx context.Context, accountID, transactionID int64) (app.Provenance, error) {
	var p app.Provenance
	err := s.queryRow(ctx, `SELECT t.source_id, coalesce(s.name, ''), coalesce(s.provider, ''), t.channel, coalesce(e.id, 0)
		FROM transactions t LEFT JOIN sources s ON s.id = t.source_id `+fromEvent+`
		WHERE t.id = ? AND t.account_id = ?`, transactionID, accountID).Scan(&p.SourceID, &p.SourceName, &p.Provider, &p.Channel, &p.InboundEventID)
	if noRows(err) {
		err = app.ErrNoTransaction()
	}
	if err != nil {
		return p, storageError(err)
	}
	rows, err := s.query(ctx, `SELECT k.source_id, coalesce(s.name, ''), k.channel, k.event_id FROM event_ids k INDEXED BY event_ids_merged
		LEFT JOIN sources s ON s.id = k.source_id WHERE k.transaction_id = ? AND k.merged = 1 AND k.account_id = ? ORDER BY k.source_id, k.channel, k.event_id LIMIT ?`,
		transactionID, accountID, app.MaxMerged)
	p.Merged, err = collect(rows, err, func(row scanner) (n app.EventName, err error) {
		return n, row.Scan(&n.SourceID, &n.SourceName, &n.Channel, &n.EventID)
	})
	return p, err
}
