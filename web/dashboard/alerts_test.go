package dashboard_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/alert"
	"baoco/app/apptest"
	"baoco/web/webtest"
)

const botToken = "123456789:AAFsecretsecretsecretsecretsecret-x"

// telegram is a Bot API server on loopback, which answers as it is told.
func telegram(t *testing.T, status *int, body *string) (url string, texts *[]string) {
	t.Helper()
	texts = &[]string{}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		var m struct{ Text string }
		_ = json.NewDecoder(r.Body).Decode(&m)
		*texts = append(*texts, m.Text)
		rw.WriteHeader(*status)
		_, _ = rw.Write([]byte(*body))
	}))
	t.Cleanup(server.Close)
	return server.URL, texts
}

// Alerts are set up, tried, chosen and ended on their page; a secret never
// comes back.
func TestAlertsPage(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	b.Get("/settings").Shows(t, `href="/settings/alerts"`)
	b.Get("/settings/alerts").Shows(t, "@BotFather", "getUpdates", "smtp.gmail.com", "Not set up", "The server needs attention")
	status, body := 200, `{"ok":true}`
	api, texts := telegram(t, &status, &body)

	// What is wrong stands at its field; what was typed is kept, but no secret.
	a := b.Post("/settings/alerts/telegram", "token", botToken, "chat", "my chat", "api_url", "http://10.0.0.1")
	a.WantStatus(t, http.StatusUnprocessableEntity)
	a.Shows(t, `value="my chat"`, "Chat ID must be a number", "Bot API address must be reachable from the internet")
	hides(t, a, botToken)
	b.Post("/settings/alerts/telegram", "token", "", "chat", "5").WantStatus(t, http.StatusUnprocessableEntity)
	b.Post("/settings/alerts/telegram/test").WantStatus(t, http.StatusNotFound)

	b.Post("/settings/alerts/telegram", "token", botToken, "chat", "-100200", "api_url", api).Goes(t, "/settings/alerts")
	a = b.Get("/settings/alerts")
	a.Shows(t, "The channel is set up", "-100200", "Send a test", "Saved. Enter a new one")
	hides(t, a, botToken)
	b.Post("/settings/alerts/telegram/test").Goes(t, "/settings/alerts")
	b.Get("/settings/alerts").Shows(t, "The test was taken", "Báo Có: tin thử")
	if len(*texts) != 1 || !strings.Contains((*texts)[0], "Đây là tin thử") {
		t.Errorf("%q", *texts)
	}

	// A test that fails is explained here, by what Telegram said.
	status, body = 400, `{"ok":false,"description":"Bad Request: <b>chat not found</b>"}`
	a = b.Post("/settings/alerts/telegram/test")
	a.WantStatus(t, http.StatusConflict)
	a.Shows(t, "Last test: failed", "The test message was not delivered",
		"“Bad Request: <b>chat not found</b>”: check the chat id", "Not sent")
	if strings.Contains(a.Body, "<b>") {
		t.Error("what Telegram says is markup")
	}

	// The token stays with its address alone.
	b.Post("/settings/alerts/telegram", "token", "", "chat", "7", "api_url", api).Goes(t, "/settings/alerts")
	a = b.Post("/settings/alerts/telegram", "token", "", "chat", "7", "api_url", "")
	a.WantStatus(t, http.StatusUnprocessableEntity)
	a.Shows(t, "Token must be entered again")
	c, err := w.Services.Alerts.AlertChannel(t.Context(), 1, alert.Telegram)
	apptest.Must(t, err)
	if c.Telegram != (alert.TelegramSettings{Token: botToken, Chat: "7", APIURL: api}) {
		t.Errorf("%+v", c.Telegram)
	}

	// What is told, and in which language.
	b.Post("/settings/alerts", "lang", "en", "kind", "webhook", "kind", "server").Goes(t, "/settings/alerts")
	p, err := w.Services.Alerts.AlertPreferences(t.Context(), 1)
	apptest.Must(t, err)
	if p.Lang != app.English || len(p.Muted) != len(alert.Kinds)-2 {
		t.Errorf("%+v", p)
	}
	b.Post("/settings/alerts", "lang", "fr").Shows(t, "Language must be vi or en.", "@BotFather")
	b.Post("/settings/alerts", "lang", "vi", "kind", "weather").Shows(t, "Alert type must be one of the values in the list.", "@BotFather")

	b.Get("/settings/alerts/telegram/remove").Shows(t, "Send no alerts by Telegram?")
	b.Post("/settings/alerts/telegram/remove").Goes(t, "/settings/alerts")
	b.Post("/settings/alerts/telegram/remove").WantStatus(t, http.StatusNotFound)
	for _, path := range []string{"/settings/alerts/x/remove", "/settings/alerts/email/remove"} {
		b.Get(path).WantStatus(t, http.StatusNotFound)
	}
	noSecretInFile(w, botToken)
}

