package sqlitestore

import (
	"context"
	"errors"
	"time"

	"baoco/app"
	"baoco/app/access"
)

func (s *Store) Session(ctx context.Context, token string, now time.Time) ([]byte, bool, error) {
	data, err := readOne[[]byte](ctx, s, `SELECT data FROM sessions WHERE token = ? AND ended = 0 AND end_at > ?`, token, now.Unix())
	return data, err == nil, noRowsAs(err, nil)
}

// sessionIsValid is the condition that a session, joined with its user, hasn't ended at ?1.
const sessionIsValid = `sessions.end_at > ?1 AND sessions.ended = 0 AND sessions.generation = users.generation`

func (s *Store) Sessions(ctx context.Context, accountID, userID int64, token string, now time.Time) ([]access.Session, error) {
	return readAll(ctx, s, func(row scanner) (access.Session, error) {
		n := access.Session{UserID: userID}
		err := row.Scan(&n.ID, &n.Generation, &n.Halfway, &n.Agent, &n.Address, secondsInto(&n.StartedAt), secondsInto(&n.SeenAt),
			secondsInto(&n.EndAt), &n.This)
		return n, err
	}, `SELECT sessions.id, sessions.generation, halfway, agent, address, started_at, seen_at, end_at, token = ?4
		FROM users JOIN sessions ON sessions.user_id = users.id WHERE users.account_id = ?2 AND users.id = ?3 AND `+sessionIsValid+
		` ORDER BY seen_at DESC, sessions.id DESC`, now.Unix(), accountID, userID, token)
}

func (s *Store) SetSession(ctx context.Context, token string, n access.Session, data []byte) error {
	return s.write(ctx, func(tx *tx) error {
		return tx.exec(`INSERT INTO sessions (token, user_id, generation, halfway, data, agent, address, started_at, seen_at, end_at, ended)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9, 0)
			ON CONFLICT (token) DO UPDATE SET user_id = ?2, generation = ?3, halfway = ?4, data = ?5, end_at = ?9 WHERE ended = 0`,
			token, nullIfZero(n.UserID), n.Generation, n.Halfway, data, n.Agent, n.Address, n.StartedAt.Unix(), n.EndAt.Unix())
	})
}

func (s *Store) SeeSession(ctx context.Context, token, address string, now time.Time) error {
	noted := now.Add(-access.SeenInterval).Unix()
	due, err := readOne[bool](ctx, s, `SELECT seen_at <= ? FROM sessions WHERE token = ?`, noted, token)
	if err != nil || !due {
		return noRowsAs(err, nil)
	}
	s.writer.offer(func(tx *tx) error {
		return tx.exec(`UPDATE sessions SET seen_at = ?, address = ? WHERE token = ? AND seen_at <= ?`, now.Unix(), address, token, noted)
	})
	return nil
}

func (s *Store) EndSession(ctx context.Context, accountID, userID, id int64, now time.Time) error {
	return s.write(ctx, func(tx *tx) error {
		tx.changeOne(access.ErrNoSession, endSession+`id = (SELECT sessions.id FROM users JOIN sessions ON sessions.user_id = users.id
			WHERE users.account_id = ?2 AND users.id = ?3 AND sessions.id = ?4 AND `+sessionIsValid+`)`, now.Unix(), accountID, userID, id)
		u := txUser(tx, accountID, userID)
		return tx.audit(ctx, accountID, app.DeedUserSessionEnd, userID, app.AuditNamed(u.Name))
	})
}

// endSession keeps the row: a request that began before may still set it.
const endSession = `UPDATE sessions SET ended = 1, data = x'' WHERE `

func (s *Store) RemoveSession(ctx context.Context, token string) error {
	return s.write(ctx, func(tx *tx) error { return tx.exec(endSession+`token = ?`, token) })
}

func (s *Store) SecondFactor(ctx context.Context, userID int64) (f access.SecondFactor, err error) {
	err = s.queryRow(ctx,
		`SELECT `+hasSecondFactor+`, totp IS NOT NULL, (SELECT count(*) FROM recovery_codes WHERE user_id = users.id) FROM users WHERE id = ?`,
		userID).Scan(&f.On, &f.App, &f.RecoveryCodes)
	return f, noRowsAs(err, access.ErrNoUser)
}

func (s *Store) TOTP(ctx context.Context, userID int64) (t access.TOTP, ok bool, err error) {
	var sealed []byte
	err = s.queryRow(ctx, `SELECT totp, totp_step FROM users WHERE id = ?`, userID).Scan(&sealed, &t.Step)
	if err != nil || len(sealed) == 0 {
		return t, false, noRowsAs(err, nil)
	}
	t.Secret, err = s.sealer.open(sealTOTP, sealed)
	return t, err == nil, nil
}

