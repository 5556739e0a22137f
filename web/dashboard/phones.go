package dashboard

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/alert"
	"baoco/web/wire"
)

const phonesPath = "/settings/phones"

// phoneCard is a phone and its form, as it was entered or as it is stored.
type phoneCard struct {
	alert.Phone
	Smallest string // the smallest amount for which it rings, as it is entered
	Here     bool   // it is the visitor's browser
	Refused  bool   // its form, or a test of it, was refused
}

type phonesData struct {
	Refused bool // the form or a test of one of Cards was refused
	Cards   []phoneCard
	Here    bool // the visitor's browser is one of the phones
	Key     string
	Banks   []app.BankAccount
}

// showPhones shows the page, with the refused form of a phone as it was entered.
func (s *Server) showPhones(v *visit, sent phoneCard, wrong error) error {
	phones, err := s.Services.Alerts.Phones(v.Context(), v.user.ID)
	if err != nil {
		return err
	}
	var data phonesData
	for _, p := range phones {
		card := phoneCard{Phone: p, Here: p.ID == phoneHere(v), Refused: p.ID == sent.ID}
		if p.Least > 0 {
			card.Smallest = app.GroupDigits(p.Least, v.Lang)
		}
		if card.Refused && sent.UserID != 0 {
			sent.Name, sent.Here, sent.Refused = p.Name, card.Here, true
			card = sent
		}
		data.Cards = append(data.Cards, card)
		data.Here, data.Refused = data.Here || card.Here, data.Refused || card.Refused
	}
	if data.Key, err = s.Services.Alerts.PushKey(v.Context(), v.account.ID); err != nil {
		return err
	}
	if data.Banks, err = s.Services.Ledger.BankAccounts(v.Context(), v.account.ID); err != nil {
		return err
	}
	return s.render(v, wrong, pageHead{"phones", "settings", app.Text{EN: "Messages on your phone", VI: "Báo lên điện thoại"}}, data)
}

// phoneCookie is the name of the cookie that holds the id of a phone, so that its page and the
// signing out there know the phone. The cookie signs nobody in.
func phoneCookie(v *visit) string {
	return strings.Replace(deviceCookie(v.Request), "device", "phone", 1)
}

// phoneHere is the id of a phone in the browser's cookie; 0: the browser has no such cookie.
func phoneHere(v *visit) int64 {
	c, err := v.Cookie(phoneCookie(v))
	if err != nil {
		return 0
	}
	id, _ := wire.ParseID(c.Value)
	return id
}

// addPhone adds the visitor's browser, which has subscribed to push messages, as a phone.
func (s *Server) addPhone(v *visit) error {
	if !s.mayPush(v) {
		return s.showPhones(v, phoneCard{}, errTooManyGuesses)
	}
	p, err := s.Services.Alerts.AddPhone(v.Context(), alert.Phone{
		AccountID: v.account.ID, UserID: v.user.ID, Name: v.Browser(v.UserAgent()), Lang: v.Lang, CreatedAt: v.now,
		Payments: true, Attention: v.may(ownerOnly), PhoneAddress: alert.PhoneAddress{Endpoint: v.PostFormValue("endpoint"),
			P256dh: v.PostFormValue("p256dh"), Auth: v.PostFormValue("auth"), Origin: wire.Origin(v.Request)},
	})
	if err != nil {
		return s.showPhones(v, phoneCard{}, err)
	}
	http.SetCookie(v.w, &http.Cookie{Name: phoneCookie(v), Value: strconv.FormatInt(p.ID, 10), Path: "/", HttpOnly: true,
		MaxAge: int(deviceLifetime / time.Second), Secure: wire.Secure(v.Request), SameSite: http.SameSiteLaxMode})
	return s.redirect(v, phonesPath, app.Text{EN: "This phone gets the messages from now on. Send a test to see that it rings.",
		VI: "Điện thoại này sẽ được báo từ bây giờ. Hãy gửi thử để xem máy có báo không."})
}

// changePhone sets for which payments a phone rings, and when.
func (s *Server) changePhone(v *visit) (err error) {
	var bad app.Invalid
	sent := phoneCard{Smallest: strings.TrimSpace(v.PostFormValue("min_amount")), Phone: alert.Phone{
		ID: v.pathID(), AccountID: v.account.ID, UserID: v.user.ID,
		Payments: v.PostFormValue("payments") == "1", Attention: v.PostFormValue("attention") == "1" && v.may(ownerOnly),
		Amounts: v.PostFormValue("amounts") == "1", QuietFrom: v.PostFormValue("quiet_from"), QuietTo: v.PostFormValue("quiet_to"),
	}}
	sent.Least = app.ReadShortAmountBound("min_amount", sent.Smallest, true, &bad)
	sent.BankAccountID = readBankAccountID(v.PostFormValue("bank_account_id"), &bad)
	if err = bad.Err(); err == nil {
		err = s.Services.Alerts.ChangePhone(v.Context(), sent.Phone)
	}
	if err != nil && app.CodeOf(err) != app.CodeNotFound {
		return s.showPhones(v, sent, err)
	}
	return s.done(v, err, phonesPath, app.Text{EN: "Your choice is kept.", VI: "Đã lưu lựa chọn."})
}

// pushPace bounds the messages that a user makes the server send to addresses of their choice.
var pushPace = wire.Pace{Burst: 10, PerMinute: 5}

func (s *Server) mayPush(v *visit) bool {
	_, _, may := s.pushed.Take(v.user.ID, pushPace, v.now)
	return may
}

func (s *Server) testPhone(v *visit) error {
	if !s.mayPush(v) {
		return s.showPhones(v, phoneCard{Phone: alert.Phone{ID: v.pathID()}}, errTooManyGuesses)
	}
	err := s.Services.Alerts.TestPhone(v.Context(), v.user.ID, v.pathID(), v.now)
	if fault := (*alert.Error)(nil); errors.As(err, &fault) {
		return s.showPhones(v, phoneCard{Phone: alert.Phone{ID: v.pathID()}}, app.Refused(app.CodeConflict, fault.Text))
	}
	return s.done(v, err, phonesPath, app.Text{EN: "The test was taken. Look whether the phone rings.",
		VI: "Tin thử đã được gửi. Hãy xem điện thoại có báo không."})
}

func (s *Server) removePhone(v *visit) error {
	return s.done(v, s.Services.Alerts.RemovePhone(v.Context(), v.user.ID, v.pathID()), phonesPath,
		app.Text{EN: "That phone gets no more messages.", VI: "Điện thoại đó không được báo nữa."})
}

// forgetPhone removes the visitor's browser from the phones when the visitor signs out there.
func (s *Server) forgetPhone(v *visit) error {
	err := s.Services.Alerts.RemovePhone(v.Context(), v.user.ID, phoneHere(v))
	if app.CodeOf(err) == app.CodeNotFound {
		return nil
	}
	return err
}

// serviceWorker answers with the script that shows messages on a phone. Its address is at the
// top level, since it may open only pages below its own address.
func (s *Server) serviceWorker(v *visit) error {
	v.SetPathValue("name", "sw.js")
	v.w.Header().Set("Cache-Control", "no-cache")
	s.static(v.w, v.Request)
	return nil
}
