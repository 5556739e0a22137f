package scheduler_test

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/alert"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/services"
	"baoco/scheduler"
	"baoco/scheduler/courier"
)

var base64url = base64.RawURLEncoding

// pushService stands for the service of a browser's maker, and for the browsers. It reads
// what it is sent as RFC 8291 and RFC 8292 say.
type pushService struct {
	mu       sync.Mutex
	start    time.Time
	origin   string // who must be named as the sender
	browsers map[string]pushBrowser
	got      []pushed
	wrong    []string
	answer   func(n int, w http.ResponseWriter) // nil: it takes everything
}

type pushBrowser struct {
	key  *ecdh.PrivateKey
	auth []byte
}

// pushed is a message as a browser got it.
type pushed struct {
	At                     time.Duration
	To, TTL, Topic         string
	Title, Body, Path, Tag string
}

func newPushService() *pushService {
	return &pushService{start: time.Now(), origin: "https://shop.vn", browsers: map[string]pushBrowser{}}
}

// subscribe makes a browser and gives its address.
func (p *pushService) subscribe(t *testing.T, name string) alert.PhoneAddress {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	must(t, err)
	b := pushBrowser{key, []byte(rand.Text())[:16]}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.browsers["/"+name] = b
	return alert.PhoneAddress{Endpoint: "https://example.com/" + name, Origin: p.origin,
		P256dh: base64url.EncodeToString(key.PublicKey().Bytes()), Auth: base64url.EncodeToString(b.auth)}
}

func (p *pushService) RoundTrip(r *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	p.ServeHTTP(recorder, r)
	return recorder.Result(), nil
}

func (p *pushService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := pushed{At: time.Since(p.start), To: r.URL.Path, TTL: r.Header.Get("TTL"), Topic: r.Header.Get("Topic")}
	data, err := io.ReadAll(r.Body)
	if err == nil {
		data, err = p.browsers[m.To].decrypt(data)
	}
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err == nil {
		err = checkVAPID(r, p.origin)
	}
	if h := r.Header; err == nil && (h.Get("Content-Encoding") != "aes128gcm" || h.Get("Urgency") != "high" || r.Method != "POST") {
		err = fmt.Errorf("%s %v", r.Method, h)
	}
	if err != nil {
		p.wrong = append(p.wrong, err.Error())
	}
	p.got = append(p.got, m)
	if p.answer == nil {
		w.WriteHeader(http.StatusCreated)
		return
	}
	p.answer(len(p.got), w)
}

// decrypt is what a browser does: RFC 8291, section 3.4, and RFC 8188, section 2.
func (b pushBrowser) decrypt(data []byte) ([]byte, error) {
	if b.key == nil || len(data) < 86 || len(data) > 4096 || string(data[16:20]) != "\x00\x00\x10\x00" || data[20] != 65 {
		return nil, fmt.Errorf("%d bytes for a browser %v", len(data), b.key)
	}
	salt, public, box := data[:16], data[21:86], data[86:]
	sender, err := ecdh.P256().NewPublicKey(public)
	if err != nil {
		return nil, err
	}
	shared, err := b.key.ECDH(sender)
	if err != nil {
		return nil, err
	}
	derive := func(secret, salt []byte, info string, n int) []byte {
		key, derived := hkdf.Key(sha256.New, secret, salt, info, n)
		err = errors.Join(err, derived)
		return key
	}
	ikm := derive(shared, b.auth, "WebPush: info\x00"+string(b.key.PublicKey().Bytes())+string(public), 32)
	block, bad := aes.NewCipher(derive(ikm, salt, "Content-Encoding: aes128gcm\x00", 16))
	if err = errors.Join(err, bad); err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	text, err := aead.Open(nil, derive(ikm, salt, "Content-Encoding: nonce\x00", 12), box, nil)
	if err != nil || len(text) == 0 || text[len(text)-1] != 2 {
		return nil, fmt.Errorf("%w: %q", err, text)
	}
	return text[:len(text)-1], nil
}

