package provider_test

import (
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/provider"
	"baoco/app/sms"
)

func FuzzNativeBody(f *testing.F) {
	element := apptest.Transfer{Number: "FT1"}.Native()
	for _, body := range []string{
		apptest.Batch(), apptest.Batch(element), apptest.Batch(element, "null", element), "\xef\xbb\xbf" + apptest.Batch(element),
		`{"transactions":[],"transactions":[]}`,
		`{"transactions":[{"id":7,"transactionNumber":8,"accountNumber":"0","transferType":"OUT","transferAmount":1.5e5}]}`,
		`{"transactions":[{"ID":"1","id":"\ud800","accountNumber":"\u0000","transferType":"IN","transferAmount":9999999999999,"content":[[` +
			`{}]]}]}`,
	} {
		f.Add([]byte(body))
	}
	fuzzBody(f, "native")
}

func FuzzSePayBody(f *testing.F) {
	for _, body := range []string{
		apptest.Transfer{Number: "FT1"}.Sepay(), "{}", "[]", "",
		`{"id":92704,"gateway":"Vietcombank","transactionDate":"2023-03-25 14:02:37","accountNumber":123,"content":null,"transferType":"OUT"` +
			`,"transferAmount":"2277000"}`,
		`{"id":-1,"accountNumber":" ","transferType":"In","transferAmount":1e-400,"TransferAmount":1}`,
	} {
		f.Add([]byte(body))
	}
	fuzzBody(f, "sepay")
}

func FuzzSePayForm(f *testing.F) {
	for _, body := range []string{
		"id=7&gateway=ACB&accountNumber=1&transferType=in&transferAmount=5000", "a=%zz", "=", "&&=&", "id=1&id=2", " --x=1",
		"--x\r\n\r\n\r\n--x--\r\n",
		"--x\r\nContent-Disposition: form-data; name=\"id\"\r\n\r\n7\r\n--x\r\nContent-Disposition: form-data; " +
			"name=\"accountNumber\"\r\n\r\n1\r\n--x\r\nContent-Disposition: form-data; " +
			"name=\"transferType\"\r\n\r\nout\r\n--x\r\nContent-Disposition: form-data; name=\"transferAmount\"; " +
			"filename=\"a\"\r\nContent-Transfer-Encoding: base64\r\n\r\n5000\r\n--x--\r\n",
	} {
		f.Add([]byte(body))
	}
	fuzzBody(f, "sepay")
}

func FuzzCassoBody(f *testing.F) {
	for _, body := range []string{
		`{"error":0,"data":[{"id":7,"tid":"FT7","amount":-5000,"when":"2025-10-14","bank_sub_acc_id":"","subAccId":"1","bankName":"x"},null]}`,
		`{"error":1}`, `{"data":[[]]}`, `{"error":"","data":{}}`,
	} {
		f.Add([]byte(body))
	}
	fuzzBody(f, "casso")
}

func FuzzCassoV2Body(f *testing.F) {
	for _, body := range []string{cassoFields, `{"error":-0,"data":{"id":0}}`, `{"data":{"id":1e21,"amount":"-5e3","accountNumber":1e300}}`,
		`{"error":null,"data":{"id":9007199254740993,"amount":5000.00000000000001,"accountNumber":7}}`} {
		f.Add([]byte(body))
	}
	fuzzBody(f, "casso-v2")
}

func FuzzPayOSBody(f *testing.F) {
	for _, body := range []string{`{"data":` + payOSFields + `}`, `{"data":{"code":"00","reference":1e3,"amount":true,"accountNumber":[{}]}}`,
		`{"data":{"orderCode":"123","reference":"TF230204212323"}}`, `{"data":{"7":"&a=b"}}`} {
		f.Add([]byte(body))
	}
	fuzzBody(f, "payos")
}

func FuzzPay2SBody(f *testing.F) {
	for _, body := range []string{apptest.Batch(apptest.Transfer{Number: "1"}.Native()), apptest.Batch("null"),
		`{"transactions":[{"id":7,"accountNumber":1,"transferType":"oUt","transferAmount":"5.000"}]}`} {
		f.Add([]byte(body))
	}
	fuzzBody(f, "pay2s")
}

