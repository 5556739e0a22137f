package web

import (
	"net/http"

	"baoco/app"
)

func (s *apiServer) overview(w http.ResponseWriter, q *query) error {
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
	writeJSON(w, http.StatusOK, struct {
		envelope
		Overview overview `json:"overview"`
	}{
		ok(q.Request, "Overview of all time.", "Tổng quan từ trước đến nay."),
		overview{o.Transactions, o.TotalIn, o.TotalOut, o.BankAccounts, o.WebhooksSent, o.WebhooksErrors},
	})
	return nil
}

func (s *apiServer) period(w http.ResponseWriter, q *query) error {
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
	writeJSON(w, http.StatusOK, struct {
		envelope
		Range app.Range `json:"range"`
		Data  []row     `json:"data"`
	}{ok(q.Request, "Statistics by day.", "Thống kê theo ngày."), window, data})
	return nil
}

func (s *apiServer) accountStatus(w http.ResponseWriter, q *query) error {
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
	writeJSON(w, http.StatusOK, struct {
		envelope
		Account account `json:"account"`
	}{
		ok(q.Request, "Plan of the account.", "Gói dịch vụ của tài khoản."),
		account{a.Plan, app.FormatExpiry(a.ExpiresAt, s.service.Zone()), a.IsTrial, a.BankAccounts, a.MaxBankAccounts, a.Webhooks},
	})
	return nil
}
