package scheduler_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/services"
	"baoco/scheduler"
	"baoco/scheduler/courier"
)

// This file has what the tests of catching up share: providers that answer as
// their documentation says, and an installation that reads their lists.

const listKey = "the-api-key-of-the-list"

// moment is when sources are made in these tests: noon in Vietnam.
var moment = time.Date(2026, 11, 20, 5, 0, 0, 0, time.UTC)

// movement is a transaction in a provider's list.
type movement struct {
	id, number, content, account string
	amount                       int64 // negative: out
	at                           time.Time
	raw                          string // stands for all of it, where it isn't empty
}

func (m movement) filled() movement {
	m.account = cmp.Or(m.account, "19354957")
	m.content = cmp.Or(m.content, "DH 1")
	m.amount = cmp.Or(m.amount, 200000)
	if m.at.IsZero() {
		m.at = moment.Add(time.Hour)
	}
	return m
}

func vietnam(t time.Time) string {
	return t.In(time.FixedZone("", 7*3600)).Format("2006-01-02 15:04:05")
}

// list is a provider's list, and what was asked of it.
type list struct {
	mu       sync.Mutex
	known    []movement // in the order in which the provider learned of them
	requests []*http.Request
	at       []time.Time
	// instead answers in place of the provider where it tells so.
	instead func(n int, w http.ResponseWriter, r *http.Request) bool
	handler func(l *list, w http.ResponseWriter, q url.Values)
	scheme  string
}

func sepayList(known ...movement) *list {
	return &list{known: known, handler: answerSePay, scheme: "Bearer "}
}

func cassoList(known ...movement) *list {
	return &list{known: known, handler: answerCasso, scheme: "Apikey "}
}

func (l *list) add(m ...movement) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known = append(l.known, m...)
}

