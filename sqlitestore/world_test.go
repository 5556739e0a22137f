package sqlitestore_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"baoco/app"
	"baoco/sqlitestore"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func create(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "baoco.db")
	must(t, sqlitestore.Create(context.Background(), path, app.DefaultZone, time.Now()))
	return path
}

func open(t testing.TB, path string, serve bool) *sqlitestore.Store {
	t.Helper()
	s, err := sqlitestore.Open(context.Background(), path, sqlitestore.Options{Serve: serve})
	must(t, err)
	return s
}

// peek reads the file as another program would.
func peek(t testing.TB, path, query string, args ...any) [][]any {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	must(t, err)
	defer db.Close()
	rows, err := db.Query(query, args...)
	must(t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	must(t, err)
	table := [][]any{}
	for rows.Next() {
		row := make([]any, len(columns))
		dest := make([]any, len(columns))
		for i := range row {
			dest[i] = &row[i]
		}
		must(t, rows.Scan(dest...))
		table = append(table, row)
	}
	must(t, rows.Err())
	return table
}
