package inbound_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/web/webtest"
)

// signer is a source of a kind that signs fields.
func signer(p app.Provider) app.Source {
	return app.Source{Provider: p, Auth: app.AuthHMAC, Secret: "the key of this source", Options: app.SourceOptions{AccessKey: "AK1"}}
}

const (
	cassoFields = `{"error":0,"data":{"id":7,"reference":"FT7","description":"DH7","amount":5000,"transactionDateTime":"2025-10-14 10:59:30","accountNumber":"19354957","bankAbbreviation":"ACB"}}`
	payOSFields = `{"orderCode":7,"amount":5000,"description":"DH7","accountNumber":"19354957","reference":"FT7","transactionDateTime":"2025-10-14 10:59:30","currency":"VND","paymentLinkId":"abc","code":"00","desc":"ok"}`
	ipnFields   = `{"partnerCode":"P","orderId":"DH7","requestId":"1","amount":"5000","orderInfo":"DH7","orderType":"pay2s","transId":"7","resultCode":"0","message":"ok","payType":"qr","responseTime":"1760414370","extraData":""}`
)

var signedFields = map[app.Provider]string{"casso-v2": cassoFields, "payos": payOSFields, "pay2s-ipn": ipnFields}

func asHeader(pairs []string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

// TestSignedRefusals: every way not to be the source's call has its code.
func TestSignedRefusals(t *testing.T) {
	t.Parallel()
	for provider, fields := range signedFields {
		source := signer(provider)
		body, header, ok := signedCall(source, fields)
		if !ok {
			t.Fatal(provider)
		}
		if why := webtest.RefusalOf(source, []byte(body), asHeader(header), time.Now()); why.Code != "" {
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
			code       app.RefusalCode
		}{
			{"empty", "", app.RefusalMalformed}, {"not JSON", body + "x", app.RefusalMalformed}, {"array", "[" + body + "]", app.RefusalMalformed}, {"null", "null", app.RefusalMalformed},
			{"invalid UTF-8", changed("DH7", "DH7\xff"), app.RefusalMalformed}, {"half a surrogate in CESU-8", changed("DH7", "DH7\xed\xa0\x80"), app.RefusalMalformed},
			{"a key twice", changed(`"amount":`, `"amount":9000000,"amount":`), app.RefusalRepeated},
			{"a key twice, once escaped", changed(`"amount":`, `"\u0061mount":9000000,"amount":`), app.RefusalRepeated},
			{"a key twice, the same value", changed(`{`, `{"x":1,"x":1,`), app.RefusalRepeated},
			{"a key twice, deep", changed(`{`, `{"x":[[{"y":{"z":1,"z":2}}]],`), app.RefusalRepeated},
			{"another amount", changed("5000", "50000"), app.RefusalSignature}, {"another type", changed(`5000`, `"5000.0"`), app.RefusalSignature},
			{"a hidden key", changed(`{"`, `{"__proto__":{"amount":1},"`), app.RefusalSignature},
		} {
			if provider != "casso-v2" && (c.name == "another type" || c.name == "a hidden key") {
				continue // signs texts, and not all of the body
			}
			if why := webtest.RefusalOf(source, []byte(c.body), asHeader(header), time.Now()); why.Code != c.code {
				t.Errorf("%s, %s: %+v, want %s", provider, c.name, why, c.code)
			}
		}
		if key == "" {
			continue
		}
		for old, code := range map[string]app.RefusalCode{`"x":`: app.RefusalMissing, `"` + key + `":null,"x":`: app.RefusalMissing, `"` + key + `":7,"x":`: app.RefusalMalformed, `"` + strings.ToUpper(key) + `":`: app.RefusalMissing} {
			if why := webtest.RefusalOf(source, []byte(changed(`"`+key+`":`, old)), nil, time.Now()); why.Code != code {
				t.Errorf("%s, %s: %+v, want %s", provider, old, why, code)
			}
		}
	}
	// A key that holds several fields would be signed as they are.
	body, _, _ := signedCall(signer("payos"), strings.Replace(payOSFields, `"amount":5000,`, `"amount=5000&amount2":1,`, 1))
	if why := webtest.RefusalOf(signer("payos"), []byte(body), nil, time.Now()); why.Code != app.RefusalMalformed {
		t.Errorf("%s: %+v", body, why)
	}
	body, header, _ := signedCall(signer("casso-v2"), cassoFields)
	digest := strings.TrimPrefix(header[1], "t=1760414370123,v1=")
	for value, code := range map[string]app.RefusalCode{
		"": app.RefusalMalformed, digest: app.RefusalMalformed, "v1=" + digest: app.RefusalMalformed, "t=,v1=" + digest: app.RefusalMalformed, "t=x,v1=" + digest: app.RefusalMalformed,
		"t=-1,v1=" + digest: app.RefusalMalformed, "t=1760414370123, v1=" + digest: app.RefusalMalformed, "v1=" + digest + ",t=1760414370123": app.RefusalMalformed, "t=1760414370123,v1=": app.RefusalMalformed,
		"t=1760414370123,v1=" + strings.ToUpper(digest): app.RefusalMalformed, header[1] + "," + header[1]: app.RefusalMalformed, "t=01760414370123,v1=" + digest: app.RefusalSignature, "t=1760414370124,v1=" + digest: app.RefusalSignature,
	} {
		if why := webtest.RefusalOf(signer("casso-v2"), []byte(body), asHeader([]string{header[0], value}), time.Now()); why.Code != code {
			t.Errorf("%q: %+v, want %s", value, why, code)
		}
	}
}

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
		{"payos", `"DH7"`, `"DH7&reference=FT8&x=1"`, []string{`"accountNumber":"19354957"`, `"accountNumber":"19354957&amount=5000&code=00&currency=VND&desc=ok&description=DH7"`}},
		{"pay2s-ipn", `"orderInfo":"DH7"`, `"orderInfo":"DH7&orderType=pay2s&partnerCode=P&payType=qr&requestId=1&responseTime=1760414370&resultCode=0&transId=8"`,
			[]string{`"transId":"7"`, `"transId":"8&orderType=pay2s&partnerCode=P&payType=qr&requestId=1&responseTime=1760414370&resultCode=0&transId=7"`}},
	} {
		w := webtest.NewWorld(t)
		bank := w.Link("ACB", webtest.SomeAccount)
		add := app.SourceAdd{Provider: c.provider, Name: "x", Options: app.SourceOptions{}}
		if c.provider == "pay2s-ipn" {
			add.BankAccountID, add.Options.AccessKey = bank.ID, "AK1"
		}
		source, err := w.Service.AddSource(context.Background(), 1, add, time.Now())
		apptest.Must(t, err)
		body, _, _ := signedCall(source, strings.Replace(signedFields[c.provider], c.old, c.genuine, 1))
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
		body, _, _ = signedCall(source, strings.Replace(signedFields[c.provider], "DH7", "A & B = C&D 1=2 & =", -1))
		if got := w.Do("POST", source.URLPath(), body).Counts(t); got != webtest.Recorded {
			t.Errorf("%s: %+v", body, got)
		}
	}
}

