package inbound_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/provider"
	"baoco/web/webtest"
)

// oneCall is a call that a source of the kind makes: transaction 7.
func oneCall(s app.Source) (body string, header []string) {
	x := webtest.Transfer{ID: "7", Number: "FT7", Content: "DH7", Amount: 5000}
	switch s.Provider {
	case "casso":
		return `{"error":0,"data":[{"id":7,"tid":"FT7","description":"DH7","amount":5000,"when":"2025-10-14 10:59:30","bank_sub_acc_id":"19354957"}]}`, []string{"Secure-Token", s.Secret}
	case "casso-v2", "payos", "pay2s-ipn":
		body, header, _ = signedCall(s, signedFields[s.Provider])
		return body, header
	case "sepay":
		body = x.Sepay()
	default:
		body = webtest.Batch(x.Native())
	}
	return body, webtest.Credentials(s, body, time.Now())
}

// TestProviderNoDowngrade: a source takes its own way of authenticating, and
// no other kind's, whatever secret it is done with.
func TestProviderNoDowngrade(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t).Peers()
	w.Link("ACB", webtest.SomeAccount)
	secret := func(n int) string { return fmt.Sprintf("secret-of-a-source-%d", n) }
	sources := []app.Source{
		w.Add("native", app.AuthBearer, secret(0)), w.Add("native", app.AuthHMAC, secret(1)), w.Add("sepay", app.AuthAPIKey, secret(2)), w.Add("sepay", app.AuthHMAC, secret(3)),
		w.Add("casso", "", secret(4)), w.Add("casso-v2", "", secret(5)), w.Add("payos", "", secret(6)), w.Add("pay2s", "", secret(7)), w.Add("pay2s-ipn", "", secret(8)),
	}
	calls, constant := 0, ""
	refused := func(what string, path, body string, header []string) {
		t.Helper()
		calls++
		a := w.Do("POST", path, body, append(slices.Clone(header), "X-Test-Peer", webtest.Peer(calls/25))...)
		if constant == "" {
			constant = refusal(t, a)
		}
		if a.Status != http.StatusUnauthorized || refusal(t, a) != constant {
			t.Errorf("%s: %d %s", what, a.Status, a.Body)
		}
	}
	for _, s := range sources {
		body, own := oneCall(s)
		for _, other := range sources {
			if other.ID == s.ID {
				continue
			}
			// Another kind's call with this source's secret, and this source's call
			// on the other's path.
			disguised := other
			disguised.Secret, disguised.Options = s.Secret, s.Options
			otherBody, header := oneCall(disguised)
			same := other.Auth == app.AuthBearer && s.Auth == app.AuthBearer
			if !same {
				refused(fmt.Sprintf("%s %s with what %s %s sends", s.Provider, s.Auth, other.Provider, other.Auth), s.URLPath(), otherBody, header)
			}
			if !same && s.Provider != "payos" && s.Provider != "pay2s-ipn" { // whose bodies prove it
				refused(fmt.Sprintf("%s %s with the headers of %s %s", s.Provider, s.Auth, other.Provider, other.Auth), s.URLPath(), body, header)
			}
			refused(fmt.Sprintf("%s %s on the path of %s %s", s.Provider, s.Auth, other.Provider, other.Auth), other.URLPath(), body, own)
		}
		for _, header := range [][]string{
			{"Authorization", s.Secret}, {"Authorization", "Basic " + s.Secret}, {"Authorization", "Apikey " + s.Secret}, {"Authorization", "Bearer " + s.Secret}, {"Secure-Token", s.Secret},
			{"X-Casso-Signature", s.Secret}, {"Cookie", "Secure-Token=" + s.Secret}, nil,
		} {
			if !slices.Equal(header, own) && s.Provider != "payos" && s.Provider != "pay2s-ipn" {
				refused(fmt.Sprintf("%s %s with %v", s.Provider, s.Auth, header), s.URLPath(), body, header)
			}
		}
		if s.Provider != "native" || s.Auth != app.AuthBearer {
			refused(string(s.Provider)+" on the bare path", inboundPath, body, own)
			refused(string(s.Provider)+" on the bare path", inboundPath, body, []string{"Authorization", "Bearer " + s.Secret})
		}
	}
	w.NothingStored()
	for _, s := range sources {
		body, own := oneCall(s)
		if a := w.Do("POST", s.URLPath(), body, own...); a.Status != http.StatusOK {
			t.Errorf("%s %s: %d %s", s.Provider, s.Auth, a.Status, a.Body)
		}
	}
}

