package verify_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/verify"

	"github.com/google/go-cmp/cmp"
)

const checkedSecret = "whsec_AwoRGB8mLTQ7QklQV15lbHN6gYiPlp2kq7K5wMfO1dw="

// checkedAt is when calls are checked, a minute after they were made.
var checkedAt = time.Unix(1763000060, 0)

var checkedPayload = delivery.Payload{
	Code: app.PaymentCode{Text: "DH001234", Read: true},
	ID:   "3521", Gateway: "ACB", TransactionDate: "2025-10-10 10:59:30", TransactionNumber: "FT25314680", AccountNumber: "0019354957",
	Content: "Đơn hàng a/b <1> & “2”", TransferType: app.In, TransferAmount: 200000,
	PaymentRequest: app.PaymentState{Due: 200001, ID: 7, Overpaid: 3, Received: 199999, Reference: `Đơn "7"/2025`,
		Status: app.PaymentUnderpaid},
}

// codes are those of mistakes, with a plus for each note.
func codes(r verify.Result) (list []string) {
	for _, m := range r.Mistakes {
		list = append(list, m.Code)
	}
	for _, m := range r.Notes {
		list = append(list, "+"+m.Code)
	}
	return list
}

// Each of the usual mistakes is found by what it does to a call, with nothing
// known but what was entered.
func TestCheck(t *testing.T) {
	sent := string(checkedPayload.Body(checkedSecret))
	right := delivery.Signature(checkedSecret, []byte(sent))
	sum, err := hex.DecodeString(right)
	if err != nil {
		t.Fatal(err)
	}
	standard := delivery.StandardSignature(checkedSecret, "dlv_1_a", time.Unix(1763000000, 0), []byte(sent))
	var indented bytes.Buffer
	if err := json.Indent(&indented, []byte(sent), "", "    "); err != nil {
		t.Fatal(err)
	}
	var read any
	if err := json.Unmarshal([]byte(sent), &read); err != nil {
		t.Fatal(err)
	}
	sorted, err := json.Marshal(read) // in another order, with other escapes
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name                    string
		secret, signature, body string // empty: as they should be
		want                    []string
		at                      int // the byte of the difference; 0: none
	}{
		{name: "right"},
		{name: "capitals", signature: strings.ToUpper(right)},
		{name: "space around the value", signature: " " + right + "\r\n"},
		{name: "prefix", signature: "sha256=" + right, want: []string{"+signature_prefix"}},
		{name: "prefix in capitals", signature: "SHA256=" + right, want: []string{"+signature_prefix"}},

		{name: "line break", secret: checkedSecret + "\n", want: []string{"secret_space"}},
		{name: "spaces", secret: "  " + checkedSecret + "\t", want: []string{"secret_space"}},
		{name: "wrapped", secret: checkedSecret[:30] + "\n" + checkedSecret[30:], want: []string{"secret_space"}},
		{name: "quotes", secret: `"` + checkedSecret + `"`, want: []string{"secret_space"}},
		{name: "quotes and a line break", secret: "'" + checkedSecret + "'\r\n", want: []string{"secret_space"}},
		{name: "another", secret: "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 32)), want: []string{"unknown"}},

		{name: "value in base64", signature: base64.StdEncoding.EncodeToString(sum), want: []string{"signature_base64"}},
		{name: "the secret as the signature", signature: checkedSecret, want: []string{"signature_shape"}},
		{name: "the value of webhook-id", signature: "dlv_1_a", want: []string{"signature_shape"}},
		{name: "a signature that was cut", signature: right[:60], want: []string{"signature_shape"}},
		{name: "that of another call", signature: delivery.Signature(checkedSecret, []byte("x")), want: []string{"unknown"}},

		{name: "line break at the end", body: sent + "\n", want: []string{"body_values"}, at: len(sent) + 1},
		{name: "space before", body: " " + sent, want: []string{"body_values"}, at: 1},
		{name: "indented", body: indented.String(), want: []string{"body_values"}, at: 2},
		{name: "json_encode", body: strings.ReplaceAll(sent, "/", `\/`), want: []string{"body_values"}, at: strings.IndexByte(sent, '/') + 1},
		{name: "json.dumps", body: strings.ReplaceAll(sent, "Đ", `\u0110`), want: []string{"body_values"}, at: strings.Index(sent, "Đ") + 1},
		{name: "another library", body: string(sorted), want: []string{"body_values"}, at: strings.Index(sent, `"id"`) + 2},
		{name: "another amount due", body: strings.Replace(sent, "200001", "200002", 1), want: []string{"unknown"}},
		{name: "a byte order mark before the body", body: "\ufeff" + sent, want: []string{"body_values"}, at: 1},
		{name: "empty", body: "\x00empty", want: []string{"unknown"}},
		{name: "not JSON", body: "[object Object]", want: []string{"unknown"}},
		{name: "secret and body", secret: checkedSecret + "\n", body: sent + "\n",
			want: []string{"secret_space", "body_values"}, at: len(sent) + 1},

		{name: "standard", signature: standard},
		{name: "standard, two of them", signature: "v1,AAAA " + standard},
		{name: "standard and a line break", signature: standard, body: sent + "\n", want: []string{"body_values"}, at: len(sent) + 1},
		{name: "standard, nothing in it", signature: "v1,", want: []string{"unknown"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			claim := verify.Claim{Body: []byte(sent), Signature: right, Secret: checkedSecret, MessageID: "dlv_1_a", Timestamp: "1763000000"}
			if c.secret != "" {
				claim.Secret = c.secret
			}
			if c.signature != "" {
				claim.Signature = c.signature
			}
			if c.body != "" {
				claim.Body = []byte(strings.TrimPrefix(c.body, "\x00empty"))
			}
			r, err := verify.Check(claim, delivery.SignatureFacts{}, checkedAt)
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
			checkTexts(t, r)
		})
	}
}

