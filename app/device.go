package app

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
)

// A device is a browser in which a user has signed in before. Its token proves
// that, and nothing more: to sign in takes the password all the same, but
// nobody who guesses elsewhere can use up the device's turn.
//
// A token is kept by the browser alone. It is random, and signed with the hash
// of the user's password, over their id and generation: it ends with the
// password, with signing out everywhere and with the user, and is never
// anybody else's.

// deviceNonce is the length of what is random in a token.
const deviceNonce = 26

func deviceToken(nonce string, u User, hash string) string {
	mac := hmac.New(sha256.New, []byte(hash))
	fmt.Fprintf(mac, "baoco device v1\n%d\n%d\n%s", u.ID, u.Generation, nonce)
	return nonce + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// NewDevice makes the token of a device in which u has just signed in.
func (s *Service) NewDevice(ctx context.Context, u User) (string, error) {
	now, hash, ok, err := s.store.UserByName(ctx, u.Name)
	if err == nil && (!ok || now.ID != u.ID || now.Generation != u.Generation) {
		err = ErrNoUser() // removed or signed out in this moment
	}
	if err != nil {
		return "", err
	}
	return deviceToken(rand.Text(), u, hash), nil
}

// KnownDevice gives the one of tokens that is of a device of the user with this
// name; empty where there is none, as for a name that nobody has.
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
