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
	"baoco/app/inbound"
	"baoco/web/webtest"
)

// oneCall is a call that a source of the kind makes: transaction 7.
func oneCall(s inbound.Source) (body string, header []string) {
	x := apptest.Transfer{ID: "7", Number: "FT7", Content: "DH7", Amount: 5000}
	switch s.Provider {
	case "casso":
		return `{"error":0,"data":[{"id":7,"tid":"FT7","description":"DH7","amount":5000,"when":"2025-10-14 10:59:30"` +
			`,"bank_sub_acc_id":"19354957"}]}`, []string{"Secure-Token", s.Secret}
	case "casso-v2", "payos", "pay2s-ipn":
		body, header, _ = apptest.SignedCall(s, apptest.SignedFields[s.Provider])
		return body, header
	case "sepay":
		body = x.Sepay()
	default:
		body = apptest.Batch(x.Native())
	}
	return body, apptest.Credentials(s, body, time.Now())
}

// TestProviderNoDowngrade: a source takes its own way of authenticating, and
// no other kind's, whatever secret it is done with.
func TestProviderNoDowngrade(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t).Peers()
	w.Link("ACB", apptest.SomeAccount)
	secret := func(n int) string { return fmt.Sprintf("secret-of-a-source-%d", n) }
	sources := []inbound.Source{
		addKind(w, "native", inbound.AuthBearer, secret(0)), addKind(w, "native", inbound.AuthHMAC, secret(1)),
		addKind(w, "sepay", inbound.AuthAPIKey, secret(2)), addKind(w, "sepay", inbound.AuthHMAC, secret(3)),
		addKind(w, "casso", "", secret(4)), addKind(w, "casso-v2", "", secret(5)), addKind(w, "payos", "", secret(6)),
		addKind(w, "pay2s", "", secret(7)), addKind(w, "pay2s-ipn", "", secret(8)),
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
			same := other.Auth == inbound.AuthBearer && s.Auth == inbound.AuthBearer
			if !same {
				refused(fmt.Sprintf("%s %s with what %s %s sends", s.Provider, s.Auth, other.Provider, other.Auth), s.URLPath(), otherBody, header)
			}
			if !same && s.Provider != "payos" && s.Provider != "pay2s-ipn" { // whose bodies prove it
				refused(fmt.Sprintf("%s %s with the headers of %s %s", s.Provider, s.Auth, other.Provider, other.Auth), s.URLPath(), body, header)
			}
			refused(fmt.Sprintf("%s %s on the path of %s %s", s.Provider, s.Auth, other.Provider, other.Auth), other.URLPath(), body, own)
		}
		for _, header := range [][]string{
			{"Authorization", s.Secret}, {"Authorization", "Basic " + s.Secret}, {"Authorization", "Apikey " + s.Secret},
			{"Authorization", "Bearer " + s.Secret}, {"Secure-Token", s.Secret},
			{"X-Casso-Signature", s.Secret}, {"Cookie", "Secure-Token=" + s.Secret}, nil,
		} {
			if !slices.Equal(header, own) && s.Provider != "payos" && s.Provider != "pay2s-ipn" {
				refused(fmt.Sprintf("%s %s with %v", s.Provider, s.Auth, header), s.URLPath(), body, header)
			}
		}
		if s.Provider != "native" || s.Auth != inbound.AuthBearer {
			refused(string(s.Provider)+" on the bare path", inboundPath, body, own)
			refused(string(s.Provider)+" on the bare path", inboundPath, body, []string{"Authorization", "Bearer " + s.Secret})
		}
	}
	nothingStored(w)
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
	w.Link("ACB", apptest.SomeAccount)
	kinds := []inbound.Source{
		addKind(w, "native", inbound.AuthHMAC, "n-1"), addKind(w, "sepay", inbound.AuthHMAC, "s-1"), addKind(w, "casso", "", "c-1"),
		addKind(w, "casso-v2", "", "v-1"),
		addKind(w, "payos", "", "p-1"), addKind(w, "pay2s", "", "b-1"), addKind(w, "pay2s-ipn", "", "i-1"),
	}
	other := addKind(w, "native", inbound.AuthHMAC, "of-another-one")
	calls := 0
	noted := func(s inbound.Source, body string, header []string) inbound.RefusedCall {
		t.Helper()
		calls++
		if a := w.Do("POST", s.URLPath(), body, append(header, "X-Test-Peer", webtest.Peer(calls))...); a.Status != http.StatusUnauthorized {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		var list []inbound.RefusedCall
		w.Until("the call is noted", func() bool {
			var err error
			list, err = w.Services.Inbound.RefusedCalls(context.Background(), 1, 0, 1000)
			apptest.Must(t, err)
			return len(list) == calls
		})
		return list[0]
	}
	for _, s := range kinds {
		with := func(secret string) inbound.Source { s := s; s.Secret = secret; return s }
		body, header := oneCall(with(other.Secret))
		if got := noted(s, body, header); got.Code != inbound.RefusalKey || !strings.Contains(got.Text.EN, "source "+fmt.Sprint(other.ID)) {
			t.Errorf("%s, another source's secret: %+v", s.Provider, got.Refusal)
		}
		body, header = oneCall(with("unheard-of"))
		want := inbound.RefusalSignature
		if s.Auth != inbound.AuthHMAC {
			want = inbound.RefusalKey
		}
		if got := noted(s, body, header); got.Code != want {
			t.Errorf("%s, an unknown secret: %+v", s.Provider, got.Refusal)
		}
		if s.Auth != inbound.AuthHMAC {
			continue
		}
		for _, secret := range []string{s.Secret + "\n", s.Secret + " ", `"` + s.Secret + `"`} {
			body, header = oneCall(with(secret))
			if got := noted(s, body, header); got.Code != inbound.RefusalKey || !strings.Contains(got.Text.EN, "line break") {
				t.Errorf("%s, secret %q: %+v", s.Provider, secret, got.Refusal)
			}
		}
		body, header = oneCall(s)
		var indented bytes.Buffer
		apptest.Must(t, json.Indent(&indented, []byte(body), "", "  "))
		if s.Provider != "native" && s.Provider != "sepay" {
			if why := apptest.RefusalOf(s, indented.Bytes(), apptest.Header(header), time.Now()); why.Code != "" {
				t.Errorf("%s, indented: %+v", s.Provider, why)
			}
		} else if got := noted(s, indented.String(), header); got.Code != inbound.RefusalBody {
			t.Errorf("%s, indented: %+v", s.Provider, got.Refusal)
		}
	}
	// An access key is another one together with its secret.
	ipn := kinds[len(kinds)-1]
	second, err := w.Services.Inbound.AddSource(context.Background(), 1, inbound.SourceAdd{
		Provider: "pay2s-ipn", Name: "second", Secret: "i-2", BankAccountID: ipn.BankAccountID, Options: inbound.SourceOptions{AccessKey: "AK2"},
	}, time.Now())
	apptest.Must(t, err)
	body, header := oneCall(second)
	if got := noted(ipn, body, header); got.Code != inbound.RefusalKey || !strings.Contains(got.Text.EN, "source "+fmt.Sprint(second.ID)) {
		t.Errorf("another source's access key and secret: %+v", got.Refusal)
	}
	// No guesses are made about a body longer than any notice.
	native := kinds[0]
	body = apptest.Batch(apptest.Transfer{Content: strings.Repeat("x", 64<<10)}.Native())
	if got := noted(native, body, apptest.Credentials(other, body, time.Now())); got.Code != inbound.RefusalSignature {
		t.Errorf("a long body: %+v", got.Refusal)
	}
	nothingStored(w)
}

