package access

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"baoco/app"
	"baoco/app/password"
)

// Session is a browser in which a user is signed in, or halfway: the password was
// right, and the second factor is still asked for.
type Session struct {
	ID         int64
	UserID     int64 // 0: nobody is signed in
	Generation int64 // of the user; the session has ended where the user has another
	Halfway    bool
	Agent      string // User-Agent of the browser
	Address    string // of the last request
	StartedAt  time.Time
	SeenAt     time.Time // about the last request
	EndAt      time.Time
	This       bool // it is the one in which the list is read
}

// SeenInterval is how exact SeenAt is.
const SeenInterval = time.Minute

// MaxAgent is how many bytes of a User-Agent are kept.
const MaxAgent = 300

// ErrNoSession says that an id names no session of the user.
var ErrNoSession error = app.NotFound("This session has ended already.", "Phiên đăng nhập này đã kết thúc.")

// A device is a browser in which a user has signed in before, as its token
// proves. To sign in still takes the password, but wrong passwords that others
// enter elsewhere can't use up the device's attempts.
//
// Only the browser keeps the token. It is random, and signed with the hash of
// the user's password over their id and generation. So it ends with the password,
// with signing out everywhere and with the user, and never belongs to another
// user.

// deviceNonce is the length of the random part of a token, in bytes.
const deviceNonce = 26

func deviceToken(nonce string, u User, hash string) string {
	mac := hmac.New(sha256.New, []byte(hash))
	fmt.Fprintf(mac, "baoco device v1\n%d\n%d\n%s", u.ID, u.Generation, nonce)
	return nonce + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// NewDevice makes the token of a device on which u has just signed in.
func (s *Service) NewDevice(ctx context.Context, u User) (string, error) {
	now, hash, ok, err := s.store.UserByName(ctx, u.Name)
	if err == nil && (!ok || now.ID != u.ID || now.Generation != u.Generation) {
		err = ErrNoUser // removed or signed out at this moment
	}
	if err != nil {
		return "", err
	}
	return deviceToken(rand.Text(), u, hash), nil
}

// KnownDevice gives the token among tokens that belongs to a device of the user
// with this name; empty if there is none, or no such user.
func (s *Service) KnownDevice(ctx context.Context, name string, tokens []string) (string, error) {
	if len(tokens) == 0 {
		return "", nil
	}
	u, hash, ok, err := s.store.UserByName(ctx, name)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(tokens, func(token string) bool {
		return len(token) > deviceNonce && hmac.Equal([]byte(token), []byte(deviceToken(token[:deviceNonce], u, hash)))
	})
	if i < 0 || !ok {
		return "", nil
	}
	return tokens[i], nil
}

// CheckPresent refuses a password that isn't the user's present one.
func (s *Service) CheckPresent(ctx context.Context, u User, present string) error {
	_, hash, ok, err := s.store.UserByName(ctx, u.Name)
	if err != nil {
		return err
	}
	if ok = ok && utf8.RuneCountInString(present) <= maxPassword; ok {
		ok, err = password.Matches(ctx, hash, present)
	}
	if err != nil {
		return busy(err)
	}
	if !ok {
		return app.InvalidField("present_password", "is incorrect", "không đúng")
	}
	return nil
}
