package sqlitestore_test

import (
	"database/sql"
	"testing"

	"baoco/app/apptest"
)

var (
	must   = apptest.Must
	create = apptest.NewFile
	open   = apptest.OpenStore
	acting = apptest.Acting
)

// peek reads the file as another program would.
func peek(t testing.TB, path, query string, args ...any) [][]any {
	t.Helper()
	db := openToRead(t, path)
	defer db.Close()
	return ask(t, db, query, args...)
}

// openToRead opens the file for several queries as another program would.
func openToRead(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	must(t, err)
	return db
}

// ask gives the rows of a query.
func ask(t testing.TB, db *sql.DB, query string, args ...any) [][]any {
	t.Helper()
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
