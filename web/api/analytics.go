package api

import (
	"net/http"

	"baoco/app"
	"baoco/web/wire"
)

func (s *Server) overview(w http.ResponseWriter, q *Request) error {
	o, err := s.service.Overview(q.Context(), q.account())
	if err != nil {
		return err
	}
	type overview struct {
		TotalTransactions int64 `json:"total_transactions"`
		TotalIn           int64 `json:"total_in"`
		TotalOut          int64 `json:"total_out"`
		BankAccounts      int64 `json:"bank_accounts"`
		WebhooksSent      int64 `json:"webhooks_sent"`
		WebhooksErrors    int64 `json:"webhooks_errors"`
	}
	wire.WriteJSON(w, http.StatusOK, struct {
		wire.Envelope
		Overview overview `json:"overview"`
	}{
		wire.OK(q.Request, "Overview of all time.", "Tổng quan từ trước đến nay."),
		overview{o.Transactions, o.TotalIn, o.TotalOut, o.BankAccounts, o.WebhooksSent, o.WebhooksErrors},
	})
	return nil
}

func (s *Server) period(w http.ResponseWriter, q *Request) error {
	window := app.Range(q.URL.Query().Get("range"))
	if window == "" {
		window = app.RangeMonthly
	}
	rows, err := s.service.Period(q.Context(), q.account(), window, q.now)
	if err != nil {
		return err
	}
	type row struct {
		Date  string        `json:"date"`
		Type  app.Direction `json:"type"`
		Count int64         `json:"count"`
		Total int64         `json:"total"`
	}
	data := make([]row, len(rows))
	for i, p := range rows {
		data[i] = row{p.Day.String(), p.Type, p.Count, p.Total}
	}
	wire.WriteJSON(w, http.StatusOK, struct {
		wire.Envelope
		Range app.Range `json:"range"`
		Data  []row     `json:"data"`
	}{wire.OK(q.Request, "Statistics by day.", "Thống kê theo ngày."), window, data})
	return nil
}

func (s *Server) accountStatus(w http.ResponseWriter, q *Request) error {
	a, err := s.service.AccountStatus(q.Context(), q.account())
	if err != nil {
		return err
	}
	type account struct {
		Plan            string `json:"plan"`
		ExpiresAt       string `json:"expires_at"`
		IsTrial         bool   `json:"is_trial"`
		BankAccounts    int64  `json:"bank_accounts"`
		MaxBankAccounts int    `json:"max_bank_accounts"`
		Webhooks        int64  `json:"webhooks"`
	}
	wire.WriteJSON(w, http.StatusOK, struct {
		wire.Envelope
		Account account `json:"account"`
	}{
		wire.OK(q.Request, "Plan of the account.", "Gói dịch vụ của tài khoản."),
		account{a.Plan, app.FormatExpiry(a.ExpiresAt, s.service.Zone()), a.IsTrial, a.BankAccounts, a.MaxBankAccounts, a.Webhooks},
	})
	return nil
}
