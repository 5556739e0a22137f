package book

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"baoco/app"
)

// A report adds up the money of some days as it was recorded by now: it knows nothing of closings.

// What a row of a report is made of, beside ByDay.
const (
	ByWeek    Grouping = "week" // from Monday
	ByMonth   Grouping = "month"
	ByAccount Grouping = "bank_account"
	ByPrefix  Grouping = "code_prefix" // of the payment code
	ByHour    Grouping = "hour"        // of the clock
)

// ReportGroupings are those of reports.
var ReportGroupings = []Grouping{ByDay, ByWeek, ByMonth, ByAccount, ByPrefix, ByHour}

// ReportRequest is which report somebody wants.
type ReportRequest struct {
	First, Last   app.Day
	By            Grouping
	BankAccountID int64 // 0: all
}

// maxReportDays is three years with a leap day.
const maxReportDays = 3*365 + 1

// ReadReport reads which report is wanted; what is empty is this month up to today, and ByDay. Service.Report
// checks what is left.
func ReadReport(from, to string, by Grouping, bankAccountID int64, today app.Day) (ReportRequest, error) {
	var bad app.Invalid
	read := func(field, text string, otherwise app.Day) app.Day {
		if text == "" {
			return otherwise
		}
		d, err := app.ParseDay(text)
		if err != nil {
			bad.Add(field, "must be a date as Y-m-d", "phải là ngày dạng Y-m-d")
		}
		return d
	}
	r := ReportRequest{read("from", from, today.MonthStart()), read("to", to, today), cmp.Or(by, ByDay), bankAccountID}
	return r, bad.Err()
}

func (r ReportRequest) check(today app.Day) error {
	var bad app.Invalid
	if r.First > today {
		bad.Add("from", "has not begun yet", "chưa bắt đầu")
	}
	if r.Last < r.First {
		bad.Add("to", "must not be before “From”", "không được trước “Từ ngày”")
	} else if r.Last-r.First >= maxReportDays {
		bad.Add("to", "must be at most 3 years after “From”", "không được cách “Từ ngày” quá 3 năm")
	}
	if !slices.Contains(ReportGroupings, r.By) {
		bad.Add("by", "must be day, week, month, bank_account, code_prefix or hour",
			"phải là day, week, month, bank_account, code_prefix hoặc hour")
	}
	return bad.Err()
}

// Before is the same request of the time before: of as many months where it is of whole months,
// else of as many days.
func (r ReportRequest) Before() ReportRequest {
	before := r
	before.Last = r.First - 1
	before.First = r.First - (r.Last - r.First + 1)
	if r.First == r.First.MonthStart() && r.Last+1 == (r.Last+1).MonthStart() {
		before.First = r.First
		for d := r.First; d <= r.Last; d = nextMonth(d) {
			before.First = (before.First - 1).MonthStart()
		}
	}
	return before
}

func nextMonth(d app.Day) app.Day { return (d.MonthStart() + 31).MonthStart() }

// Name names the days for people.
func (r ReportRequest) Name() string {
	const full = "02/01/2006"
	switch {
	case r.First == r.Last:
		return r.First.Date().Format(full)
	case r.First == r.First.MonthStart() && r.Last+1 == nextMonth(r.First):
		return r.First.Date().Format("01/2006")
	}
	return r.First.Date().Format(full) + " – " + r.Last.Date().Format(full)
}

// Sums are what a report adds up.
type Sums struct {
	app.Flow
	Revenue  int64 // of the money in
	Refunded int64 // of the money out
	Cash     int64 // of sales, as it was entered; it isn't in the money in
}

// Net is the money in without the money out, and AfterRefunds without what was refunded.
func (s Sums) Net() int64          { return s.In.Total - s.Out.Total }
func (s Sums) AfterRefunds() int64 { return s.In.Total - s.Refunded }

func (s *Sums) add(p ReportPart) {
	s.Add(p.Type, p.Amounts)
	switch {
	case p.Marked && p.Type == app.In:
		s.Revenue += p.Total
	case p.Marked:
		s.Refunded += p.Total
	}
}

// ReportRow is a row of a report. Key is for programs: the day, the first day of the week, the month as
// 2026-11, the id of the bank account, the prefix (empty: there is no code, or one of no pattern of now), the
// hour as 08 (empty: it isn't known), or cash where that has a row of its own.
type ReportRow struct {
	Key   string
	Text  app.Text
	first app.Day // of a row of days
	Sums
}

// Report is the report of a period.
type Report struct {
	ReportRequest
	Shop     string      // its name
	Accounts string      // the bank accounts that it is about; empty: all
	Rows     []ReportRow // all days, weeks, months or hours; of the rest only those with anything
	Total    Sums
	Before   Sums // of ReportRequest.Before
	Marks    bool // whether anybody has said what is no revenue
}