func FuzzPay2SIPNBody(f *testing.F) {
	for _, body := range []string{ipnFields, `{"resultCode":0,"transId":7,"amount":5000,"responseTime":9223372036854775807}`,
		`{"resultCode":"1006"}`, `{"orderInfo":"&transId=8","resultCode":[]}`} {
		f.Add([]byte(body))
	}
	fuzzBody(f, "pay2s-ipn")
}

// FuzzSignedCall: no bytes with any signature are a call of a source unless
// they were signed with its key, by what signedCall makes of them.
func FuzzSignedCall(f *testing.F) {
	for i, provider := range []app.Provider{"casso-v2", "payos", "pay2s-ipn"} {
		f.Add(byte(i), "00", []byte(apptest.SignedFields[provider]))
		for _, body := range hostileJSON {
			f.Add(byte(i), "t=1,v1=00", []byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, which byte, signature string, fields []byte) {
		source := signer([]app.Provider{"casso-v2", "payos", "pay2s-ipn"}[which%3])
		verify := func(body string, header []string) inbound.RefusalCode {
			return apptest.RefusalOf(source, []byte(body), apptest.Header(header), time.Now()).Code
		}
		body, header, ok := apptest.SignedCall(source, string(fields))
		// An HMAC isn't guessed: these can't be right.
		if verify(string(fields), []string{"X-Casso-Signature", signature}) == "" && !(ok && len(header) > 0 && header[1] == signature) {
			t.Errorf("%q is accepted with %q", fields, signature)
		}
		if !ok {
			return
		}
		switch code := verify(body, header); code {
		case "":
		case inbound.RefusalMalformed, inbound.RefusalRepeated:
		default:
			t.Errorf("%s is refused: %s", body, code)
		}
		other := source
		other.Secret += "x"
		body, header, _ = apptest.SignedCall(other, string(fields))
		if verify(body, header) == "" {
			t.Errorf("%s is accepted with another key", body)
		}
	})
}

// fuzzBody: whatever is read without a fault can stand in the ledger.
func fuzzBody(f *testing.F, provider app.Provider) {
	for _, c := range apptest.Amounts {
		body := `{"id":"1","accountNumber":"19354957","transferType":"IN","transferAmount":` + c.Literal + `}`
		switch provider {
		case "native", "pay2s":
			body = apptest.Batch(body)
		case "casso":
			body = `{"error":0,"data":[{"id":1,"bank_sub_acc_id":"1","amount":` + c.Literal + `}]}`
		case "casso-v2":
			body = `{"error":0,"data":{"id":1,"accountNumber":"1","amount":` + c.Literal + `}}`
		case "payos":
			body = `{"data":{"code":"00","reference":"1","accountNumber":"1","amount":` + c.Literal + `}}`
		case "pay2s-ipn":
			body = `{"resultCode":0,"transId":1,"amount":` + c.Literal + `}`
		}
		f.Add([]byte(body))
	}
	fuzzSource(f, inbound.Source{Provider: provider})
}

// fuzzSource is fuzzBody for a source with options.
func fuzzSource(f *testing.F, source inbound.Source) {
	zone, err := time.LoadLocation(app.DefaultZone)
	if err != nil {
		f.Fatal(err)
	}
	ownAccount := source.Provider == "pay2s-ipn" || source.Provider == "payos" // the source's, where none is named
	f.Fuzz(func(t *testing.T, body []byte) {
		for i, e := range provider.Read(source, app.ChannelCall, body, time.Now(), zone).Elements {
			if e.Fault != nil {
				if e.Fault.Field == "" || e.Fault.Text.EN == "" || e.Fault.Text.VI == "" {
					t.Errorf("element %d has a fault without a name: %+v", i, *e.Fault)
				}
				continue
			}
			if e.Amount < 1 || e.Amount > app.MaxAmount || e.Type != app.In && e.Type != app.Out || e.AccountNumber == "" &&
				!ownAccount || e.EventID == "" {
				t.Errorf("element %d: %+v", i, e)
			}
		}
	})
}

func FuzzGenericBody(f *testing.F) {
	for _, body := range []string{
		`{"data":[{"id":"1","sum":[{"v":-5}],"acc.no":"19354957","t":"out","when":1760414370}]}`,
		`{"data":[[],{},null,{"id":1,"sum":[{"v":"5","V":6}]}]}`, `{"data":{}}`, `[]`,
	} {
		f.Add([]byte(body))
	}
	fuzzSource(f, inbound.Source{Provider: "generic", Options: inbound.SourceOptions{Map: apptest.Mapped(
		"list", "data", "id", "id", "amount", "sum[0].v", "account", `"acc.no"`, "type", "t", "time", "when", "gateway", "bank", "number", "ref",
		"content", "text")}})
}

func FuzzVietQRBody(f *testing.F) {
	for _, body := range []string{
		apptest.VietQRBody(), apptest.VietQRBody("transType", "d", "amount", "7"),
		`{"bankAccount":1,"transactionId":1,"amount":1,"transType":"C","AMOUNT":2}`, "[]", "{",
	} {
		f.Add([]byte(body))
	}
	fuzzSource(f, inbound.Source{Provider: "vietqr"})
}

func FuzzCapcom6Body(f *testing.F) {
	for _, x := range fuzzTexts {
		f.Add([]byte(x.Capcom6()))
		f.Add([]byte(strings.Replace(x.Capcom6(), "sms:received", "system:ping", 1)))
	}
	f.Add([]byte(`{"event":"sms:received","payload":[{"message":"x"}]}`))
	fuzzSource(f, inbound.Source{Provider: "capcom6"})
}

func FuzzSMSToURLBody(f *testing.F) {
	for _, x := range fuzzTexts {
		f.Add([]byte(x.SMSToURL()))
	}
	f.Add([]byte(`{"from":"ACB","text":"","receivedStamp":"%receivedStamp%"}`))
	fuzzSource(f, inbound.Source{Provider: "sms-to-url"})
}

func FuzzSMSForwarderBody(f *testing.F) {
	source := inbound.Source{Provider: "smsforwarder", Secret: "SECRETKEY123"}
	for _, x := range fuzzTexts {
		form := x.Forwarder(source, time.UnixMilli(1760414390000))
		f.Add([]byte(form.Encode()))
		form.Del("receive_time")
		f.Add([]byte(form.Encode() + "&from=x&%"))
	}
	f.Add([]byte(` {"from":"ACB","content":"x","timestamp":1760414390000,"receive_time":[]}`))
	fuzzSource(f, source)
}

var fuzzTexts = []apptest.PhoneText{{}, {Sender: "MBBank", Text: apptest.MbbText}, {Sender: "0901234567", Text: apptest.TcbText},
	{Sender: "Vietcombank", Text: apptest.CodeText}}

// FuzzSMSSender: a text counts only under a name of its bank, or one that the
// source was told of, whatever it says.
func FuzzSMSSender(f *testing.F) {
	for _, x := range fuzzTexts {
		f.Add(x.Filled().Sender, x.Filled().Text)
		f.Add("8149", x.Filled().Text)
	}
	source := inbound.Source{Provider: "capcom6", Options: inbound.SourceOptions{Senders: []string{"8149"}}}
	f.Fuzz(func(t *testing.T, sender, text string) {
		body := []byte(apptest.PhoneText{Sender: sender, Text: text}.Capcom6())
		for _, e := range provider.Read(source, app.ChannelCall, body, time.Now(), time.UTC).Elements {
			if e.Fault == nil && sender != "" && strings.TrimSpace(sender) != "8149" && !sms.FromBank(sender, e.Gateway) {
				t.Errorf("%q from %q counts: %+v", text, sender, e)
			}
		}
	})
}

// FuzzJSONPath: a path that is read finds what it says, and nothing panics.
func FuzzJSONPath(f *testing.F) {
	for _, p := range []string{"data.sum", "items.0.sum", "items[0].sum", `"a.b".sum`, `a\.b[1][2]."x"`, "'", `\`, "[0]", "0", `"\""`} {
		f.Add(p, []byte(`{"data":{"sum":1},"items":[{"sum":2}],"a.b":{"sum":3,"Sum":4}}`))
	}
	f.Fuzz(func(t *testing.T, p string, body []byte) {
		source := inbound.Source{Provider: "generic", Options: inbound.SourceOptions{Map: apptest.Mapped("id", p, "amount", p, "account", p)}}
		for _, e := range provider.Read(source, app.ChannelCall, body, time.Now(), time.UTC).Elements {
			// One value for all three can only be a positive integer.
			if e.Fault == nil && (e.Amount < 1 || e.AccountNumber == "" || e.EventID != e.AccountNumber) {
				t.Errorf("%q in %q: %+v", p, body, e)
			}
		}
	})
}