// TestProviderExplained: the operator is told what merchants get wrong.
func TestProviderExplained(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t).Peers()
	w.Link("ACB", webtest.SomeAccount)
	kinds := []app.Source{
		w.Add("native", app.AuthHMAC, "n-1"), w.Add("sepay", app.AuthHMAC, "s-1"), w.Add("casso", "", "c-1"), w.Add("casso-v2", "", "v-1"),
		w.Add("payos", "", "p-1"), w.Add("pay2s", "", "b-1"), w.Add("pay2s-ipn", "", "i-1"),
	}
	other := w.Add("native", app.AuthHMAC, "of-another-one")
	calls := 0
	noted := func(s app.Source, body string, header []string) app.RefusedCall {
		t.Helper()
		calls++
		if a := w.Do("POST", s.URLPath(), body, append(header, "X-Test-Peer", webtest.Peer(calls))...); a.Status != http.StatusUnauthorized {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		var list []app.RefusedCall
		apptest.Eventually(t, "the call is noted", func() bool {
			var err error
			list, err = w.Service.RefusedCalls(context.Background(), 1, 0, 1000)
			apptest.Must(t, err)
			return len(list) == calls
		})
		return list[0]
	}
	for _, s := range kinds {
		with := func(secret string) app.Source { s := s; s.Secret = secret; return s }
		body, header := oneCall(with(other.Secret))
		if got := noted(s, body, header); got.Code != app.RefusalKey || !strings.Contains(got.Text.EN, "source "+fmt.Sprint(other.ID)) {
			t.Errorf("%s, another source's secret: %+v", s.Provider, got.Refusal)
		}
		body, header = oneCall(with("unheard-of"))
		want := app.RefusalSignature
		if s.Auth != app.AuthHMAC {
			want = app.RefusalKey
		}
		if got := noted(s, body, header); got.Code != want {
			t.Errorf("%s, an unknown secret: %+v", s.Provider, got.Refusal)
		}
		if s.Auth != app.AuthHMAC {
			continue
		}
		for _, secret := range []string{s.Secret + "\n", s.Secret + " ", `"` + s.Secret + `"`} {
			body, header = oneCall(with(secret))
			if got := noted(s, body, header); got.Code != app.RefusalKey || !strings.Contains(got.Text.EN, "line break") {
				t.Errorf("%s, secret %q: %+v", s.Provider, secret, got.Refusal)
			}
		}
		body, header = oneCall(s)
		var indented bytes.Buffer
		apptest.Must(t, json.Indent(&indented, []byte(body), "", "  "))
		if s.Provider != "native" && s.Provider != "sepay" {
			if why := webtest.RefusalOf(s, indented.Bytes(), asHeader(header), time.Now()); why.Code != "" {
				t.Errorf("%s, indented: %+v", s.Provider, why)
			}
		} else if got := noted(s, indented.String(), header); got.Code != app.RefusalBody {
			t.Errorf("%s, indented: %+v", s.Provider, got.Refusal)
		}
	}
	// An access key is another one together with its secret.
	ipn := kinds[len(kinds)-1]
	second, err := w.Service.AddSource(context.Background(), 1, app.SourceAdd{
		Provider: "pay2s-ipn", Name: "second", Secret: "i-2", BankAccountID: ipn.BankAccountID, Options: app.SourceOptions{AccessKey: "AK2"},
	}, time.Now())
	apptest.Must(t, err)
	body, header := oneCall(second)
	if got := noted(ipn, body, header); got.Code != app.RefusalKey || !strings.Contains(got.Text.EN, "source "+fmt.Sprint(second.ID)) {
		t.Errorf("another source's access key and secret: %+v", got.Refusal)
	}
	// No guesses are made about a body longer than any notice.
	native := kinds[0]
	body = webtest.Batch(webtest.Transfer{Content: strings.Repeat("x", 64<<10)}.Native())
	if got := noted(native, body, webtest.Credentials(other, body, time.Now())); got.Code != app.RefusalSignature {
		t.Errorf("a long body: %+v", got.Refusal)
	}
	w.NothingStored()
}