func (l *list) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	l.requests, l.at = append(l.requests, r), append(l.at, time.Now())
	n, instead := len(l.requests), l.instead
	l.mu.Unlock()
	if instead != nil && instead(n, w, r) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case r.Method != http.MethodGet || r.URL.Path != "/v2/transactions":
		http.NotFound(w, r)
	case r.Header.Get("Authorization") != l.scheme+listKey:
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"status":"error","message":"Unauthorized","error_code":"unauthorized","error":401,"data":null}`)
	default:
		l.handler(l, w, r.URL.Query())
	}
}

// RoundTrip lets a list stand in for the network.
func (l *list) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	l.ServeHTTP(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

// asked lists what was asked for, the values of the named parameters.
func (l *list) asked(names ...string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for _, r := range l.requests {
		var values []string
		for _, name := range names {
			values = append(values, r.URL.Query().Get(name))
		}
		all = append(all, strings.Join(values, " "))
	}
	return all
}

func (l *list) forgetRequests() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests, l.at = nil, nil
}

func (l *list) answer(status int, header ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.instead = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		return true
	}
}

func (l *list) answerAgain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.instead = nil
}

// answerSePay is GET /v2/transactions of SePay.
func answerSePay(l *list, w http.ResponseWriter, q url.Values) {
	from := 0
	if since := q.Get("since_id"); since != "" {
		i := slices.IndexFunc(l.known, func(m movement) bool { return m.id == since })
		if i < 0 {
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprint(w, `{"status":"error","message":"since_id","error_code":"validation_error"}`)
			return
		}
		from = i + 1
	}
	matching := slices.Clone(l.known[from:])
	matching = slices.DeleteFunc(matching, func(m movement) bool { return vietnam(m.filled().at) < q.Get("transaction_date_from") })
	if q.Get("transaction_date_sort") == "asc" {
		slices.SortStableFunc(matching, func(a, b movement) int { return a.filled().at.Compare(b.filled().at) })
	} else {
		slices.SortStableFunc(matching, func(a, b movement) int { return b.filled().at.Compare(a.filled().at) })
	}
	page, _ := strconv.Atoi(q.Get("page"))
	size, _ := strconv.Atoi(q.Get("per_page"))
	shown := cut(matching, page, size)
	records := []string{}
	for _, m := range shown {
		records = append(records, m.sepay())
	}
	fmt.Fprintf(w,
		`{"status":"success","data":[%s],"meta":{"pagination":{"total":%d,"per_page":%d,"current_page":%d,"last_page":%d,"has_more":%v}}}`,
		strings.Join(records, ","), len(matching), size, page, (len(matching)+size-1)/size, page*size < len(matching))
}

func (m movement) sepay() string {
	if m.raw != "" {
		return m.raw
	}
	m = m.filled()
	record := map[string]any{
		"id": m.id, "transaction_date": vietnam(m.at), "account_number": m.account, "va": "", "transfer_type": "in",
		"amount_in": m.amount, "amount_out": 0, "accumulated": 0, "transaction_content": m.content, "reference_number": m.number,
		"code": nil, "bank_brand_name": "ACB", "bank_account_id": "d6719d04-0000-0000-0000-a6006ab65aca", "va_id": nil, "webhook_success": 0,
	}
	if m.amount < 0 {
		record["transfer_type"], record["amount_in"], record["amount_out"] = "out", 0, -m.amount
	}
	return asJSON(record)
}

// answerCasso is GET /v2/transactions of Casso.
func answerCasso(l *list, w http.ResponseWriter, q url.Values) {
	matching := slices.DeleteFunc(slices.Clone(l.known), func(m movement) bool {
		day := vietnam(m.filled().at)[:10]
		return day < q.Get("fromDate") || day > q.Get("toDate")
	})
	slices.SortStableFunc(matching, func(a, b movement) int { return a.filled().at.Compare(b.filled().at) })
	page, _ := strconv.Atoi(q.Get("page"))
	size, _ := strconv.Atoi(q.Get("pageSize"))
	records := []string{}
	for _, m := range cut(matching, page, size) {
		records = append(records, m.casso())
	}
	fmt.Fprintf(w,
		`{"error":0,"message":"success","data":{"page":%d,"pageSize":%d,"nextPage":null,"prevPage":null,"totalPages":%d,"totalRecords":%d`+
			`,"records":[%s]}}`,
		page, size, (len(matching)+size-1)/size, len(matching), strings.Join(records, ","))
}

func (m movement) casso() string {
	if m.raw != "" {
		return m.raw
	}
	m = m.filled()
	return asJSON(map[string]any{
		"id": json.Number(m.id), "tid": m.number, "description": m.content, "amount": m.amount, "cusum_balance": 0,
		"when": strings.Replace(vietnam(m.at), " ", "T", 1), "bankSubAccId": m.account, "accountId": 733, "bankCodeName": "acb_digi",
	})
}

func cut(all []movement, page, size int) []movement {
	if page < 1 || size < 1 || size > 100 {
		return nil
	}
	return all[min(len(all), (page-1)*size):min(len(all), page*size)]
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// called is the transaction as the provider's call names it, under id.
func (m movement) called(id string) inbound.Incoming {
	m = m.filled()
	e := inbound.Incoming{
		EventID: id, Gateway: "ACB", AccountNumber: m.account, Number: m.number, Type: app.In, Amount: m.amount, Content: m.content, Time: m.at,
	}
	if m.amount < 0 {
		e.Type, e.Amount = app.Out, -m.amount
	}
	return e
}

// reader is an installation that catches up on lists.
type reader struct {
	*installation
	path      string
	transport http.RoundTripper
	now       time.Time
	spoil     func() // runs before a page is read
}

// newReader makes an installation with a webhook, whose poller uses transport
// for the network.
func newReader(t *testing.T, transport http.RoundTripper) *reader {
	t.Helper()
	r := &reader{path: newFile(t), transport: transport, now: moment}
	r.open(t)
	r.webhook(t, "https://shop.example.vn/hook")
	return r
}

func (r *reader) open(t *testing.T) {
	t.Helper()
	targets := apptest.Targets(t, "127.0.0.1/32")
	sender := courier.NewSender(targets, "test",
		&network{start: time.Now(), answer: func(int, *http.Request) (*http.Response, error) { return respond(200), nil }})
	var poller *scheduler.Poller
	w := apptest.Open(t, r.path, services.Config{
		Targets: targets, Send: sender.Send,
		Poll: func(ctx context.Context, source inbound.Source, progress string, now time.Time) (inbound.PolledPage, error) {
			if r.spoil != nil {
				r.spoil()
			}
			return poller.Poll(ctx, source, progress, now)
		},
	})
	poller = scheduler.NewPoller(targets, w.Services.Ledger.Zone(), "test", r.transport)
	r.installation = &installation{World: w, sender: sender}
	t.Cleanup(func() { _ = w.Store.Close() })
}

// source makes a source at the reader's time, whose API is at url.
func (r *reader) source(t *testing.T, kind app.Provider, url string) inbound.Source {
	t.Helper()
	known, _ := r.Services.Inbound.ProviderKind(kind)
	source, err := r.Services.Inbound.AddSource(context.Background(), 1, inbound.SourceAdd{
		Auth: known.Auths[0], Provider: kind, Name: string(kind), APIKey: listKey, APIURL: url,
	}, r.now)
	must(t, err)
	return source
}

// catchUp reads the lists of all sources a while later.
func (r *reader) catchUp(t *testing.T, after time.Duration) []inbound.CaughtUp {
	t.Helper()
	r.now = r.now.Add(after)
	results, err := r.Services.Inbound.CatchUp(context.Background(), r.now)
	must(t, err)
	return results
}

// one is catchUp where there is one source, whose list is read to its end.
func (r *reader) one(t *testing.T, after time.Duration) inbound.CaughtUp {
	t.Helper()
	results := r.catchUp(t, after)
	if len(results) != 1 || results[0].Err != nil {
		t.Fatalf("results: %+v", results)
	}
	return results[0]
}

// calls records a call of the source, as web does.
func (r *reader) calls(t *testing.T, source inbound.Source, elements ...inbound.Incoming) inbound.Recording {
	t.Helper()
	recording, err := r.Services.Inbound.RecordTransactions(context.Background(), inbound.Call{
		AccountID: 1, Source: r.reload(t, source), Channel: app.ChannelCall, Body: []byte("{}"), ReceivedAt: r.now, Elements: elements,
	})
	must(t, err)
	return recording
}

// reload gives the source as it stands in the file.
func (r *reader) reload(t *testing.T, source inbound.Source) inbound.Source {
	t.Helper()
	sources, err := r.Services.Inbound.Sources(context.Background(), 1)
	must(t, err)
	for _, s := range sources {
		if s.ID == source.ID {
			return s
		}
	}
	t.Fatalf("source %d is gone", source.ID)
	return source
}

// wantRows checks how many transactions and how many deliveries there are.
func (r *reader) wantRows(t *testing.T, transactions, deliveries int) []app.Transaction {
	t.Helper()
	all, err := r.Services.Ledger.Transactions(context.Background(), 1,
		app.TransactionFilter{Sort: app.SortID, Page: app.Page{Number: 1, Size: 100}})
	must(t, err)
	due, err := r.Services.Deliveries.Due(context.Background(), delivery.DueFilter{WebhookID: 1, Limit: 1000}, r.now.Add(24*time.Hour))
	must(t, err)
	if int(all.Total) != transactions || len(due) != deliveries {
		t.Fatalf("%d transactions and %d deliveries, want %d and %d: %+v", all.Total, len(due), transactions, deliveries, all.Rows)
	}
	return all.Rows
}

func (r *reader) events(t *testing.T) []inbound.Event {
	t.Helper()
	events, _, err := r.Services.Inbound.InboundEvents(context.Background(), 1, inbound.Filter{Page: app.Page{Number: 1, Size: 100}})
	must(t, err)
	return events
}

// tallies checks that what those of events that are pages said, read again,
// adds up to what was counted when they were recorded.
func (r *reader) tallies(t *testing.T, events ...inbound.Event) {
	t.Helper()
	for _, e := range events {
		if e.Channel != app.ChannelPoll {
			continue
		}
		read, err := r.Services.Inbound.ReadInboundEvent(context.Background(), 1, e.ID)
		must(t, err)
		var said inbound.Recording
		for _, i := range read.Elements {
			said.Add(i.State, 0)
		}
		if said.Recorded != e.Recorded || said.Duplicates != e.Duplicates || said.Unassigned != e.Unassigned || said.Conflicts != e.Conflicts ||
			said.Rejected != e.Rejected {
			t.Errorf("page %d is read as %+v and was counted as %+v", e.ID, said, e.Recording)
		}
	}
}

func (r *reader) bankAccount(t *testing.T) app.BankAccount {
	t.Helper()
	accounts, err := r.Services.Ledger.BankAccounts(context.Background(), 1)
	must(t, err)
	return accounts[0]
}

// wantFault checks that the one source's list can't be read, and why.
func (r *reader) wantFault(t *testing.T, results []inbound.CaughtUp, fault inbound.PollFault, changed bool) {
	t.Helper()
	if len(results) != 1 || results[0].Err == nil || results[0].Changed != changed ||
		!strings.HasPrefix(results[0].Err.Error(), string(fault)+": ") {
		t.Fatalf("results %+v, want one with the fault %s, changed %v", results, fault, changed)
	}
	if strings.Contains(results[0].Err.Error(), listKey) {
		t.Errorf("the error holds the API key: %v", results[0].Err)
	}
}

// startReading starts the regular work.
func (r *reader) startReading(t *testing.T, every time.Duration) {
	t.Helper()
	var err error
	r.courier, err = scheduler.Start(r.Services, r.sender.Send, scheduler.Options{CatchUp: every})
	must(t, err)
}

// bubble runs a test in virtual time, so that keeping to a pace takes none.
func bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}
