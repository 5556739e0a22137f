package courier

import (
	"crypto/tls"
	"net/http/httptrace"
	"sync"
	"time"

	"baoco/app/delivery"
)

// phase is how far an attempt has come. The zero value is before all phases; it stays
// with a stand-in for the network, which reports none.
type phase int

const (
	dnsPhase phase = 1 + iota
	connectPhase
	tlsPhase
	responsePhase
)

var phaseCauses = [...]delivery.Cause{delivery.CauseResponse, delivery.CauseDNS, delivery.CauseConnect, delivery.CauseTLS,
	delivery.CauseResponse}

// phaseClock takes the times of an attempt's phases. Package net calls it from
// goroutines that may outlive the attempt: it tries two addresses at once and gives up
// the slower one. Events of a phase before the present one are ignored.
type phaseClock struct {
	mu    sync.Mutex
	phase phase
	began time.Time // the phase
	ended bool      // the phase has ended without an error
	took  [responsePhase + 1]time.Duration
}

// at calls fn with the time, one call at a time.
func (c *phaseClock) at(fn func(now time.Time)) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	fn(now)
}

// begin enters a phase that is further than the present one.
func (c *phaseClock) begin(p phase) {
	c.at(func(now time.Time) {
		if p > c.phase {
			c.phase, c.began, c.ended = p, now, false
		}
	})
}

// end notes how long the present phase took. One that failed stays the present one: it
// may still succeed, with another address.
func (c *phaseClock) end(p phase, err error) {
	c.at(func(now time.Time) {
		if p == c.phase && !c.ended {
			c.took[p], c.ended = now.Sub(c.began), err == nil
		}
	})
}

func (c *phaseClock) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		DNSStart:          func(httptrace.DNSStartInfo) { c.begin(dnsPhase) },
		DNSDone:           func(info httptrace.DNSDoneInfo) { c.end(dnsPhase, info.Err) },
		ConnectStart:      func(_, _ string) { c.begin(connectPhase) },
		ConnectDone:       func(_, _ string, err error) { c.end(connectPhase, err) },
		TLSHandshakeStart: func() { c.begin(tlsPhase) },
		TLSHandshakeDone:  func(_ tls.ConnectionState, err error) { c.end(tlsPhase, err) },
		GetConn:           func(string) { c.at(func(time.Time) { c.phase = 0 }) }, // a new connection, perhaps in place of a kept one
		GotConn:           func(httptrace.GotConnInfo) { c.begin(responsePhase) },
		WroteRequest: func(httptrace.WroteRequestInfo) {
			c.at(func(now time.Time) {
				if c.phase == responsePhase {
					c.began = now
				}
			})
		},
	}
}

// phases returns how long each phase took. One that hasn't ended is counted until now:
// so the wait for an answer includes all of its headers.
func (c *phaseClock) phases() (p delivery.Phases) {
	c.at(func(now time.Time) {
		took := c.took
		if c.phase > 0 && !c.ended {
			took[c.phase] = now.Sub(c.began)
		}
		p = delivery.Phases{DNS: took[dnsPhase], Connect: took[connectPhase], TLS: took[tlsPhase], Wait: took[responsePhase]}
	})
	return p
}

// reached names the last phase that began.
func (c *phaseClock) reached() (cause delivery.Cause) {
	c.at(func(time.Time) { cause = phaseCauses[c.phase] })
	return cause
}
