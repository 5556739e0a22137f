package sqlitestore

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/inbound"
	"baoco/app/stream"
)

const (
	// streamMoves is how often a user has set the position of a stream s, also to the
	// position that it had.
	streamMoves = `coalesce((SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'stream_moves_' || s.id), 0)`

	streamColumns = `s.id, s.account_id, s.name, s.url, s.topic, s.username, coalesce(s.bank_account_id, 0), s.type, s.code_prefix,
		s.is_active, s.created_at, length(s.secret) = 0,
	s.position, s.sent, s.sent_ms, s.failing_ms, s.problem_en, s.problem_vi`
	oneStream = `SELECT ` + streamColumns + ` FROM streams s WHERE s.id = ? AND s.account_id = ? AND s.deleted_at IS NULL`

	// streamed is true if a transaction t is in a broker, or on its way there. A broker keeps
	// it also after the stream was moved, or got another type.
	streamed = `EXISTS (SELECT 1 FROM streams s WHERE t.account_id = s.account_id AND (s.bank_account_id IS NULL
		OR s.bank_account_id = t.bank_account_id)
		AND (s.code_prefix = '' OR substr(t.code, 1, length(s.code_prefix)) = s.code_prefix)
		AND s.first < t.id AND (s.is_active AND s.type IN ('ALL', t.type) OR t.id <= s.reached AND s.reached_type IN ('ALL', t.type)))`

	// streamWindow is how many transactions are looked at in one reading.
	streamWindow = 10 * stream.MaxBatch
)

func scanStream(row scanner) (stream.Stream, error) { return scanStreamAnd(row) }

func scanStreamAnd(row scanner, more ...any) (stream.Stream, error) {
	var s stream.Stream
	err := row.Scan(append([]any{&s.ID, &s.AccountID, &s.Name, &s.URL, &s.Topic, &s.Username, &s.BankAccountID, &s.Type, &s.CodePrefix,
		&s.IsActive, secondsInto(&s.CreatedAt), &s.SecretLost,
		&s.Position, &s.Sent, millisInto(&s.SentAt), millisInto(&s.FailingSince), &s.Problem.EN, &s.Problem.VI}, more...)...)
	return s, noRowsAs(err, stream.ErrNoStream)
}

func txStream(tx *tx, accountID, id int64) stream.Stream {
	return find(tx, nil, scanStream, oneStream, id, accountID)
}

func (s *Store) Stream(ctx context.Context, accountID, id int64) (stream.Stream, error) {
	return scanStream(s.queryRow(ctx, oneStream, id, accountID))
}

func (s *Store) Streams(ctx context.Context, accountID int64) ([]stream.Stream, error) {
	return readAll(ctx, s, scanStream,
		`SELECT `+streamColumns+` FROM streams s WHERE s.account_id = coalesce(?, s.account_id) AND s.deleted_at IS NULL ORDER BY s.id`,
		nullIfZero(accountID))
}

func (s *Store) StreamWork(ctx context.Context, accountID, id int64) (w stream.Work, err error) {
	var secret, password []byte
	w.Stream, err = scanStreamAnd(s.queryRow(ctx,
		`SELECT `+streamColumns+`, s.secret, s.password, s.mark, `+streamMoves+
			` FROM streams s WHERE s.id = ? AND s.account_id = ? AND s.deleted_at IS NULL`, id, accountID),
		&secret, &password, &w.Mark, &w.Moves)
	if err != nil || w.SecretLost {
		return w, err
	}
	if w.Secret, err = s.sealer.open(sealStream, secret); err == nil {
		w.Password, err = s.sealer.open(sealStreamPassword, password)
	}
	return w, err
}

func (s *Store) StreamTransactions(ctx context.Context, st stream.Stream, after int64, limit int) ([]app.Transaction, int64, error) {
	last, err := readOne[int64](ctx, s,
		`SELECT coalesce(max(id), ?1) FROM (SELECT id FROM transactions WHERE id > ?1 ORDER BY id LIMIT ?2)`, after, streamWindow)
	if err != nil || last == after {
		return nil, after, err
	}
	list, err := readAll(ctx, s, scanTransaction,
		`SELECT `+transactionColumns+` FROM transactions t NOT INDEXED JOIN bank_accounts b ON b.id = t.bank_account_id
			WHERE t.id > ?1 AND t.id <= ?2 AND t.account_id = ?3 AND (?4 = 0 OR t.bank_account_id = ?4) AND ?5 IN ('ALL', t.type)
				AND (?6 = '' OR substr(t.code, 1, length(?6)) = ?6) ORDER BY t.id LIMIT ?7`,
		after, last, st.AccountID, st.BankAccountID, string(st.Type), st.CodePrefix, limit)
	if len(list) == limit {
		last = list[len(list)-1].ID
	}
	return list, last, err
}

