package sqlitestore

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"baoco/app"
	"baoco/app/inbound"
)

const importColumns = `id, file, in_count, in_amount, out_count, out_amount, imported_at, undone_at,
	iif(undone_at IS NULL, 0, (SELECT count(*) FROM transactions t INDEXED BY transactions_import WHERE t.import_id = imports.id))`

func scanImport(row scanner) (f inbound.ImportedFile, err error) {
	return f, row.Scan(&f.ID, &f.File, &f.In.Count, &f.In.Total, &f.Out.Count, &f.Out.Total, secondsInto(&f.At),
		secondsInto(&f.UndoneAt), &f.Kept)
}

func (s *Store) Imports(ctx context.Context, accountID int64, page app.Page) ([]inbound.ImportedFile, error) {
	return readAll(ctx, s, scanImport, `SELECT `+importColumns+` FROM imports WHERE account_id = ? ORDER BY id DESC LIMIT ? OFFSET ?`,
		accountID, page.Size, page.Offset())
}

// Conditions on a transaction t that the undoing of an import keeps: a shop was notified of it, or another
// source has it too. One in a closed book is kept as well. ?2 is a time in seconds: attempts to webhooks
// deleted before it have ended.
const (
	notifiedShop = `(` + streamed +
		` OR EXISTS (SELECT 1 FROM deliveries d INDEXED BY deliveries_transaction JOIN webhooks w ON w.id = d.webhook_id
		WHERE d.transaction_id = t.id AND NOT (d.state = 3 AND d.attempts = 0 AND w.deleted_at IS NOT NULL AND w.deleted_at < ?2)))`
	namedElsewhere = `EXISTS (SELECT 1 FROM event_ids k INDEXED BY event_ids_merged WHERE k.transaction_id = t.id AND k.merged = 1)`
)

// otherImport is the first other file that contains a transaction t and wasn't undone.
const otherImport = `(SELECT min(x.import_id) FROM import_repeats x JOIN imports i ON i.id = x.import_id WHERE x.transaction_id = t.id
	AND x.import_id <> t.import_id AND i.undone_at IS NULL)`

// attemptsEnd is how long a delivery may be in flight after its webhook was deleted.
const attemptsEnd = time.Minute

func (s *Store) Undoable(ctx context.Context, accountID, id int64, now time.Time) (u inbound.Undoing, err error) {
	u.File, err = scanImport(s.queryRow(ctx, `SELECT `+importColumns+` FROM imports WHERE id = ? AND account_id = ?`, id, accountID))
	if err != nil {
		return u, noRowsAs(err, inbound.ErrNoImport)
	}
	rows, err := s.query(ctx,
		`SELECT t.id, t.type, t.amount, t.occurred_at, `+notifiedShop+`, `+namedElsewhere+` OR `+otherImport+` IS NOT NULL,
			`+bookOf+` IS NOT NULL
		FROM transactions t INDEXED BY transactions_import WHERE t.import_id = ?1 ORDER BY t.id`, id, now.Add(-attemptsEnd).Unix())
	err = each(rows, err, func(row scanner) (bool, error) {
		var t app.Transaction
		var notified, elsewhere, closed bool
		err := row.Scan(&t.ID, &t.Type, &t.Amount, secondsInto(&t.Time), &notified, &elsewhere, &closed)
		if err == nil {
			u.Count(t, notified, elsewhere, closed)
		}
		return false, err
	})
	return u, err
}

// undoStep is how many transactions one commit looks at and removes, or how many items that
// may be repeats it discards.
const undoStep = 100

func (s *Store) UndoImport(
	ctx context.Context, accountID int64, at inbound.UndoStep, zone *time.Location, now time.Time,
) (last int64, err error) {
	return writing(ctx, s, func(tx *tx) (last int64, err error) {
		list := findAll(tx, func(row scanner) (r removedTransaction, err error) {
			r.accountID, r.removed = accountID, true
			err = row.Scan(&r.id, &r.bankAccountID, &r.receivingNumber, &r.direction, &r.amount, secondsInto(&r.at), &r.search, &r.stays,
				&r.otherImport)
			r.day = app.DayOf(r.at, zone)
			return r, err
		}, `SELECT t.id, t.bank_account_id, t.receiving_number, t.type, t.amount, t.occurred_at, iif(t.id <= `+searchedTo+`, t.search, NULL), `+
			notifiedShop+` OR `+namedElsewhere+` OR `+bookOf+` IS NOT NULL, coalesce(`+otherImport+`, 0)
			FROM transactions t INDEXED BY transactions_import WHERE t.import_id = ?1 AND t.account_id = ?3 AND t.id > ?4 ORDER BY t.id LIMIT ?5`,
			at.ImportID, now.Add(-attemptsEnd).Unix(), accountID, at.After, undoStep)
		if len(list) == 0 {
			if more := discardRepeats(tx, at.ImportID); more {
				return max(at.After, 1), nil
			}
			return 0, tx.exec(`UPDATE imports SET undone_at = ? WHERE id = ? AND account_id = ? AND undone_at IS NULL`,
				now.Unix(), at.ImportID, accountID)
		}
		if at.After == 0 {
			file := findValue[string](tx, `SELECT file FROM imports WHERE id = ?`, at.ImportID)
			tx.audit(ctx, accountID, app.DeedImportUndo, at.ImportID, app.AuditNamed(file))
		}
		last = list[len(list)-1].id
		for _, r := range list {
			if r.otherImport != 0 {
				tx.exec(`UPDATE transactions SET import_id = ? WHERE id = ?`, r.otherImport, r.id)
			}
		}
		list = slices.DeleteFunc(list, func(r removedTransaction) bool { return r.stays || r.otherImport != 0 })
		removeTransactions(tx, accountID, list)
		r := &recorder{tx: tx, zone: zone, now: now, call: inbound.Call{AccountID: accountID}}
		r.judgeWithout(list)
		return last, nil
	})
}

