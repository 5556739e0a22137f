package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"math/big"
	"strings"
	"time"

	"baoco/app"
)

// Scope is what an API key may do.
type Scope string

// The scopes: everything, reading only, or only following the transactions, as baoco
// listen does.
const (
	ScopeFull   Scope = "full"
	ScopeRead   Scope = "read"
	ScopeListen Scope = "listen"
)

// Name says what a key may do.
func (s Scope) Name() app.Text {
	switch s {
	case ScopeRead:
		return app.Text{EN: "Read only", VI: "Chỉ đọc"}
	case ScopeListen:
		return app.Text{EN: "Follow transactions only (baoco listen)", VI: "Chỉ nhận giao dịch (baoco listen)"}
	}
	return app.Text{EN: "Read and write", VI: "Đọc và ghi"}
}

// APIKey is a credential of the management API. The key itself is shown once
// and stored as its SHA-256 only.
type APIKey struct {
	ID         int64
	AccountID  int64
	Name       string
	Scope      Scope
	Hint       string    // the first and last characters, to tell keys apart
	ExpiresAt  time.Time // zero: never
	RevokedAt  time.Time // zero: not revoked
	CreatedAt  time.Time
	LastUsedAt time.Time // zero: never; at most a minute behind
}

// MaxAPIKeys is how many keys of an account may be valid at a time.
const MaxAPIKeys = 100

// ErrTooManyAPIKeys refuses a key beyond MaxAPIKeys.
var ErrTooManyAPIKeys error = app.Refused(app.CodeLimitReached, app.Textf(
	"An account may have at most %d valid API keys: revoke one first.",
	"Mỗi tài khoản có tối đa %d khoá API còn hiệu lực: hãy thu hồi bớt trước.", MaxAPIKeys))

// ErrNoAPIKey says that an id names no API key.
var ErrNoAPIKey error = app.NotFound("There is no API key with this id.", "Không có khoá API với id này.")

// Valid tells whether the key opens anything at now.
func (k APIKey) Valid(now time.Time) bool {
	return k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || now.Unix() <= k.ExpiresAt.Unix())
}

const (
	apiKeyPrefix = "baoco_"
	apiKeyRandom = 37
	apiKeyCheck  = 6
	base62       = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// newAPIKey makes baoco_ and 43 base62 characters, the last six of them the
// CRC32 of what stands before.
func newAPIKey() string {
	var b strings.Builder
	b.WriteString(apiKeyPrefix)
	for range apiKeyRandom {
		n, err := rand.Int(rand.Reader, big.NewInt(62))
		if err != nil {
			panic("crypto/rand failed: " + err.Error()) // it never does, by its contract
		}
		b.WriteByte(base62[n.Int64()])
	}
	return b.String() + apiKeyChecksum(b.String())
}

func apiKeyChecksum(s string) string {
	sum := crc32.ChecksumIEEE([]byte(s))
	var out [apiKeyCheck]byte
	for i := apiKeyCheck - 1; i >= 0; i-- {
		out[i] = base62[sum%62]
		sum /= 62
	}
	return string(out[:])
}

// wellFormedAPIKey reports whether key has the form and checksum of a key, so
// that a typing mistake costs no look-up.
func wellFormedAPIKey(key string) bool {
	if len(key) != len(apiKeyPrefix)+apiKeyRandom+apiKeyCheck || !strings.HasPrefix(key, apiKeyPrefix) {
		return false
	}
	body, check := key[:len(key)-apiKeyCheck], key[len(key)-apiKeyCheck:]
	return apiKeyChecksum(body) == check
}

// APIKeyCreate is a request to create an API key.
type APIKeyCreate struct {
	Name      string
	Scope     Scope
	ExpiresAt time.Time          // zero: never
	Key       app.IdempotencyKey // ErrFormUsed where it was used before
}

// CreateAPIKey makes a key and gives it in clear this once.
func (s *Service) CreateAPIKey(ctx context.Context, accountID int64, in APIKeyCreate, now time.Time) (APIKey, string, error) {
	name, err := app.CleanName("name", in.Name)
	if err != nil {
		return APIKey{}, "", err
	}
	if in.Scope != ScopeFull && in.Scope != ScopeRead && in.Scope != ScopeListen {
		return APIKey{}, "", app.InvalidField("scope", "must be full, read or listen", "phải là full, read hoặc listen")
	}
	key := newAPIKey()
	k := APIKey{
		AccountID: accountID, Name: name, Scope: in.Scope, ExpiresAt: in.ExpiresAt, CreatedAt: now,
		Hint: key[:len(apiKeyPrefix)+3] + "…" + key[len(key)-4:],
	}
	k, err = s.store.CreateAPIKey(ctx, k, sha256.Sum256([]byte(key)), in.Key)
	return k, key, err
}

// Authenticate finds the valid API key that a request carries. CodeUnauthorized
// doesn't say why there is none.
func (s *Service) Authenticate(ctx context.Context, key string, now time.Time) (APIKey, error) {
	if wellFormedAPIKey(key) {
		k, ok, err := s.store.APIKeyByHash(ctx, sha256.Sum256([]byte(key)))
		if err != nil {
			return APIKey{}, err
		}
		if ok && k.Valid(now) {
			s.store.TouchAPIKey(k.ID, now)
			return k, nil
		}
	}
	return APIKey{}, ErrUnauthorized
}

// ErrUnauthorized is the answer to every bad credential.
var ErrUnauthorized error = app.Refused(app.CodeUnauthorized, app.Text{
	EN: "A valid credential is required.",
	VI: "Cần thông tin xác thực hợp lệ.",
})
