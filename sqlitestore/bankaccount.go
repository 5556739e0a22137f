package sqlitestore

import (
	"context"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/access"
)

const bankAccountColumns = `b.id, b.account_id, b.bank, b.account_number, b.account_name, b.status, b.created_at, b.nickname, b.colour,
	b.receiving_numbers, b.content_prefix`

func scanBankAccount(row scanner, after ...any) (b app.BankAccount, err error) {
	return b, row.Scan(append(bankAccountDest(&b), after...)...)
}

func bankAccountDest(b *app.BankAccount) []any {
	return []any{&b.ID, &b.AccountID, &b.Bank, &b.AccountNumber, &b.AccountName, &b.Status, secondsInto(&b.CreatedAt), &b.Nickname, &b.Colour,
		&b.ReceivingNumbers, &b.ContentPrefix}
}

const oneBankAccount = `SELECT ` + bankAccountColumns + ` FROM bank_accounts b
	WHERE b.id = ? AND b.account_id = ? AND b.unlinked_at IS NULL`

// txBankAccount finds a linked bank account.
func txBankAccount(tx *tx, accountID, id int64) app.BankAccount {
	return find(tx, app.ErrNoBankAccount, columnsOnly(scanBankAccount), oneBankAccount, id, accountID)
}

// linkedBankAccount refuses a field bank_account_id that isn't the id of a linked bank account.
func linkedBankAccount(tx *tx, accountID, id int64) {
	find(tx, app.ErrUnknownBankAccountID, columnsOnly(scanBankAccount), oneBankAccount, id, accountID)
}

// linkBankAccount inserts a bank account, or links one again that was unlinked. A bank
// that changed its name has two codes; a number is linked once under both.
func linkBankAccount(tx *tx, b app.BankAccount, now time.Time) int64 {
	unexpired(tx, b.AccountID, now)
	linked, taken := tx.recordCache(b.AccountID).withNumber(b.Bank, b.AccountNumber, 0)
	tx.refuse(taken, app.ErrBankAccountLinked(linked.Bank, linked.AccountNumber))
	withinPlan(tx, b.AccountID, now)
	b.ID = findValue[int64](tx, `SELECT id FROM bank_accounts WHERE account_id = ? AND account_number = ? AND bank = ?`,
		b.AccountID, b.AccountNumber, b.Bank)
	if b.ID != 0 {
		tx.exec(`UPDATE bank_accounts SET account_name = ?, status = ?, created_at = ?, unlinked_at = NULL WHERE id = ?`,
			b.AccountName, string(b.Status), b.CreatedAt.Unix(), b.ID)
	} else {
		b.ID = tx.insert(insertInto("bank_accounts", "account_id, bank, account_number, account_name, status, created_at"),
			b.AccountID, b.Bank, b.AccountNumber, b.AccountName, string(b.Status), b.CreatedAt.Unix())
	}
	setReceiving(tx, b, b.BankAccountReceiving)
	return b.ID
}

// setReceiving changes how customers pay b. At one bank only one bank account has a number.
func setReceiving(tx *tx, b app.BankAccount, r app.BankAccountReceiving) {
	for _, n := range r.Receiving() {
		other, taken := tx.recordCache(b.AccountID).withNumber(b.Bank, n.Number, b.ID)
		tx.refuse(taken, app.ErrBankAccountLinked(other.Bank, n.Number))
	}
	tx.exec(`UPDATE bank_accounts SET receiving_numbers = ?, content_prefix = ? WHERE id = ?`, r.ReceivingNumbers, r.ContentPrefix, b.ID)
}

// mayRemoveNumbers refuses to remove receiving numbers to which a webhook, a counter link or a
// user is limited: these would get nothing from then on.
func mayRemoveNumbers(tx *tx, b app.BankAccount, r app.BankAccountReceiving) {
	var gone []string
	for _, n := range b.Receiving() {
		if !r.Receives(n.Number) {
			gone = append(gone, n.Number)
		}
	}
	const of = ` WHERE account_id = ?1 AND receiving_number IN (SELECT value FROM json_each(?2))`
	var hooks, counters, users int64
	tx.fail(tx.queryRow(`SELECT (SELECT count(*) FROM webhooks`+of+` AND deleted_at IS NULL),
		(SELECT count(*) FROM counter_links`+of+` AND revoked_at IS NULL AND bank_account_id = ?3),
		(SELECT count(*) FROM users`+of+` AND id IN (SELECT user_id FROM user_bank_accounts WHERE bank_account_id = ?3))`,
		b.AccountID, jsonArray(gone), b.ID).Scan(&hooks, &counters, &users))
	tx.refuse(hooks+counters+users > 0, app.Refused(app.CodeConflict, app.Textf(
		"A number that is to be removed (%s) is still used: webhooks %d, counter screens %d and users %d are limited to it. Change those first.",
		"Số cần xoá (%s) còn được dùng để giới hạn: %d webhook, %d màn hình quầy, %d người dùng. Hãy đổi những giới hạn đó trước.",
		strings.Join(gone, ", "), hooks, counters, users)))
}

