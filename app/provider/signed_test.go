package provider_test

import (
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
