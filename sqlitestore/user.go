package sqlitestore

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/access"
)

const (
	hasSecondFactor = `(totp IS NOT NULL OR EXISTS (SELECT 1 FROM passkeys WHERE user_id = users.id))`
	userColumns     = `id, account_id, name, role, generation, created_at, last_sign_in_at, ` + hasSecondFactor + `,
		NOT ` + hasSecondFactor + ` AND (SELECT needs_second_factor FROM accounts WHERE accounts.id = users.account_id), limited,
		receiving_number, (SELECT json_group_array(bank_account_id ORDER BY bank_account_id) FROM user_bank_accounts WHERE user_id = users.id)`
)

func scanUser(row scanner, after ...any) (access.User, error) {
	var u access.User
	var ids string
	err := row.Scan(append([]any{&u.ID, &u.AccountID, &u.Name, &u.Role, &u.Generation, secondsInto(&u.CreatedAt), secondsInto(&u.LastSignInAt),
		&u.SecondFactor, &u.MustEnrol, &u.Limit.On, &u.Limit.ReceivingNumber, &ids}, after...)...)
	if err == nil {
		err = json.Unmarshal([]byte(ids), &u.Limit.IDs)
	}
	return u, err
}

func (s *Store) CreateUser(ctx context.Context, u access.User, hash string, key app.IdempotencyKey) (access.User, error) {
	return writing(ctx, s, func(tx *tx) (access.User, error) {
		useForm(tx, u.AccountID, key, u.CreatedAt)
		u := insertUser(tx, u, hash)
		return u, tx.audit(ctx, u.AccountID, app.DeedUserCreate, u.ID, userCreated(u))
	})
}

func userCreated(u access.User) app.AuditDetail {
	return app.AuditNamed(u.Name).Changed("role", "", u.Role)
}

