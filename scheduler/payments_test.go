package scheduler_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/services"
	"baoco/scheduler"
)

// feed has the chat of bot told of payments.
func (s *installation) feed(t *testing.T, f alert.PaymentFeed) {
	t.Helper()
	s.bot(t)
	f.On = true
	must(t, s.Services.Alerts.SetPaymentFeed(context.Background(), 1, alert.Telegram, f))
}

// pay records a payment whose content names n.
func (s *installation) pay(t *testing.T, n int, in inbound.Incoming) {
	t.Helper()
	in.EventID, in.Gateway, in.AccountNumber = fmt.Sprint("p", n), "ACB", "19354957"
	if in.Time.IsZero() {
		in.Time = time.Now()
	}
	if in.Type == "" {
		in.Type = app.In
	}
	if in.Amount == 0 {
		in.Amount = int64(1000 + n)
	}
	if in.Content == "" {
		in.Content = fmt.Sprintf("#%d#", n)
	}
	_, _, err := s.Services.Inbound.RecordByHand(context.Background(), 1, inbound.TransactionCreate{Incoming: in}, time.Now())
	must(t, err)
}

var named = regexp.MustCompile(`#(\d+)#`)

// numbers are the payments that the messages name, in their order.
func numbers(texts []string) (list []int) {
	for _, text := range texts {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			n, _ := strconv.Atoi(m[1])
			list = append(list, n)
		}
	}
	return list
}

func wantInOrder(t *testing.T, got []int, first, n int) {
	t.Helper()
	if len(got) != n {
		t.Fatalf("%d payments were told, want %d", len(got), n)
	}
	for i := range got {
		if got[i] != first+i {
			t.Fatalf("payment %d stands where %d belongs", got[i], first+i)
		}
	}
}

// wantAtMost20 checks the bound of a group in every minute.
func (c *chat) wantAtMost20(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.at {
		n := 0
		for _, at := range c.at[i:] {
			if at-c.at[i] <= time.Minute {
				n++
			}
		}
		if n > 20 {
			t.Fatalf("%d messages in the minute after %v", n, c.at[i])
		}
	}
}

// 1,000 payments in a minute: each in exactly one message, in order, at most 20
// messages in any minute, each as long as Telegram takes.
func TestPaymentsComeFast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newChat()
		s := openWith(t, newFile(t), nil, c)
		s.feed(t, alert.PaymentFeed{Content: true})
		s.start(t)
		s.pay(t, 0, inbound.Incoming{Content: "DH12 tu 0123456789 Nguyen #0#"})
		time.Sleep(1100 * time.Millisecond)
		if got := c.sent(); len(got) != 1 || !strings.HasPrefix(got[0], "+1,000\u00a0₫ · ACB ··4957 · ") ||
			!strings.Contains(got[0], "DH12 tu …6789 Nguyen") {
			t.Fatalf("the first payment was not told at once: %q", got)
		}
		for n := 1; n < 1000; n++ {
			s.pay(t, n, inbound.Incoming{})
			time.Sleep(60 * time.Millisecond)
		}
		time.Sleep(5 * time.Minute)
		wantInOrder(t, numbers(c.sent()), 0, 1000)
		c.wantAtMost20(t)
		for _, text := range c.sent() {
			if len(text) > 4096 || strings.Contains(text, "19354957") {
				t.Errorf("%d bytes: %s", len(text), text)
			}
		}
		s.close(t)
	})
}

