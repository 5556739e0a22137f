package sqlitestore

import (
	"context"
	"encoding/json"

	"baoco/app"
)

// InboundBodies leaves a body that is too long on its pages: its length stands
// in the row.
func (s *Store) InboundBodies(ctx context.Context, accountID int64, ids []int64, most int) (map[int64][]byte, error) {
	rows, err := s.query(ctx, `SELECT e.id, e.body FROM json_each(?1) page CROSS JOIN inbound_events e ON e.id = page.value
		WHERE e.account_id = ?2 AND length(e.body) <= ?3`, joinIDs(ids), accountID, most)
	type found struct {
		id   int64
		body []byte
	}
	list, err := collect(rows, err, func(row scanner) (f found, err error) { return f, row.Scan(&f.id, &f.body) })
	bodies := make(map[int64][]byte, len(list))
	for _, f := range list {
		bodies[f.id] = f.body
	}
	return bodies, err
}

func (s *Store) InboundSources(ctx context.Context, accountID int64, ids []int64) (map[int64]app.Source, error) {
	rows, err := s.query(ctx, `SELECT `+sourceColumns+` FROM sources WHERE account_id = ? AND id IN (SELECT value FROM json_each(?))`, accountID, joinIDs(ids))
	list, err := collect(rows, err, func(row scanner) (app.Source, error) { return s.scanSource(row) })
	sources := make(map[int64]app.Source, len(list))
	for _, src := range list {
		sources[src.ID] = src
	}
	return sources, err
}

// KnownEvents reads of the file what recorder.find does, and where it came
// from.
func (s *Store) KnownEvents(ctx context.Context, accountID int64, refs []app.EventRef) ([]*app.KnownEvent, error) {
	names := make([][3]any, len(refs))
	for i, ref := range refs {
		names[i] = [3]any{ref.SourceID, ref.Channel, ref.EventID}
	}
	list, err := json.Marshal(names)
	if err != nil {
		return nil, err
	}
	known := make([]*app.KnownEvent, len(refs))
	rows, err := s.query(ctx, `SELECT page.key, coalesce(k.transaction_id, 0), coalesce(e.id, 0), coalesce(i.inbound_event_id, 0), coalesce(i.state, ''),
			coalesce(b.bank, ''), coalesce(i.gateway, ''), coalesce(b.account_number, i.account_number, ''), coalesce(t.type, i.type, ''), coalesce(t.amount, i.amount, 0)
		FROM json_each(?2) page
		CROSS JOIN event_ids k ON k.account_id = ?1 AND k.source_id = page.value ->> 0 AND k.channel = page.value ->> 1 AND k.event_id = page.value ->> 2
		LEFT JOIN transactions t ON t.id = k.transaction_id
		`+fromEvent+`
		LEFT JOIN bank_accounts b ON b.id = t.bank_account_id
		LEFT JOIN inbound_items i ON i.id = k.item_id`, accountID, string(list))
	_, err = collect(rows, err, func(row scanner) (at int, err error) {
		var k app.KnownEvent
		var gateway string
		err = row.Scan(&at, &k.TransactionID, &k.TransactionEvent, &k.ItemEvent, &k.ItemState, &k.Bank, &gateway, &k.AccountNumber, &k.Type, &k.Amount)
		if k.TransactionID == 0 {
			bank, _ := app.FindBank(gateway)
			k.Bank = bank.Code
		}
		if err == nil {
			known[at] = &k
		}
		return at, err
	})
	return known, err
}
