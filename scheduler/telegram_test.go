package scheduler_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"baoco/app/alert"
	"baoco/app/apptest"
	"baoco/scheduler"
)

// What Telegram's Bot API says arrives in its own words, with what to do; the
// token never does, though it stands in the address. A redirect is not followed.
func TestAlertTelegram(t *testing.T) {
	t.Parallel()
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	for _, c := range []struct {
		name   string
		status int
		body   string
		says   string
	}{
		{"taken", 200, `{"ok":true,"result":{"message_id":1}}`, ""},
		{"token", 401, `{"ok":false,"error_code":401,"description":"Unauthorized"}`, "“Unauthorized”: it doesn't know this bot token"},
		{"odd token", 404, `{"ok":false,"error_code":404,"description":"Not Found"}`, "it doesn't know this bot token"},
		{"chat", 400, `{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}`,
			"“Bad Request: chat not found”: check the chat id"},
		{"blocked", 403, `{"ok":false,"error_code":403,"description":"Forbidden: bot was blocked by the user"}`, "press Start"},
		{"moved", 400,
			`{"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded to a supergroup chat","parameters":` +
				`{"migrate_to_chat_id":-1001234567890}}`, "enter -1001234567890"},
		{"often", 429, `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 5","parameters":{"retry_after":5}}`,
			"too many messages"},
		{"down", 502, `{"ok":false,"error_code":502,"description":"Bad Gateway"}`, "Telegram has trouble of its own"},
		{"no Bot API", 404, `<html>not here</html>`, "not as Telegram's Bot API does"},
		{"odd success", 200, `{"ok":false}`, "not as Telegram's Bot API does"},
		{"success of another", 200, `welcome`, "not as Telegram's Bot API does"},
		{"redirect", 302, `{"ok":true}`, "not as Telegram's Bot API does"},
		{"repeats the token", 400, `{"ok":false,"description":"Bad ` + someToken + `\u0000\u202e request"}`, "check the chat id"},
		{"endless", 200, `{"ok":true,"x":"` + strings.Repeat("x", 1<<20) + `"}`, "not as Telegram's Bot API does"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newMailWorld(t, "127.0.0.1/32")
			var path string
			var sent map[string]any
			server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				path = r.URL.Path
				if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
					t.Error(err)
				}
				rw.Header().Set("Location", other.URL)
				rw.WriteHeader(c.status)
				_, _ = rw.Write([]byte(c.body))
			}))
			defer server.Close()
			u, err := url.Parse(server.URL)
			must(t, err)
			_, err = w.Services.Alerts.SetAlertChannel(t.Context(),
				alert.Channel{AccountID: 1, Medium: alert.Telegram, Telegram: alert.TelegramSettings{
					Token: someToken, Chat: "@kenh_shop", APIURL: "http://bot.example.vn:" + u.Port() + "/api/",
				}}, time.Now())
			must(t, err)
			err = w.Services.Alerts.TestAlert(t.Context(), 1, alert.Telegram, alertHome, time.Now())
			if path != "/api/bot"+someToken+"/sendMessage" || sent["chat_id"] != "@kenh_shop" ||
				!strings.Contains(sent["text"].(string), "tin thử") {
				t.Errorf("%s %v", path, sent)
			}
			if _, formatted := sent["parse_mode"]; formatted {
				t.Error("a name could be taken for markup")
			}
			if c.says == "" {
				must(t, err)
				return
			}
			var fault *alert.Error
			if !errors.As(err, &fault) || !strings.Contains(fault.Text.EN, c.says) || fault.Text.VI == "" {
				t.Fatalf("%v, want %q", err, c.says)
			}
			if strings.Contains(fault.Text.EN+fault.Text.VI, someToken) || strings.ContainsAny(fault.Text.EN, "\x00\u202e") {
				t.Errorf("%q", fault.Text.EN)
			}
		})
	}
	if elsewhere > 0 {
		t.Error("a redirect was followed: it carries the token elsewhere")
	}
}

