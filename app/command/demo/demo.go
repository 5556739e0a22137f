// Package demo shows everything at work on a throw-away database. It plays the
// provider and the shop over HTTP.
package demo

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/command/serve"
	"baoco/app/command/terminal"
	"baoco/sqlitestore"
	"baoco/web/dashboard"

	"github.com/urfave/cli/v2"
)

// demoSchedule stands in for the waits of the interface, so that a retry can
// be watched.
var demoSchedule = []time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second, 5 * time.Second}

func Command() *cli.Command {
	return &cli.Command{
		Name: "demo", Usage: "show everything at work on a throw-away database",
		Description: terminal.Example("baoco demo", "baoco demo --once"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "once", Usage: "end after the loop: exit 0 when all of it was true, 6 otherwise"},
			&cli.StringFlag{Name: "listen", Usage: "`ADDRESS` to listen on; a free port if it is taken", Value: "127.0.0.1:8080"},
			&cli.DurationFlag{Name: "every", Usage: "after the loop somebody pays every `DURATION` or a little more; 0: nobody does", Value: 15 * time.Second},
		},
		Action: runDemo,
	}
}

func runDemo(c *cli.Context) error {
	if err := terminal.NoArguments(c); err != nil {
		return err
	}
	every := c.Duration("every")
	if every < 0 {
		return terminal.Usagef("--every must not be negative")
	}
	ctx, stop := terminal.UntilStopped(c.Context)
	defer stop()
	dir, err := os.MkdirTemp("", "baoco-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	d := &demo{out: c.App.Writer, db: filepath.Join(dir, "demo.db"), trade: newDemoTrade()}
	if err := d.open(ctx, c.String("listen")); err != nil {
		return err
	}
	defer d.close()
	if err := d.story(ctx); err != nil {
		return terminal.Exit(terminal.ExitCheck, err)
	}
	if c.Bool("once") {
		return nil
	}
	if err := d.past(ctx); err != nil {
		return err
	}
	if err := d.printVisit(ctx, every); err != nil {
		return err
	}
	if every > 0 {
		d.live(ctx, every)
	}
	<-ctx.Done()
	return nil
}

// demo plays both sides of the service: the provider and the shop.
type demo struct {
	out      io.Writer
	db       string
	store    *sqlitestore.Store
	server   *serve.Server
	base     string
	receiver *demoReceiver
	source   app.Source
	apiKey   string
	trade    *demoTrade
	falsity  []string // what of the story was not true
}

func (d *demo) open(ctx context.Context, listen string) error {
	if err := sqlitestore.Create(ctx, d.db, app.DefaultZone, time.Now()); err != nil {
		return err
	}
	var err error
	if d.store, err = sqlitestore.Open(ctx, d.db, sqlitestore.Options{Serve: true}); err != nil {
		return err
	}
	if d.receiver, err = startDemoReceiver(); err != nil {
		return err
	}
	s := serve.Settings{DB: d.db, Listen: freeAddress(listen), RateLimit: 300, Schedule: demoSchedule, Targets: []string{"127.0.0.1/32@" + d.receiver.port()}}
	if err := serve.SaveSettings(ctx, d.store, s); err != nil {
		return err
	}
	if d.server, err = serve.Start(ctx, d.store, s, dashboard.NewRecentLog(slog.DiscardHandler)); err != nil {
		return err
	}
	d.base = "http://" + d.server.Listener.Addr().String()
	return nil
}

// freeAddress is address, or a free port of its host where it is taken.
func freeAddress(address string) string {
	l, err := net.Listen("tcp", address)
	if err != nil {
		host, _, _ := net.SplitHostPort(address)
		return net.JoinHostPort(host, "0")
	}
	l.Close()
	return address
}

func (d *demo) close() {
	_ = d.server.Stop(serve.StopTime)
	d.receiver.server.Close()
	_ = d.store.Close()
}

func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.out, format+"\n", args...) }

// check prints a line of the story and notes when it wasn't true.
func (d *demo) check(truth bool, format string, args ...any) {
	mark := "✓"
	line := fmt.Sprintf(format, args...)
	if !truth {
		mark = "✗"
		d.falsity = append(d.falsity, line)
	}
	d.say("  %s %s", mark, line)
}

