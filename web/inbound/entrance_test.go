package inbound_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/web/webtest"
)

// refusal is a refused answer without what differs from call to call.
func refusal(t *testing.T, a webtest.Answer) string {
	t.Helper()
	v := a.JSON(t)
	if v["request_id"] == "" || v["request_id"] == nil {
		t.Errorf("no request id: %s", a.Body)
	}
	delete(v, "request_id")
	return fmt.Sprint(a.Status, a.Header.Get("WWW-Authenticate"), a.Header.Get("Content-Type"), v)
}

func flipped(s string, i int, mask byte) string {
	b := []byte(s)
	b[i] ^= mask
	return string(b)
}

// The case of an authentication scheme doesn't count (RFC 9110, 11.1): of the
// management API, of a source on both paths, and of VietQR's two calls.
func TestSchemeCase(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	native, sepay, vietqr, key := w.Native(), w.Sepay(), w.Source("vietqr", "", ""), w.APIKey(access.ScopeRead)
	body := apptest.Batch(apptest.Transfer{}.Native())
	for i, write := range []func(string) string{strings.ToLower, strings.ToUpper,
		func(s string) string { return s[:1] + strings.ToUpper(s[1:]) }} {
		scheme := func(s string) string { return write(s) + " " }
		w.Do("GET", "/api/v1/transactions", "", "Authorization", scheme("Bearer")+key).WantStatus(t, http.StatusOK)
		w.Do("POST", native.URLPath(), body, "Authorization", scheme("Bearer")+native.Secret).WantStatus(t, http.StatusOK)
		w.Do("POST", inboundPath, body, "Authorization", scheme("Bearer")+native.Secret).WantStatus(t, http.StatusOK)
		w.Do("POST", sepay.URLPath(), apptest.Transfer{ID: "s", Amount: 300_000}.Sepay(), "Authorization",
			scheme("Apikey")+sepay.Secret).WantStatus(t, http.StatusOK)
		token := w.Do("POST", tokenPath, "", "Authorization",
			scheme("Basic")+strings.TrimPrefix(basic(vietqr.Options.Username, vietqr.Secret)[1], "Basic "))
		token.WantStatus(t, http.StatusOK)
		w.Do("POST", syncPath, apptest.VietQRBody(), "Authorization",
			scheme("Bearer")+fmt.Sprint(token.JSON(t)["access_token"])).WantStatus(t, http.StatusOK)
		if n := w.Rows("transactions"); n != 3 {
			t.Errorf("%d transactions after round %d, want 3", n, i)
		}
	}
}

