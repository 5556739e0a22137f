package dashboard

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/payment"
	"baoco/app/stream"
	"baoco/web/wire"
)

func (s *Server) liveCounter(v *visit) error {
	return s.sendCounter(v, ownCounter(v), nil, eventStreamHolder{account: v.account.ID, user: v.user.ID},
		func() error { return s.stillAllowed(v) })
}

func (s *Server) liveCounterLink(v *visit, link payment.CounterLink) error {
	token := v.PathValue("token")
	return s.sendCounter(v, link, nil, eventStreamHolder{account: link.AccountID, link: link.ID}, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), wire.RequestTimeout)
		defer cancel()
		_, err := s.Services.Payments.CounterLink(ctx, token)
		if app.CodeOf(err) == app.CodeNotFound {
			return wire.ErrRevoked
		}
		return err
	})
}

// sendCounter streams the money that comes in on a counter or a till, until allowed
// returns wire.ErrRevoked. Its events are:
//   - money: the card of a new transaction
//   - removed: the ids of cards to remove, with spaces between them
//   - matched: the card of a transaction whose match by hand was made or undone
//   - total: the line of counterTotal
//   - bill and bills: the bill that a till shows, and the list of its bills
//   - test: a test payment, which is no money
//   - alive: the server's time in unix seconds; the screen removes old cards by it, and
//     notices a connection that died silently
//   - ended: the screen goes dark
func (s *Server) sendCounter(v *visit, link payment.CounterLink, till *tillStream, holder eventStreamHolder, allowed func() error) error {
	since, err := strconv.ParseInt(v.Header.Get("Last-Event-Id"), 10, 64) // the browser connects again
	if err != nil || since < 0 {
		if since, err = strconv.ParseInt(v.URL.Query().Get("since"), 10, 64); err != nil || since < 0 {
			return app.InvalidField("since", "must be a position", "phải là một vị trí")
		}
	}
	stream, err := s.openEventStream(v, holder, allowed)
	if err != nil {
		return err
	}
	defer stream.close()
	c := counterStream{Server: s, v: v, link: link, till: till, stream: stream, since: since, seen: -1,
		changes: -1, matched: map[int64]string{}, tests: s.tests.of(link.AccountID)}
	if err := stream.alive(); err != nil {
		return nil
	}
	for {
		var changed <-chan struct{}
		c.newest, _, changed = s.changes.State()
		most := liveBeat
		if tests := s.tests.of(link.AccountID); tests != c.tests {
			if err := stream.Event("test", "", ""); err != nil {
				return nil
			}
			c.tests = tests
		}
		for _, send := range []func() error{c.sendMoney, c.sendMatched, c.sendRemoved, c.sendBills} {
			if err := send(); stream.Broken {
				return nil // the screen connects again
			} else if err != nil { // the storage failed
				most = storageRetry
			}
		}
		if err := stream.wait(changed, most, c.beat); err != nil {
			return nil
		}
	}
}

// counterStream is one open counter screen.
type counterStream struct {
	*Server
	v       *visit
	link    payment.CounterLink
	till    *tillStream // nil: a counter
	stream  *eventStream
	newest  delivery.NewestIDs // as they were when the last round began
	since   int64              // the newest transaction that was sent or left out
	changes int64              // newest.PaymentChanges when the matches were read
	matched map[int64]string   // the matches by hand that were sent, by transaction
	seen    int64              // the newest transaction of all accounts when the cards were read
	removed int64              // the removals up to this number were sent
	total   string             // the line of counterTotal that was sent last
	tests   int                // how many test payments the account had when the last was sent
}

