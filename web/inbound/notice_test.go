package inbound_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/web/webtest"
)

// A notice of a bank's app counts as a text of the bank, by the package of the app; any other
// app's doesn't, whatever its title is.
func TestNoticesOfApps(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("VCB", "0111000000751")
	w.Link("VPB", "77123494")
	w.Link("PVCOMBANK", "107000004884")
	s := w.Source("smsforwarder", "", "")
	const vcb = "Số dư TK VCB 0111000000751 +310,000 VND lúc 05-04-2026 11:53:17. Số dư 530,250 VND. Ref DH1"
	const neo = "Tài khoản: 77****94\nSố dư: 860,000 ₫\nNHAN TU 0010000000711"
	counts := func(want webtest.Counts, sender, title, text string) {
		t.Helper()
		w.Texts(want, s, apptest.PhoneText{Sender: sender, Title: title, Text: text})
	}
	counts(webtest.Recorded, "com.VCB", "Thông báo VCB", vcb)
	counts(webtest.Recorded, "com.vnpay.vpbankonline", "VPBank NEO + 20,000 ₫", neo)
	for _, sender := range []string{"com.zing.zalo", "Vietcombank app", "com.vcb", "com.VCB.fake", "xcom.VCB", "com.mbmobile"} {
		counts(webtest.Rejected, sender, "Vietcombank", strings.Replace(vcb, "530,250", "530,251", 1))
		keptAsRejected(w, string(w.NewestEvent().Body), "sender")
	}
	// What a title says of the money counts, and the rest of it doesn't.
	counts(webtest.Rejected, "com.VCB", "Giao dịch không thành công", strings.Replace(vcb, "530,250", "530,252", 1))
	counts(webtest.Rejected, "com.VCB", "-310,000 VND", strings.Replace(vcb, "530,250", "530,253", 1))
	counts(webtest.Recorded, "com.VCB", "Bạn vừa nhận tiền", strings.Replace(vcb, "530,250", "530,254", 1))
	if list := w.WantTransactions(3); list[1].Bank != "VPB" || list[1].Amount != 20000 || list[1].Type != app.In {
		t.Errorf("recorded %+v", list[1])
	}
	// The title of an SMS is the SIM.
	w.Texts(webtest.Duplicate, s, apptest.PhoneText{Sender: "Vietcombank", Title: "SIM1_0901234567", Text: vcb})
}

// Android shows a notice again and again, and the bank sends an SMS beside it: one movement.
func TestNoticeShownAgain(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("VCB", "0111000000751")
	s := w.Source("smsforwarder", "", "")
	received := time.Now().Add(-25 * time.Hour)
	text := func(balance int, format string) string {
		at := received.In(w.Services.Ledger.Zone())
		return fmt.Sprintf(format, at.Format("02-01-2006 15:04:05"), balance)
	}
	const notice = "Số dư TK VCB 0111000000751 +310,000 VND lúc %s. Số dư %d,250 VND. Ref DH1"
	const sms = "SD TK 0111000000751 +310,000VND luc %s. SD %d,250VND. Ref DH1"
	shown := func(want webtest.Counts, sender, text string, late time.Duration) {
		t.Helper()
		w.Texts(want, s, apptest.PhoneText{Sender: sender, Text: text, Received: received.Add(late)})
	}
	shown(webtest.Recorded, "com.VCB", text(530, notice), 0)
	for _, late := range []time.Duration{time.Second, time.Minute, 3 * time.Hour, 23 * time.Hour} {
		shown(webtest.Duplicate, "com.VCB", text(530, notice), late)
		shown(webtest.Duplicate, "Vietcombank", text(530, sms), late)
	}
	// The customer pays again within the minute: both ways tell it, with another balance.
	shown(webtest.Recorded, "Vietcombank", text(840, sms), 5*time.Second)
	shown(webtest.Duplicate, "com.VCB", text(840, notice), 7*time.Second)
	w.WantTransactions(2)
	// The SMS says the time and the notice none.
	w.Link("TCB", "19030000333339")
	clock := received.In(w.Services.Ledger.Zone()).Truncate(time.Minute).Format("15:04 02/01/2006")
	shown(webtest.Recorded, "Techcombank", "TK 19030000333339 +50,000VND luc "+clock+". SD: 955,190VND. ND: DH2", time.Second)
	const unclocked = "+ VND 50,000\nTai khoan Thanh toan: 19030000333339\nSo du: VND 955,190\nDH2"
	shown(webtest.Duplicate, "vn.com.techcombank.bb.app", unclocked, time.Minute)
	// Shown once more without a time of its own, it may be another one: a person says.
	shown(webtest.Counts{MayRepeat: 1}, "vn.com.techcombank.bb.app", unclocked, 2*time.Minute)
	w.WantTransactions(3)
}

// A title is no sender, whatever the owner of the source allowed.
func TestTitleIsNoSender(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	s := w.Source("sms-to-url", "", "")
	_, err := w.Services.Inbound.AllowSenders(t.Context(), 1, s.ID, []string{"VCB Digibank"})
	apptest.Must(t, err)
	for _, title := range []string{"ACB", "VCB Digibank", "Vietcombank"} {
		body := strings.Replace(apptest.PhoneText{Sender: title}.SMSToURL(), `"sim1"`, `"notification"`, 1)
		w.Wants(webtest.Rejected, s, body)
		keptAsRejected(w, body, "sender")
		if e, err := w.Services.Inbound.ReadInboundEvent(t.Context(), 1, w.NewestEvent().ID); err != nil || e.Elements[0].Sender != "" {
			t.Errorf("the page offers to allow %q: %v", e.Elements[0].Sender, err)
		}
	}
	w.WantTransactions(0)
}

// A signed source of Incoming SMS to URL takes a signature over the body and nothing else.
func TestSMSToURLSigned(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t).Peers()
	w.Link("ACB", apptest.SomeAccount)
	s, plain := w.Source("sms-to-url", inbound.AuthHMAC, ""), w.Source("sms-to-url", "", "")
	body := apptest.PhoneText{}.SMSToURL()
	signature := apptest.HexHMAC(s.Secret, body)
	for i, header := range [][]string{
		nil, {"Authorization", "Bearer " + s.Secret}, {"X-Signature", s.Secret}, {"X-Signature", strings.ToUpper(signature)},
		{"X-Signature", "sha256=" + signature}, {"X-Signature", apptest.HexHMAC(s.Secret, body+" ")}, {"X-Signature", apptest.HexHMAC("", body)},
		{"X-Signature", apptest.HexHMAC(plain.Secret, body)}, {"X-Signature", signature, "X-Signature", signature},
		{"X-Webhook-Signature", signature},
	} {
		if a := w.Do("POST", s.URLPath(), body, append(header, "X-Test-Peer", webtest.Peer(i/25))...); a.Status != http.StatusUnauthorized {
			t.Errorf("%v: %d", header, a.Status)
		}
	}
	if a := w.Do("POST", plain.URLPath(), body, "X-Signature", apptest.HexHMAC(plain.Secret, body)); a.Status != http.StatusUnauthorized {
		t.Errorf("a signature for a source with a token: %d", a.Status)
	}
	nothingStored(w)
	w.Wants(webtest.Recorded, s, body)
}