// paidTo finds the linked bank accounts that have a receiving number, at most one per bank. only is
// the id of the bank account that may be found, 0 for any. If none has the number, the field
// receiving_number is refused.
func paidTo(tx *tx, accountID, only int64, number string) []app.BankAccount {
	list := tx.recordCache(accountID).receivers(number, only)
	tx.refuse(len(list) == 0, app.ErrUnknownReference("receiving_number"))
	return list
}

func auditBankAccount(b app.BankAccount) app.AuditDetail {
	return app.AuditNamed(b.Bank + " " + b.AccountNumber)
}

func (s *Store) BankAccounts(ctx context.Context, accountID int64) ([]app.BankAccount, error) {
	return readAll(ctx, s, shownBankAccount(ctx), shownBankAccounts, accountID, limitOf(ctx))
}

var shownBankAccounts = `SELECT ` + bankAccountColumns + ` FROM bank_accounts b WHERE b.account_id = ?1 AND b.unlinked_at IS NULL AND ` +
	bankShown("b.id", "?2") + ` ORDER BY b.id`

// Balances reads one row per bank account. Within a limit to a receiving number it returns none,
// since a balance is of all money of the bank account.
func (s *Store) Balances(ctx context.Context, accountID int64, until app.Day) (map[int64]app.Balance, error) {
	return readMap(ctx, s, func(row scanner) (id int64, b app.Balance, err error) {
		err = row.Scan(&id, &b.Amount, secondsInto(&b.At), &b.Provider)
		return id, b, err
	}, `SELECT b.id, k.amount, k.at, s.provider FROM bank_accounts b CROSS JOIN bank_account_balances k
			ON k.bank_account_id = b.id AND k.day = (SELECT max(day) FROM bank_account_balances WHERE bank_account_id = b.id AND day <= ?2)
		JOIN sources s ON s.id = k.source_id WHERE b.account_id = ?1 AND ?3 ->> 'number' IS NULL AND `+
		bankShown("b.id", "?3"), accountID, int64(until), limitOf(ctx))
}

func (s *Store) SetBankAccountLabel(ctx context.Context, accountID, id int64, label app.BankAccountLabel) error {
	return s.write(ctx, func(tx *tx) error {
		b := txBankAccount(tx, accountID, id)
		tx.exec(`UPDATE bank_accounts SET nickname = ?, colour = ? WHERE id = ?`, label.Nickname, string(label.Colour), id)
		return tx.auditChange(ctx, accountID, app.DeedBankAccountChange, id,
			auditBankAccount(b).Changed("nickname", b.Nickname, label.Nickname).Changed("colour", b.Colour, label.Colour))
	})
}

func (s *Store) SetAccountName(ctx context.Context, accountID, id int64, name string) (app.BankAccount, error) {
	return writing(ctx, s, func(tx *tx) (app.BankAccount, error) {
		b := txBankAccount(tx, accountID, id)
		tx.exec(`UPDATE bank_accounts SET account_name = ? WHERE id = ?`, name, id)
		d := auditBankAccount(b).Changed("account_name", b.AccountName, name)
		b.AccountName = name
		return b, tx.auditChange(ctx, accountID, app.DeedBankAccountChange, id, d)
	})
}

func (s *Store) SetBankAccountReceiving(ctx context.Context, accountID, id int64, r app.BankAccountReceiving) (app.BankAccount, error) {
	return writing(ctx, s, func(tx *tx) (app.BankAccount, error) {
		b := txBankAccount(tx, accountID, id)
		mayRemoveNumbers(tx, b, r)
		setReceiving(tx, b, r)
		d := auditBankAccount(b).Changed("content_prefix", b.ContentPrefix, r.ContentPrefix).
			Changed("receiving_numbers", b.ReceivingNumbers, r.ReceivingNumbers)
		b.BankAccountReceiving = r
		return b, tx.auditChange(ctx, accountID, app.DeedBankAccountChange, id, d)
	})
}

