package sqlitestore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/upkeep"
)

func (d *doctor) timezone(ctx context.Context) (upkeep.Check, error) {
	name, err := scanOne[string](d.db.QueryRowContext(ctx, `SELECT value FROM settings WHERE name = 'timezone'`))
	if err == nil {
		d.zone, err = time.LoadLocation(name)
	}
	if err != nil {
		return upkeep.Check{}, err
	}
	return fine("%s; it is %s there now", "%s; hiện ở đó là %s", name, app.FormatTime(d.Now, d.zone))
}

// key checks that the key file opens every secret.
func (d *doctor) key(ctx context.Context) (upkeep.Check, error) {
	check, err := scanOne[string](d.db.QueryRowContext(ctx, keyCheck))
	if err != nil {
		return upkeep.Check{}, err
	}
	key, err := readKey(d.path + ".key")
	if err != nil || !key.fits(check) {
		if next, nextErr := readKey(d.path + nextKey); nextErr == nil && next.fits(check) {
			return failed(app.Text{EN: "The new key has no name yet: its making was interrupted.",
				VI: "Khoá mới chưa được đặt vào chỗ: việc tạo khoá đã bị ngắt giữa chừng."},
				app.Text{EN: "Run it again: baoco doctor --new-key", VI: "Hãy chạy lại: baoco doctor --new-key"}), nil
		}
		if err == nil {
			err = fmt.Errorf("%w: %s.key", ErrKey, d.path)
		}
		if fitting := fittingKey(d.path, check); fitting != "" {
			return failed(app.Text{EN: err.Error(), VI: err.Error()},
				app.Textf("Nothing is lost: %s is its key. Copy it to %s", "Không mất gì cả: %s là khoá của tệp này. Hãy sao chép nó thành %s", fitting,
					d.path+".key")), nil
		}
		return upkeep.Check{}, err
	}
	lost, err := lostSecrets(ctx, d.db, key)
	if err != nil {
		return upkeep.Check{}, err
	}
	rotate := app.Text{
		EN: "Make new ones: baoco webhook rotate-secret ID, baoco source rotate ID, baoco stream rotate-secret ID, baoco " +
			"alert telegram or email.",
		VI: "Hãy tạo lại: baoco webhook rotate-secret ID, baoco source rotate ID, baoco stream rotate-secret ID, baoco " +
			"alert telegram hoặc email.",
	}
	unreadable := slices.DeleteFunc(slices.Clone(lost), func(l upkeep.LostSecret) bool { return l.Dropped })
	switch {
	case len(unreadable) > 0:
		return failed(app.Textf("The key doesn't open the secrets of %s.", "Tệp khoá không mở được khoá bí mật của %s.", nameLost(unreadable)),
			app.Text{EN: "Restore a backup, or drop them: baoco doctor --new-key, and then rotate them.",
				VI: "Khôi phục từ bản sao lưu, hoặc bỏ chúng bằng baoco doctor --new-key rồi đổi khoá bí mật mới."}), nil
	case len(lost) > 0:
		return warning(app.Textf("The secrets of %s were dropped: nothing goes out to such a webhook, stream or alert channel, nothing comes "+
			"in from such a source.",
			"Khoá bí mật của %s đã bị bỏ: webhook, luồng và kênh cảnh báo như vậy không gửi đi được, nguồn như vậy không nhận vào được.",
			nameLost(lost)), rotate)
	}
	return fine("The key opens every secret.", "Tệp khoá mở được mọi khoá bí mật.")
}

func nameLost(lost []upkeep.LostSecret) string {
	names := make([]string, len(lost))
	for i, l := range lost {
		noun := "webhook"
		switch {
		case l.Stream:
			noun = "stream"
		case l.Provider != "":
			noun = "source"
		case l.Medium != "":
			noun = "alert channel"
		}
		names[i] = fmt.Sprintf("%s %d (%s)", noun, l.ID, l.Name)
	}
	return strings.Join(names, ", ")
}

// In a large file only Full reads all transactions, attempts or calls.
const largeFile int64 = 500_000

