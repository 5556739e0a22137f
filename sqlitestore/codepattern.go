package sqlitestore

import (
	"context"
	"time"

	"baoco/app"
)

const codePatternColumns = `p.id, p.account_id, p.prefix, p.least, p.most, p.alphabet, p.created_at`

func scanCodePattern(row scanner) (p app.CodePattern, err error) {
	err = row.Scan(&p.ID, &p.AccountID, &p.Prefix, &p.Least, &p.Most, &p.Alphabet, secondsInto(&p.CreatedAt))
	return p, noRowsAs(err, app.ErrNoCodePattern)
}

const codePatternsOf = `SELECT ` + codePatternColumns + ` FROM code_patterns p WHERE p.account_id = ? ORDER BY p.id`

func (s *Store) CodePatterns(ctx context.Context, accountID int64) ([]app.CodePattern, error) {
	return readAll(ctx, s, scanCodePattern, codePatternsOf, accountID)
}

func (s *Store) CreateCodePattern(ctx context.Context, p app.CodePattern) (app.CodePattern, error) {
	return writing(ctx, s, func(tx *tx) (app.CodePattern, error) {
		unexpired(tx, p.AccountID, p.CreatedAt)
		list := findAll(tx, scanCodePattern, codePatternsOf, p.AccountID)
		for _, other := range list {
			tx.refuse(other.Prefix == p.Prefix, app.ErrSamePrefix)
		}
		tx.refuse(len(list) >= app.MaxCodePatterns, app.ErrTooManyCodePatterns)
		p.ID = tx.insert(insertInto("code_patterns", "account_id, prefix, least, most, alphabet, created_at"),
			p.AccountID, p.Prefix, p.Least, p.Most, string(p.Alphabet), p.CreatedAt.Unix())
		return p, tx.audit(ctx, p.AccountID, app.DeedCodePatternCreate, p.ID, app.AuditNamed(p.Prefix).
			Changed("min_length", "", p.Least).Changed("max_length", "", p.Most).Changed("alphabet", "", p.Alphabet))
	})
}

func (s *Store) DeleteCodePattern(ctx context.Context, accountID, id int64, now time.Time) error {
	return s.write(ctx, func(tx *tx) error {
		p := find(tx, nil, scanCodePattern, `SELECT `+codePatternColumns+` FROM code_patterns p WHERE p.id = ? AND p.account_id = ?`,
			id, accountID)
		used := findValue[bool](tx, `SELECT EXISTS (SELECT 1 FROM payment_requests INDEXED BY payment_requests_unpaid
			WHERE account_id = ?1 AND substr(code, 1, ?2) = ?3
			AND paid_at IS NULL AND cancelled_at IS NULL AND coalesce(expires_at >= ?4, 1))`, accountID, len(p.Prefix), p.Prefix, now.Unix())
		tx.refuse(used, app.ErrPatternInUse)
		tx.exec(`DELETE FROM code_patterns WHERE id = ?`, id)
		return tx.audit(ctx, accountID, app.DeedCodePatternDelete, id, app.AuditNamed(p.Prefix))
	})
}

// A code is NULL in the file if the account had no patterns when it was read.

func codeOrNull(c app.PaymentCode) any {
	if !c.Read {
		return nil
	}
	return c.Text
}

type codeInto struct{ code *app.PaymentCode }

func (c codeInto) Scan(value any) error {
	c.code.Text, c.code.Read = value.(string)
	return nil
}
