package book

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"baoco/app"
)

// Grouping says which transactions make one line of the book of revenue, or one row of a report.
type Grouping string

// The groupings.
const (
	ByTransaction Grouping = "transaction"
	ByDay         Grouping = "day"
	ByDayAccount  Grouping = "day-account"
)

// Request is a request for a book.
type Request struct {
	Form   Form
	Period Period
	By     Grouping // only for S1a
}

// Book is a book of a period, whose lines are read by Each.
type Book struct {
	Request
	Text    FormText
	Heading Heading
	Closed  *Closing // nil: the period isn't closed

	service   *Service
	accountID int64
	calendar  calendar
	from, to  time.Time
	accounts  []BankAccount
}

// Line is a line of a book. Day is 0 for a line without a day, and an amount that isn't shown is nil.
type Line struct {
	Kind     LineKind
	Document string
	Day      app.Day
	Text     app.Text
	In, Out  *int64
	ID       int64 // the id of the transaction; 0: none, or several
}

// LineKind is the kind of a line.
type LineKind byte

// The kinds of lines.
const (
	Item    LineKind = iota
	Account          // the name of a bank account, above its lines
	Sum              // a balance or a total
)

// Book returns the book of a period.
func (s *Service) Book(ctx context.Context, accountID int64, r Request) (*Book, error) {
	text, err := formOf(r.Form, r.Period.First)
	if err != nil {
		return nil, err
	}
	if r.Form == S1a && r.By != ByTransaction && r.By != ByDay && r.By != ByDayAccount {
		return nil, app.InvalidField("by", "must be transaction, day or day-account", "phải là transaction, day hoặc day-account")
	}
	b := &Book{Request: r, Text: text, service: s, accountID: accountID, calendar: calendar{zone: s.zone}}
	if b.calendar.closings, err = s.Closings(ctx, accountID); err != nil {
		return nil, err
	}
	if closing, closed := b.calendar.closed(r.Period); closed {
		b.Closed, b.Heading = &closing, closing.Heading
	} else if b.Heading, err = s.Heading(ctx, accountID); err != nil {
		return nil, err
	}
	b.from, b.to = b.calendar.start(r.Period.First), b.calendar.start(r.Period.Last+1)
	b.accounts, err = s.BookAccounts(ctx, accountID)
	return b, err
}

// Each passes the lines to take, one after another. It keeps no query of the store open while
// take runs. An error of take ends it.
func (b *Book) Each(ctx context.Context, take func(Line) error) error {
	if b.Form == S1a {
		return b.revenue(ctx, take)
	}
	for _, account := range b.accounts {
		if err := b.account(ctx, account, take); err != nil {
			return err
		}
	}
	return nil
}

// Entry is the part of a transaction that a book needs.
type Entry struct {
	ID            int64
	BankAccountID int64
	Number        string
	Type          app.Direction
	Amount        int64
	Content       string
	Time          time.Time
	DateOnly      bool
	Balance       int64 // the balance that the bank reported with it; 0: none
}

// EntryQuery is a part of a stretch.
type EntryQuery struct {
	Stretch
	BankAccountID int64 // 0: all
	Revenue       bool  // only money in that is revenue
	Limit         int
}

// entryPage is how many entries are read at a time.
const entryPage = 1000

// entries passes the entries of a stretch to take, each with its day in the book.
func (b *Book) entries(ctx context.Context, q EntryQuery, take func(e Entry, day app.Day) error) error {
	for q.Limit = entryPage; ; {
		list, err := b.service.store.Entries(ctx, b.accountID, q)
		if err != nil {
			return err
		}
		for _, e := range list {
			day := q.day
			if !q.Late {
				day = app.DayOf(e.Time, q.zone)
			}
			if err := take(e, day); err != nil {
				return err
			}
		}
		if len(list) < entryPage {
			return nil
		}
		q.Stretch = q.after(list[len(list)-1])
	}
}

// text describes an entry. The text of a late entry has the day on which it happened.
func (st Stretch) text(e Entry) app.Text {
	if !st.Late {
		return app.Text{EN: e.Content, VI: e.Content}
	}
	at := e.Time.In(st.zone)
	return app.Textf("(dated %s, recorded after that book was closed) %s", "(phát sinh ngày %s, ghi nhận sau khi chốt sổ) %s",
		at.Format("02/01/2006"), e.Content)
}

