package scheduler_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/apptest"
	"baoco/app/services"
	"baoco/scheduler"

	"github.com/google/go-cmp/cmp"
)

const mailPassword = "mat khau ung dung"

// mailbox is a small mail server: it speaks SMTP with STARTTLS or within TLS,
// asks for a password, and keeps what it takes.
type mailbox struct {
	config   *tls.Config
	implicit bool
	answers  map[string]string // to commands, in place of its own
	addr     string

	mu       sync.Mutex
	commands []string // before and after the encryption, without their arguments
	taken    []taken
}

type taken struct{ from, to, data string }

func startMailbox(t *testing.T, certificate tls.Certificate, implicit bool, answers map[string]string) *mailbox {
	t.Helper()
	m := &mailbox{config: &tls.Config{Certificates: []tls.Certificate{certificate}}, implicit: implicit, answers: answers}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	m.addr = listener.Addr().String()
	var running sync.WaitGroup
	t.Cleanup(func() { listener.Close(); running.Wait() })
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer conn.Close()
				_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
				m.serve(conn)
			})
		}
	})
	return m
}

// serve holds one conversation.
func (m *mailbox) serve(conn net.Conn) {
	encrypted := m.implicit
	if m.implicit {
		conn = tls.Server(conn, m.config)
	}
	lines := bufio.NewReader(conn)
	say := func(text string) { _, _ = fmt.Fprintf(conn, "%s\r\n", text) }
	say("220 mail.example.vn ready")
	var letter taken
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		verb, argument, _ := strings.Cut(line, " ")
		verb = strings.ToUpper(verb)
		m.mu.Lock()
		m.commands = append(m.commands, verb)
		answer, other := m.answers[verb]
		if special, found := m.answers[line]; found {
			answer, other = special, true
		}
		m.mu.Unlock()
		if other {
			say(answer)
			continue
		}
		switch verb {
		case "EHLO":
			if !strings.ContainsAny(argument, ".:") { // neither a whole name nor an address
				say("504 5.5.2 <" + argument + ">: Helo command rejected: need fully-qualified hostname")
			} else if encrypted {
				say("250-mail.example.vn\r\n250-8BITMIME\r\n250 AUTH PLAIN LOGIN")
			} else {
				say("250-mail.example.vn\r\n250 STARTTLS")
			}
		case "STARTTLS":
			say("220 go ahead")
			conn = tls.Server(conn, m.config)
			lines, encrypted = bufio.NewReader(conn), true
		case "AUTH":
			want := "PLAIN " + base64.StdEncoding.EncodeToString([]byte("\x00lan\x00"+mailPassword))
			if !encrypted || argument != want {
				say("535 5.7.8 Username and Password not accepted: " + m.answers["refused"] + argument)
				continue
			}
			say("235 welcome")
		case "MAIL":
			letter = taken{from: argument}
			say("250 ok")
		case "RCPT":
			letter.to = argument
			say("250 ok")
		case "DATA":
			say("354 go on")
			var b strings.Builder
			for {
				line, err := lines.ReadString('\n')
				if err != nil {
					return
				}
				if line == ".\r\n" {
					break
				}
				b.WriteString(strings.TrimPrefix(line, "."))
			}
			letter.data = b.String()
			m.mu.Lock()
			m.taken = append(m.taken, letter)
			m.mu.Unlock()
			say("250 taken")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

func (m *mailbox) letters() []taken {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]taken(nil), m.taken...)
}

// mailWorld is a service whose alerts go to mail servers of a test by name.
type mailWorld struct {
	*apptest.World
	root issuer
}

func newMailWorld(t *testing.T, allow ...string) *mailWorld {
	t.Helper()
	targets := apptest.Targets(t, allow...)
	names := startNameServer(t)
	names.set("mail.example.vn", "127.0.0.1")
	names.set("bot.example.vn", "127.0.0.1")
	w := &mailWorld{root: issuer{}.authority(t, "root")}
	roots := x509.NewCertPool()
	roots.AddCert(w.root.certificate)
	w.World = apptest.Open(t, newFile(t),
		services.Config{Targets: targets, Alert: scheduler.NewAlerterOn(targets, names.resolver(), roots).Send})
	t.Cleanup(w.Close)
	return w
}

func (w *mailWorld) mailbox(t *testing.T, implicit bool, answers map[string]string) *mailbox {
	t.Helper()
	return startMailbox(t, w.root.server(t, "mail.example.vn", time.Now()), implicit, answers)
}

// settings are those that fit a mailbox.
func (m *mailbox) settings(t *testing.T) alert.EmailSettings {
	t.Helper()
	_, port, err := net.SplitHostPort(m.addr)
	must(t, err)
	n, err := strconv.Atoi(port)
	must(t, err)
	security := alert.MailStartTLS
	if m.implicit {
		security = alert.MailTLS
	}
	return alert.EmailSettings{
		Host: "mail.example.vn", Port: n, Security: security, Username: "lan", Password: mailPassword,
		From: "shop@example.vn", To: []string{"lan@example.vn", "minh@example.vn"},
	}
}