// checkTexts fails for a mistake without a text, or with one that names nothing.
func checkTexts(t *testing.T, r verify.Result) {
	t.Helper()
	for _, m := range append(r.Mistakes, r.Notes...) {
		if m.Text.EN == "" || m.Text.VI == "" || strings.Contains(m.Text.EN+m.Text.VI, "%") {
			t.Errorf("%s: %+v", m.Code, m.Text)
		}
	}
}

// What an account knows tells which webhook signed a call, which secret was
// meant, and what was sent.
func TestCheckByFacts(t *testing.T) {
	shop, books := delivery.Webhook{ID: 1, Name: "shop"}, delivery.Webhook{ID: 2, Name: "books"}
	const next, former, other, booksSecret = "whsec_next", "whsec_former", "whsec_other", "whsec_books"
	secrets := []delivery.StoredSecret{
		{Webhook: books, Secret: booksSecret, Signs: true},
		{Webhook: shop, Secret: former},
		{Webhook: shop, Secret: checkedSecret, Signs: true},
		{Webhook: shop, Secret: next},
	}
	body := func(secret string) string { return string(checkedPayload.Body(secret)) }
	changed := strings.Replace(body(checkedSecret), "Đơn", "Don", 1)
	atContent := strings.Index(changed, "Don") + 1
	nobody := strings.Repeat("0", 64)
	for _, c := range []struct {
		name      string
		body      string // empty: as it was sent under checkedSecret
		signature string // the secret that made it over what was sent, a value, or empty
		secret    string
		from      delivery.Webhook // the webhook that the facts name; zero: none
		unsent    bool             // what was sent isn't known
		lost      bool             // the webhook's secrets are lost
		want      []string
		at        int
	}{
		{name: "right", signature: checkedSecret, secret: checkedSecret, from: shop},
		{name: "no secret", signature: checkedSecret, from: shop},
		{name: "no signature", from: shop},
		{name: "no signature, changed", body: changed, from: shop, want: []string{"body_changed"}, at: atContent},
		{name: "no signature, an empty body", body: "\n", from: shop, want: []string{"body_changed"}, at: 1},
		{name: "changed", body: changed, signature: checkedSecret, secret: checkedSecret, want: []string{"body_changed"}, at: atContent},
		{name: "changed, quotes", body: changed, signature: checkedSecret, secret: "'" + checkedSecret + "'",
			want: []string{"secret_space", "body_changed"}, at: atContent},
		{name: "a number as a text", body: strings.Replace(body(checkedSecret), ":200000", `:"200000"`, 1), signature: checkedSecret,
			secret: checkedSecret,
			want:   []string{"body_changed"}, at: strings.Index(body(checkedSecret), "200000") + 1},
		{name: "another webhook's secret", signature: checkedSecret, secret: booksSecret, from: shop, want: []string{"secret_other"}},
		{name: "the next secret", signature: checkedSecret, secret: next, from: shop, want: []string{"secret_rotated"}},
		{name: "the next secret with a line break", signature: checkedSecret, secret: next + "\n", from: shop, want: []string{"secret_rotated"}},
		{name: "the former secret", signature: checkedSecret, secret: former, from: shop, want: []string{"secret_rotated"}},
		{name: "another secret", signature: checkedSecret, secret: other, from: shop, want: []string{"secret_other"}},
		{name: "another secret, nothing known of the call", signature: checkedSecret, secret: other, unsent: true,
			want: []string{"secret_other"}},
		{name: "another secret, changed", body: changed, signature: checkedSecret, secret: other, from: shop,
			want: []string{"secret_other", "body_changed"}, at: atContent},
		{name: "neither secret nor signature", signature: nobody, secret: other, from: shop, want: []string{"unknown"}},
		{name: "nobody's signature", signature: nobody, secret: checkedSecret, from: shop, want: []string{"unknown"}},
		{name: "nobody's signature, nothing else", signature: nobody, from: shop, unsent: true, want: []string{"unknown"}},
		{name: "another webhook's call", signature: checkedSecret, secret: other, from: books, want: []string{"secret_other"}},
		{name: "another webhook's call, no secret", signature: checkedSecret, from: books, want: []string{"secret_other"}},
		{name: "another webhook's call, its secret", signature: checkedSecret, secret: checkedSecret, from: books},
		{name: "a call before the rotation", body: body(former), signature: former, secret: checkedSecret, from: shop,
			want: []string{"secret_rotated"}},
		{name: "a call before the rotation, no secret", body: body(former), signature: former, from: shop, want: []string{"secret_rotated"}},
		{name: "a call before the rotation, its secret", body: body(former), signature: former, secret: former, from: shop},
		{name: "a lost secret", from: shop, lost: true, want: []string{"secret_lost"}},
		{name: "a lost secret, no signature in the header", signature: "x", from: shop, lost: true, want: []string{"secret_lost"}},
		{name: "a lost secret, signed with no key", body: body(""), signature: delivery.Signature("", []byte(body(""))), from: shop, lost: true,
			want: []string{"secret_lost"}},
		{name: "a lost secret, another entered", signature: checkedSecret, secret: other, from: shop, lost: true, want: []string{"secret_lost"}},
		{name: "a lost secret that the receiver has", signature: checkedSecret, secret: checkedSecret, from: shop, lost: true},
	} {
		claim := verify.Claim{Body: []byte(c.body), Signature: c.signature, Secret: c.secret}
		claim.DeliveryID = 1
		if c.body == "" {
			claim.Body = []byte(body(checkedSecret))
		}
		if strings.HasPrefix(c.signature, "whsec_") {
			claim.Signature = delivery.Signature(c.signature, []byte(body(c.signature)))
		}
		facts := delivery.SignatureFacts{Secrets: secrets}
		if !c.unsent {
			facts.Sent = &checkedPayload
		}
		if c.from.ID != 0 {
			facts.Webhook = &c.from
		}
		if c.lost {
			facts.Secrets = secrets[:1]
		}
		r, err := verify.Check(claim, facts, checkedAt)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, codes(r)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if at := r.Difference; (at == nil) != (c.at == 0) || at != nil && at.Byte != c.at {
			t.Errorf("%s: a difference at %+v, want %d", c.name, at, c.at)
		}
		checkTexts(t, r)
	}
}

