package sqlitestore

import (
	"context"
	"database/sql"
	"net/url"
	"time"

	"baoco/app"
)

// idGap is how many ids a restore leaves out in every table: more than are given between
// two backups. The copy in a replica may be older: for each gapTime since its beat another
// idGap is left out.
const (
	idGap   = 1_000_000
	gapTime = 5 * time.Minute
)

// leaveGap makes the next ids of a restored copy greater than all ids that were ever given
// in it, or in the database that it replaces. A client may ask for rows after an id that
// is greater than those of the copy, and a stored id must never name another row.
//
// It writes the restore into the copy's audit log.
func leaveGap(ctx context.Context, draft string, from RestoreSource, given map[string]int64, now time.Time) error {
	db := openOne(draft, url.Values{"mode": {"rw"}, "_journal_mode": {"DELETE"}, "_synchronous": {"FULL"}, "_dqs": {"0"}})
	defer db.Close()
	last, err := lastIDs(ctx, db)
	if err != nil {
		return err
	}
	var f copyFacts
	if err := db.QueryRowContext(ctx, beat).Scan(&f.beat); err != nil {
		return storageError(err)
	}
	if err := f.readBeat(); err != nil {
		return err
	}
	gap := int64(idGap)
	if f.Beat.Sequence > 0 {
		gap *= 1 + int64(max(0, now.Sub(f.Beat.At)/gapTime))
	}
	gap += 2 * idGap * max(0, from.Servers-1) // each of them left a gap that was computed in the same way
	for table, id := range last {
		id = max(id, given[table]) + gap
		result, err := db.ExecContext(ctx, `UPDATE sqlite_sequence SET seq = ? WHERE name = ?`, id, table)
		if err != nil {
			return storageError(err)
		}
		if n, err := result.RowsAffected(); err != nil || n > 0 {
			continue
		}
		if _, err := db.ExecContext(ctx, `INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)`, table, id); err != nil {
			return storageError(err)
		}
	}
	if _, known := last["audit"]; !known { // the backup is of a schema without an audit log
		return nil
	}
	row, err := auditRow(ctx, app.DefaultAccountID, app.DeedDatabaseRestore, 0, app.AuditNamed(from.Origin))
	if err == nil {
		_, err = db.ExecContext(ctx, insertAudit, row...)
	}
	return storageError(err)
}

// givenIDs returns the last id of every table of a database that no process has open.
// It returns none if the database can't be read, which may be why it is replaced.
func givenIDs(ctx context.Context, path string) map[string]int64 {
	db := openUntouched(path)
	defer db.Close()
	last, _ := lastIDs(ctx, db)
	return last
}

// lastIDs returns the last id that each table has given; 0 if it has given none.
func lastIDs(ctx context.Context, db *sql.DB) (map[string]int64, error) {
	rows, err := db.QueryContext(ctx, `SELECT m.name, coalesce(s.seq, 0) FROM sqlite_schema m LEFT JOIN sqlite_sequence s ON s.name = m.name
		WHERE m.type = 'table' AND m.sql LIKE '%AUTOINCREMENT%'`)
	last := map[string]int64{}
	err = each(rows, err, func(row scanner) (bool, error) {
		var table string
		var id int64
		err := row.Scan(&table, &id)
		last[table] = id
		return false, err
	})
	return last, err
}