// revenue passes the lines of S1a to take: the revenue of each day, then the cash of the day, and
// the total. Each late entry has its own line in every grouping.
func (b *Book) revenue(ctx context.Context, take func(Line) error) error {
	cash, err := b.service.Cash(ctx, b.accountID, b.Period.First, b.Period.Last)
	if err != nil {
		return err
	}
	var total int64
	put := func(l Line, amount int64) error {
		total += amount
		l.In = &amount
		return take(l)
	}
	day, sums := app.Day(0), map[int64]app.Amounts{} // the sums of day by bank account; 0 for all
	endDays := func(until app.Day) error {           // writes the sums and the cash of the days before until
		for _, account := range append(b.accounts, BankAccount{}) {
			if sum, has := sums[account.ID]; has {
				if err := put(Line{Day: day, Text: dayText(account, sum.Count)}, sum.Total); err != nil {
					return err
				}
			}
		}
		clear(sums)
		for ; len(cash) > 0 && cash[0].Day < until; cash = cash[1:] {
			if err := put(Line{Day: cash[0].Day, Text: cashText(cash[0].Note)}, cash[0].Amount); err != nil {
				return err
			}
		}
		return nil
	}
	for _, st := range b.calendar.stretches(b.from, b.to) {
		err := b.entries(ctx, EntryQuery{Stretch: st, Revenue: true}, func(e Entry, at app.Day) error {
			if at != day {
				if err := endDays(at); err != nil {
					return err
				}
			}
			day = at
			if b.By == ByTransaction || st.Late {
				return put(Line{Day: at, Text: st.text(e), ID: e.ID}, e.Amount)
			}
			of := e.BankAccountID
			if b.By == ByDay {
				of = 0
			}
			sum := sums[of]
			sums[of] = app.Amounts{Count: sum.Count + 1, Total: sum.Total + e.Amount}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := endDays(b.Period.Last + 1); err != nil {
		return err
	}
	return take(Line{Kind: Sum, Text: app.Text{EN: "Total", VI: "Tổng cộng"}, In: &total})
}

// dayText describes the revenue of a day, on one bank account or on all.
func dayText(account BankAccount, count int64) app.Text {
	if account.ID == 0 {
		return app.Textf("Sales by bank transfer (%d)", "Doanh thu chuyển khoản (%d giao dịch)", count)
	}
	return app.Textf("Sales by transfer to %s (%d)", "Doanh thu chuyển khoản vào %s (%d giao dịch)", account.title(), count)
}

func cashText(note string) app.Text {
	t := app.Text{EN: "Sales for cash", VI: "Doanh thu tiền mặt"}
	if note != "" {
		t.EN, t.VI = t.EN+": "+note, t.VI+": "+note
	}
	return t
}

// account passes the lines of S2e about one bank account to take, from its opening balance on. Without
// an opening balance the lines have no balances, and without any entry either, there are no lines.
func (b *Book) account(ctx context.Context, account BankAccount, take func(Line) error) error {
	from, since, balance := b.from, time.Time{}, int64(0)
	known := account.HasOpening
	if known {
		since = b.calendar.start(account.OpenedOn)
		if !since.Before(b.to) {
			known, since = false, time.Time{} // the opening balance is later than this book
		} else if from.Before(since) {
			from = since
		}
	}
	if known {
		sums, err := b.sums(ctx, account.ID, since, since, from)
		if err != nil {
			return err
		}
		balance = account.Opening + sums.In.Total - sums.Out.Total
	} else if sums, err := b.sums(ctx, account.ID, since, from, b.to); err != nil || sums == (app.Flow{}) {
		return err
	}
	compared := balances{balance: balance, known: known}
	if err := take(Line{Kind: Account, Text: app.Text{EN: account.title(), VI: account.title()}}); err != nil {
		return err
	}
	opening := Line{Kind: Sum, Text: app.Text{EN: "Balance at the beginning", VI: "Số dư đầu kỳ"}, In: compared.shown()}
	if known && from.Equal(since) {
		opening.Day = account.OpenedOn
	}
	if err := take(opening); err != nil {
		return err
	}
	var in, out int64
	for _, st := range b.calendar.stretches(from, b.to) {
		err := b.entries(ctx, EntryQuery{Stretch: st.since(since), BankAccountID: account.ID}, func(e Entry, day app.Day) error {
			l := Line{Document: e.Number, Day: day, Text: st.text(e), In: &e.Amount, ID: e.ID}
			if l.Document == "" {
				l.Document = "BC" + strconv.FormatInt(e.ID, 10)
			}
			if e.Type == app.Out {
				l.In, l.Out = nil, &e.Amount
				out += e.Amount
			} else {
				in += e.Amount
			}
			l.Text = compared.after(e, l.Text, st.Late)
			return take(l)
		})
		if err != nil {
			return err
		}
	}
	total := Line{Kind: Sum, Text: app.Text{EN: "Total of the period", VI: "Cộng phát sinh trong kỳ"}, In: &in, Out: &out}
	if err := take(total); err != nil {
		return err
	}
	return take(Line{Kind: Sum, Text: app.Text{EN: "Balance at the end", VI: "Số dư cuối kỳ"}, In: compared.shown()})
}

// title names a bank account by its bank and number, which don't change.
func (a BankAccount) title() string { return app.BankShortName(a.Bank) + " " + a.AccountNumber }

// sums adds up the entries of a bank account in the books from a moment on and before another. It
// leaves out entries before since, which are in the opening balance.
func (b *Book) sums(ctx context.Context, bankAccountID int64, since, from, to time.Time) (sum app.Flow, err error) {
	for _, st := range b.calendar.stretches(from, to) {
		one, err := b.service.store.EntrySums(ctx, b.accountID, EntryQuery{Stretch: st.since(since), BankAccountID: bankAccountID})
		if err != nil {
			return sum, err
		}
		sum.In.Count, sum.In.Total = sum.In.Count+one.In.Count, sum.In.Total+one.In.Total
		sum.Out.Count, sum.Out.Total = sum.Out.Count+one.Out.Count, sum.Out.Total+one.Out.Total
	}
	return sum, nil
}

// balances compares the balances that the bank reported with the balance of the book.
type balances struct {
	balance int64
	known   bool
	differs int64 // how much greater the bank's last balance was, in VND
}

// shown returns the balance of the book; nil: unknown.
func (t *balances) shown() *int64 {
	if !t.known {
		return nil
	}
	return new(t.balance)
}

// after adds an entry to the balance. It adds the bank's balance to the text if the difference to
// the book has changed. Late entries, and entries without a time of day, aren't compared, since
// their order isn't known.
func (t *balances) after(e Entry, text app.Text, late bool) app.Text {
	if t.balance += e.Amount; e.Type == app.Out {
		t.balance -= 2 * e.Amount
	}
	if !t.known || late || e.DateOnly || e.Balance == 0 || e.Balance-t.balance == t.differs {
		return text
	}
	t.differs = e.Balance - t.balance
	if t.differs == 0 {
		return text
	}
	said := func(format string, lang app.Lang) string {
		return fmt.Sprintf(format, app.GroupDigits(e.Balance, lang), app.GroupDigits(t.balance, lang))
	}
	return app.Text{EN: text.EN + said(" [the bank reported a balance of %s, by this book it is %s]", app.English),
		VI: text.VI + said(" [ngân hàng báo số dư %s, theo sổ là %s]", app.Vietnamese)}
}

// Titles returns the titles above the lines of the book.
func (b *Book) Titles() (list []app.Text) {
	for _, of := range []struct {
		name app.Text
		text string
	}{
		{app.Text{EN: "Household business", VI: "Hộ, cá nhân kinh doanh"}, b.Heading.Name},
		{app.Text{EN: "Address", VI: "Địa chỉ"}, b.Heading.Address},
		{app.Text{EN: "Tax code", VI: "Mã số thuế"}, b.Heading.TaxCode},
	} {
		list = append(list, app.Text{EN: of.name.EN + ": " + of.text, VI: of.name.VI + ": " + of.text})
	}
	list = append(list, b.Text.Basis.Text(), b.Text.Title.Text())
	list = append(list, app.Textf("Place of business: %s", "Địa điểm kinh doanh: %s", b.Heading.Place),
		app.Text{EN: "Period: " + b.Period.Name().EN, VI: "Kỳ kê khai: " + b.Period.Name().VI},
		app.Text{EN: "Unit: đồng", VI: "Đơn vị tính: đồng"})
	return append(list, b.ZoneChanges()...)
}

// ZoneChanges says where a part of the book begins at another moment than the midnight of its
// zone, since the part before it was closed in another zone.
func (b *Book) ZoneChanges() (list []app.Text) {
	zone := b.calendar.zone
	for _, c := range slices.Backward(b.calendar.closings) {
		if c.Through+1 >= b.Period.First && c.Through < b.Period.Last && !(c.Through + 1).Start(zone).Equal(c.EndsAt) {
			list = append(list, app.Textf("The time zone was changed after the book through %s was closed. That book ends at %s in the new zone, "+
				"so some money around that midnight is on the day before or after.",
				"Múi giờ đã đổi sau khi chốt sổ đến hết ngày %s. Theo múi giờ mới, sổ đó kết thúc lúc %s, "+
					"nên một số khoản tiền quanh nửa đêm đó nằm ở ngày trước hoặc ngày sau.", c.Through.String(), app.FormatTime(c.EndsAt, zone)))
		}
		zone = c.Zone
	}
	return list
}