// TestProviderSourcesApart: two sources that name the same id name two
// transactions; what two sources of any kind name by the same number is one.
func TestProviderSourcesApart(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	n := 0
	for _, p := range []app.Provider{"casso", "casso-v2", "pay2s", "payos"} {
		for _, number := range []string{"A", "B"} {
			s := addKind(w, p, "", "")
			body, header := oneCall(s)
			n++
			another := strings.NewReplacer("FT7", fmt.Sprint("FT", number, n), "5000", fmt.Sprint(5000+n))
			changed := another.Replace(body)
			if s.Auth == inbound.AuthHMAC {
				changed, header, _ = apptest.SignedCall(s, another.Replace(apptest.SignedFields[p]))
			}
			if got := w.Do("POST", s.URLPath(), changed, header...).Counts(t); got != webtest.Recorded {
				t.Errorf("%s %s: %+v", p, number, got)
			}
		}
	}
	w.WantTransactions(n)
	for i, p := range []app.Provider{"casso", "casso-v2", "pay2s", "payos", "sepay"} {
		s := addKind(w, p, map[app.Provider]inbound.Auth{"sepay": inbound.AuthAPIKey}[p], "")
		body, header := oneCall(s)
		want := webtest.Duplicate
		if i == 0 {
			want = webtest.Recorded
		}
		if got := w.Do("POST", s.URLPath(), body, header...).Counts(t); got != want {
			t.Errorf("%s names FT7 again: %+v", p, got)
		}
	}
	// A bank's suffix doesn't make another number of it, nor another content another transfer.
	s := addKind(w, "casso", "", "")
	body, header := oneCall(s)
	if got := w.Do("POST", s.URLPath(), strings.NewReplacer("FT7", `ft7\\BNK`, "DH7", "TRA TIEN COM").Replace(body),
		header...).Counts(t); got != webtest.Duplicate {
		t.Errorf("casso names it with a suffix: %+v", got)
	}
}

