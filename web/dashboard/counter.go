package dashboard

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"slices"
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/payment"
	"baoco/app/target"
	"baoco/app/vietqr"
)

// The counter screen shows money in as it comes, in large type, on the shop's tablet. A
// signed-in user opens it directly; a link opens it without signing in, and then only the
// link decides what it shows.

type counterData struct {
	Name     string // of the counter; empty: it is the screen of a signed-in user
	Live     string // address of the stream
	Manifest string // address of the manifest
	Cards    []counterCard
	Till     *tillData // nil: a counter
	Total    string    // the line of counterTotal; empty: not shown
	Least    []int64   // the choices of the smallest amount in VND that a device announces
}

var leastAnnounced = []int64{5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000}

// counterCard is one transaction on the counter.
type counterCard struct {
	words
	app.Transaction
	Verdict payment.Verdict
	Say     string // the text to speak; empty: the money is too old
	Missed  bool   // the money is too old only because the screen wasn't connected when it came
}

// VerdictText says the verdict on the money in a few words.
func (c counterCard) VerdictText() string {
	switch p := c.Payment(); c.Verdict {
	case payment.VerdictFull:
		if p.Received != c.Amount { // the last of several
			return c.T("In full: ", "Đủ ") + c.Money(p.Received)
		}
		return c.T("Paid in full", "Đủ tiền")
	case payment.VerdictOver:
		return c.OverText(p.Received-p.Due, p.Received)
	case payment.VerdictShort:
		return c.T("Not enough: received only ", "Thiếu: mới nhận ") + c.Money(p.Received) + c.T(", still due ", ", còn thiếu ") +
			c.Money(p.Due-p.Received)
	case payment.VerdictOther:
		return c.T("Of no known bill", "Chưa rõ của đơn nào")
	case payment.VerdictSmall:
		return c.T("A small amount: look at it twice", "Số tiền nhỏ, hãy xem kỹ")
	case payment.VerdictCheck:
		if p.Status == app.PaymentPaidLate {
			text := c.T("Too late: the bill was cancelled or had expired", "Tiền đến muộn: đơn đã huỷ hoặc hết hạn")
			if p.Overpaid > 0 {
				text += " · " + c.T("Too much: ", "Thừa ") + c.Money(p.Overpaid)
			}
			return text
		}
		if p.Status == app.PaymentPaid {
			return c.T("The bill was paid before", "Đơn đã đủ tiền từ trước")
		}
		return p.Status.Name().In(c.Lang)
	}
	return ""
}

// OverText says how much money came beyond the amount of the request, and how much in all.
func (w words) OverText(over, received int64) string {
	return w.T("Too much: ", "Thừa ") + w.Money(over) + " (" + w.T("received ", "đã nhận ") + w.Money(received) + ")"
}

// A screen speaks each new payment. Money that it missed while it was offline would
// be taken for the next customer's, so it speaks the sum of that in one sentence. It
// doesn't speak an old transfer that only now comes with a statement or a provider's list.
const (
	spokenFor    = time.Minute      // after it was recorded
	spokenWithin = 30 * time.Minute // from the transfer, if its time is known, until it is recorded; providers may be late
)

func (w words) counterCard(t app.Transaction, a app.Account, till bool) counterCard {
	card := counterCard{words: w, Transaction: t}
	var say app.Text
	say, card.Verdict = payment.Announce(t, a, till)
	if t.CreatedAt.Sub(t.KnownAt()) < spokenWithin {
		card.Missed = w.now.Sub(t.CreatedAt) >= spokenFor
		if !card.Missed {
			card.Say = say.In(w.Lang)
		}
	}
	return card
}

// matchedCard is the card of money that was matched by hand. It is spoken if the match is new.
func (w words) matchedCard(m payment.Transfer, a app.Account, till bool) counterCard {
	card := counterCard{words: w, Transaction: m.Transaction}
	var say app.Text
	say, card.Verdict = payment.Announce(m.Transaction, a, till)
	if w.now.Sub(m.MatchedAt) < spokenFor {
		card.Say = say.In(w.Lang)
	}
	return card
}

