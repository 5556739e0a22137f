package alert

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/upkeep"
)

// Message is a message that baoco tried to send.
type Message struct {
	Medium  Medium
	At      time.Time // of the last attempt
	Test    bool
	Subject string
	Text    string
	Sent    bool
	Tries   int
	Problem app.Text // empty: every recipient got it
}

// KeptMessages is how many messages of an account are kept.
const KeptMessages = 50

// Condition is what a channel knows of one Attention.
type Condition struct {
	Key     string // of the Attention
	Kind    AttentionKind
	Name    app.Text
	BeganAt time.Time
	SentAt  time.Time // when a message last named it; zero: never
	GoneAt  time.Time // when it was first missing; zero: it lasts
}

// alertNews is what a channel must be sent at one time.
type alertNews struct {
	lang       app.Lang
	conditions []Condition // all that the channel is to know then
	changed    bool        // conditions differ from the stored ones
	begun      []Attention
	lasting    []Attention // for a reminder
	over       []Condition
}

func (n alertNews) none() bool { return len(n.begun)+len(n.lasting)+len(n.over) == 0 }

// alertNews compares the present Attention with what the channel knows.
func (s *Service) alertNews(ctx context.Context, c Channel, in upkeep.Installation, now time.Time) (alertNews, error) {
	p, err := s.AlertPreferences(ctx, c.AccountID)
	if err != nil {
		return alertNews{}, err
	}
	kept, err := s.store.AlertConditions(ctx, c.ID)
	if err != nil {
		return alertNews{}, err
	}
	present, err := s.Attention(ctx, c.AccountID, in, now)
	if err != nil {
		return alertNews{}, err
	}
	tells := func(kind AttentionKind, key string) bool {
		return slices.Contains(Kinds, kind) && !slices.Contains(p.Muted, kind) && key != c.attentionKey()
	}
	present = slices.DeleteFunc(present, func(a Attention) bool { return !tells(a.Kind, a.Key) })
	n := compareAlerts(kept, present, tells, now)
	n.lang = p.Lang
	return n, nil
}

// compareAlerts compares the kept conditions of a channel with what is present
// at now. A condition that begins is sent once; while any lasts, all that
// last are repeated once a day, in one message. A condition that is gone for
// alertCalm is over; if it was never sent, it is dropped silently. Conditions
// that the preferences mute are forgotten.
func compareAlerts(kept []Condition, present []Attention, tells func(AttentionKind, string) bool, now time.Time) (n alertNews) {
	known := map[string]Condition{}
	for _, c := range kept {
		known[c.Key] = c
	}
	remind := false
	var lasting []Attention
	for _, a := range present {
		c, found := known[a.Key]
		delete(known, a.Key)
		if !found || c.Name != a.Name {
			c = Condition{Key: a.Key, Kind: a.Kind, Name: a.Name, BeganAt: now}
		}
		c.GoneAt = time.Time{}
		n.conditions = append(n.conditions, c)
		if c.SentAt.IsZero() {
			n.begun = append(n.begun, a)
			continue
		}
		lasting = append(lasting, a)
		remind = remind || now.Sub(c.SentAt) >= alertReminder
	}
	if remind {
		n.lasting = lasting
	}
	for _, c := range kept {
		if _, gone := known[c.Key]; !gone || c.SentAt.IsZero() || !tells(c.Kind, c.Key) {
			continue
		}
		if c.GoneAt.IsZero() || c.GoneAt.After(now) {
			c.GoneAt = now
		}
		n.conditions = append(n.conditions, c)
		if now.Sub(c.GoneAt) >= alertCalm {
			n.over = append(n.over, c)
		}
	}
	n.changed = !slices.Equal(kept, n.conditions)
	return n
}

// afterSending returns the conditions after the news was sent at now.
func (n alertNews) afterSending(now time.Time) (after []Condition) {
	said := map[string]bool{}
	for _, a := range slices.Concat(n.begun, n.lasting) {
		said[a.Key] = true
	}
	over := map[string]bool{}
	for _, c := range n.over {
		over[c.Key] = true
	}
	for _, c := range n.conditions {
		if over[c.Key] {
			continue
		}
		if said[c.Key] {
			c.SentAt = now
		}
		after = append(after, c)
	}
	return after
}

