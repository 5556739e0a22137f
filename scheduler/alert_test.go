package scheduler_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/upkeep"

	"github.com/google/go-cmp/cmp"
)

const someToken = "123456789:AAFsecretsecretsecretsecretsecret-x"

// chat is Telegram in virtual time: it notes what it was sent, and when.
type chat struct {
	mu     sync.Mutex
	start  time.Time
	at     []time.Duration
	texts  []string
	answer func(n int) (status int, body string) // nil: it takes everything
}

func newChat() *chat { return &chat{start: time.Now()} }

func (c *chat) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var m struct {
		Chat string `json:"chat_id"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &m); err != nil || r.URL.Path != "/bot"+someToken+"/sendMessage" || m.Chat != "-100200300" {
		return nil, fmt.Errorf("%s %s", r.URL.Path, data)
	}
	c.mu.Lock()
	c.at, c.texts = append(c.at, time.Since(c.start)), append(c.texts, m.Text)
	n, answer := len(c.at), c.answer
	c.mu.Unlock()
	status, body := 200, `{"ok":true,"result":{}}`
	if answer != nil {
		status, body = answer(n)
	}
	response := respond(status)
	response.Body = io.NopCloser(strings.NewReader(body))
	return response, nil
}

// answerBy has the chat answer by f from now on; nil: it takes everything.
func (c *chat) answerBy(f func(n int) (status int, body string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = f
}

func (c *chat) sent() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.texts...)
}

// bot sets up alerts to a chat, in English.
func (s *installation) bot(t *testing.T) {
	t.Helper()
	_, err := s.Services.Alerts.SetAlertChannel(context.Background(), alert.Channel{
		AccountID: 1, Medium: alert.Telegram, Telegram: alert.TelegramSettings{Token: someToken, Chat: "-100200300"},
	}, time.Now())
	must(t, err)
	must(t, s.Services.Alerts.SetAlertPreferences(context.Background(), 1, alert.Preferences{Lang: app.English}))
}

// wantTexts checks that the messages hold these parts, in this order, one after
// the other.
func (c *chat) wantTexts(t *testing.T, want ...string) {
	t.Helper()
	got := c.sent()
	if len(got) != len(want) {
		t.Fatalf("%d messages, want %d:\n%s", len(got), len(want), strings.Join(got, "\n----\n"))
	}
	for i := range want {
		for part := range strings.SplitSeq(want[i], " … ") {
			if !strings.Contains(got[i], part) {
				t.Errorf("message %d doesn't hold %q:\n%s", i+1, part, got[i])
			}
		}
	}
}

var alertHome = upkeep.Installation{BaseURL: "https://baoco.example.vn"}

// pass lets a long time go by with a look every step. Nothing else runs
// meanwhile, which would be a million sweeps a week.
func (s *installation) pass(t *testing.T, transport, telegram http.RoundTripper, long, step time.Duration) {
	t.Helper()
	path := s.Store.Path()
	for end := time.Now().Add(long); time.Now().Before(end); {
		s.close(t)
		time.Sleep(min(step, time.Until(end)))
		again := openWith(t, path, transport, telegram)
		s.Store, s.Services, s.sender, s.courier = again.Store, again.Services, again.sender, nil
		_, err := s.Services.Alerts.Alert(t.Context(), alertHome, time.Now())
		must(t, err)
	}
	s.start(t)
}

// A webhook that keeps failing: one message when it begins, one a day while it
// lasts, one when it is over; what is given up besides, in the same messages
// where the time is the same.
func TestAlertSchedule(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, shop := newChat(), &network{start: time.Now(), answer: always500}
		s := openWith(t, newFile(t), shop, c)
		s.bot(t)
		s.webhook(t, "https://shop.example.vn/hook")
		s.start(t)
		time.Sleep(2 * time.Minute)
		c.wantTexts(t) // nothing is wrong
		s.Record("1")
		time.Sleep(2 * time.Minute) // three attempts
		c.wantTexts(t,
			"⚠️ Webhook “\u2068shop\u2069” is not reaching your shop: the last 3 attempts failed.\nSee why: https://baoco.example.vn/webhooks/1")
		time.Sleep(20 * time.Minute) // six of them
		c.wantTexts(t, "Webhook",
			"1 delivery failed in the last 24 hours … Review and resend: https://baoco.example.vn/deliveries?status=0&from=")
		s.pass(t, shop, c, 23*time.Hour, 5*time.Hour)
		c.wantTexts(t, "Webhook", "1 delivery failed")
		s.pass(t, shop, c, 2*time.Hour, 15*time.Minute) // a day
		c.wantTexts(t, "Webhook", "1 delivery failed", "Still, since … Webhook", "Over: Deliveries failed in the last 24 hours")
		s.pass(t, shop, c, 24*time.Hour, 4*time.Hour)
		c.wantTexts(t, "", "", "", "", "Still, since … the last 6 attempts failed")
		shop.answerBy(always200)
		s.Record("2")
		time.Sleep(9 * time.Minute)
		c.wantTexts(t, "", "", "", "", "Still")
		time.Sleep(2 * time.Minute)
		c.wantTexts(t, "", "", "", "", "Still", "✅ Over: Webhook “\u2068shop\u2069” is not reaching your shop (from ")
		s.pass(t, shop, c, 72*time.Hour, 6*time.Hour)
		c.wantTexts(t, "", "", "", "", "", "")
		for i := range c.at[1:] {
			if d := c.at[i+1] - c.at[i]; d < time.Minute {
				t.Errorf("messages %v apart", d)
			}
		}
		for _, text := range c.sent() {
			for _, private := range []string{"200000", "200.000", "DH 1", "19354957"} {
				if strings.Contains(text, private) {
					t.Errorf("a message holds %q: %s", private, text)
				}
			}
		}
		s.close(t)
	})
}

// What comes and goes within minutes is one thing.
func TestAlertFlapping(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, shop := newChat(), &network{start: time.Now(), answer: always500}
		s := openWith(t, newFile(t), shop, c)
		s.bot(t)
		s.webhook(t, "https://shop.example.vn/hook")
		s.start(t)
		for i := range 4 {
			shop.answerBy(always500)
			s.Record(fmt.Sprint(i))
			time.Sleep(50 * time.Second) // three failures, then one that succeeds
			shop.answerBy(always200)
			time.Sleep(2 * time.Minute)
		}
		c.wantTexts(t, "⚠️ Webhook")
		time.Sleep(10 * time.Minute)
		c.wantTexts(t, "⚠️ Webhook", "✅ Over")
		s.close(t)
	})
}

// Several things at a time are one message; more than fit are counted.
func TestAlertGrouping(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, shop := newChat(), &network{start: time.Now(), answer: always500}
		s := openWith(t, newFile(t), shop, c)
		s.bot(t)
		for i := range 14 {
			s.webhook(t, fmt.Sprintf("https://shop.example.vn/%d", i))
		}
		s.start(t)
		s.Record("1")
		for len(c.sent()) == 0 {
			time.Sleep(time.Second)
		}
		c.wantTexts(t, "⚠️ Webhook … And 4 more: see the dashboard. https://baoco.example.vn/")
		if n := strings.Count(c.sent()[0], "⚠️"); n != 10 {
			t.Errorf("%d items", n)
		}
		// What comes right after it waits for its minute.
		over := time.Now().Add(-time.Hour)
		_, err := s.Services.Ledger.UpdateAccount(t.Context(), 1, app.AccountUpdate{ExpiresAt: &over})
		must(t, err)
		c.start = c.start.Add(c.at[0]) // times count from the first message
		time.Sleep(2 * time.Minute)
		c.wantTexts(t, "⚠️ Webhook", "Your plan has expired")
		if c.at[1] < time.Minute {
			t.Errorf("the second message after %v", c.at[1])
		}
		s.close(t)
	})
}

// A restart, even a crash, neither repeats what was told nor forgets what
// began, what is over, or what is still to be told.
func TestAlertRestart(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("the race detector makes hours of sweeps a minute")
	}
	synctest.Test(t, func(t *testing.T) {
		c, shop := newChat(), &network{start: time.Now(), answer: always500}
		path := newFile(t)
		s := openWith(t, path, shop, c)
		s.bot(t)
		s.webhook(t, "https://shop.example.vn/hook")
		s.start(t)
		s.Record("1")
		time.Sleep(2 * time.Minute)
		c.wantTexts(t, "⚠️ Webhook")
		for range 3 {
			s.crash(t)
			s = openWith(t, path, shop, c)
			s.start(t)
			time.Sleep(2 * time.Minute)
		}
		c.wantTexts(t, "⚠️ Webhook")
		// It can't be told that it is over, nor after a restart.
		c.answerBy(func(int) (int, string) { return 502, "" })
		shop.answerBy(always200)
		s.Record("2")
		time.Sleep(11 * time.Minute)
		s.crash(t)
		s = openWith(t, path, shop, c)
		s.start(t)
		time.Sleep(7 * time.Minute) // two tries, which fail
		n := len(c.sent())
		c.answerBy(nil)
		s.pass(t, shop, c, 2*time.Hour, 15*time.Minute)
		if got := c.sent(); len(got) != n+1 || !strings.Contains(got[n], "✅ Over: Webhook") {
			t.Errorf("%d messages after %d, the last: %s", len(got), n, got[len(got)-1])
		}
		s.close(t)
	})
}

// A channel that fails is tried again ever less often, with what is true by
// then; it shows, and deliveries go on.
func TestAlertFailures(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("the race detector makes hours of sweeps a minute")
	}
	synctest.Test(t, func(t *testing.T) {
		c, shop := newChat(), &network{start: time.Now(), answer: always500}
		c.answer = func(n int) (int, string) {
			switch n {
			case 2:
				return 429, `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 600","parameters":{"retry_after":600}}`
			case 5: // longer than a channel ever waits
				return 429, `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 7200","parameters":{"retry_after":7200}}`
			}
			return 403, `{"ok":false,"error_code":403,"description":"Forbidden: bot was kicked from the group chat"}`
		}
		s := openWith(t, newFile(t), shop, c)
		s.bot(t)
		s.webhook(t, "https://shop.example.vn/hook")
		s.start(t)
		s.Record("1")
		time.Sleep(30 * time.Minute)
		s.pass(t, shop, c, 3*time.Hour+10*time.Minute, 10*time.Minute)
		var waits []time.Duration
		for i := range c.at[1:] {
			wait := (c.at[i+1] - c.at[i]).Round(time.Minute)
			if wait > time.Hour && wait <= 70*time.Minute { // looked at every 10 minutes
				wait = time.Hour
			}
			waits = append(waits, wait)
		}
		want := []time.Duration{time.Minute, 10 * time.Minute, 15 * time.Minute, time.Hour, time.Hour, time.Hour}
		if diff := cmp.Diff(want, waits); diff != "" {
			t.Error(diff)
		}
		list, err := s.Services.Alerts.Attention(t.Context(), 1, upkeep.Installation{BaseURL: "https://x"}, time.Now())
		must(t, err)
		if last := list[len(list)-1]; last.Kind != alert.AttentionAlert || !strings.Contains(last.Text.EN, "bot was kicked") ||
			last.Path() != "/settings/alerts" {
			t.Errorf("%+v", list)
		}
		messages, err := s.Services.Alerts.AlertMessages(t.Context(), 1, 100)
		must(t, err)
		if len(messages) != 1 || messages[0].Tries != len(c.at) || messages[0].Sent || messages[0].Problem.VI == "" {
			t.Errorf("%+v", messages)
		}
		if n := len(s.history(t)); n != 6 {
			t.Errorf("%d attempts of the delivery", n)
		}
		// It is told late, but told: the one that lasts, not the channel's own.
		channel, err := s.Services.Alerts.AlertChannel(t.Context(), 1, alert.Telegram)
		must(t, err)
		s.pass(t, shop, c, time.Until(channel.RetryAt)-time.Minute, time.Hour)
		c.answerBy(nil)
		time.Sleep(2 * time.Minute)
		if got := c.sent(); !strings.Contains(got[len(got)-1], "Webhook") || strings.Contains(got[len(got)-1], "Alerts by") {
			t.Errorf("%s", got[len(got)-1])
		}
		for _, text := range []string{"alerting fails", "bot was kicked", "alerting works again"} {
			if strings.Count(s.log.String(), text) != 1 {
				t.Errorf("%q not once in the log:\n%s", text, s.log)
			}
		}
		s.close(t)
		noSecret(t, someToken, s)
	})
}

