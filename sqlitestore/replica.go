package sqlitestore

import (
	"context"
	"fmt"
	"time"

	"baoco/app"
)

// SetBeat is in app.Writer.
func (s *Store) SetBeat(ctx context.Context, now time.Time) error {
	return s.write(ctx, func(tx *tx) error {
		return tx.exec(`INSERT INTO settings (name, value) VALUES ('beat', '1 ' || ?1)
			ON CONFLICT (name) DO UPDATE SET value = (CAST(value AS INTEGER) + 1) || ' ' || ?1`, now.UnixMilli())
	})
}

// Beat is in app.Reader.
func (s *Store) Beat(ctx context.Context) (b app.Beat, err error) {
	var value string
	err = s.queryRow(ctx, `SELECT value FROM settings WHERE name = 'beat'`).Scan(&value)
	if noRows(err) {
		return b, nil
	}
	var at int64
	if err == nil {
		_, err = fmt.Sscan(value, &b.Sequence, &at)
	}
	b.At = time.UnixMilli(at)
	return b, storageError(err)
}