// The owner enters a token, baoco finds the chats, and the owner chooses one by its name, on
// the page and on the guide alike. The token goes to one address only, and never into a page.
func TestTelegramChats(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "mai", access.RoleOwner)
	b, other := w.Browser().SignIn("lan"), w.Browser().SignIn("mai")
	status, body := 200, `{"ok":true,"result":[]}`
	api, _ := telegram(t, &status, &body)
	const find = "/settings/alerts/telegram/chats"
	b.Post(find, "token", "x", "api_url", api).Shows(t, `id="token-problem"`)
	none := b.Post(find, "token", botToken, "api_url", api)
	none.WantStatus(t, http.StatusConflict)
	none.Shows(t, "Write anything to it in Telegram, then press the button again.")
	status, body = 401, `{"ok":false,"description":"Unauthorized"}`
	b.Post(find, "token", botToken, "api_url", api).Shows(t, "it doesn't know this bot token")

	status, body = 200, `{"ok":true,"result":[{"update_id":1,"message":{"chat":{"id":55,"first_name":"Chị","last_name":"<b>Hoa"}}},`+
		`{"update_id":2,"my_chat_member":{"chat":{"id":-100200,"title":"Cửa hàng"}}}]}`
	for _, fields := range [][]string{{}, {"guide", "1"}} {
		found := b.Post(find, append(fields, "token", botToken, "api_url", api)...)
		found.WantStatus(t, http.StatusOK)
		found.Shows(t, `name="chat" value="55"`, `name="chat" value="-100200" checked`, "Chị <b>Hoa", "Cửa hàng")
		hides(t, found, botToken)
	}
	other.Post("/settings/alerts/telegram", "chat", "55", "api_url", api).Shows(t, `id="token-problem"`)
	b.Post("/settings/alerts/telegram", "chat", "55", "api_url", "https://bot.shop.vn").Shows(t, `id="token-problem"`)
	b.Post("/settings/alerts/telegram", "guide", "1", "chat", "55", "api_url", api).Goes(t, "/guide")
	c, err := w.Services.Alerts.AlertChannel(t.Context(), 1, alert.Telegram)
	apptest.Must(t, err)
	if c.Telegram != (alert.TelegramSettings{Token: botToken, Chat: "55", APIURL: api}) {
		t.Errorf("%+v", c.Telegram)
	}
	// Another token ends what was kept: the chat of the new bot isn't asked with the old one.
	second := strings.Replace(botToken, "1", "2", 1)
	b.Post("/settings/alerts/telegram", "token", second, "chat", "5", "api_url", api).Goes(t, "/settings/alerts")
	b.Post("/settings/alerts/telegram", "chat", "6", "api_url", api).Goes(t, "/settings/alerts")
	if c, err = w.Services.Alerts.AlertChannel(t.Context(), 1, alert.Telegram); err != nil || c.Telegram.Token != second {
		t.Errorf("%+v, %v", c.Telegram, err)
	}
	noSecretInFile(w, botToken)
}

func hides(t *testing.T, a webtest.Answer, secret string) {
	t.Helper()
	if strings.Contains(a.Body, secret) {
		t.Error("the page holds a secret")
	}
}

