package book_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/book"
	"baoco/app/paymentcode"
	"baoco/app/services"

	"github.com/google/go-cmp/cmp"
)

// ledger is what a shop has done, kept a second time: a closing copies what it closes.
type ledger struct {
	*shop
	random   *rand.Rand
	rows     []*row
	rules    []rule
	cash     map[app.Day]int64
	openings map[int]book.BankAccount // by place in banks
	closings []closing
	imports  map[int64][]*row
	marked   bool            // somebody has marked something, or made a rule
	refunds  map[int64]int64 // money out, and the money in that it gives back
}

type row struct {
	app.Transaction
	bank   int
	mark   book.Kind
	event  int // the number that move gave it; 0: it is of a file
	closed int // number of the closing whose book it stands in; 0: of none
	fixed  bool
}

type rule struct {
	id   int64
	text string
	bank int64
	kind book.Kind
}

type closing struct {
	through app.Day
	zone    *time.Location
	ends    time.Time
	books   map[string][]string
}

// revenue says what a row is now.
func (l *ledger) revenue(r *row) bool {
	switch {
	case r.Type != app.In:
		return false
	case r.closed > 0:
		return r.fixed
	case r.mark != "":
		return r.mark == book.Revenue
	}
	return !slices.ContainsFunc(l.rules, func(x rule) bool {
		return x.bank == r.BankAccountID || x.text != "" && strings.Contains(r.Content, x.text)
	})
}

// at is when a row stands in the books.
func (l *ledger) at(r *row) time.Time {
	before := len(l.closings)
	if r.closed > 0 {
		before = r.closed - 1
	}
	if before > 0 && r.Time.Before(l.closings[before-1].ends) {
		return l.closings[before-1].ends
	}
	return r.Time
}

// start is the beginning of a day in the books.
func (l *ledger) start(day app.Day) time.Time {
	for _, c := range l.closings {
		if day <= c.through+1 {
			return day.Start(c.zone)
		}
	}
	return day.Start(l.zone)
}

func (l *ledger) pick() *row {
	if len(l.rows) == 0 {
		return nil
	}
	return l.rows[l.random.IntN(len(l.rows))]
}

func (l *ledger) add(t app.Transaction, bank int) *row {
	r := &row{Transaction: t, bank: bank}
	l.rows = append(l.rows, r)
	return r
}

// when is a time up to now, often a boundary.
func (l *ledger) when() string {
	day := day("2024-01-01") + app.Day(l.random.IntN(int(app.DayOf(l.now, l.zone)-day("2024-01-01"))))
	if l.random.IntN(3) == 0 {
		day = (day + 15).MonthStart() - app.Day(l.random.IntN(2)) // the last of a month, or the first
	}
	day = min(day, app.DayOf(l.now, l.zone)-1)
	return day.String() + []string{" 00:00:00", " 23:59:59", " 12:00:00", ""}[l.random.IntN(4)]
}

