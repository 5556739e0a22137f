package apptest

import (
	"context"
	"database/sql"
	"net/url"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/delivery"
)

// Seeding describes the rows that Seed makes.
type Seeding struct {
	AccountID int64
	Rows      int64     // transactions, and as many calls, deliveries, attempts and lines of the audit log
	From, To  time.Time // the rows are spread evenly over this time
}

const rowsPerSeedCommit = 50_000

// Seed fills a new file with invented transactions, for measurements. It is fast because
// it writes without a journal, so no other process may have the file open. The account
// needs a source, bank accounts, and a webhook for each of them, and must have no
// transaction. The derived tables are the same as after recording.
func Seed(t testing.TB, path string, s Seeding) {
	t.Helper()
	ctx := context.Background()
	dsn := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{
		"mode": {"rw"}, "_txlock": {"exclusive"},
		"_pragma": {"journal_mode(DELETE)", "journal_mode(OFF)", "synchronous(OFF)", "locking_mode(exclusive)", "cache_size(-100000)",
			"temp_store(memory)"},
	}.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	Must(t, err)
	db.SetMaxOpenConns(1)
	offset := prepareSeed(ctx, t, db, s)
	for low := int64(1); low <= s.Rows; low += rowsPerSeedCommit {
		tx, err := db.BeginTx(ctx, nil)
		Must(t, err)
		for _, step := range seedSteps(s, offset, low, min(low+rowsPerSeedCommit-1, s.Rows)) {
			_, err := tx.ExecContext(ctx, step.query, step.args...)
			Must(t, err)
		}
		Must(t, tx.Commit())
	}
	for _, query := range []string{
		`UPDATE bank_accounts SET status = 'active' WHERE unlinked_at IS NULL`,
		`UPDATE sources SET (last_call_at, last_transaction_at) = (SELECT created_at, created_at FROM transactions ORDER BY id DESC LIMIT 1)`,
	} {
		_, err := db.ExecContext(ctx, query)
		Must(t, err)
	}
	Must(t, db.Close())
	store := OpenStore(t, path, false)
	Must(t, store.Recount(ctx, s.To))
	Must(t, store.Close())
}

// seedContents are contents of Vietnamese transfers, in the forms of banks.
var seedContents = []string{
	"MBVCB.5482931177.NGUYEN VAN A chuyen tien.CT tu 0071000123456 NGUYEN VAN A toi 19354957",
	"NGUYEN THI HOA chuyen khoan thanh toan don hang",
	"Thanh toán tiền hàng cho cửa hàng Hoa Sen, đơn số",
	"TRAN VAN BINH CK tien coc ao so mi size L",
	"IBFT LE THI MAI chuyen tien mua my pham",
	"PHAM QUOC DAT thanh toan hoa don thang nay",
	"Chuyển khoản mua 2 hộp yến sào, giao Quận 7",
	"MOMO-CASHIN-0912345678-OQCXRTBHKLMN-099912345678",
	"VNPAY QR thanh toan tai quay so",
	"Hoan tien don hang bi huy",
	"DANG THU THAO ck tien hoc phi ky 2 lop 10A5",
	"Cty TNHH Thương mại Minh Phát thanh toán công nợ hợp đồng",
}

