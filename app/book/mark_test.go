package book_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/book"
	"baoco/app/inbound"
	"baoco/app/services"

	"github.com/google/go-cmp/cmp"
)

// shop is a household business with two bank accounts, at a time that its test says.
type shop struct {
	*apptest.World
	books *book.Service
	zone  *time.Location
	now   time.Time
	banks []app.BankAccount
	moves int
}

func newShop(t *testing.T) *shop {
	t.Helper()
	w := apptest.Open(t, apptest.NewFile(t), services.Config{})
	t.Cleanup(w.Close)
	zone := w.Services.Ledger.Zone()
	return &shop{World: w, books: w.Services.Books, zone: zone, now: time.Date(2026, 12, 2, 9, 0, 0, 0, zone),
		banks: []app.BankAccount{w.Link("ACB", "1000"), w.Link("VCB", "2000")}}
}

// move records money in on a bank account, or money out of it where amount is negative.
func (s *shop) move(bank int, at string, amount int64, content string) app.Transaction {
	s.T.Helper()
	s.moves++
	e := inbound.Incoming{EventID: fmt.Sprint("e", s.moves), Gateway: s.banks[bank].Bank, AccountNumber: s.banks[bank].AccountNumber,
		Type: app.In, Amount: amount, Content: content, NotRepeat: true}
	if amount < 0 {
		e.Type, e.Amount = app.Out, -amount
	}
	e.SetDate(at, s.zone)
	t, _, err := s.Services.Inbound.RecordByHand(context.Background(), 1, inbound.TransactionCreate{Incoming: e}, s.now)
	apptest.Must(s.T, err)
	return t
}

func (s *shop) mark(t app.Transaction, m book.Mark) app.Transaction {
	s.T.Helper()
	t, err := s.books.SetMark(s.T.Context(), 1, t.ID, m)
	apptest.Must(s.T, err)
	return t
}

// kinds are what the money in is now, by content.
func (s *shop) kinds() map[string]string {
	kinds := map[string]string{}
	for _, t := range s.Transactions() {
		kinds[t.Content] = t.Revenue
	}
	return kinds
}

// A mark is stronger than a rule, of rules the first holds, and what nobody speaks of is revenue.
func TestKindOfMoney(t *testing.T) {
	s := newShop(t)
	sale := s.move(0, "2026-11-20 10:00:00", 100, "ban hang")
	loan := s.move(0, "2026-11-20 10:01:00", 200, "chị Hai cho VAY")
	s.move(1, "2026-11-20 10:02:00", 300, "luong")
	s.move(1, "2026-11-20 10:03:00", 400, "hoan vay")
	s.move(0, "2026-11-20 10:04:00", -500, "tra no vay")
	want := func(when string, kinds map[string]string) {
		t.Helper()
		if d := cmp.Diff(kinds, s.kinds()); d != "" {
			t.Errorf("%s (-want +got):\n%s", when, d)
		}
	}
	want("nobody has said anything", map[string]string{"ban hang": "", "chị Hai cho VAY": "", "luong": "", "hoan vay": "", "tra no vay": ""})
	s.mark(sale, book.Mark{Kind: book.Revenue})
	apptest.Must(t, s.books.AddRule(t.Context(), 1, book.Rule{Text: "Cho Vay", Kind: book.Loan}))
	apptest.Must(t, s.books.AddRule(t.Context(), 1, book.Rule{Text: "hoàn vay", Kind: book.Refund}))
	apptest.Must(t, s.books.AddRule(t.Context(), 1, book.Rule{BankAccountID: s.banks[1].ID, Kind: book.OwnMoney}))
	want("three rules", map[string]string{"ban hang": "revenue", "chị Hai cho VAY": "loan", "luong": "own_money", "hoan vay": "refund",
		"tra no vay": ""})
	if got := s.mark(loan, book.Mark{Kind: book.Other, Note: " Góp vốn "}); got.Revenue != "other" || got.RevenueNote != "Góp vốn" {
		t.Errorf("%+v", got)
	}
	s.mark(sale, book.Mark{Kind: book.Transfer})
	rules, err := s.books.Rules(t.Context(), 1)
	apptest.Must(t, err)
	apptest.Must(t, s.books.RemoveRule(t.Context(), 1, rules[1].ID))
	want("marked, one rule gone", map[string]string{"ban hang": "transfer", "chị Hai cho VAY": "other", "luong": "own_money",
		"hoan vay": "own_money", "tra no vay": ""})
	s.mark(sale, book.Mark{})
	s.mark(loan, book.Mark{})
	want("marks taken back", map[string]string{"ban hang": "revenue", "chị Hai cho VAY": "loan", "luong": "own_money", "hoan vay": "own_money",
		"tra no vay": ""})
	for _, revenue := range []bool{true, false} {
		page, err := s.Services.Ledger.Transactions(t.Context(), 1, app.TransactionFilter{Revenue: &revenue, Sums: true,
			Page: app.Page{Number: 1, Size: 20}})
		apptest.Must(t, err)
		if want := map[bool]int64{true: 100, false: 900}[revenue]; page.Sums.In.Total != want || page.Sums.Out.Count != 0 {
			t.Errorf("revenue %v: %+v", revenue, page.Sums)
		}
	}
}

