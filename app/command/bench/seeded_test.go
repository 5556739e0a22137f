package bench_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/alert"
	"baoco/app/apptest"
	"baoco/app/command/serve"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/payment"
	"baoco/app/paymentcode"
	"baoco/app/services"
	"baoco/app/stream"
	"baoco/sqlitestore"
	"baoco/web"
	"baoco/web/webtest/pages"
)

// The benchmarks of this file measure the reading requests of the API, the pages
// of the dashboard, and a provider's call, on a file with many transactions:
//
//	go test -run '^$' -bench Seeded -benchtime 20x -timeout 2h ./app/command/bench -rows 1000000
var rows = flag.Int64("rows", 100_000, "transactions in the file of the benchmarks, with as many deliveries and attempts, over three years")

// seeded is a server on a seeded file.
type seeded struct {
	*httptest.Server
	key    string // of the API
	cookie string // of a session of the dashboard
	banks  []int64
	bank   int64
	hook   int64
	file   int64 // that was imported
	bill   int64 // of a till; the payment request before it is none
	source inbound.Source
}

const seededUser, seededPassword = "bench", "a long enough passphrase"

// openSeeded makes a file with eight bank accounts, each with a webhook, fills
// it and serves it. Nothing is delivered.
func openSeeded(b *testing.B, rows int64) *seeded {
	b.Helper()
	ctx, now := context.Background(), time.Now()
	db := filepath.Join(b.TempDir(), "seeded.db")
	apptest.Must(b, sqlitestore.Create(ctx, db, app.DefaultZone, now))
	s := &seeded{}
	s.setUp(b, db, now)
	if rows > 0 {
		apptest.Seed(b, db, apptest.Seeding{AccountID: app.DefaultAccountID, Rows: rows, From: now.AddDate(-3, 0, 0), To: now.Add(-time.Minute)})
	}
	store := apptest.OpenStore(b, db, true)
	b.Cleanup(func() { apptest.Must(b, store.Close()) })
	service, _, err := serve.NewService(ctx, store, nil)
	apptest.Must(b, err)
	s.Server = httptest.NewServer(web.New(web.Config{Services: service, Limit: 1_000_000, ListingLimit: 1_000_000}))
	b.Cleanup(s.Close)
	s.cookie = s.signIn(b, seededUser)
	if rows > 0 {
		s.use(b, service, now)
	}
	return s
}

// use makes one of each thing that a page is about, beside those that are there
// already: a counter link, a channel of alerts, a stream, an import, and a call about a bank
// account that isn't linked.
func (s *seeded) use(b *testing.B, service *services.All, now time.Time) {
	ctx := context.Background()
	_, _, err := service.Payments.CreateCounterLink(ctx, app.DefaultAccountID,
		payment.CounterLinkCreate{Name: "counter", ShowsTotal: true}, now)
	apptest.Must(b, err)
	_, err = service.Alerts.SetAlertChannel(ctx,
		alert.Channel{AccountID: app.DefaultAccountID, Medium: alert.Telegram,
			Telegram: alert.TelegramSettings{Token: "123456789:" + strings.Repeat("A", 35), Chat: "1"}}, now)
	apptest.Must(b, err)
	_, _, err = service.Streams.CreateStream(ctx, app.DefaultAccountID,
		stream.Create{Name: "ledger", URL: "nats://nats.example.vn", Topic: "transactions"}, now)
	apptest.Must(b, err)
	statement, err := service.Inbound.NewImport(ctx,
		inbound.ImportOptions{AccountID: app.DefaultAccountID, BankAccountID: s.bank, File: "statement.csv"})
	apptest.Must(b, err)
	_, err = statement.Add(ctx, []inbound.Incoming{{AccountNumber: "19354954", Type: app.In, Amount: 200_000, Content: "statement",
		Time: now.Add(-time.Hour)}}, now)
	apptest.Must(b, err)
	s.file = statement.ID()
	s.bill = askPayments(b, service, 10_000, now)
	request := s.call(`{"transactions":[{"id":"unlinked","gateway":"ACB","accountNumber":"700700","content":"DH","transferType":"IN"` +
		`,"transferAmount":200000}]}`)
	response, err := http.DefaultClient.Do(request)
	apptest.Must(b, err)
	response.Body.Close()
}

