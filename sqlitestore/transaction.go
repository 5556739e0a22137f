package sqlitestore

import (
	"context"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/fold"
)

var transactionColumns = `t.id, t.account_id, t.bank_account_id, b.bank, b.account_number, t.number, t.type, t.amount, t.content,
	t.occurred_at, t.date_only, t.date_flaw, t.zone_offset, t.code, t.created_at, b.nickname, b.colour,
	coalesce((SELECT text FROM transaction_notes WHERE transaction_id = t.id), ''), t.payment_request,
	t.receiving_number, ` + revenueOf + `, coalesce((SELECT note FROM transaction_marks WHERE transaction_id = t.id), ''), ` +
	paymentOfTransaction

func scanTransaction(row scanner) (app.Transaction, error) { return scanTransactionAnd(row) }

// scanTransactionAnd scans a row with columns before those of the transaction.
func scanTransactionAnd(row scanner, before ...any) (t app.Transaction, err error) {
	return t, row.Scan(append(before, &t.ID, &t.AccountID, &t.BankAccountID, &t.Bank, &t.AccountNumber, &t.Number, &t.Type, &t.Amount,
		&t.Content, secondsInto(&t.Time), &t.DateOnly, &t.DateFlaw, &t.ZoneOffset, codeInto{&t.Code}, secondsInto(&t.CreatedAt), &t.Nickname,
		&t.Colour, &t.Note, paymentInto{&t.PaymentSent}, &t.ReceivingNumber, &t.Revenue, &t.RevenueNote, paymentInto{&t.PaymentRequest})...)
}

var oneTransaction = `SELECT ` + transactionColumns + ` FROM transactions t JOIN bank_accounts b ON b.id = t.bank_account_id
	WHERE t.id = ?1 AND t.account_id = ?2 AND ` + isShown("t", "?3")

// txTransaction finds a transaction that ctx shows.
func txTransaction(ctx context.Context, tx *tx, accountID, id int64) app.Transaction {
	return find(tx, app.ErrNoTransaction, scanTransaction, oneTransaction, id, accountID, limitOf(ctx))
}

func (s *Store) Transaction(ctx context.Context, accountID, id int64) (app.Transaction, error) {
	list, err := s.readTransactions(ctx, oneTransaction, id, accountID, limitOf(ctx))
	return app.Find(list, err, func(app.Transaction) bool { return true }, app.ErrNoTransaction)
}

// readTransactions reads all rows of a query of transactions, and limits each to what ctx shows.
func (s *Store) readTransactions(ctx context.Context, query string, args ...any) ([]app.Transaction, error) {
	list, err := readAll(ctx, s, scanTransaction, query, args...)
	if err != nil {
		return nil, err
	}
	return s.withinLimit(ctx, list)
}

// ownBankAccount refuses a reference to a bank account of another account, or to one
// that ctx doesn't show.
func (s *Store) ownBankAccount(ctx context.Context, accountID, id int64) error {
	if id == 0 {
		return nil
	}
	_, err := readOne[int](ctx, s, `SELECT 1 FROM bank_accounts WHERE id = ?1 AND account_id = ?2 AND `+bankShown("id", "?3"), id,
		accountID, limitOf(ctx))
	return noRowsAs(err, app.ErrUnknownReference("bank_account_id"))
}

// fromEvent joins to a transaction t the inbound event e that recorded it, until the event
// is pruned.
const fromEvent = `LEFT JOIN inbound_events e ON e.id = t.inbound_event_id`

func (s *Store) TransactionOrigin(ctx context.Context, accountID, transactionID int64) (app.TransactionOrigin, error) {
	var p app.TransactionOrigin
	err := s.queryRow(ctx, `SELECT t.source_id, coalesce(s.name, ''), coalesce(s.provider, ''), t.channel, coalesce(e.id, 0)
		FROM transactions t LEFT JOIN sources s ON s.id = t.source_id `+fromEvent+`
		WHERE t.id = ?1 AND t.account_id = ?2 AND `+isShown("t", "?3"), transactionID, accountID, limitOf(ctx)).Scan(&p.SourceID,
		&p.SourceName, &p.Provider, &p.Channel, &p.InboundEventID)
	if err != nil {
		return p, noRowsAs(err, app.ErrNoTransaction)
	}
	p.Merged, err = readAll(ctx, s, scanMerged, `SELECT `+mergedColumns+` ORDER BY k.source_id, k.channel, k.event_id LIMIT ?`,
		transactionID, accountID, app.MaxMerged)
	for i := range p.Merged {
		if access.LimitOf(ctx).ReceivingNumber != "" { // a balance is of all money of the bank account
			p.Merged[i].Balance = 0
		}
	}
	return p, err
}

// mergedColumns are the columns of the reports that were merged into the transaction ?1 of the
// account ?2. A report equal to the first one has no row in transaction_reports.
const mergedColumns = `k.source_id, coalesce(s.name, ''), k.channel, k.event_id, coalesce(x.number, t.number),
	coalesce(x.content, t.content), coalesce(x.occurred_at, t.occurred_at), coalesce(x.date_only, t.date_only),
	coalesce(iif(x.event_id IS NULL, t.balance, x.balance), 0)
	FROM event_ids k INDEXED BY event_ids_merged JOIN transactions t ON t.id = k.transaction_id LEFT JOIN sources s ON s.id = k.source_id
	LEFT JOIN transaction_reports x ON (x.transaction_id, x.account_id, x.source_id, x.channel, x.event_id) =
		(t.id, k.account_id, k.source_id, k.channel, k.event_id)
	WHERE k.transaction_id = ?1 AND k.merged = 1 AND k.account_id = ?2`