// noSecret looks for a secret in the log and the file.
func noSecret(t *testing.T, secret string, s *installation) {
	t.Helper()
	if strings.Contains(s.log.String(), secret) {
		t.Error("the log holds a secret")
	}
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(s.Store.Path() + suffix)
		if err == nil && strings.Contains(string(data), secret) {
			t.Errorf("the file%s holds a secret in clear", suffix)
		}
	}
}

// What somebody chose not to be told of isn't told, also where it was begun.
func TestAlertMuted(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("the race detector makes hours of sweeps a minute")
	}
	synctest.Test(t, func(t *testing.T) {
		c, shop := newChat(), &network{start: time.Now(), answer: always500}
		s := openWith(t, newFile(t), shop, c)
		s.bot(t)
		s.webhook(t, "https://shop.example.vn/hook")
		s.start(t)
		s.Record("1")
		time.Sleep(2 * time.Minute)
		must(t, s.Services.Alerts.SetAlertPreferences(t.Context(), 1,
			alert.Preferences{Lang: app.Vietnamese, Muted: []alert.AttentionKind{alert.AttentionWebhook}}))
		time.Sleep(20 * time.Minute)
		s.pass(t, shop, c, 72*time.Hour, 6*time.Hour)
		c.wantTexts(t, "⚠️ Webhook", "1 thông báo thất bại trong 24 giờ qua … Xem và gửi lại: https://baoco.example.vn/",
			"✅ Hết cảnh báo: Có thông báo thất bại trong 24 giờ qua (từ ")
		s.close(t)
	})
}