// noteRemoval stores which transactions of an account are about to be removed, for the last
// inbound.MaxRemovals commits.
func noteRemoval(tx *tx, accountID int64, ids []int64) error {
	tx.exec(`INSERT INTO removed_transactions (account_id, number, transaction_id, bank_account_id, type, code, receiving_number)
			SELECT t.account_id, (SELECT coalesce(max(number), 0) + 1 FROM removed_transactions), t.id, t.bank_account_id, t.type,
				coalesce(t.code, ''), t.receiving_number
			FROM json_each(?) k CROSS JOIN transactions t ON t.id = k.value`, jsonArray(ids))
	return tx.exec(`DELETE FROM removed_transactions WHERE account_id = ?1
		AND number <= (SELECT DISTINCT number FROM removed_transactions WHERE account_id = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)`, accountID,
		inbound.MaxRemovals)
}

// removalsRead is how many removals are looked at in one reading.
const removalsRead = 10

func (s *Store) RemovedTransactions(ctx context.Context, st stream.Stream, after, upTo int64) ([]int64, int64, error) {
	last, err := readOne[int64](ctx, s, `SELECT coalesce(max(number), ?2) FROM (SELECT DISTINCT number FROM removed_transactions
		WHERE account_id = ?1 AND number > ?2 ORDER BY number LIMIT ?3)`, st.AccountID, after, removalsRead)
	if err != nil || last == after {
		return nil, after, err
	}
	ids, err := readAll(ctx, s, scanOne[int64],
		`SELECT transaction_id FROM removed_transactions WHERE account_id = ?1 AND number > ?2 AND number <= ?3 AND transaction_id <= ?4
			AND (?5 = 0 OR bank_account_id = ?5) AND ?6 IN ('ALL', type) AND (?7 = '' OR substr(code, 1, length(?7)) = ?7) AND `+
			isShown("removed_transactions", "?8")+` ORDER BY 1`,
		st.AccountID, after, last, upTo, st.BankAccountID, string(st.Type), st.CodePrefix, limitOf(ctx))
	return ids, last, err
}

func (s *Store) StreamBehind(ctx context.Context, st stream.Stream) (time.Time, error) {
	list, _, err := s.StreamTransactions(ctx, st, st.Position, 1)
	if err != nil || len(list) == 0 {
		return time.Time{}, err
	}
	return list[0].CreatedAt, nil
}

func (s *Store) CreateStream(
	ctx context.Context, st stream.Stream, secrets stream.Secrets, since *int64, key app.IdempotencyKey,
) (stream.Stream, bool, error) {
	type creation struct {
		stream.Stream
		made bool
	}
	c, err := writing(ctx, s, func(tx *tx) (c creation, err error) {
		if before, found := earlier(tx, st.AccountID, key, st.CreatedAt); found {
			return creation{Stream: txStream(tx, st.AccountID, before.result)}, nil
		}
		mayCreateStream(tx, st)
		c = creation{st, true}
		c.Position = streamStart(tx, since)
		c.ID = tx.insert(`INSERT INTO streams (account_id, name, url, topic, username, bank_account_id, type, code_prefix, is_active,
			created_at, mark, secret, password, first, position, reached, reached_type, sent, problem_en, problem_vi)
				VALUES (?, ?, ?, ?, ?, ?, ?7, ?, ?, ?, ?, ?, ?, ?14, ?14, 0, ?7, 0, '', '')`,
			st.AccountID, st.Name, st.URL, st.Topic, st.Username, nullIfZero(st.BankAccountID), string(st.Type), st.CodePrefix, st.IsActive,
			st.CreatedAt.Unix(),
			"str_"+strings.ToLower(rand.Text()[:12]), s.sealer.seal(sealStream, secrets.Secret),
			s.sealer.seal(sealStreamPassword, secrets.Password), c.Position)
		keepKey(tx, st.AccountID, key, keptResult{result: c.ID}, st.CreatedAt)
		return c, tx.audit(ctx, st.AccountID, app.DeedStreamCreate, c.ID,
			app.AuditNamed(st.Name).Changed("url", "", st.URL).Changed("topic", "", st.Topic))
	})
	return c.Stream, c.made, err
}

func mayCreateStream(tx *tx, st stream.Stream) {
	if st.BankAccountID != 0 {
		linkedBankAccount(tx, st.AccountID, st.BankAccountID)
	}
	unexpired(tx, st.AccountID, st.CreatedAt)
	count := findValue[int](tx, `SELECT count(*) FROM streams WHERE account_id = ? AND deleted_at IS NULL`, st.AccountID)
	tx.refuse(count >= stream.MaxStreams, stream.ErrTooManyStreams)
}

// streamStart returns the position of a stream that begins after since, or by default after
// all transactions. It is never above the id of the last one: the next ones wouldn't be sent.
func streamStart(tx *tx, since *int64) int64 {
	last := findValue[int64](tx, newestTransaction)
	if since != nil {
		last = min(last, *since)
	}
	return last
}

