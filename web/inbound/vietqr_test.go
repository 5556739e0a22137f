package inbound_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/web/webtest"
)

func TestVietQR(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	account := w.Link("ACB", apptest.SomeAccount)
	s, other := w.Source("vietqr", "", ""),
		w.AddSource(inbound.SourceAdd{Provider: "vietqr", Options: inbound.SourceOptions{Username: "customer-shop.1@x"}})
	if s.Auth != inbound.AuthBasic || !strings.HasPrefix(s.Options.Username, "baoco-") || len(s.Options.Username) != 18 ||
		s.Options.Username == other.Options.Username {
		t.Errorf("source %+v", s)
	}
	// Each with its own base, and with the address of the server alone.
	for i, base := range []string{s.URLPath(), "", other.URLPath(), ""} {
		source := s
		if i >= 2 {
			source = other
		}
		id := fmt.Sprint("t", i)
		token := vietQRToken(w, base, source)
		syncs(w, base, token, apptest.VietQRBody("transactionid", id, "referencenumber", fmt.Sprint("FT", i)), fmt.Sprint(i+1))
		syncs(w, base, token, apptest.VietQRBody("transactionid", id, "referencenumber", fmt.Sprint("FT", i)), fmt.Sprint(i+1))
	}
	got := w.WantTransactions(4)[1]
	if got.BankAccountID != account.ID || got.Type != app.In || got.Amount != 200000 || got.Number != "FT1" ||
		got.Content != "VQR26044A5CCKYZA DH123" ||
		app.FormatTime(got.Time, w.Services.Ledger.Zone()) != apptest.SomeDate || got.DateFlaw != "" {
		t.Errorf("recorded %+v", got)
	}
	// A token of the one way in is good for the other.
	token := vietQRToken(w, "", s)
	syncs(w, s.URLPath(), token,
		`{"bankAccount":"19354957","amount":"7","transType":"D","content":"x","transactionId":"camel","transactionTime":"1760414370"`+
			`,"referenceNumber":"FT7"}`, "5")
	syncs(w, "", token, apptest.VietQRBody("transactionid", nil, "referencenumber", "FT8"), "6")
	list := w.WantTransactions(6)
	if list[4].Type != app.Out || list[4].Amount != 7 || list[4].Number != "FT7" || list[4].DateFlaw != "" || list[5].Number != "FT8" {
		t.Errorf("recorded %+v", list[4:])
	}
	// What can't be recorded is kept, and VietQR needn't know.
	for i, c := range []struct{ field, body string }{
		{"amount", apptest.VietQRBody("amount", nil)}, {"amount", apptest.VietQRBody("amount", 0)}, {"amount", apptest.VietQRBody("amount", -5)},
		{"amount", apptest.VietQRBody("amount", 1, "AMOUNT", 2)}, {"amount", apptest.VietQRBody("amount", 1.5)},
		{"transtype", apptest.VietQRBody("transType", "X")}, {"transtype", apptest.VietQRBody("transType", nil)},
		{"transtype", apptest.VietQRBody("transtype", "D")}, {"bankaccount", apptest.VietQRBody("bankaccount", nil)},
		{"bankaccount", apptest.VietQRBody("bankAccount", "1")},
		{"transactionid", apptest.VietQRBody("transactionid", nil, "referencenumber", nil)},
		{"transactionid", apptest.VietQRBody("transactionid", true)}, {"json", "{"}, {"body", "[]"},
	} {
		events := len(w.Events())
		syncs(w, "", token, c.body, fmt.Sprint("inbound-", w.NewestEvent().ID+1))
		keptAsRejected(w, c.body, c.field)
		if n := len(w.Events()); n != events+1 {
			t.Errorf("%d: %d events", i, n)
		}
	}
	syncs(w, "", token, apptest.VietQRBody("transactionid", "u", "bankaccount", "111"), fmt.Sprint("inbound-", w.NewestEvent().ID+1))
	if e := w.NewestEvent(); e.Unassigned != 1 {
		t.Errorf("kept as %+v", e)
	}
	w.WantTransactions(6)
}

// vietQRRefusal is a refused answer in VietQR's form.
func vietQRRefusal(t *testing.T, path string, a webtest.Answer) string {
	t.Helper()
	v := a.JSON(t)
	switch {
	case strings.HasSuffix(path, tokenPath) && v["status"] == "FAILED" && v["message"] != "" && len(v) == 2 &&
		a.Header.Get("WWW-Authenticate") == "Basic":
	case strings.HasSuffix(path, syncPath) && v["error"] == true && v["errorReason"] == "unauthorized" && v["object"] == nil && len(v) == 4 &&
		a.Header.Get("WWW-Authenticate") == "Bearer":
	default:
		t.Errorf("%s answers %s", path, a.Body)
	}
	return fmt.Sprint(a.Status, v)
}

