package inbound_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/web/webtest"
)

var phoneApps = []app.Provider{"capcom6", "sms-to-url", "smsforwarder"}

func TestSMSRecorded(t *testing.T) {
	t.Parallel()
	for _, provider := range phoneApps {
		t.Run(string(provider), func(t *testing.T) {
			w := webtest.NewWorld(t)
			w.Link("ACB", apptest.SomeAccount)
			w.Link("TCB", "19034000000017")
			s := w.Source(provider, "", "")
			w.Texts(webtest.Recorded, s, apptest.PhoneText{})
			w.Texts(webtest.Duplicate, s, apptest.PhoneText{})
			got := w.WantTransactions(1)[0]
			if got.Bank != "ACB" || got.AccountNumber != apptest.SomeAccount || got.Type != app.In || got.Amount != 200000 ||
				got.Content != "DH123" ||
				app.FormatTime(got.Time, w.Services.Ledger.Zone()) != "2025-10-14 10:59:00" || got.DateFlaw != "" {
				t.Errorf("recorded %+v", got)
			}
			// A text without a time has that of the phone, not the server's.
			received := time.Date(2025, 11, 2, 8, 30, 5, 0, w.Services.Ledger.Zone())
			w.Texts(webtest.Recorded, s, apptest.PhoneText{Sender: "Techcombank", Text: apptest.TcbText, Received: received, ID: "t"})
			w.Texts(webtest.Duplicate, s, apptest.PhoneText{Sender: "Techcombank", Text: apptest.TcbText, Received: received, ID: "t"})
			if got := w.WantTransactions(2)[1]; !got.Time.Equal(received) || got.DateFlaw != "" || got.Amount != 10_000_000 {
				t.Errorf("recorded %+v", got)
			}
			// The same text more than a day later is another one, whatever its id.
			w.Texts(webtest.Recorded, s,
				apptest.PhoneText{Sender: "Techcombank", Text: apptest.TcbText, Received: received.Add(25 * time.Hour), ID: "t"})
			w.WantTransactions(3)
		})
	}
}

// TestSMSRetried: whatever of a call isn't the text, it may change when an app
// tries again.
func TestSMSRetried(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	capcom6, forwarder, toURL := w.Source("capcom6", "", ""), w.Source("smsforwarder", "", ""), w.Source("sms-to-url", "", "")
	x := apptest.PhoneText{}
	w.Texts(webtest.Recorded, capcom6, x)
	body := strings.Replace(x.Capcom6(), "Ey6ECgOkVVFjz3CL48B8C", "anotherDelivery", 1)
	w.Wants(webtest.Duplicate, capcom6, strings.Replace(body, "03:59:45.123Z", "10:59:45.123+07:00", 1))
	if !strings.Contains(body, "03:59:45.123Z") {
		t.Errorf("no such time in %s", body)
	}
	// A signature of two days ago is a call that is tried for the last time.
	old := apptest.Credentials(capcom6, body, time.Now().Add(-48*time.Hour))
	if got := w.Do("POST", capcom6.URLPath(), body, old...).Counts(t); got != webtest.Duplicate {
		t.Errorf("an old signature: %+v", got)
	}
	w.Texts(webtest.Duplicate, forwarder, x) // by its time and balance, whatever app forwards it
	for _, ago := range []time.Duration{0, time.Minute, 4 * time.Minute} {
		w.Wants(webtest.Duplicate, forwarder, x.Forwarder(forwarder, time.Now().Add(-ago)).Encode())
	}
	w.Texts(webtest.Duplicate, toURL, x)
	w.Wants(webtest.Duplicate, toURL, strings.Replace(x.SMSToURL(), "sim1", "sim2", 1))
	w.Wants(webtest.Duplicate, toURL, strings.Replace(x.SMSToURL(), `"receivedStamp":1760414385123`, `"receivedStamp":"1760414385123"`, 1))
	w.WantTransactions(1)
	// A text with the number in full is the one that had it masked.
	w.Link("MBB", "722000002005")
	masked := apptest.PhoneText{Sender: "MBBank", Text: apptest.MbbText, ID: "m"}
	w.Texts(webtest.Recorded, capcom6, masked)
	masked.Text = strings.Replace(apptest.MbbText, "7220xxxx2005", "722000002005", 1)
	w.Texts(webtest.Duplicate, capcom6, masked)
	masked.Text = strings.Replace(apptest.MbbText, "+5,000,000", "+6,000,000", 1)
	w.Texts(webtest.Conflict, capcom6, masked)
	w.WantTransactions(2)
}