func (d *demo) story(ctx context.Context) error {
	d.say("baoco %s: a bank transaction comes in, the shop's webhook goes out.", serve.Version)
	d.say("Everything below happens over HTTP on this machine, in a throw-away database (%s).", d.db)
	d.say("The waits between attempts are shortened to 1 s, 2 s, … so that you can watch; serve waits 10 s, 30 s, 1 min, 5 min, 10 min.\n")

	d.say("1. Set up")
	shop, ledger, err := d.setUp(ctx)
	if err != nil {
		return err
	}
	d.say("\n2. SePay calls: three transactions, signed with HMAC-SHA256")
	d.transactions(shop)
	d.say("\n3. A receiver that fails")
	d.retry(ctx, ledger)
	d.say("\n4. What must not happen")
	d.refusals()
	d.say("\n5. The numbers, from the API")
	if err := d.numbers(); err != nil {
		return err
	}
	if len(d.falsity) > 0 {
		return fmt.Errorf("%d lines of the story were not true: %s", len(d.falsity), strings.Join(d.falsity, "; "))
	}
	d.say("\nAll of it was true.")
	return nil
}

func (d *demo) setUp(ctx context.Context) (shop, ledger string, err error) {
	service, now := d.server.Service, time.Now()
	for _, b := range demoBanks {
		if _, err := service.LinkBankAccount(ctx, app.DefaultAccountID, app.BankAccountLink{Bank: b.code, AccountNumber: b.number, AccountName: demoOwner}, now); err != nil {
			return "", "", err
		}
	}
	d.check(true, "linked ACB 19354957 and VCB 0123499999")
	if d.source, err = service.AddSource(ctx, app.DefaultAccountID, app.SourceAdd{Provider: "sepay", Auth: app.AuthHMAC, Name: "SePay"}, now); err != nil {
		return "", "", err
	}
	d.check(true, "added a source for SePay")
	for _, hook := range []struct {
		path     string
		hookType app.WebhookType
	}{{"/shop", app.WebhookIn}, {"/ledger", app.WebhookOut}} {
		_, secret, err := service.CreateWebhook(ctx, app.DefaultAccountID, app.WebhookCreate{
			Name: hook.path[1:], URL: d.receiver.url + hook.path, Type: hook.hookType,
		}, now)
		if err != nil {
			return "", "", err
		}
		d.receiver.expect(hook.path, secret)
	}
	d.receiver.failFirst("/ledger", 2)
	d.check(true, "made two webhooks: %s/shop for money in, %s/ledger for money out", d.receiver.url, d.receiver.url)
	if _, d.apiKey, err = service.CreateAPIKey(ctx, app.DefaultAccountID, "demo", app.ScopeFull, time.Time{}, now); err != nil {
		return "", "", err
	}
	d.check(true, "made an API key")
	return "/shop", "/ledger", nil
}

