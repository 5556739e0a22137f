package sqlitestore

import (
	"context"
	"time"

	"baoco/app"
)

func (s *Store) Session(ctx context.Context, token string, now time.Time) ([]byte, bool, error) {
	var data []byte
	err := s.queryRow(ctx, `SELECT data FROM sessions WHERE token = ? AND ended = 0 AND end_at > ?`, token, now.Unix()).Scan(&data)
	if noRows(err) {
		return nil, false, nil
	}
	return data, err == nil, storageError(err)
}

// sessionGoesOn is the condition on a session that hasn't ended at ?1, joined with its
// user.
const sessionGoesOn = `sessions.end_at > ?1 AND sessions.ended = 0 AND sessions.generation = users.generation`

func (s *Store) Sessions(ctx context.Context, accountID, userID int64, token string, now time.Time) ([]app.Session, error) {
	return readAll(ctx, s, func(row scanner) (app.Session, error) {
		n := app.Session{UserID: userID}
		err := row.Scan(&n.ID, &n.Generation, &n.Halfway, &n.Agent, &n.Address, secondsInto(&n.StartedAt), secondsInto(&n.SeenAt), secondsInto(&n.EndAt), &n.This)
		return n, err
	}, `SELECT sessions.id, sessions.generation, halfway, agent, address, started_at, seen_at, end_at, token = ?4
		FROM users JOIN sessions ON sessions.user_id = users.id WHERE users.account_id = ?2 AND users.id = ?3 AND `+sessionGoesOn+` ORDER BY seen_at DESC, sessions.id DESC`,
		now.Unix(), accountID, userID, token)
}

func (s *Store) SetSession(ctx context.Context, token string, n app.Session, data []byte) error {
	return s.write(ctx, func(tx *tx) error {
		return tx.exec(`INSERT INTO sessions (token, user_id, generation, halfway, data, agent, address, started_at, seen_at, end_at, ended) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9, 0)
			ON CONFLICT (token) DO UPDATE SET user_id = ?2, generation = ?3, halfway = ?4, data = ?5, end_at = ?9 WHERE ended = 0`,
			token, nullIfZero(n.UserID), n.Generation, n.Halfway, data, n.Agent, n.Address, n.StartedAt.Unix(), n.EndAt.Unix())
	})
}

func (s *Store) SeeSession(ctx context.Context, token, address string, now time.Time) error {
	noted := now.Add(-app.SeenInterval).Unix()
	due, err := scanOne[bool](s.queryRow(ctx, `SELECT seen_at <= ? FROM sessions WHERE token = ?`, noted, token))
	if err != nil || !due {
		return noRowsAs(storageError(err), nil)
	}
	s.writer.offer(func(tx *tx) error {
		return tx.exec(`UPDATE sessions SET seen_at = ?, address = ? WHERE token = ? AND seen_at <= ?`, now.Unix(), address, token, noted)
	})
	return nil
}

func (s *Store) EndSession(ctx context.Context, accountID, userID, id int64, now time.Time) error {
	return s.write(ctx, func(tx *tx) error {
		if err := tx.changeOne(app.ErrNoSession, endSession+`id = (SELECT sessions.id FROM users JOIN sessions ON sessions.user_id = users.id
			WHERE users.account_id = ?2 AND users.id = ?3 AND sessions.id = ?4 AND `+sessionGoesOn+`)`, now.Unix(), accountID, userID, id); err != nil {
			return err
		}
		u, err := txUser(tx, accountID, userID)
		if err != nil {
			return err
		}
		return tx.audit(ctx, accountID, app.DeedUserSessionEnd, userID, app.AuditNamed(u.Name))
	})
}

// endSession keeps the row: a request that began before may still set it.
const endSession = `UPDATE sessions SET ended = 1, data = x'' WHERE `

func (s *Store) RemoveSession(ctx context.Context, token string) error {
	return s.write(ctx, func(tx *tx) error { return tx.exec(endSession+`token = ?`, token) })
}
