package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"baoco/app"
)

// counterLook is how often an open counter screen looks whether it may still
// be open.
const counterLook = 400 * time.Millisecond

// streamsPerLink is how many screens may be open with one link: whoever has it
// can't take the streams of all others.
const streamsPerLink = 20

// tally counts what is open, by id.
type tally struct {
	mu   sync.Mutex
	open map[int64]int
}

func (t *tally) take(id int64, most int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		t.open = map[int64]int{}
	}
	if t.open[id] >= most {
		return false
	}
	t.open[id]++
	return true
}

func (t *tally) give(id int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open[id]--; t.open[id] == 0 {
		delete(t.open, id)
	}
}

var errEnded = errors.New("the screen may not be open any more")

func (s *Server) liveCounter(v *visit) error {
	return s.streamCounter(v, ownCounter(v), func(ctx context.Context) error {
		if u, err := s.signedIn(ctx); err != nil || u.ID == 0 {
			return errors.Join(err, errEnded)
		}
		return nil
	})
}

func (s *Server) liveCounterLink(v *visit) error {
	token := v.PathValue("token")
	link, err := s.service.CounterLink(v.Context(), token)
	if err != nil {
		return err
	}
	if !s.counterStreams.take(link.ID, streamsPerLink) {
		return app.Unavailable(fmt.Errorf("%d screens are open with counter link %d", streamsPerLink, link.ID))
	}
	defer s.counterStreams.give(link.ID)
	return s.streamCounter(v, link, func(ctx context.Context) error {
		_, err := s.service.CounterLink(ctx, token)
		if app.CodeOf(err) == app.CodeNotFound {
			return errEnded
		}
		return err
	})
}

// streamCounter sends what comes in on a counter for as long as it may be
// open; may tells, with errEnded where the screen should go dark. The events:
// money, a card; total, the line about today; alive, the server's time in unix
// seconds, so that the screen notices a connection that died silently and lets
// go of cards that have grown old; ended, before it goes dark.
func (s *Server) streamCounter(v *visit, link app.CounterLink, may func(context.Context) error) error {
	since, err := strconv.ParseInt(v.Header.Get("Last-Event-Id"), 10, 64) // of a connection that broke
	if err != nil || since < 0 {
		if since, err = strconv.ParseInt(v.URL.Query().Get("since"), 10, 64); err != nil || since < 0 {
			return app.InvalidField("since", "must be a position", "phải là một vị trí")
		}
	}
	if !s.watchers.join(s.service.Newest) {
		return app.Unavailable(fmt.Errorf("%d live pages are open", maxStreams))
	}
	defer s.watchers.leave()
	c := counterStream{Server: s, v: v, link: link, stream: newStream(v), since: since, seen: -1, beat: time.NewTicker(liveHeartbeat)}
	defer c.beat.Stop()
	if err := c.alive(); err != nil {
		return nil
	}
	for {
		changed, _ := s.watchers.news()
		newest := s.watchers.last()
		if may(v.Context()) == errEnded {
			_ = c.stream.event("ended", "", "")
			return nil
		}
		if newest.TransactionID != c.seen { // else the news were of something else
			if err := c.sendMoney(); err != nil {
				return nil // the screen connects anew
			}
			c.seen = newest.TransactionID
		}
		if err := c.wait(changed, may); err != nil {
			if errors.Is(err, errEnded) {
				_ = c.stream.event("ended", "", "")
			}
			return nil
		}
	}
}

// counterStream is one open counter screen.
type counterStream struct {
	*Server
	v      *visit
	link   app.CounterLink
	stream *stream
	since  int64  // the newest card on the screen
	seen   int64  // the newest transaction of all, when the cards were read
	total  string // as it was sent
	beat   *time.Ticker
}

// sendMoney sends all cards that are new, oldest first.
func (c *counterStream) sendMoney() error {
	for {
		cards, err := c.counterCards(c.v, c.link, &c.since, time.Now())
		if err != nil {
			return err
		}
		for _, card := range cards {
			var html bytes.Buffer
			if err := templates.ExecuteTemplate(&html, "card", card); err != nil {
				return err
			}
			if err := c.stream.event("money", strconv.FormatInt(card.ID, 10), html.String()); err != nil {
				return err
			}
			c.since = card.ID
		}
		if len(cards) < app.CounterRows {
			return c.sendTotal()
		}
	}
}

func (c *counterStream) sendTotal() error {
	total, err := c.counterTotal(c.v, c.link, time.Now())
	if err != nil || total == c.total {
		return err
	}
	c.total = total
	return c.stream.event("total", "", total)
}

func (c *counterStream) alive() error {
	return c.stream.event("alive", "", strconv.FormatInt(time.Now().Unix(), 10))
}

// wait waits for news.
func (c *counterStream) wait(changed <-chan struct{}, may func(context.Context) error) error {
	look := time.NewTicker(counterLook)
	defer look.Stop()
	for {
		select {
		case <-c.v.Context().Done():
			return c.v.Context().Err()
		case <-c.closing:
			return context.Canceled
		case <-changed:
			return nil
		case <-look.C:
			if err := may(c.v.Context()); err != nil {
				return err
			}
		case <-c.beat.C:
			if err := errors.Join(c.sendTotal(), c.alive()); err != nil {
				return err
			}
		}
	}
}
