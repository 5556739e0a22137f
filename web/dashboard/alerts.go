package dashboard

import (
	"cmp"
	"context"
	"errors"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/alert"
	"baoco/web/wire"
)

// alertCard is a channel and its form: as it was entered, or as the channel is set up. It
// holds no secret.
type alertCard struct {
	Channel alert.Channel        // its ID is 0 if none is set up
	Saved   app.Text             // the form as it is stored: see savedChannel
	To      string               // recipients of e-mail, one a line
	Chats   []alert.TelegramChat // the chats that were found; the owner chooses one
	Least   string               // the smallest amount of its feed, as it is entered
	Banks   []app.BankAccount
	Remove  confirmation
	Open    bool // the form is shown open
	Refused bool // the form, or a test of the channel, was refused
}

// alertKind is a kind of attention that alerts can be about.
type alertKind struct {
	Kind alert.AttentionKind
	Name app.Text
	On   bool
}

type alertsData struct {
	Telegram, Email alertCard
	Chats           []alertCard // of alert.ChatMedia
	Lang            app.Lang
	Kinds           []alertKind
	Messages        []alert.Message
	Recipients      int              // at most
	Report          alert.ReportTime // as entered, or as the channels have it; empty: no channel gets the report

	SavedPreferences, SavedReport app.Text // the stored values of these forms
}

// sentAlerts is a refused form of the page, as it was entered.
type sentAlerts struct {
	card        alertCard          // with a medium: the form or the test of a channel was refused
	preferences *alert.Preferences // nil: another form was refused
	report      *sentReport        // nil: another form was refused
}

// sentReport is the form of the report of the day.
type sentReport struct {
	at            alert.ReportTime
	media, months []string // the media that get the report of the day, and those that get the report of the month
}

// of is the time at which a channel gets the report; empty: it gets none.
func (r sentReport) of(medium alert.Medium) alert.ReportTime {
	if slices.Contains(r.media, string(medium)) {
		return r.at
	}
	return ""
}

// savedChannel is the stored channel as text, without secrets, to compare with its form;
// empty if the channel isn't set up.
func savedChannel(channels []alert.Channel, medium alert.Medium) app.Text {
	var list []string
	for _, c := range channels {
		switch {
		case c.Medium != medium || c.SettingsLost:
		case medium == alert.Telegram:
			list = append(list, c.Telegram.Chat, c.Telegram.APIURL)
		case medium != alert.Email:
			list = append(list, c.Destination())
		default:
			list = append(list, c.Email.Host, strconv.Itoa(c.Email.Port), string(c.Email.Security), c.Email.Username, c.Email.From)
			list = append(list, c.Email.To...)
		}
	}
	list = slices.DeleteFunc(list, func(field string) bool { return field == "" })
	saved := strings.Join(list, ", ")
	return app.Text{EN: saved, VI: saved}
}

// savedPreferences are the language and the kinds that are on, as text.
func savedPreferences(p alert.Preferences, kinds []alert.AttentionKind) app.Text {
	saved := app.Text{EN: "English", VI: "Tiếng Anh"}
	if p.Lang == app.Vietnamese {
		saved = app.Text{EN: "Vietnamese", VI: "Tiếng Việt"}
	}
	for _, kind := range kinds {
		if name := kind.AlertName(); !slices.Contains(p.Muted, kind) {
			saved.EN, saved.VI = saved.EN+"; "+name.EN, saved.VI+"; "+name.VI
		}
	}
	return saved
}

// savedReport says when each channel gets the report of the day.
func savedReport(channels []alert.Channel) (saved app.Text) {
	for _, c := range channels {
		if c.ReportTime != "" {
			name, at := c.Medium.Name(), " "+string(c.ReportTime)+" "
			saved.EN, saved.VI = saved.EN+name.EN+at, saved.VI+name.VI+at
		}
		if c.ReportedMonth != 0 {
			saved.EN, saved.VI = saved.EN+c.Medium.Name().EN+" month ", saved.VI+c.Medium.Name().VI+" tháng "
		}
	}
	return app.Text{EN: strings.TrimSpace(saved.EN), VI: strings.TrimSpace(saved.VI)}
}

