package web_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"baoco/app"
)

// phoneText is an SMS on a phone. Zero fields are filled with those of one and
// the same text.
type phoneText struct {
	sender, text string
	received     time.Time
	id           string // capcom6's messageId
}

// A text of a bank with a full account number, one with a masked one that
// names neither bank nor time, and one that must never be stored.
const (
	acbText   = "ACB: TK 19354957(VND) + 200,000 luc 10:59 14/10/2025. So du 763,222,700. GD: DH123"
	mbbText   = "TK 7220xxxx2005|GD: +5,000,000VND 29/02/20 01:15|SD:151,495,520VND|ND: DH123"
	tcbText   = "TK 19034000000017\nSo tien GD:+10,000,000\nSo du:734,571,040\nNGUYEN VAN A chuyen tien"
	codeText  = "Vietcombank: Ma OTP cua Quy khach la 839271. Tuyet doi khong cung cap ma nay cho bat ky ai."
	otpDigits = "839271"
)

func (x phoneText) filled() phoneText {
	if x.sender == "" {
		x.sender = "ACB"
	}
	if x.text == "" {
		x.text = acbText
	}
	if x.received.IsZero() {
		x.received = time.UnixMilli(1760414385123)
	}
	if x.id == "" {
		x.id = "abc123"
	}
	return x
}

func (x phoneText) capcom6() string {
	x = x.filled()
	return quoted(map[string]any{
		"id": "Ey6ECgOkVVFjz3CL48B8C", "webhookId": "LreFUt", "deviceId": "ffffffffceb0b1db", "event": "sms:received",
		"payload": map[string]any{
			"messageId": x.id, "sender": x.sender, "recipient": "+84901234567", "simNumber": 1, "phoneNumber": x.sender, "message": x.text,
			"receivedAt": x.received.UTC().Format("2006-01-02T15:04:05.000Z07:00"),
		},
	})
}

func (x phoneText) smsToURL() string {
	x = x.filled()
	return quoted(map[string]any{"from": x.sender, "text": x.text, "sentStamp": x.received.UnixMilli() - 4000, "receivedStamp": x.received.UnixMilli(), "sim": "sim1"})
}

// forwarderSign is SmsForwarder's, before it is urlencoded.
func forwarderSign(secret, stamp string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamp + "\n" + secret))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// forwarder is a call of SmsForwarder with the parameters that Setup names.
func (x phoneText) forwarder(s app.Source, at time.Time) url.Values {
	x = x.filled()
	stamp := strconv.FormatInt(at.UnixMilli(), 10)
	return url.Values{
		"from": {x.sender}, "content": {x.text}, "timestamp": {stamp}, "sign": {url.QueryEscape(forwarderSign(s.Secret, stamp))},
		"receive_time": {x.received.UTC().Format("2006-01-02T15:04:05-0700")},
	}
}

// texts has the phone of a source forward a text, and checks what became of it.
func (w *world) texts(want counts, s app.Source, x phoneText) {
	w.t.Helper()
	body := map[app.Provider]func() string{
		"capcom6": x.capcom6, "sms-to-url": x.smsToURL, "smsforwarder": func() string { return x.forwarder(s, time.Now()).Encode() },
	}[s.Provider]()
	w.wants(want, s, body)
}

var phoneApps = []app.Provider{"capcom6", "sms-to-url", "smsforwarder"}

func TestSMSRecorded(t *testing.T) {
	t.Parallel()
	for _, provider := range phoneApps {
		t.Run(string(provider), func(t *testing.T) {
			w := newWorld(t)
			w.link("ACB", someAccount)
			w.link("TCB", "19034000000017")
			s := w.source(provider, "", "")
			w.texts(recorded, s, phoneText{})
			w.texts(duplicate, s, phoneText{})
			got := w.wantTransactions(1)[0]
			if got.Bank != "ACB" || got.AccountNumber != someAccount || got.Type != app.In || got.Amount != 200000 || got.Content != "DH123" ||
				app.FormatTime(got.Time, w.service.Zone()) != "2025-10-14 10:59:00" || got.DateFlaw != "" {
				t.Errorf("recorded %+v", got)
			}
			// A text without a time has that of the phone, not the server's.
			received := time.Date(2025, 11, 2, 8, 30, 5, 0, w.service.Zone())
			w.texts(recorded, s, phoneText{sender: "Techcombank", text: tcbText, received: received, id: "t"})
			w.texts(duplicate, s, phoneText{sender: "Techcombank", text: tcbText, received: received, id: "t"})
			if got := w.wantTransactions(2)[1]; !got.Time.Equal(received) || got.DateFlaw != "" || got.Amount != 10_000_000 {
				t.Errorf("recorded %+v", got)
			}
			// The same text at another time is another one, whatever its id.
			w.texts(recorded, s, phoneText{sender: "Techcombank", text: tcbText, received: received.Add(24 * time.Hour), id: "t"})
			w.wantTransactions(3)
		})
	}
}