// call is a provider's call with a body.
func (s *seeded) call(body string) *http.Request {
	request, _ := http.NewRequest(http.MethodPost, s.URL+s.source.URLPath(), strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+s.source.Secret)
	request.Header.Set("Content-Type", "application/json")
	return request
}

func (s *seeded) setUp(b *testing.B, db string, now time.Time) {
	ctx := context.Background()
	store := apptest.OpenStore(b, db, false)
	service, _, err := serve.NewService(ctx, store, nil)
	apptest.Must(b, err)
	_, err = service.Ledger.CreateCodePattern(ctx, app.DefaultAccountID,
		paymentcode.Pattern{Prefix: "DH", Least: 6, Most: 6, Alphabet: paymentcode.Digits}, now)
	apptest.Must(b, err)
	for i := range 8 {
		linked, err := service.Inbound.LinkBankAccount(ctx, app.DefaultAccountID,
			inbound.BankAccountLink{Bank: "ACB", AccountNumber: fmt.Sprint(19354950 + i), AccountName: "NGUYEN VAN A"}, now)
		apptest.Must(b, err)
		hook, _, err := service.Deliveries.CreateWebhook(ctx, app.DefaultAccountID, delivery.WebhookCreate{
			Name: fmt.Sprintf("shop %d", i+1), URL: "https://shop.example.vn/", Type: delivery.WebhookAll,
			BankAccountIDs: []int64{linked.BankAccount.ID},
		}, now)
		apptest.Must(b, err)
		s.banks = append(s.banks, linked.BankAccount.ID)
		if i == 4 {
			s.bank, s.hook = linked.BankAccount.ID, hook.ID
		}
	}
	s.source, err = service.Inbound.AddSource(ctx, app.DefaultAccountID, inbound.SourceAdd{Provider: "native", Name: "bench"}, now)
	apptest.Must(b, err)
	_, s.key, err = service.Access.CreateAPIKey(ctx, app.DefaultAccountID, access.APIKeyCreate{Name: "bench", Scope: access.ScopeFull}, now)
	apptest.Must(b, err)
	_, err = service.Access.CreateUser(ctx, app.DefaultAccountID,
		access.UserCreate{Name: seededUser, Password: seededPassword, Role: access.RoleOwner}, now)
	apptest.Must(b, err)
	for name, banks := range seededLimits(s) {
		u, err := service.Access.CreateUser(ctx, app.DefaultAccountID,
			access.UserCreate{Name: name, Password: seededPassword, Role: access.RoleAccountant}, now)
		apptest.Must(b, err)
		_, err = service.Access.LimitUser(ctx, app.DefaultAccountID, u.ID, access.BankAccountLimit{On: true, IDs: banks})
		apptest.Must(b, err)
	}
	apptest.Must(b, store.Close())
}

// askPayments makes payment requests, the last one a bill of the first user, and as many code patterns as an account
// may have. It gives the id of the bill.
func askPayments(b *testing.B, service *services.All, requests int, now time.Time) (bill int64) {
	b.Helper()
	ctx := context.Background()
	banks, err := service.Ledger.BankAccounts(ctx, app.DefaultAccountID)
	apptest.Must(b, err)
	patterns, err := service.Ledger.CodePatterns(ctx, app.DefaultAccountID)
	apptest.Must(b, err)
	for i := len(patterns); i < app.MaxCodePatterns; i++ {
		_, err := service.Ledger.CreateCodePattern(ctx, app.DefaultAccountID,
			paymentcode.Pattern{Prefix: fmt.Sprintf("B%c%c", 'A'+i%26, 'A'+i/26), Least: 8, Most: 8, Alphabet: paymentcode.Digits}, now)
		apptest.Must(b, err)
	}
	for i := range requests {
		in := payment.RequestCreate{Amount: int64(100_000 + i), BankAccountID: banks[0].ID, Reference: fmt.Sprintf("HD-%d", i), Prefix: "BZA"}
		if i == requests-1 {
			in.CashierID = 1
		}
		r, err := service.Payments.CreatePaymentRequest(ctx, app.DefaultAccountID, in, app.IdempotencyKey{}, now)
		apptest.Must(b, err)
		bill = r.ID
	}
	return bill
}