// checkVAPID is what a push service does: RFC 8292.
func checkVAPID(r *http.Request, origin string) error {
	var token, key string
	if _, err := fmt.Sscanf(strings.ReplaceAll(r.Header.Get("Authorization"), ",", " "), "vapid t=%s k=%s", &token, &key); err != nil {
		return err
	}
	public, err := base64url.DecodeString(key)
	if err != nil {
		return err
	}
	verifier, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), public)
	if err != nil {
		return err
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return fmt.Errorf("%d parts", len(parts))
	}
	signature, err := base64url.DecodeString(parts[2])
	if err != nil || len(signature) != 64 {
		return fmt.Errorf("a signature of %d bytes: %w", len(signature), err)
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if !ecdsa.Verify(verifier, digest[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		return errors.New("the signature is wrong")
	}
	var claims struct {
		Aud, Sub string
		Exp      int64
	}
	data, err := base64url.DecodeString(parts[1])
	if err == nil {
		err = json.Unmarshal(data, &claims)
	}
	left := time.Until(time.Unix(claims.Exp, 0))
	if err != nil || claims.Aud != "https://"+r.Host || claims.Sub != origin || left <= 0 || left > 24*time.Hour {
		return fmt.Errorf("%w: %s", err, data)
	}
	return nil
}

// take gives the messages since the last call.
func (p *pushService) take(t *testing.T) []pushed {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, wrong := range p.wrong {
		t.Error(wrong)
	}
	got := p.got
	p.got, p.wrong = nil, nil
	return got
}

func (p *pushService) answerBy(f func(n int, w http.ResponseWriter)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer, p.got = f, nil
}

// wantPushes checks whom the messages since the last call told, and of what.
func (p *pushService) wantPushes(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for _, m := range p.take(t) {
		got = append(got, m.To+" "+m.Title+": "+strings.ReplaceAll(m.Body, "\u00a0", " ")+" "+m.Path)
	}
	if len(got) != len(want) {
		t.Fatalf("%d messages, want %d: %q", len(got), len(want), got)
	}
	for _, w := range want {
		if !strings.Contains("\n"+strings.Join(got, "\n")+"\n", "\n"+w+"\n") {
			t.Errorf("got %q, want %q", got, w)
		}
	}
}

// phone adds a phone of a user, with choices.
func (s *installation) phone(t *testing.T, p *pushService, u access.User, name string, choices alert.Phone) alert.Phone {
	t.Helper()
	added, err := s.Services.Alerts.AddPhone(context.Background(), alert.Phone{AccountID: u.AccountID, UserID: u.ID, Name: name,
		Lang: app.Vietnamese, CreatedAt: time.Now(), PhoneAddress: p.subscribe(t, name)})
	must(t, err)
	choices.ID, choices.AccountID, choices.UserID = added.ID, added.AccountID, added.UserID
	must(t, s.Services.Alerts.ChangePhone(context.Background(), choices))
	return added
}

func (s *installation) phones(t *testing.T) int {
	t.Helper()
	list, err := s.Services.Alerts.Phones(context.Background(), 0)
	must(t, err)
	return len(list)
}

// pushing is an installation whose phones ring by p, once started.
func pushing(t *testing.T, path string, p http.RoundTripper, shop http.RoundTripper) *installation {
	t.Helper()
	targets := apptest.Targets(t, "127.0.0.1/32")
	sender := courier.NewSender(targets, "test", shop)
	w := apptest.Open(t, path,
		services.Config{Targets: targets, Send: sender.Send, Push: scheduler.NewAlerter(targets, "test", p).Push})
	return &installation{World: w, sender: sender, log: &apptest.Output{}}
}

// Each phone rings for what its user chose and may see, and says no more than that.
func TestPhonesRing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPushService()
		s := pushing(t, newFile(t), p, nil)
		second := s.Link("VCB", "99887766")
		owner, hoa := s.User(1, "lan", access.RoleOwner), s.User(1, "hoa", access.RoleCashier)
		thu := s.User(1, "thu", access.RoleCashier)
		other := s.User(s.SecondAccount(), "minh", access.RoleOwner)
		_, err := s.Services.Access.LimitUser(t.Context(), 1, hoa.ID, access.BankAccountLimit{On: true, IDs: []int64{second.ID}})
		must(t, err)
		_, err = s.Services.Ledger.SetBankAccountReceiving(t.Context(), 1, second.ID, app.BankAccountReceiving{ReceivingNumbers: "VA1\nVA2"})
		must(t, err)
		_, err = s.Services.Access.LimitUser(t.Context(), 1, thu.ID,
			access.BankAccountLimit{On: true, IDs: []int64{second.ID}, ReceivingNumber: "VA1"})
		must(t, err)
		s.phone(t, p, owner, "plain", alert.Phone{Payments: true})
		s.phone(t, p, owner, "amounts", alert.Phone{Payments: true, Amounts: true, Least: 70_000})
		s.phone(t, p, owner, "second", alert.Phone{Payments: true, BankAccountID: second.ID})
		s.phone(t, p, owner, "attention", alert.Phone{Attention: true})
		s.phone(t, p, hoa, "cashier", alert.Phone{Payments: true})
		s.phone(t, p, thu, "till", alert.Phone{Payments: true, Amounts: true})
		s.phone(t, p, other, "other", alert.Phone{Payments: true})
		s.pay(t, 0, inbound.Incoming{}) // before the start
		s.start(t)
		time.Sleep(2 * time.Second)
		p.wantPushes(t)
		s.pay(t, 1, inbound.Incoming{Amount: 200_000, Content: "NGUYEN VAN A tra no"})
		time.Sleep(1500 * time.Millisecond)
		p.wantPushes(t, "/plain Có tiền vào: Chạm để xem /transactions/2", "/amounts Có tiền vào: +200.000 ₫ · ACB ··4957 /transactions/2")
		time.Sleep(time.Minute)
		s.pay(t, 2, inbound.Incoming{Amount: 49_999})
		s.pay(t, 3, inbound.Incoming{Type: app.Out})
		s.pay(t, 4, inbound.Incoming{Time: time.Now().Add(-2 * time.Hour)}) // the books are completed
		_, _, err = s.Services.Inbound.RecordByHand(t.Context(), 1, inbound.TransactionCreate{Incoming: inbound.Incoming{EventID: "second",
			Gateway: "VCB", AccountNumber: "99887766", Type: app.In, Amount: 70_000, Time: time.Now()}}, time.Now())
		must(t, err)
		time.Sleep(1500 * time.Millisecond)
		p.wantPushes(t, "/plain Có tiền vào: 2 khoản /transactions", "/amounts Có tiền vào: +70.000 ₫ · VCB ··7766 /transactions/6",
			"/second Có tiền vào: Chạm để xem /transactions/6", "/cashier Có tiền vào: Chạm để xem /till")
		time.Sleep(time.Minute + 500*time.Millisecond) // between two looks, which are a second apart
		for i, number := range []string{"VA2", "VA1"} {
			_, _, err = s.Services.Inbound.RecordByHand(t.Context(), 1, inbound.TransactionCreate{Incoming: inbound.Incoming{EventID: number,
				Gateway: "VCB", AccountNumber: "99887766", SubAccount: number, Type: app.In, Amount: 10_000 + int64(i), Time: time.Now()}}, time.Now())
			must(t, err)
		}
		time.Sleep(1500 * time.Millisecond)
		p.wantPushes(t, "/plain Có tiền vào: 2 khoản /transactions", "/second Có tiền vào: 2 khoản /transactions",
			"/cashier Có tiền vào: 2 khoản /till", "/till Có tiền vào: +10.001 ₫ · VCB ··7766 /till")
		s.close(t)
	})
}

