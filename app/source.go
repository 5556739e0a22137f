package app

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"
	"unicode/utf8"
)

// Provider is a kind of source: the format of its calls.
type Provider string

// Auth is how the calls of a source prove where they come from.
type Auth string

// The ways of authenticating.
const (
	AuthBearer Auth = "bearer"
	AuthAPIKey Auth = "apikey"
	AuthHMAC   Auth = "hmac"
)

// ProviderKind is what a kind of source can do, as its adapter declares it.
type ProviderKind struct {
	Provider    Provider
	Auths       []Auth
	DefaultAuth Auth // empty: one must be given
}

// Source is one provider account from which transactions come in.
type Source struct {
	ID            int64
	AccountID     int64
	Name          string
	Provider      Provider
	Auth          Auth
	Token         string // names the source in a path; doesn't authenticate
	Secret        string // Bearer or Apikey token, or HMAC key
	BankAccountID int64  // 0: every bank account of the account
	CreatedAt     time.Time
	RemovedAt     time.Time // zero: in use

	LastCallAt        time.Time // zero: never
	LastTransactionAt time.Time // zero: never
}

// URLPath is the path that the provider is told to call.
func (s Source) URLPath() string { return "/api/webhooks/provider/" + s.Token }

type sourceStore interface {
	// CreateSource fails with CodeConflict where another source has the same
	// Bearer secret, and with CodeValidation for an unknown bank account.
	CreateSource(ctx context.Context, s Source) (Source, error)
	Sources(ctx context.Context, accountID int64) ([]Source, error)
	// SourceByToken and SourceByBearer see a source made by another process
	// from its commit on. ok is false where there is none.
	SourceByToken(ctx context.Context, token string) (s Source, ok bool, err error)
	SourceByBearer(ctx context.Context, hash [32]byte) (s Source, ok bool, err error)
	// RefreshSources looks whether another process changed a source.
	RefreshSources(ctx context.Context) error
	SetSourceSecret(ctx context.Context, accountID, id int64, secret string) (Source, error)
	RemoveSource(ctx context.Context, accountID, id int64, now time.Time) error
}

// SourceAdd is what somebody adds. An empty secret is generated.
type SourceAdd struct {
	Provider      Provider
	Auth          Auth
	Name          string
	Secret        string
	BankAccountID int64
}

// AddSource makes a source and gives it with its secret in clear.
func (s *Service) AddSource(ctx context.Context, accountID int64, in SourceAdd, now time.Time) (Source, error) {
	var v Invalid
	kind, known := s.providerKind(in.Provider)
	if !known {
		v.Add("provider", "must be one of "+s.providerNames(), "phải là một trong "+s.providerNames())
	} else if auth, ok := kind.choose(in.Auth); ok {
		in.Auth = auth
	} else {
		v.Add("auth", "must be one of "+kind.authNames()+" for this provider", "phải là một trong "+kind.authNames()+" với nhà cung cấp này")
	}
	if in.Secret == "" {
		in.Secret = "bcs_" + randomToken()
	}
	v.Merge(checkSourceSecret(in.Secret))
	name, err := cleanName("name", in.Name)
	if err != nil {
		return Source{}, err
	}
	if err := v.Err(); err != nil {
		return Source{}, err
	}
	return s.store.CreateSource(ctx, Source{
		AccountID: accountID, Name: name, Provider: in.Provider, Auth: in.Auth, Token: randomToken(),
		Secret: in.Secret, BankAccountID: in.BankAccountID, CreatedAt: now,
	})
}

func (k ProviderKind) choose(auth Auth) (Auth, bool) {
	if auth == "" {
		return k.DefaultAuth, k.DefaultAuth != ""
	}
	for _, a := range k.Auths {
		if a == auth {
			return a, true
		}
	}
	return "", false
}

func (k ProviderKind) authNames() string {
	names := make([]string, len(k.Auths))
	for i, a := range k.Auths {
		names[i] = string(a)
	}
	return strings.Join(names, ", ")
}

func (s *Service) providerKind(p Provider) (ProviderKind, bool) {
	for _, k := range s.providers {
		if k.Provider == p {
			return k, true
		}
	}
	return ProviderKind{}, false
}

func (s *Service) providerNames() string {
	names := make([]string, len(s.providers))
	for i, k := range s.providers {
		names[i] = string(k.Provider)
	}
	return strings.Join(names, ", ")
}

// ShortSecret is the length in characters below which a secret can be guessed.
// It isn't refused, since some providers make short ones.
const ShortSecret = 16

// checkSourceSecret refuses what no header could carry.
func checkSourceSecret(secret string) error {
	n := utf8.RuneCountInString(secret)
	if n < 1 || n > 500 || strings.TrimSpace(secret) != secret || !utf8.ValidString(secret) || strings.IndexFunc(secret, isControl) >= 0 {
		return InvalidField("secret", "must be 1 to 500 characters without control characters or spaces at its ends",
			"phải có từ 1 đến 500 ký tự, không có ký tự điều khiển hay khoảng trắng ở hai đầu")
	}
	return nil
}

// randomToken is 32 random bytes in URL-safe base64.
func randomToken() string {
	var b [32]byte
	rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Sources lists the sources in use, by id.
func (s *Service) Sources(ctx context.Context, accountID int64) ([]Source, error) {
	return s.store.Sources(ctx, accountID)
}

// RotateSource gives a source a new secret, which counts at once: the given
// one, or a generated one where it is empty.
func (s *Service) RotateSource(ctx context.Context, accountID, id int64, secret string) (Source, error) {
	if secret == "" {
		secret = "bcs_" + randomToken()
	}
	if err := checkSourceSecret(secret); err != nil {
		return Source{}, err
	}
	return s.store.SetSourceSecret(ctx, accountID, id, secret)
}

// RemoveSource ends a source: its calls are refused from now on. What it
// recorded stays.
func (s *Service) RemoveSource(ctx context.Context, accountID, id int64, now time.Time) error {
	return s.store.RemoveSource(ctx, accountID, id, now)
}

// FindSource finds the source that a call names: by the token of its path, or
// on the bare path (an empty token) by its Bearer credential. It doesn't
// authenticate. ok is false where there is none.
func (s *Service) FindSource(ctx context.Context, token, bearer string) (src Source, ok bool, err error) {
	switch {
	case token != "":
		return s.store.SourceByToken(ctx, token)
	case bearer != "":
		return s.store.SourceByBearer(ctx, sha256.Sum256([]byte(bearer)))
	}
	return Source{}, false, nil
}

// RefreshSources looks whether another process changed a source, so that a
// credential rotated there counts from the next call on.
func (s *Service) RefreshSources(ctx context.Context) error {
	return s.store.RefreshSources(ctx)
}

// ErrNoSource says that an id names no source.
func ErrNoSource() error {
	return NotFound("There is no source with this id.", "Không có nguồn vào với id này.")
}
