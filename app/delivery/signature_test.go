package delivery_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"baoco/app"
	"baoco/app/delivery"
)

// payloadVector is an element of testdata/payload/vectors.json, which
// make.mjs beside it made.
type payloadVector struct {
	Name        string
	Secret      string
	Transaction struct {
		ID, Gateway, TransactionDate, TransactionNumber, AccountNumber, Content string
		TransferType                                                            app.Direction
		TransferAmount                                                          int64
		Code                                                                    *string
		PaymentRequest                                                          app.PaymentState `json:"payment_request"`
	}
	Test              bool
	Canonical         string
	Checksum          string
	Body              string
	Signature         string
	MessageID         string `json:"message_id"`
	Timestamp         int64
	StandardSignature string `json:"standard_signature"`
}

func (v payloadVector) payload() delivery.Payload {
	t := v.Transaction
	p := delivery.Payload{
		ID: t.ID, Gateway: t.Gateway, TransactionDate: t.TransactionDate, TransactionNumber: t.TransactionNumber,
		AccountNumber: t.AccountNumber, Content: t.Content, TransferType: t.TransferType, TransferAmount: t.TransferAmount,
		PaymentRequest: t.PaymentRequest, Test: v.Test,
	}
	if t.Code != nil {
		p.Code = app.PaymentCode{Text: *t.Code, Read: true}
	}
	return p
}

func payloadVectors(t testing.TB) []payloadVector {
	t.Helper()
	var vectors []payloadVector
	readJSON(t, "../../testdata/payload/vectors.json", &vectors)
	if len(vectors) < 15 {
		t.Fatalf("%d vectors", len(vectors))
	}
	return vectors
}

func readJSON(t testing.TB, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func TestPayloadVectors(t *testing.T) {
	for _, v := range payloadVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			p := v.payload()
			body := p.Body(v.Secret)
			if string(body) != v.Body {
				t.Errorf("body\n%q, want\n%q", body, v.Body)
			}
			if got := p.Checksum(v.Secret); got != v.Checksum {
				t.Errorf("checksum %s, want %s", got, v.Checksum)
			}
			if got := delivery.Signature(v.Secret, body); got != v.Signature {
				t.Errorf("signature %s, want %s", got, v.Signature)
			}
			// A fraction of a second and the zone must not show.
			at := time.Unix(v.Timestamp, 999_999_999).In(time.FixedZone("", 7*3600))
			if got := delivery.StandardSignature(v.Secret, v.MessageID, at, body); got != v.StandardSignature {
				t.Errorf("webhook-signature %s, want %s", got, v.StandardSignature)
			}
			if again := p.Body(v.Secret); !bytes.Equal(again, body) {
				t.Errorf("the body differs the second time")
			}
		})
	}
}

func TestNativeChecksum(t *testing.T) {
	var v struct{ Secret, Canonical, Checksum string }
	readJSON(t, "../../testdata/payload/native-checksum-ascii.json", &v)
	p := delivery.Payload{
		ID: "3521", Gateway: "ACB", TransactionDate: "2025-10-14 10:59:30", TransactionNumber: "FT253146879VN",
		AccountNumber: "19354957", Content: "NAPTIEN MOMO 963869789", TransferType: app.In, TransferAmount: 200000,
	}
	if got := delivery.Signature(v.Secret, []byte(v.Canonical)); got != v.Checksum {
		t.Errorf("HMAC of the canonical form %s, want %s", got, v.Checksum)
	}
	if got := p.Checksum(v.Secret); got != v.Checksum {
		t.Errorf("checksum %s, want %s", got, v.Checksum)
	}
}