// BenchmarkPayments compares what recording costs where no content can be matched, with
// what it costs with 50 code patterns and 10,000 open payment requests.
func BenchmarkPayments(b *testing.B) {
	for _, requests := range []int{0, 10_000} {
		ctx, now := context.Background(), time.Now()
		w := apptest.Open(b, apptest.NewFile(b), services.Config{})
		w.Link("ACB", apptest.SomeAccount)
		w.Webhook("https://shop.example.vn/", delivery.WebhookAll)
		source := w.Native()
		if requests > 0 {
			askPayments(b, w.Services, requests, now)
		}
		n := 0
		b.Run(fmt.Sprintf("%d requests", requests), func(b *testing.B) {
			for b.Loop() {
				elements := make([]inbound.Incoming, 100)
				for i := range elements {
					n++
					id := fmt.Sprint("E", n)
					elements[i] = inbound.Incoming{EventID: id, Number: id, Gateway: "ACB", AccountNumber: apptest.SomeAccount, Type: app.In,
						Amount: int64(50_000 + n%1000), Time: now,
						Content: "MBVCB.3278907687.thanh toan don hang A" + id + ".CT tu 0071000888888 NGUYEN VAN A toi 19354957"}
				}
				_, err := w.Services.Inbound.RecordTransactions(ctx,
					inbound.Call{AccountID: 1, Source: source, Channel: app.ChannelCall, ReceivedAt: now, Body: []byte("{}"), Elements: elements})
				apptest.Must(b, err)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*100), "us/transaction")
		})
		w.Close()
	}
}