// TestProviderMutations changes every byte of what a call is verified by.
func TestProviderMutations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		provider app.Provider
		auth     inbound.Auth
	}{{"native", inbound.AuthHMAC}, {"sepay", inbound.AuthHMAC}, {"native", inbound.AuthBearer}, {"sepay", inbound.AuthAPIKey}} {
		t.Run(string(c.provider)+" "+string(c.auth), func(t *testing.T) {
			w := webtest.NewWorld(t).Peers()
			w.Link("ACB", apptest.SomeAccount)
			source := w.Source(c.provider, c.auth, "")
			body := apptest.Batch(apptest.Transfer{}.Native())
			if c.provider == "sepay" {
				body = apptest.Transfer{}.Sepay()
			}
			calls, constant := 0, ""
			refused := func(what, body string, header []string) {
				t.Helper()
				calls++
				a := w.Do("POST", source.URLPath(), body, append(header, "X-Test-Peer", webtest.Peer(calls/25))...)
				if constant == "" {
					constant = refusal(t, a)
				}
				if a.Status != http.StatusUnauthorized || refusal(t, a) != constant {
					t.Errorf("%s: %d %s", what, a.Status, a.Body)
				}
			}
			if c.auth == inbound.AuthHMAC {
				header := apptest.Credentials(source, body, time.Now())
				for i := range body {
					refused(fmt.Sprint("byte of the body ", i), flipped(body, i, 1), header)
				}
				for _, changed := range []string{body + " ", body + "\n", " " + body, body[1:], body[:len(body)-1], "", body + body} {
					refused("body "+strconv.Quote(changed), changed, header)
				}
				for i := range source.Secret {
					other := source
					other.Secret = flipped(source.Secret, i, 1)
					refused(fmt.Sprint("byte of the key ", i), body, apptest.Credentials(other, body, time.Now()))
				}
			}
			original := apptest.Credentials(source, body, time.Now())
			for n := 1; n < len(original); n += 2 {
				value := original[n]
				for i := range value {
					for _, mask := range []byte{1, 4, 0x20} {
						changed := flipped(value, i, mask)
						if changed[i] <= ' ' || changed[i] >= 0x7f || apptest.SameCredential(original[n-1], value, changed) {
							continue // not a header value, or trimmed as white space
						}
						header := slices.Clone(original)
						header[n] = changed
						refused(original[n-1]+" "+changed, body, header)
					}
				}
				for _, changed := range []string{value[1:], value[:len(value)-1], value + "0", strings.ToUpper(value), "", "sha256=" + value,
					value + "," + value} {
					if apptest.SameCredential(original[n-1], value, changed) {
						continue // a timestamp has no upper case
					}
					header := slices.Clone(original)
					header[n] = changed
					refused(original[n-1]+" "+changed, body, header)
				}
			}
			nothingStored(w)
			w.Wants(webtest.Recorded, source, body)
		})
	}
}

