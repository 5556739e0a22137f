package provider_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/inbound"
)

func FuzzSePayPage(f *testing.F) {
	record := sepayRecord
	for _, data := range []string{
		"", record, record + "," + record, "null," + record, "17",
		`{"id":"a","transfer_type":"in","amount_in":1.5e5,"amount_out":"0.00","account_number":17` +
			`,"transaction_date":"2026-10-31T11:24:40+07:00"}`,
		`{"id":"a","transfer_type":"in","amount_in":null,"amount_out":5}`,
		`{"id":"a","id":"b","transfer_type":"OUT","amount_in":0,"amount_out":"50000"}`,
		`{"ID":"a","Transfer_Type":"in","amount_in":-1,"amount_out":1}`,
		`{"id":{},"transfer_type":[],"amount_in":"","reference_number":"\ud800"}`,
	} {
		f.Add([]byte(`{"status":"success","data":[` + data + `],"meta":{"pagination":{"has_more":false}}}`))
	}
	f.Add([]byte(`{"status":"success","data":[],"meta":{"pagination":{}}}`))
	fuzzPage(f, "sepay")
}

func FuzzCassoPage(f *testing.F) {
	record := cassoRecord
	for _, records := range []string{
		"", record, record + "," + record, "null," + record, `[]`,
		`{"id":5789,"tid":"","amount":-193000,"when":"2021-04-15","subAccId":"8007041027107"}`,
		`{"id":null,"amount":null,"when":"2021-04-15T00:00:00"}`, `{"id":"5789","amount":"-1e3","amount":5,"bankCodeName":"_"}`,
	} {
		f.Add([]byte(`{"error":0,"message":"success","data":{"page":1,"totalPages":1,"records":[` + records + `]}}`))
	}
	f.Add([]byte(`{"error":401,"message":"Unauthorized Access","data":null}`))
	fuzzPage(f, "casso")
}

// fuzzPage: what is read without a fault is unmistakable money, what has one
// says which, and everything has an id by which it is known again.
func fuzzPage(f *testing.F, kind app.Provider) {
	zone, err := time.LoadLocation(app.DefaultZone)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		elements := readPage(inbound.Source{Provider: kind}, body, zone)
		if !json.Valid(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))) && (len(elements) != 1 || elements[0].Fault == nil) {
			t.Fatalf("what isn't JSON has the elements %+v", elements)
		}
		again := readPage(inbound.Source{Provider: kind}, bytes.Clone(body), zone)
		for i, e := range elements {
			if e.EventID != again[i].EventID {
				t.Errorf("element %d has the ids %q and %q", i, e.EventID, again[i].EventID)
			}
			switch {
			case e.Fault != nil && (e.Fault.Field == "" || e.Fault.Text.EN == "" || e.Fault.Text.VI == ""):
				t.Errorf("element %d has a fault without a name: %+v", i, *e.Fault)
			case e.Fault == nil && (e.Amount < 1 || e.Amount > app.MaxAmount || e.Type != app.In && e.Type != app.Out || e.EventID == ""):
				t.Errorf("element %d: %+v", i, e)
			}
		}
	})
}
