package access

import (
	"context"
	"time"

	"baoco/app"
)

// Records are the queries and changes that no rule decides.
type Records interface {
	// APIKeys lists the keys of an account by id, revoked ones included.
	APIKeys(ctx context.Context, accountID int64) ([]APIKey, error)
	// User finds a user of any account. ok is false where there is none.
	User(ctx context.Context, id int64) (u User, ok bool, err error)
	// Users lists the users of an account by name.
	Users(ctx context.Context, accountID int64) ([]User, error)
	// SecondFactor tells what a user has beside the password.
	SecondFactor(ctx context.Context, userID int64) (SecondFactor, error)
	// Passkeys lists the passkeys of a user by id.
	Passkeys(ctx context.Context, userID int64) ([]Passkey, error)
	// Session gives what web keeps under a session's token. ok is false where
	// there is no such session, or where it has ended.
	Session(ctx context.Context, token string, now time.Time) (data []byte, ok bool, err error)
	// Sessions lists the sessions of a user that haven't ended, the last seen
	// first. token is that of This.
	Sessions(ctx context.Context, accountID, userID int64, token string, now time.Time) ([]Session, error)
	// RefreshCredentials reads sources, API keys and counter links again if
	// another process changed one, so that a secret that was rotated there counts
	// from the next call on.
	RefreshCredentials(ctx context.Context) error
	// RevokeAPIKey ends a key. An earlier revocation stays as it is.
	RevokeAPIKey(ctx context.Context, accountID, id int64, now time.Time) error
	// EndSessions signs a user out everywhere, by a new generation.
	EndSessions(ctx context.Context, accountID, id int64) (User, error)
	// RemoveSecondFactor removes the app, passkeys and recovery codes of a user, and
	// signs them out everywhere by a new generation.
	RemoveSecondFactor(ctx context.Context, accountID, id int64) (User, error)
	// LimitUser limits what a user sees to some bank accounts, linked or not, or to one
	// receiving number of one, or ends the limit. It counts from the user's next request on.
	// ErrNotLimited for a role that can't be limited, ErrUnknownBankAccountID for an unknown one.
	LimitUser(ctx context.Context, accountID, id int64, limit BankAccountLimit) (User, error)
	// RemoveUser removes a user and the user's sessions. CodeConflict for the
	// last owner of an account.
	RemoveUser(ctx context.Context, accountID, id int64) error
	// SetSession keeps a session, and data, under a token until its end. One that
	// was ended stays so.
	SetSession(ctx context.Context, token string, session Session, data []byte) error
	// SeeSession notes that there was a request in a session, where the last one
	// was noted longer ago than SeenInterval. It doesn't wait for the commit.
	SeeSession(ctx context.Context, token, address string, now time.Time) error
	// EndSession ends one session of a user. ErrNoSession where it has ended.
	EndSession(ctx context.Context, accountID, userID, id int64, now time.Time) error
	// RemoveSession ends a session. An unknown token is no error.
	RemoveSession(ctx context.Context, token string) error
}

