package app_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"hash"
	"html"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"baoco/app"

	"github.com/google/go-cmp/cmp"
)

const (
	checkedSecret = "whsec_AwoRGB8mLTQ7QklQV15lbHN6gYiPlp2kq7K5wMfO1dw="
	plusSecret    = "whsec_+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/8="
)

var checkedPayload = app.Payload{
	ID: "3521", Gateway: "ACB", TransactionDate: "2025-10-10 10:59:30", TransactionNumber: "FT25314680", AccountNumber: "0019354957",
	Content: "Đơn hàng a/b <1> & “2”", TransferType: app.In, TransferAmount: 200000,
}

func hmacOf(h func() hash.Hash, key, message string) []byte {
	mac := hmac.New(h, []byte(key))
	mac.Write([]byte(message))
	return mac.Sum(nil)
}

// codes are those of mistakes, with a plus for each note.
func codes(r app.SignatureCheck) (list []string) {
	for _, m := range r.Mistakes {
		list = append(list, m.Code)
	}
	for _, m := range r.Notes {
		list = append(list, "+"+m.Code)
	}
	return list
}

// Each of the usual mistakes is found by what it does to a call.
func TestCheckSignature(t *testing.T) {
	sent := string(checkedPayload.Body(checkedSecret))
	right := app.Signature(checkedSecret, []byte(sent))
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(checkedSecret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	checksum := checkedPayload.Checksum(checkedSecret)
	standard := app.StandardSignature(checkedSecret, "dlv_1_a", time.Unix(1763000000, 0), []byte(sent))
	raw := func(sum []byte) string { return hex.EncodeToString(sum) }
	plain := func(s string) string { sum := sha256.Sum256([]byte(s)); return raw(sum[:]) }
	rewritten := func(escapeHTML bool, indent string) string {
		var v any
		if err := json.Unmarshal([]byte(sent), &v); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(escapeHTML)
		e.SetIndent("", indent)
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	indented := func() string {
		var b bytes.Buffer
		if err := json.Indent(&b, []byte(sent), "", "    "); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	ascii := func() string {
		var b strings.Builder
		for _, r := range sent {
			if r < 0x80 {
				b.WriteRune(r)
			} else {
				b.WriteString(`\u`)
				b.WriteString(hex.EncodeToString([]byte{byte(r >> 8), byte(r)}))
			}
		}
		return b.String()
	}()
	latin := func() string {
		var b strings.Builder
		for i := range len(sent) {
			b.WriteRune(rune(sent[i]))
		}
		return b.String()
	}()
	single := strings.TrimSuffix(strings.TrimPrefix(sent, `{"transactions":[`), `]}`)
	unsigned := strings.Replace(single, `,"checksum":"`+checksum+`"`, "", 1)
	for _, c := range []struct {
		name                    string
		secret, signature, body string // empty: as they should be
		want                    []string
		at                      int // the byte of the difference; 0: none
	}{
		{name: "right"},
		{name: "prefix", signature: "sha256=" + right, want: []string{"+signature_prefix"}},
		{name: "capitals", signature: strings.ToUpper(right), want: []string{"+signature_capitals"}},
		{name: "prefix and capitals", signature: "SHA256=" + strings.ToUpper(right), want: []string{"+signature_prefix", "+signature_capitals"}},
		{name: "a line of a log", signature: ` X-Webhook-Signature: "` + right + "\"\r\n"},

		{name: "line break", secret: checkedSecret + "\n", want: []string{"secret_space"}},
		{name: "spaces", secret: "  " + checkedSecret + "\t", want: []string{"secret_space"}},
		{name: "quotes", secret: `"` + checkedSecret + `"`, want: []string{"secret_quotes"}},
		{name: "quotes and a line break", secret: "'" + checkedSecret + "'\r\n", want: []string{"secret_space", "secret_quotes"}},
		{name: "a line of a file", secret: `export BAOCO_SECRET="` + checkedSecret + `"`, want: []string{"secret_name"}},
		{name: "wrapped", secret: checkedSecret[:30] + "\n" + checkedSecret[30:], want: []string{"secret_space"}},
		{name: "plus signs", secret: strings.ReplaceAll(plusSecret, "+", " "), signature: app.Signature(plusSecret, []byte(sent)), want: []string{"secret_plus"}},
		{name: "no padding", secret: strings.TrimSuffix(checkedSecret, "="), want: []string{"secret_padding"}},
		{name: "no whsec_", secret: strings.TrimPrefix(checkedSecret, "whsec_"), want: []string{"secret_prefix"}},
		{name: "no whsec_, no padding", secret: strings.TrimSuffix(strings.TrimPrefix(checkedSecret, "whsec_"), "="), want: []string{"secret_padding", "secret_prefix"}},
		{name: "decoded", secret: string(decoded), want: []string{"secret_decoded"}},
		{name: "decoded, in hexadecimal", secret: raw(decoded), want: []string{"secret_decoded"}},
		{name: "an API key", secret: "baoco_0123456789", want: []string{"secret_shape"}},
		{name: "another", secret: "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 32)), want: []string{"unknown"}},

		{name: "value of the key without whsec_", signature: app.Signature(strings.TrimPrefix(checkedSecret, "whsec_"), []byte(sent)), want: []string{"key_without_prefix"}},
		{name: "value of the decoded key", signature: app.Signature(string(decoded), []byte(sent)), want: []string{"key_decoded"}},
		{name: "value in base64", signature: base64.StdEncoding.EncodeToString(hmacOf(sha256.New, checkedSecret, sent)), want: []string{"signature_base64"}},
		{name: "value without a key", signature: plain(sent), want: []string{"key_none"}},
		{name: "value of both joined", signature: plain(checkedSecret + sent), want: []string{"key_joined"}},
		{name: "value of both joined, the body first", signature: plain(sent + checkedSecret), want: []string{"key_joined"}},
		{name: "value with key and body swapped", signature: app.Signature(sent, []byte(checkedSecret)), want: []string{"key_swapped"}},
		{name: "SHA-1", signature: raw(hmacOf(sha1.New, checkedSecret, sent)), want: []string{"other_hash"}},
		{name: "MD5", signature: raw(hmacOf(md5.New, checkedSecret, sent)), want: []string{"other_hash"}},
		{name: "SHA-512", signature: raw(hmacOf(sha512.New, checkedSecret, sent)), want: []string{"other_hash"}},
		{name: "SHA-384", signature: raw(hmacOf(sha512.New384, checkedSecret, sent)), want: []string{"other_hash"}},
		{name: "the checksum", signature: checksum, want: []string{"signature_is_checksum"}},
		{name: "the checksum, made anew", signature: checksum, body: `{"transactions":[` + unsigned + `]}`, want: []string{"signature_is_checksum"}},
		{name: "a wrong secret and a value made wrong", secret: checkedSecret + " ", signature: app.Signature(string(decoded), []byte(sent)), want: []string{"secret_space", "key_decoded"}},
		{name: "the secret as the signature", signature: `"` + checkedSecret + `"`, want: []string{"signature_is_secret", "secret_right"}},
		{name: "a signature that was cut", signature: right[:60], want: []string{"signature_shape", "secret_right"}},
		{name: "that of another call", signature: app.Signature(checkedSecret, []byte("x")), want: []string{"secret_right"}},

		{name: "line break at the end", body: sent + "\n", want: []string{"body_line_break"}, at: len(sent) + 1},
		{name: "space before", body: " " + sent, want: []string{"body_line_break"}, at: 1},
		{name: "BOM", body: "\ufeff" + sent, want: []string{"body_bom"}, at: 1},
		{name: "BOM and line break", body: "\ufeff" + sent + "\r\n", want: []string{"body_bom", "body_line_break"}, at: 1},
		{name: "indented", body: indented(), want: []string{"body_spaces"}, at: 2},
		{name: "a space after each colon", body: strings.ReplaceAll(sent, `":`, `": `), want: []string{"body_spaces"}, at: 17},
		{name: "slashes", body: strings.ReplaceAll(sent, "/", `\/`), want: []string{"body_slashes"}, at: strings.IndexByte(sent, '/') + 1},
		{name: "\\u", body: ascii, want: []string{"body_unicode"}, at: strings.Index(sent, "Đ") + 1},
		{name: "json_encode", body: strings.ReplaceAll(ascii, "/", `\/`), want: []string{"body_slashes", "body_unicode"}, at: strings.Index(sent, "Đ") + 1},
		{name: "json.dumps", body: strings.ReplaceAll(strings.ReplaceAll(ascii, `":`, `": `), `,"`, `, "`), want: []string{"body_spaces", "body_unicode"}, at: 17},
		{name: "sorted", body: rewritten(false, ""), want: []string{"body_order"}, at: 20},
		{name: "sorted, indented, escaped", body: rewritten(true, "\t"), want: []string{"body_spaces", "body_unicode", "body_order"}, at: 2},
		{name: "a number as a text", body: strings.Replace(sent, ":200000", `:"200000"`, 1), want: []string{"body_values"}, at: strings.Index(sent, "200000") + 1},
		{name: "a checksum that was lost", body: strings.Replace(sent, checksum, "", 1), want: []string{"body_changed"}, at: strings.Index(sent, checksum) + 1},
		{name: "base64", body: base64.StdEncoding.EncodeToString([]byte(sent)), want: []string{"body_base64"}, at: 1},
		{name: "a JSON string", body: string(app.AppendJSONString(nil, sent)), want: []string{"body_string"}, at: 1},
		{name: "a form", body: url.QueryEscape(sent), want: []string{"body_form"}, at: 1},
		{name: "HTML", body: html.EscapeString(sent), want: []string{"body_html"}, at: 2},
		{name: "backslashes", body: strings.ReplaceAll(sent, `"`, `\"`), want: []string{"body_backslashes"}, at: 2},
		{name: "Latin-1", body: latin, want: []string{"body_encoding"}, at: strings.Index(sent, "Đ") + 1},
		{name: "the list only", body: strings.TrimSuffix(strings.TrimPrefix(sent, `{"transactions":`), `}`), want: []string{"body_part"}, at: 1},
		{name: "the transaction only", body: single, want: []string{"body_part"}, at: 3},
		{name: "the transaction without its checksum", body: unsigned, want: []string{"body_part"}, at: 3},
		{name: "empty", body: "\x00empty", want: []string{"body_empty"}},
		{name: "an object", body: "[object Object]", want: []string{"body_object"}},
		{name: "an array of PHP", body: "Array\n", want: []string{"body_object"}},
		{name: "secret and body", secret: checkedSecret + "\n", body: sent + "\n", want: []string{"secret_space", "body_line_break"}, at: len(sent) + 1},

		{name: "standard", signature: standard},
		{name: "standard, two of them", signature: "v1,AAAA " + standard},
		{name: "standard in hexadecimal", signature: raw(hmacOf(sha256.New, string(decoded), "dlv_1_a.1763000000."+sent)), want: []string{"signature_is_standard"}},
		{name: "standard under the whole secret", signature: "v1," + base64.StdEncoding.EncodeToString(hmacOf(sha256.New, checkedSecret, "dlv_1_a.1763000000."+sent)), want: []string{"standard_key"}},
		{name: "standard over the body", signature: "v1," + base64.StdEncoding.EncodeToString(hmacOf(sha256.New, string(decoded), sent)), want: []string{"standard_message"}},
		{name: "standard and a line break", signature: standard, body: sent + "\n", want: []string{"body_line_break"}, at: len(sent) + 1},
		{name: "standard, nothing in it", signature: "v1,", want: []string{"signature_shape", "secret_right"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			claim := app.SignatureClaim{Body: []byte(sent), Signature: right, Secret: checkedSecret, MessageID: "dlv_1_a", Timestamp: "1763000000"}
			if c.secret != "" {
				claim.Secret = c.secret
			}
			if c.signature != "" {
				claim.Signature = c.signature
			}
			if c.body != "" {
				claim.Body = []byte(strings.TrimPrefix(c.body, "\x00empty"))
			}
			r, err := app.CheckSignature(claim)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, codes(r)); diff != "" {
				t.Error(diff)
			}
			if wrong := slices.ContainsFunc(c.want, func(code string) bool { return code[0] != '+' }); r.Matches == wrong {
				t.Errorf("matches: %v", r.Matches)
			}
			at := 0
			if r.Difference != nil {
				at = r.Difference.Byte
			}
			if at != c.at {
				t.Errorf("a difference at %d, want %d: %+v", at, c.at, r.Difference)
			}
			for _, m := range append(r.Mistakes, r.Notes...) {
				if m.Text.EN == "" || m.Text.VI == "" || strings.Contains(m.Text.EN+m.Text.VI, "%!") {
					t.Errorf("%s: %+v", m.Code, m.Text)
				}
			}
		})
	}
}

func TestCheckSignatureOfStandardNeedsHeaders(t *testing.T) {
	sent := checkedPayload.Body(checkedSecret)
	standard := app.StandardSignature(checkedSecret, "dlv_1_a", time.Unix(1763000000, 0), sent)
	for _, c := range []struct {
		id, timestamp, want string
	}{{"", "1763000000", "standard_needs_headers"}, {"dlv_1_a", "", "standard_needs_headers"}, {"dlv_1_a", "1763000000123", "standard_timestamp"}} {
		r, err := app.CheckSignature(app.SignatureClaim{Body: sent, Signature: standard, Secret: checkedSecret, MessageID: c.id, Timestamp: c.timestamp})
		if err != nil || r.Matches || !slices.Contains(codes(r), c.want) {
			t.Errorf("%+v: %v, %v", c, codes(r), err)
		}
	}
}

// The checksums are checked too, each under the secret that signed the call.
func TestCheckSignatureChecksums(t *testing.T) {
	sent := checkedPayload.Body(checkedSecret)
	for _, c := range []struct {
		name, secret, body string
		want               bool
	}{
		{"right", checkedSecret, string(sent), true},
		{"the secret in quotes", `"` + checkedSecret + `"`, string(sent), true},
		{"another amount", checkedSecret, strings.Replace(string(sent), "200000", "200001", 1), false},
		{"another secret", "whsec_x", string(sent), false},
	} {
		r, err := app.CheckSignature(app.SignatureClaim{Body: []byte(c.body), Signature: app.Signature(checkedSecret, sent), Secret: c.secret})
		if diff := cmp.Diff([]app.ChecksumCheck{{TransactionID: "3521", Matches: c.want}}, r.Checksums); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", c.name, err, diff)
		}
	}
}

// What can't be told from something else on a screen is named.
func TestDifferenceIsVisible(t *testing.T) {
	sent := checkedPayload.Body(checkedSecret)
	r, err := app.CheckSignature(app.SignatureClaim{Body: append([]byte("\ufeff"), append(sent, "\r\n"...)...), Signature: app.Signature(checkedSecret, sent), Secret: checkedSecret})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&app.Difference{Byte: 1, Sent: `{"transactions":`, Seen: `‹U+FEFF›{"transaction`}, r.Difference); diff != "" {
		t.Error(diff)
	}
}

func TestCheckSignatureRefuses(t *testing.T) {
	for _, c := range []struct {
		claim app.SignatureClaim
		field string
	}{
		{app.SignatureClaim{Secret: "x"}, "signature"},
		{app.SignatureClaim{Secret: "x", Signature: " "}, "signature"},
		{app.SignatureClaim{Signature: "x"}, "secret"},
		{app.SignatureClaim{Signature: strings.Repeat("x", 2001), Secret: "x"}, "signature"},
		{app.SignatureClaim{Signature: "x", Secret: strings.Repeat("x", 1001)}, "secret"},
		{app.SignatureClaim{Signature: "x", Secret: "x", Body: make([]byte, app.MaxCheckedBody+1)}, "body"},
	} {
		_, err := app.CheckSignature(c.claim)
		if app.CodeOf(err) != app.CodeValidation || !strings.Contains(err.Error(), c.field) || strings.Contains(err.Error(), "xx") {
			t.Errorf("%s: %v", c.field, err)
		}
	}
}

// FuzzCheckSignature: a call matches exactly where its signature is made as the
// interface says, nothing that is entered comes back as a text, and no body
// takes the checker apart.
func FuzzCheckSignature(f *testing.F) {
	sent := checkedPayload.Body(checkedSecret)
	right := app.Signature(checkedSecret, sent)
	for _, body := range []string{
		string(sent), "", "{}", "[]", "null", `"`, `{"transactions":[{}]}`, `{"transactions":[{"transferAmount":1}]}`, `{"transactions":[{"transferAmount":1,"id":[]}]}`, `{"transactions":null}`,
		"\ufeff{", strings.Repeat("[", 100), `{"a":1,"a":{"b":[1,"x",{}]}}`, "eyJ0IjoxfQ==", "%7B%7D=", "\xff\xc4", "Đ", `\"`, "&quot;", "]", `{"transactions":[{"transferAmount":1}],"x":[{"transferAmount":"2"}]} `,
	} {
		f.Add([]byte(body), right, checkedSecret, "dlv_1_a", "1763000000")
		f.Add([]byte(body), "sha256="+strings.ToUpper(right), " '"+checkedSecret+"'\n", "", "")
		f.Add([]byte(body), "v1,AAAA v1, x", "AwoRGB8mLTQ7QklQV15lbHN6gYiPlp2kq7K5wMfO1dw", "dlv_", "17630000000000")
	}
	f.Fuzz(func(t *testing.T, body []byte, signature, secret, id, timestamp string) {
		claim := app.SignatureClaim{Body: body, Signature: signature, Secret: secret, MessageID: id, Timestamp: timestamp}
		r, err := app.CheckSignature(claim)
		if err != nil {
			if app.CodeOf(err) != app.CodeValidation {
				t.Fatal(err)
			}
			return
		}
		if r.Matches != (len(r.Mistakes) == 0) {
			t.Errorf("matches %v with %v", r.Matches, codes(r))
		}
		if own := app.Signature(secret, body); r.Matches && !strings.Contains(strings.ToLower(signature), own) && !strings.Contains(signature, "v1,") {
			t.Errorf("%q matches %q", signature, own)
		}
		if d := r.Difference; d != nil && (!utf8.ValidString(d.Before+d.Sent+d.Seen) || d.Byte < 1 || d.Byte > len(body)+1) {
			t.Errorf("%+v", d)
		}
		// What is made right is found right.
		claim.Signature = app.Signature(secret, body)
		if r, err := app.CheckSignature(claim); err == nil && !r.Matches {
			t.Errorf("a right signature: %v", codes(r))
		}
	})
}
