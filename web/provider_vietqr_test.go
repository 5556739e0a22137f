package web_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"baoco/app"
)

const (
	tokenPath = "/api/token_generate"
	syncPath  = "/bank/api/transaction-sync"
)

func basic(username, password string) []string {
	return []string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(username+":"+password))}
}

// vietQRToken asks for a token as VietQR does, at base.
func (w *world) vietQRToken(base string, s app.Source) string {
	w.t.Helper()
	a := w.do("POST", base+tokenPath, "", basic(s.Options.Username, s.Secret)...)
	v := a.json(w.t)
	token, _ := v["access_token"].(string)
	if a.status != http.StatusOK || token == "" || v["token_type"] != "Bearer" || fmt.Sprint(v["expires_in"]) != "300" || len(v) != 3 {
		w.t.Fatalf("no token: %d %s", a.status, a.body)
	}
	return token
}

// signedToken is a token as this version writes it.
func signedToken(s app.Source, id int64, expiry time.Time) string {
	mac := hmac.New(sha256.New, []byte(s.Secret))
	fmt.Fprintf(mac, "baoco vietqr token v1\n%d\n%d", id, expiry.Unix())
	return fmt.Sprintf("v1.%d.%d.%s", id, expiry.Unix(), base64.RawURLEncoding.EncodeToString(mac.Sum(nil)))
}

func vietQRBody(pairs ...any) string {
	v := map[string]any{
		"transactionid": "b9a2c8a1-5d3e-4a51-9a0f-2f2a4f1b0c11", "transactiontime": int64(1760414370000), "referencenumber": "FT253146879VN", "amount": 200000,
		"content": "VQR26044A5CCKYZA DH123", "bankaccount": someAccount, "transType": "C", "orderId": "DH123", "terminalCode": "", "sign": "",
	}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == nil {
			delete(v, pairs[i].(string))
			continue
		}
		v[pairs[i].(string)] = pairs[i+1]
	}
	return quoted(v)
}

// syncs tells of a transaction and checks the answer's reference.
func (w *world) syncs(base, token, body, reference string) {
	w.t.Helper()
	a := w.do("POST", base+syncPath, body, "Authorization", "Bearer "+token)
	v := a.json(w.t)
	object, _ := v["object"].(map[string]any)
	if a.status != http.StatusOK || v["error"] != false || v["errorReason"] != nil || v["toastMessage"] == "" || len(v) != 4 || object["reftransactionid"] != reference {
		w.t.Errorf("%s: %d %s, want the reference %s", body, a.status, a.body, reference)
	}
}