// signIn gives the cookie of a new session.
func (s *seeded) signIn(b *testing.B, name string) (cookie string) {
	client := &http.Client{Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.PostForm(s.URL+"/login", url.Values{"name": {name}, "password": {seededPassword}})
	apptest.Must(b, err)
	response.Body.Close()
	for _, c := range response.Cookies() {
		cookie += c.Name + "=" + c.Value + ";"
	}
	if cookie == "" {
		b.Fatalf("signing in was answered with %s", response.Status)
	}
	return cookie
}

// measure repeats a request one after the other, each of which must be answered
// with 200, and reports the quantiles of their times.
func measure(b *testing.B, name string, request func(n int) *http.Request) {
	b.Run(name, func(b *testing.B) {
		var took []time.Duration
		for b.Loop() {
			began := time.Now()
			response, err := http.DefaultClient.Do(request(len(took)))
			apptest.Must(b, err)
			_, err = io.Copy(io.Discard, response.Body)
			apptest.Must(b, err)
			response.Body.Close()
			took = append(took, time.Since(began))
			if response.StatusCode != http.StatusOK {
				b.Fatalf("%s is answered with %s", response.Request.URL, response.Status)
			}
		}
		slices.Sort(took)
		for metric, d := range map[string]time.Duration{"ms-p50": took[len(took)/2], "ms-p99": took[len(took)*99/100],
			"ms-max": took[len(took)-1]} {
			b.ReportMetric(float64(d.Microseconds())/1000, metric)
		}
	})
}

// get measures the requests of a list, a name and a path on each line. What
// stands in braces is filled in.
func (s *seeded) get(b *testing.B, header, value, list string) {
	month := time.Now().AddDate(-1, 0, 0)
	fill := strings.NewReplacer(
		"{dates}", "from="+month.Format(app.DateLayout)+"&to="+month.AddDate(0, 1, 0).Format(app.DateLayout),
		"{last}", fmt.Sprint(min(10_000, *rows/app.DefaultPageSize)), "{rows}", fmt.Sprint(*rows), "{some}", fmt.Sprint(max(1, *rows/3)),
		"{bank}", fmt.Sprint(s.bank), "{hook}", fmt.Sprint(s.hook), "{source}", fmt.Sprint(s.source.ID),
		"{today}", time.Now().Format(app.DateLayout), "{year}", month.Format(app.DateLayout), "{month}", month.Format("2006-01"),
		"{unassigned}", fmt.Sprint(*rows+1), "{file}", fmt.Sprint(s.file), "{payment}", fmt.Sprint(s.bill-1),
		"{bill}", fmt.Sprint(s.bill),
	)
	for line := range strings.Lines(list) {
		name, path, found := strings.Cut(strings.TrimSpace(line), ": ")
		if !found {
			continue
		}
		request, err := http.NewRequest(http.MethodGet, s.URL+fill.Replace(path), nil)
		apptest.Must(b, err)
		request.Header.Set(header, value)
		measure(b, name, func(int) *http.Request { return request })
	}
}

func BenchmarkSeededAPI(b *testing.B) {
	s := openSeeded(b, *rows)
	s.get(b, "Authorization", "Bearer "+s.key, `
		overview: /api/v1/analytics/overview
		period, daily: /api/v1/analytics/period?range=daily
		period, weekly: /api/v1/analytics/period?range=weekly
		period, monthly: /api/v1/analytics/period?range=monthly
		account status: /api/v1/analytics/status
		a report of a year: /api/v1/reports/period?from={year}&to={today}&by=month
		bank accounts: /api/v1/bank-accounts
		summary: /api/v1/bank-accounts/summary
		webhooks: /api/v1/webhooks
		streams: /api/v1/streams
		transactions: /api/v1/transactions
		transactions, the last page: /api/v1/transactions?page={last}
		transactions, 100 a page: /api/v1/transactions?per_page=100
		transactions since an id: /api/v1/transactions?since_id={some}
		transactions of a bank account: /api/v1/transactions?bank_account_id={bank}
		transactions OUT: /api/v1/transactions?type=OUT
		transactions of a month: /api/v1/transactions?{dates}
		transactions of a month and a bank account: /api/v1/transactions?bank_account_id={bank}&{dates}
		transactions by amount: /api/v1/transactions?min_amount=1000000&max_amount=1010000
		transactions by date: /api/v1/transactions?sort=-date
		transactions by date, the last page: /api/v1/transactions?sort=-date&page={last}
		transactions, search for a frequent text: /api/v1/transactions?q=thanh+toan
		transactions, search for a text that is there once: /api/v1/transactions?q=DH{some}
		transactions, search for a text that is not there: /api/v1/transactions?q=khongcogi
		history: /api/v1/webhooks/history
		history, the last page: /api/v1/webhooks/history?page={last}
		history of a webhook: /api/v1/webhooks/history?webhook_id={hook}
		history of errors: /api/v1/webhooks/history?status=0
		history of successes: /api/v1/webhooks/history?status=1
		history OUT: /api/v1/webhooks/history?type=OUT
		history of a month: /api/v1/webhooks/history?{dates}
		history of a transaction: /api/v1/webhooks/history?transaction_id={some}
		history of a delivery: /api/v1/webhooks/history?delivery_id={some}
		history, search for a frequent text: /api/v1/webhooks/history?q=thanh+toan
		history, search for a text that is there once: /api/v1/webhooks/history?q=DH{some}
		history of errors, search for a frequent text: /api/v1/webhooks/history?status=0&q=thanh+toan
	`)
}

// seededPages has every page of the dashboard, without filters and with them.
const seededPages = `
		overview: /
		overview of 90 days: /?days=90
		transactions: /transactions
		transactions, the last page: /transactions?page={last}&until={rows}
		transactions of a bank account: /transactions?bank_account_id={bank}
		transactions OUT: /transactions?type=OUT
		transactions of a month: /transactions?{dates}
		transactions that failed: /transactions?delivery_state=failed
		transactions that are pending: /transactions?delivery_state=pending
		transactions, search for a text that is there once: /transactions?q=DH{some}
		transactions, search for a frequent text: /transactions?q=thanh+toan
		transactions, search for two letters: /transactions?q=ck
		transactions, search for an amount: /transactions?q=1500k
		transactions, search for an amount that is not there: /transactions?q=7777777777
		transactions, search for the end of a bank account: /transactions?q=4954
		transactions, search on a bank account: /transactions?q=thanh+toan&bank_account_id={bank}
		transactions, search of a month: /transactions?q=thanh+toan&{dates}
		transactions by amount: /transactions?min=1000000&max=1010000
		transactions by a frequent amount: /transactions?min=1000000
		transactions by a rare amount: /transactions?min=5008000
		transactions by amount on a bank account: /transactions?min=1000000&max=1010000&bank_account_id={bank}
		transactions by amount, search: /transactions?min=1000000&max=1010000&q=thanh+toan
		transactions that were delivered: /transactions?delivery_state=delivered
		transactions that were delivered, search: /transactions?delivery_state=delivered&q=thanh+toan
		transactions that were never sent: /transactions?delivery_state=unsent
		a transaction: /transactions/{some}
		a day: /day
		a day of a year ago: /day?date={year}
		a day as a file: /transactions/export?format=xlsx&from={year}&to={year}
		a payer: /payer?name=NGUYEN+VAN+A
		the books: /book
		the book of revenue of a month: /book/sheet?form=s1a&period={month}
		the book of money at banks of a month: /book/sheet?form=s2e&period={month}
		the books, close: /book/close?period={month}
		what is revenue: /book/revenue
		the report of a month: /report
		the report of a month as a file: /report/file?format=xlsx
		ticked transactions: /transactions/chosen?row=1&row={some}&row={rows}
		import: /transactions/import
		import, undo: /transactions/import/{file}/undo
		webhooks: /webhooks
		a new webhook: /webhooks/new
		a webhook: /webhooks/{hook}
		a webhook, edit: /webhooks/{hook}/edit
		a webhook, rotate: /webhooks/{hook}/rotate
		a webhook, replay: /webhooks/{hook}/replay
		a webhook, delete: /webhooks/{hook}/delete
		streams: /streams
		a new stream: /streams/new
		a stream: /streams/1
		a stream, edit: /streams/1/edit
		a stream, rotate: /streams/1/rotate
		a stream, delete: /streams/1/delete
		phones that ring: /settings/phones
		the signature tool: /tools/signature?webhook_id={hook}
		deliveries: /deliveries
		deliveries, the last page: /deliveries?page={last}
		deliveries of a webhook: /deliveries?webhook_id={hook}
		deliveries with errors: /deliveries?status=0
		deliveries of a month: /deliveries?{dates}
		deliveries, search for a frequent text: /deliveries?q=thanh+toan
		deliveries, search for a less frequent text: /deliveries?q=1234
		deliveries, search for a text that is there once: /deliveries?q=DH{some}
		deliveries of a webhook, search: /deliveries?webhook_id={hook}&q=thanh+toan
		deliveries with errors, search: /deliveries?status=0&q=thanh+toan
		deliveries of a month, search: /deliveries?q=thanh+toan&{dates}
		deliveries, search for two characters: /deliveries?q=dh
		deliveries that wait: /deliveries?status=waiting
		a delivery: /deliveries/{some}
		sending again: /deliveries/resend?failed=all
		sending again, search: /deliveries/resend?failed=all&q=thanh+toan
		sending again, a choice: /deliveries/resend?row=1&row={some}&row={rows}
		bank accounts: /banks
		a new bank account: /banks/new
		a bank account: /banks/{bank}
		a bank account, unlink: /banks/{bank}/unlink
		its VietQR code: /banks/{bank}/qr.png?amount=150000&content=DH1
		sources: /inbound
		a source: /inbound/sources/{source}
		a new source: /inbound/sources/new
		a new source of a provider: /inbound/sources/new?provider=sepay
		a source, rotate: /inbound/sources/{source}/rotate
		a source, remove: /inbound/sources/{source}/remove
		inbound log: /inbound/events
		inbound log, the last page: /inbound/events?page={last}
		inbound log of a month: /inbound/events?{dates}
		inbound log, what waits: /inbound/events?state=unassigned
		inbound log of a source: /inbound/events?source_id={source}
		an inbound call: /inbound/events/{some}
		an inbound call that waits: /inbound/events/{unassigned}
		refused calls: /inbound/refused
		API keys: /keys
		an API key, revoke: /keys/1/revoke
		settings: /settings
		settings, sign out everywhere: /settings/sign-out
		settings, sign-in: /settings/sign-in
		settings, sign out elsewhere: /settings/sign-in/others
		the manifest: /manifest.webmanifest
		a user: /settings/users/1
		a user, remove: /settings/users/1/remove
		a counter link, revoke: /settings/counters/1/revoke
		audit log: /settings/audit
		audit log, half way back: /settings/audit?before={some}
		audit log of a webhook: /settings/audit?noun=webhook&id={hook}
		audit log of somebody who did little: /settings/audit?who=nobody
		audit log, a deed in a month: /settings/audit?deed=user.remove&{dates}
		payment requests: /payments
		payment requests, one reference: /payments?reference=HD-77
		payment requests, underpaid: /payments?status=underpaid
		a payment request: /payments/{payment}
		a payment request, cancel: /payments/{payment}/cancel
		a payment request, new: /payments/new
		unmatched money: /payments/unmatched
		till: /till
		till, a bill: /till/{bill}
		till, receipt: /till/{bill}/receipt
		till, customer's screen: /till/display
		till, manifest: /till/manifest.webmanifest
		shifts: /shifts
		shift: /shifts/1
		payment codes: /settings/codes
		payment codes, try a content: /settings/codes?content=DH001234
		a code pattern, delete: /settings/codes/1/delete
		alerts: /settings/alerts
		alerts, remove: /settings/alerts/telegram/remove
		guide: /guide
		the system: /system
		help: /help
		a page of the help: /help/receiver
		counter screen: /counter
		counter screen, manifest: /counter/manifest.webmanifest
		counter screen, a sentence: /counter/backlog?count=25&sum=325000
	`

func BenchmarkSeededPages(b *testing.B) {
	s := openSeeded(b, *rows)
	s.get(b, "Cookie", s.cookie, seededPages)
}

// seededLimits are users who are limited to some bank accounts.
func seededLimits(s *seeded) map[string][]int64 {
	return map[string][]int64{"one": s.banks[4:5], "three": s.banks[3:6]}
}

// BenchmarkSeededLimitedPages measures the pages that users of seededLimits may see.
func BenchmarkSeededLimitedPages(b *testing.B) {
	s := openSeeded(b, *rows)
	for name := range seededLimits(s) {
		cookie := s.signIn(b, name)
		for line := range strings.Lines(seededPages) {
			title, path, found := strings.Cut(strings.TrimSpace(line), ": ")
			if !found || !strings.HasPrefix(path+"?", "/?") && !strings.HasPrefix(path, "/transactions?") && path != "/transactions" &&
				!strings.HasPrefix(path, "/day") && path != "/banks" && path != "/banks/{bank}" && path != "/counter" {
				continue
			}
			s.get(b, "Cookie", cookie, name+", "+title+": "+path)
		}
	}
}

// TestSeededPages has a line for every route of the dashboard with a page. Those for
// somebody who isn't signed in show nothing of the file; whoever has a passkey isn't
// signed in by a password.
func TestSeededPages(t *testing.T) {
	t.Parallel()
	var paths []string
	for line := range strings.Lines(seededPages) {
		if _, path, found := strings.Cut(strings.TrimSpace(line), ": "); found {
			paths = append(paths, strings.NewReplacer("{", "", "}", "").Replace(path))
		}
	}
	for _, page := range pages.Without(paths, "/login", "/login/code", "/login/passkey/options", "/settings/sign-in/passkeys/options",
		"/settings/sign-in/passkeys/{id}", "/setup/{token}", "/counter/{token}", "/counter/{token}/manifest.webmanifest", "/sw.js",
		"/book/open") { // no book is closed there
		t.Errorf("%s isn't measured: seededPages needs a line", page)
	}
}

// BenchmarkSeededCall compares a provider's call on an empty file with one on
// the seeded file.
func BenchmarkSeededCall(b *testing.B) {
	for _, n := range []int64{0, *rows} {
		s := openSeeded(b, n)
		measure(b, fmt.Sprintf("%d rows", n), func(i int) *http.Request {
			return s.call(fmt.Sprintf(`{"transactions":[{"id":"B%[1]d-%[2]d","gateway":"ACB","transactionDate":"2026-11-21 10:59:30"`+
				`,"transactionNumber":"B%[1]d-%[2]d",`+
				`"accountNumber":"19354954","content":"DH","transferType":"IN","transferAmount":200000}]}`, b.N, i))
		})
	}
}
