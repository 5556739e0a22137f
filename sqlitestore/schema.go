package sqlitestore

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"baoco/app"
)

// applicationID marks a file as baoco's: "baoc".
const applicationID = 0x62616f63

//go:embed migration/*.sql
var migrationFS embed.FS

// releasedDigests has a line for each version from 0 on. To run the migrations and compute
// the digests would take each process 50 ms.
//
//go:embed migration/digests
var releasedDigests string

// schema is a list of migration scripts. Version n is the schema that the first n
// scripts make.
type schema struct {
	scripts []script
	digests []string // of the versions, from 0 on
}

type script struct{ name, text string }

// released is the schema of this baoco.
var released = sync.OnceValue(func() *schema {
	names, err := fs.Glob(migrationFS, "migration/*.sql")
	var scripts []script
	for _, name := range names {
		var text []byte
		if text, err = migrationFS.ReadFile(name); err != nil {
			break
		}
		scripts = append(scripts, script{name, string(text)})
	}
	if err != nil {
		panic(err) // the files are part of the program
	}
	return &schema{scripts, strings.Fields(releasedDigests)}
})

func (k *schema) version() int { return len(k.scripts) }

// querier is a connection or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// digest is a hash of the statements of a schema. It leaves out the tables inside the
// search index and the statistics of ANALYZE: they are SQLite's own and may differ
// between its releases. It also leaves out the two tables that Litestream makes in
// every database that it copies.
func digest(ctx context.Context, db querier) (string, error) {
	type object struct{ kind, name, table, text string }
	var objects []object
	var inside []string // prefixes of the names of tables inside a search index
	rows, err := db.QueryContext(ctx, `SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema
		WHERE name NOT LIKE 'sqlite\_stat_' ESCAPE '\' AND NOT (type = 'table' AND name IN ('_litestream_seq', '_litestream_lock'))
		ORDER BY type, name`)
	err = each(rows, err, func(row scanner) (bool, error) {
		var o object
		err := row.Scan(&o.kind, &o.name, &o.table, &o.text)
		if strings.HasPrefix(o.text, "CREATE VIRTUAL TABLE ") {
			inside = append(inside, o.name+"_")
		}
		objects = append(objects, o)
		return false, err
	})
	sum := sha256.New()
	for _, o := range objects {
		if !slices.ContainsFunc(inside, func(prefix string) bool { return strings.HasPrefix(o.table, prefix) }) {
			fmt.Fprintf(sum, "%s %s %s %s\n", o.kind, o.name, o.table, plainSQL(o.text))
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), err
}

// plainSQL removes from a statement the comments, repeated white space, and the quotes
// that SQLite adds to names when it rewrites the statement.
func plainSQL(text string) string {
	plain := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if strings.HasPrefix(text[i:], "--") {
			end := strings.IndexByte(text[i:], '\n')
			if end < 0 {
				break
			}
			i += end
		}
		switch c := text[i]; c {
		case '"':
		case ' ', '\t', '\n', '\f', '\r':
			if len(plain) == 0 || plain[len(plain)-1] != ' ' {
				plain = append(plain, ' ')
			}
		default:
			plain = append(plain, c)
		}
	}
	return string(plain)
}

// versionOf returns the version of the schema of a file: the present one or an older
// one. It returns ErrNewer for a newer one, ErrSchema for a schema that differs from
// that of its version, and ErrNotDatabase for a file of another program.
func (k *schema) versionOf(ctx context.Context, db querier, path string) (version int, err error) {
	var id int
	if err := db.QueryRowContext(ctx, `SELECT application_id, user_version FROM pragma_application_id, pragma_user_version`).Scan(&id,
		&version); err != nil {
		return 0, schemaError(path, err)
	}
	switch {
	case id != applicationID:
		return 0, fmt.Errorf("%w: %s is a database of another program", ErrNotDatabase, path)
	case version > k.version():
		return version, fmt.Errorf("%w: %s has schema %d, this baoco knows %d: use the newer one%s", ErrNewer, path, version, k.version(),
			k.goBackAdvice(path, version))
	}
	found, err := digest(ctx, db)
	if err != nil {
		return 0, schemaError(path, err)
	}
	if version < 0 || version >= len(k.digests) || found != k.digests[version] {
		err = fmt.Errorf("%w: %s says that it has schema %d, and has another: it was made by a baoco that was never released, or another "+
			"program has changed it; restore a backup", ErrSchema, path, version)
	}
	return version, err
}

func schemaError(path string, err error) error {
	if err := storageError(err); errors.Is(err, ErrDamaged) {
		return fmt.Errorf("%s: %w", path, err)
	}
	if isRefusedWrite(err) {
		return fmt.Errorf("%w: %s and its directory must be writable for the user that runs this: %v", fs.ErrPermission, path, err)
	}
	return fmt.Errorf("open %s: %w", path, err)
}

// goBackAdvice returns advice to restore the last copy that was made before a migration and that
// this baoco can read; empty: none.
func (k *schema) goBackAdvice(path string, version int) string {
	for ; version > k.version(); version-- {
		kept := beforeSchema(path, version)
		if found, err := versionInHeader(kept); err == nil && found <= k.version() {
			return fmt.Sprintf(", or go back to what it was before, without what came in since: baoco restore %s", app.ShellWord(kept))
		}
	}
	return ""
}

// versionInHeader reads the version of a file that no program has open.
func versionInHeader(path string) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var version [4]byte
	_, err = f.ReadAt(version[:], 60) // see https://www.sqlite.org/fileformat.html
	return int(binary.BigEndian.Uint32(version[:])), err
}

// beforeSchema returns the path of the copy that is made before a migration to a version.
func beforeSchema(path string, version int) string {
	return fmt.Sprintf("%s.before-schema-%d", path, version)
}
