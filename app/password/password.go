// Package password keeps the passwords of the dashboard's users as Argon2id
// hashes in the PHC string format
// (https://github.com/P-H-C/phc-string-format), with the first of the
// parameters that OWASP recommends: 19 MiB, two passes, one lane.
package password

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
)

// parameters of a hash; they stand in it, so that they can change.
type parameters struct {
	memory uint32 // KiB
	passes uint32
	lanes  uint8
}

// Memory is how many KiB a new hash takes. Tests of what isn't the cost of a hash have less.
var Memory uint32 = 19 << 10

func present() parameters { return parameters{memory: Memory, passes: 2, lanes: 1} }

const (
	saltBytes = 16
	hashBytes = 32
)

// A hash takes 19 MiB and a core for about 80 ms, so that two are made at once,
// of which strangers have one: however many of them guess, whoever is known
// waits for those who are known alone. Of strangers 63 wait, about five seconds;
// more are sent away.
var (
	turns     = make(chan struct{}, 2)
	strangers = make(chan struct{}, 1)
	waiting   = make(chan struct{}, 64) // strangers, the one whose turn it is included
)

// ErrBusy says that too many strangers wait to have their password checked.
var ErrBusy = errors.New("too many passwords wait to be checked")

// Hash makes a new hash of password, for somebody who is known. It fails once
// ctx ends.
func Hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltBytes)
	rand.Read(salt)
	p := present()
	key, err := p.key(ctx, password, salt, hashBytes)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.memory, p.passes, p.lanes,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key)), nil
}

// Matches tells whether hash is of password, which somebody who is known
// entered. A hash that can't be read, such as the empty one of a user that
// doesn't exist, matches nothing, after the same work. It fails once ctx ends.
func Matches(ctx context.Context, hash, password string) (bool, error) {
	p, salt, want, ok := read(hash)
	if !ok {
		p, salt, want = present(), make([]byte, saltBytes), make([]byte, hashBytes)
	}
	key, err := p.key(ctx, password, salt, len(want))
	return err == nil && subtle.ConstantTimeCompare(key, want) == 1 && ok, err
}

// MatchesStranger is Matches for a password that anybody may have entered. It
// fails with ErrBusy where too many wait.
func MatchesStranger(ctx context.Context, hash, password string) (bool, error) {
	select {
	case waiting <- struct{}{}:
		defer func() { <-waiting }()
	default:
		return false, ErrBusy
	}
	select {
	case strangers <- struct{}{}:
		defer func() { <-strangers }()
	case <-ctx.Done():
		return false, ErrBusy
	}
	return Matches(ctx, hash, password)
}

func (p parameters) key(ctx context.Context, password string, salt []byte, length int) ([]byte, error) {
	select {
	case turns <- struct{}{}:
		defer func() { <-turns }()
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBusy, err)
	}
	return argon2.IDKey([]byte(password), salt, p.passes, p.memory, p.lanes, uint32(length)), nil
}

// read takes a hash apart. It refuses parameters that nobody would choose, so
// that no file can make a sign-in take the whole machine.
func read(hash string) (p parameters, salt, key []byte, ok bool) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return p, nil, nil, false
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &p.memory, &p.passes, &p.lanes); err != nil {
		return p, nil, nil, false
	}
	if p.memory < 8 || p.memory > 256<<10 || p.passes < 1 || p.passes > 16 || p.lanes < 1 || p.lanes > 16 {
		return p, nil, nil, false
	}
	salt, errSalt := base64.RawStdEncoding.DecodeString(parts[4])
	key, errKey := base64.RawStdEncoding.DecodeString(parts[5])
	return p, salt, key, errSalt == nil && errKey == nil && len(salt) >= 8 && len(key) >= 16 && len(key) <= 64
}