// TestSMSRetried: whatever of a call isn't the text, it may change when an app
// tries again.
func TestSMSRetried(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("ACB", someAccount)
	capcom6, forwarder, toURL := w.source("capcom6", "", ""), w.source("smsforwarder", "", ""), w.source("sms-to-url", "", "")
	x := phoneText{}
	w.texts(recorded, capcom6, x)
	body := strings.Replace(x.capcom6(), "Ey6ECgOkVVFjz3CL48B8C", "anotherDelivery", 1)
	w.wants(duplicate, capcom6, strings.Replace(body, "03:59:45.123Z", "10:59:45.123+07:00", 1))
	if !strings.Contains(body, "03:59:45.123Z") {
		t.Errorf("no such time in %s", body)
	}
	// A signature of two days ago is a call that is tried for the last time.
	old := credentials(capcom6, body, time.Now().Add(-48*time.Hour))
	if got := w.do("POST", capcom6.URLPath(), body, old...).counts(t); got != duplicate {
		t.Errorf("an old signature: %+v", got)
	}
	w.texts(recorded, forwarder, x)
	for _, ago := range []time.Duration{0, time.Minute, 4 * time.Minute} {
		w.wants(duplicate, forwarder, x.forwarder(forwarder, time.Now().Add(-ago)).Encode())
	}
	w.texts(recorded, toURL, x)
	w.wants(duplicate, toURL, strings.Replace(x.smsToURL(), "sim1", "sim2", 1))
	w.wants(duplicate, toURL, strings.Replace(x.smsToURL(), `"receivedStamp":1760414385123`, `"receivedStamp":"1760414385123"`, 1))
	w.wantTransactions(3)
	// A text with the number in full is the one that had it masked.
	w.link("MBB", "722000002005")
	masked := phoneText{sender: "MBBank", text: mbbText, id: "m"}
	w.texts(recorded, capcom6, masked)
	masked.text = strings.Replace(mbbText, "7220xxxx2005", "722000002005", 1)
	w.texts(duplicate, capcom6, masked)
	masked.text = strings.Replace(mbbText, "+5,000,000", "+6,000,000", 1)
	w.texts(conflict, capcom6, masked)
	w.wantTransactions(4)
}

// TestSMSForged: anybody can send a text in a bank's shape.
func TestSMSForged(t *testing.T) {
	t.Parallel()
	for _, provider := range phoneApps {
		t.Run(string(provider), func(t *testing.T) {
			w := newWorld(t)
			shop := newShop(t)
			w.webhook(shop.url+"/a", "ALL")
			w.link("ACB", someAccount)
			w.link("MBB", "722000002005")
			s := w.source(provider, "", "")
			for i, x := range []phoneText{
				{sender: "+84901234567"}, {sender: "0901234567"}, {sender: "8149"}, {sender: "Vietcombank"}, {sender: "АCB"}, {sender: "ACB " + "x"}, {sender: " "}, {sender: "NGUYEN VAN A"},
				{sender: "+84901234567", text: mbbText}, {sender: "ACB", text: mbbText + " gia"},
			} {
				x.received = time.UnixMilli(1760414385123 + int64(i)*1000)
				w.texts(rejected, s, x)
				e := w.events()[0]
				if items := w.items(e.ID); len(items) != 1 || items[0].Fault.Field != "sender" || items[0].Amount == 0 || !strings.Contains(items[0].Fault.Text.EN, "--sender") || !strings.Contains(items[0].Fault.Text.VI, "--sender") {
					t.Errorf("%+v is kept as %+v", x, items)
				}
			}
			w.wantTransactions(0)
			// The way out: the name is allowed, and the call read again.
			number := phoneText{sender: "8149", received: time.UnixMilli(1760414999000)}
			w.texts(rejected, s, number)
			event := w.events()[0].ID
			if r, err := w.service.RetryInbound(context.Background(), 1, event, time.Now()); err != nil || r.Rejected != 1 {
				t.Errorf("%+v %v", r, err)
			}
			s, err := w.service.AllowSenders(context.Background(), 1, s.ID, []string{"8149"})
			must(t, err)
			if r, err := w.service.RetryInbound(context.Background(), 1, event, time.Now()); err != nil || r.Recorded != 1 {
				t.Errorf("%+v %v", r, err)
			}
			w.texts(duplicate, s, number)
			number.received = number.received.Add(time.Hour)
			w.texts(recorded, s, number)
			w.texts(rejected, s, phoneText{sender: "81490", received: time.UnixMilli(1760415999000)})
			shop.waits(w, "/a 1", "/a 2")
		})
	}
}