func (l *ledger) step() {
	t := l.T
	ctx := t.Context()
	l.now = l.now.Add(time.Duration(1+l.random.IntN(30)) * time.Hour)
	switch n := l.random.IntN(100); {
	case n < 45:
		amount := int64(1 + l.random.IntN(1_000_000))
		if l.random.IntN(3) == 0 {
			amount = -amount
		}
		bank := l.random.IntN(2)
		l.add(l.move(bank, l.when(), amount, []string{"DH1234", "KHA1B2C", "cho vay", "luong"}[l.random.IntN(4)]), bank).event = l.moves
	case n < 50: // told again
		if r := l.pick(); r != nil && r.event > 0 {
			moves, amount := l.moves, r.Amount
			if r.Type == app.Out {
				amount = -amount
			}
			l.moves = r.event - 1
			if again := l.move(r.bank, app.FormatTime(r.Time, l.zone), amount, r.Content); again.ID != r.ID {
				t.Errorf("%d was recorded again as %d", r.ID, again.ID)
			}
			l.moves = moves
		}
	case n < 62:
		if r := l.pick(); r != nil {
			kind := []book.Kind{"", book.Revenue, book.Loan, book.Other}[l.random.IntN(4)]
			_, err := l.books.SetMark(ctx, 1, r.ID, book.Mark{Kind: kind})
			switch want := r.Type == app.In && (r.closed == 0 || kind == r.mark); {
			case want != (err == nil):
				t.Errorf("mark %q of %+v: %v", kind, r, err)
			case want:
				l.marked = l.marked || kind != r.mark
				r.mark = kind
			}
		}
	case n < 66:
		r := book.Rule{Text: []string{"vay", "luong"}[l.random.IntN(2)], Kind: book.Loan}
		if l.random.IntN(4) == 0 {
			r = book.Rule{BankAccountID: l.banks[1].ID, Kind: book.OwnMoney}
		}
		apptest.Must(t, l.books.AddRule(ctx, 1, r))
		l.marked = true
		l.readRules()
	case n < 69:
		if len(l.rules) > 0 {
			apptest.Must(t, l.books.RemoveRule(ctx, 1, l.rules[l.random.IntN(len(l.rules))].id))
			l.readRules()
		}
	case n < 74:
		c := book.Cash{Day: min(day(l.when()[:10]), app.DayOf(l.now, l.zone)), Amount: int64(l.random.IntN(3)) * 1000}
		err := l.books.SetCash(ctx, 1, c, l.now)
		if closed := len(l.closings) > 0 && c.Day <= l.closings[len(l.closings)-1].through; closed != (err != nil) {
			t.Errorf("cash of %s: %v", c.Day, err)
		} else if !closed {
			l.cash[c.Day] = c.Amount
		}
	case n < 79:
		first := len(l.rows)
		var newest int64
		for _, r := range l.rows {
			newest = max(newest, r.ID)
		}
		id := l.importFile(l.when(), l.when())
		page, err := l.Services.Ledger.Transactions(ctx, 1, app.TransactionFilter{SinceID: &newest, Page: app.Page{Number: 1, Size: 10}})
		apptest.Must(t, err)
		for _, recorded := range page.Rows {
			l.add(recorded, 0)
		}
		l.imports[id] = slices.Clone(l.rows[first:])
	case n < 83:
		for id, rows := range l.imports {
			apptest.Must(t, l.Services.Inbound.UndoImport(ctx, 1, id, l.now))
			l.rows = slices.DeleteFunc(l.rows, func(r *row) bool { return r.closed == 0 && slices.Contains(rows, r) })
			maps.DeleteFunc(l.refunds, func(out, in int64) bool {
				return !slices.ContainsFunc(l.rows, func(r *row) bool { return r.ID == out }) ||
					!slices.ContainsFunc(l.rows, func(r *row) bool { return r.ID == in })
			})
			delete(l.imports, id)
			break
		}
	case n < 90:
		l.closeOne()
	case n < 95:
		if n := len(l.closings); n > 0 {
			l.open()
			l.closings = l.closings[:n-1]
			for _, r := range l.rows {
				if r.closed == n {
					r.closed = 0
				}
			}
		}
	case n < 98:
		l.refund()
	default:
		l.zone, _ = time.LoadLocation([]string{"Asia/Ho_Chi_Minh", "Pacific/Auckland", "America/Los_Angeles", "Asia/Kathmandu"}[l.random.IntN(4)])
		apptest.Must(t, l.Store.SetZone(ctx, l.zone.String()))
		l.Services = apptest.Over(t, l.Store, services.Config{})
		l.books = l.Services.Books
	}
}

func (l *ledger) readRules() {
	list, err := l.books.Rules(l.T.Context(), 1)
	apptest.Must(l.T, err)
	l.rules = nil
	for _, r := range list {
		l.rules = append(l.rules, rule{r.ID, r.Text, r.BankAccountID, r.Kind})
	}
}

// closeOne closes a month or a quarter that is over, if it isn't closed.
func (l *ledger) closeOne() {
	texts := []string{"2024-01", "2024-02", "2024-03", "2024-Q1", "2024-04"}
	p, err := book.ParsePeriod(texts[l.random.IntN(len(texts))], app.DayOf(l.now, l.zone))
	if err != nil || p.Last >= app.DayOf(l.now, l.zone) || len(l.closings) > 0 && l.closings[len(l.closings)-1].through >= p.Last {
		return
	}
	before := l.all()
	c, err := l.books.Close(l.T.Context(), 1, p, "", l.now)
	apptest.Must(l.T, err)
	l.want("closing changes nothing", nil, diff(before, l.all()))
	kept := closing{c.Through, l.zone, c.EndsAt, map[string][]string{}}
	for _, r := range l.rows {
		if r.closed == 0 && r.Time.Before(c.EndsAt) {
			r.fixed = l.revenue(r)
			r.closed = len(l.closings) + 1
		}
	}
	l.closings = append(l.closings, kept)
	for name, lines := range l.all() {
		if p, _ := book.ParsePeriod(strings.Fields(name)[1], app.DayOf(l.now, l.zone)); p.Last <= c.Through {
			kept.books[name] = lines
		}
	}
}

