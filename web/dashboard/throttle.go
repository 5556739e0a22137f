package dashboard

import (
	"crypto/sha256"
	"net/netip"
	"time"

	"baoco/app"
	"baoco/app/secondfactor"
	"baoco/web/wire"
)

// signInThrottle bounds how often a password can be guessed. Guessing is slow,
// and the owner of the password can sign in all the same:
//
//   - A stranger takes a token of their address first, and only then one of the
//     name. A name's bucket is six times an address's and fills four times as
//     fast, so that no single address can empty it.
//   - A device on which the user signed in before has a bucket of its own. The
//     guesses of others under the name, or from the same address, don't count
//     there.
//   - On a new device the code of the user's app, a recovery code or a passkey is as good:
//     who brings one takes no token of the name. A code of the app is one of a million of
//     which three count, so a name has a bucket for them, of which hardly anything comes
//     back: whoever knows the password can't try them all from many addresses. Where
//     strangers have emptied it, recovery codes and passkeys still count: nobody guesses them.
//
// So strangers have at most 80 guesses under one name within any minute and
// 28,860 within any day, however many addresses they have, and 15 and 7,210
// from one address. Each device adds 15 and 7,210 for whoever holds it. Of the app's
// codes before the password they have 2,440 within any day under one name.
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

// byEarlyCode tells whether a code may be tried before the password.
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

// bySignedIn is for a signed-in user who is asked for the password once more.
func (t *signInThrottle) bySignedIn(userID int64, now time.Time) bool {
	_, _, may := t.users.Take(userID, devicePace, now)
	return may
}

// codeGuesser is who enters codes: a user in a known device, or in others. Only who
// knows the password gets so far.
type codeGuesser struct {
	user   int64
	device string
}

// codePace allows some 1,450 codes a day, of a million of which three count.
var codePace = wire.Pace{Burst: 10, PerMinute: 1}

func (t *signInThrottle) byCode(user int64, device string, now time.Time) bool {
	_, _, may := t.codes.Take(codeGuesser{user, device}, codePace, now)
	return may
}

var errTooManyGuesses = app.Refused(app.CodeRateLimited, app.Text{
	EN: "Too many attempts. Wait a minute, then try again.", VI: "Bạn đã thử quá nhiều lần. Hãy đợi một phút rồi thử lại.",
})