func TestSMSMasked(t *testing.T) {
	t.Parallel()
	for _, provider := range phoneApps {
		t.Run(string(provider), func(t *testing.T) {
			w := newWorld(t)
			shop := newShop(t)
			w.webhook(shop.url+"/a", "ALL")
			s := w.source(provider, "", "")
			text := func(n int) phoneText {
				return phoneText{sender: "MBBank", text: mbbText, received: time.UnixMilli(1760414385123 + int64(n)*1000), id: fmt.Sprint("m", n)}
			}
			// None fits, and others don't.
			w.link("VCB", "722000002005")
			w.link("MBB", "722000002006")
			w.texts(unassigned, s, text(0))
			w.texts(duplicate, s, text(0))
			first := w.links("MBB", "722000002005", app.NotifyRecent, 1, 1)
			w.texts(duplicate, s, text(0))
			w.texts(recorded, s, text(1))
			list := w.wantTransactions(2)
			if list[0].BankAccountID != first.ID || list[1].BankAccountID != first.ID || list[1].AccountNumber != "722000002005" {
				t.Errorf("recorded %+v", list)
			}
			// Two fit: nobody can say which.
			second := w.links("MBB", "72209999992005", app.NotifyRecent, 0, 0)
			w.texts(unassigned, s, text(2))
			w.unlinks(second.ID)
			w.texts(recorded, s, text(3))
			w.unlinks(first.ID)
			w.links("MBB", "72209999992005", app.NotifyRecent, 1, 1)
			if list := w.wantTransactions(4); list[3].BankAccountID != second.ID {
				t.Errorf("recorded %+v", list[3])
			}
			shop.waits(w, "/a 1", "/a 2", "/a 3", "/a 4")
		})
	}
}

// TestSMSDropped: a one-time code leaves no trace in the file, only that there
// was a call.
func TestSMSDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("ACB", someAccount)
	for _, provider := range phoneApps {
		s := w.source(provider, "", "")
		w.texts(counts{}, s, phoneText{sender: "Vietcombank", text: codeText})
		w.texts(counts{}, s, phoneText{sender: "0901234567", text: "Toi nay an gi? " + otpDigits})
		eventually(t, "the last call of "+string(provider), func() bool {
			list, err := w.service.Sources(context.Background(), 1)
			must(t, err)
			last := list[len(list)-1]
			return last.ID == s.ID && !last.LastCallAt.IsZero() && last.LastTransactionAt.IsZero()
		})
	}
	// What the gateway tells of other things is nothing either.
	capcom6 := w.source("capcom6", "", "")
	for _, event := range []string{"sms:sent", "sms:delivered", "sms:failed", "system:ping", "sms:data-received", "mms:received"} {
		w.wants(counts{}, capcom6, strings.Replace(strings.Replace(phoneText{}.capcom6(), "sms:received", event, 1), "DH123", otpDigits, 1))
	}
	w.nothingStored()
	for _, file := range []string{w.path, w.path + "-wal"} {
		b, err := os.ReadFile(file)
		must(t, err)
		if bytes.Contains(b, []byte(otpDigits)) {
			t.Errorf("the code stands in %s", file)
		}
	}
	// The search finds what is kept.
	w.texts(rejected, capcom6, phoneText{sender: "0901234567"})
	if b, err := os.ReadFile(w.path + "-wal"); err != nil || !bytes.Contains(b, []byte("763,222,700")) {
		t.Errorf("what is kept isn't found: %v", err)
	}
}