// Books, reports and listings by revenue write the rules out in their queries, where a row of a listing looks them up:
// all say the same of every transaction, also where a rule was made or removed between two closings.
func TestRulesOfManyRows(t *testing.T) {
	s := newShop(t)
	for i, at := range []string{"2026-09-30 23:59:59", "2026-10-01 00:00:00", "2026-10-31 23:59:59", "2026-11-20 10:00:00"} {
		for j, content := range []string{"ban hang", "cho vay", "hoàn vay", "it's 100%_", "chuyen noi bo"} {
			s.move(j%2, at, int64(1)<<(5*i+j), content)
		}
		s.move(0, at, -1, "tra no vay")
	}
	add := func(r book.Rule) { apptest.Must(t, s.books.AddRule(t.Context(), 1, r)) }
	remove := func() {
		rules, err := s.books.Rules(t.Context(), 1)
		apptest.Must(t, err)
		apptest.Must(t, s.books.RemoveRule(t.Context(), 1, rules[0].ID))
	}
	check := func(when string) {
		t.Helper()
		want := map[string]int64{} // by month
		var all int64
		for _, one := range s.Transactions() {
			if one.Type == app.In && (one.Revenue == "" || one.Revenue == string(book.Revenue)) {
				want[one.Time.In(s.zone).Format("2006-01")] += one.Amount
				all += one.Amount
			}
		}
		var lines int64
		for _, period := range []string{"2026-09", "2026-10", "2026-11"} {
			b, err := s.books.Book(t.Context(), 1, book.Request{Form: book.S1a, Period: s.period(period), By: book.ByTransaction})
			apptest.Must(t, err)
			var total int64
			apptest.Must(t, b.Each(t.Context(), func(l book.Line) error { total = *l.In; return nil }))
			if lines += total; total != want[period] {
				t.Errorf("%s: book of %s: %b, want %b", when, period, total, want[period])
			}
		}
		asked := book.ReportRequest{First: s.period("2026-09").First, Last: s.period("2026-11").Last, By: book.ByMonth}
		r, err := s.books.Report(t.Context(), 1, asked, s.now)
		apptest.Must(t, err)
		listed, err := s.Services.Ledger.Transactions(t.Context(), 1, app.TransactionFilter{Revenue: new(true), Sums: true,
			Page: app.Page{Number: 1, Size: 1}})
		apptest.Must(t, err)
		if r.Marks && r.Total.Revenue != all || lines != all || listed.Sums.In.Total != all {
			t.Errorf("%s: report %b, books %b, listing %b, want %b", when, r.Total.Revenue, lines, listed.Sums.In.Total, all)
		}
	}
	check("nobody has said anything")
	add(book.Rule{Text: "vay", Kind: book.Loan})
	add(book.Rule{Text: "IT'S 100%_", Kind: book.Other})
	check("two texts")
	s.close("2026-09")
	remove()
	add(book.Rule{BankAccountID: s.banks[1].ID, Kind: book.OwnMoney})
	check("closed once")
	s.close("2026-10")
	remove()
	remove()
	check("no rule is in force")
	add(book.Rule{Text: "noi bo", Kind: book.Transfer})
	check("closed twice")
	s.open()
	check("opened once")
	s.open()
	check("opened twice")
}

