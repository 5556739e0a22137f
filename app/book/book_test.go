package book_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/book"
	"baoco/app/inbound"

	"github.com/google/go-cmp/cmp"
)

func (s *shop) period(text string) book.Period {
	s.T.Helper()
	p, err := book.ParsePeriod(text, app.DayOf(s.now, s.zone))
	apptest.Must(s.T, err)
	return p
}

// lines are those of a book, each as a text.
func (s *shop) lines(form book.Form, period string, by book.Grouping) (list []string) {
	s.T.Helper()
	b, err := s.books.Book(s.T.Context(), 1, book.Request{Form: form, Period: s.period(period), By: by})
	apptest.Must(s.T, err)
	amount := func(n *int64) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprint(*n)
	}
	apptest.Must(s.T, b.Each(s.T.Context(), func(l book.Line) error {
		day := "-"
		if l.Day != 0 {
			day = l.Day.String()[5:]
		}
		columns := []string{l.Document, day, l.Text.EN, amount(l.In), amount(l.Out)}
		if form == book.S1a {
			columns = columns[1:4]
		}
		list = append(list, strings.Join(columns, " | "))
		return nil
	}))
	return list
}

func (s *shop) want(what string, want, got []string) {
	s.T.Helper()
	if d := cmp.Diff(want, got); d != "" {
		s.T.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func (s *shop) close(period string) {
	s.T.Helper()
	_, err := s.books.Close(s.T.Context(), 1, s.period(period), "lan", s.now)
	apptest.Must(s.T, err)
}

func (s *shop) open() {
	s.T.Helper()
	last, err := s.books.LastClosing(s.T.Context(), 1)
	apptest.Must(s.T, err)
	_, err = s.books.OpenBooks(s.T.Context(), 1, last.Through)
	apptest.Must(s.T, err)
}

func day(text string) app.Day {
	d, err := app.ParseDay(text)
	if err != nil {
		panic(err)
	}
	return d
}

func TestBookOfRevenue(t *testing.T) {
	s := newShop(t)
	s.move(0, "2026-10-31 23:59:59", 1, "october")
	s.move(0, "2026-11-01 00:00:00", 100, "DH1")
	s.move(1, "2026-11-01 08:00:00", 200, "DH2")
	s.mark(s.move(0, "2026-11-01 09:00:00", 5000, "vay"), book.Mark{Kind: book.Loan})
	s.move(0, "2026-11-01 10:00:00", -50, "tra hang")
	s.move(0, "2026-11-03", 400, "DH3")
	s.move(0, "2026-11-30 23:59:59", 800, "DH4")
	s.move(0, "2026-12-01 00:00:00", 2, "december")
	apptest.Must(t, s.books.SetCash(t.Context(), 1, book.Cash{Day: day("2026-11-02"), Amount: 70, Note: "chợ"}, s.now))
	apptest.Must(t, s.books.SetCash(t.Context(), 1, book.Cash{Day: day("2026-11-03"), Amount: 30}, s.now))
	s.want("by transaction", []string{"11-01 | DH1 | 100", "11-01 | DH2 | 200", "11-02 | Sales for cash: chợ | 70",
		"11-03 | DH3 | 400",
		"11-03 | Sales for cash | 30", "11-30 | DH4 | 800", "- | Total | 1600"}, s.lines(book.S1a, "2026-11", book.ByTransaction))
	s.want("by day", []string{"11-01 | Sales by bank transfer (2) | 300", "11-02 | Sales for cash: chợ | 70",
		"11-03 | Sales by bank transfer (1) | 400", "11-03 | Sales for cash | 30", "11-30 | Sales by bank transfer (1) | 800",
		"- | Total | 1600"}, s.lines(book.S1a, "2026-11", book.ByDay))
	s.want("by day and account", []string{"11-01 | Sales by transfer to ACB 1000 (1) | 100",
		"11-01 | Sales by transfer to Vietcombank 2000 (1) | 200"},
		s.lines(book.S1a, "2026-11", book.ByDayAccount)[:2])
	s.want("a quarter", []string{"10-31 | october | 1", "- | Total | 1603"}, func() []string {
		all := s.lines(book.S1a, "2026-Q4", book.ByTransaction)
		return []string{all[0], all[len(all)-1]}
	}())
	apptest.Must(t, s.books.SetCash(t.Context(), 1, book.Cash{Day: day("2026-11-02")}, s.now))
	if got := s.lines(book.S1a, "2026-11", book.ByDay); got[len(got)-1] != "- | Total | 1530" {
		t.Errorf("%q without the cash of a day", got)
	}
}

func TestBookOfMoneyAtBanks(t *testing.T) {
	s := newShop(t)
	s.move(0, "2026-11-05 10:00:00", 100, "in")
	s.move(0, "2026-11-06 10:00:00", -30, "out")
	s.want("without an opening balance", []string{" | - | ACB 1000 | - | -", " | - | Balance at the beginning | - | -",
		"BC1 | 11-05 | in | 100 | -",
		"BC2 | 11-06 | out | - | 30", " | - | Total of the period | 100 | 30", " | - | Balance at the end | - | -"},
		s.lines(book.S2e, "2026-11", ""))
	opening := book.BankAccount{BankAccount: s.banks[0], HasOpening: true, OpenedOn: day("2026-10-01"), Opening: 1000}
	apptest.Must(t, s.books.SetOpening(t.Context(), 1, opening, s.now))
	s.move(0, "2026-10-20 10:00:00", 7, "october")
	told := func(at string, amount, balance int64) {
		e := inbound.Incoming{EventID: at, Gateway: "ACB", AccountNumber: "1000", Number: "FT" + at[8:10], Type: app.In,
			Amount:  amount,
			Content: "told", Balance: balance, NotRepeat: true}
		e.SetDate(at, s.zone)
		_, err := s.Services.Inbound.RecordTransactions(t.Context(), inbound.Call{AccountID: 1, Source: s.Native(),
			Channel: app.ChannelCall,
			Body:    []byte("{}"), ReceivedAt: s.now, Elements: []inbound.Incoming{e}})
		apptest.Must(t, err)
	}
	told("2026-11-07 10:00:00", 3, 1080) // as the book has it
	told("2026-11-08 10:00:00", 1, 1581) // 500 came that nobody told
	told("2026-11-09 10:00:00", 1, 1582) // still so
	s.want("with it", []string{" | - | ACB 1000 | - | -", " | - | Balance at the beginning | 1007 | -",
		"BC1 | 11-05 | in | 100 | -",
		"BC2 | 11-06 | out | - | 30", "FT07 | 11-07 | told | 3 | -",
		"FT08 | 11-08 | told [the bank reported a balance of 1,581, by this book it is 1,081] | 1 | -", "FT09 | 11-09 | told | 1 | -",
		" | - | Total of the period | 105 | 30", " | - | Balance at the end | 1082 | -"}, s.lines(book.S2e, "2026-11", ""))
	s.want("the month of the opening", []string{" | - | ACB 1000 | - | -", " | 10-01 | Balance at the beginning | 1000 | -"},
		s.lines(book.S2e, "2026-10", "")[:2])
	s.want("the next month", []string{" | - | ACB 1000 | - | -", " | - | Balance at the beginning | 1082 | -",
		" | - | Total of the period | 0 | 0",
		" | - | Balance at the end | 1082 | -"}, s.lines(book.S2e, "2026-12", ""))
}

// What comes after a closing and is of the time before stands in the next book, with its date.
// Nothing else of a closed book changes.
func TestClosedBook(t *testing.T) {
	s := newShop(t)
	apptest.Must(t, s.books.SetHeading(t.Context(), 1, book.Heading{Name: "Hộ A", TaxCode: "0123456789-001"}))
	opening := book.BankAccount{BankAccount: s.banks[0], HasOpening: true, OpenedOn: day("2026-10-01"), Opening: 1000}
	apptest.Must(t, s.books.SetOpening(t.Context(), 1, opening, s.now))
	apptest.Must(t, s.books.AddRule(t.Context(), 1, book.Rule{Text: "vay", Kind: book.Loan}))
	sale := s.move(0, "2026-10-20 10:00:00", 100, "DH1")
	s.move(0, "2026-10-21 10:00:00", 900, "vay")
	s.move(0, "2026-11-02 10:00:00", 200, "DH2")
	before := [][]string{s.lines(book.S1a, "2026-10", book.ByTransaction), s.lines(book.S2e, "2026-10", "")}
	s.close("2026-10")
	unchanged := func(what string) {
		t.Helper()
		s.want(what, before[0], s.lines(book.S1a, "2026-10", book.ByTransaction))
		s.want(what, before[1], s.lines(book.S2e, "2026-10", ""))
	}
	unchanged("closed")

	late := s.move(0, "2026-10-25 10:00:00", 40, "late")
	s.move(0, "2026-10-26 10:00:00", -5, "late out")
	s.move(0, "2026-10-26 11:00:00", 6, "late DH1 vay")
	rules, err := s.books.Rules(t.Context(), 1)
	apptest.Must(t, err)
	apptest.Must(t, s.books.RemoveRule(t.Context(), 1, rules[0].ID))
	apptest.Must(t, s.books.AddRule(t.Context(), 1, book.Rule{Text: "DH1", Kind: book.Other}))
	apptest.Must(t, s.books.SetHeading(t.Context(), 1, book.Heading{Name: "Hộ B"}))
	apptest.Must(t, s.Services.Ledger.SetBankAccountLabel(t.Context(), 1, s.banks[0].ID, app.BankAccountLabel{Nickname: "quầy"}))
	apptest.Must(t, s.Store.SetZone(t.Context(), "Pacific/Auckland"))
	apptest.Must(t, s.Store.SetZone(t.Context(), s.zone.String()))
	for what, refused := range map[string]error{
		"mark": func() error {
			_, err := s.books.SetMark(t.Context(), 1, sale.ID, book.Mark{Kind: book.Loan})
			return err
		}(),
		"cash":    s.books.SetCash(t.Context(), 1, book.Cash{Day: day("2026-10-31"), Amount: 5}, s.now),
		"opening": s.books.SetOpening(t.Context(), 1, book.BankAccount{BankAccount: s.banks[0]}, s.now),
		"other opening": s.books.SetOpening(t.Context(), 1,
			book.BankAccount{BankAccount: s.banks[1], HasOpening: true, OpenedOn: day("2026-10-31"), Opening: 5}, s.now),
	} {
		if refused != book.ErrClosed {
			t.Errorf("%s: %v", what, refused)
		}
	}
	unchanged("after all that")
	november := []string{"11-01 | (dated 25/10/2026, recorded after that book was closed) late | 40", "11-02 | DH2 | 200",
		"- | Total | 240"}
	s.want("the next book", november, s.lines(book.S1a, "2026-11", book.ByTransaction))
	s.want("the next book by day", november[:1], s.lines(book.S1a, "2026-11", book.ByDay)[:1])
	s.want("the next book of banks", []string{" | - | Balance at the beginning | 2000 | -",
		"BC4 | 11-01 | (dated 25/10/2026, recorded after that book was closed) late | 40 | -"}, s.lines(book.S2e, "2026-11", "")[1:3])
	closings, err := s.books.Closings(t.Context(), 1)
	apptest.Must(t, err)
	if c := closings[0]; c.Heading.Name != "Hộ A" || c.ClosedBy != "lan" || c.Through.String() != "2026-10-31" {
		t.Errorf("%+v", c)
	}
	b, err := s.books.Book(t.Context(), 1, book.Request{Form: book.S1a, Period: s.period("2026-10"), By: book.ByDay})
	apptest.Must(t, err)
	if b.Closed == nil || b.Heading.Name != "Hộ A" || b.Text.Basis.VI != "Mẫu số S1a-HKD, Thông tư 152/2025/TT-BTC" {
		t.Errorf("%+v", b)
	}
	s.mark(late, book.Mark{Kind: book.Refund}) // it stands in an open book
	s.open()
	s.want("opened again, by the rules of now", []string{"10-21 | vay | 900", "- | Total | 900"}, s.lines(book.S1a,
		"2026-10", book.ByTransaction))
	if _, err := s.books.OpenBooks(t.Context(), 1, day("2026-10-31")); err != book.ErrNoneClosed {
		t.Error(err)
	}
}

// What came late for a closed book stays late when the next one is closed too.
func TestLateOfTwoClosings(t *testing.T) {
	s := newShop(t)
	s.close("2026-09")
	s.move(0, "2026-09-30 10:00:00", 1, "late of september")
	s.close("2026-10")
	s.move(0, "2026-09-29 10:00:00", 2, "later of september")
	s.move(0, "2026-10-05 10:00:00", 4, "late of october")
	totals := func() (list []string) {
		for _, period := range []string{"2026-09", "2026-10", "2026-11", "2026"} {
			lines := s.lines(book.S1a, period, book.ByTransaction)
			list = append(list, period+" "+lines[len(lines)-1])
		}
		return list
	}
	s.want("totals", []string{"2026-09 - | Total | 0", "2026-10 - | Total | 1", "2026-11 - | Total | 6",
		"2026 - | Total | 7"}, totals())
	s.open()
	s.want("october open again", []string{"2026-09 - | Total | 0", "2026-10 - | Total | 7", "2026-11 - | Total | 0",
		"2026 - | Total | 7"}, totals())
}

// What happened before the opening balance is in it, also where it comes late.
func TestLateBeforeTheOpening(t *testing.T) {
	s := newShop(t)
	opening := book.BankAccount{BankAccount: s.banks[0], HasOpening: true, OpenedOn: day("2026-10-01"), Opening: 1000}
	apptest.Must(t, s.books.SetOpening(t.Context(), 1, opening, s.now))
	s.close("2026-10")
	s.move(0, "2026-09-30 10:00:00", 50, "before")
	s.move(0, "2026-10-01 00:00:00", 7, "after")
	got := s.lines(book.S2e, "2026-11", "")
	s.want("november", []string{" | - | Total of the period | 7 | 0", " | - | Balance at the end | 1007 | -"}, got[len(got)-2:])
}

func TestRefusedBooks(t *testing.T) {
	s := newShop(t)
	s.close("2026-10")
	for what, c := range map[string]struct {
		err  error
		code app.Code
	}{
		"form": {func() error {
			_, err := s.books.Book(t.Context(), 1, book.Request{Form: "s2a", Period: s.period("2026-11"), By: book.ByDay})
			return err
		}(), app.CodeValidation},
		"grouping": {func() error {
			_, err := s.books.Book(t.Context(), 1, book.Request{Form: book.S1a, Period: s.period("2026-11"), By: "week"})
			return err
		}(), app.CodeValidation},
		"a period that isn't over": {func() error {
			_, err := s.books.Close(t.Context(), 1, s.period("2026-12"), "", s.now)
			return err
		}(), app.CodeValidation},
		"closed already": {func() error {
			_, err := s.books.Close(t.Context(), 1, s.period("2026-Q3"), "",
				s.now)
			return err
		}(), app.CodeConflict},
		"closed just now": {func() error {
			_, err := s.books.Close(t.Context(), 1, s.period("2026-10"), "", s.now)
			return err
		}(), app.CodeConflict},
		"on the last day": {func() error {
			_, err := s.books.Close(t.Context(), 1, s.period("2026-11"), "", s.now.AddDate(0, 0, -2))
			return err
		}(), app.CodeValidation},
		"another closing than was shown": {func() error {
			_, err := s.books.OpenBooks(t.Context(), 1, day("2026-09-30"))
			return err
		}(), app.CodeConflict},
		"opening beyond the bound": {s.books.SetOpening(t.Context(), 1, book.BankAccount{BankAccount: s.banks[0], HasOpening: true,
			OpenedOn: day("2026-12-01"), Opening: app.MaxAmount + 1}, s.now), app.CodeValidation},
		"debts beyond the bound": {s.books.SetOpening(t.Context(), 1, book.BankAccount{BankAccount: s.banks[0], HasOpening: true,
			OpenedOn: day("2026-12-01"), Opening: -app.MaxAmount - 1}, s.now), app.CodeValidation},
		"cash of tomorrow": {s.books.SetCash(t.Context(), 1, book.Cash{Day: day("2026-12-03"), Amount: 5}, s.now),
			app.CodeValidation},
		"cash below zero": {s.books.SetCash(t.Context(), 1, book.Cash{Day: day("2026-12-01"), Amount: -5}, s.now),
			app.CodeValidation},
		"opening of nothing": {s.books.SetOpening(t.Context(), 1, book.BankAccount{HasOpening: true,
			OpenedOn: day("2026-12-01")}, s.now),
			app.CodeValidation},
		"opening of tomorrow": {s.books.SetOpening(t.Context(), 1, book.BankAccount{BankAccount: s.banks[0], HasOpening: true,
			OpenedOn: day("2026-12-03")}, s.now), app.CodeValidation},
	} {
		if app.CodeOf(c.err) != c.code {
			t.Errorf("%s: %v", what, c.err)
		}
	}
	for code, ok := range map[string]bool{"0123456789": true, "0123456789-001": true, "0123456789001": true, "": true,
		"012345678":    false,
		"012345678901": false, "01234567890-01": false, "012345678x": false, "0123456789-01": false} {
		if err := s.books.SetHeading(t.Context(), 1, book.Heading{TaxCode: code}); (err == nil) != ok {
			t.Errorf("tax code %q: %v", code, err)
		}
	}
}

// Undoing an import leaves what stands in a closed book.
func TestUndoneImport(t *testing.T) {
	s := newShop(t)
	id := s.importFile("2026-10-20", "2026-11-20")
	s.close("2026-10")
	u, err := s.Services.Inbound.Undoable(t.Context(), 1, id, s.now)
	apptest.Must(t, err)
	if u.ClosedCount != 1 || u.In.Count != 1 {
		t.Errorf("%+v", u)
	}
	apptest.Must(t, s.Services.Inbound.UndoImport(t.Context(), 1, id, s.now))
	s.want("october", []string{"10-20 | of a file | 5", "- | Total | 5"}, s.lines(book.S1a, "2026-10", book.ByTransaction))
	s.want("november", []string{"- | Total | 0"}, s.lines(book.S1a, "2026-11", book.ByTransaction))
}

// importFile imports money in of some days from a statement.
func (s *shop) importFile(days ...string) int64 {
	s.T.Helper()
	i, err := s.Services.Inbound.NewImport(s.T.Context(), inbound.ImportOptions{AccountID: 1, BankAccountID: s.banks[0].ID, File: "a.csv"})
	apptest.Must(s.T, err)
	var rows []inbound.Incoming
	for _, at := range days {
		s.moves++
		e := inbound.Incoming{Number: fmt.Sprint("F", s.moves), Gateway: "ACB", AccountNumber: "1000", Type: app.In, Amount: 5,
			Content: "of a file"}
		e.SetDate(at, s.zone)
		rows = append(rows, e)
	}
	_, err = i.Add(s.T.Context(), rows, s.now)
	apptest.Must(s.T, err)
	return i.ID()
}

// A book of more lines than are read at a time has each once, also where all are of one moment or came late.
func TestBookOfManyLines(t *testing.T) {
	s := newShop(t)
	const lines = 2001
	days := make([]string, lines)
	for i := range days {
		days[i] = "2026-10-20"
	}
	s.importFile(days...)
	check := func(what, period string) {
		t.Helper()
		for form, want := range map[book.Form]string{book.S1a: "- | Total | 10005", book.S2e: " | - | Total of the period | 10005 | 0"} {
			list := s.lines(form, period, book.ByTransaction)
			if count := strings.Count(strings.Join(list, "\n"), "of a file"); count != lines {
				t.Errorf("%s, %s: %d lines", what, form, count)
			}
			if !slices.Contains(list, want) {
				t.Errorf("%s, %s: %q", what, form, list[len(list)-2:])
			}
		}
	}
	check("of one day", "2026-10")
	s.close("2026-09")
	days = days[:0]
	for range lines {
		days = append(days, "2026-09-20")
	}
	s.importFile(days...)
	s.close("2026-10")
	list := s.lines(book.S1a, "2026-10", book.ByTransaction)
	if got := list[len(list)-1]; got != "- | Total | 20010" {
		t.Errorf("those of a day and those that came late: %s", got)
	}
}

// Who is limited to a receiving number hears in a book of no balance, which is of the whole bank account, and changes no cash.
func TestBookWithinAReceivingNumber(t *testing.T) {
	s := newShop(t)
	_, err := s.Services.Ledger.SetBankAccountReceiving(t.Context(), 1, s.banks[0].ID, app.BankAccountReceiving{ReceivingNumbers: "96A\n96B"})
	apptest.Must(t, err)
	apptest.Must(t, s.books.SetOpening(t.Context(), 1, book.BankAccount{BankAccount: s.banks[0], HasOpening: true,
		OpenedOn: day("2026-11-01"), Opening: 7_000_000}, s.now))
	for i, number := range []string{"96A", "96B"} {
		e := inbound.Incoming{EventID: number, Gateway: "ACB", AccountNumber: number, Type: app.In, Amount: 500 + int64(i), Content: number,
			Balance: 8_000_000}
		e.SetDate("2026-11-20 10:00:00", s.zone)
		_, _, err := s.Services.Inbound.RecordByHand(t.Context(), 1, inbound.TransactionCreate{Incoming: e}, s.now)
		apptest.Must(t, err)
	}
	ctx := access.SeeingOnly(t.Context(), access.BankAccountLimit{On: true, IDs: []int64{s.banks[0].ID}, ReceivingNumber: "96A"})
	b, err := s.books.Book(ctx, 1, book.Request{Form: book.S2e, Period: s.period("2026-11")})
	apptest.Must(t, err)
	var amounts []int64
	apptest.Must(t, b.Each(ctx, func(l book.Line) error {
		if strings.Contains(l.Text.EN, "bank reported") {
			t.Errorf("it tells a balance: %s", l.Text.EN)
		}
		if l.In != nil {
			amounts = append(amounts, *l.In)
		}
		return nil
	}))
	if !slices.Equal(amounts, []int64{500, 500}) { // of the line and the total
		t.Errorf("it shows %d", amounts)
	}
	if list, err := s.books.BookAccounts(ctx, 1); err != nil || list[0].HasOpening || list[0].Opening != 0 {
		t.Errorf("the bank account: %+v, %v", list, err)
	}
	entries, err := s.Store.Entries(ctx, 1, book.EntryQuery{Stretch: book.Stretch{To: s.now, UntilID: 9}, Limit: 9})
	if err != nil || len(entries) != 1 || entries[0].Balance != 0 {
		t.Errorf("the entries: %+v, %v", entries, err)
	}
	if err := s.books.SetCash(ctx, 1, book.Cash{Day: day("2026-11-20"), Amount: 5}, s.now); app.CodeOf(err) != app.CodeForbidden {
		t.Errorf("cash: %v", err)
	}
}