func TestSMSUnreadable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("ACB", someAccount)
	capcom6, toURL, forwarder := w.source("capcom6", "", ""), w.source("sms-to-url", "", ""), w.source("smsforwarder", "", "")
	replaced := func(body string, pairs ...string) string {
		changed := strings.NewReplacer(pairs...).Replace(body)
		if changed == body {
			t.Errorf("no %q in %s", pairs[0], body)
		}
		return changed
	}
	c, u := phoneText{}.capcom6(), phoneText{}.smsToURL()
	form := func(change func(url.Values)) string {
		v := phoneText{}.forwarder(forwarder, time.Now())
		change(v)
		return v.Encode()
	}
	for _, x := range []struct {
		source app.Source
		field  string
		body   string
	}{
		{capcom6, "json", "{"}, {capcom6, "body", "[]"}, {capcom6, "message", `{"event":"sms:received"}`}, {capcom6, "message", `{}`},
		{capcom6, "message", replaced(c, `"message":`, `"massage":`)}, {capcom6, "message", replaced(c, `"message":`, `"message":"x","message":`)},
		{capcom6, "sender", replaced(c, `"sender":"ACB"`, `"sender":"ACB","SENDER":"x"`)}, {capcom6, "sender", replaced(c, `"sender":"ACB"`, `"sender":7`)},
		{capcom6, "payload", replaced(c, `"payload":`, `"payload":{},"payload":`)}, {capcom6, "event", replaced(c, `"event":"sms:received"`, `"event":"sms:sent","event":"sms:received"`)},
		{capcom6, "text", phoneText{text: "ACB: TK 19354957 (VND) +200,000VND. So du moi 763,222,700VND"}.capcom6()},
		{capcom6, "receivedAt", replaced(c, `"messageId":"abc123"`, `"messageId":""`, `"receivedAt":"2025`, `"receivedAt":"x2025`)},
		{toURL, "json", "x"}, {toURL, "body", "null"}, {toURL, "text", `{"from":"ACB"}`}, {toURL, "receivedStamp", replaced(u, "1760414385123", "null")},
		{toURL, "receivedStamp", replaced(u, `"receivedStamp":1760414385123`, `"receivedStamp":"%receivedStamp%"`)}, {toURL, "receivedStamp", replaced(u, `"receivedStamp"`, `"receivedStamp":1,"receivedStamp"`)},
		{toURL, "from", replaced(u, `"from"`, `"from":"ACB","from"`)}, {toURL, "sender", replaced(u, `"from":"ACB"`, `"from":null`)},
		{forwarder, "content", form(func(v url.Values) { v.Del("content") })}, {forwarder, "content", form(func(v url.Values) { v.Add("content", "x") })},
		{forwarder, "from", form(func(v url.Values) { v.Add("from", "0901234567") })}, {forwarder, "sender", form(func(v url.Values) { v.Del("from") })},
	} {
		w.wants(rejected, x.source, x.body)
		w.keptAsRejected(x.body, x.field)
	}
	w.wantTransactions(0)
	// A message id makes up for a time that can't be read.
	w.wants(recorded, capcom6, replaced(c, `"receivedAt":"2025`, `"receivedAt":"x2025`))
	// As the versions before wrote it.
	w.wants(recorded, capcom6, replaced(c, `"sender":"ACB",`, ``))
}

