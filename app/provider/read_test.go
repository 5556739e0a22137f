package provider_test

import (
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/provider"
)

// TestReads has what is read of bodies that authenticate: the field at
// fault, or the transactions.
func TestReads(t *testing.T) {
	t.Parallel()
	casso := func(more string) string {
		return `{"error":0,"data":[{"id":7,"tid":"FT7","description":"DH7","amount":5000,"when":"2025-10-14 10:59:30"` +
			`,"bank_sub_acc_id":"19354957"` + more + `}]}`
	}
	v2 := func(old, new string) string { return strings.Replace(cassoFields, old, new, 1) }
	payos := func(old, new string) string { return `{"data":` + strings.Replace(payOSFields, old, new, 1) + `}` }
	ipn := func(old, new string) string { return strings.Replace(ipnFields, old, new, 1) }
	pay2s := func(old, new string) string {
		return apptest.Batch(strings.Replace(apptest.Transfer{ID: "7", Number: "10418"}.Native(), old, new, 1))
	}
	const nothing = "-" // no element
	for _, c := range []struct {
		provider app.Provider
		body     string
		fault    string                      // "" reads
		is       func(inbound.Incoming) bool // what
	}{
		{"casso", casso(""), "", func(e inbound.Incoming) bool {
			return e.EventID == "7" && e.Number == "FT7" && e.Type == app.In && e.Amount == 5000 && e.AccountNumber == "19354957" &&
				e.Gateway == "" && e.Content == "DH7"
		}},
		{"casso", casso(`,"subAccId":"1","bankName":"MBBank","bankAbbreviation":"MBB"`), "",
			func(e inbound.Incoming) bool { return e.AccountNumber == "19354957" && e.Gateway == "MBB" }},
		{"casso", casso(`,"bankName":"MBBank","bankAbbreviation":"???"`), "", func(e inbound.Incoming) bool { return e.Gateway == "MBBank" }},
		{"casso", casso(`,"bankName":"","bankAbbreviation":"???"`), "", func(e inbound.Incoming) bool { return e.Gateway == "???" }},
		{"casso", strings.Replace(casso(`,"subAccId":19354958`), `"19354957"`, "null", 1), "",
			func(e inbound.Incoming) bool { return e.AccountNumber == "19354958" }},
		{"casso", strings.Replace(casso(""), "5000", `"-5000"`, 1), "",
			func(e inbound.Incoming) bool { return e.Type == app.Out && e.Amount == 5000 }},
		{"casso", strings.Replace(casso(""), " 10:59:30", "", 1), "",
			func(e inbound.Incoming) bool { return e.Time.Format("15:04") == "00:00" && e.DateOnly }},
		{"casso", strings.Replace(casso(""), " 10:59:30", "T10:59:30", 1), "",
			func(e inbound.Incoming) bool { return e.Time.Format("15:04:05") == "10:59:30" && !e.DateOnly }},
		{"casso", casso(`,"cusum_balance":12345000`), "", func(e inbound.Incoming) bool { return e.Balance == 12345000 }},
		{"casso", casso(`,"cusum_balance":12345000.5`), "", func(e inbound.Incoming) bool { return e.Balance == 0 }},
		{"casso", casso(`,"amount":1`), "amount", nil}, {"casso", casso(`,"Amount":1`), "amount", nil},
		{"casso", casso(`,"bank_sub_acc_id":"1"`), "bank_sub_acc_id", nil},
		{"casso", casso(`,"id":8`), "id", nil}, {"casso", casso(`,"tid":"FT8"`), "tid", nil},
		{"casso", casso(`,"subAccId":"1","SubAccId":"2"`), "subAccId", nil},
		{"casso", casso(`,"bankAbbreviation":"ACB","bankAbbreviation":"VCB"`), "bankAbbreviation", nil},
		{"casso", casso(`,"bankName":"ACB","BankName":"VCB"`), "bankName", nil},
		{"casso", strings.Replace(casso(""), "5000", "0", 1), "amount", nil},
		{"casso", strings.Replace(casso(""), "5000", `"-5.000"`, 1), "amount", nil},
		{"casso", strings.Replace(casso(""), "5000", "-0.5", 1), "amount", nil},
		{"casso", strings.Replace(casso(""), "5000", "null", 1), "amount", nil},
		{"casso", strings.Replace(casso(""), "5000", "-10000000000000", 1), "amount", nil},
		{"casso", strings.Replace(casso(""), `"id":7`, `"id":null`, 1), "id", nil},
		{"casso", strings.Replace(casso(""), `"19354957"`, `""`, 1), "accountNumber", nil}, {"casso", `{"error":0,"data":[7]}`, "element", nil},
		{"casso", `{"error":1,"data":[]}`, "error", nil}, {"casso", `{"error":"0","data":[]}`, "error", nil},
		{"casso", strings.Replace(casso(""), `"error":0`, `"error":500`, 1), "error", nil},
		{"casso", `{"error":0,"data":{}}`, "accountNumber", nil}, {"casso", `{"error":0,"data":[],"data":[]}`, "data", nil},
		{"casso", `{"error":0}`, "data", nil}, {"casso", `{"data":[]}`, nothing, nil}, {"casso", "[]", "body", nil}, {"casso", "", "json", nil},

		{"casso-v2", cassoFields, "", func(e inbound.Incoming) bool { return e.EventID == "7" && e.Number == "FT7" && e.Gateway == "ACB" }},
		{"casso-v2", v2(`"id":7`, `"id":7,"runningBalance":25000000`), "", func(e inbound.Incoming) bool { return e.Balance == 25000000 }},
		{"casso-v2", v2(`"id":7`, `"id":7,"virtualAccountNumber":"V1"`), "", func(e inbound.Incoming) bool { return e.SubAccount == "V1" }},
		{"casso", casso(`,"virtualAccount":"V1"`), "", func(e inbound.Incoming) bool { return e.SubAccount == "V1" }},
		{"casso-v2", v2("5000", "-5000"), "", func(e inbound.Incoming) bool { return e.Type == app.Out && e.Amount == 5000 }},
		{"casso-v2", v2(`"id":7`, `"id":9007199254740993`), "", func(e inbound.Incoming) bool { return e.EventID == "9007199254740992" }},
		{"casso-v2", v2("5000", "5000.0000000000000001"), "", func(e inbound.Incoming) bool { return e.Amount == 5000 }},
		{"casso-v2", v2(`"id":7`, `"id":0`), nothing, nil}, {"casso-v2", v2(`"id":7`, `"id":-0.0`), nothing, nil},
		{"casso-v2", v2(`"id":7`, `"id":"0"`), "", func(e inbound.Incoming) bool { return e.EventID == "0" }},
		{"casso-v2", v2(`"id":7`, `"id":null`), "id", nil}, {"casso-v2", v2(`"id":7`, `"id":0.5`), "id", nil},
		{"casso-v2", v2("5000", "1e400"), "amount", nil}, {"casso-v2", v2("5000", "0.1"), "amount", nil},
		{"casso-v2", v2(`"id":7`, `"id":""`), "id", nil},
		{"casso-v2", v2(`"id":7`, `"id":"0a"`), "", func(e inbound.Incoming) bool { return e.EventID == "0a" }},
		{"casso-v2", v2(`"error":0`, `"error":1`), "error", nil}, {"casso-v2", `{"error":0,"data":[]}`, "data", nil},
		{"casso-v2", `{"error":0}`, "data", nil},

		{"payos", payos("", ""), "", func(e inbound.Incoming) bool {
			return e.EventID == "FT7abc" && e.Number == "FT7" && e.Type == app.In && e.Amount == 5000 && e.AccountNumber == "19354957" &&
				e.Content == "DH7" && e.Gateway == ""
		}},
		{"payos", payos("5000", `"5000"`), "", func(e inbound.Incoming) bool { return e.Amount == 5000 }},
		{"payos", payos("5000", "5e3"), "", func(e inbound.Incoming) bool { return e.Amount == 5000 }},
		{"payos", payos(`"orderCode":7`, `"orderCode":123`), "", func(e inbound.Incoming) bool { return e.EventID == "FT7abc" }},
		{"payos", payos("FT7", "TF230204212323"), "", func(e inbound.Incoming) bool { return e.Number == "TF230204212323" }},
		{"payos", `{"data":{"orderCode":123,"reference":"TF230204212323","amount":3000}}`, nothing, nil},
		{"payos", payos(`"00"`, `"01"`), nothing, nil},
		{"payos", payos(`"00"`, `"02"`), nothing, nil}, {"payos", payos(`"00"`, `"0"`), nothing, nil},
		{"payos", payos(`"00"`, "0"), nothing, nil},
		{"payos", payos(`"VND"`, "null"), "", func(e inbound.Incoming) bool { return e.Amount == 5000 }},
		{"payos", strings.Replace(payos("5000", "-5000"), "VND", "USD", 1), "amount", nil},
		{"payos", payos(`"orderCode":7`, `"orderCode":7,"a&b":"1"`), "data", nil},
		{"payos", payos(`"orderCode":7`, `"orderCode":7,"a=b":"1"`), "data", nil},
		{"payos", payos(`"00"`, "null"), "code", nil}, {"payos", payos(`"FT7"`, "null"), "reference", nil},
		{"payos", payos("VND", "USD"), "currency", nil}, {"payos", payos("VND", "vnd"), "currency", nil},
		{"payos", payos("5000", "-5000"), "amount", nil}, {"payos", payos("5000", "0"), "amount", nil},
		{"payos", payos("5000", "null"), "amount", nil}, {"payos", payos("5000", "[5000]"), "data", nil},
		{"payos", payos("5000", `{"a":5000}`), "amount", nil},
		{"payos", payos("5000", "true"), "amount", nil}, {"payos", `{"data":[]}`, "data", nil}, {"payos", "{}", "data", nil},
		{"payos", "x", "data", nil}, {"payos", payos("DH7", "DH7&amount=1"), "description", nil},

		{"pay2s", pay2s("", ""), "", func(e inbound.Incoming) bool { return e.EventID == "7" && e.Number == "10418" && e.Type == app.In }},
		{"pay2s", pay2s(`"IN"`, `"out"`), "", func(e inbound.Incoming) bool { return e.Type == app.Out }},
		{"pay2s", pay2s("200000", `"200000"`), "", func(e inbound.Incoming) bool { return e.Amount == 200000 }},
		{"pay2s", pay2s(`"id":"7",`, ""), "id", nil}, {"pay2s", pay2s(`"IN"`, `"+"`), "transferType", nil},
		{"pay2s", pay2s("200000", "-200000"), "transferAmount", nil}, {"pay2s", apptest.Batch("7"), "element", nil},
		{"pay2s", apptest.Batch(), nothing, nil},

		{"pay2s-ipn", ipnFields, "", func(e inbound.Incoming) bool {
			return e.EventID == "7" && e.Number == "" && e.Type == app.In && e.Amount == 5000 && e.AccountNumber == "" && e.Content == "DH7" &&
				e.Time.Unix() == 1760414370
		}},
		{"pay2s-ipn", ipn("1760414370", "1760414370123"), "", func(e inbound.Incoming) bool { return e.Time.Unix() == 1760414370 }},
		{"pay2s-ipn", ipn("1760414370", "soon"), "", func(e inbound.Incoming) bool { return e.Time.IsZero() }},
		{"pay2s-ipn", ipn(`"resultCode":"0"`, `"resultCode":0`), "", func(e inbound.Incoming) bool { return e.Amount == 5000 }},
		{"pay2s-ipn", ipn(`"resultCode":"0"`, `"resultCode":"9000"`), nothing, nil},
		{"pay2s-ipn", ipn(`"resultCode":"0"`, `"resultCode":"00"`), nothing, nil},
		{"pay2s-ipn", ipn(`"resultCode":"0"`, `"resultCode":null`), "resultCode", nil},
		{"pay2s-ipn", ipn(`"transId":"7"`, `"transId":""`), "transId", nil}, {"pay2s-ipn", ipn(`"5000"`, `"5000 VND"`), "amount", nil},
		{"pay2s-ipn", ipn(`"5000"`, `"5.000"`), "amount", nil},
		{"pay2s-ipn", ipn(`"5000"`, `"5000.00"`), "", func(e inbound.Incoming) bool { return e.Amount == 5000 }},
		{"pay2s-ipn", ipn(`"5000"`, `-1`), "amount", nil},
		{"pay2s-ipn", ipn(`"5000"`, `[5000]`), "body", nil}, {"pay2s-ipn", "[]", "body", nil}, {"pay2s-ipn", "", "json", nil},
		{"pay2s-ipn", ipn("DH7", "DH7&transId=8"), "orderId", nil},
	} {
		zone := time.FixedZone("", 7*3600)
		elements := provider.Read(inbound.Source{Provider: c.provider}, app.ChannelCall, []byte(c.body), time.Now(), zone).Elements
		switch {
		case c.fault == nothing:
			if len(elements) != 0 {
				t.Errorf("%s %s: %+v", c.provider, c.body, elements)
			}
		case len(elements) != 1:
			t.Errorf("%s %s: %d elements", c.provider, c.body, len(elements))
		case c.fault == "" && (elements[0].Fault != nil || !c.is(elements[0])):
			t.Errorf("%s %s: %+v, fault %+v", c.provider, c.body, elements[0], elements[0].Fault)
		case c.fault != "" && (elements[0].Fault == nil || elements[0].Fault.Field != c.fault):
			t.Errorf("%s %s: fault %+v, want %s", c.provider, c.body, elements[0].Fault, c.fault)
		}
	}
}
