package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/command/serve"
	"baoco/app/command/terminal"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/paymentcode"
)

// check prints a line of the story. If it isn't true, it adds the line to failures.
func (d *demo) check(truth bool, en, vi string, args ...any) {
	mark := "✓"
	line := d.inLang(en, vi, args...)
	if !truth {
		mark = "✗"
		d.failures = append(d.failures, line)
	}
	fmt.Fprintln(d.out, " ", mark, line)
}

func (d *demo) story(ctx context.Context) error {
	d.narrate("baoco %s: a bank transaction comes in, the shop's webhook goes out.",
		"baoco %s: giao dịch ngân hàng vào, webhook của cửa hàng được gọi.", serve.Version)
	d.narrate("Everything below happens over HTTP on this machine, in a throw-away database (%s).",
		"Mọi việc dưới đây diễn ra qua HTTP trên máy này, trong một cơ sở dữ liệu tạm (%s).", d.db)
	d.narrate("The waits between attempts are shortened to 1 s, 2 s, … so that you can watch; serve waits 10 s, 30 s, 1 min, 5 min, 10 min.\n",
		"Thời gian chờ giữa các lần gửi rút còn 1, 2, … giây để bạn kịp xem; serve chờ 10 giây, 30 giây, 1, 5, 10 phút.\n")

	d.narrate("1. Set up", "1. Thiết lập")
	if err := d.setUp(ctx); err != nil {
		return err
	}
	d.narrate("\n2. SePay calls: three transactions, signed with HMAC-SHA256", "\n2. SePay gọi: ba giao dịch, ký bằng HMAC-SHA256")
	d.transactions(ctx)
	d.narrate("\n3. A receiver that fails", "\n3. Máy chủ của cửa hàng bị lỗi")
	d.retry(ctx)
	d.narrate("\n4. What must not happen", "\n4. Những gì không được xảy ra")
	d.refusals()
	d.narrate("\n5. The numbers, from the API", "\n5. Các con số, lấy từ API")
	d.numbers()
	if len(d.failures) > 0 {
		return fmt.Errorf("%d lines of the story were not true: %s", len(d.failures), strings.Join(d.failures, "; "))
	}
	d.narrate("\nAll of it was true.", "\nTất cả đều đúng.")
	return nil
}

// The paths of the shop's webhooks: money in goes to one, money out to the other.
const shop, ledger = "/shop", "/ledger"

func (d *demo) setUp(ctx context.Context) (err error) {
	service, now := d.server.Services, time.Now()
	for _, b := range banks {
		linked, err := service.Inbound.LinkBankAccount(ctx, app.DefaultAccountID,
			inbound.BankAccountLink{Bank: b.code, AccountNumber: b.number, AccountName: owner}, now)
		if err != nil {
			return err
		}
		d.banks = append(d.banks, linked.BankAccount)
	}
	d.check(true, "linked ACB 19354957 and VCB 0123499999", "đã liên kết ACB 19354957 và VCB 0123499999")
	if _, err := service.Ledger.CreateCodePattern(ctx, app.DefaultAccountID,
		paymentcode.Pattern{Prefix: "DH", Least: 5, Most: 5, Alphabet: paymentcode.Digits}, now); err != nil {
		return err
	}
	d.check(true, "payment codes are DH and 5 digits", "mã thanh toán là DH và 5 chữ số")
	if d.source, err = service.Inbound.AddSource(ctx, app.DefaultAccountID,
		inbound.SourceAdd{Provider: "sepay", Auth: inbound.AuthHMAC, Name: "SePay"}, now); err != nil {
		return err
	}
	d.check(true, "added a source for SePay", "đã thêm nguồn SePay")
	for _, hook := range []struct {
		path     string
		hookType delivery.WebhookType
	}{{shop, delivery.WebhookIn}, {ledger, delivery.WebhookOut}} {
		_, secret, err := service.Deliveries.CreateWebhook(ctx, app.DefaultAccountID, delivery.WebhookCreate{
			Name: hook.path[1:], URL: d.receiver.url + hook.path, Type: hook.hookType,
		}, now)
		if err != nil {
			return err
		}
		d.receiver.expect(hook.path, secret)
	}
	d.receiver.failFirst(ledger, 2)
	d.check(true, "made two webhooks: %[1]s/shop for money in, %[1]s/ledger for money out",
		"đã tạo hai webhook: %[1]s/shop cho tiền vào, %[1]s/ledger cho tiền ra", d.receiver.url)
	_, d.apiKey, err = service.Access.CreateAPIKey(ctx, app.DefaultAccountID, access.APIKeyCreate{Name: "demo", Scope: access.ScopeFull}, now)
	if err != nil {
		return err
	}
	d.check(true, "made an API key", "đã tạo khoá API")
	return nil
}