func insertUser(tx *tx, u access.User, hash string) access.User {
	txAccount(tx, u.AccountID)
	taken := findValue[bool](tx, `SELECT EXISTS (SELECT 1 FROM users WHERE name = ?)`, u.Name)
	tx.refuse(taken, app.Refused(app.CodeAlreadyExists,
		app.Textf("The name %s can’t be used. Choose another.", "Không dùng được tên %s. Hãy chọn tên khác.", u.Name)))
	u.Generation = newGeneration()
	u.ID = tx.insert(`INSERT INTO users (account_id, name, role, password, generation, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
		u.AccountID, u.Name, string(u.Role), hash, u.Generation, u.CreatedAt.Unix())
	return u
}

// newGeneration returns a random number, so that no earlier session, from any file,
// has the same generation.
func newGeneration() int64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return int64(binary.BigEndian.Uint64(b[:]) >> 1)
}

// setUpValue returns the setting of a set-up token: its hash in hex, and the second at which
// it ends.
func setUpValue(hash [32]byte, end time.Time) string {
	return hex.EncodeToString(hash[:]) + " " + strconv.FormatInt(end.Unix(), 10)
}

// setUpCounts reports whether value is the setting of the token with this hash, and the token
// hasn't ended at now.
func setUpCounts(value string, hash [32]byte, now time.Time) bool {
	kept, end, _ := strings.Cut(value, " ")
	until, err := strconv.ParseInt(end, 10, 64)
	return err == nil && now.Unix() < until && subtle.ConstantTimeCompare([]byte(kept), []byte(hex.EncodeToString(hash[:]))) == 1
}

const selectNoUsers = `SELECT NOT EXISTS (SELECT 1 FROM users)`

func (s *Store) SetUp(ctx context.Context, hash [32]byte, end time.Time) (bool, error) {
	return writing(ctx, s, func(tx *tx) (bool, error) {
		if !findValue[bool](tx, selectNoUsers) {
			return false, nil
		}
		return true, tx.exec(`UPDATE settings SET value = ? WHERE name = 'set_up'`, setUpValue(hash, end))
	})
}

func (s *Store) SetUpOpen(ctx context.Context, hash [32]byte, now time.Time) (bool, error) {
	value, err := s.setting(ctx, "set_up")
	return setUpCounts(value, hash, now), err
}

func (s *Store) CreateFirstUser(ctx context.Context, u access.User, hash string, setUp [32]byte, now time.Time) (access.User, error) {
	return writing(ctx, s, func(tx *tx) (access.User, error) {
		counts := setUpCounts(findValue[string](tx, `SELECT value FROM settings WHERE name = 'set_up'`), setUp, now)
		tx.refuse(!counts || !findValue[bool](tx, selectNoUsers), access.ErrSetUpEnded)
		u = insertUser(tx, u, hash)
		tx.audit(actingUser(ctx, u), u.AccountID, app.DeedUserCreate, u.ID, userCreated(u))
		return u, tx.exec(`UPDATE settings SET value = '' WHERE name = 'set_up'`)
	})
}

func (s *Store) Users(ctx context.Context, accountID int64) ([]access.User, error) {
	return readAll(ctx, s, columnsOnly(scanUser), `SELECT `+userColumns+` FROM users WHERE account_id = ? ORDER BY name`, accountID)
}

func (s *Store) User(ctx context.Context, id int64) (access.User, bool, error) {
	u, err := scanUser(s.queryRow(ctx, `SELECT `+userColumns+` FROM users WHERE id = ?`, id))
	return u, err == nil, noRowsAs(err, nil)
}

func (s *Store) UserByName(ctx context.Context, name string) (access.User, string, bool, error) {
	var hash string
	u, err := scanUser(s.queryRow(ctx, `SELECT `+userColumns+`, password FROM users WHERE name = ?`, name), &hash)
	return u, hash, err == nil, noRowsAs(err, nil)
}

func (s *Store) SetPassword(ctx context.Context, u access.User, hash string, key app.IdempotencyKey, now time.Time) (access.User, error) {
	return writing(ctx, s, func(tx *tx) (access.User, error) {
		useForm(tx, u.AccountID, key, now)
		tx.exec(`UPDATE users SET password = ? WHERE account_id = ? AND id = ?`, hash, u.AccountID, u.ID)
		return endSessions(ctx, tx, app.AuditLine{AccountID: u.AccountID, Deed: app.DeedUserPassword, NounID: u.ID}), nil
	})
}

func (s *Store) EndSessions(ctx context.Context, accountID, id int64) (access.User, error) {
	return writing(ctx, s, func(tx *tx) (access.User, error) {
		return endSessions(ctx, tx, app.AuditLine{AccountID: accountID, Deed: app.DeedUserSignOut, NounID: id}), nil
	})
}

// endSessions gives the user of a line of the audit log a new generation, removes the
// user's phones, and writes the line with the user's name.
func endSessions(ctx context.Context, tx *tx, l app.AuditLine) access.User {
	stillSignedIn(ctx, tx, l.NounID)
	tx.changeOne(access.ErrNoUser, `UPDATE users SET generation = ? WHERE account_id = ? AND id = ?`, newGeneration(), l.AccountID, l.NounID)
	tx.exec(`DELETE FROM phones WHERE user_id = ?`, l.NounID)
	u := txUser(tx, l.AccountID, l.NounID)
	l.Name = app.AuditNamed(u.Name).Name
	tx.audit(ctx, l.AccountID, l.Deed, l.NounID, l.AuditDetail)
	return u
}

// stillSignedIn refuses a change that a user makes to their own user by a request from before
// their sessions were ended: it would sign them in again.
func stillSignedIn(ctx context.Context, tx *tx, id int64) {
	a, _ := app.ActorOf(ctx)
	if a.ID != id || a.Generation == 0 {
		return
	}
	generation := find(tx, access.ErrNoUser, scanOne[int64], `SELECT generation FROM users WHERE id = ?`, id)
	tx.refuse(generation != a.Generation, access.ErrNoSession)
}

func (s *Store) SetRole(ctx context.Context, accountID, id int64, role access.Role) (access.User, error) {
	return writing(ctx, s, func(tx *tx) (access.User, error) {
		u := txUser(tx, accountID, id)
		stillSignedIn(ctx, tx, id)
		if role != access.RoleOwner {
			keepOwner(tx, u)
		}
		tx.refuse(u.Limit.On && !role.CanBeLimited(), access.ErrStillLimited)
		before := u.Role
		u.Role, u.Generation = role, newGeneration()
		tx.exec(`UPDATE users SET role = ?, generation = ? WHERE id = ?`, string(role), u.Generation, id)
		tx.exec(`DELETE FROM phones WHERE user_id = ?`, id)
		return u, tx.audit(ctx, accountID, app.DeedUserRole, id, app.AuditNamed(u.Name).Changed("role", before, role))
	})
}

func (s *Store) LimitUser(ctx context.Context, accountID, id int64, limit access.BankAccountLimit) (access.User, error) {
	return writing(ctx, s, func(tx *tx) (access.User, error) {
		u := txUser(tx, accountID, id)
		tx.refuse(limit.On && !u.Role.CanBeLimited(), access.ErrNotLimited)
		if !limit.On {
			limit = access.BankAccountLimit{}
		}
		if limit.ReceivingNumber != "" && !limit.Equal(u.Limit) {
			if len(limit.IDs) != 1 {
				return u, app.InvalidField("receiving_number", "takes exactly one bank account", "cần chọn đúng một tài khoản")
			}
			paidTo(tx, accountID, limit.IDs[0], limit.ReceivingNumber)
		}
		old := u.Limit
		before := auditLimit(tx, old)
		tx.exec(`DELETE FROM user_bank_accounts WHERE user_id = ?`, id)
		tx.exec(`UPDATE users SET limited = ?, receiving_number = ? WHERE id = ?`, limit.On, limit.ReceivingNumber, id)
		for _, bankAccountID := range limit.IDs {
			tx.changeOne(app.ErrUnknownBankAccountID, `INSERT INTO user_bank_accounts (user_id, bank_account_id)
				SELECT ?, id FROM bank_accounts WHERE id = ? AND account_id = ?
				ON CONFLICT DO UPDATE SET user_id = user_id`, id, bankAccountID, accountID)
		}
		u = txUser(tx, accountID, id)
		after := auditLimit(tx, u.Limit)
		return u, tx.auditChange(ctx, accountID, app.DeedUserLimit, id, app.AuditNamed(u.Name).Changed("bank_accounts", before, after).
			Changed("receiving_number", old.ReceivingNumber, limit.ReceivingNumber))
	})
}

func auditLimit(tx *tx, limit access.BankAccountLimit) string {
	if !limit.On {
		return "all"
	}
	return findValue[string](tx, `SELECT coalesce(group_concat(bank || ' ' || account_number, ', ' ORDER BY id), 'none')
		FROM bank_accounts WHERE id IN (SELECT value FROM json_each(?))`, jsonArray(limit.IDs))
}

func (s *Store) RemoveUser(ctx context.Context, accountID, id int64) error {
	return s.write(ctx, func(tx *tx) error {
		u := txUser(tx, accountID, id)
		keepOwner(tx, u)
		for _, table := range []string{"sessions", "phones", "recovery_codes", "passkeys", "user_bank_accounts"} {
			tx.exec(`DELETE FROM `+table+` WHERE user_id = ?`, id)
		}
		tx.exec(`DELETE FROM users WHERE id = ?`, id)
		return tx.audit(ctx, accountID, app.DeedUserRemove, id, app.AuditNamed(u.Name))
	})
}

func txUser(tx *tx, accountID, id int64) access.User {
	return find(tx, access.ErrNoUser, columnsOnly(scanUser), `SELECT `+userColumns+` FROM users WHERE account_id = ? AND id = ?`,
		accountID, id)
}

func keepOwner(tx *tx, u access.User) {
	others := findValue[bool](tx, `SELECT EXISTS (SELECT 1 FROM users WHERE account_id = ? AND role = 'owner' AND id <> ?)`, u.AccountID, u.ID)
	tx.refuse(u.Role == access.RoleOwner && !others, access.ErrLastOwner)
}

func (s *Store) NoteSignIn(ctx context.Context, u access.User, now time.Time) error {
	ctx = actingUser(ctx, u)
	return s.write(ctx, func(tx *tx) error {
		tx.exec(`UPDATE users SET last_sign_in_at = ? WHERE id = ?`, now.Unix(), u.ID)
		return tx.audit(ctx, u.AccountID, app.DeedUserSignIn, u.ID, app.AuditNamed(u.Name))
	})
}

// actingUser returns ctx with u as the actor, who isn't signed in yet.
func actingUser(ctx context.Context, u access.User) context.Context {
	a, _ := app.ActorOf(ctx)
	a.ID, a.Name = u.ID, u.Name
	return app.ActingAs(ctx, a)
}

// NoteRefusedSignIn doesn't wait for the commit: the time of the answer must not show
// whether a user of that name exists.
func (s *Store) NoteRefusedSignIn(ctx context.Context, u access.User) {
	s.writer.offer(func(tx *tx) error {
		d := app.AuditNamed(u.Name)
		d.Count = 1
		return tx.auditOften(ctx, time.Hour, app.AuditLine{
			AccountID: u.AccountID, Deed: app.DeedUserSignInRefused, NounID: u.ID, AuditDetail: d,
		})
	})
}