// webhook-signature needs its two other headers, and a timestamp of the present.
func TestCheckStandardHeaders(t *testing.T) {
	sent := checkedPayload.Body(checkedSecret)
	sentAt := time.Unix(1763000000, 0)
	standard := delivery.StandardSignature(checkedSecret, "dlv_1_a", sentAt, sent)
	for _, c := range []struct {
		id, timestamp string
		now           time.Time
		want          []string
	}{
		{"dlv_1_a", "1763000000", sentAt.Add(5 * time.Minute), nil},
		{"dlv_1_a", "1763000000", sentAt.Add(5*time.Minute + 1), []string{"+timestamp_expired"}},
		{"dlv_1_a", "1763000000", sentAt.Add(-6 * time.Minute), []string{"+timestamp_expired"}},
		{" dlv_1_a ", " 1763000000 ", sentAt, nil},
		{"dlv_1_a", "1763000000123", sentAt, []string{"unknown", "+timestamp_expired"}},
		{"dlv_1_b", "1763000000", sentAt, []string{"unknown"}},
		{"", "1763000000", sentAt, []string{"signature_shape"}},
		{"dlv_1_a", "", sentAt, []string{"signature_shape"}},
	} {
		r, err := verify.Check(verify.Claim{Body: sent, Signature: standard, Secret: checkedSecret, MessageID: c.id, Timestamp: c.timestamp},
			delivery.SignatureFacts{}, c.now)
		if diff := cmp.Diff(c.want, codes(r)); err != nil || diff != "" {
			t.Errorf("%+v: %v\n%s", c, err, diff)
		}
		checkTexts(t, r)
	}
}