// TestSMSForwarderSign has the ways to prove, and not to prove, a call of
// SmsForwarder, whose sign covers time and secret.
func TestSMSForwarderSign(t *testing.T) {
	t.Parallel()
	// Made by another program.
	if got := forwarderSign("SECRETKEY123", "1582909895000"); got != "464MGAjq6/nhu1qf4UbFahhHTHC1cDCFtfi/7UfVDHY=" {
		t.Fatalf("the sign is wrong: %s", got)
	}
	w := newWorld(t).peers()
	w.link("ACB", someAccount)
	s, other := w.source("smsforwarder", "", ""), w.source("smsforwarder", "", "")
	calls := 0
	refused := func(what, body string) {
		t.Helper()
		calls++
		if a := w.do("POST", s.URLPath(), body, "X-Test-Peer", peer(calls/25)); a.status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", what, a.status, a.body)
		}
	}
	now := time.Now()
	with := func(change func(url.Values)) string {
		v := phoneText{}.forwarder(s, now)
		change(v)
		return v.Encode()
	}
	for _, key := range []string{"sign", "timestamp"} {
		original := phoneText{}.forwarder(s, now).Get(key)
		for i := range original {
			for _, mask := range []byte{1, 2, 4, 8, 0x10, 0x20, 0x40} {
				refused(fmt.Sprint("byte of ", key, " ", i), with(func(v url.Values) { v.Set(key, flipped(original, i, mask)) }))
			}
		}
		for _, changed := range []string{"", original[1:], original[:len(original)-1], original + "0", " " + original, original + " ", original + original} {
			refused(key+" "+changed, with(func(v url.Values) { v.Set(key, changed) }))
		}
		refused("no "+key, with(func(v url.Values) { v.Del(key) }))
		refused("two of "+key, with(func(v url.Values) { v.Add(key, original) }))
		refused("two spellings of "+key, with(func(v url.Values) { v.Set(strings.ToUpper(key), original) }))
	}
	for i := range s.Secret {
		changed := s
		changed.Secret = flipped(s.Secret, i, 1)
		refused(fmt.Sprint("byte of the key ", i), phoneText{}.forwarder(changed, now).Encode())
	}
	refused("the secret of another source", phoneText{}.forwarder(other, now).Encode())
	for _, off := range []time.Duration{6 * time.Minute, -6 * time.Minute, 365 * 24 * time.Hour} {
		refused(fmt.Sprint("off by ", off), phoneText{}.forwarder(s, now.Add(off)).Encode())
	}
	seconds := strconv.FormatInt(now.Unix(), 10)
	refused("seconds", with(func(v url.Values) { v.Set("timestamp", seconds); v.Set("sign", forwarderSign(s.Secret, seconds)) }))
	for _, body := range []string{"", "{", "[]", "null", "{}", "%zz=1", "a;b"} {
		refused("body "+body, body)
	}
	// No weaker way.
	if a := w.do("POST", s.URLPath(), with(func(v url.Values) { v.Del("sign") }), "Authorization", "Bearer "+s.Secret, "X-Test-Peer", peer(200)); a.status != http.StatusUnauthorized {
		t.Errorf("the secret as a Bearer token: %d", a.status)
	}
	w.nothingStored()

	w.wants(recorded, s, with(func(v url.Values) {}))
	stamp := strconv.FormatInt(now.UnixMilli(), 10)
	w.wants(duplicate, s, with(func(v url.Values) { v.Set("sign", forwarderSign(s.Secret, stamp)) }))
	w.wants(duplicate, s, phoneText{}.forwarder(s, now.Add(-4*time.Minute)).Encode())
	x := phoneText{}.filled()
	json := map[string]any{
		"from": x.sender, "content": x.text, "timestamp": stamp, "sign": url.QueryEscape(forwarderSign(s.Secret, stamp)), "receive_time": x.received.UTC().Format("2006-01-02T15:04:05-0700"),
	}
	w.wants(duplicate, s, " "+quoted(json))
	json["timestamp"] = now.UnixMilli()
	w.wants(duplicate, s, quoted(json))
	// With the app's own parameters there is the time of forwarding only.
	delete(json, "receive_time")
	w.wants(recorded, s, quoted(json))
	w.wants(duplicate, s, with(func(v url.Values) { v.Del("receive_time") }))
	w.wants(duplicate, s, with(func(v url.Values) { v.Set("receive_time", "[receive_time:x]") }))
	w.wantTransactions(2)
}

// TestCapcom6Stamp: nothing moves between the body and the timestamp that
// follows it under the signature.
func TestCapcom6Stamp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("ACB", someAccount)
	s := w.source("capcom6", "", "")
	body, now := phoneText{}.capcom6(), time.Now()
	header := credentials(s, body, now)
	stamp, signature := header[1], header[3]
	for i, c := range [][2]string{{body + stamp[:1], stamp[1:]}, {body + stamp, ""}, {body[:len(body)-1], body[len(body)-1:] + stamp}, {"", body + stamp}} {
		if strings.ContainsAny(c[1], "\r\n") {
			t.Fatal("no header value")
		}
		if a := w.do("POST", s.URLPath(), c[0], "X-Timestamp", c[1], "X-Signature", signature); a.status != http.StatusUnauthorized {
			t.Errorf("%d: %d %s", i, a.status, a.body)
		}
	}
	// No weaker way.
	for i, h := range [][]string{{"Authorization", "Bearer " + s.Secret}, {"X-Webhook-Signature", hexHMAC(s.Secret, body)}, {"X-Signature", hexHMAC(s.Secret, body)}, header[:2], header[2:], append(header, header...)} {
		if a := w.do("POST", s.URLPath(), body, h...); a.status != http.StatusUnauthorized {
			t.Errorf("%d: %d %s", i, a.status, a.body)
		}
	}
	w.nothingStored()
	w.wants(recorded, s, body)
}