// 100 payments in a minute ring a few times, and every one is counted once. The messages
// don't outlive the news.
func TestPhoneInABurst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPushService()
		s := pushing(t, newFile(t), p, nil)
		s.phone(t, p, s.User(1, "lan", access.RoleOwner), "lan", alert.Phone{Payments: true, Amounts: true})
		s.start(t)
		for n := range 100 {
			s.pay(t, n, inbound.Incoming{Amount: 34_000})
			time.Sleep(600 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		total := 0
		got := p.take(t)
		for i, m := range got {
			n := 1
			if _, err := fmt.Sscanf(m.Body, "%d khoản", &n); (err == nil) != (m.Topic == "payments") {
				t.Errorf("%q has the topic %q", m.Body, m.Topic)
			}
			if total += n; n > 1 && !strings.HasPrefix(m.Body, fmt.Sprintf("%d khoản, %s\u00a0₫ · ACB", n,
				app.GroupDigits(int64(n)*34_000, app.Vietnamese))) {
				t.Errorf("%q", m.Body)
			}
			var ttl int
			if _, err := fmt.Sscan(m.TTL, &ttl); err != nil || ttl < 280 || ttl > 300 {
				t.Errorf("TTL %s", m.TTL)
			}
			if i > 0 && m.At-got[i-1].At < 15*time.Second {
				t.Errorf("rings after %v", m.At-got[i-1].At)
			}
		}
		if len(got) > 6 || total != 100 {
			t.Errorf("%d messages about %d payments", len(got), total)
		}
		s.close(t)
	})
}

