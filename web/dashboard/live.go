package dashboard

import (
	"bytes"
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

// liveRows is how many rows one event has at most; older ones are on the page.
const liveRows = 50

// liveAddress is the address of the stream of new rows. n holds the newest ids,
// read before the page read its rows, so that the stream misses none.
func liveAddress(n app.NewestIDs) string {
	return livePrefix + "transactions?since=" + position{n.TransactionID, n.AttemptID}.String()
}

// liveNewAddress is the address of the stream that says how many transactions
// came since a page was made. The rows of the page stay as they are.
func liveNewAddress(n app.NewestIDs, values url.Values) string {
	values = filterOf(values, transactionFilters)
	values.Set("since", position{n.TransactionID, 0}.String())
	return linkTo(livePrefix+"transactions/new", values)
}

// position is how far a stream has come: the ids of the newest transaction and
// the newest attempt that it has sent.
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

// position is where a stream begins: after the last event before its connection
// broke, or where its page was made.
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
// deliveries whose attempts have ended.
func (s *Server) liveTransactions(v *visit) error {
	at, err := v.position()
	if err != nil {
		return err
	}
	return s.follow(v, at, func(stream *stream, at position) (position, error) { return s.sendRows(v, stream, at) })
}

// liveNewTransactions streams a link to the first page, with how many
// transactions came since a page was made. Under a filter it only says that some
// came, and says so once. The rows that somebody reads never move.
func (s *Server) liveNewTransactions(v *visit) error {
	since, err := v.position()
	if err != nil {
		return err
	}
	values := filterOf(v.URL.Query(), transactionFilters)
	to := html.EscapeString(linkTo("/transactions", values))
	count := int64(0)
	return s.follow(v, since, func(stream *stream, at position) (position, error) {
		n, last, err := s.Service.TransactionsSince(v.Context(), v.account.ID, at.transaction)
		next := position{max(at.transaction, last), at.attempt}
		if count += n; err != nil || n == 0 {
			return next, err
		}
		text := v.T("There are new transactions: show", "Có giao dịch mới: xem")
		if len(values) == 0 {
			text = v.Count(count, "new transaction: show", "new transactions: show", "giao dịch mới: xem")
		} else if count > n {
			return next, nil // it says so already
		}
		// A connection that broke counts from the page again.
		return next, stream.send(since.String(), `<a class="pill pending" href="`+to+`">`+text+`</a>`)
	})
}

// follow opens a stream and calls send at once and after every change, for as
// long as the visitor may see it. send writes what is newer than a position and
// returns the position after it.
func (s *Server) follow(v *visit, at position, send func(stream *stream, at position) (position, error)) error {
	stream, err := s.openStream(v, streamHolder{account: v.account.ID, user: v.user.ID}, func() error { return s.stillAllowed(v) })
	if err != nil {
		return err
	}
	defer stream.close()
	here := func() error { return stream.write(": here\n\n") }
	for {
		changed, version := s.changes.changed()
		stream.version = version
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

// sendRows sends new rows, newest first, and changed states of deliveries, all
// after a position. It returns the position after them.
func (s *Server) sendRows(v *visit, stream *stream, at position) (position, error) {
	r := s.rendered.get(renderKey{v.account.ID, v.Lang, v.URL.Query().Has("sums"), v.owner(), at, stream.version})
	r.once.Do(func() { r.html, r.next, r.err = s.renderRows(v, at) })
	if r.err != nil { // perhaps because the visitor of another stream has gone
		r = &rendered{}
		r.html, r.next, r.err = s.renderRows(v, at)
	}
	if r.err != nil || r.html == "" {
		return r.next, r.err
	}
	return r.next, stream.send(r.next.String(), r.html)
}

// rendered is HTML that is rendered once for all streams with the same key.
type rendered struct {
	once sync.Once
	html string
	next position
	err  error
}

type renderKey struct {
	accountID int64
	lang      app.Lang
	sums      bool // the overview's sums are part of it
	owner     bool // only an owner's sums have links
	at        position
	version   int64 // of the change feed
}

// renderCache holds what was rendered of the latest version.
type renderCache struct {
	mu      sync.Mutex
	version int64
	entries map[renderKey]*rendered
}

// get returns the entry of a key, a new one where there is none. The entry of an
// older version isn't kept.
func (c *renderCache) get(key renderKey) *rendered {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil || key.version > c.version {
		c.version, c.entries = key.version, map[renderKey]*rendered{}
	}
	entry := c.entries[key]
	if entry == nil {
		entry = &rendered{}
		if key.version == c.version && len(c.entries) < maxStreams {
			c.entries[key] = entry
		}
	}
	return entry
}

// renderRows renders the rows and states after a position. The browser can't
// change the state of a row that comes with the same event. So the attempts are
// looked up first, and each new row is read with the state that it has by then.
func (s *Server) renderRows(v *visit, at position) (string, position, error) {
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