// alertMessage writes the news as one message in the account's language.
func (s *Service) alertMessage(ctx context.Context, c Channel, n alertNews, in upkeep.Installation) (Message, error) {
	a, err := s.rooms.Ledger.Account(ctx, c.AccountID)
	if err != nil {
		return Message{}, err
	}
	w := alertWriter{lang: n.lang, zone: s.zone, base: in.BaseURL}
	since := map[string]time.Time{}
	for _, c := range n.conditions {
		since[c.Key] = c.BeganAt
	}
	for _, item := range n.begun {
		w.item(item.Name.In(w.lang), "⚠️ "+item.Text.In(w.lang)+w.link(item))
	}
	for _, item := range n.over {
		began, gone := w.clock(item.BeganAt), w.clock(item.GoneAt)
		w.item(app.Text{EN: "over: ", VI: "hết cảnh báo: "}.In(w.lang)+item.Name.In(w.lang),
			"✅ "+app.Text{EN: "Over: " + item.Name.EN + " (from " + began + " to " + gone + ").",
				VI: "Hết cảnh báo: " + item.Name.VI + " (từ " + began + " đến " + gone + ")."}.In(w.lang))
	}
	for _, item := range n.lasting {
		began := w.clock(since[item.Key])
		w.item(app.Text{EN: "still: ", VI: "vẫn còn: "}.In(w.lang)+item.Name.In(w.lang),
			"⚠️ "+app.Text{EN: "Still, since " + began + ": " + item.Text.EN,
				VI: "Vẫn còn từ " + began + ": " + item.Text.VI}.In(w.lang)+w.link(item))
	}
	return w.message(c.Medium, a), nil
}

// shownAlerts is how many items a message holds. Telegram takes 4,096
// characters.
const shownAlerts = 10

type alertWriter struct {
	lang   app.Lang
	zone   *time.Location
	base   string // of the dashboard; empty: not known
	titles []string
	items  []string
}

// link is a line with the page where a ends; empty where its URL isn't known.
func (w *alertWriter) link(a Attention) string {
	if w.base == "" {
		return ""
	}
	return "\n" + a.Action.In(w.lang) + ": " + w.base + a.Path()
}

func (w *alertWriter) item(title, text string) {
	w.titles, w.items = append(w.titles, title), append(w.items, text)
}

// clock writes an instant without its seconds.
func (w *alertWriter) clock(t time.Time) string {
	return t.In(w.zone).Format(app.Text{EN: "15:04, 02 Jan", VI: "15:04 02/01"}.In(w.lang))
}

// alertSender is the name under which an account's messages come.
func alertSender(a app.Account) string {
	if a.ID == app.DefaultAccountID {
		return "Báo Có"
	}
	return "Báo Có · " + app.Isolated(a.Name)
}

func (w *alertWriter) message(medium Medium, a app.Account) Message {
	name := alertSender(a)
	m := Message{Medium: medium, Subject: name + ": " + w.titles[0]}
	if more := len(w.titles) - 1; more > 0 {
		m.Subject += " (+" + strconv.Itoa(more) + ")"
	}
	shown, more := w.items, len(w.items)-shownAlerts
	if more > 0 {
		shown = append(slices.Clip(shown[:shownAlerts]),
			app.Textf("And %d more: see the dashboard.", "Và %d mục khác: hãy xem trên trang quản lý.", more).In(w.lang))
		if w.base != "" {
			shown[shownAlerts] += " " + w.base + "/"
		}
	}
	m.Text = name + "\n\n" + strings.Join(shown, "\n\n")
	return m
}

// alertTest is the message of a test. channels is the URL of the page of alert
// channels; empty: not known.
func alertTest(lang app.Lang, medium Medium, channels string) Message {
	m := Message{Medium: medium, Test: true, Subject: app.Text{EN: "Báo Có: a test", VI: "Báo Có: tin thử"}.In(lang)}
	m.Text = app.Text{EN: "Báo Có\n\n✅ This is a test: alerts of your shop arrive here.",
		VI: "Báo Có\n\n✅ Đây là tin thử: cảnh báo của cửa hàng sẽ được gửi đến đây."}.In(lang)
	if channels != "" {
		m.Text += "\n" + app.Text{EN: "Set up alerts", VI: "Cài đặt cảnh báo"}.In(lang) + ": " + channels
	}
	return m
}

func (m *Message) settle(err error) {
	var e *Error
	switch m.Sent = err == nil; {
	case errors.As(err, &e):
		m.Problem, m.Sent = e.Text, e.Partly
	case err != nil:
		m.Problem = app.Text{EN: "The message could not be made: see the log of the server.",
			VI: "Không tạo được tin nhắn: vui lòng xem nhật ký của máy chủ."}
	}
}