// test sends a test by e-mail and gives the failure.
func (w *mailWorld) test(t *testing.T, e alert.EmailSettings) error {
	t.Helper()
	return w.testWithin(t, 5*time.Second, e)
}

func (w *mailWorld) testWithin(t *testing.T, limit time.Duration, e alert.EmailSettings) error {
	t.Helper()
	_, err := w.Services.Alerts.SetAlertChannel(context.Background(), alert.Channel{AccountID: 1, Medium: alert.Email, Email: e}, time.Now())
	must(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return w.Services.Alerts.TestAlert(ctx, 1, alert.Email, alertHome, time.Now())
}

// An e-mail arrives at each recipient, encrypted either way, readable.
func TestAlertEmail(t *testing.T) {
	t.Parallel()
	for _, implicit := range []bool{false, true} {
		w := newMailWorld(t, "127.0.0.1/32")
		m := w.mailbox(t, implicit, nil)
		must(t, w.test(t, m.settings(t)))
		letters := m.letters()
		if len(letters) != 2 || !strings.HasPrefix(letters[0].from, "FROM:<shop@example.vn>") || letters[0].to != "TO:<lan@example.vn>" ||
			letters[1].to != "TO:<minh@example.vn>" {
			t.Fatalf("implicit %v: %+v", implicit, letters)
		}
		message, err := mail.ReadMessage(strings.NewReader(letters[1].data))
		must(t, err)
		subject, err := new(mime.WordDecoder).DecodeHeader(message.Header.Get("Subject"))
		must(t, err)
		from, err := message.Header.AddressList("From")
		must(t, err)
		body, err := io.ReadAll(quotedprintable.NewReader(message.Body))
		must(t, err)
		got := []string{subject, from[0].Name, from[0].Address, message.Header.Get("To"), message.Header.Get("Auto-Submitted"),
			strings.ReplaceAll(string(body), "\r\n", "\n")}
		want := []string{
			"Báo Có: tin thử", "Báo Có", "shop@example.vn", "<minh@example.vn>", "auto-generated",
			"Báo Có\n\n✅ Đây là tin thử: cảnh báo của cửa hàng sẽ được gửi đến đây.\nCài đặt cảnh báo: https://baoco.example.vn/settings/alerts\n",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("implicit %v: %s", implicit, diff)
		}
		if !implicit && m.commands[1] != "STARTTLS" {
			t.Errorf("commands %q", m.commands)
		}
	}
}

// What goes wrong is said in the server's own words, with what to do, and
// without the password.
func TestAlertEmailFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		answers  map[string]string
		change   func(*alert.EmailSettings)
		implicit bool
		says     []string
		letters  int
	}{
		{"password", nil, func(e *alert.EmailSettings) { e.Password = "wrong" + mailPassword }, false,
			[]string{"535 5.7.8 Username and Password not accepted", "app password"}, 0},
		{"password, where the answer is cut", map[string]string{"refused": strings.Repeat("x", 125) + " "},
			func(e *alert.EmailSettings) { e.Password = "wrong" + mailPassword }, false,
			[]string{"535 5.7.8 Username and Password not accepted", "app password"}, 0},
		{"sender", map[string]string{"MAIL": "553 5.7.1 not yours"}, nil, false,
			[]string{"553 5.7.1 not yours", "shop@example.vn may not send"}, 0},
		{"recipients", map[string]string{"RCPT": "550 5.1.1 no such user"}, nil, true,
			[]string{"550 5.1.1 no such user", "check the addresses"}, 0},
		{"name of this machine", map[string]string{"RCPT": "504 5.5.2 <vps.lan>: Helo command rejected: Host not found"}, nil, false,
			[]string{"504 5.5.2", "hostnamectl set-hostname"}, 0},
		{"one recipient", map[string]string{"RCPT TO:<lan@example.vn>": "550 5.1.1 no such user"}, nil, false,
			[]string{"550 5.1.1 no such user"}, 1},
		{"later", map[string]string{"DATA": "451 4.7.1 greylisted"}, nil, false, []string{"451 4.7.1 greylisted", "tried again later"}, 0},
		{"no STARTTLS", map[string]string{"EHLO": "250 mail.example.vn"}, nil, false, []string{"STARTTLS", "kind of encryption"}, 0},
		{"not TLS", nil, func(e *alert.EmailSettings) { e.Security = alert.MailTLS }, false,
			[]string{"secure connection", "kind of encryption"}, 0},
		{"silent", nil, func(e *alert.EmailSettings) { e.Security = alert.MailStartTLS }, true, []string{"did not answer in time"}, 0},
		{"nobody there", nil, func(e *alert.EmailSettings) { e.Port = 1 }, false, []string{"Nothing listens at mail.example.vn:1"}, 0},
		{"no such name", nil, func(e *alert.EmailSettings) { e.Host = "mial.example.vn" }, false, []string{"could not be looked up"}, 0},
		{"wrong name", nil, func(e *alert.EmailSettings) { e.Host = "bot.example.vn" }, false,
			[]string{"secure connection to bot.example.vn", "not bot.example.vn"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newMailWorld(t, "127.0.0.1/32")
			m := w.mailbox(t, c.implicit, c.answers)
			e := m.settings(t)
			if c.change != nil {
				c.change(&e)
			}
			limit := 5 * time.Second
			if c.name == "silent" {
				limit = 300 * time.Millisecond // all of which passes
			}
			err := w.testWithin(t, limit, e)
			var fault *alert.Error
			if !errors.As(err, &fault) || fault.Partly != (c.letters > 0) {
				t.Fatalf("%v", err)
			}
			for _, part := range c.says {
				if !strings.Contains(fault.Text.EN, part) {
					t.Errorf("%q doesn't say %q", fault.Text.EN, part)
				}
			}
			sent := base64.StdEncoding.EncodeToString([]byte("\x00lan\x00" + e.Password))
			for _, secret := range []string{e.Password, sent, sent[:16]} {
				if strings.Contains(fault.Text.EN+fault.Text.VI, secret) {
					t.Errorf("%q holds the password", fault.Text.EN)
				}
			}
			if got := m.letters(); len(got) != c.letters {
				t.Errorf("%d letters", len(got))
			}
			messages, err := w.Services.Alerts.AlertMessages(t.Context(), 1, 10)
			must(t, err)
			if len(messages) != 1 || messages[0].Problem != fault.Text || !messages[0].Test || messages[0].Sent != (c.letters > 0) {
				t.Errorf("%+v", messages)
			}
		})
	}
}