// TestUnsignedFields: what payOS doesn't sign decides nothing.
func TestUnsignedFields(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", webtest.SomeAccount)
	source := w.Source("payos", "", "")
	body, _, _ := signedCall(source, payOSFields)
	for i, outer := range []string{`"code":"00","success":true`, `"code":"99","success":false`, `"amount":1,"orderCode":123,"reference":"TF230204212323"`, `"error":{"data":{}}`} {
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

// hostileJSON are bodies on which writers of JSON differ.
var hostileJSON = []string{
	"{}", `{"data":{}}`, `{"data":[]}`, `{"data":null}`, `{"b":1,"a":2,"B":3,"":4," ":5}`, `{"10":1,"9":2,"1":3,"01":4,"-1":5,"1.0":6,"4294967294":7,"4294967295":8,"4294967296":9,"1e3":10,"+1":11}`,
	`{"\ue000":1,"\ud83e\uddfe":2,"\uffff":3,"\ud800":4,"\udfff":5,"\ud800\ue000":6,"z":7}`, `{"a":"\ud83e","b":"\uddfe\ud83e","c":"\ud83e\ud83e\uddfe","d":"\ud83ex","e":"\uD83E\uDDFE"}`,
	`{"data":{"a":"\ud83e","b":"\udc00\udc00","\ud800":1}}`, `{"data":{"x":[{"b":"\ud83e","a":{"d":1,"c":2,"1":3,"0":4}}],"y":{"b":1},"z":true,"n":null,"u":"undefined","v":"null","f":false}}`,
	`{"a":[1.0,1e3,1E-7,0.000001,1e21,1e20,123456789012345678901,-0,-0.0,0e5,1e400,-1e400,1e-400,5e-324,1.7976931348623157e308,0.1,0.30000000000000004,9007199254740993,4.35,1.5e300]}`,
	`{"data":{"a":1e3,"b":-0,"c":1e400,"d":-1e400,"e":1.10,"f":1e21,"g":1e-7,"h":"1e3"}}`, `{"a":"</script>\u2028\u2029\u007f\u0080\u0000\u001f\b\f\n\r\t\"\\\/'"}`, "{\"a\":\"\u2028\u2029\u007f\ufeff</>&\"}",
	"\n{ \"b\" :\t[ ] ,\r\n \"a\" : { } }\n", `{"hasOwnProperty":1,"constructor":2,"toString":3,"length":4,"toJSON":5}`, `{"data":{"toJSON":1,"0":"x","00":"y"}}`,
}

// TestSignedAsByJavaScript compares what is signed with what node signs.
func TestSignedAsByJavaScript(t *testing.T) {
	t.Parallel()
	bodies := slices.Clone(hostileJSON)
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		bodies = append(bodies, `{"data":`+randomObject(random, 0)+`}`)
	}
	for _, v := range vectors(t) {
		if v.Provider == "casso-v2" || v.Provider == "payos" {
			bodies = append(bodies, v.Body)
		}
	}
	var input strings.Builder
	for _, body := range bodies {
		for _, kind := range []string{"casso", "payos"} {
			fmt.Fprintf(&input, "{\"kind\":%q,\"body\":%q}\n", kind, base64.StdEncoding.EncodeToString([]byte(body)))
		}
	}
	lines := strings.Split(strings.TrimSpace(string(nodeScript(t, input.String(), "signed.mjs"))), "\n")
	if len(lines) != 2*len(bodies) {
		t.Fatalf("%d lines for %d bodies", len(lines), len(bodies))
	}
	signedByNode := func(line string) (text []byte, ok bool) {
		var encoded *string
		apptest.Must(t, json.Unmarshal([]byte(line), &encoded))
		if encoded == nil {
			return nil, false
		}
		text, err := base64.StdEncoding.DecodeString(*encoded)
		apptest.Must(t, err)
		return text, true
	}
	agreed := 0
	for i, body := range bodies {
		if want, _ := signedByNode(lines[2*i]); true {
			if got, why := webtest.SignedJSON([]byte(body)); why.Code != "" || string(got) != string(want) {
				t.Errorf("Casso, %s:\n%s %s\n%s", body, got, why.Code, want)
			}
		}
		// payOS's own code fails on a list of anything but objects, or signs nothing of it.
		got, ok := webtest.SignedPayOS([]byte(body))
		if want, signed := signedByNode(lines[2*i+1]); ok && (!signed || string(got) != string(want)) {
			t.Errorf("payOS, %s:\n%s\n%s", body, got, want)
		} else if ok {
			agreed++
		}
	}
	if agreed < 500 {
		t.Errorf("only %d of payOS's texts were compared", agreed)
	}
}

// randomObject is an object of what hostileJSON is made of.
func randomObject(r *rand.Rand, depth int) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	seen, parts := map[string]bool{}, []string{}
	for range r.IntN(6) {
		key := pick("a", "b", "Z", "é", "1", "10", "2", "01", "4294967295", `\ud83e\uddfe`, `\uffff`, `\ud800`, "amount", "code")
		if seen[key] {
			continue
		}
		seen[key] = true
		value := pick(`null`, `true`, `""`, `"null"`, `"x&y=z"`, `"\udc00"`, `"\u2028\u0001\""`, `"Đơn 🧾"`, fmt.Sprint(r.IntN(1e9)), fmt.Sprint(r.Float64()*1e25), fmt.Sprint(r.NormFloat64()*1e-6), fmt.Sprintf("%de%d", r.IntN(100), r.IntN(40)-20))
		if n := r.IntN(5); n == 0 && depth < 3 {
			value = randomObject(r, depth+1)
		} else if n == 1 && depth < 3 {
			value = "[" + randomObject(r, depth+1) + "," + randomObject(r, depth+1) + "]"
		}
		parts = append(parts, fmt.Sprintf("\"%s\":%s", key, value))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// Casso documents its second webhook by programs whose JSON libraries escape
// more than one another. Each of their writings is the call; what none of them
// writes isn't, nor is any of them with another value.
func TestCassoWritings(t *testing.T) {
	t.Parallel()
	source := signer("casso-v2")
	const description = "Đơn <a&b> 1/2 \\/ \"x\" \u2028😀\u007f\u0001"
	fields := strings.Replace(cassoFields, `"DH7"`, webtest.Quoted(description), 1)
	call := func(signed string) http.Header {
		text := strings.Replace(`{"data":{"accountNumber":"19354957","amount":5000,"bankAbbreviation":"ACB","description":DESCRIPTION,"id":7,"reference":"FT7","transactionDateTime":"2025-10-14 10:59:30"},"error":0}`, "DESCRIPTION", signed, 1)
		mac := hmac.New(sha512.New, []byte(source.Secret))
		fmt.Fprintf(mac, "1760414370123.%s", text)
		return asHeader([]string{"X-Casso-Signature", "t=1760414370123,v1=" + hex.EncodeToString(mac.Sum(nil))})
	}
	for _, c := range []struct {
		name, signed string
		good         bool
	}{
		{"JavaScript, C#, Java", "\"Đơn <a&b> 1/2 \\\\/ \\\"x\\\" \u2028😀\u007f\\u0001\"", true},
		{"PHP", "\"\\u0110\\u01a1n <a&b> 1\\/2 \\\\\\/ \\\"x\\\" \\u2028\\ud83d\\ude00\u007f\\u0001\"", true},
		{"Go", "\"Đơn \\u003ca\\u0026b\\u003e 1/2 \\\\/ \\\"x\\\" \\u2028😀\u007f\\u0001\"", true},
		{"Python", "\"\\u0110\\u01a1n <a&b> 1/2 \\\\/ \\\"x\\\" \\u2028\\ud83d\\ude00\u007f\\u0001\"", true},
		{"Go by itself", webtest.Quoted(description), true},
		{"upper-case digits", "\"Đơn \\u003Ca\\u0026b\\u003E 1/2 \\\\/ \\\"x\\\" \\u2028😀\u007f\\u0001\"", false},
		{"some of it", "\"Đơn \\u003ca&b> 1/2 \\\\/ \\\"x\\\" \u2028😀\u007f\\u0001\"", false},
		{"another text as JavaScript writes it", "\"Don <a&b> 1/2 \\\\/ \\\"x\\\" \u2028😀\u007f\\u0001\"", false},
		{"another text as PHP writes it", "\"\\u0110\\u01a1n <a&b> 1\\/3 \\\\\\/ \\\"x\\\" \\u2028\\ud83d\\ude00\u007f\\u0001\"", false},
		{"the escapes as text", "\"\\\\u0110\\\\u01a1n <a&b> 1/2 \\\\/ \\\"x\\\" \u2028😀\u007f\\u0001\"", false},
	} {
		why := webtest.RefusalOf(source, []byte(fields), call(c.signed), time.Now())
		if (why.Code == "") != c.good || !c.good && why.Code != app.RefusalSignature {
			t.Errorf("signed as %s: %+v", c.name, why)
		}
		// However the body itself is escaped, its values are what is signed.
		for _, body := range []string{strings.ReplaceAll(fields, "/", `\/`), strings.ReplaceAll(fields, "Đ", `\u0110`)} {
			if why := webtest.RefusalOf(source, []byte(body), call(c.signed), time.Now()); (why.Code == "") != c.good {
				t.Errorf("signed as %s, sent as %s: %+v", c.name, body, why)
			}
		}
		other := strings.Replace(fields, "5000", "50000", 1)
		if why := webtest.RefusalOf(source, []byte(other), call(c.signed), time.Now()); why.Code != app.RefusalSignature {
			t.Errorf("signed as %s, with another amount: %+v", c.name, why)
		}
	}
}