func TestVietQR(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	account := w.link("ACB", someAccount)
	s, other := w.source("vietqr", "", ""), w.adds(app.SourceAdd{Provider: "vietqr", Options: app.SourceOptions{Username: "customer-shop.1@x"}})
	if s.Auth != app.AuthBasic || !strings.HasPrefix(s.Options.Username, "baoco-") || len(s.Options.Username) != 18 || s.Options.Username == other.Options.Username {
		t.Errorf("source %+v", s)
	}
	// Each with its own base, and with the address of the server alone.
	for i, base := range []string{s.URLPath(), "", other.URLPath(), ""} {
		source := s
		if i >= 2 {
			source = other
		}
		id := fmt.Sprint("t", i)
		token := w.vietQRToken(base, source)
		w.syncs(base, token, vietQRBody("transactionid", id, "referencenumber", fmt.Sprint("FT", i)), fmt.Sprint(i+1))
		w.syncs(base, token, vietQRBody("transactionid", id, "referencenumber", fmt.Sprint("FT", i)), fmt.Sprint(i+1))
	}
	got := w.wantTransactions(4)[1]
	if got.BankAccountID != account.ID || got.Type != app.In || got.Amount != 200000 || got.Number != "FT1" || got.Content != "VQR26044A5CCKYZA DH123" ||
		app.FormatTime(got.Time, w.service.Zone()) != someDate || got.DateFlaw != "" {
		t.Errorf("recorded %+v", got)
	}
	// A token of the one way in is good for the other.
	token := w.vietQRToken("", s)
	w.syncs(s.URLPath(), token, `{"bankAccount":"19354957","amount":"7","transType":"D","content":"x","transactionId":"camel","transactionTime":"1760414370","referenceNumber":"FT7"}`, "5")
	w.syncs("", token, vietQRBody("transactionid", nil, "referencenumber", "FT8"), "6")
	list := w.wantTransactions(6)
	if list[4].Type != app.Out || list[4].Amount != 7 || list[4].Number != "FT7" || list[4].DateFlaw != "" || list[5].Number != "FT8" {
		t.Errorf("recorded %+v", list[4:])
	}
	// What can't be recorded is kept, and VietQR needn't know.
	for i, c := range []struct{ field, body string }{
		{"amount", vietQRBody("amount", nil)}, {"amount", vietQRBody("amount", 0)}, {"amount", vietQRBody("amount", -5)}, {"amount", vietQRBody("amount", 1, "AMOUNT", 2)}, {"amount", vietQRBody("amount", 1.5)},
		{"transtype", vietQRBody("transType", "X")}, {"transtype", vietQRBody("transType", nil)}, {"transtype", vietQRBody("transtype", "D")}, {"bankaccount", vietQRBody("bankaccount", nil)},
		{"bankaccount", vietQRBody("bankAccount", "1")}, {"transactionid", vietQRBody("transactionid", nil, "referencenumber", nil)}, {"transactionid", vietQRBody("transactionid", true)}, {"json", "{"}, {"body", "[]"},
	} {
		events := len(w.events())
		w.syncs("", token, c.body, fmt.Sprint("inbound-", w.events()[0].ID+1))
		w.keptAsRejected(c.body, c.field)
		if n := len(w.events()); n != events+1 {
			t.Errorf("%d: %d events", i, n)
		}
	}
	w.syncs("", token, vietQRBody("transactionid", "u", "bankaccount", "111"), fmt.Sprint("inbound-", w.events()[0].ID+1))
	if e := w.events()[0]; e.Unassigned != 1 {
		t.Errorf("kept as %+v", e)
	}
	w.wantTransactions(6)
}

// vietQRRefusal is a refused answer in VietQR's form.
func vietQRRefusal(t *testing.T, path string, a answer) string {
	t.Helper()
	v := a.json(t)
	switch {
	case strings.HasSuffix(path, tokenPath) && v["status"] == "FAILED" && v["message"] != "" && len(v) == 2 && a.header.Get("WWW-Authenticate") == "Basic":
	case strings.HasSuffix(path, syncPath) && v["error"] == true && v["errorReason"] == "unauthorized" && v["object"] == nil && len(v) == 4 && a.header.Get("WWW-Authenticate") == "Bearer":
	default:
		t.Errorf("%s answers %s", path, a.body)
	}
	return fmt.Sprint(a.status, v)
}