// Store remembers for [Service]. The comments of [app.Records] and [app.Store] about all
// stores hold here too.
type Store interface {
	Records

	// CreateAPIKey inserts k with the SHA-256 of the key, and gives it with its
	// id. ErrFormUsed where once was used before, ErrTooManyAPIKeys beyond
	// MaxAPIKeys.
	CreateAPIKey(ctx context.Context, k APIKey, hash [32]byte, once app.IdempotencyKey) (APIKey, error)
	// APIKeyByHash sees a key made by another process from its commit on, and
	// a revocation within a second. ok is false where there is none.
	APIKeyByHash(ctx context.Context, hash [32]byte) (k APIKey, ok bool, err error)
	// TouchAPIKey notes the use of a key, at most once a minute. It doesn't wait
	// for the commit.
	TouchAPIKey(id int64, now time.Time)
	// CreateUser fails with CodeAlreadyExists where the name is taken, and with
	// ErrFormUsed where key was used before.
	CreateUser(ctx context.Context, u User, hash string, key app.IdempotencyKey) (User, error)
	// CreateFirstUser creates u only if setup is the hash of a set-up token that
	// hasn't ended at now and there is no user yet, else it fails with
	// CodeForbidden. The token ends with it.
	CreateFirstUser(ctx context.Context, u User, hash string, setup [32]byte, now time.Time) (User, error)
	// SetUp keeps the hash of a set-up token until end, in place of an earlier
	// one. ok is false where there is a user already.
	SetUp(ctx context.Context, setup [32]byte, end time.Time) (ok bool, err error)
	// SetUpOpen tells whether setup is the hash of a set-up token that hasn't
	// ended at now.
	SetUpOpen(ctx context.Context, setup [32]byte, now time.Time) (bool, error)
	// UserByName also gives the hash of the password. ok is false where there is
	// no such user.
	UserByName(ctx context.Context, name string) (u User, hash string, ok bool, err error)
	// SetPassword gives the user a new generation, which ends all sessions.
	// ErrFormUsed where key was used before.
	SetPassword(ctx context.Context, u User, hash string, key app.IdempotencyKey, now time.Time) (User, error)
	// SetRole gives the user a new generation too. CodeConflict where the
	// account would have no owner left, ErrStillLimited where the user is limited and
	// the role can't be.
	SetRole(ctx context.Context, accountID, id int64, role Role) (User, error)
	// SetTOTP gives the user an app and recovery codes in place of earlier ones, and
	// a new generation.
	SetTOTP(ctx context.Context, u User, in TOTPCreate, now time.Time) (User, error)
	// TOTP gives the app of a user. ok is false where there is none, or where the
	// key doesn't open its secret.
	TOTP(ctx context.Context, userID int64) (totp TOTP, ok bool, err error)
	// UseTOTPStep is true once for a step, and false for all steps up to it from
	// then on, in whatever process.
	UseTOTPStep(ctx context.Context, userID, step int64) (bool, error)
	// SetRecoveryCodes replaces the recovery codes of a user. ErrFormUsed where key
	// was used before.
	SetRecoveryCodes(ctx context.Context, u User, codes [][32]byte, key app.IdempotencyKey, now time.Time) error
	// UseRecoveryCode is true once for a code.
	UseRecoveryCode(ctx context.Context, u User, hash [32]byte) (bool, error)
	// AddPasskey adds a passkey to a user, with a new generation. first is true where
	// the user had no second factor: then they get the recovery codes. ErrFormUsed where
	// key was used before, ErrSamePasskey, ErrTooManyPasskeys.
	AddPasskey(ctx context.Context, u User, p Passkey, codes [][32]byte, key app.IdempotencyKey) (_ User, first bool, err error)
	// RenamePasskey fails with ErrNoPasskey where the user has no such passkey.
	RenamePasskey(ctx context.Context, u User, id int64, name string) error
	// RemovePasskey removes a passkey of a user, with the recovery codes where nothing
	// else is left of the second factor, and gives the user a new generation.
	// ErrNoPasskey, ErrLastFactor.
	RemovePasskey(ctx context.Context, u User, id int64) (User, error)
	// PasskeyByCredential finds a passkey and its user. ok is false where there is none.
	PasskeyByCredential(ctx context.Context, id []byte) (p Passkey, u User, ok bool, err error)
	// UsePasskey keeps the count of a signature of a passkey. ErrPasskeyCopied where it
	// isn't larger than the one before, unless both are 0; ErrNoPasskey.
	UsePasskey(ctx context.Context, id int64, count uint32, now time.Time) error
	// SetNeedsSecondFactor keeps whether an account demands a second factor.
	SetNeedsSecondFactor(ctx context.Context, accountID int64, needs bool) error
	// NoteSignIn keeps when a user signed in last.
	NoteSignIn(ctx context.Context, u User, now time.Time) error
	// NoteRefusedSignIn keeps that somebody entered a wrong password for a user. It
	// doesn't wait for the commit.
	NoteRefusedSignIn(ctx context.Context, u User)
}