func sepayBody(id int, t inbound.Incoming) []byte {
	body, _ := json.Marshal(map[string]any{
		"id": id, "gateway": t.Gateway, "transactionDate": time.Now().In(vietnam()).Format(app.TimeLayout), "accountNumber": t.AccountNumber,
		"code": nil, "content": t.Content, "transferType": strings.ToLower(string(t.Type)), "transferAmount": t.Amount, "accumulated": t.Balance,
		"subAccount": nil, "referenceCode": t.Number, "description": "",
	})
	return body
}

// firstID is SePay's id of the first transfer of the story.
const firstID = 92704

func vietnam() *time.Location {
	zone, err := time.LoadLocation(app.DefaultZone)
	if err != nil {
		panic(err) // tzdata is in the binary
	}
	return zone
}

// call posts a body as the provider does, with the signature of key.
func (d *demo) call(body []byte, key string) (status int, answer map[string]any) {
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	request, err := http.NewRequest(http.MethodPost, d.base+d.source.URLPath(), bytes.NewReader(body))
	if err != nil {
		return 0, nil
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-SePay-Timestamp", stamp)
	request.Header.Set("X-SePay-Signature", "sha256="+hexHMAC(key, append([]byte(stamp+"."), body...)))
	return d.do(request)
}

func (d *demo) do(request *http.Request) (status int, answer map[string]any) {
	response, err := (&http.Client{Timeout: 10 * time.Second}).Do(request)
	if err != nil {
		return 0, nil
	}
	defer response.Body.Close()
	_ = json.NewDecoder(io.LimitReader(response.Body, 1<<20)).Decode(&answer)
	return response.StatusCode, answer
}

func (d *demo) transactions(ctx context.Context) {
	for i, p := range []transfer{
		{direction: app.In, amount: 200000, content: "DH10293 thanh toan don hang"},
		{direction: app.In, amount: 1549000, content: "Nguyễn Văn A chuyển tiền mua \"iPhone\"", bank: 1},
		{direction: app.In, amount: 99000, content: "NAPTIEN MOMO 963869789"},
	} {
		t := d.trade.incoming(p, fmt.Sprintf("FT2531468%02d", i))
		if i == 0 {
			d.first = t
		}
		sent := time.Now()
		status, answer := d.call(sepayBody(firstID+i, t), d.source.Secret)
		got, arrived := d.receiver.await(ctx, shop, i+1)
		took := got.at.Sub(sent)
		d.check(status == 200 && answer["recorded"] == 1.0 && arrived && got.fault == "",
			"+%s VND, %s: recorded, and at %s after %.1f ms; signature and checksum are right",
			"+%s VND, %s: đã ghi nhận, đến %s sau %.1f ms; chữ ký và checksum đúng",
			terminal.VND(t.Amount), t.Content, shop, float64(took.Microseconds())/1000)
		if got.fault != "" {
			fmt.Fprintln(d.out, "   ", got.fault)
		}
	}
}

func (d *demo) retry(ctx context.Context) {
	paid := transfer{direction: app.Out, amount: 50000, content: "Tra tien hang"}
	status, _ := d.call(sepayBody(92750, d.trade.incoming(paid, "FT253146850")), d.source.Secret)
	d.check(status == 200, "-50.000 VND, Tra tien hang: recorded; %s answers 500 twice",
		"-50.000 VND, Tra tien hang: đã ghi nhận; %s trả lời 500 hai lần", ledger)
	for attempt := 1; attempt <= 3; attempt++ {
		got, arrived := d.receiver.await(ctx, ledger, attempt)
		d.check(arrived && got.fault == "" && (got.status == 200) == (attempt == 3), "attempt %d: %s answers %d",
			"lần gửi %d: %s trả lời %d", attempt, ledger, got.status)
	}
	one, _ := d.receiver.await(ctx, ledger, 1)
	three, _ := d.receiver.await(ctx, ledger, 3)
	d.check(bytes.Equal(one.body, three.body) && one.id == three.id, "the same bytes and the same webhook-id every time",
		"lần nào cũng đúng nội dung và webhook-id đó")
	settled := waitUntil(ctx, func() bool { return d.number("webhooks_sent") == 6 })
	d.check(settled, "delivered on attempt 3; the history has every attempt", "đã báo được ở lần gửi thứ 3; lịch sử có đủ các lần gửi")
}

func (d *demo) refusals() {
	t := d.first
	body := sepayBody(firstID, t)
	status, answer := d.call(body, d.source.Secret)
	d.check(status == 200 && answer["duplicates"] == 1.0, "the provider repeats a call: answered 200, a duplicate, the shop isn't told again",
		"nguồn gọi lặp: trả lời 200, là giao dịch trùng, cửa hàng không bị báo lại")
	t.Amount = 2000000
	status, answer = d.call(sepayBody(firstID, t), d.source.Secret)
	d.check(status == 200 && answer["conflicts"] == 1.0, "the same event with another amount: kept as a conflict, the first record stands",
		"cùng giao dịch đó nhưng khác số tiền: giữ lại là mâu thuẫn, bản ghi đầu không đổi")
	t.Number, t.Amount, t.Content = "FT1", 9999999, "DH1 da thanh toan"
	status, _ = d.call(sepayBody(92999, t), "a forger's guess")
	d.check(status == 401, "a forged call: refused with 401, nothing recorded", "lần gọi giả mạo: bị từ chối với 401, không ghi nhận gì")
	shops, ledgers := d.receiver.count(shop), d.receiver.count(ledger)
	d.check(shops == 3 && ledgers == 3, "the receivers got %d and %d calls, not one more",
		"cửa hàng nhận %d và %d lần gọi, không hơn một lần nào", shops, ledgers)
}

// number reads a number from the API's overview; -1: it could not be read.
func (d *demo) number(name string) int64 {
	request, err := http.NewRequest(http.MethodGet, d.base+"/api/v1/analytics/overview", nil)
	if err != nil {
		return -1
	}
	request.Header.Set("Authorization", "Bearer "+d.apiKey)
	_, answer := d.do(request)
	overview, _ := answer["overview"].(map[string]any)
	n, found := overview[name].(float64)
	if !found {
		return -1
	}
	return int64(n)
}

func (d *demo) numbers() {
	for _, line := range []struct {
		name string
		want int64
	}{
		{"total_transactions", 4}, {"total_in", 1848000}, {"total_out", 50000}, {"bank_accounts", 2}, {"webhooks_sent", 6},
		{"webhooks_errors", 2},
	} {
		got := d.number(line.name)
		d.check(got == line.want, "%-18s %12s", "%-18s %12s", line.name, terminal.VND(got))
	}
}

// waitUntil waits for about 8 seconds until truth returns true, and reports whether it did.
func waitUntil(ctx context.Context, truth func() bool) bool {
	for range 800 {
		if truth() {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
	return false
}
