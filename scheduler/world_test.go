package scheduler_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"baoco/app"
	"baoco/scheduler"
	"baoco/sqlitestore"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newFile makes a database with one linked bank account, ACB 19354957.
func newFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "baoco.db")
	must(t, sqlitestore.Create(context.Background(), path, app.DefaultZone, time.Now()))
	s := open(t, path, nil)
	_, err := s.service.LinkBankAccount(context.Background(), 1, app.BankAccountLink{Bank: "ACB", AccountNumber: "19354957", AccountName: "A"}, time.Now())
	must(t, err)
	s.close(t)
	return path
}

// installation is the service over a file, with transport for the network and
// a courier once started.
type installation struct {
	store   *sqlitestore.Store
	service *app.Service
	sender  *scheduler.Sender
	courier *scheduler.Scheduler
	log     *logBuffer
}

// logBuffer is a log that is written and read at the same time.
type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func open(t *testing.T, path string, transport http.RoundTripper) *installation {
	t.Helper()
	return openWith(t, path, transport, nil)
}

// openWith is open with what stands in for the network of Telegram.
func openWith(t *testing.T, path string, transport, telegram http.RoundTripper) *installation {
	t.Helper()
	ctx := context.Background()
	store, err := sqlitestore.Open(ctx, path, sqlitestore.Options{Serve: true})
	must(t, err)
	zone, err := store.Zone(ctx)
	must(t, err)
	targets, err := app.ParseTargetPolicy([]string{"127.0.0.1/32"})
	must(t, err)
	sender := scheduler.NewSender(targets, "test", transport)
	service := app.NewService(app.Config{
		Store: store, Zone: zone, Targets: targets, Send: sender.Send, Alert: scheduler.NewAlerter(targets, "test", telegram).Send,
	})
	return &installation{store: store, service: service, sender: sender, log: &logBuffer{}}
}

func (s *installation) start(t *testing.T) {
	t.Helper()
	var err error
	s.courier, err = scheduler.Start(s.service, s.sender.Send, scheduler.Options{
		Installation: app.Installation{BaseURL: "https://baoco.example.vn"}, Logger: slog.New(slog.NewTextHandler(s.log, nil)),
	})
	must(t, err)
}

// close stops gracefully.
func (s *installation) close(t *testing.T) {
	t.Helper()
	if s.courier != nil {
		must(t, s.courier.Stop(context.Background()))
	}
	must(t, s.store.Close())
}

// crash ends without waiting for attempts in flight, as a kill would.
func (s *installation) crash(t *testing.T) {
	t.Helper()
	now, cancel := context.WithCancel(context.Background())
	cancel()
	must(t, s.courier.Stop(now))
	must(t, s.store.Close())
}

func (s *installation) webhook(t *testing.T, url string) app.Webhook {
	t.Helper()
	hook, _, err := s.service.CreateWebhook(context.Background(), 1, app.WebhookCreate{Name: "shop", URL: url, Type: app.WebhookAll}, time.Now())
	must(t, err)
	return hook
}

// record records a transaction by hand.
func (s *installation) record(t *testing.T, id string) app.Transaction {
	t.Helper()
	tr, _, err := s.service.RecordByHand(context.Background(), 1, app.Incoming{
		EventID: id, Gateway: "ACB", AccountNumber: "19354957", Number: id, Type: app.In, Amount: 200000, Content: "DH " + id, Time: time.Now(),
	}, nil, app.IdempotencyKey{}, time.Now())
	must(t, err)
	return tr
}

// history is all attempts, oldest first.
func (s *installation) history(t *testing.T) []app.Attempt {
	t.Helper()
	list, total, err := s.service.History(context.Background(), 1, app.HistoryFilter{Page: app.Page{Number: 1, Size: 100}})
	must(t, err)
	if int(total) != len(list) {
		t.Fatalf("the history holds %d records and says %d", len(list), total)
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

func respond(status int) *http.Response {
	return &http.Response{
		StatusCode: status, Status: fmt.Sprint(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"success":true}`)),
	}
}

// answerOf is an answer with a body.
func answerOf(response *http.Response, body string) *http.Response {
	response.Body = io.NopCloser(strings.NewReader(body))
	return response
}
