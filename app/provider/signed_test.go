package provider_test

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/inbound"
)

var cassoFields, payOSFields, ipnFields = apptest.SignedFields["casso-v2"], apptest.SignedFields["payos"], apptest.SignedFields["pay2s-ipn"]

// signer is a source of a kind that signs fields.
func signer(p app.Provider) inbound.Source {
	return inbound.Source{Provider: p, Auth: inbound.AuthHMAC, Secret: "the key of this source",
		Options: inbound.SourceOptions{AccessKey: "AK1"}}
}

// TestSignedRefusals: every way not to be the source's call has its code.
func TestSignedRefusals(t *testing.T) {
	t.Parallel()
	for provider, fields := range apptest.SignedFields {
		source := signer(provider)
		body, header, ok := apptest.SignedCall(source, fields)
		if !ok {
			t.Fatal(provider)
		}
		if why := apptest.RefusalOf(source, []byte(body), apptest.Header(header), time.Now()); why.Code != "" {
			t.Fatalf("%s: the call itself: %+v", provider, why)
		}
		key := map[app.Provider]string{"payos": "signature", "pay2s-ipn": "m2signature"}[provider]
		changed := func(old, new string) string {
			if !strings.Contains(body, old) {
				t.Fatalf("%s has no %s", body, old)
			}
			return strings.Replace(body, old, new, 1)
		}
		for _, c := range []struct {
			name, body string
			code       inbound.RefusalCode
		}{
			{"empty", "", inbound.RefusalMalformed}, {"not JSON", body + "x", inbound.RefusalMalformed},
			{"array", "[" + body + "]", inbound.RefusalMalformed}, {"null", "null", inbound.RefusalMalformed},
			{"invalid UTF-8", changed("DH7", "DH7\xff"), inbound.RefusalMalformed},
			{"half a surrogate in CESU-8", changed("DH7", "DH7\xed\xa0\x80"), inbound.RefusalMalformed},
			{"a key twice", changed(`"amount":`, `"amount":9000000,"amount":`), inbound.RefusalRepeated},
			{"a key twice, once escaped", changed(`"amount":`, `"\u0061mount":9000000,"amount":`), inbound.RefusalRepeated},
			{"a key twice, the same value", changed(`{`, `{"x":1,"x":1,`), inbound.RefusalRepeated},
			{"a key twice, deep", changed(`{`, `{"x":[[{"y":{"z":1,"z":2}}]],`), inbound.RefusalRepeated},
			{"another amount", changed("5000", "50000"), inbound.RefusalSignature},
			{"another type", changed(`5000`, `"5000.0"`), inbound.RefusalSignature},
			{"a hidden key", changed(`{"`, `{"__proto__":{"amount":1},"`), inbound.RefusalSignature},
		} {
			if provider != "casso-v2" && (c.name == "another type" || c.name == "a hidden key") {
				continue // signs texts, and not all of the body
			}
			if why := apptest.RefusalOf(source, []byte(c.body), apptest.Header(header), time.Now()); why.Code != c.code {
				t.Errorf("%s, %s: %+v, want %s", provider, c.name, why, c.code)
			}
		}
		if key == "" {
			continue
		}
		for old, code := range map[string]inbound.RefusalCode{`"x":`: inbound.RefusalMissing, `"` + key + `":null,"x":`: inbound.RefusalMissing,
			`"` + key + `":7,"x":`: inbound.RefusalMalformed, `"` + strings.ToUpper(key) + `":`: inbound.RefusalMissing} {
			if why := apptest.RefusalOf(source, []byte(changed(`"`+key+`":`, old)), nil, time.Now()); why.Code != code {
				t.Errorf("%s, %s: %+v, want %s", provider, old, why, code)
			}
		}
	}
	// A key that holds several fields would be signed as they are.
	body, _, _ := apptest.SignedCall(signer("payos"), strings.Replace(payOSFields, `"amount":5000,`, `"amount=5000&amount2":1,`, 1))
	if why := apptest.RefusalOf(signer("payos"), []byte(body), nil, time.Now()); why.Code != inbound.RefusalMalformed {
		t.Errorf("%s: %+v", body, why)
	}
	body, header, _ := apptest.SignedCall(signer("casso-v2"), cassoFields)
	digest := strings.TrimPrefix(header[1], "t=1760414370123,v1=")
	for value, code := range map[string]inbound.RefusalCode{
		"": inbound.RefusalMalformed, digest: inbound.RefusalMalformed, "v1=" + digest: inbound.RefusalMalformed,
		"t=,v1=" + digest: inbound.RefusalMalformed, "t=x,v1=" + digest: inbound.RefusalMalformed,
		"t=-1,v1=" + digest: inbound.RefusalMalformed, "t=1760414370123, v1=" + digest: inbound.RefusalMalformed,
		"v1=" + digest + ",t=1760414370123": inbound.RefusalMalformed, "t=1760414370123,v1=": inbound.RefusalMalformed,
		"t=1760414370123,v1=" + strings.ToUpper(digest): inbound.RefusalMalformed, header[1] + "," + header[1]: inbound.RefusalMalformed,
		"t=01760414370123,v1=" + digest: inbound.RefusalSignature, "t=1760414370124,v1=" + digest: inbound.RefusalSignature,
	} {
		if why := apptest.RefusalOf(signer("casso-v2"), []byte(body), apptest.Header([]string{header[0], value}), time.Now()); why.Code != code {
			t.Errorf("%q: %+v, want %s", value, why, code)
		}
	}
}

