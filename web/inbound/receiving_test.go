package inbound_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/payment"
	"baoco/web/webtest"
)

// A call that names a receiving number is for its bank account: it is recorded and
// delivered with that number, and a webhook of one till hears of no other.
func TestReceivingNumbers(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	bodies := make(chan string, 20)
	shop := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- r.URL.Path + " " + string(body)
	}))
	t.Cleanup(shop.Close)
	linked, err := w.Services.Inbound.LinkBankAccount(context.Background(), 1, inbound.BankAccountLink{Bank: "BIDV",
		AccountNumber: "1234567890", AccountName: "NGUYEN VAN A", BankAccountReceiving: app.BankAccountReceiving{
			ReceivingNumbers: "96247CISI1 = Quầy 1\n96247CISI2\n963869789012", ContentPrefix: "SEVQR"}}, time.Now())
	apptest.Must(t, err)
	other := w.Link("BIDV", "777")
	w.CodePattern("DH")
	secrets := map[string]string{}
	for path, number := range map[string]string{"/all": "", "/till": "96247CISI1"} {
		_, secrets[path], err = w.Services.Deliveries.CreateWebhook(context.Background(), 1,
			delivery.WebhookCreate{Name: path, URL: shop.URL + path, Type: delivery.WebhookAll, ReceivingNumber: number}, time.Now())
		apptest.Must(t, err)
	}
	heard := func(n int) (list string) {
		t.Helper()
		for range n {
			path, body, _ := strings.Cut(apptest.Receive(t, "delivery", bodies), " ")
			var sent struct{ Transactions []map[string]any }
			apptest.Must(t, json.Unmarshal([]byte(body), &sent))
			checksum := sent.Transactions[0]["checksum"]
			delete(sent.Transactions[0], "checksum")
			if sorted, _ := json.Marshal(sent.Transactions[0]); checksum != apptest.HexHMAC(secrets[path], string(sorted)) {
				t.Errorf("the checksum isn't that of %s", sorted)
			}
			list += path + " " + body + "\n"
		}
		return list
	}
	sepay, payos := w.Sepay(), w.Source("payos", "", "")
	id := 0
	call := func(account, sub, content string) string {
		id++
		return fmt.Sprintf(`{"id":%d,"gateway":"BIDV","transactionDate":"%s","accountNumber":%q,"subAccount":%s,"code":null,"content":%q,`+
			`"transferType":"in","transferAmount":%d,"referenceCode":"FT%d"}`, id, time.Now().Format(app.TimeLayout), account, sub, content,
			1000*id, id)
	}
	newest := func() app.Transaction { t.Helper(); list := w.Transactions(); return list[len(list)-1] }
	for _, c := range []struct {
		account, sub, content string
		number, code          string
		deliveries            int
	}{
		{"1234567890", `"96247CISI1"`, "SEVQR DH00000001", "96247CISI1", "DH00000001", 2},
		{"1234567890", `"96247CISI2"`, "SEVQRDH00000002", "96247CISI2", "DH00000002", 1},
		{"1234567890", `"96247CISI9"`, "sevqr DH00000003", "", "DH00000003", 1}, // not known: as before
		{"1234567890", `null`, "DH00000004", "", "DH00000004", 1},
		{"96247 CISI1", `""`, "CT DEN:39 SEVQR DH00000005", "96247CISI1", "DH00000005", 2},
		{"no such number", `"96247CISI2"`, "XSEVQRDH00000006", "96247CISI2", "", 1},
	} {
		body := call(c.account, c.sub, c.content)
		w.Wants(webtest.Recorded, sepay, body)
		got := newest()
		if got.BankAccountID != linked.BankAccount.ID || got.ReceivingNumber != c.number || got.Code.Text != c.code {
			t.Errorf("%s: bank account %d, receiving number %q, code %q", body, got.BankAccountID, got.ReceivingNumber, got.Code.Text)
		}
		w.Wants(webtest.Duplicate, sepay, body)
		delivered := heard(c.deliveries)
		if strings.Contains(delivered, `"receiving_number":"`+c.number+`"`) != (c.number != "") ||
			strings.Contains(delivered, "/till ") != (c.number == "96247CISI1") || !strings.Contains(delivered, `"accountNumber":"1234567890"`) {
			t.Errorf("%s is delivered as %s", body, delivered)
		}
	}
	// Where the two say different things the account number counts.
	w.Wants(webtest.Recorded, sepay, call(other.AccountNumber, `"96247CISI1"`, ""))
	if got := newest(); got.BankAccountID != other.ID || got.ReceivingNumber != "" {
		t.Errorf("%+v", got)
	}
	heard(1)
	w.Wants(webtest.Unassigned, sepay, call("888", `"96247CISI8"`, ""))

	// What came before its number was entered is recorded by linking it.
	early := call("96247CISI7", `""`, "")
	w.Wants(webtest.Unassigned, sepay, early)
	receiving := linked.BankAccount.BankAccountReceiving
	receiving.ReceivingNumbers += "\n96247CISI7"
	_, err = w.Services.Ledger.SetBankAccountReceiving(context.Background(), 1, linked.BankAccount.ID, receiving)
	apptest.Must(t, err)
	_, err = w.Services.Inbound.LinkInbound(context.Background(), 1, inbound.EventLink{EventID: w.NewestEvent().ID}, time.Now())
	apptest.Must(t, err)
	if got := newest(); got.BankAccountID != linked.BankAccount.ID || got.ReceivingNumber != "96247CISI7" {
		t.Errorf("the call that waited is recorded as %+v", got)
	}
	w.Wants(webtest.Duplicate, sepay, early)

	signed, header, _ := apptest.SignedCall(payos, strings.Replace(apptest.SignedFields["payos"], `"19354957"`,
		`"1234567890","virtualAccountNumber":"96247CISI2"`, 1))
	w.Do("POST", payos.URLPath(), signed, header...).Counts(t)
	if got := newest(); !strings.Contains(signed, "96247CISI2") || got.ReceivingNumber != "96247CISI2" {
		t.Errorf("%s is recorded as %+v", signed, got)
	}

	// A receiving number in two contents doesn't make them one transfer, as an account number doesn't.
	w.Wants(webtest.Recorded, sepay, call("1234567890", `null`, "Lan tra 963869789012 hang"))
	native := fmt.Sprintf(`{"id":"n1","gateway":"BIDV","accountNumber":"1234567890","transferType":"IN","transferAmount":%d,`+
		`"content":"Hoa tra 963869789012 hang","transactionDate":"%s"}`, 1000*id, time.Now().Format(app.TimeLayout))
	w.Wants(webtest.Counts{MayRepeat: 1}, w.Native(), apptest.Batch(native))

	// A request that asks for another number is paid all the same: its code says so.
	r := w.PaymentRequest(payment.RequestCreate{Amount: 5000, BankAccountID: linked.BankAccount.ID, ReceivingNumber: "96247CISI2"})
	transfer, _, err := r.Transfer()
	apptest.Must(t, err)
	if transfer.Account != "96247CISI2" || transfer.Content != "SEVQR "+r.Code {
		t.Errorf("the code of the request fills in %+v", transfer)
	}
	w.Wants(webtest.Recorded, sepay, call("1234567890", `"96247CISI1"`, transfer.Content))
	if got := newest(); got.PaymentRequest.ID != r.ID {
		t.Errorf("%+v is for no request", got)
	}
}