// A phone whose browser is gone is removed. Another is tried again as the service says, a few
// times and no longer than a payment is news.
func TestPushServiceFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPushService()
		s := pushing(t, newFile(t), p, nil)
		s.phone(t, p, s.User(1, "lan", access.RoleOwner), "lan", alert.Phone{Payments: true})
		s.start(t)
		p.answerBy(func(n int, w http.ResponseWriter) {
			if n == 1 {
				w.Header().Set("Retry-After", "42")
				w.WriteHeader(http.StatusTooManyRequests)
			}
		})
		s.pay(t, 1, inbound.Incoming{})
		time.Sleep(5 * time.Second)
		s.pay(t, 2, inbound.Incoming{}) // joins the one that waits
		time.Sleep(4 * time.Minute)
		got := p.take(t)
		if len(got) != 2 || got[1].At-got[0].At < 42*time.Second || got[1].At-got[0].At > 45*time.Second || got[1].Body != "2 khoản" {
			t.Errorf("%+v", got)
		}
		p.answerBy(func(_ int, w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) })
		s.pay(t, 3, inbound.Incoming{})
		time.Sleep(10 * time.Minute)
		if got := p.take(t); len(got) != 4 {
			t.Errorf("%d tries", len(got))
		}
		p.answerBy(func(_ int, w http.ResponseWriter) {
			w.Header().Set("Retry-After", "301")
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		s.pay(t, 4, inbound.Incoming{})
		time.Sleep(10 * time.Minute)
		if got := p.take(t); len(got) != 1 {
			t.Errorf("%d tries of what is no news any more", len(got))
		}
		p.answerBy(func(_ int, w http.ResponseWriter) { w.WriteHeader(http.StatusGone) })
		s.pay(t, 5, inbound.Incoming{})
		time.Sleep(2 * time.Second)
		if n := s.phones(t); n != 0 {
			t.Errorf("%d phones are left", n)
		}
		if log := s.log.String(); strings.Contains(log, "/lan") || !strings.Contains(log, "a message to a phone failed") {
			t.Errorf("the log:\n%s", log)
		}
		s.close(t)
	})
}

// Nothing rings between the hours that the user set, nor is it told afterwards, but for what
// still needs attention then.
func TestPhoneIsQuiet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPushService()
		s := pushing(t, newFile(t), p, &network{start: time.Now(), answer: always500})
		s.webhook(t, "https://shop.example.vn/hook")
		at := func(d time.Duration) string { return time.Now().In(s.Services.Ledger.Zone()).Add(d).Format("15:04") }
		owner := s.User(1, "lan", access.RoleOwner)
		s.phone(t, p, owner, "quiet", alert.Phone{Payments: true, Attention: true, QuietFrom: at(-18 * time.Hour), QuietTo: at(20 * time.Minute)})
		s.phone(t, p, owner, "awake", alert.Phone{Payments: true, Attention: true, QuietFrom: at(20 * time.Minute), QuietTo: at(2 * time.Hour)})
		s.start(t)
		s.pay(t, 1, inbound.Incoming{})
		time.Sleep(18 * time.Minute) // six attempts
		p.wantPushes(t, "/awake Có tiền vào: Chạm để xem /transactions/1", "/awake Cần xử lý: Webhook không gửi được /webhooks/1",
			"/awake Cần xử lý: Có thông báo thất bại sau cả sáu lần gửi /deliveries?status=0&from="+app.DayOf(time.Now().Add(-24*time.Hour),
				s.Services.Ledger.Zone()).String())
		time.Sleep(3 * time.Minute)
		p.wantPushes(t, "/quiet Cần xử lý: Webhook không gửi được\nCó thông báo thất bại sau cả sáu lần gửi /")
		s.pay(t, 2, inbound.Incoming{})
		time.Sleep(2 * time.Second)
		p.wantPushes(t, "/quiet Có tiền vào: Chạm để xem /transactions/2")
		s.close(t)
	})
}