func TestVietQRCredentials(t *testing.T) {
	t.Parallel()
	w := newWorld(t).peers()
	w.link("ACB", someAccount)
	s, other := w.source("vietqr", "", ""), w.source("vietqr", "", "")
	native := w.native()
	now := time.Now()
	calls := 0
	constant := map[string]string{}
	refused := func(what, path, body string, header ...string) {
		t.Helper()
		calls++
		a := w.do("POST", path, body, append(header, "X-Test-Peer", peer(calls/25))...)
		end := path[strings.LastIndexByte(path, '/'):]
		answer := vietQRRefusal(t, path, a)
		if constant[end] == "" {
			constant[end] = answer
		}
		if a.status != http.StatusUnauthorized || answer != constant[end] {
			t.Errorf("%s: %d %s", what, a.status, a.body)
		}
	}
	user, secret, body := s.Options.Username, s.Secret, vietQRBody()
	for _, base := range []string{"", s.URLPath()} {
		refused("nothing", base+tokenPath, "")
		refused("another password", base+tokenPath, "", basic(user, other.Secret)...)
		refused("another user", base+tokenPath, "", basic(other.Options.Username, secret)...)
		refused("an unknown user", base+tokenPath, "", basic("nobody", secret)...)
		refused("no password", base+tokenPath, "", basic(user, "")...)
		refused("no user", base+tokenPath, "", basic("", secret)...)
		refused("a colon too many", base+tokenPath, "", basic(user, ":"+secret)...)
		refused("half a password", base+tokenPath, "", basic(user, secret[:20])...)
		refused("no base64", base+tokenPath, "", "Authorization", "Basic "+user+":"+secret)
		refused("the secret as a Bearer token", base+tokenPath, "", "Authorization", "Bearer "+secret)
		refused("twice", base+tokenPath, "", append(basic(user, secret), basic(user, secret)...)...)
		refused("in the body", base+tokenPath, `{"username":"`+user+`","password":"`+secret+`"}`)
		for i := range secret {
			refused(fmt.Sprint("byte of the password ", i), base+tokenPath, "", basic(user, flipped(secret, i, 1))...)
		}
		for i := range user {
			refused(fmt.Sprint("byte of the user name ", i), base+tokenPath, "", basic(flipped(user, i, 1), secret)...)
		}

		token := w.vietQRToken(base, s)
		refused("no token", base+syncPath, body)
		refused("the secret", base+syncPath, body, "Authorization", "Bearer "+secret)
		refused("user and password", base+syncPath, body, basic(user, secret)...)
		refused("a native secret", base+syncPath, body, "Authorization", "Bearer "+native.Secret)
		refused("no scheme", base+syncPath, body, "Authorization", token)
		refused("twice", base+syncPath, body, "Authorization", "Bearer "+token, "Authorization", "Bearer "+token)
		refused("expired", base+syncPath, body, "Authorization", "Bearer "+signedToken(s, s.ID, now.Add(-time.Second)))
		refused("expired now", base+syncPath, body, "Authorization", "Bearer "+signedToken(s, s.ID, now))
		refused("another id", base+syncPath, body, "Authorization", "Bearer "+signedToken(s, other.ID, now.Add(time.Minute)))
		refused("another's secret", base+syncPath, body, "Authorization", "Bearer "+signedToken(other, s.ID, now.Add(time.Minute)))
		refused("a native source", base+syncPath, body, "Authorization", "Bearer "+signedToken(native, native.ID, now.Add(time.Minute)))
		for i := range token {
			for _, mask := range []byte{1, 4, 0x20} {
				if c := token[i] ^ mask; c > ' ' && c < 0x7f {
					refused(fmt.Sprint("byte of the token ", i), base+syncPath, body, "Authorization", "Bearer "+flipped(token, i, mask))
				}
			}
		}
		for _, changed := range []string{token[1:], token[:len(token)-1], token + "A", token + "=", token + ".", token + ".x", "v1." + token, strings.Replace(token, ".", ".0", 1), strings.Replace(token, ".", ".+", 1), "v1...", "...", ""} {
			refused("token "+changed, base+syncPath, body, "Authorization", "Bearer "+changed)
		}
	}
	// A source's token is for that source alone, whatever the path says.
	refused("the path of another", other.URLPath()+syncPath, body, "Authorization", "Bearer "+w.vietQRToken("", s))
	refused("the path of another", other.URLPath()+tokenPath, "", basic(user, secret)...)
	refused("the path of a native source", native.URLPath()+syncPath, batch(transfer{}.native()), credentials(native, "", now)...)
	refused("the path of a native source", native.URLPath()+tokenPath, "", basic("", native.Secret)...)
	refused("no such path", inboundPath+"/"+strings.Repeat("A", 43)+syncPath, body, "Authorization", "Bearer "+w.vietQRToken("", s))

	// And it is for nothing else.
	token := w.vietQRToken("", s)
	for i, path := range []string{inboundPath, native.URLPath(), "/api/v1/webhooks"} {
		method := "POST"
		if i == 2 {
			method = "GET"
		}
		if a := w.do(method, path, batch(transfer{}.native()), "Authorization", "Bearer "+token, "X-Test-Peer", peer(300)); a.status != http.StatusUnauthorized {
			t.Errorf("the token at %s: %d", path, a.status)
		}
	}
	// A new secret ends the tokens, a removed source everything.
	ctx := context.Background()
	w.syncs("", w.vietQRToken("", other), vietQRBody("transactionid", "o"), "1")
	rotated, err := w.service.RotateSource(ctx, 1, s.ID, "", app.IdempotencyKey{}, time.Now())
	must(t, err)
	refused("rotated", syncPath, body, "Authorization", "Bearer "+token)
	refused("rotated", s.URLPath()+syncPath, body, "Authorization", "Bearer "+token)
	refused("rotated", tokenPath, "", basic(user, secret)...)
	token = w.vietQRToken("", rotated)
	must(t, w.service.RemoveSource(ctx, 1, s.ID, now))
	refused("removed", syncPath, body, "Authorization", "Bearer "+token)
	refused("removed", tokenPath, "", basic(user, rotated.Secret)...)
	w.wantTransactions(1)
	if n := w.rows("inbound_events"); n != 1 {
		t.Errorf("%d calls were kept", n)
	}

	// The operator sees why.
	list, err := w.service.RefusedCalls(ctx, 1, 0, 200)
	must(t, err)
	codes := map[app.RefusalCode]bool{}
	for _, c := range list {
		codes[c.Code] = true
		if strings.Contains(c.Text.EN+c.Text.VI, secret) {
			t.Errorf("a credential is shown: %+v", c)
		}
	}
	if !codes[app.RefusalUnknownSource] || !codes[app.RefusalKey] || !codes[app.RefusalMalformed] {
		t.Errorf("reasons %v", codes)
	}
}

