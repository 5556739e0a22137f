package provider_test

import (
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/exactjson"
	"baoco/app/inbound"
	"baoco/app/provider"

	"github.com/google/go-cmp/cmp"
)

// The records of the providers' documentation.
const (
	sepayRecord = `{"id":"07ad3dc9-922e-11f1-b21a-a6006ab65aca","transaction_date":"2026-10-31 11:24:40","account_number":"0000000002"` +
		`,"va":"","transfer_type":"in",` +
		`"amount_in":50000,"amount_out":0,"accumulated":0,"transaction_content":"Giao dich DH1709","reference_number":"SBCF7A82A9EBC8"` +
		`,"code":"DH1709",` +
		`"bank_brand_name":"ACB","bank_account_id":"d6719d04-922e-11f1-b21a-a6006ab65aca","va_id":null,"webhook_success":8}`
	cassoRecord = `{"id":5789,"tid":"TF2104152395814062","description":"Khanhnm chuyen tien","amount":-193000,"cusum_balance":1070904` +
		`,"when":"2021-04-15T00:00:00",` +
		`"bankSubAccId":"8007041027107","paymentChannel":"","virtualAccount":"","accountId":733,"bankCodeName":"acb_digi"}`
)

// readPage reads a page of a provider's list that was kept.
func readPage(source inbound.Source, body []byte, zone *time.Location) []inbound.Incoming {
	return provider.Read(source, app.ChannelPoll, body, time.Now(), zone).Elements
}