// TestProviderCredentials has the ways not to prove where a call comes from.
func TestProviderCredentials(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t).Peers()
	w.Link("ACB", apptest.SomeAccount)
	var (
		bearer = w.Source("native", inbound.AuthBearer, "")
		other  = w.Source("native", inbound.AuthBearer, "")
		signed = w.Source("native", inbound.AuthHMAC, "")
		apikey = w.Source("sepay", inbound.AuthAPIKey, "")
		stamps = w.Source("sepay", inbound.AuthHMAC, "")
		key    = w.APIKey(access.ScopeFull)
	)
	body := func(s inbound.Source) string {
		if s.Provider == "sepay" {
			return apptest.Transfer{}.Sepay()
		}
		return apptest.Batch(apptest.Transfer{}.Native())
	}
	native, sepay := body(bearer), body(apikey)
	now := time.Now()
	stamp := func(at time.Time) []string { return apptest.Credentials(stamps, sepay, at) }
	written := func(stamp string) []string {
		return []string{"X-SePay-Timestamp", stamp, "X-SePay-Signature", "sha256=" + apptest.HexHMAC(stamps.Secret, stamp, ".", sepay)}
	}
	digest := apptest.HexHMAC(signed.Secret, native)
	stamped := stamp(now)
	constant := ""
	for i, c := range []struct {
		name, path, body string
		header           []string
	}{
		{"nothing", bearer.URLPath(), native, nil},
		{"wrong token", bearer.URLPath(), native, []string{"Authorization", "Bearer " + other.Secret + "x"}},
		{"token of another source", bearer.URLPath(), native, []string{"Authorization", "Bearer " + other.Secret}},
		{"twice", bearer.URLPath(), native, []string{"Authorization", "Bearer " + bearer.Secret, "Authorization", "Bearer " + bearer.Secret}},
		{"twice, the second wrong", bearer.URLPath(), native, []string{"Authorization", "Bearer " + bearer.Secret, "Authorization", "Bearer x"}},
		{"no scheme", bearer.URLPath(), native, []string{"Authorization", bearer.Secret}},
		{"other scheme", bearer.URLPath(), native, []string{"Authorization", "Apikey " + bearer.Secret}},
		{"basic", bearer.URLPath(), native, []string{"Authorization", "Basic " + bearer.Secret}},
		{"two spaces", bearer.URLPath(), native, []string{"Authorization", "Bearer  " + bearer.Secret}},
		{"in the query", bearer.URLPath() + "?token=" + bearer.Secret, native, nil},
		{"in a cookie", bearer.URLPath(), native, []string{"Cookie", "Authorization=Bearer " + bearer.Secret}},
		{"a management key", bearer.URLPath(), native, []string{"Authorization", "Bearer " + key}},
		{"a management key on the bare path", inboundPath, native, []string{"Authorization", "Bearer " + key}},
		{"a signature for a Bearer source", bearer.URLPath(), native, []string{"X-Webhook-Signature", apptest.HexHMAC(bearer.Secret, native)}},
		{"nothing on the bare path", inboundPath, native, nil},
		{"twice on the bare path", inboundPath, native,
			[]string{"Authorization", "Bearer " + bearer.Secret, "Authorization", "Bearer " + bearer.Secret}},
		{"the path's token as a credential", inboundPath, native, []string{"Authorization", "Bearer " + bearer.Token}},
		{"unknown token", inboundPath + "/" + strings.Repeat("A", len(bearer.Token)), native,
			[]string{"Authorization", "Bearer " + bearer.Secret}},
		{"token in another case", inboundPath + "/" + strings.ToLower(bearer.Token), native,
			[]string{"Authorization", "Bearer " + bearer.Secret}},
		{"half a token", inboundPath + "/" + bearer.Token[:20], native, []string{"Authorization", "Bearer " + bearer.Secret}},
		{"an id for a token", inboundPath + "/1", native, []string{"Authorization", "Bearer " + bearer.Secret}},

		{"the HMAC key as a Bearer token", signed.URLPath(), native, []string{"Authorization", "Bearer " + signed.Secret}},
		{"the HMAC key on the bare path", inboundPath, native, []string{"Authorization", "Bearer " + signed.Secret}},
		{"a signature on the bare path", inboundPath, native, []string{"X-Webhook-Signature", digest}},
		{"upper-case hex", signed.URLPath(), native, []string{"X-Webhook-Signature", strings.ToUpper(digest)}},
		{"a prefix", signed.URLPath(), native, []string{"X-Webhook-Signature", "sha256=" + digest}},
		{"two signatures", signed.URLPath(), native, []string{"X-Webhook-Signature", digest, "X-Webhook-Signature", digest}},
		{"no signature", signed.URLPath(), native, nil},
		{"JSON written anew", signed.URLPath(), strings.ReplaceAll(native, ":", ": "), []string{"X-Webhook-Signature", digest}},
		{"an empty body signed with another key", signed.URLPath(), "", []string{"X-Webhook-Signature", apptest.HexHMAC("", "")}},
		{"a body of another source", signed.URLPath(), native, []string{"X-Webhook-Signature", apptest.HexHMAC(bearer.Secret, native)}},

		{"apikey as Bearer", apikey.URLPath(), sepay, []string{"Authorization", "Bearer " + apikey.Secret}},
		{"apikey twice", apikey.URLPath(), sepay,
			[]string{"Authorization", "Apikey " + apikey.Secret, "Authorization", "Apikey " + apikey.Secret}},
		{"apikey on the bare path", inboundPath, sepay, []string{"Authorization", "Apikey " + apikey.Secret}},
		{"apikey as Bearer on the bare path", inboundPath, sepay, []string{"Authorization", "Bearer " + apikey.Secret}},
		{"signed instead of apikey", apikey.URLPath(), sepay,
			[]string{"X-SePay-Timestamp", stamped[1], "X-SePay-Signature", "sha256=" + apptest.HexHMAC(apikey.Secret, stamped[1], ".", sepay)}},

		{"the key of signatures as an Apikey", stamps.URLPath(), sepay, []string{"Authorization", "Apikey " + stamps.Secret}},
		{"the key of signatures as a Bearer token", inboundPath, sepay, []string{"Authorization", "Bearer " + stamps.Secret}},
		{"6 minutes old", stamps.URLPath(), sepay, stamp(now.Add(-6 * time.Minute))},
		{"6 minutes early", stamps.URLPath(), sepay, stamp(now.Add(6 * time.Minute))},
		{"milliseconds", stamps.URLPath(), sepay, written(fmt.Sprint(now.UnixMilli()))},
		{"timestamp 0", stamps.URLPath(), sepay, written("0")},
		{"negative timestamp", stamps.URLPath(), sepay, written("-9223372036854775808")},
		{"the largest timestamp", stamps.URLPath(), sepay, written("9223372036854775807")},
		{"a larger timestamp", stamps.URLPath(), sepay, written("99999999999999999999")},
		{"a fraction of a second", stamps.URLPath(), sepay, written(stamped[1] + ".5")},
		{"no digits", stamps.URLPath(), sepay, written("now")},
		{"empty timestamp", stamps.URLPath(), sepay, written("")},
		{"no timestamp", stamps.URLPath(), sepay, stamped[2:]},
		{"two timestamps", stamps.URLPath(), sepay, append(slices.Clone(stamped), stamped[:2]...)},
		{"no SePay signature", stamps.URLPath(), sepay, stamped[:2]},
		{"two SePay signatures", stamps.URLPath(), sepay, append(slices.Clone(stamped), stamped[2:]...)},
		{"bare digest", stamps.URLPath(), sepay, []string{stamped[0], stamped[1], stamped[2], stamped[3][7:]}},
		{"upper-case prefix", stamps.URLPath(), sepay, []string{stamped[0], stamped[1], stamped[2], "SHA256=" + stamped[3][7:]}},
		{"upper-case digest", stamps.URLPath(), sepay, []string{stamped[0], stamped[1], stamped[2], "sha256=" + strings.ToUpper(stamped[3][7:])}},
		{"a digest without the timestamp", stamps.URLPath(), sepay,
			[]string{stamped[0], stamped[1], stamped[2], "sha256=" + apptest.HexHMAC(stamps.Secret, sepay)}},
		{"a digest without the dot", stamps.URLPath(), sepay,
			[]string{stamped[0], stamped[1], stamped[2], "sha256=" + apptest.HexHMAC(stamps.Secret, stamped[1], sepay)}},
	} {
		a := w.Do("POST", c.path, c.body, append(c.header, "X-Test-Peer", webtest.Peer(i/25))...)
		if constant == "" {
			constant = refusal(t, a)
		}
		if a.Status != http.StatusUnauthorized || refusal(t, a) != constant {
			t.Errorf("%s: %d %s", c.name, a.Status, a.Body)
		}
	}
	nothingStored(w)

	for _, s := range []inbound.Source{bearer, signed, apikey, stamps} {
		a := w.Do("GET", "/api/v1/webhooks", "", "Authorization", "Bearer "+s.Secret, "X-Test-Peer", webtest.Peer(100))
		if a.Status != http.StatusUnauthorized {
			t.Errorf("the secret of a %s source on the management API: %d", s.Provider, a.Status)
		}
	}

	// And the ways that prove it.
	late := fmt.Sprint(now.Add(-4 * time.Minute).Unix())
	for _, c := range []struct {
		name, path, body string
		header           []string
	}{
		{"Bearer", bearer.URLPath(), native, apptest.Credentials(bearer, native, now)},
		{"Bearer on the bare path", inboundPath, native, apptest.Credentials(bearer, native, now)},
		{"signature", signed.URLPath(), native, apptest.Credentials(signed, native, now)},
		{"apikey", apikey.URLPath(), sepay, apptest.Credentials(apikey, sepay, now)},
		{"4 minutes old", stamps.URLPath(), sepay, written(late)},
		{"4 minutes early", stamps.URLPath(), sepay, stamp(now.Add(4 * time.Minute))},
		{"another credential beside it", signed.URLPath(), native,
			append(apptest.Credentials(signed, native, now), "Authorization", "Bearer nonsense")},
		{"no Content-Type", bearer.URLPath(), native, apptest.Credentials(bearer, native, now)},
		{"any Content-Type", bearer.URLPath(), native, append(apptest.Credentials(bearer, native, now), "Content-Type", "text/plain; charset=x")},
		{"a form's Content-Type", apikey.URLPath(), sepay,
			append(apptest.Credentials(apikey, sepay, now), "Content-Type", "application/x-www-form-urlencoded")},
	} {
		if a := w.Do("POST", c.path, c.body, c.header...); a.Status != http.StatusOK {
			t.Errorf("%s: %d %s", c.name, a.Status, a.Body)
		}
	}
}