// TestSMSForged: anybody can send a text in a bank's shape.
func TestSMSForged(t *testing.T) {
	t.Parallel()
	for _, provider := range phoneApps {
		t.Run(string(provider), func(t *testing.T) {
			w := webtest.NewWorld(t)
			shop := webtest.NewShop(t)
			w.Webhook(shop.URL+"/a", "ALL")
			w.Link("ACB", apptest.SomeAccount)
			w.Link("MBB", "722000002005")
			s := w.Source(provider, "", "")
			for i, x := range []apptest.PhoneText{
				{Sender: "+84901234567"}, {Sender: "0901234567"}, {Sender: "8149"}, {Sender: "Vietcombank"}, {Sender: "АCB"}, {Sender: "ACB " + "x"},
				{Sender: " "}, {Sender: "NGUYEN VAN A"},
				{Sender: "+84901234567", Text: apptest.MbbText}, {Sender: "NGUYEN VAN A", Text: apptest.MbbText + " gia"},
			} {
				x.Received = time.UnixMilli(1760414385123 + int64(i)*1000)
				w.Texts(webtest.Rejected, s, x)
				e := w.NewestEvent()
				if items := w.Items(e.ID); len(items) != 1 || items[0].Fault.Field != "sender" || items[0].Amount == 0 ||
					strings.TrimSpace(x.Sender) != "" && (!strings.Contains(items[0].Fault.Text.EN, "--sender") ||
						!strings.Contains(items[0].Fault.Text.VI, "--sender")) {
					t.Errorf("%+v is kept as %+v", x, items)
				}
			}
			w.WantTransactions(0)
			// The way out: the name is allowed, and the call read again.
			number := apptest.PhoneText{Sender: "8149", Received: time.UnixMilli(1760414999000)}
			w.Texts(webtest.Rejected, s, number)
			event := w.NewestEvent().ID
			if r, err := w.Services.Inbound.RetryInbound(context.Background(), 1, event, time.Now()); err != nil || r.Rejected != 1 {
				t.Errorf("%+v %v", r, err)
			}
			s, err := w.Services.Inbound.AllowSenders(context.Background(), 1, s.ID, []string{"8149"})
			apptest.Must(t, err)
			if r, err := w.Services.Inbound.RetryInbound(context.Background(), 1, event, time.Now()); err != nil || r.Recorded != 1 {
				t.Errorf("%+v %v", r, err)
			}
			w.Texts(webtest.Duplicate, s, number)
			number.Received = number.Received.Add(time.Hour)
			w.Texts(webtest.Duplicate, s, number) // forwarded again
			w.Texts(webtest.Rejected, s, apptest.PhoneText{Sender: "81490", Received: time.UnixMilli(1760415999000)})
			shop.Waits(w, "/a 1")
		})
	}
}

func TestSMSMasked(t *testing.T) {
	t.Parallel()
	for _, provider := range phoneApps {
		t.Run(string(provider), func(t *testing.T) {
			w := webtest.NewWorld(t)
			shop := webtest.NewShop(t)
			w.Webhook(shop.URL+"/a", "ALL")
			s := w.Source(provider, "", "")
			text := func(n int) apptest.PhoneText {
				another := strings.Replace(apptest.MbbText, "151,495,520", fmt.Sprint(151_495_520+n), 1)
				return apptest.PhoneText{Sender: "MBBank", Text: another, Received: time.UnixMilli(1760414385123 + int64(n)*1000),
					ID: fmt.Sprint("m", n)}
			}
			// None fits, and others don't.
			w.Link("VCB", "722000002005")
			w.Link("MBB", "722000002006")
			w.Texts(webtest.Unassigned, s, text(0))
			w.Texts(webtest.Duplicate, s, text(0))
			first := w.Links("MBB", "722000002005", inbound.NotifyRecent, 1, 1)
			w.Texts(webtest.Duplicate, s, text(0))
			w.Texts(webtest.Recorded, s, text(1))
			list := w.WantTransactions(2)
			if list[0].BankAccountID != first.ID || list[1].BankAccountID != first.ID || list[1].AccountNumber != "722000002005" {
				t.Errorf("recorded %+v", list)
			}
			// Two fit: nobody can say which.
			second := w.Links("MBB", "72209999992005", inbound.NotifyRecent, 0, 0)
			w.Texts(webtest.Unassigned, s, text(2))
			w.Unlinks(second.ID)
			w.Texts(webtest.Recorded, s, text(3))
			w.Unlinks(first.ID)
			w.Links("MBB", "72209999992005", inbound.NotifyRecent, 1, 1)
			if list := w.WantTransactions(4); list[3].BankAccountID != second.ID {
				t.Errorf("recorded %+v", list[3])
			}
			shop.Waits(w, "/a 1", "/a 2", "/a 3", "/a 4")
		})
	}
}

