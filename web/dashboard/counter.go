package dashboard

import (
	"encoding/base64"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/vietqr"
)

// The counter screen: money in as it comes, large, for the shop's tablet. A
// signed-in user opens it as it is; a link opens it without anybody signed in,
// and then only the link decides what it shows.

// counterData is what the counter screen shows.
type counterData struct {
	Name  string // of the counter; empty: a signed-in user's
	Live  string // address of the stream
	Cards []counterCard
	Total string // of today; empty: not shown
}

// counterCard is one transaction on the counter.
type counterCard struct {
	words
	app.Transaction
	Say string // the text to speak; empty: the money is too old
}

// Only new money is announced. Money that a screen missed while it was offline, or
// an old transfer that a statement or a provider's list brings only now, would be
// taken for the next customer's.
const (
	spokenFor    = 2 * time.Minute  // after it was recorded
	spokenWithin = 30 * time.Minute // after the transfer, if its time is known; providers may be late
)

// isNews tells whether money on a counter is announced at now.
func isNews(t app.Transaction, now time.Time) bool {
	return now.Sub(t.CreatedAt) < spokenFor && (t.DateOnly || now.Sub(t.Time) < spokenWithin)
}

func (s *Server) counterCards(v *visit, link app.CounterLink, sinceID *int64, now time.Time) ([]counterCard, error) {
	list, err := s.Service.CounterTransactions(v.Context(), link, sinceID, now)
	w := v.at(now)
	cards := make([]counterCard, len(list))
	for i, t := range list {
		cards[i] = counterCard{words: w, Transaction: t}
		if isNews(t, now) {
			cards[i].Say = app.Announcement(t.Amount).In(v.Lang)
		}
	}
	return cards, err
}

// counterTotal is the line about today; empty if the link shows none.
func (s *Server) counterTotal(v *visit, link app.CounterLink, now time.Time) (string, error) {
	if !link.ShowsTotal {
		return "", nil
	}
	sum, err := s.Service.CounterTotal(v.Context(), link, now)
	return v.T("Today: ", "Hôm nay: ") + "+" + v.Money(sum.Total) + " · " + v.Count(sum.Count, "payment", "payments", "giao dịch"), err
}

// ownCounter is the counter of a signed-in user, in the form of a link.
func ownCounter(v *visit) app.CounterLink { return app.CounterLink{AccountID: v.account.ID} }

func (s *Server) counterPage(v *visit) error {
	return s.showCounter(v, ownCounter(v), livePrefix+"counter")
}

func (s *Server) counterLinkPage(v *visit) error {
	token := v.PathValue("token")
	link, err := s.Service.CounterLink(v.Context(), token)
	if err != nil {
		return err
	}
	return s.showCounter(v, link, livePrefix+"counter/"+token)
}

func (s *Server) showCounter(v *visit, link app.CounterLink, live string) error {
	cards, err := s.counterCards(v, link, nil, v.now)
	if err != nil {
		return err
	}
	data := counterData{Name: link.Name, Cards: cards}
	if data.Total, err = s.counterTotal(v, link, v.now); err != nil {
		return err
	}
	// The stream begins after the newest card, or a day ago if there is no card.
	var newest int64
	if len(cards) > 0 {
		newest = cards[0].ID
	}
	data.Live = live + "?since=" + strconv.FormatInt(newest, 10)
	v.w.Header().Set("X-Robots-Tag", "noindex, nofollow")
	return s.write(v, http.StatusOK, "screen", s.view(v, "counter", app.Text{EN: "Counter screen", VI: "Màn hình quầy"}, data))
}

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
	if first, err := s.firstUse(v); err != nil || !first {
		return err
	}
	form := app.CounterLinkCreate{Name: v.PostFormValue("name"), ShowsTotal: v.PostFormValue("total") != ""}
	var err error
	form.BankAccountID, err = readBankAccountID(v.PostFormValue("bank_account_id"))
	var link app.CounterLink
	var token string
	if err == nil {
		link, token, err = s.Service.CreateCounterLink(v.Context(), v.account.ID, form, v.now)
	}
	if err != nil {
		return s.showSettings(v, settingsData{Refused: "counters", CounterForm: form}, err)
	}
	page := secretPage{
		Lead: app.Text{
			EN: "Open this link on the tablet. Anyone who has it can see money coming in, and nothing else, until you revoke it.",
			VI: "Mở đường dẫn này trên máy tính bảng. Ai có đường dẫn đều xem được tiền vào (và chỉ tiền vào) cho đến khi bạn thu hồi.",
		}.In(v.Lang),
		Label: app.Text{EN: "Link", VI: "Đường dẫn"}.In(v.Lang), Secret: s.address(v, link.Path(token)), Link: true, Back: "/settings",
	}
	if !strings.HasPrefix(page.Secret, "http") {
		page.Lead += " " + app.Text{
			EN: "Put this server’s address before it; with serve --base-url it is there already.",
			VI: "Hãy thêm địa chỉ máy chủ này vào trước; nếu chạy serve với --base-url thì đã có sẵn.",
		}.In(v.Lang)
		return s.showLink(v, link, page)
	}
	code, err := vietqr.Code(page.Secret)
	if err != nil {
		return err
	}
	page.QR = template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(code.PNG()))
	return s.showLink(v, link, page)
}

func (s *Server) showLink(v *visit, link app.CounterLink, page secretPage) error {
	return s.showOnce(v, "settings", app.Textf("Counter screen “%s”", "Màn hình quầy “%s”", link.Name), page)
}

// counterRevocation revokes a link.
func (s *Server) counterRevocation(v *visit, l app.CounterLink) confirmation {
	return confirmation{
		Path: "/settings/counters/" + strconv.FormatInt(l.ID, 10) + "/revoke", Back: "/settings",
		Title: v.T("Revoke “", "Thu hồi đường dẫn “") + l.Name + "”?", Button: v.T("Revoke", "Thu hồi"),
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
