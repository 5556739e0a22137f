package alert

import (
	"context"
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/inbound"
)

// This file finds what needs attention on the way in: received items, bank accounts, sources.

// inboundAttention counts the received items that are unassigned, rejected or
// in conflict.
func (s *Service) inboundAttention(ctx context.Context, accountID int64, _ time.Time) (list []Attention, _ error) {
	open, err := s.rooms.Inbound.OpenInbound(ctx, accountID, CountedUpTo)
	if err != nil {
		return nil, err
	}
	for _, o := range []struct {
		n             int64
		one, many, vi string
		state         inbound.Outcome
		name, action  app.Text
	}{
		{open.Unassigned, "transaction is waiting because its bank account is not linked.",
			"transactions are waiting because their bank accounts are not linked.", "giao dịch đang chờ vì tài khoản ngân hàng chưa được liên kết.",
			inbound.OutcomeUnassigned, app.Text{EN: "Transactions are waiting for a bank account", VI: "Có giao dịch của tài khoản chưa liên kết"},
			app.Text{EN: "Link account", VI: "Liên kết tài khoản"}},
		{open.Rejected, "received item could not be read.", "received items could not be read.", "giao dịch nhận được nhưng không đọc được.",
			inbound.OutcomeRejected, app.Text{EN: "Received items could not be read", VI: "Có giao dịch nhận được nhưng không đọc được"},
			app.Text{EN: "See why", VI: "Xem lý do"}},
		{open.Conflicts, "received item conflicts with a recorded transaction.", "received items conflict with recorded transactions.",
			"giao dịch trùng mã nhưng khác số tiền hoặc tài khoản.",
			inbound.OutcomeConflict, app.Text{EN: "Received items conflict with recorded transactions",
				VI: "Có giao dịch trùng mã nhưng khác số tiền hoặc tài khoản"}, app.Text{EN: "Compare", VI: "So sánh"}},
		{open.MayBeRepeats, "received item may be money that is recorded already. Say whether it is the same or another transfer.",
			"received items may be money that is recorded already. Say whether each is the same or another transfer.",
			"giao dịch nhận được có thể trùng với giao dịch đã ghi nhận. Hãy xác nhận trùng hay là lần chuyển khác.",
			inbound.OutcomeMayBeRepeat, app.Text{EN: "Received items may be repeats", VI: "Có giao dịch nhận được chưa rõ có trùng không"},
			app.Text{EN: "Decide", VI: "Xác nhận"}},
	} {
		if o.n == 0 {
			continue
		}
		text := counted(o.n, o.one, o.many, o.vi)
		if o.n == CountedUpTo {
			text = app.Text{EN: "At least " + text.EN, VI: "Ít nhất " + text.VI}
		}
		list = append(list,
			Attention{Kind: AttentionInbound, Key: "inbound " + string(o.state), Name: o.name, Text: text, State: o.state, Action: o.action})
	}
	return list, nil
}

func (s *Service) bankAttention(ctx context.Context, accountID int64, _ time.Time) (list []Attention, _ error) {
	banks, err := s.rooms.Ledger.BankAccounts(ctx, accountID)
	if err != nil {
		return nil, err
	}
	var sources []inbound.Source
	for _, b := range banks {
		if b.Status != app.BankAccountError {
			continue
		}
		if sources == nil {
			if sources, err = s.rooms.Inbound.Sources(ctx, accountID); err != nil {
				return nil, err
			}
		}
		id, name, reason := strconv.FormatInt(b.ID, 10), app.BankShortName(b.Bank)+" "+app.Tail(b.AccountNumber),
			inbound.BankAccountReason(b, sources)
		list = append(list, Attention{
			Kind: AttentionBank, Key: "bank " + id, Name: app.Textf("Bank account %s has an error", "Tài khoản %s có lỗi", name),
			Text: app.Text{EN: name + ": " + reason.EN, VI: name + ": " + reason.VI}, ID: b.ID, Action: app.Text{EN: "View", VI: "Xem"},
		})
	}
	return list, nil
}

// sourceAttention lists the sources that have gone silent, whose calls are
// refused, or that have lost their secret.
func (s *Service) sourceAttention(ctx context.Context, accountID int64, now time.Time) (list []Attention, _ error) {
	sources, err := s.rooms.Inbound.SourcesHealth(ctx, accountID)
	if err != nil {
		return nil, err
	}
	for _, src := range sources {
		id, name, busy := strconv.FormatInt(src.ID, 10), app.Isolated(src.Name), false
		if len(sources) == 1 && src.Silent(true, now) {
			if busy, err = s.busyBefore(ctx, accountID, src.LastCallAt); err != nil {
				return nil, err
			}
		}
		a := Attention{Kind: AttentionSource, ID: src.ID, SecretLost: src.SecretLost, Action: app.Text{EN: "Check", VI: "Kiểm tra"}}
		switch refused := src.LastRefused.ReceivedAt; {
		case src.SecretLost:
			a.Key, a.Name = "secret of source "+id, app.Textf("Source “%s” has lost its secret", "Nguồn “%s” đã mất khoá bí mật", name)
			a.Text = app.Textf("Source “%s” has lost its secret, so its calls are refused and its transactions are not received.",
				"Nguồn “%s” đã mất khoá bí mật nên lần gọi bị từ chối và không nhận được giao dịch.", name)
			a.Action = app.Text{EN: "Rotate secret", VI: "Đổi khoá bí mật"}
		case refused.Unix() > src.LastCallAt.Unix() && now.Sub(refused) < app.Recently: // a call is kept to the second
			a.Refused = name
			a.Key, a.Name = "refused "+id, app.Textf("Calls to source “%s” are refused", "Lần gọi đến nguồn “%s” bị từ chối", name)
			a.Text = app.Textf("Calls to source “%s” are refused, so its transactions are not received.",
				"Lần gọi đến nguồn “%s” bị từ chối nên không nhận được giao dịch.", name).
				And(src.LastRefused.LikelyCause())
		case src.Silent(busy, now):
			at := app.WriteTime(src.LastCallAt, s.zone)
			a.Key, a.Name = "silent "+id, app.Textf("Source “%s” has gone silent", "Nguồn “%s” không gửi gì", name)
			a.Text = app.Text{EN: "Source “" + name + "” has sent nothing since " + at.EN + ".",
				VI: "Nguồn “" + name + "” chưa gửi gì từ " + at.VI + "."}
		default:
			continue
		}
		list = append(list, a)
	}
	return list, nil
}

// busyBefore reports whether there were transactions on each of the last
// busyDays days before an instant.
func (s *Service) busyBefore(ctx context.Context, accountID int64, at time.Time) (bool, error) {
	last := app.DayOf(at, s.zone)
	rows, err := s.rooms.Ledger.Days(ctx, accountID, 0, last-busyDays+1, last)
	busy := map[app.Day]bool{}
	for _, row := range rows {
		if row.Day <= last && row.Count > 0 {
			busy[row.Day] = true
		}
	}
	return len(busy) == busyDays, err
}