// A server that was killed tells nothing twice.
func TestPhoneAfterAKill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, path := newPushService(), newFile(t)
		shop := &network{start: time.Now(), answer: always500}
		s := pushing(t, path, p, shop)
		s.webhook(t, "https://shop.example.vn/hook")
		s.phone(t, p, s.User(1, "lan", access.RoleOwner), "lan", alert.Phone{Payments: true, Attention: true})
		s.phone(t, p, s.User(1, "thu", access.RoleCashier), "thu", alert.Phone{Attention: true}) // which is for owners
		s.start(t)
		s.pay(t, 1, inbound.Incoming{})
		time.Sleep(5 * time.Minute)
		p.wantPushes(t, "/lan Có tiền vào: Chạm để xem /transactions/1", "/lan Cần xử lý: Webhook không gửi được /webhooks/1")
		s.pay(t, 2, inbound.Incoming{})
		time.Sleep(1100 * time.Millisecond)
		p.wantPushes(t, "/lan Có tiền vào: Chạm để xem /transactions/2")
		s.crash(t)
		s = pushing(t, path, p, shop)
		s.start(t)
		time.Sleep(5 * time.Minute)
		p.wantPushes(t)
		s.pay(t, 3, inbound.Incoming{})
		time.Sleep(2 * time.Second)
		p.wantPushes(t, "/lan Có tiền vào: Chạm để xem /transactions/3")
		s.close(t)
	})
}

// Recording and webhooks don't wait for a push service that never answers.
func TestSlowPushService(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shop := &network{start: time.Now(), answer: always200}
		s := pushing(t, newFile(t), roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}), shop)
		s.webhook(t, "https://shop.example.vn/hook")
		s.phone(t, newPushService(), s.User(1, "lan", access.RoleOwner), "lan", alert.Phone{Payments: true})
		s.start(t)
		for n := range 20 {
			s.pay(t, n, inbound.Incoming{})
			time.Sleep(100 * time.Millisecond)
			if h := s.history(t); len(h) != n+1 {
				t.Fatalf("%d attempts after %d payments", len(h), n+1)
			}
			time.Sleep(time.Second)
		}
		s.close(t)
	})
}

// Over TLS, with the answers that push services give, and no further than to the endpoint.
func TestPushOverTLS(t *testing.T) {
	t.Parallel()
	p := newPushService()
	server := httptest.NewTLSServer(p)
	defer server.Close()
	s := pushing(t, newFile(t), throughTLS(server), nil)
	defer s.close(t)
	lan := s.User(1, "lan", access.RoleOwner)
	phone := s.phone(t, p, lan, "lan", alert.Phone{})
	must(t, s.Services.Alerts.TestPhone(t.Context(), lan.ID, phone.ID, time.Now()))
	p.wantPushes(t, "/lan Báo Có: tin thử: Điện thoại này nhận được báo của cửa hàng. /settings/phones")
	for _, c := range []struct {
		status int
		says   string
	}{{301, "answered 301"}, {403, "answered 403"}, {500, "answered 500"}, {404, "no longer takes messages"}} {
		p.answerBy(func(_ int, w http.ResponseWriter) {
			w.Header().Set("Location", "https://example.com/lan")
			w.WriteHeader(c.status)
		})
		var fault *alert.Error
		err := s.Services.Alerts.TestPhone(t.Context(), lan.ID, phone.ID, time.Now())
		if !errors.As(err, &fault) || !strings.Contains(fault.Text.EN, c.says) || len(p.take(t)) != 1 {
			t.Errorf("%d: %v", c.status, err)
		}
	}
	if n := s.phones(t); n != 0 {
		t.Errorf("%d phones are left", n)
	}
	if err := s.Services.Alerts.TestPhone(t.Context(), lan.ID, phone.ID, time.Now()); app.CodeOf(err) != app.CodeNotFound {
		t.Error(err)
	}
}