func (s *Store) SetTOTP(ctx context.Context, u access.User, in access.TOTPCreate, now time.Time) (access.User, error) {
	return writing(ctx, s, func(tx *tx) (access.User, error) {
		useForm(tx, u.AccountID, in.Key, now)
		setRecoveryCodes(tx, u.ID, in.Codes)
		tx.exec(`UPDATE users SET totp = ?, totp_step = ? WHERE account_id = ? AND id = ?`,
			s.sealer.seal(sealTOTP, in.Secret), in.Step, u.AccountID, u.ID)
		return endSessions(ctx, tx, app.AuditLine{AccountID: u.AccountID, Deed: app.DeedUserSecondFactor, NounID: u.ID}), nil
	})
}

func (s *Store) UseTOTPStep(ctx context.Context, userID, step int64) (bool, error) {
	return s.useUp(ctx, func(tx *tx) {
		tx.changeOne(errUsedUp, `UPDATE users SET totp_step = ?2 WHERE id = ?1 AND totp_step < ?2`, userID, step)
	})
}

func (s *Store) UseRecoveryCode(ctx context.Context, u access.User, hash [32]byte) (bool, error) {
	ctx = actingUser(ctx, u)
	return s.useUp(ctx, func(tx *tx) {
		tx.changeOne(errUsedUp, `DELETE FROM recovery_codes WHERE user_id = ? AND hash = ?`, u.ID, hash[:])
		tx.audit(ctx, u.AccountID, app.DeedUserRecoveryUsed, u.ID, app.AuditNamed(u.Name))
	})
}

// useUp runs fn, which uses something up. It returns false if fn failed with errUsedUp.
func (s *Store) useUp(ctx context.Context, fn func(tx *tx)) (bool, error) {
	err := s.write(ctx, func(tx *tx) error { fn(tx); return nil })
	if errors.Is(err, errUsedUp) {
		return false, nil
	}
	return err == nil, err
}

var errUsedUp error = app.NotFound("This was used before.", "Mục này đã được dùng.")

func (s *Store) SetRecoveryCodes(ctx context.Context, u access.User, codes [][32]byte, key app.IdempotencyKey, now time.Time) error {
	return s.write(ctx, func(tx *tx) error {
		useForm(tx, u.AccountID, key, now)
		setRecoveryCodes(tx, u.ID, codes)
		return tx.audit(ctx, u.AccountID, app.DeedUserRecovery, u.ID, app.AuditNamed(u.Name))
	})
}

func setRecoveryCodes(tx *tx, userID int64, codes [][32]byte) {
	tx.exec(`DELETE FROM recovery_codes WHERE user_id = ?`, userID)
	for _, hash := range codes {
		tx.exec(`INSERT INTO recovery_codes (user_id, hash) VALUES (?, ?)`, userID, hash[:])
	}
}

const passkeyColumns = `id, user_id, name, host, created_at, last_used_at, credential_id, public_key, transports, backup_eligible,
	sign_count`

func passkeyInto(p *access.Passkey) []any {
	return []any{&p.ID, &p.UserID, &p.Name, &p.Host, secondsInto(&p.CreatedAt), secondsInto(&p.LastUsedAt), &p.Credential.ID, &p.PublicKey,
		&p.Transports, &p.BackupEligible, &p.SignCount}
}

func (s *Store) Passkeys(ctx context.Context, userID int64) ([]access.Passkey, error) {
	return readAll(ctx, s, func(row scanner) (p access.Passkey, err error) { return p, row.Scan(passkeyInto(&p)...) },
		`SELECT `+passkeyColumns+` FROM passkeys WHERE user_id = ? ORDER BY id`, userID)
}

func (s *Store) PasskeyByCredential(ctx context.Context, id []byte) (p access.Passkey, u access.User, ok bool, err error) {
	err = s.queryRow(ctx, `SELECT `+passkeyColumns+` FROM passkeys WHERE credential_id = ?`, id).Scan(passkeyInto(&p)...)
	if err != nil {
		return p, u, false, noRowsAs(err, nil)
	}
	u, ok, err = s.User(ctx, p.UserID)
	return p, u, ok, err
}