// The chats of a bot are those that wrote to it or took it in, each once, the newest first,
// at most ten; what is in the way is said in plain words, without the token.
func TestTelegramChats(t *testing.T) {
	t.Parallel()
	many := `{"update_id":1,"message":{"chat":{"id":1,"first_name":"Lan"}}}`
	for i := 2; i <= 12; i++ {
		many += fmt.Sprintf(`,{"update_id":%d,"channel_post":{"chat":{"id":%d,"title":"k%d"}}}`, i, i, i)
	}
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   string // names, or what the error says
	}{
		{"none", 200, `{"ok":true,"result":[]}`, ""},
		{"each once", 200, `{"ok":true,"result":[{"message":{"chat":{"id":7,"first_name":"Hoa","last_name":"Lê"}}},` +
			`{"my_chat_member":{"chat":{"id":-9,"title":"Quán\u202e\n1"}}},{"message":{"chat":{"id":7,"username":"hoa"}}},{"poll":{}}]}`,
			"hoa, Quán 1"},
		{"at most ten", 200, `{"ok":true,"result":[` + many + `]}`, "k12, k11, k10, k9, k8, k7, k6, k5, k4, k3"},
		{"repeats the token", 200, `{"ok":true,"result":[{"message":{"chat":{"id":7,"title":"` + someToken + `"}}}]}`, "…"},
		{"wrong token", 401, `{"ok":false,"description":"Unauthorized"}`, "it doesn't know this bot token"},
		{"webhook", 409, `{"ok":false,"description":"Conflict: can't use getUpdates method while webhook is active ` + someToken + `"}`,
			"another program reads what is written to this bot"},
		{"odd", 200, `{"ok":true,"result":{"message":1}}`, "baoco can't read"},
		{"endless", 200, `{"ok":true,"result":["` + strings.Repeat("x", 2<<20) + `"]}`, "not as Telegram's Bot API does"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var path string
			transport := bot(func(r *http.Request) (int, string) { path = r.URL.String(); return c.status, c.body })
			alerter := scheduler.NewAlerter(apptest.Targets(t), "test", transport)
			chats, err := alerter.TelegramChats(t.Context(), alert.TelegramSettings{Token: someToken})
			var names []string
			for _, chat := range chats {
				names = append(names, chat.Name)
			}
			got := strings.Join(names, ", ")
			var fault *alert.Error
			if errors.As(err, &fault) {
				got = fault.Text.EN
			} else {
				must(t, err)
			}
			if got != c.want && (fault == nil || !strings.Contains(got, c.want)) || strings.Contains(got, someToken) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if path != "https://api.telegram.org/bot"+someToken+"/getUpdates" {
				t.Errorf("asked %s", path)
			}
		})
	}
}

// bot is a network in which every call is answered.
type bot func(r *http.Request) (status int, body string)

func (b bot) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := b(r)
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// What fails before an answer is said by its class, without the address, which
// holds the token.
func TestAlertTelegramUnreachable(t *testing.T) {
	t.Parallel()
	w := newMailWorld(t, "127.0.0.1/32")
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS() // under a certificate that nobody knows
	defer secure.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	port := func(s *httptest.Server) string { return s.URL[strings.LastIndex(s.URL, ":"):] }
	for _, c := range []struct{ api, says string }{
		{"https://bot.example.vn:1", "Nothing listens at bot.example.vn:1"},
		{"https://bto.example.vn", "The name of bto.example.vn could not be looked up"},
		{"https://bot.example.vn" + port(secure), "The secure connection to bot.example.vn" + port(secure) + " failed"},
		{"https://bot.example.vn" + port(plain), "The secure connection to bot.example.vn" + port(plain) + " failed"},
	} {
		_, err := w.Services.Alerts.SetAlertChannel(t.Context(),
			alert.Channel{AccountID: 1, Medium: alert.Telegram, Telegram: alert.TelegramSettings{
				Token: someToken, Chat: "-5", APIURL: c.api,
			}}, time.Now())
		must(t, err)
		err = w.Services.Alerts.TestAlert(t.Context(), 1, alert.Telegram, alertHome, time.Now())
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "secretsecret") {
			t.Errorf("%s: %v", c.api, err)
		}
	}
	messages, err := w.Services.Alerts.AlertMessages(t.Context(), 1, 100)
	must(t, err)
	for _, m := range messages {
		if strings.Contains(m.Problem.EN+m.Problem.VI+m.Text, "secretsecret") {
			t.Errorf("%+v", m)
		}
	}
}