// TestSMSDropped: a one-time code never stands in the file. What a bank sends leaves a trace all
// the same; what anybody else sends that is no money leaves none.
func TestSMSDropped(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	for _, provider := range phoneApps {
		s := w.Source(provider, "", "")
		w.Texts(webtest.Counts{}, s, apptest.PhoneText{Sender: "0901234567", Text: "Toi nay an gi? " + apptest.OtpDigits})
		w.Texts(webtest.Counts{}, s, apptest.PhoneText{Sender: "Vietcombank VN", Text: apptest.CodeText})
		w.Until("the last call of "+string(provider), func() bool {
			list, err := w.Services.Inbound.Sources(context.Background(), 1)
			apptest.Must(t, err)
			last := list[len(list)-1]
			return last.ID == s.ID && !last.LastCallAt.IsZero() && last.LastTransactionAt.IsZero()
		})
	}
	// What the gateway tells of other things is nothing either.
	capcom6 := w.Source("capcom6", "", "")
	for _, event := range []string{"sms:sent", "sms:delivered", "sms:failed", "system:ping", "sms:data-received", "mms:received"} {
		w.Wants(webtest.Counts{}, capcom6,
			strings.Replace(strings.Replace(apptest.PhoneText{}.Capcom6(), "sms:received", event, 1), "DH123", apptest.OtpDigits, 1))
	}
	nothingStored(w)
	for _, provider := range phoneApps {
		s := w.Source(provider, "", "")
		trace := func(text, body, explanation string) {
			t.Helper()
			w.Texts(webtest.Counts{}, s, apptest.PhoneText{Sender: "Vietcombank", Text: text})
			e, err := w.Services.Inbound.ReadInboundEvent(t.Context(), 1, w.NewestEvent().ID)
			if apptest.Must(t, err); e.SourceID != s.ID || !strings.Contains(string(e.Body), body) || (body == "") != (len(e.Body) == 0) ||
				e.Explanation.EN != explanation || e.Open != 0 || len(e.Elements) != 0 {
				t.Errorf("%s is kept as %+v", text, e)
			}
			if r, err := w.Services.Inbound.RetryInbound(t.Context(), 1, e.ID, time.Now()); err != nil || len(r.Outcomes) != 0 {
				t.Errorf("%s is tried again as %+v, %v", text, r, err)
			}
		}
		const notMoney = "Not a message about money."
		trace(apptest.CodeText, "", notMoney+" It was about a one-time code or a password, so its text was not kept.")
		trace("Uu dai: giam 50% khi mo the", "giam", notMoney)
	}
	for _, file := range []string{w.Path, w.Path + "-wal"} {
		b, err := os.ReadFile(file)
		apptest.Must(t, err)
		if bytes.Contains(b, []byte(apptest.OtpDigits)) {
			t.Errorf("the code stands in %s", file)
		}
	}
	// The search finds what is kept.
	w.Texts(webtest.Rejected, capcom6, apptest.PhoneText{Sender: "0901234567"})
	if b, err := os.ReadFile(w.Path + "-wal"); err != nil || !bytes.Contains(b, []byte("763,222,700")) {
		t.Errorf("what is kept isn't found: %v", err)
	}
}