func TestVietQRCredentials(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t).Peers()
	w.Link("ACB", apptest.SomeAccount)
	s, other := w.Source("vietqr", "", ""), w.Source("vietqr", "", "")
	native := w.Native()
	now := time.Now()
	calls := 0
	constant := map[string]string{}
	refused := func(what, path, body string, header ...string) {
		t.Helper()
		calls++
		a := w.Do("POST", path, body, append(header, "X-Test-Peer", webtest.Peer(calls/25))...)
		end := path[strings.LastIndexByte(path, '/'):]
		answer := vietQRRefusal(t, path, a)
		if constant[end] == "" {
			constant[end] = answer
		}
		if a.Status != http.StatusUnauthorized || answer != constant[end] {
			t.Errorf("%s: %d %s", what, a.Status, a.Body)
		}
	}
	user, secret, body := s.Options.Username, s.Secret, apptest.VietQRBody()
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

		token := vietQRToken(w, base, s)
		refused("no token", base+syncPath, body)
		refused("the secret", base+syncPath, body, "Authorization", "Bearer "+secret)
		refused("user and password", base+syncPath, body, basic(user, secret)...)
		refused("a native secret", base+syncPath, body, "Authorization", "Bearer "+native.Secret)
		refused("no scheme", base+syncPath, body, "Authorization", token)
		refused("twice", base+syncPath, body, "Authorization", "Bearer "+token, "Authorization", "Bearer "+token)
		refused("expired", base+syncPath, body, "Authorization", "Bearer "+apptest.SignedToken(s, s.ID, now.Add(-time.Second)))
		refused("expired now", base+syncPath, body, "Authorization", "Bearer "+apptest.SignedToken(s, s.ID, time.Now()))
		refused("another id", base+syncPath, body, "Authorization", "Bearer "+apptest.SignedToken(s, other.ID, now.Add(time.Minute)))
		refused("another's secret", base+syncPath, body, "Authorization", "Bearer "+apptest.SignedToken(other, s.ID, now.Add(time.Minute)))
		refused("a native source", base+syncPath, body, "Authorization", "Bearer "+apptest.SignedToken(native, native.ID, now.Add(time.Minute)))
		for i := range token {
			for _, mask := range []byte{1, 4, 0x20} {
				if c := token[i] ^ mask; c > ' ' && c < 0x7f {
					refused(fmt.Sprint("byte of the token ", i), base+syncPath, body, "Authorization", "Bearer "+flipped(token, i, mask))
				}
			}
		}
		for _, changed := range []string{token[1:], token[:len(token)-1], token + "A", token + "=", token + ".", token + ".x", "v1." + token,
			strings.Replace(token, ".", ".0", 1), strings.Replace(token, ".", ".+", 1), "v1...", "...", ""} {
			refused("token "+changed, base+syncPath, body, "Authorization", "Bearer "+changed)
		}
	}
	// A source's token is for that source alone, whatever the path says.
	refused("the path of another", other.URLPath()+syncPath, body, "Authorization", "Bearer "+vietQRToken(w, "", s))
	refused("the path of another", other.URLPath()+tokenPath, "", basic(user, secret)...)
	refused("the path of a native source", native.URLPath()+syncPath, apptest.Batch(apptest.Transfer{}.Native()),
		apptest.Credentials(native, "", now)...)
	refused("the path of a native source", native.URLPath()+tokenPath, "", basic("", native.Secret)...)
	refused("no such path", inboundPath+"/"+strings.Repeat("A", 43)+syncPath, body, "Authorization", "Bearer "+vietQRToken(w, "", s))

	// And it is for nothing else.
	token := vietQRToken(w, "", s)
	for i, path := range []string{inboundPath, native.URLPath(), "/api/v1/webhooks"} {
		method := "POST"
		if i == 2 {
			method = "GET"
		}
		if a := w.Do(method, path, apptest.Batch(apptest.Transfer{}.Native()), "Authorization", "Bearer "+token, "X-Test-Peer",
			webtest.Peer(300)); a.Status != http.StatusUnauthorized {
			t.Errorf("the token at %s: %d", path, a.Status)
		}
	}
	// A new secret ends the tokens, a removed source everything.
	ctx := context.Background()
	syncs(w, "", vietQRToken(w, "", other), apptest.VietQRBody("transactionid", "o"), "1")
	rotated, err := w.Services.Inbound.RotateSource(ctx, 1, s.ID, inbound.SourceRotate{}, time.Now())
	apptest.Must(t, err)
	refused("rotated", syncPath, body, "Authorization", "Bearer "+token)
	refused("rotated", s.URLPath()+syncPath, body, "Authorization", "Bearer "+token)
	refused("rotated", tokenPath, "", basic(user, secret)...)
	token = vietQRToken(w, "", rotated)
	apptest.Must(t, w.Services.Inbound.RemoveSource(ctx, 1, s.ID, now))
	refused("removed", syncPath, body, "Authorization", "Bearer "+token)
	refused("removed", tokenPath, "", basic(user, rotated.Secret)...)
	w.WantTransactions(1)
	if n := w.Rows("inbound_events"); n != 1 {
		t.Errorf("%d calls were kept", n)
	}

	// The operator sees why.
	list, err := w.Services.Inbound.RefusedCalls(ctx, 1, 0, 200)
	apptest.Must(t, err)
	codes := map[inbound.RefusalCode]bool{}
	for _, c := range list {
		codes[c.Code] = true
		if strings.Contains(c.Text.EN+c.Text.VI, secret) {
			t.Errorf("a credential is shown: %+v", c)
		}
	}
	if !codes[inbound.RefusalUnknownSource] || !codes[inbound.RefusalKey] || !codes[inbound.RefusalMalformed] {
		t.Errorf("reasons %v", codes)
	}
}