// Nothing that an owner enters leads to an address that webhooks may not go to.
func TestAlertGuard(t *testing.T) {
	t.Parallel()
	w := newMailWorld(t)
	m := w.mailbox(t, false, nil)
	err := w.test(t, m.settings(t))
	if err == nil || !strings.Contains(err.Error(), "no public address") || len(m.letters()) != 0 || len(m.commands) != 0 {
		t.Errorf("by name: %v, %q", err, m.commands)
	}
	_, err = w.Services.Alerts.SetAlertChannel(t.Context(),
		alert.Channel{AccountID: 1, Medium: alert.Telegram, Telegram: alert.TelegramSettings{
			Token: someToken, Chat: "5", APIURL: "http://bot.example.vn:" + m.addr[strings.LastIndex(m.addr, ":")+1:],
		}}, time.Now())
	must(t, err)
	err = w.Services.Alerts.TestAlert(t.Context(), 1, alert.Telegram, alertHome, time.Now())
	if err == nil || !strings.Contains(err.Error(), "no public address") || strings.Contains(err.Error(), someToken) || len(m.commands) != 0 {
		t.Errorf("Telegram: %v", err)
	}
	for _, c := range []alert.Channel{
		{Medium: alert.Telegram, Telegram: alert.TelegramSettings{Token: someToken, Chat: "5", APIURL: "http://127.0.0.1:8081"}},
		{Medium: alert.Telegram, Telegram: alert.TelegramSettings{Token: someToken, Chat: "5", APIURL: "http://localhost"}},
		{Medium: alert.Telegram, Telegram: alert.TelegramSettings{Token: someToken, Chat: "5", APIURL: "https://user@bot.example.vn"}},
		{Medium: alert.Email,
			Email: alert.EmailSettings{Host: "127.0.0.1", Port: 25, Security: alert.MailTLS, From: "a@b.vn", To: []string{"a@b.vn"}}},
		{Medium: alert.Email, Email: alert.EmailSettings{Host: "::1", Port: 25, Security: alert.MailTLS, From: "a@b.vn", To: []string{"a@b.vn"}}},
		{Medium: alert.Email,
			Email: alert.EmailSettings{Host: "169.254.169.254", Port: 80, Security: alert.MailTLS, From: "a@b.vn", To: []string{"a@b.vn"}}},
		{Medium: alert.Email,
			Email: alert.EmailSettings{Host: "postfix", Port: 25, Security: alert.MailTLS, From: "a@b.vn", To: []string{"a@b.vn"}}},
	} {
		c.AccountID = 1
		if _, err := w.Services.Alerts.SetAlertChannel(t.Context(), c, time.Now()); app.CodeOf(err) != app.CodeValidation {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// A server that talks without end, or says nothing, costs a bounded time and
// memory.
func TestAlertEmailEndlessTalk(t *testing.T) {
	t.Parallel()
	w := newMailWorld(t, "127.0.0.1/32")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	said := make(chan int64, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		n, _ := io.Copy(conn, io.LimitReader(greeting{}, 64<<20))
		said <- n
	}()
	port := listener.Addr().(*net.TCPAddr).Port
	err = w.test(t, alert.EmailSettings{Host: "mail.example.vn", Port: port, Security: alert.MailStartTLS, From: "a@example.vn",
		To: []string{"b@example.vn"}})
	if err == nil || !strings.Contains(err.Error(), "kind of encryption") {
		t.Error(err)
	}
	if n := apptest.Receive(t, "the endless talk ends", said); n >= 64<<20 {
		t.Errorf("%d bytes were listened to", n)
	}
}

type greeting struct{}

func (greeting) Read(b []byte) (int, error) {
	line := "220-welcome\r\n"
	n := 0
	for n+len(line) <= len(b) {
		n += copy(b[n:], line)
	}
	return n, nil
}