// TestProviderReads has what is read of bodies that authenticate: the field at
// fault, or the transactions.
func TestProviderReads(t *testing.T) {
	t.Parallel()
	casso := func(more string) string {
		return `{"error":0,"data":[{"id":7,"tid":"FT7","description":"DH7","amount":5000,"when":"2025-10-14 10:59:30","bank_sub_acc_id":"19354957"` + more + `}]}`
	}
	v2 := func(old, new string) string { return strings.Replace(cassoFields, old, new, 1) }
	payos := func(old, new string) string { return `{"data":` + strings.Replace(payOSFields, old, new, 1) + `}` }
	ipn := func(old, new string) string { return strings.Replace(ipnFields, old, new, 1) }
	pay2s := func(old, new string) string {
		return webtest.Batch(strings.Replace(webtest.Transfer{ID: "7", Number: "10418"}.Native(), old, new, 1))
	}
	const nothing = "-" // no element
	for _, c := range []struct {
		provider app.Provider
		body     string
		fault    string                  // "" reads
		is       func(app.Incoming) bool // what
	}{
		{"casso", casso(""), "", func(e app.Incoming) bool {
			return e.EventID == "7" && e.Number == "FT7" && e.Type == app.In && e.Amount == 5000 && e.AccountNumber == "19354957" && e.Gateway == "" && e.Content == "DH7"
		}},
		{"casso", casso(`,"subAccId":"1","bankName":"MBBank","bankAbbreviation":"MBB"`), "", func(e app.Incoming) bool { return e.AccountNumber == "19354957" && e.Gateway == "MBB" }},
		{"casso", casso(`,"bankName":"MBBank","bankAbbreviation":"???"`), "", func(e app.Incoming) bool { return e.Gateway == "MBBank" }},
		{"casso", casso(`,"bankName":"","bankAbbreviation":"???"`), "", func(e app.Incoming) bool { return e.Gateway == "???" }},
		{"casso", strings.Replace(casso(`,"subAccId":19354958`), `"19354957"`, "null", 1), "", func(e app.Incoming) bool { return e.AccountNumber == "19354958" }},
		{"casso", strings.Replace(casso(""), "5000", `"-5000"`, 1), "", func(e app.Incoming) bool { return e.Type == app.Out && e.Amount == 5000 }},
		{"casso", strings.Replace(casso(""), " 10:59:30", "", 1), "", func(e app.Incoming) bool { return e.Time.Format("15:04") == "00:00" && e.DateOnly }},
		{"casso", strings.Replace(casso(""), " 10:59:30", "T10:59:30", 1), "", func(e app.Incoming) bool { return e.Time.Format("15:04:05") == "10:59:30" && !e.DateOnly }},
		{"casso", casso(`,"amount":1`), "amount", nil}, {"casso", casso(`,"Amount":1`), "amount", nil}, {"casso", casso(`,"bank_sub_acc_id":"1"`), "bank_sub_acc_id", nil},
		{"casso", strings.Replace(casso(""), "5000", "0", 1), "amount", nil}, {"casso", strings.Replace(casso(""), "5000", `"-5.000"`, 1), "amount", nil}, {"casso", strings.Replace(casso(""), "5000", "-0.5", 1), "amount", nil}, {"casso", strings.Replace(casso(""), "5000", "null", 1), "amount", nil},
		{"casso", strings.Replace(casso(""), "5000", "-10000000000000", 1), "amount", nil}, {"casso", strings.Replace(casso(""), `"id":7`, `"id":null`, 1), "id", nil},
		{"casso", strings.Replace(casso(""), `"19354957"`, `""`, 1), "subAccId", nil}, {"casso", `{"error":0,"data":[7]}`, "element", nil},
		{"casso", `{"error":1,"data":[]}`, "error", nil}, {"casso", `{"error":"0","data":[]}`, "error", nil}, {"casso", strings.Replace(casso(""), `"error":0`, `"error":500`, 1), "error", nil},
		{"casso", `{"error":0,"data":{}}`, "data", nil}, {"casso", `{"error":0,"data":[],"data":[]}`, "data", nil}, {"casso", `{"error":0}`, "data", nil}, {"casso", `{"data":[]}`, nothing, nil}, {"casso", "[]", "body", nil}, {"casso", "", "json", nil},

		{"casso-v2", cassoFields, "", func(e app.Incoming) bool { return e.EventID == "7" && e.Number == "FT7" && e.Gateway == "ACB" }},
		{"casso-v2", v2("5000", "-5000"), "", func(e app.Incoming) bool { return e.Type == app.Out && e.Amount == 5000 }},
		{"casso-v2", v2(`"id":7`, `"id":9007199254740993`), "", func(e app.Incoming) bool { return e.EventID == "9007199254740992" }},
		{"casso-v2", v2("5000", "5000.0000000000000001"), "", func(e app.Incoming) bool { return e.Amount == 5000 }},
		{"casso-v2", v2(`"id":7`, `"id":0`), nothing, nil}, {"casso-v2", v2(`"id":7`, `"id":-0.0`), nothing, nil}, {"casso-v2", v2(`"id":7`, `"id":"0"`), "", func(e app.Incoming) bool { return e.EventID == "0" }},
		{"casso-v2", v2(`"id":7`, `"id":null`), "id", nil}, {"casso-v2", v2(`"id":7`, `"id":0.5`), "id", nil}, {"casso-v2", v2("5000", "1e400"), "amount", nil}, {"casso-v2", v2("5000", "0.1"), "amount", nil},
		{"casso-v2", v2(`"error":0`, `"error":1`), "error", nil}, {"casso-v2", `{"error":0,"data":[]}`, "data", nil}, {"casso-v2", `{"error":0}`, "data", nil},

		{"payos", payos("", ""), "", func(e app.Incoming) bool {
			return e.EventID == "FT7abc" && e.Number == "FT7" && e.Type == app.In && e.Amount == 5000 && e.AccountNumber == "19354957" && e.Content == "DH7" && e.Gateway == ""
		}},
		{"payos", payos("5000", `"5000"`), "", func(e app.Incoming) bool { return e.Amount == 5000 }}, {"payos", payos("5000", "5e3"), "", func(e app.Incoming) bool { return e.Amount == 5000 }},
		{"payos", payos(`"orderCode":7`, `"orderCode":123`), "", func(e app.Incoming) bool { return e.EventID == "FT7abc" }}, {"payos", payos("FT7", "TF230204212323"), "", func(e app.Incoming) bool { return e.Number == "TF230204212323" }},
		{"payos", `{"data":{"orderCode":123,"reference":"TF230204212323","amount":3000}}`, nothing, nil}, {"payos", payos(`"00"`, `"01"`), nothing, nil},
		{"payos", payos(`"00"`, "null"), "code", nil}, {"payos", payos(`"FT7"`, "null"), "reference", nil}, {"payos", payos("VND", "USD"), "currency", nil}, {"payos", payos("VND", "vnd"), "currency", nil},
		{"payos", payos("5000", "-5000"), "amount", nil}, {"payos", payos("5000", "0"), "amount", nil}, {"payos", payos("5000", "null"), "amount", nil}, {"payos", payos("5000", "[5000]"), "data", nil}, {"payos", payos("5000", `{"a":5000}`), "amount", nil},
		{"payos", payos("5000", "true"), "amount", nil}, {"payos", `{"data":[]}`, "data", nil}, {"payos", "{}", "data", nil}, {"payos", "x", "json", nil}, {"payos", payos("DH7", "DH7&amount=1"), "description", nil},

		{"pay2s", pay2s("", ""), "", func(e app.Incoming) bool { return e.EventID == "7" && e.Number == "10418" && e.Type == app.In }},
		{"pay2s", pay2s(`"IN"`, `"out"`), "", func(e app.Incoming) bool { return e.Type == app.Out }}, {"pay2s", pay2s("200000", `"200000"`), "", func(e app.Incoming) bool { return e.Amount == 200000 }},
		{"pay2s", pay2s(`"id":"7",`, ""), "id", nil}, {"pay2s", pay2s(`"IN"`, `"+"`), "transferType", nil}, {"pay2s", pay2s("200000", "-200000"), "transferAmount", nil}, {"pay2s", webtest.Batch("7"), "element", nil}, {"pay2s", webtest.Batch(), nothing, nil},

		{"pay2s-ipn", ipnFields, "", func(e app.Incoming) bool {
			return e.EventID == "7" && e.Number == "" && e.Type == app.In && e.Amount == 5000 && e.AccountNumber == "" && e.Content == "DH7" && e.Time.Unix() == 1760414370
		}},
		{"pay2s-ipn", ipn("1760414370", "1760414370123"), "", func(e app.Incoming) bool { return e.Time.Unix() == 1760414370 }}, {"pay2s-ipn", ipn("1760414370", "soon"), "", func(e app.Incoming) bool { return e.Time.IsZero() }},
		{"pay2s-ipn", ipn(`"resultCode":"0"`, `"resultCode":0`), "", func(e app.Incoming) bool { return e.Amount == 5000 }}, {"pay2s-ipn", ipn(`"resultCode":"0"`, `"resultCode":"9000"`), nothing, nil}, {"pay2s-ipn", ipn(`"resultCode":"0"`, `"resultCode":"00"`), nothing, nil},
		{"pay2s-ipn", ipn(`"resultCode":"0"`, `"resultCode":null`), "resultCode", nil}, {"pay2s-ipn", ipn(`"transId":"7"`, `"transId":""`), "transId", nil}, {"pay2s-ipn", ipn(`"5000"`, `"5000 VND"`), "amount", nil}, {"pay2s-ipn", ipn(`"5000"`, `"5.000"`), "amount", nil}, {"pay2s-ipn", ipn(`"5000"`, `"5000.00"`), "", func(e app.Incoming) bool { return e.Amount == 5000 }}, {"pay2s-ipn", ipn(`"5000"`, `-1`), "amount", nil},
		{"pay2s-ipn", ipn(`"5000"`, `[5000]`), "body", nil}, {"pay2s-ipn", "[]", "body", nil}, {"pay2s-ipn", "", "json", nil}, {"pay2s-ipn", ipn("DH7", "DH7&transId=8"), "orderId", nil},
	} {
		zone := time.FixedZone("", 7*3600)
		elements := provider.Read(app.Source{Provider: c.provider}, app.ChannelCall, []byte(c.body), time.Now(), zone).Elements
		switch {
		case c.fault == nothing:
			if len(elements) != 0 {
				t.Errorf("%s %s: %+v", c.provider, c.body, elements)
			}
		case len(elements) != 1:
			t.Errorf("%s %s: %d elements", c.provider, c.body, len(elements))
		case c.fault == "" && (elements[0].Fault != nil || !c.is(elements[0])):
			t.Errorf("%s %s: %+v, fault %+v", c.provider, c.body, elements[0], elements[0].Fault)
		case c.fault != "" && (elements[0].Fault == nil || elements[0].Fault.Field != c.fault):
			t.Errorf("%s %s: fault %+v, want %s", c.provider, c.body, elements[0].Fault, c.fault)
		}
	}
}