// Each account is told what is its own, and the plan twice: before it ends and
// when it has.
func TestAlertAccountsAndPlan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, shop := newChat(), &network{start: time.Now(), answer: always500}
		s := openWith(t, newFile(t), shop, c)
		ctx := t.Context()
		other, err := s.Services.Ledger.CreateAccount(ctx, "Quán Hoa", time.Now())
		must(t, err)
		_, err = s.Services.Alerts.SetAlertChannel(ctx, alert.Channel{
			AccountID: other.ID, Medium: alert.Telegram, Telegram: alert.TelegramSettings{Token: someToken, Chat: "-100200300"},
		}, time.Now())
		must(t, err)
		s.webhook(t, "https://shop.example.vn/hook") // of account 1, which has no channel
		s.Record("1")
		ends := time.Now().Add(9 * 24 * time.Hour)
		_, err = s.Services.Ledger.UpdateAccount(ctx, other.ID, app.AccountUpdate{ExpiresAt: &ends})
		must(t, err)
		s.pass(t, shop, c, 47*time.Hour, 6*time.Hour)
		c.wantTexts(t)
		s.pass(t, shop, c, 2*time.Hour, time.Hour)
		c.wantTexts(t, "Báo Có · \u2068Quán Hoa\u2069 … Gói dịch vụ sẽ hết hạn lúc … https://baoco.example.vn/settings")
		s.pass(t, shop, c, 7*24*time.Hour, 6*time.Hour)
		got := c.sent()
		if last := got[len(got)-1]; !strings.Contains(last, "⚠️ Gói dịch vụ đã hết hạn") || len(got) != 8 { // a reminder a day
			t.Errorf("%d messages, the last: %s", len(got), last)
		}
		s.close(t)
	})
}

