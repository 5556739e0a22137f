package alert

import (
	"cmp"
	"context"
	"net"
	"net/mail"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"baoco/app"
	"baoco/app/pattern"
	"baoco/app/target"
)

// Medium is the kind of a channel.
type Medium string

// The media. An account has at most one channel of each.
const (
	Telegram Medium = "telegram"
	Email    Medium = "email"
	Zalo     Medium = "zalo"
	Discord  Medium = "discord"
	Slack    Medium = "slack"
	Lark     Medium = "lark" // and Feishu
	Ntfy     Medium = "ntfy"
)

// ChatMedia are those that have ChatSettings.
var ChatMedia = []Medium{Zalo, Discord, Slack, Lark, Ntfy}

// Name is what people call the medium.
func (m Medium) Name() app.Text {
	if m == OnPhone {
		return app.Text{EN: "phone", VI: "điện thoại"}
	}
	name := map[Medium]string{Email: "email", Zalo: "Zalo", Discord: "Discord", Slack: "Slack", Lark: "Lark", Ntfy: "ntfy"}[m]
	name = cmp.Or(name, "Telegram")
	return app.Text{EN: name, VI: name}
}

// ChatSettings are where messages to a chat go, and what lets them in.
type ChatSettings struct {
	URL   string // secret: of the incoming webhook, or of the topic; empty for Zalo
	Token string // secret: of the bot; that signs, for Lark; of access, for Ntfy. The last two may be without
	Chat  string // id of the chat, for Zalo
}

// TelegramSettings are a bot and the chat to which it writes.
type TelegramSettings struct {
	Token  string // secret
	Chat   string // id of a person or a group, or the @name of a channel
	APIURL string // base of a Bot API server of one's own; empty: Telegram's
}

// TelegramChat is a chat that wrote to a bot, or into which the bot was taken.
type TelegramChat struct {
	ID   int64
	Name string // of the person, the group or the channel
}

// MailSecurity is how a connection to a mail server is encrypted. There is no
// way without, because a password travels on it.
type MailSecurity string

// The ways: TLS after a greeting in clear text (usually port 587), or from the
// first byte on (usually port 465).
const (
	MailStartTLS MailSecurity = "starttls"
	MailTLS      MailSecurity = "tls"
)

// EmailSettings are a mail server and the addresses to which it delivers.
type EmailSettings struct {
	Host     string
	Port     int
	Security MailSecurity
	Username string // empty: the server asks for none
	Password string // secret
	From     string
	To       []string
}

// MaxRecipients is how many people an e-mail goes to.
const MaxRecipients = 5

// Channel is one way to reach the owners of an account.
type Channel struct {
	ID        int64
	AccountID int64
	Medium    Medium
	Telegram  TelegramSettings // for Telegram
	Email     EmailSettings    // for Email
	Chat      ChatSettings     // for ChatMedia
	SetAt     time.Time
	Version   int64 // grows whenever the settings change
	// SettingsLost says that the settings can't be opened, because their key is
	// gone. Nothing is sent until somebody sets the channel up again.
	SettingsLost bool

	ReportTime  ReportTime
	ReportedDay app.Day // of the last report
	// ReportedMonth is the first day of the month of the last report of a month; 0: it gets none.
	ReportedMonth app.Day

	Sending // of messages other than tests and payments

	Feed PaymentFeed
}

// WithoutSettings is the channel with its settings lost, which counts as
// failing.
func (c Channel) WithoutSettings() Channel {
	c.SettingsLost, c.Failures, c.RetryAt = true, max(c.Failures, WorryingFailures), time.Time{}
	c.Problem = app.Text{EN: "Its settings are lost with the old key file. Set it up again.",
		VI: "Thiết lập của kênh đã mất cùng tệp khoá cũ. Hãy thiết lập lại."}
	return c
}

func (c Channel) attentionKey() string { return "alert " + string(c.Medium) }

