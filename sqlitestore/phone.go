package sqlitestore

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"time"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/webpush"
)

// PushKey stores the key as text, like other secrets.
func (s *Store) PushKey(ctx context.Context, accountID int64) ([]byte, error) {
	const query = `SELECT key FROM push_keys WHERE account_id = ? AND length(key) > 0`
	sealed, err := readOne[[]byte](ctx, s, query, accountID)
	if noRows(err) {
		sealed, err = writing(ctx, s, func(tx *tx) ([]byte, error) {
			if sealed, err := scanOne[[]byte](tx.queryRow(query, accountID)); !noRows(err) {
				return sealed, err
			}
			key, err := webpush.NewKey()
			if err != nil {
				return nil, err
			}
			sealed := s.sealer.seal(sealPushKey, base64.StdEncoding.EncodeToString(key))
			return sealed, tx.exec(`INSERT INTO push_keys (account_id, key) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET key = ?2`, accountID, sealed)
		})
	}
	if err != nil {
		return nil, err
	}
	text, err := s.sealer.open(sealPushKey, sealed)
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(text)
}

const phoneColumns = `p.id, p.account_id, p.user_id, p.name, p.lang, p.address, p.created_at, p.payments, coalesce(p.bank_account_id, 0),
	p.least, p.amounts, p.attention, p.quiet_from, p.quiet_to, p.conditions, u.role = 'owner', u.role = 'cashier', u.limited,
	u.receiving_number, (SELECT json_group_array(bank_account_id) FROM user_bank_accounts WHERE user_id = u.id)
	FROM phones p JOIN users u ON u.id = p.user_id`

func (s *Store) scanPhone(row scanner) (p alert.Phone, err error) {
	var address []byte
	var conditions, ids string
	if err := row.Scan(&p.ID, &p.AccountID, &p.UserID, &p.Name, &p.Lang, &address, secondsInto(&p.CreatedAt), &p.Payments, &p.BankAccountID,
		&p.Least, &p.Amounts, &p.Attention, &p.QuietFrom, &p.QuietTo, &conditions, &p.Owner, &p.Cashier, &p.Limited,
		&p.ReceivingNumber, &ids); err != nil {
		return p, err
	}
	text, err := s.sealer.open(sealPhone, address)
	if err != nil {
		return p, err
	}
	for from, into := range map[string]any{text: &p.PhoneAddress, conditions: &p.Conditions, ids: &p.BankAccounts} {
		if err := json.Unmarshal([]byte(from), into); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (s *Store) Phones(ctx context.Context, userID int64) ([]alert.Phone, error) {
	return readAll(ctx, s, s.scanPhone, `SELECT `+phoneColumns+` WHERE ? IN (0, p.user_id) AND length(p.address) > 0 ORDER BY p.id`, userID)
}

func (s *Store) AddPhone(ctx context.Context, p alert.Phone) (alert.Phone, error) {
	address, err := json.Marshal(p.PhoneAddress)
	if err != nil {
		return p, err
	}
	hash := sha256.Sum256([]byte(p.Endpoint))
	return writing(ctx, s, func(tx *tx) (alert.Phone, error) {
		stillSignedIn(ctx, tx, p.UserID)
		tx.exec(`DELETE FROM phones WHERE endpoint_hash = ?1 AND user_id <> ?2 OR user_id = ?2 AND length(address) = 0`, hash[:], p.UserID)
		others := findValue[int](tx, `SELECT count(*) FROM phones WHERE user_id = ? AND endpoint_hash <> ?`, p.UserID, hash[:])
		tx.refuse(others >= alert.MaxPhones, alert.ErrTooManyPhones)
		tx.exec(`INSERT INTO phones (account_id, user_id, name, lang, endpoint_hash, address, created_at, payments, least, amounts,
				attention, quiet_from, quiet_to, conditions)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, 0, ?9, '', '', '[]') ON CONFLICT DO UPDATE SET name = ?3, lang = ?4, address = ?6`,
			p.AccountID, p.UserID, p.Name, string(p.Lang), hash[:], s.sealer.seal(sealPhone, string(address)), p.CreatedAt.Unix(),
			p.Payments, p.Attention)
		p := find(tx, nil, s.scanPhone, `SELECT `+phoneColumns+` WHERE p.endpoint_hash = ?`, hash[:])
		return p, tx.audit(ctx, p.AccountID, app.DeedAlertSet, p.ID, app.AuditNamed(string(alert.OnPhone)).Changed("to", "", p.Name))
	})
}

func (s *Store) ChangePhone(ctx context.Context, p alert.Phone) error {
	return s.write(ctx, func(tx *tx) error {
		tx.changeOne(alert.ErrNoPhone, `UPDATE phones SET payments = ?, bank_account_id = ?, least = ?, amounts = ?, attention = ?,
				quiet_from = ?, quiet_to = ? WHERE id = ? AND user_id = ?`,
			p.Payments, nullIfZero(p.BankAccountID), p.Least, p.Amounts, p.Attention, p.QuietFrom, p.QuietTo, p.ID, p.UserID)
		return nil
	})
}

func (s *Store) SettlePhone(ctx context.Context, id int64, conditions []alert.Condition) error {
	kept, err := json.Marshal(conditions)
	if err != nil {
		return err
	}
	return s.write(ctx, func(tx *tx) error { return tx.exec(`UPDATE phones SET conditions = ? WHERE id = ?`, string(kept), id) })
}

func (s *Store) RemovePhone(ctx context.Context, userID, id int64) error {
	return s.write(ctx, func(tx *tx) error {
		var accountID int64
		var name string
		err := tx.queryRow(`SELECT account_id, name FROM phones WHERE id = ? AND user_id = ?`, id, userID).Scan(&accountID, &name)
		if err != nil {
			return noRowsAs(err, alert.ErrNoPhone)
		}
		tx.exec(`DELETE FROM phones WHERE id = ?`, id)
		return tx.audit(ctx, accountID, app.DeedAlertRemove, id, app.AuditNamed(string(alert.OnPhone)).Changed("to", name, ""))
	})
}

func (s *Store) PaymentsToPush(ctx context.Context, after int64, since time.Time) ([]app.Transaction, int64, error) {
	rings, err := readOne[bool](ctx, s, `SELECT EXISTS (SELECT 1 FROM phones WHERE payments = 1)`)
	if err != nil {
		return nil, after, err
	}
	if after < 0 || !rings {
		newest, err := readOne[int64](ctx, s, newestTransaction)
		return nil, newest, err
	}
	seen, err := readOne[int64](ctx, s, lastInWindow, after, feedWindow)
	if err != nil || seen == 0 {
		return nil, after, err
	}
	list, err := readAll(ctx, s, scanTransaction, `SELECT `+transactionColumns+`
		FROM transactions t NOT INDEXED JOIN bank_accounts b ON b.id = t.bank_account_id
		WHERE t.id > ? AND t.id <= ? AND t.type = 'IN' AND t.created_at >= ? AND t.channel <> ? AND b.status <> ? ORDER BY t.id`,
		after, seen, since.Unix(), string(app.ChannelFile), string(app.BankAccountInactive))
	return list, seen, err
}