func (w words) counterCards(list []app.Transaction, a app.Account, till bool) []counterCard {
	cards := make([]counterCard, len(list))
	for i, t := range list {
		cards[i] = w.counterCard(t, a, till)
	}
	return cards
}

// counterTotal is the line about today, or about the shift of a till; empty if the link
// shows none.
func (s *Server) counterTotal(v *visit, link payment.CounterLink, till *tillStream, now time.Time) (string, error) {
	if till != nil {
		shift, _, err := s.Services.Payments.OpenShift(v.Context(), link.AccountID, till.userID)
		return v.T("This shift: ", "Ca này: ") + "+" + v.Money(shift.Received) + " · " + v.Count(shift.Bills, "bill", "bills", "đơn"), err
	}
	if !link.ShowsTotal {
		return "", nil
	}
	sum, err := s.Services.Payments.CounterTotal(v.Context(), link, now)
	return v.T("Today: ", "Hôm nay: ") + "+" + v.Money(sum.Total) + " · " + v.Count(sum.Count, "payment", "payments", "khoản"), err
}

// ownCounter is the counter screen of a signed-in user, as if a link opened it.
func ownCounter(v *visit) payment.CounterLink { return payment.CounterLink{AccountID: v.account.ID} }

func (s *Server) counterPage(v *visit) error {
	return s.showScreen(v, ownCounter(v), "/counter", nil, nil)
}

func (s *Server) counterLinkPage(v *visit, link payment.CounterLink) error {
	return s.showScreen(v, link, link.Path(v.PathValue("token")), nil, nil)
}

// linkedCounter finds the link that the path names. If the link has a receiving number, the
// storage shows only its money from here on: the limit is in the context.
func (s *Server) linkedCounter(v *visit) (payment.CounterLink, error) {
	link, err := s.Services.Payments.CounterLink(v.Context(), v.PathValue("token"))
	if err == nil && link.ReceivingNumber != "" {
		v.Request = v.WithContext(access.SeeingOnly(v.Context(),
			access.BankAccountLimit{On: true, IDs: []int64{link.BankAccountID}, ReceivingNumber: link.ReceivingNumber}))
	}
	return link, err
}

// showScreen shows the counter or till at path. wrong is why the bill of a till was refused.
func (s *Server) showScreen(v *visit, link payment.CounterLink, path string, till *tillData, wrong error) error {
	list, last, err := s.Services.Payments.CounterScreen(v.Context(), link, v.now)
	if err != nil {
		return err
	}
	account, err := s.Services.Ledger.Account(v.Context(), link.AccountID)
	if err != nil {
		return err
	}
	section, title := "counter", app.Text{EN: "Counter screen", VI: "Màn hình quầy"}
	data := counterData{Name: link.Name, Manifest: path + "/manifest.webmanifest", Till: till, Least: leastAnnounced}
	// The stream begins after the transaction that was recorded last.
	data.Live = livePath + path + "?since=" + strconv.FormatInt(last, 10)
	var stream *tillStream
	if till != nil {
		section, title, stream = "till", app.Text{EN: "Till", VI: "Thu tiền"}, &tillStream{userID: v.user.ID}
		if till.Bill != nil {
			data.Live += "&bill=" + strconv.FormatInt(till.Bill.ID, 10)
		}
		if list, err = s.onTill(v, list); err != nil {
			return err
		}
	}
	data.Cards = v.counterCards(list, account, till != nil)
	if data.Total, err = s.counterTotal(v, link, stream, v.now); err != nil {
		return err
	}
	v.w.Header().Set("X-Robots-Tag", "noindex, nofollow")
	f, status, err := refusedForm(wrong, v.Lang)
	if err != nil {
		return err
	}
	page := s.view(v, section, title, data)
	page.faults = f
	return s.write(v, status, "screen", page)
}

// onTill keeps of a list the transactions that the visitor's till shows.
func (s *Server) onTill(v *visit, list []app.Transaction) (kept []app.Transaction, _ error) {
	for _, t := range list {
		shows, err := s.tillShows(v, v.user.ID, t)
		if err != nil {
			return nil, err
		}
		if shows {
			kept = append(kept, t)
		}
	}
	return kept, nil
}