// A channel that is down for a day, and a server that is killed, lose nothing: what
// came meanwhile is told afterwards, in order, with a word that it is late.
func TestPaymentsWhileDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newChat()
		path := newFile(t)
		s := openWith(t, path, nil, c)
		s.feed(t, alert.PaymentFeed{Content: true})
		s.start(t)
		c.answerBy(func(int) (int, string) {
			return 429, `{"ok":false,"description":"Too Many Requests","parameters":{"retry_after":40}}`
		})
		s.pay(t, 0, inbound.Incoming{})
		time.Sleep(39 * time.Second)
		if got := c.sent(); len(got) != 1 {
			t.Fatalf("%d tries within the time that Telegram asked for", len(got))
		}
		time.Sleep(10 * time.Minute)
		if got := len(c.sent()); got < 3 || got > 6 {
			t.Errorf("%d tries in ten minutes", got)
		}
		list, err := s.Services.Alerts.Attention(t.Context(), 1, alertHome, time.Now())
		must(t, err)
		if len(list) != 1 || list[0].Kind != alert.AttentionAlert || !strings.Contains(list[0].Text.EN, "too many messages") {
			t.Errorf("%+v", list)
		}
		for n := 1; n <= 300; n++ {
			s.pay(t, n, inbound.Incoming{})
		}
		s.crash(t)
		time.Sleep(24 * time.Hour)
		c.answerBy(nil)
		tries := len(c.sent())
		s = openWith(t, path, nil, c)
		s.start(t)
		time.Sleep(5 * time.Minute)
		texts := c.sent()[tries:]
		wantInOrder(t, numbers(texts), 0, 301)
		if !strings.HasPrefix(texts[0], "Late: ") {
			t.Errorf("%s", texts[0])
		}
		c.wantAtMost20(t)
		s.close(t)
	})
}

// A server that is killed between the message and its commit repeats the message,
// and nothing else.
func TestPaymentsKilledBetween(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newChat()
		path := newFile(t)
		reached := make(chan bool, 1)
		hold := true
		s := openWith(t, path, nil, roundTrip(func(r *http.Request) (*http.Response, error) {
			answer, err := c.RoundTrip(r)
			if hold {
				reached <- true
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return answer, err
		}))
		s.feed(t, alert.PaymentFeed{Content: true})
		s.start(t)
		s.pay(t, 0, inbound.Incoming{})
		<-reached
		s.pay(t, 1, inbound.Incoming{})
		s.crash(t)
		hold = false
		s = openWith(t, path, nil, c)
		s.start(t)
		time.Sleep(10 * time.Second)
		if got := fmt.Sprint(numbers(c.sent())); got != "[0 0 1]" {
			t.Errorf("told: %s", got)
		}
		s.close(t)
	})
}

// A feed tells what its filter names, from the moment on at which it is switched on;
// nothing of bank accounts that are off, nor of statement files.
func TestPaymentFilter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newChat()
		s := openWith(t, newFile(t), nil, c)
		s.pay(t, 0, inbound.Incoming{Amount: 9000, Type: app.Out})
		s.feed(t, alert.PaymentFeed{Type: app.Out, Least: 5000})
		s.start(t)
		s.pay(t, 1, inbound.Incoming{Amount: 9000})
		s.pay(t, 2, inbound.Incoming{Amount: 4999, Type: app.Out})
		s.pay(t, 3, inbound.Incoming{Amount: 5000, Type: app.Out, Content: "secret"})
		time.Sleep(5 * time.Second)
		if got := c.sent(); len(got) != 1 || !strings.HasPrefix(got[0], "−5,000\u00a0₫") || strings.Contains(got[0], "secret") {
			t.Fatalf("%q", got)
		}
		other := s.Link("MB", "777")
		must(t, s.Services.Alerts.SetPaymentFeed(t.Context(), 1, alert.Telegram,
			alert.PaymentFeed{On: true, BankAccountID: other.ID, Content: true}))
		s.pay(t, 4, inbound.Incoming{})
		time.Sleep(5 * time.Second)
		must(t, s.Services.Alerts.SetPaymentFeed(t.Context(), 1, alert.Telegram, alert.PaymentFeed{On: true, Content: true}))
		time.Sleep(5 * time.Second)
		must(t, s.Services.Alerts.SetPaymentFeed(t.Context(), 1, alert.Telegram, alert.PaymentFeed{}))
		s.pay(t, 5, inbound.Incoming{})
		time.Sleep(5 * time.Second)
		must(t, s.Services.Alerts.SetPaymentFeed(t.Context(), 1, alert.Telegram, alert.PaymentFeed{On: true, Content: true}))
		banks, err := s.Services.Ledger.BankAccounts(t.Context(), 1)
		must(t, err)
		_, err = s.Services.Ledger.ToggleBankAccount(t.Context(), 1, banks[0].ID, time.Now())
		must(t, err)
		s.pay(t, 6, inbound.Incoming{})
		time.Sleep(5 * time.Second)
		_, err = s.Services.Ledger.ToggleBankAccount(t.Context(), 1, banks[0].ID, time.Now())
		must(t, err)
		s.pay(t, 7, inbound.Incoming{})
		time.Sleep(5500 * time.Millisecond) // between two looks of the feed, which must not see the ninth as a call
		s.pay(t, 8, inbound.Incoming{Time: time.Now().Add(-8 * 24 * time.Hour)})
		s.pay(t, 9, inbound.Incoming{})
		apptest.Exec(t, s.Path, `UPDATE transactions SET channel = 'file' WHERE content = '#9#'`)
		s.pay(t, 10, inbound.Incoming{Time: time.Now().Add(-6 * 24 * time.Hour)})
		time.Sleep(5 * time.Second)
		if got := fmt.Sprint(numbers(c.sent())); got != "[7 10]" {
			t.Errorf("told: %s", got)
		}
		for _, bad := range []alert.PaymentFeed{{On: true, Type: "X"}, {On: true, Least: -1}, {On: true, BankAccountID: 99}} {
			if err := s.Services.Alerts.SetPaymentFeed(t.Context(), 1, alert.Telegram, bad); app.CodeOf(err) != app.CodeValidation {
				t.Errorf("%+v: %v", bad, err)
			}
		}
		s.close(t)
	})
}