// Casso may name one transaction without an array around it, and a test call beside others is none.
func TestCassoObject(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("VCB", "0071000962707")
	s := w.Source("casso", "", "")
	element := func(id int) string {
		return fmt.Sprintf(`{"id":%d,"tid":"T%d","description":"x","amount":%d,"when":"2025-10-27","bank_sub_acc_id":"0071000962707"}`, id, id,
			1000+id)
	}
	send := func(want webtest.Counts, data string) {
		t.Helper()
		if got := w.Do("POST", s.URLPath(), `{"error":0,"data":`+data+`}`, "Secure-Token", s.Secret).Counts(t); got != want {
			t.Errorf("%s: %+v, want %+v", data, got, want)
		}
	}
	send(webtest.Recorded, element(1))
	send(webtest.Duplicate, "["+element(1)+"]")
	send(webtest.Recorded, "["+element(0)+","+element(2)+"]")
	send(webtest.Counts{}, element(0))
	for _, data := range []string{`"x"`, "7", "null", element(3) + `,"data":[]`} {
		send(webtest.Rejected, data)
	}
	w.WantTransactions(2)
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
		list, err := w.Services.Ledger.BankAccounts(context.Background(), 1)
		apptest.Must(t, err)
		for _, one := range list {
			if one.ID == b.ID {
				return one.Status
			}
		}
		return ""
	}
	send(`{"error":0,"data":[` + element(1, served.AccountNumber) + `,` + element(2, off.AccountNumber) + `]}`)
	if _, err := w.Services.Ledger.ToggleBankAccount(context.Background(), 1, off.ID, time.Now()); err != nil {
		t.Fatal(err)
	}
	send(`{"error":401,"message":"bank disconnected","data":[]}`)
	for b, want := range map[app.BankAccount]app.BankAccountStatus{served: app.BankAccountError, other: app.BankAccountActive,
		off: app.BankAccountInactive} {
		if got := status(b); got != want {
			t.Errorf("%s %s is %s, want %s", b.Bank, b.AccountNumber, got, want)
		}
	}
	send(`{"error":0,"data":[` + element(3, served.AccountNumber) + `]}`)
	if got := status(served); got != app.BankAccountActive {
		t.Errorf("after a transaction it is %s", got)
	}
}
