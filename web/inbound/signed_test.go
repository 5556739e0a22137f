package inbound_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/web/webtest"
)

// TestSignedAmbiguity: one signature fits several splits of k=v&k=v. None of
// them is recorded; each is kept for a person to look at.
func TestSignedAmbiguity(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		provider     app.Provider
		old, genuine string
		forged       []string // pairs of old and new
	}{
		{"payos", `"DH7"`, `"DH7&orderCode=8"`, []string{`"DH7"`, `"DH7"`, `"orderCode":7`, `"orderCode":"8&orderCode=7"`}},
		{"payos", `"DH7"`, `"DH7&reference=FT8&x=1"`,
			[]string{`"accountNumber":"19354957"`, `"accountNumber":"19354957&amount=5000&code=00&currency=VND&desc=ok&description=DH7"`}},
		{"pay2s-ipn", `"orderInfo":"DH7"`,
			`"orderInfo":"DH7&orderType=pay2s&partnerCode=P&payType=qr&requestId=1&responseTime=1760414370&resultCode=0&transId=8"`,
			[]string{`"transId":"7"`,
				`"transId":"8&orderType=pay2s&partnerCode=P&payType=qr&requestId=1&responseTime=1760414370&resultCode=0&transId=7"`}},
	} {
		w := webtest.NewWorld(t)
		bank := w.Link("ACB", apptest.SomeAccount)
		add := inbound.SourceAdd{Provider: c.provider, Name: "x", Secret: "a key of the provider's", Options: inbound.SourceOptions{}}
		if c.provider == "pay2s-ipn" {
			add.BankAccountID, add.Options.AccessKey = bank.ID, "AK1"
		}
		source, err := w.Services.Inbound.AddSource(context.Background(), 1, add, time.Now())
		apptest.Must(t, err)
		body, _, _ := apptest.SignedCall(source, strings.Replace(apptest.SignedFields[c.provider], c.old, c.genuine, 1))
		if got := w.Do("POST", source.URLPath(), body).Counts(t); got != webtest.Rejected {
			t.Errorf("%s: the genuine call: %+v", c.genuine, got)
		}
		forged := strings.Replace(body, c.genuine, c.old, 1)
		for i := 0; i < len(c.forged); i += 2 {
			forged = strings.Replace(forged, c.forged[i], c.forged[i+1], 1)
		}
		if a := w.Do("POST", source.URLPath(), forged); a.Status == http.StatusOK && a.Counts(t) != webtest.Rejected {
			t.Errorf("%s: %s", forged, a.Body)
		}
		w.WantTransactions(0)
		// What only looks like it is recorded.
		body, _, _ = apptest.SignedCall(source, strings.Replace(apptest.SignedFields[c.provider], "DH7", "A & B = C&D 1=2 & =", -1))
		if got := w.Do("POST", source.URLPath(), body).Counts(t); got != webtest.Recorded {
			t.Errorf("%s: %+v", body, got)
		}
	}
}

// TestUnsignedFields: what payOS doesn't sign decides nothing.
func TestUnsignedFields(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	source := w.Source("payos", "", "")
	body, _, _ := apptest.SignedCall(source, apptest.SignedFields["payos"])
	for i, outer := range []string{`"code":"00","success":true`, `"code":"99","success":false`,
		`"amount":1,"orderCode":123,"reference":"TF230204212323"`, `"error":{"data":{}}`} {
		want := webtest.Recorded
		if i > 0 {
			want = webtest.Duplicate
		}
		changed := strings.Replace(body, `"code":"00","success":true`, outer, 1)
		if got := w.Do("POST", source.URLPath(), changed).Counts(t); got != want {
			t.Errorf("%s: %+v", changed, got)
		}
	}
	if x := w.WantTransactions(1)[0]; x.Amount != 5000 || x.Content != "DH7" || x.Number != "FT7" {
		t.Errorf("%+v", x)
	}
}