func TestVietQRFailures(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	s := w.Source("vietqr", "", "")
	for _, path := range []string{tokenPath, syncPath, s.URLPath() + tokenPath, s.URLPath() + syncPath} {
		for _, method := range []string{"GET", "PUT", "DELETE", "OPTIONS"} {
			if a := w.Do(method, path, "", basic(s.Options.Username, s.Secret)...); a.Status != http.StatusMethodNotAllowed ||
				a.Header.Get("Allow") != "POST" {
				t.Errorf("%s %s: %d", method, path, a.Status)
			}
		}
	}
	token := vietQRToken(w, "", s)
	if a := w.Do("POST", syncPath, strings.Repeat(" ", 1<<20+1), "Authorization",
		"Bearer "+token); a.Status != http.StatusRequestEntityTooLarge || a.JSON(t)["error"] != true {
		t.Errorf("too large: %d %s", a.Status, a.Body)
	}
	last := 0
	for range 40 {
		a := w.Do("POST", tokenPath, "", basic(s.Options.Username, "x")...)
		if last = a.Status; last == http.StatusTooManyRequests && (a.JSON(t)["status"] != "FAILED" || a.Header.Get("Retry-After") == "") {
			t.Errorf("%s", a.Body)
		}
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("40 wrong passwords: %d", last)
	}
	// Who knows the password isn't kept out by who doesn't.
	vietQRToken(w, "", s)

	for name, c := range map[string]struct {
		username string
		code     app.Code
	}{
		"another's":    {s.Options.Username, app.CodeAlreadyExists},
		"a colon":      {"a:b", app.CodeValidation},
		"a space":      {"a b", app.CodeValidation},
		"no ASCII":     {"đ", app.CodeValidation},
		"far too long": {strings.Repeat("a", 101), app.CodeValidation},
	} {
		_, err := w.Services.Inbound.AddSource(context.Background(), 1,
			inbound.SourceAdd{Provider: "vietqr", Name: "x", Options: inbound.SourceOptions{Username: c.username}}, time.Now())
		if app.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	apptest.Must(t, w.Services.Inbound.RemoveSource(context.Background(), 1, s.ID, time.Now()))
	w.AddSource(inbound.SourceAdd{Provider: "vietqr", Options: inbound.SourceOptions{Username: s.Options.Username}})
}

// vietQRToken asks for a token as VietQR does, at base.
func vietQRToken(w *webtest.World, base string, s inbound.Source) string {
	w.T.Helper()
	a := w.Do("POST", base+tokenPath, "", basic(s.Options.Username, s.Secret)...)
	v := a.JSON(w.T)
	token, _ := v["access_token"].(string)
	if a.Status != http.StatusOK || token == "" || v["token_type"] != "Bearer" || fmt.Sprint(v["expires_in"]) != "300" || len(v) != 3 {
		w.T.Fatalf("no token: %d %s", a.Status, a.Body)
	}
	return token
}

// syncs tells of a transaction and checks the answer's reference.
func syncs(w *webtest.World, base, token, body, reference string) {
	w.T.Helper()
	a := w.Do("POST", base+syncPath, body, "Authorization", "Bearer "+token)
	v := a.JSON(w.T)
	object, _ := v["object"].(map[string]any)
	if a.Status != http.StatusOK || v["error"] != false || v["errorReason"] != nil || v["toastMessage"] == "" || len(v) != 4 ||
		object["reftransactionid"] != reference {
		w.T.Errorf("%s: %d %s, want the reference %s", body, a.Status, a.Body, reference)
	}
}