// The example of the Standard Webhooks specification.
func TestStandardSignatureOfTheSpecification(t *testing.T) {
	got := delivery.StandardSignature("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek",
		time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// RFC 4231, test case 2, with the key as text.
func TestSignatureOfTheRFC(t *testing.T) {
	got := delivery.Signature("Jefe", []byte("what do ya want for nothing?"))
	if want := "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// FuzzPayload: the body is JSON that says what the payload says, whatever the
// texts are, and checksum and body come from the same encoding.
func FuzzPayload(f *testing.F) {
	for _, v := range payloadVectors(f) {
		f.Add(v.Transaction.Content, v.Transaction.TransactionNumber, v.Transaction.TransferAmount)
	}
	f.Fuzz(func(t *testing.T, content, number string, amount int64) {
		content, number = strings.ToValidUTF8(content, "\uFFFD"), strings.ToValidUTF8(number, "\uFFFD")
		p := delivery.Payload{ID: "1", Gateway: "ACB", TransactionDate: "2025-10-14 10:59:30", TransactionNumber: number, AccountNumber: "0123",
			Content: content, TransferType: app.Out, TransferAmount: amount}
		members := 9
		if amount%2 == 1 {
			p.Code, members = app.PaymentCode{Text: number, Read: true}, 10
		}
		if amount%3 == 1 {
			p.PaymentRequest = app.PaymentState{Due: amount, ID: 7, Received: amount - 1, Reference: content, Status: app.PaymentUnderpaid}
			members++
		}
		body := p.Body("secret")
		if !utf8.Valid(body) {
			t.Fatalf("not UTF-8: %q", body)
		}
		var read struct {
			Transactions []map[string]json.RawMessage `json:"transactions"`
		}
		if err := json.Unmarshal(body, &read); err != nil || len(read.Transactions) != 1 || len(read.Transactions[0]) != members {
			t.Fatalf("%q: %v", body, err)
		}
		sent := read.Transactions[0]
		var gotContent, gotNumber string
		var gotAmount int64
		for _, err := range []error{json.Unmarshal(sent["content"], &gotContent), json.Unmarshal(sent["transactionNumber"], &gotNumber),
			json.Unmarshal(sent["transferAmount"], &gotAmount)} {
			if err != nil {
				t.Fatalf("%q: %v", body, err)
			}
		}
		if gotContent != content || gotNumber != number || gotAmount != amount {
			t.Fatalf("%q reads as %q, %q, %d", body, gotContent, gotNumber, gotAmount)
		}
		// Without checksum, with sorted keys, each value as it stands in the body.
		delete(sent, "checksum")
		var canonical bytes.Buffer
		encoder := json.NewEncoder(&canonical)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(sent); err != nil {
			t.Fatal(err)
		}
		if want := delivery.Signature("secret", bytes.TrimSuffix(canonical.Bytes(), []byte("\n"))); p.Checksum("secret") != want {
			t.Fatalf("the checksum of %q is not that of %q", body, canonical.String())
		}
	})
}

// The tests below have other programs verify what the program makes, where
// they are installed.

// lookPath finds a program. It looks at the scripts too: Go repeats a result
// from its cache unless a file changed that the test itself looked at.
func lookPath(t *testing.T, program string, scripts ...string) string {
	t.Helper()
	for _, script := range scripts {
		if _, err := os.Stat(script); err != nil {
			t.Fatal(err)
		}
	}
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is not installed: its verification of the payloads did not run", program)
	}
	return path
}

func TestPayloadVectorsByNode(t *testing.T) {
	const script = "../../testdata/payload/make.mjs"
	made, err := exec.Command(lookPath(t, "node", script), script, "--stdout").Output()
	if err != nil {
		t.Fatal(err)
	}
	committed, err := os.ReadFile("../../testdata/payload/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(made, committed) {
		t.Error("make.mjs makes another vectors.json than the one that stands there")
	}
}

func TestPayloadsByPython(t *testing.T) {
	const script = "../../testdata/payload/verify.py"
	python := lookPath(t, "python3", script)
	type signed struct {
		Name              string `json:"name"`
		Secret            string `json:"secret"`
		Body              []byte `json:"body"`
		Signature         string `json:"signature"`
		MessageID         string `json:"message_id"`
		Timestamp         int64  `json:"timestamp"`
		StandardSignature string `json:"standard_signature"`
	}
	verify := func(deliveries []signed) string {
		t.Helper()
		input, err := json.Marshal(deliveries)
		if err != nil {
			t.Fatal(err)
		}
		command := exec.Command(python, script)
		command.Stdin = bytes.NewReader(input)
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	var deliveries []signed
	for _, v := range payloadVectors(t) {
		body := v.payload().Body(v.Secret)
		deliveries = append(deliveries, signed{
			v.Name, v.Secret, body, delivery.Signature(v.Secret, body),
			v.MessageID, v.Timestamp, delivery.StandardSignature(v.Secret, v.MessageID, time.Unix(v.Timestamp, 0), body),
		})
	}
	if out := verify(deliveries); out != "" {
		t.Errorf("does not verify:\n%s", out)
	}
	deliveries[0].Secret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("another"))
	if out := strings.Count(verify(deliveries[:1]), "\n"); out != 3 {
		t.Errorf("under another secret, %d of 3 checks fail", out)
	}
}

func TestPayloadsByOpenSSL(t *testing.T) {
	openssl := lookPath(t, "openssl")
	hmac := func(key, message []byte) []byte {
		t.Helper()
		command := exec.Command(openssl, "dgst", "-sha256", "-mac", "HMAC", "-macopt", "hexkey:"+hex.EncodeToString(key), "-binary")
		command.Stdin = bytes.NewReader(message)
		out, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	// Some of them: each digest is a process.
	for _, v := range payloadVectors(t) {
		if !slices.Contains([]string{"vietnamese composed", "vietnamese decomposed", "payment request"}, v.Name) {
			continue
		}
		body := v.payload().Body(v.Secret)
		if want := hex.EncodeToString(hmac([]byte(v.Secret), body)); delivery.Signature(v.Secret, body) != want {
			t.Errorf("%s: the signature is %s to openssl", v.Name, want)
		}
		if want := hex.EncodeToString(hmac([]byte(v.Secret), []byte(v.Canonical))); v.payload().Checksum(v.Secret) != want {
			t.Errorf("%s: the checksum is %s to openssl", v.Name, want)
		}
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(v.Secret, "whsec_"))
		if err != nil {
			t.Fatal(err)
		}
		want := "v1," + base64.StdEncoding.EncodeToString(hmac(key, fmt.Appendf(nil, "%s.%d.%s", v.MessageID, v.Timestamp, body)))
		if got := delivery.StandardSignature(v.Secret, v.MessageID, time.Unix(v.Timestamp, 0), body); got != want {
			t.Errorf("%s: the webhook-signature is %s to openssl", v.Name, want)
		}
	}
}

// What a stream of events carries has all that a delivery has.
func TestParseUnsigned(t *testing.T) {
	t.Parallel()
	for _, p := range []delivery.Payload{
		{ID: "7", Gateway: "ACB", TransactionDate: "2026-03-01 08:30:00", TransactionNumber: "FT1", AccountNumber: "0123",
			Content:      "ck \"DH1\" đ",
			TransferType: app.In, TransferAmount: 9_999_999_999_999, Code: app.PaymentCode{Text: "DH1", Read: true}, ReceivingNumber: "VQR1",
			PaymentRequest: app.PaymentState{ID: 3, Due: 5, Received: 6, Overpaid: 1, Reference: "HD-1", Status: "overpaid"}},
		{ID: "8", Gateway: "VCB", TransferType: app.Out, TransferAmount: 1, Code: app.PaymentCode{Read: true}},
		{ID: "9", Gateway: "VCB", TransferType: app.Out, TransferAmount: 1},
	} {
		if read, err := delivery.ParseUnsigned(p.Unsigned()); err != nil || read != p {
			t.Errorf("%+v is read as %+v: %v", p, read, err)
		}
	}
	for _, bad := range []string{"", "{}", `{"transactions":[]}`, `{"transactions":[{},{}]}`, `{"transactions":[{"transferAmount":"x"}]}`,
		`{"transactions":[{"id":"1","transferType":"IN","transferAmount":null}]}`,
		`{"transactions":[{"id":"1","transferType":"IN","transferAmount":-5}]}`,
		`{"transactions":[{"id":"1","transferType":"in","transferAmount":5}]}`,
		`{"transactions":[{"id":"x","transferType":"IN","transferAmount":5}]}`,
		`{"transactions":[{"id":"1","transferType":"IN","transferAmount":10000000000000}]}`} {
		if p, err := delivery.ParseUnsigned([]byte(bad)); err == nil {
			t.Errorf("%q is read as %+v", bad, p)
		}
	}
}