// changingStore is a file in which something changes once, right after somebody has
// read the alert channels.
type changingStore struct {
	services.Store
	change func()
}

func (s *changingStore) AlertChannels(ctx context.Context, accountID int64) ([]alert.Channel, error) {
	list, err := s.Store.AlertChannels(ctx, accountID)
	if change := s.change; change != nil {
		s.change = nil
		change()
	}
	return list, err
}

// A feed that somebody switches or changes while the scheduler looks for its payments
// tells nothing by what it was before: no payment that came while it was off, and no
// content that it is not to hold any more.
func TestFeedChangesDuringALook(t *testing.T) {
	t.Parallel()
	all := alert.PaymentFeed{On: true, Content: true}
	for _, c := range []struct {
		name   string
		before alert.PaymentFeed
		change func(set func(alert.PaymentFeed), pay func(n int))
		want   string // the payments that are told
	}{
		{"off", all, func(set func(alert.PaymentFeed), pay func(n int)) {
			set(alert.PaymentFeed{})
			pay(1)
		}, "[]"},
		{"off and on again", all, func(set func(alert.PaymentFeed), pay func(n int)) {
			set(alert.PaymentFeed{})
			pay(1)
			set(all)
			pay(2)
		}, "[2]"},
		{"off and on again, with nothing paid meanwhile", all, func(set func(alert.PaymentFeed), pay func(n int)) {
			set(alert.PaymentFeed{})
			set(all)
			pay(1)
		}, "[1]"},
		{"without the content", all, func(set func(alert.PaymentFeed), pay func(n int)) {
			set(alert.PaymentFeed{On: true})
			pay(1)
		}, "[]"},
		{"of larger amounts", all, func(set func(alert.PaymentFeed), pay func(n int)) {
			set(alert.PaymentFeed{On: true, Content: true, Least: 1002})
			pay(1)
			pay(2)
		}, "[2]"},
		{"of smaller amounts", alert.PaymentFeed{On: true, Content: true, Least: 5000}, func(set func(alert.PaymentFeed), pay func(n int)) {
			set(all)
			pay(1)
		}, "[1]"},
		{"of the other direction", alert.PaymentFeed{On: true, Content: true, Type: app.Out}, func(set func(alert.PaymentFeed), pay func(n int)) {
			set(all)
			pay(1)
		}, "[1]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			telegram := newChat()
			s := openWith(t, newFile(t), nil, telegram)
			s.feed(t, c.before)
			store := &changingStore{Store: s.Store}
			alerter := scheduler.NewAlerter(apptest.Targets(t), "test", telegram)
			service := apptest.Over(t, s.Store, services.Config{Store: store, Alert: alerter.Send})
			channel, err := service.Alerts.AlertChannel(t.Context(), 1, alert.Telegram)
			must(t, err)
			store.change = func() {
				set := func(f alert.PaymentFeed) {
					must(t, s.Services.Alerts.SetPaymentFeed(t.Context(), 1, alert.Telegram, f))
				}
				c.change(set, func(n int) { s.pay(t, n, inbound.Incoming{}) })
			}
			now := time.Now()
			for range 3 { // looks, of which the first one meets the change
				if alerted, _ := service.Alerts.SendPayments(t.Context(), channel, now); alerted.Err != nil {
					t.Fatal(alerted.Err)
				}
				now = now.Add(time.Minute)
			}
			if got := fmt.Sprint(numbers(telegram.sent())); got != c.want {
				t.Errorf("told: %s, want %s", got, c.want)
			}
			s.close(t)
		})
	}
}

