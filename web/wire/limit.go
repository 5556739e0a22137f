package wire

import (
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxBuckets bounds the memory of a limiter, to about 4 MiB.
const maxBuckets = 20_000

// examined is how many buckets are examined before one is added.
const examined = 16

// Pace says how many tokens a bucket holds, and how many come back in a minute.
type Pace struct{ Burst, PerMinute int }

// Buckets are token buckets by key. Keys are of a fixed size: text that strangers send
// becomes a key by its hash.
type Buckets[K comparable] struct {
	mu   sync.Mutex
	byID map[K]*rate.Limiter
}

// Take takes a token of the bucket of key, and returns how many whole tokens remain.
// If the bucket was empty, ok is false and wait is the time until the next token.
func (b *Buckets[K]) Take(key K, p Pace, now time.Time) (remaining int, wait time.Duration, ok bool) {
	b.mu.Lock()
	l := b.byID[key]
	if l == nil {
		b.makeRoom(now)
		l = rate.NewLimiter(rate.Limit(float64(p.PerMinute)/60), p.Burst)
		b.byID[key] = l
	}
	b.mu.Unlock()
	if l.AllowN(now, 1) {
		return int(l.TokensAt(now)), 0, true
	}
	missing := 1 - l.TokensAt(now)
	return 0, time.Duration(missing * 60 / float64(p.PerMinute) * float64(time.Second)), false
}

// Exhausted reports whether Take would fail now.
func (b *Buckets[K]) Exhausted(key K, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.byID[key]
	return l != nil && l.TokensAt(now) < 1
}

// makeRoom removes buckets before one is added. It examines a few, which the
// order of a map picks at random, and removes those that are full again. If there
// are maxBuckets buckets, it also removes the fullest of the examined ones.
//
// So no new client is refused, and an empty bucket is kept: an attacker with thousands
// of addresses or names only pushes out their own buckets, each of which was used a few
// times. To push out one empty bucket they would have to empty 20,000 others first.
func (b *Buckets[K]) makeRoom(now time.Time) {
	if b.byID == nil {
		b.byID = map[K]*rate.Limiter{}
	}
	var fullest K
	least, seen := math.Inf(1), 0
	for key, l := range b.byID {
		switch missing := float64(l.Burst()) - l.TokensAt(now); {
		case missing <= 0:
			delete(b.byID, key)
		case missing < least:
			fullest, least = key, missing
		}
		if seen++; seen == examined {
			break
		}
	}
	if len(b.byID) >= maxBuckets {
		delete(b.byID, fullest)
	}
}

// FailurePace is how often one client may fail to authenticate.
var FailurePace = Pace{30, 30}