// The endpoint is whatever a user says: it leads to no private address, also where webhooks go there.
func TestPushGoesOnlyOut(t *testing.T) {
	t.Parallel()
	targets := apptest.Targets(t, "127.0.0.0/8", "10.0.0.0/8", "localhost", "inside.example.vn")
	names := startNameServer(t)
	names.set("inside.example.vn", "127.0.0.1")
	names.set("metadata.example.vn", "169.254.169.254")
	w := apptest.Open(t, newFile(t), services.Config{Targets: targets, Push: scheduler.NewAlerterOn(targets, names.resolver(), nil).Push})
	s := &installation{World: w}
	defer w.Close()
	p, lan := newPushService(), s.User(1, "lan", access.RoleOwner)
	add := func(change func(*alert.PhoneAddress)) (alert.Phone, error) {
		address := p.subscribe(t, "lan")
		change(&address)
		return s.Services.Alerts.AddPhone(t.Context(), alert.Phone{AccountID: 1, UserID: lan.ID, PhoneAddress: address, CreatedAt: time.Now()})
	}
	for _, endpoint := range []string{
		"", "http://push.example.vn/", "https://", "https://127.0.0.1/x", "https://[::1]/", "https://10.1.2.3/", "https://169.254.169.254/x",
		"https://2130706433/", "https://localhost/x", "https://lan@push.example.vn/", "file:///etc/passwd", "https://[::ffff:10.0.0.1]/",
		"https://push.example.vn/" + strings.Repeat("x", 1000),
	} {
		if _, err := add(func(a *alert.PhoneAddress) { a.Endpoint = endpoint }); app.CodeOf(err) != app.CodeValidation {
			t.Errorf("%q: %v", endpoint, err)
		}
	}
	for name, change := range map[string]func(*alert.PhoneAddress){
		"p256dh": func(a *alert.PhoneAddress) { a.P256dh = "BA" + strings.Repeat("A", 85) },
		"auth":   func(a *alert.PhoneAddress) { a.Auth = "AAAA" },
	} {
		if _, err := add(change); app.CodeOf(err) != app.CodeValidation {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, host := range []string{"inside", "metadata"} {
		phone, err := add(func(a *alert.PhoneAddress) { a.Endpoint = "https://" + host + ".example.vn/secret" })
		must(t, err)
		var fault *alert.Error
		err = s.Services.Alerts.TestPhone(t.Context(), lan.ID, phone.ID, time.Now())
		if !errors.As(err, &fault) || !strings.Contains(fault.Text.EN, "has no public address") || strings.Contains(fault.Text.EN, "secret") {
			t.Errorf("%s: %v", host, err)
		}
	}
}

// A phone ends with the sessions of its user, and is one user's only.
func TestPhoneEnds(t *testing.T) {
	t.Parallel()
	s := pushing(t, newFile(t), nil, nil)
	defer s.close(t)
	ctx, p := t.Context(), newPushService()
	owner, hoa := s.User(1, "lan", access.RoleOwner), s.User(1, "hoa", access.RoleCashier)
	for name, end := range map[string]func() error{
		"signed out": func() error { _, err := s.Services.Access.EndSessions(ctx, 1, hoa.ID); return err },
		"role":       func() error { _, err := s.Services.Access.SetRole(ctx, 1, hoa.ID, access.RoleDeveloper); return err },
		"password": func() error {
			_, err := s.Services.Access.SetPassword(ctx, hoa, "một mật khẩu khác", app.IdempotencyKey{}, time.Now())
			return err
		},
		"removed": func() error {
			return s.Services.Alerts.RemovePhone(ctx, hoa.ID, s.phone(t, p, hoa, "b", alert.Phone{}).ID)
		},
	} {
		if name != "removed" {
			s.phone(t, p, hoa, "a", alert.Phone{})
		}
		must(t, end())
		if n := s.phones(t); n != 0 {
			t.Errorf("%s: %d phones are left", name, n)
		}
	}
	for i := range alert.MaxPhones {
		s.phone(t, p, hoa, fmt.Sprint(i), alert.Phone{})
	}
	address := p.subscribe(t, "more")
	more := alert.Phone{AccountID: 1, UserID: hoa.ID, PhoneAddress: address, CreatedAt: time.Now()}
	if _, err := s.Services.Alerts.AddPhone(ctx, more); !errors.Is(err, alert.ErrTooManyPhones) {
		t.Errorf("one too many: %v", err)
	}
	again := s.phone(t, p, hoa, "0", alert.Phone{Amounts: true}) // the browser subscribed anew
	if n := s.phones(t); n != alert.MaxPhones {
		t.Errorf("%d phones", n)
	}
	if err := s.Services.Alerts.RemovePhone(ctx, owner.ID, again.ID); app.CodeOf(err) != app.CodeNotFound {
		t.Errorf("another user's: %v", err)
	}
	again.UserID = owner.ID
	if err := s.Services.Alerts.ChangePhone(ctx, again); app.CodeOf(err) != app.CodeNotFound {
		t.Errorf("another user's: %v", err)
	}
	s.phone(t, p, owner, "0", alert.Phone{}) // another user in the same browser
	if list, err := s.Services.Alerts.Phones(ctx, hoa.ID); err != nil || len(list) != alert.MaxPhones-1 {
		t.Errorf("%d phones, %v", len(list), err)
	}
	must(t, s.Services.Access.RemoveUser(ctx, 1, hoa.ID))
	if n := s.phones(t); n != 1 {
		t.Errorf("%d phones", n)
	}
}