// The form of e-mail: what is wrong is said, the password is kept only for the
// same server and user.
func TestAlertsEmailForm(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	form := func(change ...string) []string {
		values := map[string]string{
			"smtp_host": "Smtp.Example.VN", "smtp_port": "587", "smtp_security": "starttls", "smtp_username": "lan", "smtp_password": "mật khẩu thư",
			"email_from": "Lan <lan@example.vn>", "email_to": "lan@example.vn\r\nminh@example.vn",
		}
		for i := 0; i < len(change); i += 2 {
			values[change[i]] = change[i+1]
		}
		var pairs []string
		for name, value := range values {
			pairs = append(pairs, name, value)
		}
		return pairs
	}
	for _, c := range []struct{ field, value, says string }{
		{"smtp_host", "", "Mail server"}, {"smtp_host", "127.0.0.2", "Mail server must be reachable from the internet"},
		{"smtp_host", "a.vn/x", "Mail server"},
		{"smtp_host", "a.vn:25", "Mail server"}, {"smtp_host", "me@a.vn", "Mail server"},
		{"smtp_port", "0", "Port must be"}, {"smtp_port", "x", "Port must be"}, {"smtp_security", "none", "Encryption must be"},
		{"smtp_username", "", "Password and the user name"}, {"smtp_password", "", "Password and the user name"},
		{"email_from", "lan", "From address must be"}, {"email_to", "", "Recipients must be 1 to 5"},
		{"email_to", "lan@example.vn\nx", "Recipients must be an address"},
		{"email_to", "a@a.vn b@a.vn c@a.vn d@a.vn e@a.vn f@a.vn", "Recipients must be 1 to 5"},
		{"email_to", "a@a.vn\r\nBcc:b@b.vn>", "Recipients must be"},
	} {
		a := b.Post("/settings/alerts/email", form(c.field, c.value)...)
		a.WantStatus(t, http.StatusUnprocessableEntity)
		a.Shows(t, c.says)
		hides(t, a, "mật khẩu thư")
	}
	b.Post("/settings/alerts/email", form()...).Goes(t, "/settings/alerts")
	b.Post("/settings/alerts/email", form("smtp_password", "", "email_to", "hoa@example.vn, lan@example.vn")...).Goes(t, "/settings/alerts")
	b.Post("/settings/alerts/email", form("smtp_password", "", "smtp_host", "evil.example.vn")...).WantStatus(t,
		http.StatusUnprocessableEntity)
	b.Post("/settings/alerts/email", form("smtp_password", "", "smtp_username", "minh")...).WantStatus(t, http.StatusUnprocessableEntity)
	c, err := w.Services.Alerts.AlertChannel(t.Context(), 1, alert.Email)
	apptest.Must(t, err)
	e := c.Email
	if e.Host != "smtp.example.vn" || e.Password != "mật khẩu thư" || e.From != "lan@example.vn" ||
		strings.Join(e.To, " ") != "hoa@example.vn lan@example.vn" {
		t.Errorf("%+v", e)
	}
	b.Get("/settings/alerts").Shows(t, "hoa@example.vn, lan@example.vn", `value="smtp.example.vn"`)
	hides(t, b.Get("/settings/alerts"), "mật khẩu thư")
	noSecretInFile(w, "mật khẩu thư")
}

// Alerts are those of the visitor's account, whatever the address says.
func TestAlertsTenancy(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	other := w.SecondAccount()
	w.User(1, "lan", access.RoleOwner)
	w.User(other, "minh", access.RoleOwner)
	status, body := 200, `{"ok":true}`
	api, texts := telegram(t, &status, &body)
	w.Browser().SignIn("lan").Post("/settings/alerts/telegram", "token", botToken, "chat", "424242", "api_url",
		api).Goes(t, "/settings/alerts")
	minh := w.Browser().SignIn("minh")
	hides(t, minh.Get("/settings/alerts"), "424242")
	hides(t, minh.Get("/settings/alerts"), "The server needs attention") // which isn't theirs
	for _, path := range []string{"/settings/alerts/telegram/test", "/settings/alerts/telegram/remove"} {
		minh.Post(path).WantStatus(t, http.StatusNotFound)
	}
	minh.Post("/settings/alerts", "lang", "en").Goes(t, "/settings/alerts")
	minh.Post("/settings/alerts/telegram", "token", "", "chat", "5").WantStatus(t, http.StatusUnprocessableEntity) // lan's isn't kept for minh
	p, err := w.Services.Alerts.AlertPreferences(t.Context(), 1)
	apptest.Must(t, err)
	if c, err := w.Services.Alerts.AlertChannel(t.Context(), 1, alert.Telegram); err != nil || c.Telegram.Chat != "424242" ||
		p.Lang != app.Vietnamese || len(*texts) != 0 {
		t.Errorf("%+v, %v, %+v, %q", c, err, p, *texts)
	}
}

