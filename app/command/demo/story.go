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
)

// check prints a line of the story, and notes it if it isn't true.
func (d *demo) check(truth bool, format string, args ...any) {
	mark := "✓"
	line := fmt.Sprintf(format, args...)
	if !truth {
		mark = "✗"
		d.failures = append(d.failures, line)
	}
	d.say("  %s %s", mark, line)
}

func (d *demo) story(ctx context.Context) error {
	d.say("baoco %s: a bank transaction comes in, the shop's webhook goes out.", serve.Version)
	d.say("Everything below happens over HTTP on this machine, in a throw-away database (%s).", d.db)
	d.say("The waits between attempts are shortened to 1 s, 2 s, … so that you can watch; serve waits 10 s, 30 s, 1 min, 5 min, 10 min.\n")

	d.say("1. Set up")
	if err := d.setUp(ctx); err != nil {
		return err
	}
	d.say("\n2. SePay calls: three transactions, signed with HMAC-SHA256")
	d.transactions()
	d.say("\n3. A receiver that fails")
	d.retry(ctx)
	d.say("\n4. What must not happen")
	d.refusals()
	d.say("\n5. The numbers, from the API")
	d.numbers()
	if len(d.failures) > 0 {
		return fmt.Errorf("%d lines of the story were not true: %s", len(d.failures), strings.Join(d.failures, "; "))
	}
	d.say("\nAll of it was true.")
	return nil
}

// The paths of the shop's webhooks: money in goes to one, money out to the other.
const shop, ledger = "/shop", "/ledger"

func (d *demo) setUp(ctx context.Context) (err error) {
	service, now := d.server.Services, time.Now()
	for _, b := range banks {
		if _, err := service.Inbound.LinkBankAccount(ctx, app.DefaultAccountID,
			inbound.BankAccountLink{Bank: b.code, AccountNumber: b.number, AccountName: owner}, now); err != nil {
			return err
		}
	}
	d.check(true, "linked ACB 19354957 and VCB 0123499999")
	if d.source, err = service.Inbound.AddSource(ctx, app.DefaultAccountID,
		inbound.SourceAdd{Provider: "sepay", Auth: inbound.AuthHMAC, Name: "SePay"}, now); err != nil {
		return err
	}
	d.check(true, "added a source for SePay")
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
	d.check(true, "made two webhooks: %s/shop for money in, %s/ledger for money out", d.receiver.url, d.receiver.url)
	_, d.apiKey, err = service.Access.CreateAPIKey(ctx, app.DefaultAccountID, access.APIKeyCreate{Name: "demo", Scope: access.ScopeFull}, now)
	if err != nil {
		return err
	}
	d.check(true, "made an API key")
	return nil
}

// sepayBody is a call with a transfer as SePay makes it.
func sepayBody(id int, t inbound.Incoming) []byte {
	body, _ := json.Marshal(map[string]any{
		"id": id, "gateway": t.Gateway, "transactionDate": time.Now().In(vietnam()).Format(app.TimeLayout), "accountNumber": t.AccountNumber,
		"code": nil, "content": t.Content, "transferType": strings.ToLower(string(t.Type)), "transferAmount": t.Amount, "accumulated": 19077000,
		"subAccount": nil, "referenceCode": t.Number, "description": "",
	})
	return body
}

// The first transfer of the story, and SePay's id of it.
const firstID = 92704

var firstTransfer = inbound.Incoming{
	Gateway: "ACB", AccountNumber: "19354957", Number: "FT253146800", Type: app.In, Amount: 200000, Content: "DH10293 thanh toan don hang",
}

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

func (d *demo) transactions() {
	for i, t := range []inbound.Incoming{
		firstTransfer,
		{Gateway: "Vietcombank", AccountNumber: "0123499999", Type: app.In, Amount: 1549000, Content: "Nguyễn Văn A chuyển tiền mua \"iPhone\""},
		{Gateway: "ACB", AccountNumber: "19354957", Type: app.In, Amount: 99000, Content: "NAPTIEN MOMO 963869789"},
	} {
		t.Number = fmt.Sprintf("FT2531468%02d", i)
		sent := time.Now()
		status, answer := d.call(sepayBody(firstID+i, t), d.source.Secret)
		got, arrived := d.receiver.await(shop, i+1)
		took := got.at.Sub(sent)
		d.check(status == 200 && answer["recorded"] == 1.0 && arrived && got.fault == "",
			"+%s VND, %s: recorded, and at %s after %.1f ms; signature and checksum are right",
			terminal.VND(t.Amount), t.Content, shop, float64(took.Microseconds())/1000)
		if got.fault != "" {
			d.say("    %s", got.fault)
		}
	}
}

func (d *demo) retry(ctx context.Context) {
	status, _ := d.call(sepayBody(92750, inbound.Incoming{
		Gateway: "ACB", AccountNumber: "19354957", Number: "FT253146850", Type: app.Out, Amount: 50000, Content: "Tra tien hang",
	}), d.source.Secret)
	d.check(status == 200, "-50.000 VND, Tra tien hang: recorded; %s answers 500 twice", ledger)
	for attempt := 1; attempt <= 3; attempt++ {
		got, arrived := d.receiver.await(ledger, attempt)
		d.check(arrived && got.fault == "" && (got.status == 200) == (attempt == 3), "attempt %d: %s answers %d", attempt, ledger, got.status)
	}
	one, _ := d.receiver.await(ledger, 1)
	three, _ := d.receiver.await(ledger, 3)
	d.check(bytes.Equal(one.body, three.body) && one.id == three.id, "the same bytes and the same webhook-id every time")
	settled := waitUntil(ctx, func() bool { return d.number("webhooks_sent") == 6 })
	d.check(settled, "delivered on attempt 3; the history has every attempt")
}

func (d *demo) refusals() {
	t := firstTransfer
	body := sepayBody(firstID, t)
	status, answer := d.call(body, d.source.Secret)
	d.check(status == 200 && answer["duplicates"] == 1.0, "the provider repeats a call: answered 200, a duplicate, the shop isn't told again")
	t.Amount = 2000000
	status, answer = d.call(sepayBody(firstID, t), d.source.Secret)
	d.check(status == 200 && answer["conflicts"] == 1.0, "the same event with another amount: kept as a conflict, the first record stands")
	t.Number, t.Amount, t.Content = "FT1", 9999999, "DH1 da thanh toan"
	status, _ = d.call(sepayBody(92999, t), "a forger's guess")
	d.check(status == 401, "a forged call: refused with 401, nothing recorded")
	shops, ledgers := d.receiver.count(shop), d.receiver.count(ledger)
	d.check(shops == 3 && ledgers == 3, "the receivers got %d and %d calls, not one more", shops, ledgers)
}

// number reads a number of the API's overview; -1 means that it could not be read.
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
		d.check(got == line.want, "%-18s %12s", line.name, terminal.VND(got))
	}
}

func waitUntil(ctx context.Context, truth func() bool) bool {
	for range 100 {
		if truth() {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(50 * time.Millisecond):
		}
	}
	return false
}
