package inbound_test

import (
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/provider"
	"baoco/app/sms"
	"baoco/web/webtest"
)

func FuzzGenericBody(f *testing.F) {
	for _, body := range []string{
		`{"data":[{"id":"1","sum":[{"v":-5}],"acc.no":"19354957","t":"out","when":1760414370}]}`, `{"data":[[],{},null,{"id":1,"sum":[{"v":"5","V":6}]}]}`, `{"data":{}}`, `[]`,
	} {
		f.Add([]byte(body))
	}
	fuzzSource(f, app.Source{Provider: "generic", Options: app.SourceOptions{Map: webtest.Mapped(
		"list", "data", "id", "id", "amount", "sum[0].v", "account", `"acc.no"`, "type", "t", "time", "when", "gateway", "bank", "number", "ref", "content", "text")}})
}

func FuzzVietQRBody(f *testing.F) {
	for _, body := range []string{
		webtest.VietQRBody(), webtest.VietQRBody("transType", "d", "amount", "7"), `{"bankAccount":1,"transactionId":1,"amount":1,"transType":"C","AMOUNT":2}`, "[]", "{",
	} {
		f.Add([]byte(body))
	}
	fuzzSource(f, app.Source{Provider: "vietqr"})
}

func FuzzCapcom6Body(f *testing.F) {
	for _, x := range fuzzTexts {
		f.Add([]byte(x.Capcom6()))
		f.Add([]byte(strings.Replace(x.Capcom6(), "sms:received", "system:ping", 1)))
	}
	f.Add([]byte(`{"event":"sms:received","payload":[{"message":"x"}]}`))
	fuzzSource(f, app.Source{Provider: "capcom6"})
}

func FuzzSMSToURLBody(f *testing.F) {
	for _, x := range fuzzTexts {
		f.Add([]byte(x.SMSToURL()))
	}
	f.Add([]byte(`{"from":"ACB","text":"","receivedStamp":"%receivedStamp%"}`))
	fuzzSource(f, app.Source{Provider: "sms-to-url"})
}

func FuzzSMSForwarderBody(f *testing.F) {
	source := app.Source{Provider: "smsforwarder", Secret: "SECRETKEY123"}
	for _, x := range fuzzTexts {
		form := x.Forwarder(source, time.UnixMilli(1760414390000))
		f.Add([]byte(form.Encode()))
		form.Del("receive_time")
		f.Add([]byte(form.Encode() + "&from=x&%"))
	}
	f.Add([]byte(` {"from":"ACB","content":"x","timestamp":1760414390000,"receive_time":[]}`))
	fuzzSource(f, source)
}

var fuzzTexts = []webtest.PhoneText{{}, {Sender: "MBBank", Text: webtest.MbbText}, {Sender: "0901234567", Text: webtest.TcbText}, {Sender: "Vietcombank", Text: webtest.CodeText}}

// FuzzSMSSender: a text counts only under a name of its bank, or one that the
// source was told of, whatever it says.
func FuzzSMSSender(f *testing.F) {
	for _, x := range fuzzTexts {
		f.Add(x.Filled().Sender, x.Filled().Text)
		f.Add("8149", x.Filled().Text)
	}
	source := app.Source{Provider: "capcom6", Options: app.SourceOptions{Senders: []string{"8149"}}}
	f.Fuzz(func(t *testing.T, sender, text string) {
		body := []byte(webtest.PhoneText{Sender: sender, Text: text}.Capcom6())
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
		source := app.Source{Provider: "generic", Options: app.SourceOptions{Map: webtest.Mapped("id", p, "amount", p, "account", p)}}
		for _, e := range provider.Read(source, app.ChannelCall, body, time.Now(), time.UTC).Elements {
			// One value for all three can only be a positive integer.
			if e.Fault == nil && (e.Amount < 1 || e.AccountNumber == "" || e.EventID != e.AccountNumber) {
				t.Errorf("%q in %q: %+v", p, body, e)
			}
		}
	})
}