func (d alertsData) SetUp() (list []alert.Channel) {
	for _, card := range append([]alertCard{d.Telegram, d.Email}, d.Chats...) {
		if card.Channel.ID != 0 {
			list = append(list, card.Channel)
		}
	}
	return list
}

// CardRefused reports whether the form or a test of a channel was refused: then its card
// says so.
func (d alertsData) CardRefused() bool {
	return slices.ContainsFunc(append([]alertCard{d.Telegram, d.Email}, d.Chats...), func(c alertCard) bool { return c.Refused })
}

// ChatHint says where the owner finds what the form of a chat service asks for.
func (w words) ChatHint(m alert.Medium) string {
	return map[alert.Medium]app.Text{
		alert.Zalo: {EN: "Make a bot with Zalo Bot Creator in Zalo, and write to it or add it to a group. " +
			"The chat id is in what the bot receives (getUpdates).",
			VI: "Tạo bot bằng Zalo Bot Creator trong Zalo, rồi nhắn cho bot hoặc thêm bot vào nhóm. " +
				"Mã cuộc trò chuyện nằm trong tin mà bot nhận được (getUpdates)."},
		alert.Discord: {EN: "In Discord: Edit Channel, Integrations, Webhooks, New Webhook, Copy Webhook URL.",
			VI: "Trong Discord: Chỉnh sửa kênh, Tích hợp, Webhook, Webhook mới, Sao chép URL webhook."},
		alert.Slack: {EN: "In Slack, add the app Incoming Webhooks to a channel and copy its URL.",
			VI: "Trong Slack, thêm ứng dụng Incoming Webhooks vào một kênh và sao chép URL."},
		alert.Lark: {EN: "In the Lark or Feishu group: Settings, Bots, Add bot, Custom bot; copy its URL.",
			VI: "Trong nhóm Lark hoặc Feishu: Cài đặt, Bot, Thêm bot, Bot tuỳ chỉnh; sao chép URL."},
		alert.Ntfy: {EN: "The address of a topic that nobody can guess: who knows it reads along.",
			VI: "Địa chỉ của một chủ đề khó đoán: ai biết địa chỉ đều đọc được tin."},
	}[m].In(w.Lang)
}

// alertMessagesShown is how many of the last messages the page lists.
const alertMessagesShown = 20