// counterBacklog answers with one sentence about count payments of sum VND that a counter
// missed. The screen counts them, since it leaves out small ones. Everybody may ask: the
// answer holds nothing but these numbers.
func (s *Server) counterBacklog(v *visit) error {
	query := v.URL.Query()
	count, err := strconv.ParseInt(query.Get("count"), 10, 64)
	if err != nil || count < 1 {
		return app.InvalidField("count", "must be a number of payments", "phải là số khoản tiền")
	}
	sum, err := strconv.ParseInt(query.Get("sum"), 10, 64)
	if err != nil || sum < 0 || sum > app.MaxAmount {
		return app.InvalidField("sum", "must be an amount in VND", "phải là số tiền VND")
	}
	v.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = v.w.Write([]byte(payment.AnnouncementOfMany(count, sum).In(v.Lang)))
	return nil
}

func (s *Server) counterManifest(v *visit) error {
	return writeManifest(v, counterName(v, ownCounter(v)), "/counter", "/counter")
}

func (s *Server) tillManifest(v *visit) error {
	return writeManifest(v, v.T("Till", "Thu tiền"), tillPath, tillPath)
}

func (s *Server) counterLinkManifest(v *visit, link payment.CounterLink) error {
	return writeManifest(v, counterName(v, link), link.Path(v.PathValue("token")), "/counter")
}

func counterName(v *visit, link payment.CounterLink) string {
	return cmp.Or(link.Name, v.T("Counter screen", "Màn hình quầy"))
}

func (s *Server) dashboardManifest(v *visit) error {
	return writeManifest(v, v.account.ShopName("Báo Có"), "/", "/")
}

// writeManifest writes the web app manifest with which a tablet or phone installs a counter
// screen or the dashboard: it then opens at path without the bars of the browser. Addresses
// below scope stay in its window.
func writeManifest(v *visit, name, path, scope string) error {
	const background = "#f6f7f9" // as in app.css
	icon := func(name, size, purpose string) map[string]string {
		return map[string]string{"src": staticURL(name), "sizes": size, "type": "image/png", "purpose": purpose}
	}
	body, err := json.Marshal(map[string]any{
		"name": name + " · baoco", "short_name": name, "lang": v.Lang, "start_url": path, "scope": scope, "display": "standalone",
		"background_color": background, "theme_color": background,
		"icons": []any{icon("icon-192.png", "192x192", "any"), icon("icon-512.png", "512x512", "any"),
			icon("icon-maskable-512.png", "512x512", "maskable")},
	})
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "application/manifest+json")
	_, _ = v.w.Write(body)
	return nil
}

// counterRow is a counter link in the settings.
type counterRow struct {
	payment.CounterLink
	Shows string // the bank account and the receiving number; empty: all
	Ask   confirmation
}

var counterStep = guideStep{
	Name: "counter", Title: app.Text{EN: "Counter screen", VI: "Màn hình quầy"}, To: "/settings#counters", Optional: true,
	form: "settings", read: (*Server).readCounterStep, show: (*Server).showCounterStep,
}

func (s *Server) readCounterStep(v *visit) (guideProgress, error) {
	links, err := s.Services.Payments.CounterLinks(v.Context(), v.account.ID)
	links = slices.DeleteFunc(links, func(l payment.CounterLink) bool { return !l.RevokedAt.IsZero() })
	return doneByFirst(links, err, func(l payment.CounterLink) string { return l.Name })
}

func (s *Server) showCounterStep(v *visit, page view, sent any) (template.HTML, error) {
	if page, refused := sent.(settingsData); refused {
		sent = page.sent
	}
	data, err := s.readCounters(v, sent)
	if err != nil {
		return "", err
	}
	return s.showPart(page, "guide-counter", data)
}

// countersPart is the part of the settings about counter links.
type countersPart struct {
	Rows    []counterRow
	Banks   []app.BankAccount
	Form    payment.CounterLinkCreate
	Refused bool
	numberChoice
}

func (s *Server) showCountersPart(v *visit, page view, sent any) (template.HTML, error) {
	data, err := s.readCounters(v, sent)
	if err != nil {
		return "", err
	}
	return s.showPart(page, "settings-counters", data)
}