// sepayBody is a call as SePay makes it.
func sepayBody(id int, gateway, account, direction string, amount int64, content, reference string) []byte {
	body, _ := json.Marshal(map[string]any{
		"id": id, "gateway": gateway, "transactionDate": time.Now().In(vietnam()).Format(app.TimeLayout), "accountNumber": account,
		"code": nil, "content": content, "transferType": direction, "transferAmount": amount, "accumulated": 19077000,
		"subAccount": nil, "referenceCode": reference, "description": "",
	})
	return body
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
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(stamp + "."))
	mac.Write(body)
	request, err := http.NewRequest(http.MethodPost, d.base+d.source.URLPath(), bytes.NewReader(body))
	if err != nil {
		return 0, nil
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-SePay-Timestamp", stamp)
	request.Header.Set("X-SePay-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
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

func (d *demo) transactions(shop string) {
	for i, t := range []struct {
		gateway, account string
		amount           int64
		content          string
	}{
		{"ACB", "19354957", 200000, "DH10293 thanh toan don hang"},
		{"Vietcombank", "0123499999", 1549000, "Nguyễn Văn A chuyển tiền mua \"iPhone\""},
		{"ACB", "19354957", 99000, "NAPTIEN MOMO 963869789"},
	} {
		sent := time.Now()
		status, answer := d.call(sepayBody(92704+i, t.gateway, t.account, "in", t.amount, t.content, fmt.Sprintf("FT2531468%02d", i)), d.source.Secret)
		got, arrived := d.receiver.await(shop, i+1)
		took := got.at.Sub(sent)
		d.check(status == 200 && answer["recorded"] == 1.0 && arrived && got.fault == "",
			"+%s VND, %s: recorded, and at %s after %.1f ms; signature and checksum are right", terminal.VND(t.amount), t.content, shop, float64(took.Microseconds())/1000)
		if got.fault != "" {
			d.say("    %s", got.fault)
		}
	}
}

func (d *demo) retry(ctx context.Context, ledger string) {
	status, _ := d.call(sepayBody(92750, "ACB", "19354957", "out", 50000, "Tra tien hang", "FT253146850"), d.source.Secret)
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
	body := sepayBody(92704, "ACB", "19354957", "in", 200000, "DH10293 thanh toan don hang", "FT253146800")
	status, answer := d.call(body, d.source.Secret)
	d.check(status == 200 && answer["duplicates"] == 1.0, "the provider repeats a call: answered 200, a duplicate, the shop isn't told again")
	status, answer = d.call(sepayBody(92704, "ACB", "19354957", "in", 2000000, "DH10293 thanh toan don hang", "FT253146800"), d.source.Secret)
	d.check(status == 200 && answer["conflicts"] == 1.0, "the same event with another amount: kept as a conflict, the first record stands")
	status, _ = d.call(sepayBody(92999, "ACB", "19354957", "in", 9999999, "DH1 da thanh toan", "FT1"), "a forger's guess")
	d.check(status == 401, "a forged call: refused with 401, nothing recorded")
	shops, ledgers := d.receiver.count("/shop"), d.receiver.count("/ledger")
	d.check(shops == 3 && ledgers == 3, "the receivers got %d and %d calls, not one more", shops, ledgers)
}

// number is one of the overview's, -1 where it can't be had.
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

func (d *demo) numbers() error {
	for _, line := range []struct {
		name string
		want int64
	}{
		{"total_transactions", 4}, {"total_in", 1848000}, {"total_out", 50000}, {"bank_accounts", 2}, {"webhooks_sent", 6}, {"webhooks_errors", 2},
	} {
		got := d.number(line.name)
		d.check(got == line.want, "%-18s %12s", line.name, terminal.VND(got))
	}
	return nil
}

// printVisit says how to look around.
func (d *demo) printVisit(ctx context.Context, every time.Duration) error {
	now, service, secret := time.Now(), d.server.Service, app.GeneratePassword()
	if _, err := service.CreateUser(ctx, app.DefaultAccountID, app.UserCreate{Name: "demo", Password: secret, Role: app.RoleOwner}, now); err != nil {
		return err
	}
	counter, token, err := service.CreateCounterLink(ctx, app.DefaultAccountID, app.CounterLinkCreate{Name: "Quầy 1", ShowsTotal: true}, now)
	if err != nil {
		return err
	}
	d.say(`
Still serving; Ctrl-C ends it and removes the database. In a browser:

  %[1]s   the dashboard (name: demo, password: %[2]s)
  %[1]s%[3]s   the screen at the counter, without signing in
`, d.base, secret, counter.Path(token))
	if every > 0 {
		d.say(`Somebody pays every %s or a little more, over the source for SePay: watch it come in on either page,
and go out in the dashboard's delivery history. /ledger fails now and then, and is tried again.
`, every)
	}
	d.say(`In another terminal:

  KEY=%[2]s
  curl -H "Authorization: Bearer $KEY" %[1]s/api/v1/transactions
  curl -H "Authorization: Bearer $KEY" %[1]s/api/v1/webhooks/history
  curl -H "Authorization: Bearer $KEY" '%[1]s/api/v1/analytics/period?range=weekly'
  curl -X POST -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" -d '{"gateway":"ACB","accountNumber":"19354957","transferType":"IN","transferAmount":75000,"transactionNumber":"FT1","content":"DH77"}' %[1]s/api/v1/transactions
  curl -X POST -H "Authorization: Bearer $KEY" %[1]s/api/v1/webhooks/1/test`, d.base, d.apiKey)
	return nil
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