// all are the lines of all books.
func (l *ledger) all() map[string][]string {
	books := map[string][]string{}
	for _, text := range []string{"2024-01", "2024-02", "2024-03", "2024-04", "2024-Q1", "2024"} {
		if p, err := book.ParsePeriod(text, app.DayOf(l.now, l.zone)); err == nil {
			books["s1a "+p.String()] = l.lines(book.S1a, text, book.ByTransaction)
			books["s2e "+p.String()] = l.lines(book.S2e, text, "")
		}
	}
	return books
}

func diff(a, b map[string][]string) []string {
	if d := cmp.Diff(a, b); d != "" {
		return []string{d}
	}
	return nil
}

// check counts every book anew.
func (l *ledger) check() {
	for name, got := range l.all() {
		form, text, _ := strings.Cut(name, " ")
		p, err := book.ParsePeriod(text, app.DayOf(l.now, l.zone))
		apptest.Must(l.T, err)
		from, to := l.start(p.First), l.start(p.Last+1)
		in := func(r *row) bool { at := l.at(r); return !at.Before(from) && at.Before(to) }
		if form == "s1a" {
			var total int64
			for _, r := range l.rows {
				if in(r) && l.revenue(r) {
					total += r.Amount
				}
			}
			for day, amount := range l.cash {
				if day >= p.First && day <= p.Last {
					total += amount
				}
			}
			l.want(name, []string{fmt.Sprint("- | Total | ", total)}, got[len(got)-1:])
			continue
		}
		var want []string
		for i, b := range l.banks {
			o, known := l.openings[i]
			since := l.start(o.OpenedOn)
			balance, ins, outs, any := o.Opening, int64(0), int64(0), false
			for _, r := range l.rows {
				switch {
				case r.bank != i || known && r.Time.Before(since):
				case in(r) && r.Type == app.In:
					ins, any = ins+r.Amount, true
				case in(r):
					outs, any = outs+r.Amount, true
				case l.at(r).Before(from) && r.Type == app.In:
					balance += r.Amount
				case l.at(r).Before(from):
					balance -= r.Amount
				}
			}
			if known {
				want = append(want, fmt.Sprintf("%s: %d + %d - %d = %d", b.AccountNumber, balance, ins, outs, balance+ins-outs))
			} else if any {
				want = append(want, fmt.Sprintf("%s: - + %d - %d = -", b.AccountNumber, ins, outs))
			}
		}
		l.want(name, want, balances(got))
	}
	for _, c := range l.closings {
		l.want("closed books", nil, diff(c.books, l.only(c.books)))
	}
}

func (l *ledger) only(books map[string][]string) map[string][]string {
	all := l.all()
	for name := range all {
		if books[name] == nil {
			delete(all, name)
		}
	}
	return all
}

// balances are what a book of banks says of each account.
func balances(lines []string) (list []string) {
	var account, opening, in, out string
	for _, line := range lines {
		c := strings.Split(line, " | ")
		switch {
		case c[3] == "-" && c[4] == "-" && !strings.HasPrefix(c[2], "Balance"):
			account = c[2][strings.LastIndex(c[2], " ")+1:]
		case c[2] == "Balance at the beginning":
			opening = c[3]
		case c[2] == "Total of the period":
			in, out = c[3], c[4]
		case c[2] == "Balance at the end":
			list = append(list, fmt.Sprintf("%s: %s + %s - %s = %s", account, opening, in, out, c[3]))
		}
	}
	return list
}

// Whatever a shop does in four months with a leap day, in whatever order: the books and reports say what its
// rows say, and those that are closed don't change.
func TestBooksOracle(t *testing.T) {
	for seed := range uint64(apptest.Rounds(6, 500)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			l := &ledger{shop: newShop(t), random: rand.New(rand.NewPCG(seed, 37)), cash: map[app.Day]int64{},
				openings: map[int]book.BankAccount{}, imports: map[int64][]*row{}, refunds: map[int64]int64{}}
			l.now = time.Date(2024, 1, 20, 9, 0, 0, 0, l.zone)
			o := book.BankAccount{BankAccount: l.banks[0], HasOpening: true, OpenedOn: day("2024-01-01"), Opening: int64(l.random.IntN(10_000_000))}
			apptest.Must(t, l.books.SetOpening(t.Context(), 1, o, l.now))
			l.openings[0] = o
			for _, prefix := range []string{"DH", "KH"} {
				_, err := l.Services.Ledger.CreateCodePattern(t.Context(), 1,
					paymentcode.Pattern{Prefix: prefix, Least: 4, Most: 6, Alphabet: paymentcode.LettersAndDigits}, l.now)
				apptest.Must(t, err)
			}
			for n := range 150 {
				if l.step(); n%30 == 29 {
					l.check()
				}
				if n%5 == 4 {
					l.checkReport()
				}
			}
		})
	}
}