// prepareSeed writes the rows that the new ones refer to into temporary tables, and returns
// the offset of the installation's zone from UTC in seconds.
func prepareSeed(ctx context.Context, t testing.TB, db *sql.DB, s Seeding) (offset int) {
	t.Helper()
	var used bool
	var zone string
	Must(t, db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM transactions), value FROM settings WHERE name = 'timezone'`).Scan(&used,
		&zone))
	if used {
		t.Fatal("the file has transactions already")
	}
	location, err := time.LoadLocation(zone)
	Must(t, err)
	_, offset = s.To.In(location).Zone()
	exec := func(query string, args ...any) {
		_, err := db.ExecContext(ctx, query, args...)
		Must(t, err)
	}
	exec(`CREATE TEMP TABLE seed_contents (i INTEGER PRIMARY KEY, content TEXT, search TEXT)`)
	for i, content := range seedContents {
		exec(`INSERT INTO seed_contents VALUES (?, ?, ?)`, i, content, strings.TrimSuffix(app.SearchText(content, ""), "\n"))
	}
	// Each bank account with the source and the webhook of its transactions.
	exec(`CREATE TEMP TABLE seed_banks (i INTEGER PRIMARY KEY, bank_account_id INTEGER, source_id INTEGER, webhook_id INTEGER, url TEXT)`)
	exec(`INSERT INTO seed_banks
		SELECT row_number() OVER (ORDER BY b.id) - 1, b.id, (SELECT min(id) FROM sources s WHERE s.account_id = b.account_id
		AND s.removed_at IS NULL), w.id, w.url
		FROM bank_accounts b LEFT JOIN webhooks w ON w.id = (SELECT min(id) FROM webhooks WHERE account_id = b.account_id AND deleted_at IS NULL
			AND type = 'ALL' AND (bank_account_id IS NULL OR bank_account_id = b.id))
		WHERE b.account_id = ? AND b.unlinked_at IS NULL`, s.AccountID)
	var banks, without int
	Must(t,
		db.QueryRowContext(ctx,
			`SELECT count(*), count(*) FILTER (WHERE source_id IS NULL OR webhook_id IS NULL) FROM seed_banks`).Scan(&banks, &without))
	if banks == 0 || without > 0 {
		t.Fatal("the account needs bank accounts, a source, and a webhook for each bank account")
	}
	return offset
}

type seedStatement struct {
	query string
	args  []any
}

// seedSteps returns the statements that fill one table after another. A multiplication
// scatters the numbers well enough. One in a hundred deliveries has failed; only its last
// attempt exists.
func seedSteps(s Seeding, offset int, low, high int64) []seedStatement {
	return []seedStatement{
		{`WITH RECURSIVE seq(n) AS (SELECT ?1 UNION ALL SELECT n + 1 FROM seq WHERE n < ?2),
				scattered(n, a, b, c, at) AS (SELECT n, (n * 2654435761 & 4294967295) >> 8, (n * 2246822519 & 4294967295) >> 8, (n * 3266489917 &
				4294967295) >> 8,
					?3 + (?4 - ?3) * n / ?5 FROM seq)
			INSERT INTO transactions (id, account_id, bank_account_id, source_id, channel, number, type, amount, content, search, occurred_at,
			date_only, date_flaw, zone_offset, created_at)
			SELECT n, ?6, k.bank_account_id, k.source_id, ?7, printf('FT%010d', n), CASE WHEN a % 10 < 8 THEN 'IN'
			ELSE 'OUT' END, 10000 + b % 5000 * 1000,
				p.content || ' DH' || n, p.search || ' dh' || n || char(10) || printf('ft%010d', n), at, 0, '', ?8, at
			FROM scattered CROSS JOIN seed_contents p ON p.i = b % ?9 CROSS JOIN seed_banks k ON k.i = c % (SELECT count(*) FROM seed_banks)`,
			[]any{low, high, s.From.Unix(), s.To.Unix(), s.Rows, s.AccountID, string(app.ChannelCall), offset, len(seedContents)}},
		{`INSERT INTO event_ids (account_id, source_id, channel, event_id, transaction_id, merged)
			SELECT account_id, source_id, channel, number, id, 0 FROM transactions WHERE id BETWEEN ? AND ?`,
			[]any{low, high}},
		{`INSERT INTO inbound_events (account_id, source_id, channel, received_ms, recorded, duplicates, unassigned, conflicts, rejected, open,
			body)
			SELECT account_id, source_id, channel, created_at * 1000, 1, 0, 0, 0, 0, 0,
				CAST(json_object('transactions', json_array(json_object('id', number, 'gateway', 'ACB', 'transactionNumber', number, 'content', content,
					'transferType', type, 'transferAmount', amount))) AS BLOB)
			FROM transactions WHERE id BETWEEN ? AND ? ORDER BY id`,
			[]any{low, high}},
		{`INSERT INTO deliveries (id, account_id, webhook_id, transaction_id, state, attempts, retry, created_ms, single)
			SELECT t.id, t.account_id, k.webhook_id, t.id, iif(t.id % 100 = 0, 2, 1), iif(t.id % 100 = 0, 6, 1), 1, t.created_at * 1000, 0
			FROM transactions t JOIN seed_banks k ON k.bank_account_id = t.bank_account_id WHERE t.id BETWEEN ? AND ? ORDER BY t.id`,
			[]any{low, high}},
		{`INSERT INTO attempts (id, account_id, delivery_id, webhook_id, type, number, url, started_ms, duration_ms, dns_ms, connect_ms, tls_ms,
			wait_ms,
				status_code, ok, error, detail, response_body)
			SELECT d.id, d.account_id, d.id, d.webhook_id, t.type, d.attempts, k.url, d.created_ms + 2, 41, 0, 0, 0, 40,
				iif(d.state = 1, 200, 500), d.state = 1, iif(d.state = 1, '', ?3), '', CAST(iif(d.state = 1, '{"success":true}',
				'Internal Server Error') AS BLOB)
			FROM deliveries d JOIN transactions t ON t.id = d.transaction_id JOIN seed_banks k ON k.bank_account_id = t.bank_account_id
			WHERE d.id BETWEEN ?1 AND ?2 ORDER BY d.id`,
			[]any{low, high, string(delivery.ErrorHTTPStatus)}},
		{`INSERT INTO audit (account_id, at_ms, way, actor, actor_id, address, deed, noun, noun_id, detail)
			SELECT t.account_id, t.created_at * 1000, ?3, 'lan', 1, '192.0.2.1', ?4, ?5, k.webhook_id, json_object('name', 'shop', 'changes',
			json_array(json_object('field', 'url', 'from', k.url, 'to', k.url || t.id)))
			FROM transactions t JOIN seed_banks k ON k.bank_account_id = t.bank_account_id WHERE t.id BETWEEN ?1 AND ?2 ORDER BY t.id`,
			[]any{low, high, string(app.WayDashboard), string(app.DeedWebhookChange), app.DeedWebhookChange.Noun()}},
	}
}