// large reports whether the file has more rows than doctor reads without Full.
func (d *doctor) large(ctx context.Context, tx *sql.Tx) (large bool, err error) {
	if d.Full {
		return false, nil
	}
	return scanOne[bool](tx.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM transactions) + (SELECT count(*) FROM attempts) >= ?`,
		cmp.Or(d.largeFrom, largeFile)))
}

// compareTotals compares kept totals with the rows that they count.
func (d *doctor) compareTotals(ctx context.Context, check string) (c upkeep.Check, err error) {
	wrong, large, err := d.compare(ctx, check)
	switch {
	case err != nil:
		return c, err
	case len(wrong) > 0:
		return failed(app.Textf("These totals differ from the rows that they count: %s", "Các tổng này khác với các dòng mà chúng đếm: %s",
			strings.Join(wrong, ", ")), cureTotals), nil
	case large:
		return fine("The totals agree with each other; in a file of this size only --full counts the rows.",
			"Các tổng khớp với nhau; với tệp lớn thế này, chỉ --full mới đếm các dòng.")
	}
	return fine("All totals are those of their rows.", "Mọi tổng đều khớp với các dòng.")
}

// search compares the indexes of search texts and of unsent transactions with the transactions.
func (d *doctor) search(ctx context.Context) (c upkeep.Check, err error) {
	wrong, large, err := d.compare(ctx, "search")
	var left int64
	if err == nil {
		left, err = scanOne[int64](d.db.QueryRowContext(ctx, `SELECT count(*) FROM transactions WHERE id > `+searchedTo))
	}
	switch {
	case err != nil:
		return c, err
	case len(wrong) > 0:
		return failed(app.Textf("Lists find transactions by these, which differ from the transactions: %s",
			"Các danh sách tìm giao dịch theo những bảng này, nhưng chúng khác với giao dịch: %s", strings.Join(wrong, ", ")), cureTotals), nil
	case large:
		return fine("%d transactions are not indexed yet; in a file of this size only --full compares the index with all texts.",
			"%d giao dịch chưa vào chỉ mục; với tệp lớn thế này, chỉ --full mới so chỉ mục với mọi nội dung.", left)
	}
	return fine("%d transactions are not indexed yet; searches read them one by one.",
		"%d giao dịch chưa vào chỉ mục; khi tìm sẽ đọc từng giao dịch.", left)
}

// compare returns the names of the derived tables that differ from their rows. It reads one
// state of the file, so rows that are recorded meanwhile don't matter.
func (d *doctor) compare(ctx context.Context, check string) (wrong []string, large bool, err error) {
	d.Progress(check)
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, false, err
	}
	defer tx.Rollback()
	if large, err = d.large(ctx, tx); err != nil {
		return nil, false, err
	}
	all := derivedTables
	if d.Full {
		all = append(all[:len(all):len(all)], searchTerms)
		if err := showTerms(ctx, tx); err != nil {
			return nil, false, err
		}
	}
	for _, k := range all {
		name := cmp.Or(k.name, k.table)
		if k.check != check || k.full && large || slices.Contains(wrong, name) {
			continue
		}
		d.Progress(name)
		n, err := scanOne[int64](tx.QueryRowContext(ctx, k.differences(), hourOf(d.Now.Add(-healthKept))))
		switch {
		case n != 0 || isSearchDamage(err):
			wrong = append(wrong, name)
		case err != nil:
			return nil, false, fmt.Errorf("%s: %w", name, err)
		}
	}
	return wrong, large, nil
}

// showTerms makes a table that shows the index of search texts. It is a temporary table of
// the connection, so the file isn't changed.
func showTerms(ctx context.Context, tx *sql.Tx) error {
	for _, query := range []string{
		`PRAGMA query_only = 0`,
		`CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_terms USING fts5vocab(main, transactions_search, instance)`,
		`PRAGMA query_only = 1`,
	} {
		if _, err := tx.ExecContext(ctx, query); err != nil {
			return err
		}
	}
	return nil
}

// overdue is how long a delivery may be due before the check warns of it.
const overdue = 2 * time.Minute

// queue checks that each pending delivery has a due time, a webhook and a payload.
func (d *doctor) queue(ctx context.Context) (c upkeep.Check, err error) {
	var pending, broken, due int64
	var oldest time.Time
	err = d.db.QueryRowContext(ctx,
		`SELECT count(*), count(*) FILTER (WHERE d.due_ms IS NULL OR w.id IS NULL OR d.attempts NOT BETWEEN 0 AND ?2
				OR t.id IS NULL AND d.sample IS NULL), count(*) FILTER (WHERE d.due_ms <= ?1
				AND w.is_active = 1), min(d.due_ms) FILTER (WHERE w.is_active = 1)
			FROM deliveries d INDEXED BY deliveries_due LEFT JOIN webhooks w ON w.id = d.webhook_id LEFT
			JOIN transactions t ON t.id = d.transaction_id
			WHERE d.state = 0`, d.Now.UnixMilli(), len(delivery.RetrySchedule)-1).Scan(&pending, &broken, &due, millisInto(&oldest))
	if err == nil && d.Full {
		d.Progress("deliveries")
		var finished int64
		err = d.db.QueryRowContext(ctx,
			`SELECT count(*) FROM deliveries WHERE state NOT BETWEEN 0 AND 3 OR state <> 0 AND due_ms IS NOT NULL`).Scan(&finished)
		broken += finished
	}
	switch late := d.Now.Sub(oldest); {
	case err != nil:
		return c, err
	case broken > 0:
		return failed(app.Textf("%d deliveries can't be what they are: without a time, a webhook or something to carry.",
			"%d thông báo không hợp lệ: thiếu thời điểm, webhook hoặc nội dung.", broken), cureReport), nil
	case d.served && due > 0 && late > overdue:
		return warning(app.Textf("%d deliveries are due, the first for %d minutes.", "%d thông báo đã đến hạn, thông báo đầu tiên quá %d phút.",
			due, int(late.Minutes())),
			app.Text{EN: "See baoco delivery list --status 0 for what the receivers answer.",
				VI: "Xem baoco delivery list --status 0 để biết nơi nhận trả lời gì."})
	}
	return fine("%d deliveries pending, %d due", "%d thông báo đang chờ, %d đã đến hạn", pending, due)
}

// eventIDs checks the event ids, which prevent that an event is recorded twice: each
// transaction must have one id that isn't merged, and each id a transaction or an item.
func (d *doctor) eventIDs(ctx context.Context) (c upkeep.Check, err error) {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return c, err
	}
	defer tx.Rollback()
	if large, err := d.large(ctx, tx); err != nil || large {
		c, _ = fine("In a file of this size only --full reads them.", "Với tệp lớn thế này, chỉ --full mới đọc.")
		return c, err
	}
	d.Progress("event ids")
	var broken, first, transactions int64
	err = tx.QueryRowContext(ctx,
		`SELECT (SELECT count(*) FROM event_ids k LEFT JOIN transactions t ON t.id = k.transaction_id WHERE t.id IS NULL
			AND (k.transaction_id IS NOT NULL OR k.item_id IS NULL)),
			(SELECT count(*) FROM event_ids WHERE merged = 0 AND transaction_id IS NOT NULL), (SELECT count(*) FROM transactions)`).Scan(&broken,
		&first, &transactions)
	if err != nil {
		return c, err
	}
	if broken > 0 || first != transactions {
		return failed(app.Textf("%d event ids of %d transactions, and %d of nothing: a repeated call might be recorded twice.",
			"%d mã sự kiện cho %d giao dịch, và %d mã không thuộc về gì: lần gọi lặp lại có thể bị ghi hai lần.", first, transactions, broken),
			cureReport), nil
	}
	return fine("Every transaction has its event id.", "Mỗi giao dịch có mã sự kiện của mình.")
}

// clockSlack is how far ahead of the clock the newest rows may be. A clock before firstDay
// is wrong.
const clockSlack = 2 * time.Minute

var firstDay = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

func (d *doctor) clock(ctx context.Context) (c upkeep.Check, err error) {
	var at time.Time
	err = d.db.QueryRowContext(ctx, newestTime).Scan(millisInto(&at))
	cure := app.Text{EN: "Set the clock by the network: timedatectl set-ntp true", VI: "Đồng bộ đồng hồ qua mạng: timedatectl set-ntp true"}
	switch {
	case err != nil:
		return c, err
	case d.Now.Before(firstDay):
		return failed(app.Textf("The clock of this machine says %s.", "Đồng hồ của máy này đang là %s.", d.Now.UTC().Format(time.DateTime)),
			cure), nil
	case at.Sub(d.Now) > clockSlack:
		return warning(app.Textf("The newest row is of %s UTC, ahead of the clock: it was wrong then, or is now.",
			"Dòng mới nhất ghi lúc %s UTC, sau giờ hiện tại: đồng hồ lúc đó hoặc bây giờ bị sai.", at.UTC().Format(time.DateTime)), cure)
	}
	return fine("%s UTC; nothing was recorded later", "%s UTC; không có gì được ghi sau lúc này", d.Now.UTC().Format(time.DateTime))
}

// installation adds the warnings of the dashboard that depend on the files only.
func (d *doctor) installation(ctx context.Context) {
	const name = "installation"
	var in upkeep.Installation
	status, err := filesStatus(d.path)
	if errors.Is(err, fs.ErrNotExist) { // the key has a check of its own
		err = nil
	}
	if err == nil {
		err = d.db.QueryRowContext(ctx, `SELECT value FROM settings WHERE name = 'base_url'`).Scan(&in.BaseURL)
	}
	if err == nil {
		err = d.db.QueryRowContext(ctx, `SELECT coalesce(max(value), '0') FROM settings WHERE name = 'open_files'`).Scan(&in.Files)
	}
	var backup upkeep.BackupStatus
	if err == nil {
		backup, err = scanBackupStatus(d.db.QueryRowContext(ctx, aboutBackups))
	}
	warnings := upkeep.Warnings(in, status, backup, upkeep.CertificateStatus{}, d.Now)
	if err != nil || len(warnings) == 0 {
		d.run(ctx, name, func(context.Context) (upkeep.Check, error) {
			c, _ := fine("There is nothing to warn of.", "Không có gì cần cảnh báo.")
			return c, err
		})
		return
	}
	for _, w := range warnings {
		d.checks = append(d.checks, upkeep.Check{Name: name, Result: upkeep.CheckWarning, Text: w.Text})
	}
}
