package sqlitestore

import (
	"context"
	"database/sql"
	"net/url"
)

// idGap is how many ids a restore leaves out in every table: more than were
// given since the backup was made.
const idGap = 1_000_000

// leaveGap has the ids of a copy that is being restored go on from beyond all
// that were ever given, there or in the database that it takes the place of. Who
// asks for what is new since an id may stand ahead of the copy, and an id that
// somebody has kept must not come to name something else.
func leaveGap(ctx context.Context, draft string, given map[string]int64) error {
	db := sql.OpenDB(connector(dsn(draft, url.Values{"mode": {"rw"}, "_journal_mode": {"DELETE"}, "_synchronous": {"FULL"}, "_dqs": {"0"}})))
	defer db.Close()
	db.SetMaxOpenConns(1)
	last, err := lastIDs(ctx, db)
	if err != nil {
		return err
	}
	for table, id := range last {
		id = max(id, given[table]) + idGap
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
	return nil
}

// givenIDs gives the last id of every table of a database that nobody works
// with; none where it can't be read: it may be restored for that.
func givenIDs(ctx context.Context, path string) map[string]int64 {
	db := openUntouched(path)
	defer db.Close()
	last, _ := lastIDs(ctx, db)
	return last
}

// lastIDs gives the last id that every table has given; 0 where it gave none.
func lastIDs(ctx context.Context, db *sql.DB) (map[string]int64, error) {
	rows, err := db.QueryContext(ctx, `SELECT m.name, coalesce(s.seq, 0) FROM sqlite_schema m LEFT JOIN sqlite_sequence s ON s.name = m.name
		WHERE m.type = 'table' AND m.sql LIKE '%AUTOINCREMENT%'`)
	last := map[string]int64{}
	_, err = collect(rows, err, func(row scanner) (none struct{}, err error) {
		var table string
		var id int64
		err = row.Scan(&table, &id)
		last[table] = id
		return none, err
	})
	return last, err
}
