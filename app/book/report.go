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

// A report adds up the money of some days with all transactions recorded by now. Closings don't
// matter.

// These are the groupings of reports beside ByDay.
const (
	ByWeek    Grouping = "week" // from Monday
	ByMonth   Grouping = "month"
	ByAccount Grouping = "bank_account"
	ByPrefix  Grouping = "code_prefix" // of the payment code
	ByHour    Grouping = "hour"        // of the clock
)

// ReportGroupings are all groupings of reports.
var ReportGroupings = []Grouping{ByDay, ByWeek, ByMonth, ByAccount, ByPrefix, ByHour}

// ReportRequest is a request for a report.
type ReportRequest struct {
	First, Last   app.Day
	By            Grouping
	BankAccountID int64 // 0: all
}

// maxReportDays is three years with a leap day.
const maxReportDays = 3*365 + 1

// ReadReport reads a request for a report. The defaults are this month up to today, and ByDay. Service.Report
// makes the other checks.
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

// Before returns the same request for the time before: as many months for a request of whole
// months, else as many days.
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

// Sums are the sums of a report, in VND.
type Sums struct {
	app.Flow
	Revenue  int64 // the part of the money in that is revenue
	Refunded int64 // the part of the money out that is refunds
	Cash     int64 // entered sales for cash, which aren't in the money in
}

// Net is the money in less the money out, AfterRefunds the money in less the refunds.
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
// 2026-11, the id of the bank account, the prefix (empty: no code, or a code of no present pattern), the
// hour as 08 (empty: unknown), or cash for the row of cash.
type ReportRow struct {
	Key   string
	Text  app.Text
	first app.Day // the first day of a row of days
	Sums
}

// Report is the report of a period.
type Report struct {
	ReportRequest
	Shop     string      // its name
	Accounts string      // the bank account of the report; empty: all
	Rows     []ReportRow // all days, weeks, months or hours; of other groupings only rows with money
	Total    Sums
	Before   Sums // the sums of ReportRequest.Before
	Marks    bool // the account had a mark or a rule about revenue at some time
}

// ReportPart is the sum of the transactions of a report that have the same values here.
type ReportPart struct {
	Quarter       int64 // whole quarters of an hour since the start of the report
	Untimed       bool  // only their day is known
	BankAccountID int64
	Prefix        string
	Type          app.Direction
	Marked        bool // money in is revenue, money out a refund
	app.Amounts
}

// ReportQuery is a query for parts. In a part, only the fields that By needs are set.
type ReportQuery struct {
	From, To      time.Time // from From on, before To
	BankAccountID int64     // 0: all
	By            Grouping  // empty: no grouping
	Revenue       bool      // find out which money in is revenue
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
	reading.Go(func() { // in parallel, since a full year with many rules takes a second
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

// readSums passes the parts of a request to take and returns its cash. Cash is of no bank account.
func (s *Service) readSums(ctx context.Context, accountID int64, r *Report, asked ReportRequest, take func(ReportPart)) ([]Cash, error) {
	q := ReportQuery{From: asked.First.Start(s.zone), To: (asked.Last + 1).Start(s.zone), BankAccountID: asked.BankAccountID, By: asked.By,
		Revenue: r.Marks}
	if err := s.store.ReportParts(ctx, accountID, q, take); err != nil || asked.BankAccountID != 0 {
		return nil, err
	}
	return s.Cash(ctx, accountID, asked.First, asked.Last)
}

// rowOf makes the rows, and returns a function that finds the row of a part. That function makes rows of
// prefixes when their first part comes.
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
			if i < 0 { // the bank account was linked meanwhile
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

// addCash adds cash to the rows of its days, or as a row of its own if the rows aren't days, weeks or months.
// Then it also removes rows without money, except hours.
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
	Count bool // true: a number of transactions; false: VND
	Of    func(s Sums) int64
}

// Columns returns the columns that this report needs.
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

// HasRefunds and HasCash tell whether the report, or the time before, has refunds or cash.
func (r *Report) HasRefunds() bool { return r.Total.Refunded != 0 || r.Before.Refunded != 0 }
func (r *Report) HasCash() bool    { return r.Total.Cash != 0 || r.Before.Cash != 0 }

// Titles returns the titles above the rows.
func (r *Report) Titles() []app.Text {
	return []app.Text{{EN: "Report", VI: "Báo cáo"}, {EN: r.Shop, VI: r.Shop},
		{EN: cmp.Or(r.Accounts, "All bank accounts"), VI: cmp.Or(r.Accounts, "Tất cả tài khoản")}, {EN: r.Name(), VI: r.Name()}}
}

// Sums returns the last rows: the total, and the sums of the time before.
func (r *Report) Sums() []ReportRow {
	before := r.ReportRequest.Before().Name()
	return []ReportRow{{Text: app.Text{EN: "Total", VI: "Tổng cộng"}, Sums: r.Total},
		{Text: app.Textf("Before: %s", "Kỳ trước: %s", before), Sums: r.Before}}
}

// Name names a grouping for people.
func (g Grouping) Name() app.Text {
	return map[Grouping]app.Text{ByDay: {EN: "Date", VI: "Ngày"}, ByWeek: {EN: "Week", VI: "Tuần"}, ByMonth: {EN: "Month", VI: "Tháng"},
		ByAccount: {EN: "Bank account", VI: "Tài khoản ngân hàng"}, ByPrefix: {EN: "Payment code", VI: "Mã thanh toán"},
		ByHour: {EN: "Hour", VI: "Giờ"}}[g]
}