// TestProviderKinds: what a kind needs to be told, and what it doesn't take.
func TestProviderKinds(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	bank := w.Link("ACB", webtest.SomeAccount)
	key := app.SourceOptions{AccessKey: "AK"}
	for name, c := range map[string]struct {
		add  app.SourceAdd
		code app.Code
	}{
		"casso":                           {app.SourceAdd{Provider: "casso"}, ""},
		"casso caught up":                 {app.SourceAdd{Provider: "casso", APIKey: "AK_CS.1"}, ""},
		"casso has no hmac":               {app.SourceAdd{Provider: "casso", Auth: app.AuthHMAC}, app.CodeValidation},
		"casso-v2 has no token":           {app.SourceAdd{Provider: "casso-v2", Auth: app.AuthToken}, app.CodeValidation},
		"casso-v2 caught up":              {app.SourceAdd{Provider: "casso-v2", APIKey: "AK_CS.1"}, ""},
		"sepay caught up":                 {app.SourceAdd{Provider: "sepay", Auth: app.AuthHMAC, APIKey: "k"}, ""},
		"payos has no bearer":             {app.SourceAdd{Provider: "payos", Auth: app.AuthBearer}, app.CodeValidation},
		"payos has no list":               {app.SourceAdd{Provider: "payos", APIKey: "k"}, app.CodeValidation},
		"pay2s has no list":               {app.SourceAdd{Provider: "pay2s", APIKey: "k"}, app.CodeValidation},
		"pay2s takes no access key":       {app.SourceAdd{Provider: "pay2s", Options: key}, app.CodeValidation},
		"pay2s-ipn":                       {app.SourceAdd{Provider: "pay2s-ipn", Options: key, BankAccountID: bank.ID}, ""},
		"pay2s-ipn without access key":    {app.SourceAdd{Provider: "pay2s-ipn", BankAccountID: bank.ID}, app.CodeValidation},
		"pay2s-ipn, a space in the key":   {app.SourceAdd{Provider: "pay2s-ipn", BankAccountID: bank.ID, Options: app.SourceOptions{AccessKey: "AK "}}, app.CodeValidation},
		"pay2s-ipn without bank account":  {app.SourceAdd{Provider: "pay2s-ipn", Options: key}, app.CodeValidation},
		"the Bearer secret of two kinds":  {app.SourceAdd{Provider: "native", Secret: "a secret of pay2s"}, app.CodeConflict},
		"an unknown kind of a known name": {app.SourceAdd{Provider: "Casso"}, app.CodeValidation},
	} {
		if name == "the Bearer secret of two kinds" {
			w.Source("pay2s", "", "a secret of pay2s")
		}
		c.add.Name = name
		if _, err := w.Service.AddSource(context.Background(), 1, c.add, time.Now()); err == nil && c.code != "" || err != nil && app.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, kind := range provider.Facts() {
		if kind.Setup.EN == "" || kind.Setup.VI == "" || strings.Count(kind.Setup.EN, "--") != strings.Count(kind.Setup.VI, "--") {
			t.Errorf("%s: what to do at the provider: %+v", kind.Provider, kind.Setup)
		}
	}
}

// TestProviderSourcesApart: two sources that name the same id name two
// transactions; what two sources of any kind name by the same number is one.
func TestProviderSourcesApart(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", webtest.SomeAccount)
	n := 0
	for _, p := range []app.Provider{"casso", "casso-v2", "pay2s", "payos"} {
		for _, number := range []string{"A", "B"} {
			s := w.Add(p, "", "")
			body, header := oneCall(s)
			n++
			changed := strings.ReplaceAll(body, "FT7", fmt.Sprint("FT", number, n))
			if s.Auth == app.AuthHMAC {
				changed, header, _ = signedCall(s, strings.ReplaceAll(signedFields[p], "FT7", fmt.Sprint("FT", number, n)))
			}
			if got := w.Do("POST", s.URLPath(), changed, header...).Counts(t); got != webtest.Recorded {
				t.Errorf("%s %s: %+v", p, number, got)
			}
		}
	}
	w.WantTransactions(n)
	for i, p := range []app.Provider{"casso", "casso-v2", "pay2s", "payos", "sepay"} {
		s := w.Add(p, map[app.Provider]app.Auth{"sepay": app.AuthAPIKey}[p], "")
		body, header := oneCall(s)
		want := webtest.Duplicate
		if i == 0 {
			want = webtest.Recorded
		}
		if got := w.Do("POST", s.URLPath(), body, header...).Counts(t); got != want {
			t.Errorf("%s names FT7 again: %+v", p, got)
		}
	}
}

// Casso's own error is kept, and the bank accounts that the source serves are
// in error until the next transaction.
func TestCassoReportsAnError(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	served, other, off := w.Link("VCB", "0071000962707"), w.Link("ACB", "1"), w.Link("VCB", "0071000962708")
	source := w.Source("casso", "", "")
	element := func(id int, account string) string {
		return fmt.Sprintf(`{"id":%d,"tid":"T%d","description":"x","amount":1000,"when":"2026-10-27","bank_sub_acc_id":%q}`, id, id, account)
	}
	send := func(body string) {
		t.Helper()
		w.Do("POST", source.URLPath(), body, "Secure-Token", source.Secret).Counts(t)
	}
	status := func(b app.BankAccount) app.BankAccountStatus {
		t.Helper()
		list, err := w.Service.BankAccounts(context.Background(), 1)
		apptest.Must(t, err)
		for _, one := range list {
			if one.ID == b.ID {
				return one.Status
			}
		}
		return ""
	}
	send(`{"error":0,"data":[` + element(1, served.AccountNumber) + `,` + element(2, off.AccountNumber) + `]}`)
	if _, err := w.Service.ToggleBankAccount(context.Background(), 1, off.ID, time.Now()); err != nil {
		t.Fatal(err)
	}
	send(`{"error":401,"message":"bank disconnected","data":[]}`)
	for b, want := range map[app.BankAccount]app.BankAccountStatus{served: app.BankAccountError, other: app.BankAccountActive, off: app.BankAccountInactive} {
		if got := status(b); got != want {
			t.Errorf("%s %s is %s, want %s", b.Bank, b.AccountNumber, got, want)
		}
	}
	send(`{"error":0,"data":[` + element(3, served.AccountNumber) + `]}`)
	if got := status(served); got != app.BankAccountActive {
		t.Errorf("after a transaction it is %s", got)
	}
}
