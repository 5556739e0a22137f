package dashboard

import (
	"crypto/sha256"
	"net/netip"
	"time"

	"baoco/app"
	"baoco/web/wire"
)

// guesses bound how often a password can be guessed, so that guessing is slow
// and its owner comes in all the same:
//
//   - A stranger takes a token of their address first, and only then one of the
//     name. A name's bucket is six times an address's and fills four times as
//     fast, so that no single address can empty it.
//   - A device on which the user signed in before has a bucket of its own. What
//     others guess, under the name or from the same address, is nothing to it.
//
// So strangers have at most 80 guesses under one name within any minute and
// 28,860 within any day, however many addresses they have, and 15 and 7,210
// from one address. Each device adds 15 and 7,210 for whoever holds it.
type guesses struct {
	addresses wire.Buckets[netip.Prefix]
	names     wire.Buckets[[sha256.Size]byte]
	devices   wire.Buckets[string] // by token; strangers have none
	users     wire.Buckets[int64]
}

var (
	addressPace = wire.Pace{Burst: 10, PerMinute: 5}
	namePace    = wire.Pace{Burst: 60, PerMinute: 20}
	devicePace  = addressPace
)

func (g *guesses) byStranger(client netip.Prefix, name string, now time.Time) bool {
	if _, _, may := g.addresses.Take(client, addressPace, now); !may {
		return false
	}
	_, _, may := g.names.Take(sha256.Sum256([]byte(name)), namePace, now)
	return may
}

func (g *guesses) onDevice(token string, now time.Time) bool {
	_, _, may := g.devices.Take(token, devicePace, now)
	return may
}

// bySignedIn is for whoever has a user's session, and is asked for the password
// once more.
func (g *guesses) bySignedIn(userID int64, now time.Time) bool {
	_, _, may := g.users.Take(userID, devicePace, now)
	return may
}

func errTooManyGuesses() *app.Error {
	return app.Refused(app.CodeRateLimited, app.Text{
		EN: "Too many attempts. Wait a minute, then try again.", VI: "Bạn đã thử quá nhiều lần. Hãy đợi một phút rồi thử lại.",
	})
}