func TestSMSUnreadable(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	capcom6, toURL, forwarder := w.Source("capcom6", "", ""), w.Source("sms-to-url", "", ""), w.Source("smsforwarder", "", "")
	replaced := func(body string, pairs ...string) string {
		changed := strings.NewReplacer(pairs...).Replace(body)
		if changed == body {
			t.Errorf("no %q in %s", pairs[0], body)
		}
		return changed
	}
	c, u := apptest.PhoneText{}.Capcom6(), apptest.PhoneText{}.SMSToURL()
	form := func(change func(url.Values)) string {
		v := apptest.PhoneText{}.Forwarder(forwarder, time.Now())
		change(v)
		return v.Encode()
	}
	for _, x := range []struct {
		source inbound.Source
		field  string
		body   string
	}{
		{capcom6, "json", "{"}, {capcom6, "body", "[]"}, {capcom6, "message", `{"event":"sms:received"}`}, {capcom6, "message", `{}`},
		{capcom6, "message", replaced(c, `"message":`, `"massage":`)},
		{capcom6, "message", replaced(c, `"message":`, `"message":"x","message":`)},
		{capcom6, "sender", replaced(c, `"sender":"ACB"`, `"sender":"ACB","SENDER":"x"`)},
		{capcom6, "sender", replaced(c, `"sender":"ACB"`, `"sender":7`)},
		{capcom6, "payload", replaced(c, `"payload":`, `"payload":{},"payload":`)},
		{capcom6, "event", replaced(c, `"event":"sms:received"`, `"event":"sms:sent","event":"sms:received"`)},
		{capcom6, "text", apptest.PhoneText{Text: "ACB: TK 19354957 (VND) +200,000VND. Phi 1,000. So du 763,222,700VND"}.Capcom6()},
		{capcom6, "receivedAt", replaced(c, `"messageId":"abc123"`, `"messageId":""`, `"receivedAt":"2025`, `"receivedAt":"x2025`)},
		{toURL, "json", "x"}, {toURL, "body", "null"}, {toURL, "text", `{"from":"ACB"}`},
		{toURL, "receivedStamp", replaced(u, "1760414385123", "null")},
		{toURL, "receivedStamp", replaced(u, `"receivedStamp":1760414385123`, `"receivedStamp":"%receivedStamp%"`)},
		{toURL, "receivedStamp", replaced(u, `1760414385123`, `"2025-10-14"`)},
		{toURL, "receivedStamp", replaced(u, `"receivedStamp"`, `"receivedStamp":1,"receivedStamp"`)},
		{toURL, "from", replaced(u, `"from"`, `"from":"ACB","from"`)}, {toURL, "sender", replaced(u, `"from":"ACB"`, `"from":null`)},
		{forwarder, "content", form(func(v url.Values) { v.Del("content") })},
		{forwarder, "content", form(func(v url.Values) { v.Add("content", "x") })},
		{forwarder, "from", form(func(v url.Values) { v.Add("from", "0901234567") })},
		{forwarder, "sender", form(func(v url.Values) { v.Del("from") })},
	} {
		w.Wants(webtest.Rejected, x.source, x.body)
		keptAsRejected(w, x.body, x.field)
	}
	w.WantTransactions(0)
	// A message id makes up for a time that can't be read.
	w.Wants(webtest.Recorded, capcom6, replaced(c, `"receivedAt":"2025`, `"receivedAt":"x2025`))
	// As the versions before wrote it.
	w.Wants(webtest.Duplicate, capcom6, replaced(c, `"sender":"ACB",`, ``)) // the text is the same
}