// Casso documents its second webhook by programs whose JSON libraries escape
// more than one another. Each of their writings is the call; what none of them
// writes isn't, nor is any of them with another value.
func TestCassoWritings(t *testing.T) {
	t.Parallel()
	source := signer("casso-v2")
	const description = "Đơn <a&b> 1/2 \\/ \"x\" \u2028😀\u007f\u0001"
	fields := strings.Replace(cassoFields, `"DH7"`, apptest.Quoted(description), 1)
	call := func(signed string) http.Header {
		text := strings.Replace(`{"data":{"accountNumber":"19354957","amount":5000,"bankAbbreviation":"ACB","description":DESCRIPTION,"id":7`+
			`,"reference":"FT7","transactionDateTime":"2025-10-14 10:59:30"},"error":0}`, "DESCRIPTION", signed, 1)
		mac := hmac.New(sha512.New, []byte(source.Secret))
		fmt.Fprintf(mac, "1760414370123.%s", text)
		return apptest.Header([]string{"X-Casso-Signature", "t=1760414370123,v1=" + hex.EncodeToString(mac.Sum(nil))})
	}
	for _, c := range []struct {
		name, signed string
		good         bool
	}{
		{"JavaScript, C#, Java", "\"Đơn <a&b> 1/2 \\\\/ \\\"x\\\" \u2028😀\u007f\\u0001\"", true},
		{"PHP", "\"\\u0110\\u01a1n <a&b> 1\\/2 \\\\\\/ \\\"x\\\" \\u2028\\ud83d\\ude00\u007f\\u0001\"", true},
		{"Go", "\"Đơn \\u003ca\\u0026b\\u003e 1/2 \\\\/ \\\"x\\\" \\u2028😀\u007f\\u0001\"", true},
		{"Python", "\"\\u0110\\u01a1n <a&b> 1/2 \\\\/ \\\"x\\\" \\u2028\\ud83d\\ude00\u007f\\u0001\"", true},
		{"Go by itself", apptest.Quoted(description), true},
		{"upper-case digits", "\"Đơn \\u003Ca\\u0026b\\u003E 1/2 \\\\/ \\\"x\\\" \\u2028😀\u007f\\u0001\"", false},
		{"some of it", "\"Đơn \\u003ca&b> 1/2 \\\\/ \\\"x\\\" \u2028😀\u007f\\u0001\"", false},
		{"another text as JavaScript writes it", "\"Don <a&b> 1/2 \\\\/ \\\"x\\\" \u2028😀\u007f\\u0001\"", false},
		{"another text as PHP writes it", "\"\\u0110\\u01a1n <a&b> 1\\/3 \\\\\\/ \\\"x\\\" \\u2028\\ud83d\\ude00\u007f\\u0001\"", false},
		{"the escapes as text", "\"\\\\u0110\\\\u01a1n <a&b> 1/2 \\\\/ \\\"x\\\" \u2028😀\u007f\\u0001\"", false},
	} {
		why := apptest.RefusalOf(source, []byte(fields), call(c.signed), time.Now())
		if (why.Code == "") != c.good || !c.good && why.Code != inbound.RefusalSignature {
			t.Errorf("signed as %s: %+v", c.name, why)
		}
		// However the body itself is escaped, its values are what is signed.
		for _, body := range []string{strings.ReplaceAll(fields, "/", `\/`), strings.ReplaceAll(fields, "Đ", `\u0110`)} {
			if why := apptest.RefusalOf(source, []byte(body), call(c.signed), time.Now()); (why.Code == "") != c.good {
				t.Errorf("signed as %s, sent as %s: %+v", c.name, body, why)
			}
		}
		other := strings.Replace(fields, "5000", "50000", 1)
		if why := apptest.RefusalOf(source, []byte(other), call(c.signed), time.Now()); why.Code != inbound.RefusalSignature {
			t.Errorf("signed as %s, with another amount: %+v", c.name, why)
		}
	}
}
