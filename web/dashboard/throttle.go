package dashboard

import (
	"crypto/sha256"
	"net/netip"
	"time"

	"baoco/app"
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
//
// So strangers have at most 80 guesses under one name within any minute and
// 28,860 within any day, however many addresses they have, and 15 and 7,210
// from one address. Each device adds 15 and 7,210 for whoever holds it.
type signInThrottle struct {
	addresses wire.Buckets[netip.Prefix]
	names     wire.Buckets[[sha256.Size]byte]
	devices   wire.Buckets[string] // by the token of the device
	users     wire.Buckets[int64]
}

var (
	addressPace = wire.Pace{Burst: 10, PerMinute: 5}
	namePace    = wire.Pace{Burst: 60, PerMinute: 20}
	devicePace  = addressPace
)

func (t *signInThrottle) byStranger(client netip.Prefix, name string, now time.Time) bool {
	if _, _, may := t.addresses.Take(client, addressPace, now); !may {
		return false
	}
	_, _, may := t.names.Take(sha256.Sum256([]byte(name)), namePace, now)
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

var errTooManyGuesses = app.Refused(app.CodeRateLimited, app.Text{
	EN: "Too many attempts. Wait a minute, then try again.", VI: "Bạn đã thử quá nhiều lần. Hãy đợi một phút rồi thử lại.",
})