func TestProviderMethods(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	s := w.Native()
	for _, path := range []string{inboundPath, s.URLPath()} {
		for _, method := range []string{"GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"} {
			a := w.Do(method, path, apptest.Batch(apptest.Transfer{}.Native()), apptest.Credentials(s, "", time.Now())...)
			if a.Status != http.StatusMethodNotAllowed || a.Header.Get("Allow") != "POST" {
				t.Errorf("%s: %d, Allow %q", method, a.Status, a.Header.Get("Allow"))
			}
		}
	}
	for _, path := range []string{inboundPath + "/", s.URLPath() + "/", s.URLPath() + "/x", inboundPath + "//" + s.Token,
		"/api/webhooks/../webhooks/provider"} {
		if a := w.Do("POST", path, apptest.Batch(), apptest.Credentials(s, "", time.Now())...); a.Status != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
	nothingStored(w)
}

func TestProviderSources(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	ctx, now := context.Background(), time.Now()
	if s := w.Source("native", "", "a secret of mine"); s.Auth != inbound.AuthBearer || s.Secret != "a secret of mine" {
		t.Errorf("default of a native source: %+v", s)
	}
	for name, c := range map[string]struct {
		add  inbound.SourceAdd
		code app.Code
	}{
		"sepay names its way":            {inbound.SourceAdd{Provider: "sepay", Name: "x"}, app.CodeValidation},
		"sepay has no bearer":            {inbound.SourceAdd{Provider: "sepay", Auth: inbound.AuthBearer, Name: "x"}, app.CodeValidation},
		"native has no apikey":           {inbound.SourceAdd{Provider: "native", Auth: inbound.AuthAPIKey, Name: "x"}, app.CodeValidation},
		"unknown kind":                   {inbound.SourceAdd{Provider: "no-such-kind", Name: "x"}, app.CodeValidation},
		"unknown bank account":           {inbound.SourceAdd{Provider: "native", Name: "x", BankAccountID: 77}, app.CodeValidation},
		"a Bearer secret twice":          {inbound.SourceAdd{Provider: "native", Name: "x", Secret: "a secret of mine"}, app.CodeAlreadyExists},
		"a secret with a line break":     {inbound.SourceAdd{Provider: "native", Name: "x", Secret: "two lines\nof text"}, app.CodeValidation},
		"a secret with a space after it": {inbound.SourceAdd{Provider: "native", Name: "x", Secret: "something "}, app.CodeValidation},
	} {
		if _, err := w.Services.Inbound.AddSource(ctx, 1, c.add, now); app.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	// An HMAC key doesn't name its source, so it may be another's too.
	w.Source("native", inbound.AuthHMAC, "a secret of mine")
	other := w.Native()
	if _, err := w.Services.Inbound.RotateSource(ctx, 1, other.ID, inbound.SourceRotate{
		Secret: "a secret of mine",
	}, time.Now()); app.CodeOf(err) != app.CodeAlreadyExists {
		t.Errorf("rotated to another's secret: %v", err)
	}
}
