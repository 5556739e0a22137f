package dashboard

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"baoco/app"
)

// Live rows: a page holds one stream of server-sent events open. The server
// looks for what is new a few times a second, once for all accounts however many
// pages are open, and only while one is. What another process records arrives
// the same way.

const (
	liveInterval = 250 * time.Millisecond
	liveRows     = 50 // of one event; what is older is on the page
)

// watchers tells streams of news: a channel of each is closed once there is
// some.
type watchers struct {
	mu      sync.Mutex
	streams int // that wait for news
	stop    context.CancelFunc
	newest  app.NewestIDs
	changed chan struct{}
	round   int64 // counts the changes
}

// join makes the first stream's look-out.
func (w *watchers) join(look func(ctx context.Context) (app.NewestIDs, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.streams++; w.streams == 1 {
		var ctx context.Context
		ctx, w.stop = context.WithCancel(context.Background())
		w.changed = make(chan struct{})
		go w.run(ctx, look)
	}
}

func (w *watchers) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.streams--; w.streams == 0 {
		w.stop()
	}
}

func (w *watchers) run(ctx context.Context, look func(ctx context.Context) (app.NewestIDs, error)) {
	tick := time.NewTicker(liveInterval)
	defer tick.Stop()
	for {
		newest, err := look(ctx)
		w.mu.Lock()
		if err == nil && newest != w.newest {
			w.newest = newest
			w.round++
			close(w.changed)
			w.changed = make(chan struct{})
		}
		w.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// news is closed once there is something new after the round that it names.
func (w *watchers) news() (changed <-chan struct{}, round int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed, w.round
}

// last is what there was at the last look.
func (w *watchers) last() app.NewestIDs {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.newest
}

// liveAddress is the stream that goes on where a page was made: n is how far the
// file had got before the page read its rows.
func liveAddress(n app.NewestIDs) string {
	return livePrefix + "transactions?since=" + position{n.TransactionID, n.AttemptID}.String()
}

// newsAddress is the stream that says whether there are transactions that a page
// hasn't, which goes on showing what it does.
func newsAddress(n app.NewestIDs, values url.Values) string {
	values = onlyFilter(values)
	values.Set("since", position{n.TransactionID, 0}.String())
	return livePrefix + "transactions/new?" + values.Encode()
}

// position is how far a stream has come: a transaction and an attempt.
type position struct{ transaction, attempt int64 }

func (p position) String() string {
	return strconv.FormatInt(p.transaction, 10) + "-" + strconv.FormatInt(p.attempt, 10)
}

func parsePosition(text string) (p position, ok bool) {
	transaction, attempt, _ := strings.Cut(text, "-")
	var errs [2]error
	p.transaction, errs[0] = strconv.ParseInt(transaction, 10, 64)
	p.attempt, errs[1] = strconv.ParseInt(attempt, 10, 64)
	return p, errs[0] == nil && errs[1] == nil && p.transaction >= 0 && p.attempt >= 0
}

// position is where a stream goes on: where its connection broke, or where its
// page was made.
func (v *visit) position() (position, error) {
	at, ok := parsePosition(v.Header.Get("Last-Event-Id"))
	if !ok {
		if at, ok = parsePosition(v.URL.Query().Get("since")); !ok {
			return at, app.InvalidField("since", "must be a position", "phải là một vị trí")
		}
	}
	return at, nil
}

// liveTransactions streams the rows of new transactions, and the states of
// deliveries that were attempted.
func (s *Server) liveTransactions(v *visit) error {
	at, err := v.position()
	if err != nil {
		return err
	}
	return s.follow(v, at, func(stream *stream, at position) (position, error) { return s.sendNews(v, stream, at) })
}

// liveNewTransactions says how many transactions came since a page was made, or
// under a filter that some did, with a link to the first page. It never moves
// what somebody reads.
func (s *Server) liveNewTransactions(v *visit) error {
	since, err := v.position()
	if err != nil {
		return err
	}
	values := onlyFilter(v.URL.Query())
	to := html.EscapeString("/transactions?" + values.Encode())
	told := int64(0)
	return s.follow(v, since, func(stream *stream, at position) (position, error) {
		n, last, err := s.Service.TransactionsSince(v.Context(), v.account.ID, at.transaction)
		next := position{max(at.transaction, last), at.attempt}
		if told += n; err != nil || n == 0 {
			return next, err
		}
		text := v.T("There are new transactions: show", "Có giao dịch mới: xem")
		if len(values) == 0 {
			text = v.Count(told, "new transaction: show", "new transactions: show", "giao dịch mới: xem")
		} else if told > n {
			return next, nil // it says so already
		}
		// A connection that broke counts from the page again.
		return next, stream.send(since.String(), `<a class="pill pending" href="`+to+`">`+text+`</a>`)
	})
}

// follow has send send what there is after a position, and again whenever
// there is news, for as long as the visitor may see it.
func (s *Server) follow(v *visit, at position, send func(stream *stream, at position) (position, error)) error {
	stream, err := s.openStream(v, streamHolder{account: v.account.ID, user: v.user.ID}, func() error { return s.stillMay(v) })
	if err != nil {
		return err
	}
	defer stream.close()
	here := func() error { return stream.write(": here\n\n") }
	for {
		changed, round := s.watchers.news()
		stream.round = round
		next, err := send(stream, at)
		switch {
		case stream.broken:
			return nil // the page connects anew
		case err != nil: // of the storage
			changed, next = after(storageRetry), at
		case next != at:
			changed = after(0) // there may be more
		}
		at = next
		if err := here(); err != nil {
			return nil
		}
		if err := stream.wait(changed, here); err != nil {
			return nil
		}
	}
}

// sendNews sends what there is after a position: new rows, newest first, and
// what became of deliveries. It gives the position after it.
func (s *Server) sendNews(v *visit, stream *stream, at position) (position, error) {
	n := s.bulletins.of(bulletinKey{v.account.ID, v.Lang, v.URL.Query().Has("sums"), v.owner(), at, stream.round})
	n.once.Do(func() { n.html, n.next, n.err = s.readNews(v, at) })
	if n.err != nil { // of another stream, perhaps
		n = &bulletin{}
		n.html, n.next, n.err = s.readNews(v, at)
	}
	if n.err != nil || n.html == "" {
		return n.next, n.err
	}
	return n.next, stream.send(n.next.String(), n.html)
}

// bulletin is what streams of one account, in one language, that have come
// equally far are told in a round: it is made once for all of them.
type bulletin struct {
	once sync.Once
	html string
	next position
	err  error
}

type bulletinKey struct {
	accountID int64
	lang      app.Lang
	sums      bool // those of the overview, too
	owner     bool // whose sums have links
	at        position
	round     int64
}

// bulletins are those of the latest round.
type bulletins struct {
	mu    sync.Mutex
	round int64
	list  map[bulletinKey]*bulletin
}

func (b *bulletins) of(key bulletinKey) *bulletin {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.list == nil || key.round > b.round {
		b.round, b.list = key.round, map[bulletinKey]*bulletin{}
	}
	one := b.list[key]
	if one == nil {
		one = &bulletin{}
		if key.round == b.round && len(b.list) < maxStreams {
			b.list[key] = one
		}
	}
	return one
}

// readNews renders what there is after a position. A page can't change the
// state of a row that comes with the same event: so the attempts are looked up
// first, and the row is read with all that became of it by then.
func (s *Server) readNews(v *visit, at position) (string, position, error) {
	ids, last, err := s.Service.SettledSince(v.Context(), v.account.ID, at.attempt)
	if err != nil {
		return "", at, err
	}
	rows, _, err := s.transactionRows(v, app.TransactionFilter{SinceID: &at.transaction, Page: app.Page{Number: 1, Size: liveRows}})
	if err != nil {
		return "", at, err
	}
	w := v.at(time.Now())
	var html bytes.Buffer
	for _, row := range slices.Backward(rows) {
		if err := templates.ExecuteTemplate(&html, "transaction-row", rowView{w, row}); err != nil {
			return "", at, err
		}
		at.transaction = max(at.transaction, row.ID)
	}
	deliveries, err := s.Service.DeliveriesOf(v.Context(), v.account.ID, ids)
	if err != nil {
		return "", at, err
	}
	for id, list := range deliveries {
		fmt.Fprintf(&html, `<hx-partial hx-target="#tx-%d-state" hx-swap="innerHTML">`, id)
		if err := templates.ExecuteTemplate(&html, "delivery-pills", rowView{w, transactionRow{Deliveries: list}}); err != nil {
			return "", at, err
		}
		html.WriteString("</hx-partial>")
	}
	at.attempt = last
	if v.URL.Query().Has("sums") && html.Len() > 0 {
		err = s.writeSums(v, &html, w)
	}
	return html.String(), at, err
}

// writeSums renders the figures of the overview as they are now.
func (s *Server) writeSums(v *visit, html *bytes.Buffer, w words) error {
	page := view{words: w, Owner: v.owner()}
	var sums overviewSums
	if _, err := s.readSums(v, &sums, app.DayOf(w.now, v.zone), w.now); err != nil {
		return err
	}
	page.Data = sums
	html.WriteString(`<hx-partial hx-target="#sums" hx-swap="innerHTML">`)
	if err := templates.ExecuteTemplate(html, "sums", page); err != nil {
		return err
	}
	html.WriteString("</hx-partial>")
	return nil
}