func TestRefusedMarks(t *testing.T) {
	s := newShop(t)
	in, out := s.move(0, "2026-11-20 10:00:00", 100, "a"), s.move(0, "2026-11-20 10:00:00", -100, "b")
	other, err := s.Services.Ledger.CreateAccount(t.Context(), "other", s.now)
	apptest.Must(t, err)
	for _, c := range []struct {
		account, id int64
		mark        book.Mark
		code        app.Code
	}{
		{1, out.ID, book.Mark{Kind: book.Loan}, app.CodeConflict}, {1, in.ID, book.Mark{Kind: "gift"}, app.CodeValidation},
		{1, in.ID, book.Mark{Kind: book.Loan, Note: strings.Repeat("ầ", 201)}, app.CodeValidation},
		{1, 999, book.Mark{Kind: book.Loan}, app.CodeNotFound}, {other.ID, in.ID, book.Mark{Kind: book.Loan}, app.CodeNotFound},
	} {
		if _, err := s.books.SetMark(t.Context(), c.account, c.id, c.mark); app.CodeOf(err) != c.code {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, c := range []struct {
		rule book.Rule
		code app.Code
	}{
		{book.Rule{Text: "ab", Kind: book.Loan}, app.CodeValidation}, {book.Rule{Text: "abc", Kind: book.Revenue}, app.CodeValidation},
		{book.Rule{Text: strings.Repeat("a", 101), Kind: book.Loan}, app.CodeValidation},
		{book.Rule{BankAccountID: 999, Kind: book.Loan}, app.CodeValidation},
	} {
		if err := s.books.AddRule(t.Context(), 1, c.rule); app.CodeOf(err) != c.code {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for n := range 40 {
		err := s.books.AddRule(t.Context(), 1, book.Rule{Text: fmt.Sprintf("text %03d", n), Kind: book.Loan})
		if refused := n >= 15; (err != nil) != refused || refused && app.CodeOf(err) != app.CodeLimitReached {
			t.Errorf("rule %d: %v", n, err)
		}
	}
	apptest.Must(t, s.books.AddRule(t.Context(), 1, book.Rule{Text: "TEXT 001", Kind: book.Loan})) // there is one
	if err := s.books.RemoveRule(t.Context(), other.ID, 1); app.CodeOf(err) != app.CodeNotFound {
		t.Error(err)
	}
}

// Money in may be a transfer where as much left another linked account within an hour. It is
// proposed until somebody has said what it is.
func TestPossibleTransfers(t *testing.T) {
	s := newShop(t)
	s.move(0, "2026-11-20 10:00:00", -700, "out")
	in := s.move(1, "2026-11-20 10:20:00", 700, "in")
	s.move(0, "2026-11-21 10:00:00", -800, "out")
	s.move(1, "2026-11-21 11:00:01", 800, "too late")
	s.move(0, "2026-11-22 10:00:00", -900, "out")
	s.move(1, "2026-11-22 11:00:00", 900, "just in time")
	s.move(0, "2026-11-20 10:01:00", 700, "the same account")
	s.move(1, "2026-11-20 10:21:00", 701, "another amount")
	november, err := book.ParsePeriod("2026-11", app.DayOf(s.now, s.zone))
	apptest.Must(t, err)
	found := func() (contents []string) {
		list, err := s.books.PossibleTransfers(t.Context(), 1, november)
		apptest.Must(t, err)
		for _, p := range list {
			contents = append(contents, p.In.Content+" < "+p.Out.Content)
		}
		return contents
	}
	if d := cmp.Diff([]string{"in < out", "just in time < out"}, found()); d != "" {
		t.Error(d)
	}
	for _, bank := range s.banks {
		ctx := access.SeeingOnly(t.Context(), access.BankAccountLimit{On: true, IDs: []int64{bank.ID}})
		if list, err := s.books.PossibleTransfers(ctx, 1, november); err != nil || len(list) > 0 {
			t.Errorf("where only %s is shown: %+v, %v", bank.AccountNumber, list, err)
		}
	}
	s.mark(in, book.Mark{Kind: book.Revenue})
	if got := found(); len(got) != 1 {
		t.Errorf("%q after it was marked", got)
	}
	s.mark(in, book.Mark{})
	apptest.Must(t, s.Services.Ledger.UnlinkBankAccount(t.Context(), 1, s.banks[0].ID, s.now))
	if got := found(); got != nil {
		t.Errorf("%q after one account was unlinked", got)
	}
}

func TestPeriods(t *testing.T) {
	today, err := app.ParseDay("2026-11-20")
	apptest.Must(t, err)
	for text, want := range map[string]string{
		"2026-11": "2026-11-01 2026-11-30 Tháng 11 năm 2026", "2024-02": "2024-02-01 2024-02-29 Tháng 02 năm 2024",
		"2026-Q4": "2026-10-01 2026-12-31 Quý 4 năm 2026", "2026": "2026-01-01 2026-12-31 Năm 2026",
		"2026-12": "", "2027": "", "2026-13": "", "2026-Q5": "", "2026-00": "", "11/2026": "", "": "", "1999": "", "2026-1": "",
	} {
		p, err := book.ParsePeriod(text, today)
		got := ""
		if err == nil {
			got = fmt.Sprint(p.First, " ", p.Last, " ", p.Name().VI)
		} else if app.CodeOf(err) != app.CodeValidation {
			t.Error(err)
		}
		if got != want {
			t.Errorf("%q is %q", text, got)
		}
	}
	if list := book.Periods(today); list[0].String() != "2026" || list[1].String() != "2026-Q4" || list[2].String() != "2026-11" ||
		len(list) != 1+4+11+17 {
		t.Errorf("%v", list)
	}
}