// TestReadPage: the records of the documentation, and what becomes of each where
// something about its money is mistakable.
func TestReadPage(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation(app.DefaultZone)
	if err != nil {
		t.Fatal(err)
	}
	wantSePay := inbound.Incoming{
		EventID: "07ad3dc9-922e-11f1-b21a-a6006ab65aca", Gateway: "ACB", AccountNumber: "0000000002", Number: "SBCF7A82A9EBC8",
		Type: app.In, Amount: 50000,
		Content: "Giao dich DH1709", Time: time.Date(2026, 10, 31, 11, 24, 40, 0, zone),
	}
	wantCasso := inbound.Incoming{
		EventID: "5789", EventIDChannel: app.ChannelCall, Gateway: "ACB", AccountNumber: "8007041027107", Number: "TF2104152395814062",
		Type: app.Out, Amount: 193000,
		Content: "Khanhnm chuyen tien", Time: time.Date(2021, 4, 15, 0, 0, 0, 0, zone), Balance: 1070904,
	}
	read := func(kind app.Provider, record string) inbound.Incoming {
		t.Helper()
		page := `{"error":0,"data":{"page":1,"totalPages":1,"records":[` + record + `]}}`
		if kind == "sepay" {
			page = `{"status":"success","data":[` + record + `],"meta":{"pagination":{"has_more":false}}}`
		}
		elements := readPage(inbound.Source{Provider: kind}, []byte(page), zone)
		if len(elements) != 1 {
			t.Fatalf("%d elements in %s", len(elements), page)
		}
		return elements[0]
	}
	for _, c := range []struct {
		kind     app.Provider
		old, new string // in the record
		fault    string // its field; empty: none
		want     func(e *inbound.Incoming)
	}{
		{"sepay", "", "", "", nil},
		{"sepay", `"transfer_type":"in","amount_in":50000,"amount_out":0`, `"transfer_type":"OUT","amount_in":0,"amount_out":"70000.00"`, "",
			func(e *inbound.Incoming) { e.Type, e.Amount = app.Out, 70000 }},
		{"sepay", `"amount_out":0,`, ``, "", nil},
		{"sepay", `2026-10-31 11:24:40`, `2026-10-31T04:24:40Z`, "", nil},
		{"sepay", `2026-10-31 11:24:40`, `2026-02-30 11:24:40`, "",
			func(e *inbound.Incoming) { e.Time, e.DateFlaw = time.Time{}, app.DateImpossible }},
		{"sepay", `"reference_number":"SBCF7A82A9EBC8"`, `"reference_number":null`, "", func(e *inbound.Incoming) { e.Number = "" }},
		{"sepay", `"accumulated":0`, `"accumulated":1200541768.00`, "", func(e *inbound.Incoming) { e.Balance = 1200541768 }},
		{"sepay", `"accumulated":0`, `"accumulated":"-1500000"`, "", func(e *inbound.Incoming) { e.Balance = -1500000 }},
		{"sepay", `"accumulated":0`, `"accumulated":1.5`, "", nil},
		{"sepay", `"accumulated":0`, `"accumulated":"19.077"`, "", nil},
		{"sepay", `"accumulated":0`, `"accumulated":"19077000 VND"`, "", nil},
		{"sepay", `"accumulated":0`, `"accumulated":19077000,"accumulated":5`, "", nil},
		{"casso", `"cusum_balance"`, `"cusumBalance"`, "", nil},
		{"casso", `"cusum_balance":1070904`, `"cusum_balance":null`, "", func(e *inbound.Incoming) { e.Balance = 0 }},
		{"sepay", `50000`, `null`, "amount_in", nil},
		{"sepay", `"amount_in":50000,`, ``, "amount_in", nil},
		{"sepay", `50000`, `"50000"`, "", nil},
		{"sepay", `50000`, `"50000.00"`, "", nil},
		{"sepay", `50000`, `"50.000"`, "amount_in", nil},
		{"sepay", `50000`, `"50,000"`, "amount_in", nil},
		{"sepay", `50000`, `"5e4"`, "amount_in", nil},
		{"sepay", `50000`, `50000.000`, "", nil},
		{"sepay", `50000`, `0`, "amount_in", nil},
		{"sepay", `50000`, `-50000`, "amount_in", nil},
		{"sepay", `50000`, `50000.5`, "amount_in", nil},
		{"sepay", `50000`, `true`, "amount_in", nil},
		{"sepay", `"amount_in"`, `"Amount_In"`, "amount_in", nil},
		{"sepay", `"amount_in":50000`, `"amount_in":50000,"amount_in":50000`, "amount_in", nil},
		{"sepay", `"amount_out":0`, `"amount_out":50000`, "amount_out", nil},
		{"sepay", `"amount_out":0`, `"amount_out":"0.00"`, "", nil},
		{"sepay", `"amount_out":0`, `"amount_out":null`, "", nil},
		{"sepay", `"amount_out":0`, `"amount_out":[50000]`, "amount_out", nil},
		{"sepay", `"amount_out":0`, `"amount_out":true`, "amount_out", nil},
		{"sepay", `"transfer_type":"in"`, `"transfer_type":null`, "transfer_type", nil},
		{"sepay", `"id":"07ad3dc9-922e-11f1-b21a-a6006ab65aca"`, `"id":null`, "id", nil},
		{"casso", "", "", "", nil},
		{"casso", `-193000`, `193000`, "", func(e *inbound.Incoming) { e.Type = app.In }},
		{"casso", `2021-04-15T00:00:00`, `2021-04-15`, "", func(e *inbound.Incoming) { e.DateOnly = true }},
		{"casso", `2021-04-15T00:00:00`, `2021-04-14T17:00:00.000Z`, "", nil},
		{"casso", `2021-04-15T00:00:00`, `15/04/2021 10:00`, "", func(e *inbound.Incoming) { e.Time = e.Time.Add(10 * time.Hour) }},
		{"casso", `2021-04-15T00:00:00`, `2021-04-15 10:00:00`, "", func(e *inbound.Incoming) { e.Time = e.Time.Add(10 * time.Hour) }},
		{"casso", `acb_digi`, `nobody_digi`, "", func(e *inbound.Incoming) { e.Gateway = "" }},
		{"casso", `"bankSubAccId"`, `"subAccId"`, "", nil},
		{"casso", `-193000`, `"-193000.0"`, "", nil},
		{"casso", `-193000`, `"-193.000"`, "amount", nil},
		{"casso", `-193000`, `"193.000.000"`, "amount", nil},
		{"casso", `-193000`, `0`, "amount", nil},
		{"casso", `-193000`, `null`, "amount", nil},
		{"casso", `"amount":-193000`, `"amount":193000,"amount":-193000`, "amount", nil},
		{"casso", `5789`, `null`, "id", nil},
		{"casso", `"id":5789`, `"id":5789,"id":5790`, "id", nil},
		{"casso", `"tid":`, `"tid":"TF1","tid":`, "tid", nil},
		{"casso", `"bankSubAccId":`, `"bankSubAccId":"1","bankSubAccId":`, "bankSubAccId", nil},
		{"casso", `"bankSubAccId":`, `"bank_sub_acc_id":"1","bank_sub_acc_id":"2","bankSubAccId":`, "bank_sub_acc_id", nil},
		{"casso", `"bankSubAccId":`, `"subAccId":"1","subAccId":"2","bankSubAccId":`, "subAccId", nil},
		{"casso", `"bankCodeName":`, `"bankCodeName":"vcb","bankCodeName":`, "bankCodeName", nil},
	} {
		record, want := sepayRecord, wantSePay
		if c.kind == "casso" {
			record, want = cassoRecord, wantCasso
		}
		got := read(c.kind, strings.Replace(record, c.old, c.new, 1))
		if c.fault != "" {
			if got.Fault == nil || got.Fault.Field != c.fault {
				t.Errorf("%s %s for %s: %+v, want a fault of %s", c.kind, c.new, c.old, got, c.fault)
			}
			continue
		}
		if c.want != nil {
			c.want(&want)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s %s for %s (-want +got):\n%s", c.kind, c.new, c.old, d)
		}
	}
}

// TestPageBound: a page with more values than a call of many transactions may
// have is not read.
func TestPageBound(t *testing.T) {
	t.Parallel()
	const bound = 40_000 // values
	for kind, page := range map[app.Provider]string{
		"sepay": `{"status":"success","meta":{"pagination":{"has_more":false}},"x":0,"data":[%s]}`,
		"casso": `{"error":0,"x":0,"data":{"page":1,"totalPages":1,"records":[%s]}}`,
	} {
		whole := func(n int) []byte { return []byte(strings.Replace(page, "%s", strings.Repeat("1,", n-1)+"1", 1)) }
		n := bound - exactjson.Count(whole(1)) + 1
		if got := readPage(inbound.Source{Provider: kind}, whole(n), time.UTC); len(got) != n {
			t.Errorf("%s, %d values: %d elements, want %d", kind, bound, len(got), n)
		}
		got := readPage(inbound.Source{Provider: kind}, whole(n+1), time.UTC)
		if len(got) != 1 || got[0].Fault == nil || got[0].Fault.Field != "body" {
			t.Errorf("%s, %d values: %d elements, the first %+v", kind, bound+1, len(got), got[0])
		}
	}
}