// A channel that keeps failing, a plan that ends soon and refused calls stand on
// the overview.
func TestMoreAttention(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	w.Link("ACB", apptest.SomeAccount)
	src := w.Native()
	soon := time.Now().Add(6 * 24 * time.Hour)
	_, err := w.Services.Ledger.UpdateAccount(t.Context(), 1, app.AccountUpdate{ExpiresAt: &soon})
	apptest.Must(t, err)
	b.Get("/").Shows(t, "Your plan expires at ", "but you can’t link or turn on bank accounts, or add or turn on webhooks and streams.")
	if a := b.Get("/"); strings.Contains(a.Body, "are refused") {
		t.Error("calls are refused before there was one")
	}
	w.Do("POST", src.URLPath(), `{}`, "Authorization", "Bearer wrong", "Content-Type", "application/json").WantStatus(t,
		http.StatusUnauthorized)
	w.Until("the refused call", func() bool {
		return strings.Contains(b.Get("/").Body,
			"are refused, so its transactions are not received. The secret entered at the provider may be wrong.")
	})
	w.Do("POST", src.URLPath(), strings.Repeat(" ", 1<<20+1), "Authorization", "Bearer "+src.Secret).WantStatus(t,
		http.StatusRequestEntityTooLarge)
	w.Until("the call that was too large", func() bool {
		return strings.Contains(b.Get("/").Body, "so its transactions are not received. The request body is larger than 1048576 bytes.")
	})
	w.Names(webtest.Recorded, src, apptest.Transfer{ID: "1", Number: "D1"})
	w.Change(`UPDATE sources SET last_call_at = ?`, time.Now().Add(2*time.Second).Unix())
	if a := b.Get("/"); strings.Contains(a.Body, "are refused") {
		t.Error("a call was accepted since")
	}
	_, err = w.Services.Alerts.SetAlertChannel(t.Context(),
		alert.Channel{AccountID: 1, Medium: alert.Telegram, Telegram: alert.TelegramSettings{Token: botToken, Chat: "5"}}, time.Now())
	apptest.Must(t, err)
	w.Change(`UPDATE alert_channels SET failures = 2, problem_en = 'Because.', problem_vi = 'Vì vậy.'`)
	b.Get("/").Hides(t, "Alerts by Telegram")
	w.Change(`UPDATE bank_accounts SET status = 'error'`)
	w.User(1, "hoa", access.RoleAccountant)
	accountant := w.Browser().SignIn("hoa").Get("/")
	accountant.Shows(t, "The provider reports that its connection to the bank is broken", `href="/banks/1"`)
	accountant.Hides(t, "Your plan expires")
	w.Change(`UPDATE alert_channels SET failures = 3, problem_en = 'Because.', problem_vi = 'Vì vậy.', retry_ms = 4102444800000`)
	b.Get("/").Shows(t, "Alerts by Telegram are not being delivered. Because.", `href="/settings/alerts"`)
	b.Get("/settings/alerts").Shows(t, "Failing", "Because. Next attempt: ")
}

// noSecretInFile looks for a secret in clear.
func noSecretInFile(w *webtest.World, secret string) {
	w.T.Helper()
	for _, suffix := range []string{"", "-wal"} {
		if data, err := os.ReadFile(w.Path + suffix); err != nil || strings.Contains(string(data), secret) {
			w.T.Errorf("the file%s holds a secret: %v", suffix, err)
		}
	}
}

