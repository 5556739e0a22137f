package dashboard

import (
	"strings"

	"baoco/app"
	"baoco/app/fold"
	"baoco/app/payer"
)

type payerData struct {
	payer.Payer
	payer.History
	Days  []dayRows
	Pages pages
}

// Said is the content of a transaction, after the payer's name if it doesn't begin with the name.
func (w words) Said(t app.Transaction) string {
	text, name := w.ContentText(t.Content), payer.Of(t).Name
	if name == "" || strings.HasPrefix(strings.ToUpper(fold.Letters(text)), name) {
		return text
	}
	return name + " · " + text
}

// PayerPath is the address of the page of a payer.
func (words) PayerPath(p payer.Payer) string { return linkTo("/payer", p.Values()) }

// With is the payer, limited to one account from which the payer paid.
func (d payerData) With(account string) payer.Payer {
	return payer.Payer{Name: d.Name, Account: account}
}

func (s *Server) payerPage(v *visit) (err error) {
	d := payerData{Payer: payer.Given(v.URL.Query())}
	if d.History, err = payer.HistoryOf(v.Context(), s.Services.Ledger, v.account.ID, d.Payer); err != nil {
		return err
	}
	if d.Count == 0 {
		return app.NotFound("Nothing has come from this payer.", "Chưa có khoản tiền nào từ người này.")
	}
	page, all := pageOf(v), d.History.Rows
	d.Pages = pagesOf(page, d.Count, d.Payer.Values(), "/payer")
	shown := all[min(page.Offset(), d.Count):min(page.Offset()+int64(page.Size), d.Count)]
	rows, err := s.withDeliveries(v, shown)
	if err != nil {
		return err
	}
	if d.Days, err = s.groupByDay(v, rows, false); err != nil {
		return err
	}
	return s.render(v, nil, pageHead{"payer", "transactions", app.Text{EN: d.Name, VI: d.Name}}, d)
}
