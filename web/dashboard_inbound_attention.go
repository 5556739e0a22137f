package web

import (
	"time"

	"baoco/app"
)

// inboundAttention adds what of the way in needs somebody: transactions that
// wait, bank accounts in error, sources that went silent.
func (s *Server) inboundAttention(v *visit, w view, list []attention) ([]attention, error) {
	open, err := s.service.OpenInbound(v.Context(), v.account.ID, manyFailed)
	if err != nil {
		return nil, err
	}
	for _, o := range []struct {
		n                 int64
		one, many, vi, to string
		action            app.Text
	}{
		{open.Unassigned, "transaction is waiting because its bank account is not linked.", "transactions are waiting because their bank accounts are not linked.", "giao dịch đang chờ vì tài khoản ngân hàng chưa được liên kết.", "unassigned", app.Text{EN: "Assign", VI: "Gán tài khoản"}},
		{open.Rejected, "received item could not be read.", "received items could not be read.", "mục nhận được nhưng không đọc được.", "rejected", app.Text{EN: "See why", VI: "Xem lý do"}},
		{open.Conflicts, "received item conflicts with a recorded transaction.", "received items conflict with recorded transactions.", "mục nhận được mâu thuẫn với giao dịch đã ghi nhận.", "conflict", app.Text{EN: "Compare", VI: "So sánh"}},
	} {
		if o.n == 0 {
			continue
		}
		text := w.Count(o.n, o.one, o.many, o.vi)
		if o.n == manyFailed {
			text = w.T("At least ", "Ít nhất ") + text
		}
		list = append(list, attention{text, "/inbound/events?state=" + o.to, o.action.In(v.lang)})
	}
	sources, err := s.service.Sources(v.Context(), v.account.ID)
	if err != nil {
		return nil, err
	}
	banks, err := s.service.BankAccounts(v.Context(), v.account.ID)
	if err != nil {
		return nil, err
	}
	for _, b := range banks {
		if b.Status == app.BankAccountError {
			list = append(list, attention{w.BankName(b.Bank) + " " + w.Tail(b.AccountNumber) + ": " + bankReason(b, sources).In(v.lang), bankPath(b.ID), w.T("View", "Xem")})
		}
	}
	return s.silentAttention(v, w, list, sources)
}

// silentAttention adds the sources that used to call.
func (s *Server) silentAttention(v *visit, w view, list []attention, sources []app.Source) ([]attention, error) {
	for _, src := range sources {
		busy := false
		if len(sources) == 1 && src.Silent(true, v.now) {
			var err error
			if busy, err = s.busyBefore(v, src.LastCallAt); err != nil {
				return nil, err
			}
		}
		if src.Silent(busy, v.now) {
			list = append(list, attention{
				app.Textf("Source “%s” has sent nothing since %s.", "Nguồn “%s” chưa gửi gì từ %s.", isolated(src.Name), w.When(src.LastCallAt)).In(v.lang),
				sourcePath(src.ID), w.T("Check", "Kiểm tra"),
			})
		}
	}
	return list, nil
}

// busyDays is for how many days there must have been transactions for a day
// without a call to be strange.
const busyDays = 7

// busyBefore tells whether there were transactions on each of the days up to an
// instant.
func (s *Server) busyBefore(v *visit, at time.Time) (bool, error) {
	last := app.DayOf(at, v.zone)
	first := last - busyDays + 1
	rows, err := s.service.Days(v.Context(), v.account.ID, first, last)
	for _, day := range dayTotals(rows, first, last) {
		if day.In.Count+day.Out.Count == 0 {
			return false, err
		}
	}
	return err == nil, err
}