// Secrets lists the texts that no log, error or page may repeat.
func (c Channel) Secrets() []string {
	var list []string
	// The end of a URL is the secret part of it. A short one is a word.
	end := c.Chat.URL[strings.LastIndexByte(c.Chat.URL, '/')+1:]
	if len(end) < 8 {
		end = ""
	}
	for _, secret := range []string{c.Telegram.Token, c.Email.Password, c.Chat.URL, c.Chat.Token, end} {
		if secret != "" {
			list = append(list, secret)
		}
	}
	return list
}

// Destination says in a few words where messages go, without a secret.
func (c Channel) Destination() string {
	switch {
	case c.Medium == Email:
		return strings.Join(c.Email.To, ", ")
	case c.Chat.URL != "":
		host, _, _ := strings.Cut(strings.TrimPrefix(c.Chat.URL, "https://"), "/")
		return host + "/…" + c.Chat.URL[len(c.Chat.URL)-2:]
	}
	return cmp.Or(c.Chat.Chat, c.Telegram.Chat)
}

// SetAlertChannel sets up a channel in place of the one of the same medium. An
// empty secret keeps the present one, but only for the same server: who may
// change the host must not learn the secret that way. The new channel knows no
// conditions, so lasting ones are sent again: another person may read the channel
// now.
func (s *Service) SetAlertChannel(ctx context.Context, c Channel, now time.Time) (Channel, error) {
	before, err := s.AlertChannel(ctx, c.AccountID, c.Medium)
	if err != nil && app.CodeOf(err) != app.CodeNotFound {
		return Channel{}, err
	}
	switch c.Medium {
	case Telegram:
		err = s.cleanTelegram(&c.Telegram, before.Telegram)
	case Email:
		err = s.cleanEmail(&c.Email, before.Email)
	default:
		err = s.cleanChat(c.Medium, &c.Chat, before.Chat)
	}
	if err != nil {
		return Channel{}, err
	}
	c.SetAt = now
	return s.store.SetAlertChannel(ctx, c)
}

var (
	botToken = pattern.Lazy(`^[0-9]{1,20}:[A-Za-z0-9_-]{20,100}$`)
	chatName = pattern.Lazy(`^(-?[0-9]{1,20}|@[A-Za-z][A-Za-z0-9_]{3,31})$`)
)

// TelegramChats lists the chats that Telegram reported to a bot in the last day, newest first. An
// empty token is that of the present channel, as SetAlertChannel says. The error is an
// [*Error] where the owner can do something about it.
func (s *Service) TelegramChats(ctx context.Context, accountID int64, t TelegramSettings) ([]TelegramChat, error) {
	before, err := s.AlertChannel(ctx, accountID, Telegram)
	if err != nil && app.CodeOf(err) != app.CodeNotFound {
		return nil, err
	}
	var v app.Invalid
	s.cleanBot(&t, before.Telegram, &v)
	if err := v.Err(); err != nil {
		return nil, err
	}
	return s.config.TelegramChats(ctx, t)
}

func (s *Service) cleanTelegram(t *TelegramSettings, before TelegramSettings) error {
	var v app.Invalid
	s.cleanBot(t, before, &v)
	if t.Chat = strings.TrimSpace(t.Chat); !chatName().MatchString(t.Chat) {
		v.Add("chat", "must be a number, which begins with - for a group, or the @name of a channel",
			"phải là một số (nhóm thì bắt đầu bằng dấu -) hoặc @tên của kênh")
	}
	return v.Err()
}

// cleanBot checks the token, and to which address it goes.
func (s *Service) cleanBot(t *TelegramSettings, before TelegramSettings, v *app.Invalid) {
	t.Token, t.APIURL = strings.TrimSpace(t.Token), strings.TrimSuffix(strings.TrimSpace(t.APIURL), "/")
	if t.Token == "" && before.Token != "" {
		if t.Token = before.Token; t.APIURL != before.APIURL {
			v.Add("token", "must be entered again, because it would go to another address", "phải nhập lại, vì sẽ được gửi đến địa chỉ khác")
		}
	}
	if !botToken().MatchString(t.Token) {
		v.Add("token", "must be as @BotFather gives it, such as 123456789:AAF…", "phải đúng như @BotFather đã cấp, ví dụ 123456789:AAF…")
	}
	if t.APIURL != "" {
		v.Merge(s.config.Targets.CheckAPIURL(t.APIURL))
	}
}

