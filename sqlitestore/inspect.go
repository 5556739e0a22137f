package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"

	"baoco/app"
)

// inspected is what a database file holds that nobody works with.
type inspected struct {
	app.Contents
	keyCheck string
}

// inspect checks a file that nobody works with, and reads what it holds. It
// leaves the file untouched and makes none beside it.
func inspect(ctx context.Context, path string, known *schema) (c inspected, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return c, err
	}
	if err := checkHeader(path, info.Size()); err != nil {
		return c, err
	}
	db := openStill(path)
	defer db.Close()
	if c.Schema, err = known.versionOf(ctx, db, path); err != nil {
		return c, err
	}
	if err := quickCheck(ctx, db); err != nil {
		return c, fmt.Errorf("%w: %s: %v", ErrDamaged, path, err)
	}
	return c, storageError(c.read(ctx, db))
}

// openStill opens a file that nobody works with as it is, without locks and
// logs.
func openStill(path string) *sql.DB {
	db := sql.OpenDB(connector(dsn(path, url.Values{
		"mode": {"ro"}, "immutable": {"1"}, "_query_only": {"1"}, "_dqs": {"0"}, "_defensive": {"1"}, "_pragma": {"trusted_schema(0)"},
	})))
	db.SetMaxOpenConns(1)
	return db
}

// keyCheckOf reads no more of such a file than tells whose it is.
func keyCheckOf(ctx context.Context, path string) (check string, err error) {
	db := openStill(path)
	defer db.Close()
	return check, db.QueryRowContext(ctx, `SELECT value FROM settings WHERE name = 'key_check'`).Scan(&check)
}

// read reads what any schema has.
func (c *inspected) read(ctx context.Context, db *sql.DB) error {
	var newest sql.NullInt64
	err := db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM accounts), (SELECT count(*) FROM transactions), (SELECT coalesce(max(id), 0) FROM transactions),
			(SELECT created_at FROM transactions ORDER BY id DESC LIMIT 1),
			(SELECT count(*) FROM webhooks w CROSS JOIN deliveries d INDEXED BY deliveries_due ON d.webhook_id = w.id AND d.state = 0),
			(SELECT value FROM settings WHERE name = 'timezone'), (SELECT value FROM settings WHERE name = 'key_check')`).
		Scan(&c.Accounts, &c.Transactions, &c.NewestID, &newest, &c.Pending, &c.Zone, &c.keyCheck)
	c.NewestAt = fromSeconds(newest)
	return err
}