func TestVietQRFailures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.source("vietqr", "", "")
	for _, path := range []string{tokenPath, syncPath, s.URLPath() + tokenPath, s.URLPath() + syncPath} {
		for _, method := range []string{"GET", "PUT", "DELETE", "OPTIONS"} {
			if a := w.do(method, path, "", basic(s.Options.Username, s.Secret)...); a.status != http.StatusMethodNotAllowed || a.header.Get("Allow") != "POST" {
				t.Errorf("%s %s: %d", method, path, a.status)
			}
		}
	}
	token := w.vietQRToken("", s)
	if a := w.do("POST", syncPath, strings.Repeat(" ", 1<<20+1), "Authorization", "Bearer "+token); a.status != http.StatusRequestEntityTooLarge || a.json(t)["error"] != true {
		t.Errorf("too large: %d %s", a.status, a.body)
	}
	last := 0
	for range 40 {
		a := w.do("POST", tokenPath, "", basic(s.Options.Username, "x")...)
		if last = a.status; last == http.StatusTooManyRequests && (a.json(t)["status"] != "FAILED" || a.header.Get("Retry-After") == "") {
			t.Errorf("%s", a.body)
		}
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("40 wrong passwords: %d", last)
	}
	// Who knows the password isn't kept out by who doesn't.
	w.vietQRToken("", s)

	for name, c := range map[string]struct {
		username string
		code     app.Code
	}{
		"another's":    {s.Options.Username, app.CodeConflict},
		"a colon":      {"a:b", app.CodeValidation},
		"a space":      {"a b", app.CodeValidation},
		"no ASCII":     {"đ", app.CodeValidation},
		"far too long": {strings.Repeat("a", 101), app.CodeValidation},
	} {
		_, err := w.service.AddSource(context.Background(), 1, app.SourceAdd{Provider: "vietqr", Name: "x", Options: app.SourceOptions{Username: c.username}}, time.Now())
		if app.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, w.service.RemoveSource(context.Background(), 1, s.ID, time.Now()))
	w.adds(app.SourceAdd{Provider: "vietqr", Options: app.SourceOptions{Username: s.Options.Username}})
}