// A receiving number is of one bank, and of one bank account: a source that is narrowed to
// another one records nothing on it. A request that names no number asks for the first one.
func TestReceivingNumberOfOneBankAccount(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	ctx := context.Background()
	first, second := w.Link("BIDV", "1234567890"), w.Link("BIDV", "777")
	w.CodePattern("DH")
	set := func(numbers, prefix string) error {
		_, err := w.Services.Ledger.SetBankAccountReceiving(ctx, 1, first.ID,
			app.BankAccountReceiving{ReceivingNumbers: numbers, ContentPrefix: prefix})
		return err
	}
	if set("VQR1\nVQR 1", "") == nil || set("777", "") == nil {
		t.Error("a number is taken twice")
	}
	apptest.Must(t, set("VQR1\nVQR2", "SEVQR"))
	narrow, err := w.Services.Inbound.AddSource(ctx, 1,
		inbound.SourceAdd{Provider: "native", Name: "narrow", BankAccountID: second.ID}, time.Now())
	apptest.Must(t, err)
	w.Names(webtest.Unassigned, narrow, apptest.Transfer{ID: "1", Gateway: "BIDV", Account: "VQR1"})
	w.Names(webtest.Unassigned, w.Native(), apptest.Transfer{ID: "2", Gateway: "ACB", Account: "VQR1"})
	w.WantTransactions(0)

	r := w.PaymentRequest(payment.RequestCreate{Amount: 5000, BankAccountID: first.ID, Reference: "ORD10293"})
	if transfer, _, err := r.Transfer(); err != nil || transfer.Account != "VQR1" {
		t.Errorf("the request asks for %+v: %v", transfer, err)
	}
	w.Names(webtest.Recorded, w.Native(), apptest.Transfer{ID: "3", Gateway: "BIDV", Account: "VQR1", Amount: 5000,
		Date: time.Now().In(w.Services.Ledger.Zone()).Format(app.TimeLayout), Content: "SEVQRORD10293 thanh toan"})
	if got := w.WantTransactions(1)[0]; got.PaymentRequest.ID != r.ID {
		t.Errorf("%+v is for no request", got)
	}
}