// sendMoney sends all cards that are new, oldest first.
func (c *counterStream) sendMoney() error {
	if c.newest.TransactionID == c.seen { // only attempts are new
		return nil
	}
	for {
		now := time.Now()
		list, err := c.Services.Payments.CounterTransactions(c.v.Context(), c.link, c.since, now)
		if err != nil {
			return err
		}
		account, err := c.Services.Ledger.Account(c.v.Context(), c.link.AccountID)
		if err != nil {
			return err
		}
		for _, card := range c.v.at(now).counterCards(list, account, c.till != nil) {
			if c.till != nil {
				if shows, err := c.tillShows(c.v, c.till.userID, card.Transaction); err != nil {
					return err
				} else if !shows {
					c.since = card.ID
					continue
				}
			}
			if err := c.stream.part("card", "money", strconv.FormatInt(card.ID, 10), card); err != nil {
				return err
			}
			c.since = card.ID
		}
		if len(list) < payment.CounterRows {
			if err = c.sendTotal(); err == nil {
				c.seen = c.newest.TransactionID
			}
			return err
		}
	}
}

// sendMatched sends the card of each transaction that was matched by hand, once, and again when
// the match is undone. If a match is another cashier's, the till removes its card.
func (c *counterStream) sendMatched() error {
	if c.newest.PaymentChanges == c.changes {
		return nil
	}
	now := time.Now()
	list, err := c.Services.Payments.CounterMatches(c.v.Context(), c.link, now)
	if err != nil {
		return err
	}
	account, err := c.Services.Ledger.Account(c.v.Context(), c.link.AccountID)
	if err != nil {
		return err
	}
	last := map[int64]bool{}
	for _, m := range list {
		last[m.ID] = true
		match := fmt.Sprint(m.PaymentRequest.ID, " ", m.MatchedAt.Unix())
		if c.matched[m.ID] == match {
			continue
		}
		if err := c.sendMatch(m, account, now); err != nil {
			return err
		}
		c.matched[m.ID] = match
	}
	for id := range c.matched {
		if last[id] {
			continue
		}
		t, err := c.Services.Ledger.Transaction(c.v.Context(), c.link.AccountID, id)
		if err != nil && app.CodeOf(err) != app.CodeNotFound {
			return err
		}
		if err == nil && t.PaymentRequest.ID == 0 {
			if err := c.sendMatch(payment.Transfer{Transaction: t}, account, now); err != nil {
				return err
			}
		}
		delete(c.matched, id)
	}
	c.changes = c.newest.PaymentChanges
	return nil
}

func (c *counterStream) sendMatch(m payment.Transfer, account app.Account, now time.Time) error {
	if c.till != nil {
		if shows, err := c.tillShows(c.v, c.till.userID, m.Transaction); err != nil {
			return err
		} else if !shows {
			return c.stream.Event("removed", "", strconv.FormatInt(m.ID, 10))
		}
	}
	return c.stream.part("card", "matched", "", c.v.at(now).matchedCard(m, account, c.till != nil))
}

// maxRemovals is how many removals are sent at most to a screen that connects.
const maxRemovals = 100

// sendRemoved sends the ids of cards whose transactions were removed.
func (c *counterStream) sendRemoved() error {
	newest := c.newest.Removals
	c.removed = max(c.removed, newest-maxRemovals)
	of := stream.Stream{AccountID: c.link.AccountID, BankAccountID: c.link.BankAccountID, Type: delivery.WebhookIn}
	for c.removed < newest {
		ids, passed, err := c.Services.Streams.RemovedTransactions(c.v.Context(), of, c.removed, c.since)
		if err != nil {
			return err
		}
		if len(ids) > 0 {
			if err := c.stream.Event("removed", "", strings.Trim(fmt.Sprint(ids), "[]")); err != nil {
				return err
			}
		}
		if passed == c.removed { // the newer ones are of other accounts
			passed = newest
		}
		c.removed = passed
	}
	return nil
}

func (c *counterStream) sendTotal() error {
	total, err := c.counterTotal(c.v, c.link, c.till, time.Now())
	if err != nil || total == c.total {
		return err
	}
	c.total = total
	return c.stream.Event("total", "", total)
}

// beat sends alive, and the line of counterTotal if it changed, as it does at midnight. If
// the storage can't read the line, it can't read the money either: then beat sends nothing,
// and the screen says that it has no connection.
func (c *counterStream) beat() error {
	err := c.sendTotal()
	if err != nil && !c.stream.Broken {
		return nil
	}
	if err != nil {
		return err
	}
	return c.stream.alive()
}
