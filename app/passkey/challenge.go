package passkey

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"sync"
	"time"
)

// ChallengeTime is how long a challenge may be answered.
const ChallengeTime = 5 * time.Minute

// maxUsed bounds the challenges that are remembered. Only those that a passkey has
// signed are.
const maxUsed = 10_000

// Challenges makes challenges, and knows its own again: each holds when it ends, and is
// signed with a key of this process. So nothing is kept for strangers who ask for one
// and never answer. The zero value is ready.
type Challenges struct {
	once sync.Once
	key  [sha256.Size]byte

	mu   sync.Mutex
	used map[string]time.Time // what a challenge begins with, until it ends
}

const (
	endSize   = 8
	nonceSize = 16
)

func (c *Challenges) sum(head []byte, subject string) []byte {
	c.once.Do(func() { _, _ = rand.Read(c.key[:]) }) // never fails
	mac := hmac.New(sha256.New, c.key[:])
	mac.Write(head)
	mac.Write([]byte(subject))
	return mac.Sum(nil)
}

// New makes a challenge. subject is what may be done with the answer.
func (c *Challenges) New(subject string, now time.Time) []byte {
	head := make([]byte, endSize+nonceSize)
	binary.BigEndian.PutUint64(head, uint64(now.Add(ChallengeTime).Unix()))
	_, _ = rand.Read(head[endSize:]) // never fails
	return append(head, c.sum(head, subject)...)
}

// Use tells whether New made a challenge for a subject, and it hasn't ended. It is
// true once for a challenge. The challenge is in base64url, as browsers repeat it.
func (c *Challenges) Use(challenge, subject string, now time.Time) bool {
	b, err := base64.RawURLEncoding.DecodeString(challenge)
	if err != nil || len(b) != endSize+nonceSize+sha256.Size {
		return false
	}
	head := b[:endSize+nonceSize]
	end := time.Unix(int64(binary.BigEndian.Uint64(head)), 0)
	if !hmac.Equal(b[len(head):], c.sum(head, subject)) || !now.Before(end) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for other, end := range c.used {
		if !now.Before(end) {
			delete(c.used, other)
		}
	}
	if _, before := c.used[string(head)]; before || len(c.used) >= maxUsed {
		return false
	}
	if c.used == nil {
		c.used = map[string]time.Time{}
	}
	c.used[string(head)] = end
	return true
}