// A number that is the account number of one bank account and a receiving number of another, at two
// banks, means the one at the bank that the call names. Where the call names no known bank it means
// neither, also if a receiving number stands beside it.
func TestNumberOfTwoBankAccounts(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	acb := w.Link("ACB", "5551234567")
	bidv, err := w.Services.Inbound.LinkBankAccount(t.Context(), 1, inbound.BankAccountLink{Bank: "BIDV", AccountNumber: "1234567890",
		AccountName: "NGUYEN VAN A", BankAccountReceiving: app.BankAccountReceiving{ReceivingNumbers: "5551234567\n96247CISI2"}}, time.Now())
	apptest.Must(t, err)
	sepay := w.Sepay()
	id := 0
	call := func(source inbound.Source, want webtest.Counts, gateway, account, sub string) {
		t.Helper()
		id++
		w.Wants(want, source, fmt.Sprintf(`{"id":%d,"gateway":%q,"transactionDate":"%s","accountNumber":%q,"subAccount":%q,"code":null,`+
			`"content":"call %d","transferType":"in","transferAmount":%d}`, id, gateway, time.Now().Format(app.TimeLayout), account, sub, id,
			200_000+id))
	}
	recorded := func(source inbound.Source, gateway, account, sub string, to app.BankAccount) {
		t.Helper()
		call(source, webtest.Counts{Recorded: 1}, gateway, account, sub)
		if list := w.Transactions(); list[len(list)-1].BankAccountID != to.ID {
			t.Errorf("%s %s %s is filed under %+v", gateway, account, sub, list[len(list)-1])
		}
	}
	for _, sub := range []string{"", "96247CISI2", "5551234567"} {
		call(sepay, webtest.Counts{Unassigned: 1}, "Bank of Nowhere", "5551234567", sub)
	}
	recorded(sepay, "ACB", "5551234567", "", acb)
	recorded(sepay, "BIDV", "5551234567", "", bidv.BankAccount)
	recorded(sepay, "Bank of Nowhere", "1234567890", "5551234567", bidv.BankAccount)
	recorded(sepay, "Bank of Nowhere", "96247CISI2", "", bidv.BankAccount)
	narrow := w.AddSource(inbound.SourceAdd{Provider: "sepay", Auth: inbound.AuthAPIKey, Name: "narrow", BankAccountID: bidv.BankAccount.ID})
	recorded(narrow, "Bank of Nowhere", "5551234567", "", bidv.BankAccount)
}