// roundTrip is a function in place of a network.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Telegram that hangs, or a sender that panics, delays no delivery, and no stop.
func TestAlertHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		telegram := roundTrip(func(r *http.Request) (*http.Response, error) {
			if asked.Add(1) == 2 {
				panic("not today")
			}
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		shop := &network{start: time.Now(), answer: always500}
		s := openWith(t, newFile(t), shop, telegram)
		s.bot(t)
		s.webhook(t, "https://shop.example.vn/hook")
		s.start(t)
		s.Record("1")
		time.Sleep(20 * time.Minute)
		if diff := cmp.Diff(times500, shop.times()); diff != "" {
			t.Error(diff)
		}
		c, err := s.Services.Alerts.AlertChannel(t.Context(), 1, alert.Telegram)
		must(t, err)
		if c.Failures < 3 || int(asked.Load()) != c.Failures || !strings.Contains(s.log.String(), "did not answer in time") {
			t.Errorf("%d failures of %d attempts\n%s", c.Failures, asked.Load(), s.log)
		}
		for int(asked.Load()) == c.Failures {
			time.Sleep(time.Second)
		}
		before := time.Now() // while it hangs
		s.close(t)
		if took := time.Since(before); took > time.Second {
			t.Errorf("the stop took %v", took)
		}
	})
}
