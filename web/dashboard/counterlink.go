package dashboard

import (
	"encoding/base64"
	"html/template"
	"strconv"

	"baoco/app"
	"baoco/app/vietqr"
)

// counterRow is a link in the settings.
type counterRow struct {
	app.CounterLink
	Bank string // empty: all
	Ask  confirmation
}

// counterRows are the links that aren't revoked, newest first.
func (s *Server) counterRows(v *visit, banks []app.BankAccount) ([]counterRow, error) {
	links, err := s.Service.CounterLinks(v.Context(), v.account.ID)
	var rows []counterRow
	for i := len(links) - 1; i >= 0; i-- {
		l := links[i]
		if !l.RevokedAt.IsZero() {
			continue
		}
		row := counterRow{CounterLink: l, Ask: s.counterRevocation(v, l)}
		if b := bankAccount(banks, l.BankAccountID); b.ID != 0 {
			row.Bank = b.Bank + " " + b.AccountNumber
		} else if l.BankAccountID != 0 {
			row.Bank = "#" + strconv.FormatInt(l.BankAccountID, 10) // it was unlinked
		}
		rows = append(rows, row)
	}
	return rows, err
}

func (s *Server) createCounterLink(v *visit) error {
	form := app.CounterLinkCreate{Name: v.PostFormValue("name"), ShowsTotal: v.PostFormValue("total") != "", NewName: v.newName(), Key: v.form.key}
	var err error
	form.BankAccountID, err = readBankAccountID(v.PostFormValue("bank_account_id"))
	var link app.CounterLink
	var token string
	if err == nil {
		link, token, err = s.Service.CreateCounterLink(v.Context(), v.account.ID, form, v.now)
	}
	if err != nil && v.inGuide() {
		return s.showGuide(v, guideData{Open: "counter", CounterForm: form}, err)
	}
	if err != nil {
		return s.showSettings(v, settingsData{Refused: "counters", CounterForm: form}, err)
	}
	page := secretPage{
		Lead: app.Text{
			EN: "Open this link on the tablet. Anyone who has it can see money coming in, and nothing else, until you revoke it.",
			VI: "Mở đường dẫn này trên máy tính bảng. Ai có đường dẫn đều xem được tiền vào (và chỉ tiền vào) cho đến khi bạn thu hồi.",
		}.In(v.Lang),
		Label: app.Text{EN: "Link", VI: "Đường dẫn"}.In(v.Lang), Address: s.givenAddress(v, link.Path(token), app.ReachNetwork), Back: v.next("/settings"),
	}
	page.Secret = page.Address.URL
	if !page.Address.Blocked() {
		code, err := vietqr.Code(page.Secret)
		if err != nil {
			return err
		}
		page.QR = template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(code.PNG()))
	}
	return s.showOnce(v, "settings", app.Textf("Counter screen “%s”", "Màn hình quầy “%s”", link.Name), page)
}

// counterRevocation revokes a link.
func (s *Server) counterRevocation(v *visit, l app.CounterLink) confirmation {
	return confirmation{
		Path: "/settings/counters/" + strconv.FormatInt(l.ID, 10) + "/revoke", Back: "/settings",
		Title: v.T("Revoke the link “", "Thu hồi đường dẫn “") + l.Name + "”?", Button: v.T("Revoke", "Thu hồi"),
		Texts: []string{v.T("Screens open with this link stop within a second. The counter needs a new link to see money coming in again.",
			"Mọi màn hình đang mở bằng đường dẫn này sẽ ngừng hiển thị trong vòng một giây. Quầy cần đường dẫn mới để tiếp tục xem tiền vào.")},
		do:   func() error { return s.Service.RevokeCounterLink(v.Context(), v.account.ID, l.ID, v.now) },
		done: app.Textf("Link “%s” revoked.", "Đã thu hồi đường dẫn “%s”.", l.Name),
	}
}

func (s *Server) revokeCounter(v *visit) error {
	links, err := s.Service.CounterLinks(v.Context(), v.account.ID)
	l, err := named(v, links, err, func(l app.CounterLink) int64 { return l.ID }, app.ErrNoCounterLink)
	if err != nil {
		return err
	}
	return s.confirm(v, "settings", s.counterRevocation(v, l))
}