// chats are settings that each medium accepts.
var chats = map[alert.Medium]alert.ChatSettings{
	alert.Zalo:    {Token: "12345689:abc-xyz_secretsecret", Chat: "6ede9afa66b88fe6d6a9"},
	alert.Discord: {URL: "https://discord.com/api/webhooks/123456789012345678/" + strings.Repeat("secret_-", 8)},
	alert.Slack:   {URL: "https://hooks.slack.com/services/T00000000/B00000000/secretsecretsecretsecret"},
	alert.Lark:    {URL: "https://open.larksuite.com/open-apis/bot/v2/hook/secret12-3456-7890-abcd-ef1234567890", Token: "signing-secret"},
	alert.Ntfy:    {URL: "https://ntfy.sh/secrettopic", Token: "tk_secretsecret"},
}

// Each medium is sent what its service documents, over TLS, and what it answers is
// understood: some say 200 to refuse. No error repeats a secret.
func TestChats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		medium alert.Medium
		status int
		body   string
		says   string // empty: it took the message
	}{
		{alert.Zalo, 200, `{"ok":true,"result":{"message_id":"1"}}`, ""},
		{alert.Zalo, 200, `{"ok":false,"error_code":400,"description":"Bad Request"}`, "Zalo answered “Bad Request”"},
		{alert.Zalo, 200, `{}`, "Zalo answered “200”"},
		{alert.Zalo, 401, `{"ok":false,"description":"Unauthorized"}`, "copy it again"},
		{alert.Discord, 204, ``, ""},
		{alert.Discord, 200, `{"id":"1"}`, ""},
		{alert.Discord, 404, `{"message":"Unknown Webhook","code":10015}`, "“Unknown Webhook”: the URL or token"},
		{alert.Discord, 429, `{"message":"You are being rate limited.","retry_after":1.5}`, "too many messages"},
		{alert.Discord, 302, ``, "Discord answered “302”"},
		{alert.Slack, 200, `ok`, ""},
		{alert.Slack, 200, `<html>welcome`, "Slack answered “200”"},
		{alert.Slack, 403, `invalid_token`, "“invalid_token”"},
		{alert.Slack, 500, `ok`, "trouble of its own"},
		{alert.Lark, 200, `{"code":0,"data":{},"msg":"success"}`, ""},
		{alert.Lark, 200, `{"code":19021,"msg":"sign match fail or timestamp is not within one hour from current time"}`, "“sign match fail"},
		{alert.Lark, 200, `{"msg":"success"}`, "Lark answered"},
		{alert.Lark, 400, `{"code":0}`, "Lark answered"},
		{alert.Ntfy, 200, `{"id":"hwQ2YpKdmg","event":"message"}`, ""},
		{alert.Ntfy, 200, `{"event":"open"}`, "ntfy answered"},
		{alert.Ntfy, 403, `{"code":40301,"http":403,"error":"forbidden"}`, "“forbidden”"},
		{alert.Ntfy, 429, `{"code":42901,"error":"limit reached tk_secretsecret secrettopic"}`, "too many messages"},
	} {
		t.Run(fmt.Sprint(c.medium, c.status), func(t *testing.T) {
			var got *http.Request
			var sent map[string]any
			server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = r
				data, _ := io.ReadAll(r.Body)
				if err := json.Unmarshal(data, &sent); err != nil {
					t.Error(err)
				}
				w.Header().Set("Location", "https://elsewhere.example.vn")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			defer server.Close()
			alerter := scheduler.NewAlerter(apptest.Targets(t), "test", throughTLS(server))
			settings := chats[c.medium]
			err := alerter.Send(t.Context(), alert.Channel{Medium: c.medium, Chat: settings},
				alert.Message{Subject: "Chủ đề", Text: "a_b *c* <at user_id=\"all\"> & https://b.vn/x_y"})
			text := map[alert.Medium]string{
				alert.Zalo:    fmt.Sprint(got.Host, got.URL.Path, sent["chat_id"], sent["text"]),
				alert.Discord: fmt.Sprint(got.Host, got.URL.Path, sent["content"], sent["allowed_mentions"], sent["flags"]),
				alert.Slack:   fmt.Sprint(got.Host, got.URL.Path, sent["text"], sent["mrkdwn"]),
				alert.Lark:    fmt.Sprint(got.Host, got.URL.Path, sent["msg_type"], sent["content"]),
				alert.Ntfy:    fmt.Sprint(got.Host, got.URL.Path, sent["topic"], sent["title"], sent["message"], got.Header.Get("Authorization")),
			}[c.medium]
			want := map[alert.Medium]string{
				alert.Zalo: "bot-api.zaloplatforms.com/bot" + settings.Token + "/sendMessage" + settings.Chat +
					"a_b *c* <at user_id=\"all\"> & https://b.vn/x_y",
				alert.Discord: strings.TrimPrefix(settings.URL, "https://") + `a\_b \*c\* \<at user\_id="all"\> & https://b.vn/x_ymap[parse:[]] 4`,
				alert.Slack:   strings.TrimPrefix(settings.URL, "https://") + `a_b *c* &lt;at user_id="all"&gt; &amp; https://b.vn/x_y false`,
				alert.Lark:    strings.TrimPrefix(settings.URL, "https://") + `textmap[text:a_b *c* ‹at user_id="all"> & https://b.vn/x_y]`,
				alert.Ntfy:    "ntfy.sh/" + "secrettopic" + "Chủ đề" + "a_b *c* <at user_id=\"all\"> & https://b.vn/x_y" + "Bearer tk_secretsecret",
			}[c.medium]
			if strings.ReplaceAll(text, " ", "") != strings.ReplaceAll(want, " ", "") {
				t.Errorf("sent\n%s\nwant\n%s", text, want)
			}
			if c.says == "" {
				must(t, err)
				return
			}
			var fault *alert.Error
			if !errors.As(err, &fault) || !strings.Contains(fault.Text.EN, c.says) || fault.Text.VI == "" ||
				strings.Contains(fault.Text.EN+fault.Text.VI, "secret") {
				t.Fatalf("%v, want %q", err, c.says)
			}
			if c.medium == alert.Discord && c.status == 429 && fault.RetryAfter != 1500*time.Millisecond {
				t.Errorf("again after %v", fault.RetryAfter)
			}
		})
	}
}

// The signature of Lark is that of its documentation: the HMAC-SHA256 of nothing
// under the time, a line break and the secret.
func TestLarkSignature(t *testing.T) {
	t.Parallel()
	var sent map[string]any
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewDecoder(r.Body).Decode(&sent)
		_, _ = io.WriteString(w, `{"code":0}`)
	}))
	defer server.Close()
	alerter := scheduler.NewAlerter(apptest.Targets(t), "test", throughTLS(server))
	must(t, alerter.Send(t.Context(), alert.Channel{Medium: alert.Lark, Chat: chats[alert.Lark]}, alert.Message{Text: "x"}))
	at, _ := sent["timestamp"].(string)
	if seconds, err := strconv.ParseInt(at, 10, 64); err != nil || time.Since(time.Unix(seconds, 0)).Abs() > time.Minute ||
		sent["sign"] != base64.StdEncoding.EncodeToString(hmac.New(sha256.New, []byte(at+"\nsigning-secret")).Sum(nil)) {
		t.Errorf("%v", sent)
	}
}