// chatURLs are the addresses of the incoming webhooks that each service gives out.
var chatURLs = map[Medium]func() *regexp.Regexp{
	Discord: pattern.Lazy(`^https://(?:(?:ptb|canary)\.)?discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{15` +
		`,21}/[A-Za-z0-9_-]{50,100}$`),
	Slack: pattern.Lazy(`^https://hooks\.slack\.com/services/[A-Za-z0-9]{5,20}/[A-Za-z0-9]{5,20}/[A-Za-z0-9]{10,60}$`),
	Lark:  pattern.Lazy(`^https://open\.(?:larksuite\.com|feishu\.cn)/open-apis/bot/v2/hook/[A-Za-z0-9-]{20,60}$`),
	Ntfy:  pattern.Lazy(`^https://[^/?#]{1,255}/[-_A-Za-z0-9]{1,64}$`),
}

// ChatExample is what the URL of a medium looks like; empty: it has none.
func (m Medium) ChatExample() string {
	return map[Medium]string{
		Discord: "https://discord.com/api/webhooks/…", Slack: "https://hooks.slack.com/services/…",
		Lark: "https://open.larksuite.com/open-apis/bot/v2/hook/…", Ntfy: "https://ntfy.sh/…",
	}[m]
}

var (
	zaloToken = pattern.Lazy(`^[0-9]{1,25}:[A-Za-z0-9_-]{10,200}$`)
	zaloChat  = pattern.Lazy(`^[A-Za-z0-9_-]{1,64}$`)
	chatToken = pattern.Lazy(`^[!-~]{0,200}$`)
)

// cleanChat keeps a token only with its URL: it must not go to another server.
func (s *Service) cleanChat(m Medium, c *ChatSettings, before ChatSettings) error {
	var v app.Invalid
	c.URL, c.Token, c.Chat = strings.TrimSpace(c.URL), strings.TrimSpace(c.Token), strings.TrimSpace(c.Chat)
	if c.URL == "" {
		c.URL, c.Token = before.URL, cmp.Or(c.Token, before.Token)
	}
	if m == Zalo {
		if c.URL = ""; !zaloToken().MatchString(c.Token) {
			v.Add("token", "must be as Zalo Bot Creator gives it, such as 12345689:abc-xyz…",
				"phải đúng như Zalo Bot Creator đã cấp, ví dụ 12345689:abc-xyz…")
		}
		if !zaloChat().MatchString(c.Chat) {
			v.Add("chat", "must be the id that Zalo gives to the chat", "phải là mã cuộc trò chuyện do Zalo cấp")
		}
		return v.Err()
	}
	c.Chat = ""
	form, known := chatURLs[m]
	switch {
	case !known:
		return app.InvalidField("medium", "must be telegram, email, zalo, discord, slack, lark or ntfy",
			"phải là telegram, email, zalo, discord, slack, lark hoặc ntfy")
	case !form().MatchString(c.URL):
		v.Add("channel_url", "must be as the service gives it, such as "+m.ChatExample(), "phải đúng như dịch vụ đã cấp, ví dụ "+m.ChatExample())
	case m == Ntfy:
		if bad := s.config.Targets.CheckURL(c.URL); bad != nil {
			v.Add("channel_url", bad.EN, bad.VI)
		}
	}
	if !chatToken().MatchString(c.Token) {
		v.Add("token", "must be at most 200 characters without spaces", "dài tối đa 200 ký tự, không có dấu cách")
	}
	return v.Err()
}