// discardRepeats discards a step of a file's items that may be repeats, and reports whether it
// found any. Their event ids are removed, so that another file may contain them again.
func discardRepeats(tx *tx, importID int64) (more bool) {
	items := findAll(tx, scanOne[int64], `SELECT id FROM inbound_items WHERE state = 'may_be_repeat' AND import_id = ? LIMIT ?`,
		importID, undoStep)
	if len(items) == 0 {
		return false
	}
	ids := jsonArray(items)
	tx.exec(`DELETE FROM event_ids WHERE channel = 'file' AND source_id = 0 AND (account_id, event_id) IN
		(SELECT account_id, event_id FROM inbound_items WHERE id IN (SELECT value FROM json_each(?)))`, ids)
	tx.exec(`UPDATE inbound_items SET state = 'discarded' WHERE id IN (SELECT value FROM json_each(?))`, ids)
	tx.exec(`UPDATE inbound_events SET open = `+openItems+` WHERE id IN
		(SELECT inbound_event_id FROM inbound_items WHERE id IN (SELECT value FROM json_each(?)))`, ids)
	return true
}

// removedTransaction is a transaction to remove. search is its text in the index, NULL
// if it isn't indexed; stays is true if it can't be removed. otherImport is the file that
// it belongs to from now on; 0: none.
type removedTransaction struct {
	transactionDelta
	search      sql.NullString
	stays       bool
	otherImport int64
}

// removeTransactions removes transactions of an account, their event ids, notes, matches and
// deliveries, and their entries in the indexes. The totals follow with the commit.
func removeTransactions(tx *tx, accountID int64, removed []removedTransaction) {
	var ids []int64
	for _, r := range removed {
		ids = append(ids, r.id)
		tx.totals.addTransaction(r.transactionDelta)
		if r.search.Valid {
			tx.exec(`INSERT INTO transactions_search (transactions_search, rowid, search) VALUES ('delete', ?, ?)`, r.id, r.search.String)
		}
	}
	unmatch(tx, ids...)
	noteRemoval(tx, accountID, ids)
	tx.exec(`DELETE FROM import_repeats WHERE transaction_id IN (SELECT value FROM json_each(?))`, jsonArray(ids))
	for _, query := range []string{
		`DELETE FROM transaction_reports WHERE transaction_id IN (SELECT value FROM json_each(?1)) AND account_id = ?2`,
		`DELETE FROM transactions_unsent WHERE account_id = ?2 AND transaction_id IN (SELECT value FROM json_each(?1))`,
		`DELETE FROM event_ids WHERE (account_id, source_id, channel, event_id) IN (SELECT k.account_id, k.source_id, k.channel, k.event_id
			FROM json_each(?1) CROSS JOIN event_ids k INDEXED BY event_ids_file ON k.transaction_id = value AND k.channel || '' = 'file'
			AND k.account_id = ?2)`,
		`DELETE FROM deliveries WHERE transaction_id IN (SELECT value FROM json_each(?1)) AND account_id = ?2`,
		`DELETE FROM transaction_marks WHERE transaction_id IN (SELECT value FROM json_each(?1)) AND account_id = ?2`,
		`DELETE FROM transaction_notes WHERE transaction_id IN (SELECT value FROM json_each(?1)) AND account_id = ?2`,
		`DELETE FROM transactions WHERE id IN (SELECT value FROM json_each(?1)) AND account_id = ?2`,
	} {
		tx.exec(query, jsonArray(ids), accountID)
	}
	// searched_to must not be greater than the last id.
	tx.exec(`UPDATE settings SET value = (SELECT coalesce(max(id), 0) FROM transactions)
		WHERE name = 'searched_to' AND CAST(value AS INTEGER) > (SELECT coalesce(max(id), 0) FROM transactions)`)
}