func (s *Server) readCounters(v *visit, sent any) (data countersPart, err error) {
	data.Form, data.Refused = sent.(payment.CounterLinkCreate)
	if data.Banks, err = s.Services.Ledger.BankAccounts(v.Context(), v.account.ID); err != nil {
		return data, err
	}
	data.numberChoice = chooseNumber(data.Form.ReceivingNumber, data.Banks)
	data.Rows, err = s.counterRows(v, data.Banks)
	return data, err
}

// counterRows are the counter links that aren't revoked, newest first.
func (s *Server) counterRows(v *visit, banks []app.BankAccount) ([]counterRow, error) {
	links, err := s.Services.Payments.CounterLinks(v.Context(), v.account.ID)
	var rows []counterRow
	for i := len(links) - 1; i >= 0; i-- {
		l := links[i]
		if !l.RevokedAt.IsZero() {
			continue
		}
		row := counterRow{CounterLink: l, Ask: s.counterRevocation(v, l)}
		if b := bankAccount(banks, l.BankAccountID); b.ID != 0 {
			row.Shows = b.Bank + " " + b.AccountNumber
		} else if l.BankAccountID != 0 {
			row.Shows = "#" + strconv.FormatInt(l.BankAccountID, 10) // the bank account was unlinked
		}
		if number := v.numberText(l.ReceivingNumber, banks); number != "" {
			row.Shows += "; " + number
		}
		rows = append(rows, row)
	}
	return rows, err
}

func (s *Server) createCounterLink(v *visit) error {
	form := payment.CounterLinkCreate{Name: v.PostFormValue("name"), ShowsTotal: v.PostFormValue("total") != "",
		ReceivingNumber: v.PostFormValue("receiving_number"),
		NewName:         v.newName(), Key: v.form.key}
	var bad app.Invalid
	form.BankAccountID = readBankAccountID(v.PostFormValue("bank_account_id"), &bad)
	link, token, err := payment.CounterLink{}, "", bad.Err()
	if err == nil {
		link, token, err = s.Services.Payments.CreateCounterLink(v.Context(), v.account.ID, form, v.now)
	}
	if err != nil {
		return s.showSettings(v, "counters", form, err)
	}
	page := secretPage{
		Lead: app.Text{EN: "Open this link on the tablet. Anyone who has it can see money coming in, and nothing else, until you revoke it.",
			VI: "Mở đường dẫn này trên máy tính bảng. Ai có đường dẫn đều xem được tiền vào (và chỉ tiền vào) cho đến khi bạn thu hồi."}.In(v.Lang),
		Label: app.Text{EN: "Link", VI: "Đường dẫn"}.In(v.Lang), Address: s.givenAddress(v, link.Path(token), target.ReachNetwork),
		Back: v.next("/settings"),
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

func (s *Server) counterRevocation(v *visit, l payment.CounterLink) confirmation {
	return confirmation{
		Path: "/settings/counters/" + strconv.FormatInt(l.ID, 10) + "/revoke", Back: "/settings", section: "settings",
		Title: v.T("Revoke the link “", "Thu hồi đường dẫn “") + l.Name + "”?", Button: v.T("Revoke", "Thu hồi"),
		Texts: []string{v.T("Screens open with this link stop within a second. The counter needs a new link to see money coming in again.",
			"Mọi màn hình đang mở bằng đường dẫn này sẽ ngừng hiển thị trong vòng một giây. Quầy cần đường dẫn mới để tiếp tục xem tiền vào.")},
		do:   func() error { return s.Services.Payments.RevokeCounterLink(v.Context(), v.account.ID, l.ID, v.now) },
		done: app.Textf("Link “%s” revoked.", "Đã thu hồi đường dẫn “%s”.", l.Name),
	}
}

func (s *Server) pageCounter(v *visit) (payment.CounterLink, error) {
	links, err := s.Services.Payments.CounterLinks(v.Context(), v.account.ID)
	return named(v, links, err, func(l payment.CounterLink) int64 { return l.ID }, payment.ErrNoCounterLink)
}