func (s *Store) AddPasskey(
	ctx context.Context, u access.User, p access.Passkey, codes [][32]byte, key app.IdempotencyKey,
) (_ access.User, first bool, err error) {
	type added struct {
		access.User
		first bool
	}
	a, err := writing(ctx, s, func(tx *tx) (added, error) {
		useForm(tx, u.AccountID, key, p.CreatedAt)
		before := txUser(tx, u.AccountID, u.ID)
		same := findValue[bool](tx, `SELECT EXISTS (SELECT 1 FROM passkeys WHERE credential_id = ?)`, p.Credential.ID)
		tx.refuse(same, access.ErrSamePasskey)
		has := findValue[int](tx, `SELECT count(*) FROM passkeys WHERE user_id = ?`, u.ID)
		tx.refuse(has >= access.MaxPasskeys, access.ErrTooManyPasskeys)
		if !before.SecondFactor {
			setRecoveryCodes(tx, u.ID, codes)
		}
		tx.exec(insertInto("passkeys", `user_id, name, host, credential_id, public_key, transports, backup_eligible, sign_count, created_at`),
			u.ID, p.Name, p.Host, p.Credential.ID, p.PublicKey, p.Transports, p.BackupEligible, int64(p.SignCount), p.CreatedAt.Unix())
		return added{endSessions(ctx, tx, app.AuditLine{
			AccountID: u.AccountID, Deed: app.DeedUserPasskeyAdd, NounID: u.ID, AuditDetail: app.AuditDetail{}.Changed("name", "", p.Name),
		}), !before.SecondFactor}, nil
	})
	return a.User, a.first, err
}

func txPasskeyName(tx *tx, u access.User, id int64) string {
	return find(tx, access.ErrNoPasskey, scanOne[string], `SELECT name FROM passkeys WHERE user_id = ? AND id = ?`, u.ID, id)
}

func (s *Store) RenamePasskey(ctx context.Context, u access.User, id int64, name string) error {
	return s.write(ctx, func(tx *tx) error {
		before := txPasskeyName(tx, u, id)
		tx.exec(`UPDATE passkeys SET name = ? WHERE id = ?`, name, id)
		return tx.auditChange(ctx, u.AccountID, app.DeedUserPasskeyRename, u.ID, app.AuditNamed(u.Name).Changed("name", before, name))
	})
}

func (s *Store) RemovePasskey(ctx context.Context, u access.User, id int64) (access.User, error) {
	return writing(ctx, s, func(tx *tx) (access.User, error) {
		name := txPasskeyName(tx, u, id)
		tx.exec(`DELETE FROM passkeys WHERE id = ?`, id)
		left := txUser(tx, u.AccountID, u.ID)
		tx.refuse(left.MustEnrol, access.ErrLastFactor)
		if !left.SecondFactor {
			setRecoveryCodes(tx, u.ID, nil)
		}
		return endSessions(ctx, tx, app.AuditLine{
			AccountID: u.AccountID, Deed: app.DeedUserPasskeyRemove, NounID: u.ID, AuditDetail: app.AuditDetail{}.Changed("name", "", name),
		}), nil
	})
}

func (s *Store) UsePasskey(ctx context.Context, id int64, count uint32, now time.Time) error {
	return s.write(ctx, func(tx *tx) error {
		before := find(tx, access.ErrNoPasskey, scanOne[int64], `SELECT sign_count FROM passkeys WHERE id = ?`, id)
		tx.refuse(copiedPasskey(uint32(before), count), access.ErrPasskeyCopied)
		return tx.exec(`UPDATE passkeys SET sign_count = ?, last_used_at = ? WHERE id = ?`, int64(count), now.Unix(), id)
	})
}

// copiedPasskey reports that the counter of a passkey hasn't grown: a copy of the passkey may
// exist. Many passkeys don't count, and always send 0.
func copiedPasskey(before, count uint32) bool { return count <= before && (count != 0 || before != 0) }

func (s *Store) RemoveSecondFactor(ctx context.Context, accountID, id int64) (access.User, error) {
	return writing(ctx, s, func(tx *tx) (access.User, error) {
		txUser(tx, accountID, id)
		tx.exec(`DELETE FROM recovery_codes WHERE user_id = ?`, id)
		tx.exec(`DELETE FROM passkeys WHERE user_id = ?`, id)
		tx.exec(`UPDATE users SET totp = NULL WHERE account_id = ? AND id = ?`, accountID, id)
		return endSessions(ctx, tx, app.AuditLine{AccountID: accountID, Deed: app.DeedUserFactorOff, NounID: id}), nil
	})
}

func (s *Store) SetNeedsSecondFactor(ctx context.Context, accountID int64, needs bool) error {
	return s.write(ctx, func(tx *tx) error {
		a := txAccount(tx, accountID)
		tx.exec(`UPDATE accounts SET needs_second_factor = ? WHERE id = ?`, needs, accountID)
		d := app.AuditNamed(a.Name).Changed("needs_second_factor", a.NeedsSecondFactor, needs)
		return tx.auditChange(ctx, accountID, app.DeedAccountChange, accountID, d)
	})
}
