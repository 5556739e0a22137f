package web

import (
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxBuckets bounds the memory of a limiter: beyond it the buckets that are
// full again are let go of, and then all of them.
const maxBuckets = 20_000

// buckets are token buckets by key: each as large as its limit, filled within
// a minute.
type buckets[K comparable] struct {
	mu   sync.Mutex
	byID map[K]*rate.Limiter
}

// take takes a token. It gives how many whole ones remain, and where there was
// none, how long until there is.
func (b *buckets[K]) take(key K, perMinute int, now time.Time) (remaining int, wait time.Duration, ok bool) {
	b.mu.Lock()
	l := b.byID[key]
	if l == nil {
		b.makeRoom(now)
		l = rate.NewLimiter(rate.Limit(float64(perMinute)/60), perMinute)
		b.byID[key] = l
	}
	b.mu.Unlock()
	if l.AllowN(now, 1) {
		return int(l.TokensAt(now)), 0, true
	}
	missing := 1 - l.TokensAt(now)
	return 0, time.Duration(missing * 60 / float64(perMinute) * float64(time.Second)), false
}

// exhausted tells whether take would fail now.
func (b *buckets[K]) exhausted(key K, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.byID[key]
	return l != nil && l.TokensAt(now) < 1
}

func (b *buckets[K]) makeRoom(now time.Time) {
	if b.byID == nil {
		b.byID = map[K]*rate.Limiter{}
	}
	if len(b.byID) < maxBuckets {
		return
	}
	for key, l := range b.byID {
		if l.TokensAt(now) >= float64(l.Burst()) {
			delete(b.byID, key)
		}
	}
	if len(b.byID) >= maxBuckets {
		clear(b.byID)
	}
}

// keyRoute is a bucket of the management API.
type keyRoute struct {
	apiKey int64
	route  string
}

// failuresPerMinute is how often one address may fail to authenticate.
const failuresPerMinute = 30

// clientAddr is whom failures are counted against: the peer itself, an IPv6
// one with its whole /64. What a header says of it could be anybody's word.
func clientAddr(r *http.Request) netip.Prefix {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Prefix{}
	}
	addr = addr.Unmap().WithZone("")
	bits := 32
	if addr.Is6() {
		bits = 64
	}
	prefix, _ := addr.Prefix(bits)
	return prefix
}