func (s *Service) cleanEmail(e *EmailSettings, before EmailSettings) error {
	var v app.Invalid
	e.Host, e.Username = strings.ToLower(strings.TrimSpace(e.Host)), strings.TrimSpace(e.Username)
	if e.Password == "" && e.Username != "" && before.Password != "" {
		e.Password = before.Password
		if e.Host != before.Host || e.Port != before.Port || e.Security != before.Security || e.Username != before.Username {
			v.Add("smtp_password", "must be entered again, because it would go to another server or for another user",
				"phải nhập lại, vì sẽ được gửi đến máy chủ khác hoặc cho người dùng khác")
		}
	}
	if e.Port < 1 || e.Port > 65535 {
		v.Add("smtp_port", "must be from 1 to 65535, mostly 587 or 465", "phải từ 1 đến 65535, thường là 587 hoặc 465")
	} else if bad := s.config.Targets.CheckURL("https://" + net.JoinHostPort(strings.Trim(e.Host, "[]"), strconv.Itoa(e.Port))); bad != nil {
		v.Add("smtp_host", bad.EN, bad.VI)
	}
	if strings.ContainsAny(e.Host, "/?") {
		v.Add("smtp_host", "must be a host name such as smtp.gmail.com", "phải là tên máy chủ, ví dụ smtp.gmail.com")
	}
	if e.Security != MailStartTLS && e.Security != MailTLS {
		v.Add("smtp_security", "must be starttls or tls", "phải là starttls hoặc tls")
	}
	if (e.Username == "") != (e.Password == "") {
		v.Add("smtp_password", "and the user name are given together, or neither", "và tên đăng nhập phải cùng có hoặc cùng để trống")
	}
	for field, text := range map[string]string{"smtp_username": e.Username, "smtp_password": e.Password} {
		if len(text) > 500 || !utf8.ValidString(text) || strings.IndexFunc(text, app.IsControl) >= 0 {
			v.Add(field, "must be at most 500 characters without control characters", "dài tối đa 500 ký tự, không chứa ký tự điều khiển")
		}
	}
	e.cleanAddresses(&v)
	return v.Err()
}

// cleanAddresses checks the typed addresses and keeps the bare address of each.
func (e *EmailSettings) cleanAddresses(v *app.Invalid) {
	const en, vi = "must be an address such as lan@shop.vn", "phải là một địa chỉ, ví dụ lan@shop.vn"
	from, ok := mailAddress(e.From)
	if !ok {
		v.Add("email_from", en, vi)
	}
	var to []string
	for _, text := range e.To {
		if strings.TrimSpace(text) == "" {
			continue
		}
		address, ok := mailAddress(text)
		if !ok {
			v.Add("email_to", en, vi)
			return
		}
		to = append(to, address)
	}
	if len(to) < 1 || len(to) > MaxRecipients {
		v.Add("email_to", "must be 1 to "+strconv.Itoa(MaxRecipients)+" addresses", "phải có từ 1 đến "+strconv.Itoa(MaxRecipients)+" địa chỉ")
	}
	e.From, e.To = from, to
}

// mailAddress is the address in a typed text. It must be ASCII: few servers
// deliver to others.
func mailAddress(text string) (string, bool) {
	a, err := mail.ParseAddress(strings.TrimSpace(text))
	if err != nil || len(a.Address) > 254 || strings.IndexFunc(a.Address, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 {
		return "", false
	}
	_, domain, _ := strings.Cut(a.Address, "@")
	return a.Address, target.ValidHostName(strings.ToLower(domain)) && strings.Contains(domain, ".")
}

// AlertChannel finds the channel of a medium; CodeNotFound where there is none.
func (s *Service) AlertChannel(ctx context.Context, accountID int64, medium Medium) (Channel, error) {
	list, err := s.AlertChannels(ctx, accountID)
	return app.Find(list, err, func(c Channel) bool { return c.Medium == medium }, ErrNoChannel)
}

// ErrNoChannel says that an account has no channel of a medium.
var ErrNoChannel error = app.NotFound("There is no such alert channel.", "Không có kênh cảnh báo này.")