// TestSMSForwarderSign has the ways to prove, and not to prove, a call of
// SmsForwarder, whose sign covers time and secret.
func TestSMSForwarderSign(t *testing.T) {
	t.Parallel()
	// Made by another program.
	if got := apptest.ForwarderSign("SECRETKEY123", "1582909895000"); got != "464MGAjq6/nhu1qf4UbFahhHTHC1cDCFtfi/7UfVDHY=" {
		t.Fatalf("the sign is wrong: %s", got)
	}
	w := webtest.NewWorld(t).Peers()
	w.Link("ACB", apptest.SomeAccount)
	s, other := w.Source("smsforwarder", "", ""), w.Source("smsforwarder", "", "")
	calls := 0
	refused := func(what, body string) {
		t.Helper()
		calls++
		if a := w.Do("POST", s.URLPath(), body, "X-Test-Peer", webtest.Peer(calls/25)); a.Status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", what, a.Status, a.Body)
		}
	}
	now := time.Now()
	with := func(change func(url.Values)) string {
		v := apptest.PhoneText{}.Forwarder(s, now)
		change(v)
		return v.Encode()
	}
	for _, key := range []string{"sign", "timestamp"} {
		original := apptest.PhoneText{}.Forwarder(s, now).Get(key)
		for i := range original {
			for _, mask := range []byte{1, 2, 4, 8, 0x10, 0x20, 0x40} {
				refused(fmt.Sprint("byte of ", key, " ", i), with(func(v url.Values) { v.Set(key, flipped(original, i, mask)) }))
			}
		}
		for _, changed := range []string{"", original[1:], original[:len(original)-1], original + "0", " " + original, original + " ",
			original + original} {
			refused(key+" "+changed, with(func(v url.Values) { v.Set(key, changed) }))
		}
		refused("no "+key, with(func(v url.Values) { v.Del(key) }))
		refused("two of "+key, with(func(v url.Values) { v.Add(key, original) }))
		refused("two spellings of "+key, with(func(v url.Values) { v.Set(strings.ToUpper(key), original) }))
	}
	for i := range s.Secret {
		changed := s
		changed.Secret = flipped(s.Secret, i, 1)
		refused(fmt.Sprint("byte of the key ", i), apptest.PhoneText{}.Forwarder(changed, now).Encode())
	}
	refused("the secret of another source", apptest.PhoneText{}.Forwarder(other, now).Encode())
	for _, off := range []time.Duration{6 * time.Minute, -6 * time.Minute, 365 * 24 * time.Hour} {
		refused(fmt.Sprint("off by ", off), apptest.PhoneText{}.Forwarder(s, now.Add(off)).Encode())
	}
	seconds := strconv.FormatInt(now.Unix(), 10)
	refused("seconds", with(func(v url.Values) {
		v.Set("timestamp", seconds)
		v.Set("sign", apptest.ForwarderSign(s.Secret, seconds))
	}))
	for _, body := range []string{"", "{", "[]", "null", "{}", "%zz=1", "a;b"} {
		refused("body "+body, body)
	}
	// No weaker way.
	if a := w.Do("POST", s.URLPath(), with(func(v url.Values) { v.Del("sign") }), "Authorization", "Bearer "+s.Secret, "X-Test-Peer",
		webtest.Peer(200)); a.Status != http.StatusUnauthorized {
		t.Errorf("the secret as a Bearer token: %d", a.Status)
	}
	nothingStored(w)

	now = time.Now() // the clock may have been set meanwhile
	w.Wants(webtest.Recorded, s, with(func(v url.Values) {}))
	stamp := strconv.FormatInt(now.UnixMilli(), 10)
	w.Wants(webtest.Duplicate, s, with(func(v url.Values) { v.Set("sign", apptest.ForwarderSign(s.Secret, stamp)) }))
	w.Wants(webtest.Duplicate, s, apptest.PhoneText{}.Forwarder(s, now.Add(-4*time.Minute)).Encode())
	x := apptest.PhoneText{}.Filled()
	json := map[string]any{
		"from": x.Sender, "content": x.Text, "timestamp": stamp, "sign": url.QueryEscape(apptest.ForwarderSign(s.Secret, stamp)),
		"receive_time": x.Received.UTC().Format("2006-01-02T15:04:05-0700"),
	}
	w.Wants(webtest.Duplicate, s, " "+apptest.Quoted(json))
	json["timestamp"] = now.UnixMilli()
	w.Wants(webtest.Duplicate, s, apptest.Quoted(json))
	// With the app's own parameters there is the time of forwarding only.
	delete(json, "receive_time")
	w.Wants(webtest.Duplicate, s, apptest.Quoted(json)) // by the text's own time and balance
	w.Wants(webtest.Duplicate, s, with(func(v url.Values) { v.Del("receive_time") }))
	w.Wants(webtest.Duplicate, s, with(func(v url.Values) { v.Set("receive_time", "[receive_time:x]") }))
	w.WantTransactions(1)
}

// TestCapcom6Stamp: nothing moves between the body and the timestamp that
// follows it under the signature.
func TestCapcom6Stamp(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	s := w.Source("capcom6", "", "")
	body, now := apptest.PhoneText{}.Capcom6(), time.Now()
	header := apptest.Credentials(s, body, now)
	stamp, signature := header[1], header[3]
	for i, c := range [][2]string{{body + stamp[:1], stamp[1:]}, {body + stamp, ""}, {body[:len(body)-1], body[len(body)-1:] + stamp},
		{"", body + stamp}} {
		if strings.ContainsAny(c[1], "\r\n") {
			t.Fatal("no header value")
		}
		if a := w.Do("POST", s.URLPath(), c[0], "X-Timestamp", c[1], "X-Signature", signature); a.Status != http.StatusUnauthorized {
			t.Errorf("%d: %d %s", i, a.Status, a.Body)
		}
	}
	// No weaker way.
	for i, h := range [][]string{{"Authorization", "Bearer " + s.Secret}, {"X-Webhook-Signature", apptest.HexHMAC(s.Secret, body)},
		{"X-Signature", apptest.HexHMAC(s.Secret, body)}, header[:2], header[2:], append(header, header...)} {
		if a := w.Do("POST", s.URLPath(), body, h...); a.Status != http.StatusUnauthorized {
			t.Errorf("%d: %d %s", i, a.Status, a.Body)
		}
	}
	nothingStored(w)
	w.Wants(webtest.Recorded, s, body)
}
