package dashboard

import (
	"crypto/sha256"
	"net/netip"
	"time"

	"baoco/app"
	"baoco/app/secondfactor"
	"baoco/web/wire"
)

// signInThrottle bounds how often a password can be guessed. Guessing is slow, and still
// the user of the password can sign in:
//
//   - A guess takes a token of the bucket of its address first, and only then one of the
//     name. The bucket of a name is six times as large as that of an address and fills four
//     times as fast, so that no single address can empty it.
//   - A device on which the user signed in before has a bucket of its own. The guesses of
//     strangers under the name, or from the same address, don't count there.
//   - On a new device a user with a code of the app, a recovery code or a passkey takes no
//     token of the name. Three of a million codes of the app are valid at a time, so each
//     name has a bucket for these codes that fills very slowly: a stranger who knows the
//     password can't try all codes from many addresses. If strangers have emptied this
//     bucket, recovery codes and passkeys still work: nobody can guess them.
//
// So strangers have at most 80 guesses under one name in a minute and 28,860 in a day,
// from however many addresses, and 15 and 7,210 from one address. Whoever holds a device
// of the user has 15 and 7,210 more. Strangers can try 2,440 codes of the app in a day
// under one name before the password.
type signInThrottle struct {
	addresses wire.Buckets[netip.Prefix]
	names     wire.Buckets[[sha256.Size]byte]
	early     wire.Buckets[[sha256.Size]byte] // codes before the password, by name
	devices   wire.Buckets[string]            // by the token of the device
	users     wire.Buckets[int64]
	codes     wire.Buckets[codeGuesser]
	passkeys  wire.Buckets[netip.Prefix]
}

var (
	addressPace = wire.Pace{Burst: 10, PerMinute: 5}
	namePace    = wire.Pace{Burst: 60, PerMinute: 20}
	devicePace  = addressPace
	earlyPace   = wire.Pace{Burst: 1000, PerMinute: 1}
)

func (t *signInThrottle) byAddress(client netip.Prefix, now time.Time) bool {
	_, _, may := t.addresses.Take(client, addressPace, now)
	return may
}

func (t *signInThrottle) byName(name string, now time.Time) bool {
	_, _, may := t.names.Take(sha256.Sum256([]byte(name)), namePace, now)
	return may
}

// byEarlyCode reports whether a code may be tried before the password.
func (t *signInThrottle) byEarlyCode(name, code string, now time.Time) bool {
	if secondfactor.IsRecoveryCode(code) {
		return true
	}
	_, _, may := t.early.Take(sha256.Sum256([]byte(name)), earlyPace, now)
	return may
}

func (t *signInThrottle) onDevice(token string, now time.Time) bool {
	_, _, may := t.devices.Take(token, devicePace, now)
	return may
}

// bySignedIn reports whether a signed-in user may try the password again.
func (t *signInThrottle) bySignedIn(userID int64, now time.Time) bool {
	_, _, may := t.users.Take(userID, devicePace, now)
	return may
}

// codeGuesser is the bucket of the codes after the password: of a user on a known device, or of
// a user on all other devices.
type codeGuesser struct {
	user   int64
	device string
}

// codePace allows 1,450 codes a day; three of a million codes are valid at a time.
var codePace = wire.Pace{Burst: 10, PerMinute: 1}

func (t *signInThrottle) byCode(user int64, device string, now time.Time) bool {
	_, _, may := t.codes.Take(codeGuesser{user, device}, codePace, now)
	return may
}

var errTooManyGuesses = app.Refused(app.CodeRateLimited, app.Text{
	EN: "Too many attempts. Wait a minute, then try again.", VI: "Bạn đã thử quá nhiều lần. Hãy đợi một phút rồi thử lại.",
})
