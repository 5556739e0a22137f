package inbound_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/web/webtest"
)

// Real texts of banks, whatever app forwards them. A time that the text doesn't say is empty.
func TestTextsOfBanks(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		file, bank, account string // the account as it is linked
		direction           app.Direction
		amount              int64
		time, content       string
	}{
		{"bidv_smart", "BIDV", "4260000570", app.In, 10000, "2025-11-25 13:11:00", "TKThe :1027000485, tai Vietcombank. " +
			"MBVCB.11800.DH001234.CT tu 1027000485 -CTLNHIDI000013514283774-1/1-CRE-002"},
		{"bidv_smart_2024", "BIDV", "12010000456", app.In, 175000, "2024-10-21 16:54:00", "DH001234"},
		{"bidv_app_old", "BIDV", "5010000705", app.Out, 6000000, "2023-12-26 08:20:00", "MB-TKThe :123000456, tai MB. chuyen tien"},
		{"pvcom_app", "PVCOMBANK", "107000004884", app.In, 9000, "", "Lai nhap goc"},
		{"vpb_neo_title", "VPB", "77123494", app.In, 20000, "", "NHAN TU 0010000000711 TRACE 519345 ND MBVCB.15295440178.DH001234"},
		{"tcb_app_vndfirst", "TCB", "19030000333339", app.In, 70592223, "", "NGUYEN VAN A dcm 7 2025"},
		{"tcb_space_sign", "TCB", "1600000999", app.In, 500000, "", "NGUYEN VAN A em gui tien hang"},
		{"mb_title", "MBB", "10123969", app.In, 25000, "2025-11-25 20:35:00",
			"108609376869-NGUYEN VAN A chuyen tien qua MoMo-CHUYEN TIEN-OQCH00044xSs-MOMO108609376869MOMO"},
		{"mb_nobars", "MBB", "03123422", app.In, 22000, "2024-04-07 06:52:00", "TV-150324-00001"},
		{"tpb_sogd_first", "TPB", "00003850401", app.In, 2000, "2024-10-07 14:04:00", "HD0980000298"},
		{"shbvn", "SHBVN", "700000080", app.Out, 990000, "", "CONG TY ABC TT TIEN HANG"},
		{"seab_date", "SSB", "11100000567135", app.In, 30000, "2020-05-12 00:00:00", "NAP TIEN 437312 . ."},
		{"vib_app", "VIB", "00007213", app.Out, 30000000, "2024-01-02 11:50:00", ""},
		{"vcb_ref_ms", "VCB", "1010000319", app.In, 24818747, "2025-06-13 09:11:28", "MBVCB.9573.DH001234"},
		{"acb_no_time", "ACB", "203888888", app.In, 1250000, "", "KHACH HANG THANH TOAN DH001234"},
		{"tpb_dots", "TPB", "00043201", app.Out, 150000, "2026-09-19 08:45:00", "Thanh toan"},
		{"exim_dec", "EIB", "1017000847", app.In, 14000000, "2026-10-09 16:45:00", "NGUYEN VAN A tra tien"},
	} {
		t.Run(x.file, func(t *testing.T) {
			t.Parallel()
			body, err := os.ReadFile("../../testdata/sms/sms_" + x.file + ".json")
			apptest.Must(t, err)
			var text struct {
				From, Text    string
				ReceivedStamp int64
			}
			apptest.Must(t, json.Unmarshal(body, &text))
			for _, provider := range phoneApps {
				w := webtest.NewWorld(t)
				w.Link(x.bank, x.account)
				s := w.Source(provider, "", "")
				if provider == "sms-to-url" {
					w.Wants(webtest.Recorded, s, string(body))
				} else {
					w.Texts(webtest.Recorded, s, apptest.PhoneText{Sender: text.From, Text: text.Text, Received: time.UnixMilli(text.ReceivedStamp)})
				}
				got := w.WantTransactions(1)[0]
				at, zone := x.time, w.Services.Ledger.Zone()
				if at == "" || x.file == "seab_date" { // the time of receipt
					at = app.FormatTime(got.Time, zone)
				}
				if got.Bank != x.bank || got.AccountNumber != x.account || got.Type != x.direction || got.Amount != x.amount ||
					got.Content != x.content || app.FormatTime(got.Time, zone) != at ||
					!strings.HasPrefix(app.FormatTime(got.Time, zone), strings.TrimSuffix(x.time, " 00:00:00")) ||
					x.time == "" && got.Time.UnixMilli() != text.ReceivedStamp/1000*1000 {
					t.Errorf("%s: recorded %+v", provider, got)
				}
			}
		})
	}
}

// A text with two notices is kept whole.
func TestTwoNoticesInOneText(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile("../../testdata/sms/sms_mb_two.json")
	apptest.Must(t, err)
	w := webtest.NewWorld(t)
	w.Link("MBB", "03123682")
	w.Wants(webtest.Rejected, w.Source("sms-to-url", "", ""), string(body))
	keptAsRejected(w, string(body), "text")
	w.WantTransactions(0)
}
