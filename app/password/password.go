// Package password keeps the passwords of the dashboard's users as Argon2id
// hashes in the PHC string format
// (https://github.com/P-H-C/phc-string-format), with the first of the
// parameters that OWASP recommends: 19 MiB, two passes, one lane.
package password

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
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

var present = parameters{memory: 19 << 10, passes: 2, lanes: 1}

const (
	saltBytes = 16
	hashBytes = 32
)

// turns are how many hashes are made at once: each takes 19 MiB and a core for
// about 80 ms, and whoever wants to sign in may wait.
var turns = make(chan struct{}, 2)

// Hash makes a new hash of password.
func Hash(password string) string {
	salt := make([]byte, saltBytes)
	rand.Read(salt)
	p := present
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.memory, p.passes, p.lanes,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(p.key(password, salt, hashBytes)))
}

// Matches tells whether hash is of password. A hash that can't be read, such
// as the empty one of a user that doesn't exist, matches nothing, after the
// same work.
func Matches(hash, password string) bool {
	p, salt, want, ok := read(hash)
	if !ok {
		p, salt, want = present, make([]byte, saltBytes), make([]byte, hashBytes)
	}
	return subtle.ConstantTimeCompare(p.key(password, salt, len(want)), want) == 1 && ok
}

func (p parameters) key(password string, salt []byte, length int) []byte {
	turns <- struct{}{}
	defer func() { <-turns }()
	return argon2.IDKey([]byte(password), salt, p.passes, p.memory, p.lanes, uint32(length))
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