func scanMerged(row scanner) (n app.EventName, err error) {
	return n, row.Scan(&n.SourceID, &n.SourceName, &n.Channel, &n.EventID, &n.Number, &n.Content, secondsInto(&n.Time), &n.DateOnly,
		&n.Balance)
}

var noteOfTransaction = `SELECT text, changed_at, changed_by FROM transaction_notes n WHERE transaction_id = ?1 AND account_id = ?2
	AND EXISTS (SELECT 1 FROM transactions t WHERE t.id = ?1 AND ` + isShown("t", "?3") + `)`

// scanNote returns the zero Note if the row is missing.
func scanNote(row scanner) (n app.Note, err error) {
	err = row.Scan(&n.Text, secondsInto(&n.ChangedAt), &n.ChangedBy)
	return n, noRowsAs(err, nil)
}

func (s *Store) Note(ctx context.Context, accountID, transactionID int64) (app.Note, error) {
	return scanNote(s.queryRow(ctx, noteOfTransaction, transactionID, accountID, limitOf(ctx)))
}

// Noted reads all notes of the account, of which there are few.
func (s *Store) Noted(ctx context.Context, accountID int64, query string, limit int) ([]app.Transaction, error) {
	return s.readTransactions(ctx,
		`SELECT `+transactionColumns+` FROM transaction_notes n CROSS JOIN transactions t ON t.id = n.transaction_id
		JOIN bank_accounts b ON b.id = t.bank_account_id WHERE n.account_id = ?1 AND instr(n.search, ?2) > 0 AND `+
			isShown("t", "?3")+`
		ORDER BY t.id DESC LIMIT ?4`, accountID, fold.String(query), limitOf(ctx), limit)
}

func (s *Store) SetNote(ctx context.Context, accountID, transactionID int64, check func(app.Note) error, note app.Note) error {
	return s.write(ctx, func(tx *tx) error {
		txTransaction(ctx, tx, accountID, transactionID)
		present := find(tx, nil, scanNote, noteOfTransaction, transactionID, accountID, limitOf(ctx))
		tx.fail(check(present))
		if present.Text == note.Text {
			return nil
		}
		tx.audit(ctx, accountID, app.DeedTransactionNote, transactionID, app.AuditDetail{}.Changed("note", present.Text, note.Text))
		if note.Text == "" {
			return tx.exec(`DELETE FROM transaction_notes WHERE transaction_id = ?`, transactionID)
		}
		return tx.exec(`INSERT INTO transaction_notes (transaction_id, account_id, text, search, changed_at, changed_by)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6)
				ON CONFLICT DO UPDATE SET text = ?3, search = ?4, changed_at = ?5, changed_by = ?6`,
			transactionID, accountID, note.Text, fold.String(note.Text), note.ChangedAt.Unix(), note.ChangedBy)
	})
}

// TransactionsAfter finds the ids in an index first, then their rows. An export reads most of them, so a
// search text is compared with each row, not looked up. The outer loop over the ids keeps their order.
func (s *Store) TransactionsAfter(ctx context.Context, accountID int64, f app.TransactionFilter, after app.ExportPlace,
	some int) (list []app.Transaction, next app.ExportPlace, err error) {
	if err := s.ownBankAccount(ctx, accountID, f.BankAccountID); err != nil {
		return nil, after, err
	}
	next = after
	from := f.From
	switch {
	case after == (app.ExportPlace{}):
		if next.Newest, err = readOne[int64](ctx, s, newestTransaction); err != nil {
			return nil, after, err
		}
	case after.Time.After(from):
		from = after.Time
	}
	c := rowConditions(accountID, app.TransactionFilter{From: from, To: f.To, UntilID: next.Newest})
	c.add("(t.occurred_at > ? OR t.id > ?)", after.Time.Unix(), after.ID)
	ids, err := readAll(ctx, s, func(row scanner) (id int64, err error) { return id, row.Scan(&id, secondsInto(&next.Time)) },
		`SELECT t.id, t.occurred_at FROM transactions t INDEXED BY transactions_time WHERE `+c.where.String()+
			` ORDER BY t.occurred_at, t.id LIMIT ?`, append(c.args, some)...)
	if err != nil || len(ids) == 0 {
		return nil, after, err
	}
	next.ID = ids[len(ids)-1]
	if c, err = s.allConditions(ctx, accountID, limited(ctx, f)); err != nil {
		return nil, after, err
	}
	list, err = s.readTransactions(ctx, `SELECT `+transactionColumns+` FROM json_each(?) page
		CROSS JOIN transactions t ON t.id = page.value JOIN bank_accounts b ON b.id = t.bank_account_id
		WHERE `+c.where.String(), append([]any{jsonArray(ids)}, c.args...)...)
	return list, next, err
}
