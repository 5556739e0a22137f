package inbound_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/web/webtest"
)

// TestProviderRefusalExplained: the operator is told what a merchant got wrong,
// in both languages and without any credential; the caller is told nothing.
func TestProviderRefusalExplained(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t).Peers()
	w.Link("ACB", apptest.SomeAccount)
	var (
		bearer = w.Source("native", inbound.AuthBearer, "")
		other  = w.Source("native", inbound.AuthBearer, "")
		signed = w.Source("native", inbound.AuthHMAC, "")
		second = w.Source("native", inbound.AuthHMAC, "")
		apikey = w.Source("sepay", inbound.AuthAPIKey, "")
		stamps = w.Source("sepay", inbound.AuthHMAC, "")
	)
	account, err := w.Services.Ledger.CreateAccount(context.Background(), "another", time.Now())
	apptest.Must(t, err)
	theirs, err := w.Services.Inbound.AddSource(context.Background(), account.ID,
		inbound.SourceAdd{Provider: "native", Auth: inbound.AuthHMAC, Name: "theirs"}, time.Now())
	apptest.Must(t, err)
	native, sepay, now := apptest.Batch(apptest.Transfer{}.Native()), apptest.Transfer{}.Sepay(), time.Now()
	var indented bytes.Buffer
	apptest.Must(t, json.Indent(&indented, []byte(native), "", "  "))
	bearing := func(token string) []string { return []string{"Authorization", "Bearer " + token} }
	signing := func(secret, body string) []string {
		return []string{"X-Webhook-Signature", apptest.HexHMAC(secret, body)}
	}
	stamping := func(secret string, at time.Time) []string {
		stamps := stamps
		stamps.Secret = secret
		return apptest.Credentials(stamps, sepay, at)
	}
	stamped := stamping(stamps.Secret, now)
	// Nothing that was sent may be noted, even where it is no secret of ours.
	const guess = "guessed-secret-0123456789"
	around, altered := "extra line break, space or quotation marks", "whitespace is different"
	var constant string
	for i, c := range []struct {
		name, path, body string
		header           []string
		source           int64
		code             inbound.RefusalCode
		says             string
	}{
		{"no source", inboundPath + "/nowhere", native, bearing(guess), 0, inbound.RefusalUnknownSource, "belongs to a source"},
		{"no source on the bare path", inboundPath, native, bearing(guess), 0, inbound.RefusalUnknownSource, "belongs to a source"},

		{"Bearer missing", bearer.URLPath(), native, nil, bearer.ID, inbound.RefusalMissing, "Authorization"},
		{"Bearer twice", bearer.URLPath(), native, append(bearing(guess), bearing(guess)...), bearer.ID,
			inbound.RefusalRepeated, "Authorization"},
		{"another scheme", bearer.URLPath(), native, []string{"Authorization", "Basic " + bearer.Secret}, bearer.ID,
			inbound.RefusalMalformed, "Bearer"},
		{"another token", bearer.URLPath(), native, bearing(guess), bearer.ID, inbound.RefusalKey, "not this source’s secret"},
		{"token of another source", bearer.URLPath(), native, bearing(other.Secret), bearer.ID, inbound.RefusalKey,
			fmt.Sprintf("source %d (till)", other.ID)},
		{"token of another account's source", bearer.URLPath(), native, bearing(theirs.Secret), bearer.ID, inbound.RefusalKey,
			"not this source’s secret"},
		{"token in quotation marks", bearer.URLPath(), native, bearing(`"` + bearer.Secret + `"`), bearer.ID, inbound.RefusalKey, around},
		{"token after two spaces", bearer.URLPath(), native, bearing(" " + bearer.Secret), bearer.ID, inbound.RefusalKey, around},

		{"signature missing", signed.URLPath(), native, bearing(signed.Secret), signed.ID, inbound.RefusalMissing, "X-Webhook-Signature"},
		{"signature twice", signed.URLPath(), native, append(signing(guess, native), signing(guess, native)...), signed.ID,
			inbound.RefusalRepeated, "X-Webhook-Signature"},
		{"signature in upper case", signed.URLPath(), native,
			[]string{"X-Webhook-Signature", strings.ToUpper(apptest.HexHMAC(signed.Secret, native))}, signed.ID,
			inbound.RefusalMalformed, "64 lowercase"},
		{"signature cut", signed.URLPath(), native, []string{"X-Webhook-Signature", apptest.HexHMAC(signed.Secret, native)[1:]}, signed.ID,
			inbound.RefusalMalformed, "64 lowercase"},
		{"the secret for a signature", signed.URLPath(), native, []string{"X-Webhook-Signature", signed.Secret}, signed.ID,
			inbound.RefusalMalformed, "64 lowercase"},
		{"signed with a guess", signed.URLPath(), native, signing(guess, native), signed.ID, inbound.RefusalSignature,
			"a different secret, or its body"},
		{"signed with another source's", signed.URLPath(), native, signing(second.Secret, native), signed.ID, inbound.RefusalKey,
			fmt.Sprintf("source %d (till)", second.ID)},
		{"signed with another account's", signed.URLPath(), native, signing(theirs.Secret, native), signed.ID, inbound.RefusalSignature,
			"a different secret, or its body"},
		{"signed with a line break", signed.URLPath(), native, signing(signed.Secret+"\n", native), signed.ID, inbound.RefusalKey, around},
		{"signed with CR LF", signed.URLPath(), native, signing(signed.Secret+"\r\n", native), signed.ID, inbound.RefusalKey, around},
		{"signed with a space", signed.URLPath(), native, signing(signed.Secret+" ", native), signed.ID, inbound.RefusalKey, around},
		{"signed with quotation marks", signed.URLPath(), native, signing(`"`+signed.Secret+`"`, native), signed.ID, inbound.RefusalKey, around},
		{"indented after signing", signed.URLPath(), indented.String(), signing(signed.Secret, native), signed.ID, inbound.RefusalBody, altered},
		{"compacted after signing", signed.URLPath(), native, signing(signed.Secret, indented.String()), signed.ID, inbound.RefusalBody, altered},
		{"a line break lost", signed.URLPath(), native, signing(signed.Secret, native+"\n"), signed.ID, inbound.RefusalBody, altered},
		{"a line break added", signed.URLPath(), native + "\n", signing(signed.Secret, native), signed.ID, inbound.RefusalBody, altered},
		{"another amount", signed.URLPath(), strings.Replace(native, "200000", "900000", 1), signing(signed.Secret, native), signed.ID,
			inbound.RefusalSignature, "a different secret, or its body"},
		{"not JSON", signed.URLPath(), "{", signing(guess, "{"), signed.ID, inbound.RefusalSignature, "a different secret, or its body"},

		{"Apikey missing", apikey.URLPath(), sepay, nil, apikey.ID, inbound.RefusalMissing, "Authorization"},
		{"Apikey as Bearer", apikey.URLPath(), sepay, bearing(apikey.Secret), apikey.ID, inbound.RefusalMalformed, "Apikey"},
		{"Apikey of another source", apikey.URLPath(), sepay, []string{"Authorization", "Apikey " + bearer.Secret}, apikey.ID, inbound.RefusalKey,
			fmt.Sprintf("source %d (till)", bearer.ID)},
		{"Apikey in quotation marks", apikey.URLPath(), sepay, []string{"Authorization", `Apikey "` + apikey.Secret + `"`}, apikey.ID,
			inbound.RefusalKey, around},

		{"timestamp missing", stamps.URLPath(), sepay, stamped[2:], stamps.ID, inbound.RefusalMissing, "X-SePay-Timestamp"},
		{"SePay signature missing", stamps.URLPath(), sepay, stamped[:2], stamps.ID, inbound.RefusalMissing, "X-SePay-Signature"},
		{"no prefix", stamps.URLPath(), sepay, []string{stamped[0], stamped[1], stamped[2], stamped[3][7:]}, stamps.ID,
			inbound.RefusalMalformed, "sha256="},
		{"an old call", stamps.URLPath(), sepay, stamping(stamps.Secret, now.Add(-time.Hour)), stamps.ID, inbound.RefusalTime,
			"X-SePay-Timestamp"},
		{"a call of tomorrow", stamps.URLPath(), sepay, stamping(stamps.Secret, now.Add(24*time.Hour)), stamps.ID, inbound.RefusalTime,
			"X-SePay-Timestamp"},
		{"another timestamp than was signed", stamps.URLPath(), sepay, append([]string{stamped[0], fmt.Sprint(now.Unix() - 60)}, stamped[2:]...),
			stamps.ID, inbound.RefusalSignature, "a different secret, or its body"},
		{"SePay's signature by another source", stamps.URLPath(), sepay, stamping(second.Secret, now), stamps.ID, inbound.RefusalKey,
			fmt.Sprintf("source %d (till)", second.ID)},
		{"SePay's signature with a line break", stamps.URLPath(), sepay, stamping(stamps.Secret+"\n", now), stamps.ID,
			inbound.RefusalKey, around},
		{"SePay's body written anew", stamps.URLPath(), strings.Replace(sepay, "{", "{ ", 1), stamped, stamps.ID, inbound.RefusalBody, altered},
	} {
		a := w.Do("POST", c.path, c.body, append(slices.Clip(c.header), "X-Test-Peer", webtest.Peer(i/20))...)
		if got := constantPart(a); a.Status != http.StatusUnauthorized || constant != "" && got != constant {
			t.Errorf("%s is answered %d %s, want %s", c.name, a.Status, got, constant)
		} else {
			constant = got
		}
		w.Until(c.name+" is noted", func() bool { return w.Rows("refused_calls") == i+1 })
		list, err := w.Services.Inbound.RefusedCalls(context.Background(), 1, 0, 1)
		apptest.Must(t, err)
		r := list[0]
		if r.Code != c.code || !strings.Contains(r.Text.EN, c.says) || r.Text.VI == "" || r.Text.VI == r.Text.EN || r.SourceID != c.source {
			t.Errorf("%s is noted as %s of source %d: %q, %q; want %s: …%s…", c.name, r.Code, r.SourceID, r.Text.EN, r.Text.VI, c.code, c.says)
		}
		for _, secret := range []string{bearer.Secret, other.Secret, signed.Secret, second.Secret, apikey.Secret, stamps.Secret, theirs.Secret,
			guess, apptest.HexHMAC(signed.Secret, native), stamped[3][7:], bearer.Token, signed.Token} {
			if strings.Contains(r.Text.EN+r.Text.VI, secret) {
				t.Errorf("%s: a credential is in %q, %q", c.name, r.Text.EN, r.Text.VI)
			}
		}
	}
	nothingStored(w)
}

// constantPart is an answer byte for byte, without its request id and date.
func constantPart(a webtest.Answer) string {
	h := maps.Clone(a.Header)
	h.Del("X-Request-Id")
	h.Del("Date")
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(h)) {
		fmt.Fprintf(&b, "%s: %q\n", name, h[name])
	}
	return b.String() + strings.ReplaceAll(a.Body, a.Header.Get("X-Request-Id"), "")
}