// ReportPart is transactions of a report that stand together.
type ReportPart struct {
	Quarter       int64 // how many whole quarters of an hour came before
	Untimed       bool  // only their day is known
	BankAccountID int64
	Prefix        string
	Type          app.Direction
	Marked        bool // money in is revenue, money out a refund
	app.Amounts
}

// ReportQuery is what parts are made of: of ReportPart it fills in what By needs.
type ReportQuery struct {
	From, To      time.Time // from From on, before To
	BankAccountID int64     // 0: all
	By            Grouping  // empty: all stand together
	Revenue       bool      // look what is revenue
}

// Report adds up a period, and the one before.
func (s *Service) Report(ctx context.Context, accountID int64, asked ReportRequest, now time.Time) (*Report, error) {
	if err := asked.check(app.DayOf(now, s.zone)); err != nil {
		return nil, err
	}
	a, err := s.ledger.Account(ctx, accountID)
	if err != nil {
		return nil, err
	}
	r := &Report{ReportRequest: asked, Shop: a.ShopName("Báo Có"), Marks: a.MarksRevenue}
	banks, err := s.BookAccounts(ctx, accountID)
	if err != nil {
		return nil, err
	}
	for _, b := range banks {
		if b.ID == asked.BankAccountID {
			r.Accounts = b.Title()
		}
	}
	before := asked.Before()
	before.By = ""
	var cashBefore []Cash
	var errBefore error
	var reading sync.WaitGroup
	reading.Go(func() { // meanwhile: a full year with many rules takes a second
		errBefore = app.Protected(func() (err error) {
			cashBefore, err = s.readSums(ctx, accountID, r, before, r.Before.add)
			return err
		})
	})
	rowOf := r.rowOf(banks, s.zone)
	cash, err := s.readSums(ctx, accountID, r, asked, func(p ReportPart) {
		r.Total.add(p)
		rowOf(p).add(p)
	})
	reading.Wait()
	if err == nil {
		err = errBefore
	}
	if err != nil {
		return nil, err
	}
	r.addCash(cash)
	for _, c := range cashBefore {
		r.Before.Cash += c.Amount
	}
	return r, nil
}

// readSums reads what a request adds up. Cash is of no bank account.
func (s *Service) readSums(ctx context.Context, accountID int64, r *Report, asked ReportRequest, take func(ReportPart)) ([]Cash, error) {
	q := ReportQuery{From: asked.First.Start(s.zone), To: (asked.Last + 1).Start(s.zone), BankAccountID: asked.BankAccountID, By: asked.By,
		Revenue: r.Marks}
	if err := s.store.ReportParts(ctx, accountID, q, take); err != nil || asked.BankAccountID != 0 {
		return nil, err
	}
	return s.Cash(ctx, accountID, asked.First, asked.Last)
}

// rowOf makes the rows, and gives the one in which a part stands. Rows of prefixes are made as they come.
func (r *Report) rowOf(banks []BankAccount, zone *time.Location) func(p ReportPart) *ReportRow {
	add := func(key, en, vi string) { r.Rows = append(r.Rows, ReportRow{Key: key, Text: app.Text{EN: en, VI: vi}}) }
	start := r.First.Start(zone)
	at := func(p ReportPart) time.Time { return start.Add(time.Duration(p.Quarter) * 15 * time.Minute).In(zone) }
	switch r.By {
	case ByAccount:
		for _, b := range banks {
			add(strconv.FormatInt(b.ID, 10), b.Title(), b.Title())
		}
		return func(p ReportPart) *ReportRow {
			key := strconv.FormatInt(p.BankAccountID, 10)
			i := slices.IndexFunc(r.Rows, func(row ReportRow) bool { return row.Key == key })
			if i < 0 { // it was linked meanwhile
				add(key, key, key)
				i = len(r.Rows) - 1
			}
			return &r.Rows[i]
		}
	case ByPrefix:
		return func(p ReportPart) *ReportRow {
			if n := len(r.Rows); n == 0 || r.Rows[n-1].Key != p.Prefix {
				add(p.Prefix, cmp.Or(p.Prefix, "no code"), cmp.Or(p.Prefix, "không có mã"))
			}
			return &r.Rows[len(r.Rows)-1]
		}
	case ByHour:
		for hour := range 24 {
			key := fmt.Sprintf("%02d", hour)
			add(key, key+":00", key+":00")
		}
		add("", "no time", "không rõ giờ")
		return func(p ReportPart) *ReportRow {
			if p.Untimed {
				return &r.Rows[24]
			}
			return &r.Rows[at(p).Hour()]
		}
	}
	end := map[Grouping]func(app.Day) app.Day{ByDay: func(d app.Day) app.Day { return d + 1 },
		ByWeek: func(d app.Day) app.Day { return d.WeekStart() + 7 }, ByMonth: nextMonth}[r.By]
	for d := r.First; d <= r.Last; d = end(d) {
		key, name := d.String(), ReportRequest{First: d, Last: min(end(d)-1, r.Last)}.Name()
		if r.By == ByMonth {
			key = key[:len("2026-11")]
		}
		add(key, name, name)
		r.Rows[len(r.Rows)-1].first = d
	}
	return func(p ReportPart) *ReportRow { return r.rowOn(app.DayOf(at(p), zone)) }
}