// The report of the day goes by the channels that are checked, at the time that is
// entered.
func TestReportOfTheDay(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	b.Get("/settings/alerts").Shows(t, "Report of the day", "Set up a channel above first.")
	b.Post("/settings/alerts/report", "medium", "telegram", "report_time", "21:30").Goes(t, "/settings/alerts")
	_, err := w.Services.Alerts.SetAlertChannel(t.Context(),
		alert.Channel{AccountID: 1, Medium: alert.Telegram, Telegram: alert.TelegramSettings{Token: botToken, Chat: "5"}}, time.Now())
	apptest.Must(t, err)
	at := func() alert.ReportTime {
		t.Helper()
		c, err := w.Services.Alerts.AlertChannel(t.Context(), 1, alert.Telegram)
		apptest.Must(t, err)
		return c.ReportTime
	}
	_, err = w.Services.Alerts.SetAlertChannel(t.Context(),
		alert.Channel{AccountID: w.SecondAccount(), Medium: alert.Telegram, Telegram: alert.TelegramSettings{Token: botToken, Chat: "5"}},
		time.Now())
	apptest.Must(t, err)
	b.Post("/settings/alerts/report", "medium", "telegram", "report_time", "22:15").Goes(t, "/settings/alerts")
	if n := w.Rows("alert_channels WHERE report_time <> ''"); n != 1 {
		t.Errorf("%d channels get a report: that of the other account must not", n)
	}
	b.Get("/settings/alerts").Shows(t, `value="22:15"`, `value="telegram" checked`)
	if at() != "22:15" {
		t.Errorf("at %s", at())
	}
	a := b.Post("/settings/alerts/report", "medium", "telegram", "report_time", "25:00")
	a.WantStatus(t, http.StatusUnprocessableEntity)
	a.Shows(t, "Closing time must be a time of day such as 21:30.")
	// The channel set up anew keeps its time.
	_, err = w.Services.Alerts.SetAlertChannel(t.Context(),
		alert.Channel{AccountID: 1, Medium: alert.Telegram, Telegram: alert.TelegramSettings{Chat: "6"}}, time.Now())
	apptest.Must(t, err)
	if at() != "22:15" {
		t.Errorf("at %s", at())
	}
	b.Post("/settings/alerts/report", "report_time", "22:15", "month_medium", "telegram").Goes(t, "/settings/alerts")
	b.Get("/settings/alerts").Shows(t, `name="month_medium" value="telegram" checked`)
	b.Post("/settings/alerts/report", "report_time", "22:15").Goes(t, "/settings/alerts")
	b.Get("/settings/alerts").Hides(t, `name="month_medium" value="telegram" checked`)
	if at() != "" {
		t.Errorf("at %s", at())
	}
}

// Two tabs edit the forms of this page: the one that is saved later hears of the
// other, keeps what was typed, and may still be saved. A form doesn't hear of
// another form.
func TestTwoTabsEditAlerts(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	_, err := w.Services.Alerts.SetAlertChannel(t.Context(),
		alert.Channel{AccountID: 1, Medium: alert.Telegram, Telegram: alert.TelegramSettings{Token: botToken, Chat: "5"}}, time.Now())
	apptest.Must(t, err)
	version := func(a webtest.Answer, path string) string {
		t.Helper()
		m := regexp.MustCompile(`action="` + path +
			`"[^>]*><input type="hidden" name="version" value="([0-9a-f]{16})"`).FindStringSubmatch(a.Body)
		if m == nil {
			t.Fatalf("%d: the form %s has no version", a.Status, path)
		}
		return m[1]
	}
	email := []string{"smtp_host", "smtp.example.vn", "smtp_port", "587", "smtp_security", "starttls", "email_from",
		"lan@example.vn", "email_to"}
	shown := b.Get("/settings/alerts")
	for _, c := range []struct {
		path          string
		first, second []string
		now, typed    string
	}{
		{"/settings/alerts", []string{"lang", "en", "kind", "webhook"}, []string{"lang", "vi", "kind", "server"}, "“\u2068English; A webhook",
			`value="server" checked`},
		{"/settings/alerts/report", []string{"medium", "telegram", "report_time", "22:15"},
			[]string{"medium", "telegram", "report_time", "20:45"}, "“\u2068Telegram 22:15\u2069”", `value="20:45"`},
		{"/settings/alerts/telegram", []string{"chat", "6"}, []string{"chat", "7"}, "“\u20686\u2069”", `value="7"`},
		{"/settings/alerts/email", append(email, "a@example.vn"), append(email, "b@example.vn"),
			"“\u2068smtp.example.vn, 587, starttls, lan@example.vn, a@example.vn\u2069”", `>b@example.vn</textarea>`},
	} {
		old := version(shown, c.path)
		b.Post(c.path, append(c.first, "version", old)...).Goes(t, "/settings/alerts")
		saved := b.Get("/settings/alerts")
		a := b.Post(c.path, append(c.second, "version", old)...)
		a.WantStatus(t, http.StatusConflict)
		a.Shows(t, "changed elsewhere", c.now, c.typed)
		for _, other := range []string{"/settings/alerts", "/settings/alerts/report", "/settings/alerts/telegram", "/settings/alerts/email"} {
			if version(a, other) != version(saved, other) {
				t.Errorf("%s: the version of %s isn't that of what is stored", c.path, other)
			}
		}
		b.Post(c.path, append(c.second, "version", version(a, c.path))...).Goes(t, "/settings/alerts")
		b.Get("/settings/alerts").Shows(t, c.typed)
	}
}