// A difference shows whole characters, names those that nobody sees or that look
// like another, and shows no secret.
func TestDifference(t *testing.T) {
	sent := string(checkedPayload.Body(checkedSecret))
	at := func(part string) int { return strings.Index(sent, part) + 1 }
	for _, c := range []struct {
		name, body string
		want       *verify.Difference
	}{
		{"a byte order mark", "\ufeff" + sent + "\r\n", &verify.Difference{Byte: 1, Sent: `{"transactions":`, Seen: `‹U+FEFF›{"transactions"`}},
		{"a character before", strings.Replace(sent, "1>", "2>", 1),
			&verify.Difference{Byte: at("1>"), Before: "ơn hàng a/b <", Sent: "1> & “2”\",\"trans", Seen: "2> & “2”\",\"trans"}},
		{"within a character", strings.Replace(sent, "“", "”", 1),
			&verify.Difference{Byte: at("“") + 2, Before: "hàng a/b <1> & ", Sent: "“2”\",\"transferTy", Seen: "”2”\",\"transferTy"}},
		{"a combining mark", strings.Replace(sent, "hàng", "ha\u0300ng", 1),
			&verify.Difference{Byte: at("àng"), Before: `ontent":"Đơn h`, Sent: "àng a/b <1> & “2", Seen: "a‹U+0300›ng a/b <1> & “"}},
		{"not UTF-8", strings.Replace(sent, "Đ", "\xd0", 1),
			&verify.Difference{Byte: at("Đ"), Before: `957","content":"`, Sent: "Đơn hàng a/b <1>", Seen: "‹D0›ơn hàng a/b <1>"}},
		{"a secret in the body", sent + checkedSecret, nil},
	} {
		claim := verify.Claim{Body: []byte(c.body), Signature: delivery.Signature(checkedSecret, []byte(sent)), Secret: checkedSecret}
		r, err := verify.Check(claim, delivery.SignatureFacts{Sent: &checkedPayload}, checkedAt)
		if diff := cmp.Diff(c.want, r.Difference); err != nil || diff != "" || r.Matches {
			t.Errorf("%s: %v\n%s", c.name, err, diff)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	for _, c := range []struct {
		claim verify.Claim
		field string
	}{
		{verify.Claim{Secret: "x"}, "signature"},
		{verify.Claim{Secret: "x", Signature: " "}, "signature"},
		{verify.Claim{Signature: "x"}, "secret"},
		{verify.Claim{Signature: "x", Secret: "x", Body: make([]byte, verify.MaxBody+1)}, "body"},
	} {
		_, err := verify.Check(c.claim, delivery.SignatureFacts{}, checkedAt)
		if app.CodeOf(err) != app.CodeValidation || !strings.Contains(err.Error(), c.field) {
			t.Errorf("%s: %v", c.field, err)
		}
	}
}

// FuzzCheck: a call matches exactly where its signature is made as the
// interface says, nothing that is entered comes back as a text, and no body
// takes the checker apart.
func FuzzCheck(f *testing.F) {
	sent := checkedPayload.Body(checkedSecret)
	right := delivery.Signature(checkedSecret, sent)
	for _, body := range []string{
		string(sent), "", "{}", "[]", "null", `"`, `{"transactions":[{}]}`, `{"transactions":[{"transferAmount":1}]}`,
		`{"transactions":[{"transferAmount":1,"id":[]}]}`, `{"transactions":null}`,
		"\ufeff{", strings.Repeat("[", 100), `{"a":1,"a":{"b":[1,"x",{}]}}`, "eyJ0IjoxfQ==", "%7B%7D=", "\xff\xc4", "Đ", `\"`, "&quot;", "]",
		`{"transactions":[{"transferAmount":1}],"x":[{"transferAmount":"2"}]} `,
	} {
		f.Add([]byte(body), right, checkedSecret, "dlv_1_a 1763000000")
		f.Add([]byte(body), "sha256="+strings.ToUpper(right), " '"+checkedSecret+"'\n", " ")
		f.Add([]byte(body), "v1,AAAA v1, x", "AwoRGB8mLTQ7QklQV15lbHN6gYiPlp2kq7K5wMfO1dw", "dlv_ 17630000000000")
	}
	f.Fuzz(func(t *testing.T, body []byte, signature, secret, idAndTime string) {
		id, timestamp, _ := strings.Cut(idAndTime, " ")
		claim := verify.Claim{Body: body, Signature: signature, Secret: secret, MessageID: id, Timestamp: timestamp}
		r, err := verify.Check(claim, delivery.SignatureFacts{}, checkedAt)
		if err != nil {
			if app.CodeOf(err) != app.CodeValidation {
				t.Fatal(err)
			}
			return
		}
		if r.Matches != (len(r.Mistakes) == 0) {
			t.Errorf("matches %v with %v", r.Matches, codes(r))
		}
		if own := delivery.Signature(secret, body); r.Matches && !strings.Contains(strings.ToLower(signature), own) &&
			!strings.Contains(signature, "v1,") {
			t.Errorf("%q matches %q", signature, own)
		}
		if d := r.Difference; d != nil && (!utf8.ValidString(d.Before+d.Sent+d.Seen) || d.Byte < 1 || d.Byte > len(body)+1) {
			t.Errorf("%+v", d)
		}
		// What is made right is found right.
		claim.Signature = delivery.Signature(secret, body)
		if r, err := verify.Check(claim, delivery.SignatureFacts{}, checkedAt); err == nil && !r.Matches {
			t.Errorf("a right signature: %v", codes(r))
		}
	})
}
