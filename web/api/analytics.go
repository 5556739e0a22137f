package api

import (
	"cmp"

	"baoco/app"
)

func (s *Server) overview(q *Request) error {
	o, err := s.service.Ledger.Overview(q.Context(), q.account())
	type overview struct {
		TotalTransactions int64 `json:"total_transactions"`
		TotalIn           int64 `json:"total_in"`
		TotalOut          int64 `json:"total_out"`
		BankAccounts      int64 `json:"bank_accounts"`
		WebhooksSent      int64 `json:"webhooks_sent"`
		WebhooksErrors    int64 `json:"webhooks_errors"`
	}
	return q.ok(err, "Overview of all time.", "Tổng quan từ trước đến nay.",
		member{"overview", overview{o.Transactions, o.TotalIn, o.TotalOut, o.BankAccounts, o.WebhooksSent, o.WebhooksErrors}})
}

func (s *Server) period(q *Request) error {
	window := cmp.Or(app.Range(q.URL.Query().Get("range")), app.RangeMonthly)
	rows, err := s.service.Ledger.Period(q.Context(), q.account(), window, q.now)
	type row struct {
		Date  string        `json:"date"`
		Type  app.Direction `json:"type"`
		Count int64         `json:"count"`
		Total int64         `json:"total"`
	}
	data := All(rows, func(p app.PeriodRow) row { return row{p.Day.String(), p.Type, p.Count, p.Total} })
	return q.ok(err, "Statistics by day.", "Thống kê theo ngày.", member{"range", window}, member{"data", data})
}

func (s *Server) accountStatus(q *Request) error {
	a, err := s.service.Ledger.AccountStatus(q.Context(), q.account())
	type account struct {
		Plan            string `json:"plan"`
		ExpiresAt       string `json:"expires_at"`
		IsTrial         bool   `json:"is_trial"`
		BankAccounts    int64  `json:"bank_accounts"`
		MaxBankAccounts int    `json:"max_bank_accounts"`
		Webhooks        int64  `json:"webhooks"`
	}
	return q.ok(err, "Plan of the account.", "Gói dịch vụ của tài khoản.",
		member{"account",
			account{a.Plan, app.FormatExpiry(a.ExpiresAt, s.zone), a.IsTrial, a.BankAccounts, a.MaxBankAccounts, a.Webhooks}})
}