// The chats are set up with what their services give out, which never comes back, and
// tell of the payments that are chosen.
func TestChatForms(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	bank := w.Link("ACB", apptest.SomeAccount)
	b := w.Browser().SignIn("lan")
	secret := strings.Repeat("secret_-", 8)
	good := map[alert.Medium]string{
		alert.Discord: "https://discord.com/api/webhooks/123456789012345678/" + secret,
		alert.Slack:   "https://hooks.slack.com/services/T00000000/B00000000/secretsecretsecretsecret",
		alert.Lark:    "https://open.feishu.cn/open-apis/bot/v2/hook/secret12-3456-7890-abcd-ef1234567890",
		alert.Ntfy:    "https://ntfy.sh/secrettopic",
	}
	for medium, url := range good {
		path := "/settings/alerts/" + string(medium)
		for _, bad := range []string{"", "http" + strings.TrimPrefix(url, "https"), strings.Replace(url, ".", ".evil.vn/.", 1),
			strings.Replace(url, "https://", "https://evil.vn/x/", 1), url + "?x=1", "https://10.0.0.1/secrettopic"} {
			a := b.Post(path+"/chat", "channel_url", bad)
			a.WantStatus(t, http.StatusUnprocessableEntity)
			a.Shows(t, "URL must be ")
			hides(t, a, "secret12")
		}
		b.Post(path+"/payments", "on", "1").WantStatus(t, http.StatusNotFound)
		b.Post(path+"/chat", "channel_url", url, "token", "t0ken").Goes(t, "/settings/alerts")
		b.Post(path+"/chat", "channel_url", "").Goes(t, "/settings/alerts") // keeps both
		c, err := w.Services.Alerts.AlertChannel(t.Context(), 1, medium)
		apptest.Must(t, err)
		if c.Chat != (alert.ChatSettings{URL: url, Token: "t0ken"}) || strings.Contains(c.Destination(), "secret") {
			t.Errorf("%+v %s", c.Chat, c.Destination())
		}
	}
	b.Post("/settings/alerts/ntfy/chat", "channel_url", "https://ntfy.example.vn/x").Goes(t, "/settings/alerts")
	if c, err := w.Services.Alerts.AlertChannel(t.Context(), 1, alert.Ntfy); err != nil || c.Chat.Token != "" {
		t.Errorf("the token goes to another server: %+v %v", c.Chat, err)
	}
	b.Post("/settings/alerts/zalo/chat", "token", "x", "chat", "6ede").WantStatus(t, http.StatusUnprocessableEntity)
	b.Post("/settings/alerts/zalo/chat", "token", "12345689:abc-xyz_secretsecret", "chat", "6ede").Goes(t, "/settings/alerts")
	for _, medium := range []string{"telegram", "email", "x"} {
		b.Post("/settings/alerts/"+medium+"/chat", "channel_url", good[alert.Slack]).WantStatus(t, http.StatusNotFound)
	}

	b.Post("/settings/alerts/slack/payments", "on", "1", "min_amount", "1.5").Shows(t, "Smallest amount", `value="1.5"`)
	b.Post("/settings/alerts/slack/payments", "on", "1", "bank_account_id", "99").WantStatus(t, http.StatusUnprocessableEntity)
	b.Post("/settings/alerts/slack/payments", "on", "1", "type", "IN", "min_amount", "200.000", "bank_account_id",
		strconv.FormatInt(bank.ID, 10)).Goes(t, "/settings/alerts")
	c, err := w.Services.Alerts.AlertChannel(t.Context(), 1, alert.Slack)
	apptest.Must(t, err)
	if f := c.Feed; f != (alert.PaymentFeed{On: true, BankAccountID: bank.ID, Type: app.In, Least: 200000}) {
		t.Errorf("%+v", f)
	}
	page := b.Get("/settings/alerts")
	page.Shows(t, `value="200,000"`, "hooks.slack.com/…")
	for _, part := range []string{"secretsecret", "secrettopic", "secret12", secret, "t0ken"} {
		hides(t, page, part)
		noSecretInFile(w, part)
	}
	b.Post("/settings/alerts/slack/payments").Goes(t, "/settings/alerts")
	if c, err := w.Services.Alerts.AlertChannel(t.Context(), 1, alert.Slack); err != nil || c.Feed.On {
		t.Errorf("%+v %v", c.Feed, err)
	}
	b.Post("/settings/alerts/slack/remove").Goes(t, "/settings/alerts")
}