// showAlerts shows the page, with the refused form as it was entered.
func (s *Server) showAlerts(v *visit, sent sentAlerts, wrong error) error {
	v.formVersion = "" // each form of the page has the version of what is stored
	p, err := s.Services.Alerts.AlertPreferences(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	channels, err := s.Services.Alerts.AlertChannels(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	data := alertsData{Recipients: alert.MaxRecipients, SavedPreferences: savedPreferences(p, s.alertKinds(v)),
		SavedReport: savedReport(channels)}
	if sent.preferences != nil {
		p = *sent.preferences
	}
	data.Lang = p.Lang
	if sent.report != nil {
		data.Report = sent.report.at
	}
	banks, err := s.Services.Ledger.BankAccounts(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	cards := map[alert.Medium]alertCard{}
	for _, c := range channels {
		if sent.report != nil {
			c.ReportTime, c.ReportedMonth = sent.report.of(c.Medium), 0
			if slices.Contains(sent.report.months, string(c.Medium)) {
				c.ReportedMonth = 1
			}
		}
		data.Report = cmp.Or(data.Report, c.ReportTime)
		cards[c.Medium] = alertCard{Channel: c, Saved: savedChannel(channels, c.Medium), Remove: s.alertRemoval(v, c), Banks: banks}
	}
	data.Telegram, data.Email = sent.filled(cards, alert.Telegram, v.Lang), sent.filled(cards, alert.Email, v.Lang)
	for _, medium := range alert.ChatMedia {
		data.Chats = append(data.Chats, sent.filled(cards, medium, v.Lang))
	}
	data.Telegram.Open = data.Telegram.Open || data.Telegram.Channel.ID == 0
	for _, kind := range s.alertKinds(v) {
		data.Kinds = append(data.Kinds, alertKind{kind, kind.AlertName(), !slices.Contains(p.Muted, kind)})
	}
	if data.Messages, err = s.Services.Alerts.AlertMessages(v.Context(), v.account.ID, alertMessagesShown); err != nil {
		return err
	}
	return s.render(v, wrong, pageHead{"alerts", "settings", app.Text{EN: "Alerts", VI: "Cảnh báo"}}, data)
}

var alertsStep = guideStep{
	Name: "alerts", Title: app.Text{EN: "Alerts", VI: "Cảnh báo"}, To: "/settings/alerts", Optional: true,
	form: "alerts", read: (*Server).readAlertsStep, show: (*Server).showAlertsStep,
}

// readAlertsStep reads the step, which is done once a channel that is set up has sent a message
// and doesn't fail now.
func (s *Server) readAlertsStep(v *visit) (guideProgress, error) {
	channels, err := s.Services.Alerts.AlertChannels(v.Context(), v.account.ID)
	if err != nil {
		return guideProgress{}, err
	}
	messages, err := s.Services.Alerts.AlertMessages(v.Context(), v.account.ID, alertMessagesShown)
	var media []string
	for _, c := range channels {
		sent := slices.ContainsFunc(messages, func(m alert.Message) bool { return m.Medium == c.Medium && m.Sent && m.Problem == app.Text{} })
		if (sent || !c.SentAt.IsZero()) && c.Failures == 0 {
			media = append(media, c.Medium.Name().In(v.Lang))
		}
	}
	return doneIf(strings.Join(media, ", ")), err
}

func (s *Server) showAlertsStep(v *visit, page view, sent any) (template.HTML, error) {
	data, refused := sent.(alertsData)
	if refused {
		return s.showPart(page, "guide-alerts", data.Telegram)
	}
	channels, err := s.Services.Alerts.AlertChannels(v.Context(), v.account.ID)
	if err != nil {
		return "", err
	}
	card := alertCard{Saved: savedChannel(channels, alert.Telegram)}
	for _, c := range channels {
		if c.Medium == alert.Telegram {
			card.Channel = c
		}
	}
	card.Channel.Telegram.Token = ""
	return s.showPart(page, "guide-alerts", card)
}

// filled is the form of a medium, without secrets: as it was entered if it was refused, else
// as its channel is stored.
func (s sentAlerts) filled(stored map[alert.Medium]alertCard, medium alert.Medium, lang app.Lang) alertCard {
	card, entered := stored[medium], s.card
	c := &card.Channel
	c.Medium = medium
	if c.ID == 0 || c.SettingsLost {
		c.Email = alert.EmailSettings{Port: 587, Security: alert.MailStartTLS}
	}
	if c.ID != 0 && !c.Feed.On {
		c.Feed.Content = true
	} else if c.Feed.Least > 0 {
		card.Least = app.GroupDigits(c.Feed.Least, lang)
	}
	card.To, card.Open, card.Refused = strings.Join(c.Email.To, "\n"), c.SettingsLost, entered.Channel.Medium == medium
	if card.Refused && entered.Open {
		c.Telegram, c.Email, c.Chat.Chat = entered.Channel.Telegram, entered.Channel.Email, entered.Channel.Chat.Chat
		card.To, card.Open, card.Chats = entered.To, true, entered.Chats
	}
	if card.Refused && entered.Channel.Feed.On {
		c.Feed, card.Least = entered.Channel.Feed, entered.Least
	}
	c.Telegram.Token, c.Email.Password, c.Chat.Token = "", "", ""
	return card
}

// alertKinds are the kinds that concern the visitor's account.
func (s *Server) alertKinds(v *visit) []alert.AttentionKind {
	kinds := slices.Clone(alert.Kinds)
	if !v.operator() {
		kinds = slices.DeleteFunc(kinds, func(kind alert.AttentionKind) bool { return kind == alert.AttentionServer })
	}
	return kinds
}

// setAlertPreferences sets the language, and turns on the kinds that are ticked. It doesn't
// change kinds that the form doesn't show.
func (s *Server) setAlertPreferences(v *visit) error {
	p, err := s.Services.Alerts.AlertPreferences(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	changed := v.unchanged(savedPreferences(p, s.alertKinds(v)))
	p.Lang = app.Lang(v.PostFormValue("lang"))
	on := v.PostForm["kind"]
	for _, kind := range on {
		if !slices.Contains(alert.Kinds, alert.AttentionKind(kind)) {
			return s.showAlerts(v, sentAlerts{},
				app.InvalidField("kind", "must be one of the values in the list", "phải là một mục trong danh sách"))
		}
	}
	for _, kind := range s.alertKinds(v) {
		p.Muted = slices.DeleteFunc(p.Muted, func(k alert.AttentionKind) bool { return k == kind })
		if !slices.Contains(on, string(kind)) {
			p.Muted = append(p.Muted, kind)
		}
	}
	if changed != nil {
		return s.showAlerts(v, sentAlerts{preferences: &p}, changed)
	}
	if err := s.Services.Alerts.SetAlertPreferences(v.Context(), v.account.ID, p); err != nil {
		return s.showAlerts(v, sentAlerts{preferences: &p}, err)
	}
	return s.redirect(v, "/settings/alerts", app.Text{EN: "Your choice is kept.", VI: "Đã lưu lựa chọn."})
}

// setReport sets when the ticked channels get the report of the day. A channel that isn't
// ticked gets none.
func (s *Server) setReport(v *visit) error {
	channels, err := s.Services.Alerts.AlertChannels(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	sent := sentReport{at: alert.ReportTime(v.PostFormValue("report_time")), media: v.PostForm["medium"], months: v.PostForm["month_medium"]}
	if err := v.unchanged(savedReport(channels)); err != nil {
		return s.showAlerts(v, sentAlerts{report: &sent}, err)
	}
	for _, c := range channels {
		if err := s.Services.Alerts.SetReport(v.Context(), v.account.ID, c.Medium, sent.of(c.Medium), v.now); err != nil {
			return s.showAlerts(v, sentAlerts{report: &sent}, err)
		}
		monthly := slices.Contains(sent.months, string(c.Medium))
		if err := s.Services.Alerts.SetMonthReport(v.Context(), v.account.ID, c.Medium, monthly, v.now); err != nil {
			return err
		}
	}
	return s.redirect(v, "/settings/alerts", app.Text{EN: "Your choice is kept.", VI: "Đã lưu lựa chọn."})
}

func (s *Server) setAlertEmail(v *visit) error {
	port, _ := strconv.Atoi(strings.TrimSpace(v.PostFormValue("smtp_port"))) // 0, which is refused, if it is no number
	to := v.PostFormValue("email_to")
	return s.setAlertChannel(v, alertCard{To: to, Channel: alert.Channel{Medium: alert.Email, Email: alert.EmailSettings{
		Host: v.PostFormValue("smtp_host"), Port: port, Security: alert.MailSecurity(v.PostFormValue("smtp_security")),
		Username: v.PostFormValue("smtp_username"), Password: v.PostFormValue("smtp_password"), From: v.PostFormValue("email_from"),
		To: strings.FieldsFunc(to, func(r rune) bool { return r == ',' || r == ';' || r == '\n' || r == '\r' || r == ' ' }),
	}}})
}

func (s *Server) setAlertChat(v *visit) error {
	medium := alert.Medium(v.PathValue("medium"))
	if !slices.Contains(alert.ChatMedia, medium) {
		return alert.ErrNoChannel
	}
	return s.setAlertChannel(v, alertCard{Channel: alert.Channel{Medium: medium, Chat: alert.ChatSettings{
		URL: v.PostFormValue("channel_url"), Token: v.PostFormValue("token"), Chat: v.PostFormValue("chat"),
	}}})
}

// setPayments sets which payments a channel announces.
func (s *Server) setPayments(v *visit) (err error) {
	medium := alert.Medium(v.PathValue("medium"))
	least := strings.TrimSpace(v.PostFormValue("min_amount"))
	var bad app.Invalid
	feed := alert.PaymentFeed{On: v.PostFormValue("on") == "1", Type: app.Direction(v.PostFormValue("type")),
		Content: v.PostFormValue("content") == "1"}
	feed.Least = app.ReadShortAmountBound("min_amount", least, true, &bad)
	feed.BankAccountID = readBankAccountID(v.PostFormValue("bank_account_id"), &bad)
	if err = bad.Err(); err == nil {
		err = s.Services.Alerts.SetPaymentFeed(v.Context(), v.account.ID, medium, feed)
	}
	if app.CodeOf(err) == app.CodeNotFound {
		return err
	}
	if err != nil {
		feed.On = true
		return s.showAlerts(v, sentAlerts{card: alertCard{Channel: alert.Channel{Medium: medium, Feed: feed}, Least: least}}, err)
	}
	return s.redirect(v, "/settings/alerts", app.Text{EN: "Your choice is kept.", VI: "Đã lưu lựa chọn."})
}

func (s *Server) setAlertChannel(v *visit, sent alertCard) error {
	sent.Channel.AccountID, sent.Open = v.account.ID, true
	channels, err := s.Services.Alerts.AlertChannels(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	if err := v.unchanged(savedChannel(channels, sent.Channel.Medium)); err != nil {
		return s.showAlerts(v, sentAlerts{card: sent}, err)
	}
	if _, err := s.Services.Alerts.SetAlertChannel(v.Context(), sent.Channel, v.now); err != nil {
		return s.showAlerts(v, sentAlerts{card: sent}, err)
	}
	return s.redirect(v, v.next("/settings/alerts"),
		app.Text{EN: "The channel is set up. Send a test to see that it works.",
			VI: "Đã thiết lập kênh. Hãy gửi thử để xem kênh có hoạt động không."})
}

// alertTestTime bounds a test, since a visitor waits for it.
const alertTestTime = wire.RequestTimeout - 2*time.Second

func (s *Server) testAlert(v *visit) error {
	medium := alert.Medium(v.PathValue("medium"))
	ctx, cancel := context.WithTimeout(v.Context(), alertTestTime)
	defer cancel()
	err := s.Services.Alerts.TestAlert(ctx, v.account.ID, medium, s.Installation, v.now)
	if fault, found := errors.AsType[*alert.Error](err); found {
		wrong := app.Refused(app.CodeConflict,
			app.Text{EN: "The test message was not delivered. " + fault.Text.EN, VI: "Chưa gửi được tin thử. " + fault.Text.VI})
		return s.showAlerts(v, sentAlerts{card: alertCard{Channel: alert.Channel{Medium: medium}}}, wrong)
	}
	if err != nil {
		return err
	}
	return s.redirect(v, v.next("/settings/alerts"),
		app.Text{EN: "The test was taken. Look whether it has arrived.", VI: "Tin thử đã được gửi. Hãy kiểm tra xem đã nhận được chưa."})
}

func (s *Server) pageChannel(v *visit) (alert.Channel, error) {
	return s.Services.Alerts.AlertChannel(v.Context(), v.account.ID, alert.Medium(v.PathValue("medium")))
}

func (s *Server) alertRemoval(v *visit, c alert.Channel) confirmation {
	medium := c.Medium
	return confirmation{
		Path: "/settings/alerts/" + string(medium) + "/remove", Back: "/settings/alerts", section: "settings",
		Title: v.T("Send no alerts by "+medium.Name().EN+"?", "Ngừng cảnh báo qua "+medium.Name().VI+"?"), Button: v.T("Remove", "Xoá kênh"),
		Texts: []string{v.T("Nothing is sent there any more, and what was entered is forgotten.",
			"Sẽ không còn cảnh báo nào được gửi qua kênh này, thông tin đã nhập bị xoá.")},
		do:   func() error { return s.Services.Alerts.RemoveAlertChannel(v.Context(), v.account.ID, medium) },
		done: app.Text{EN: "The channel is removed.", VI: "Đã xoá kênh."},
	}
}