func (s *Store) UpdateStream(ctx context.Context, accountID, id int64, u stream.Update, now time.Time) (stream.Stream, error) {
	return writing(ctx, s, func(tx *tx) (stream.Stream, error) {
		st := txStream(tx, accountID, id)
		before := st
		replace(&st.Name, u.Name)
		replace(&st.URL, u.URL)
		replace(&st.Topic, u.Topic)
		replace(&st.Type, u.Type)
		replace(&st.IsActive, u.IsActive)
		if st.IsActive != before.IsActive {
			setStreamActive(tx, &st, now)
		}
		if u.SinceID != nil {
			st.Position = streamStart(tx, u.SinceID)
			tx.exec(`INSERT INTO settings (name, value) VALUES ('stream_moves_' || ?, 1)
					ON CONFLICT (name) DO UPDATE SET value = CAST(value AS INTEGER) + 1`, id)
		}
		d := app.AuditNamed(before.Name).Changed("name", before.Name, st.Name).Changed("url", before.URL, st.URL).
			Changed("topic", before.Topic, st.Topic).Changed("type", before.Type, st.Type).
			Changed("since_id", before.Position, st.Position).Changed("is_active", before.IsActive, st.IsActive)
		if c := u.Credentials; c != nil {
			st.Username = c.Username
			tx.exec(`UPDATE streams SET password = ? WHERE id = ?`, s.sealer.seal(sealStreamPassword, c.Password), id)
			// also if only the password has changed
			d.Changes = append(d.Changes, app.AuditChange{Field: "username", From: before.Username, To: st.Username})
		}
		tx.exec(`UPDATE streams SET name = ?, url = ?, topic = ?, username = ?, reached_type = iif(type = ?5, reached_type, 'ALL'),
			type = ?5, position = ?6, first = min(first, ?6) WHERE id = ?7`,
			st.Name, st.URL, st.Topic, st.Username, string(st.Type), st.Position, id)
		return st, tx.auditChange(ctx, accountID, app.DeedStreamChange, id, d)
	})
}

func (s *Store) ToggleStream(ctx context.Context, accountID, id int64, now time.Time) (stream.Stream, error) {
	return writing(ctx, s, func(tx *tx) (stream.Stream, error) {
		st := txStream(tx, accountID, id)
		st.IsActive = !st.IsActive
		setStreamActive(tx, &st, now)
		return st, tx.audit(ctx, accountID, app.DeedStreamChange, id, app.AuditNamed(st.Name).Changed("is_active", !st.IsActive, st.IsActive))
	})
}

// setStreamActive stores that a stream was switched on or off.
func setStreamActive(tx *tx, st *stream.Stream, now time.Time) {
	if st.IsActive {
		unexpired(tx, st.AccountID, now)
	}
	st.FailingSince, st.Problem = time.Time{}, app.Text{}
	tx.exec(`UPDATE streams SET is_active = ?, failing_ms = NULL, problem_en = '', problem_vi = '' WHERE id = ?`, st.IsActive, st.ID)
}

func (s *Store) DeleteStream(ctx context.Context, accountID, id int64, now time.Time) error {
	return s.write(ctx, func(tx *tx) error {
		st := txStream(tx, accountID, id)
		tx.exec(`DELETE FROM settings WHERE name = 'stream_moves_' || ?`, id)
		tx.exec(`UPDATE streams SET deleted_at = ?, is_active = 0, secret = x'', password = x'' WHERE id = ?`, now.Unix(), id)
		return tx.audit(ctx, accountID, app.DeedStreamDelete, id, app.AuditNamed(st.Name))
	})
}

func (s *Store) RotateStreamSecret(ctx context.Context, accountID, id int64, in stream.SecretRotate, now time.Time) (bool, error) {
	return writing(ctx, s, func(tx *tx) (bool, error) {
		st := txStream(tx, accountID, id)
		if _, found := earlier(tx, accountID, in.Key, now); found {
			return false, nil
		}
		password := any(nil)
		if st.SecretLost { // the password is lost with it
			password = s.sealer.seal(sealStreamPassword, "")
		}
		tx.exec(`UPDATE streams SET secret = ?, password = coalesce(?, password) WHERE id = ?`,
			s.sealer.seal(sealStream, in.Secret), password, id)
		keepKey(tx, accountID, in.Key, keptResult{result: id}, now)
		return true, tx.audit(ctx, accountID, app.DeedStreamRotate, id, app.AuditNamed(st.Name))
	})
}

// SettleStream sets no problem if the stream was switched off meanwhile. The transactions
// that were sent are in the broker, also if the stream was moved or deleted meanwhile.
func (s *Store) SettleStream(ctx context.Context, p stream.Progress) error {
	return s.write(ctx, func(tx *tx) error {
		tx.exec(`UPDATE streams SET reached = max(reached, ?) WHERE id = ?`, p.Tried, p.StreamID)
		return tx.exec(`UPDATE streams AS s SET position = ?, sent = sent + ?, sent_ms = coalesce(?, sent_ms),
				failing_ms = iif(is_active, ?, NULL), problem_en = iif(is_active, ?, ''), problem_vi = iif(is_active, ?, '')
				WHERE id = ? AND position = ? AND `+streamMoves+` = ? AND deleted_at IS NULL`,
			p.To, p.Sent, unixMilliOrNull(p.SentAt), unixMilliOrNull(p.FailingSince), p.Problem.EN, p.Problem.VI, p.StreamID, p.From, p.Moves)
	})
}