func (r *Report) rowOn(d app.Day) *ReportRow {
	i, found := slices.BinarySearchFunc(r.Rows, d, func(row ReportRow, d app.Day) int { return cmp.Compare(row.first, d) })
	if !found {
		i--
	}
	return &r.Rows[i]
}

// addCash adds cash to the rows of its days, or makes a row of it where rows are no days. It removes rows that
// have nothing and aren't of a time.
func (r *Report) addCash(cash []Cash) {
	all := ReportRow{Key: "cash", Text: cashText("")}
	timed := slices.Contains([]Grouping{ByDay, ByWeek, ByMonth}, r.By)
	for _, c := range cash {
		r.Total.Cash += c.Amount
		if all.Cash += c.Amount; timed {
			r.rowOn(c.Day).Cash += c.Amount
		}
	}
	if timed {
		return
	}
	r.Rows = slices.DeleteFunc(r.Rows, func(row ReportRow) bool {
		return row.Flow == (app.Flow{}) && (r.By != ByHour || row.Key == "")
	})
	if all.Cash != 0 {
		r.Rows = append(r.Rows, all)
	}
}

// ReportColumn is a column of numbers of a report.
type ReportColumn struct {
	Name  app.Text
	Count bool // it counts transactions; else it is of money
	Of    func(s Sums) int64
}

// Columns are those that have anything to say.
func (r *Report) Columns() []ReportColumn {
	list := []ReportColumn{
		{app.Text{EN: "Money in", VI: "Tiền vào"}, false, func(s Sums) int64 { return s.In.Total }},
		{app.Text{EN: "Payments in", VI: "Số giao dịch vào"}, true, func(s Sums) int64 { return s.In.Count }},
		{app.Text{EN: "Money out", VI: "Tiền ra"}, false, func(s Sums) int64 { return s.Out.Total }},
		{app.Text{EN: "Payments out", VI: "Số giao dịch ra"}, true, func(s Sums) int64 { return s.Out.Count }},
		{app.Text{EN: "In less out", VI: "Vào trừ ra"}, false, Sums.Net},
	}
	if r.Marks {
		list = append(list, ReportColumn{app.Text{EN: "Revenue", VI: "Doanh thu"}, false, func(s Sums) int64 { return s.Revenue }})
	}
	if r.HasRefunds() {
		list = append(list, ReportColumn{app.Text{EN: "Refunded", VI: "Đã hoàn"}, false, func(s Sums) int64 { return s.Refunded }},
			ReportColumn{app.Text{EN: "In after refunds", VI: "Vào sau hoàn tiền"}, false, Sums.AfterRefunds})
	}
	if r.HasCash() {
		list = append(list, ReportColumn{cashText(""), false, func(s Sums) int64 { return s.Cash }})
	}
	return list
}

// HasRefunds and HasCash tell whether there are any, also before.
func (r *Report) HasRefunds() bool { return r.Total.Refunded != 0 || r.Before.Refunded != 0 }
func (r *Report) HasCash() bool    { return r.Total.Cash != 0 || r.Before.Cash != 0 }

// Titles are what stands above the rows.
func (r *Report) Titles() []app.Text {
	return []app.Text{{EN: "Report", VI: "Báo cáo"}, {EN: r.Shop, VI: r.Shop},
		{EN: cmp.Or(r.Accounts, "All bank accounts"), VI: cmp.Or(r.Accounts, "Tất cả tài khoản")}, {EN: r.Name(), VI: r.Name()}}
}

// Sums are the rows below the others: the total, and the time before.
func (r *Report) Sums() []ReportRow {
	before := r.ReportRequest.Before().Name()
	return []ReportRow{{Text: app.Text{EN: "Total", VI: "Tổng cộng"}, Sums: r.Total},
		{Text: app.Textf("Before: %s", "Kỳ trước: %s", before), Sums: r.Before}}
}

// Name is what a row of a report is made of.
func (g Grouping) Name() app.Text {
	return map[Grouping]app.Text{ByDay: {EN: "Date", VI: "Ngày"}, ByWeek: {EN: "Week", VI: "Tuần"}, ByMonth: {EN: "Month", VI: "Tháng"},
		ByAccount: {EN: "Bank account", VI: "Tài khoản ngân hàng"}, ByPrefix: {EN: "Payment code", VI: "Mã thanh toán"},
		ByHour: {EN: "Hour", VI: "Giờ"}}[g]
}
