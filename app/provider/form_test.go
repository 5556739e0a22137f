package provider_test

import (
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/provider"

	"github.com/google/go-cmp/cmp"
)

// TestSePayForms: a form says what JSON says, and one that is not whole is kept
// as unreadable.
func TestSePayForms(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", 7*3600)
	read := func(body string) inbound.Incoming {
		t.Helper()
		elements := provider.Read(inbound.Source{Provider: "sepay"}, app.ChannelCall, []byte(body), time.Now(), zone).Elements
		if len(elements) != 1 {
			t.Fatalf("%d elements of %q", len(elements), body)
		}
		return elements[0]
	}
	fields := map[string]string{
		"id": "7", "gateway": "ACB", "transactionDate": apptest.SomeDate, "accountNumber": "0019354957", "content": "Đơn = 7 & 8 + 100%\r\n;\x00",
		"transferType": "in", "transferAmount": "5000", "referenceCode": "FT7",
	}
	form, multipart := apptest.Forms(fields)
	want := read(apptest.Quoted(fields))
	if want.Fault != nil || want.Amount != 5000 || want.Content != fields["content"] {
		t.Fatalf("%+v", want)
	}
	unix := strings.ReplaceAll(strings.ReplaceAll(multipart, "100%\r\n;", "100%\x01;"), "\r\n", "\n")
	if e := read(strings.ReplaceAll(unix, "\x01", "\r\n")); e.Amount != 5000 || e.Fault != nil {
		t.Errorf("with bare line feeds: %+v %+v", e, e.Fault)
	}
	for _, body := range []string{form, form + "\n", " \r\n" + form, multipart, "\r\n" + multipart, multipart + "epilogue"} {
		if diff := cmp.Diff(want, read(body)); diff != "" {
			t.Errorf("%q (-JSON +form):\n%s", body, diff)
		}
	}
	for field, bodies := range map[string][]string{
		"json": {
			form + "&x=%", form + "&x=%zz", form + ";x=1", "hello", "--", "--\r\n", "--x1--", multipart[:len(multipart)-4],
			multipart[:200], multipart[:40],
			"--" + strings.Repeat("x", 71) + multipart[4:], strings.ReplaceAll(multipart, "\r\n\r\n", "\r\n"),
		},
		"transferAmount": {form + "&transferAmount=1", form + "&TransferAmount=1", strings.Replace(form, "=5000", "=5.000", 1),
			strings.Replace(form, "=5000", "=", 1), strings.Replace(form, "=5000", "=0x10", 1),
			"--x1\r\nContent-Disposition: form-data; name=\"transferAmount\"\r\n\r\n1\r\n" + multipart},
		"id":            {strings.Replace(form, "id=7", "id=", 1), strings.Replace(multipart, `"id"`, `"ID"`, 1)},
		"accountNumber": {"a=b", strings.Replace(multipart, `name="accountNumber"`, `filename="accountNumber"`, 1)},
	} {
		for _, body := range bodies {
			if e := read(body); e.Fault == nil || e.Fault.Field != field {
				t.Errorf("%q: fault %+v, want %s", body, e.Fault, field)
			}
		}
	}
}