// BankAccountSummaries reads at most the days since the start of the month or
// of the week for each bank account.
func (s *Store) BankAccountSummaries(ctx context.Context, accountID int64, today app.Day) ([]app.BankAccountSummary, error) {
	const in, out = ` AND d.type = 'IN'), 0)`, ` AND d.type = 'OUT'), 0)`
	sums := func(of string) string { // the sums of the days from a parameter on
		count, amount := `, coalesce(sum(d.count) FILTER (WHERE d.day >= `+of, `, coalesce(sum(d.amount) FILTER (WHERE d.day >= `+of
		return count + in + amount + in + count + out + amount + out
	}
	days, totals := shownDays(ctx, "?5"), "bank_account_totals"
	if access.LimitOf(ctx).ReceivingNumber != "" {
		totals = `(SELECT bank_account_id, sum(count) AS count, sum(amount) AS amount FROM ` + days + ` GROUP BY 1)`
	}
	return readAll(ctx, s, func(row scanner) (sum app.BankAccountSummary, err error) {
		dest := []any{&sum.All.Count, &sum.All.Total}
		for _, flow := range []*app.Flow{&sum.Today, &sum.Week, &sum.Month} {
			dest = append(dest, &flow.In.Count, &flow.In.Total, &flow.Out.Count, &flow.Out.Total)
		}
		sum.BankAccount, err = scanBankAccount(row, dest...)
		leaveNumber(ctx, &sum.BankAccount)
		return sum, err
	}, `SELECT `+bankAccountColumns+`, coalesce(a.count, 0), coalesce(a.amount, 0)`+sums("?2")+sums("?3")+sums("?4")+`
		FROM bank_accounts b LEFT JOIN `+totals+` a ON a.bank_account_id = b.id
		LEFT JOIN `+days+` d ON d.bank_account_id = b.id AND d.day BETWEEN min(?3, ?4) AND ?2
		WHERE b.account_id = ?1 AND b.unlinked_at IS NULL AND `+bankShown("b.id", "?5")+` GROUP BY b.id ORDER BY b.id`,
		accountID, int64(today), int64(today.WeekStart()), int64(today.MonthStart()), limitOf(ctx))
}

func (s *Store) FirstDay(ctx context.Context, accountID int64, otherwise app.Day) (app.Day, error) {
	table, days := daysOf(accountID, limited(ctx, app.TransactionFilter{}))
	return readOne[app.Day](ctx, s, `SELECT coalesce(min(day), ?) FROM `+table+` WHERE `+days.where.String(),
		append([]any{int64(otherwise)}, days.args...)...)
}

func (s *Store) BankAccountDays(ctx context.Context, accountID int64, day app.Day) ([]app.BankAccountDay, error) {
	days := shownDays(ctx, "?3")
	return readAll(ctx, s, func(row scanner) (d app.BankAccountDay, err error) {
		d.BankAccount, err = scanBankAccount(row, &d.In.Count, &d.In.Total, &d.Out.Count, &d.Out.Total)
		leaveNumber(ctx, &d.BankAccount)
		return d, err
	}, `SELECT `+bankAccountColumns+
		`, coalesce(i.count, 0), coalesce(i.amount, 0), coalesce(o.count, 0), coalesce(o.amount, 0) FROM bank_accounts b
		LEFT JOIN `+days+` i ON i.bank_account_id = b.id AND i.day = ?2 AND i.type = 'IN'
		LEFT JOIN `+days+` o ON o.bank_account_id = b.id AND o.day = ?2 AND o.type = 'OUT'
		WHERE b.account_id = ?1 AND (i.day IS NOT NULL OR o.day IS NOT NULL) AND `+bankShown("b.id", "?3")+` ORDER BY b.id`, accountID,
		int64(day), limitOf(ctx))
}

func (s *Store) HoursBetween(ctx context.Context, accountID int64, from, to time.Time) ([]app.HourRow, error) {
	return readAll(ctx, s, func(row scanner) (h app.HourRow, err error) {
		return h, row.Scan(&h.Since, &h.Untimed, &h.Type, &h.Count, &h.Total)
	}, `SELECT (occurred_at - ?2) / 3600, date_only, type, count(*), sum(amount) FROM transactions t INDEXED BY transactions_time
		WHERE account_id = ?1 AND occurred_at >= ?2 AND occurred_at < ?3 AND `+isShown("t", "?4")+` GROUP BY 1, 2, 3`,
		accountID, from.Unix(), to.Unix(), limitOf(ctx))
}

func (s *Store) ToggleBankAccount(ctx context.Context, accountID, id int64, now time.Time) (app.BankAccount, error) {
	return writing(ctx, s, func(tx *tx) (app.BankAccount, error) {
		b := txBankAccount(tx, accountID, id)
		before := b.Status
		switch b.Status = b.Status.Toggled(); {
		case before == app.BankAccountInactive:
			withinPlan(tx, accountID, now)
		case b.Status == app.BankAccountActive:
			unexpired(tx, accountID, now)
		}
		tx.exec(`UPDATE bank_accounts SET status = ? WHERE id = ?`, string(b.Status), id)
		return b, tx.audit(ctx, accountID, app.DeedBankAccountChange, id, auditBankAccount(b).Changed("status", before, b.Status))
	})
}

func (s *Store) UnlinkBankAccount(ctx context.Context, accountID, id int64, now time.Time) error {
	return s.write(ctx, func(tx *tx) error {
		b := txBankAccount(tx, accountID, id)
		tx.exec(`DELETE FROM unfinished_links WHERE bank_account_id = ?`, id)
		tx.exec(`UPDATE bank_accounts SET unlinked_at = ? WHERE id = ?`, now.Unix(), id)
		return tx.audit(ctx, accountID, app.DeedBankAccountUnlink, id, auditBankAccount(b))
	})
}
