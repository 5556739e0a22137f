package scheduler_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/services"
	"baoco/app/target"
	"baoco/app/upkeep"
	"baoco/scheduler"
	"baoco/scheduler/courier"
)

var (
	must       = apptest.Must
	eventually = apptest.Eventually
)

func TestMain(m *testing.M) { os.Exit(apptest.RunTests(m, 4)) }

// newFile makes a database with one linked bank account, ACB 19354957.
func newFile(t *testing.T) string {
	t.Helper()
	w := apptest.Open(t, apptest.NewFile(t), services.Config{})
	w.Link("ACB", "19354957")
	w.Close()
	return w.Path
}

// installation is the service over a file, with transport for the network and
// a courier once started.
type installation struct {
	*apptest.World
	sender  *courier.Sender
	courier *scheduler.Scheduler
	log     *apptest.Output
}

func open(t *testing.T, path string, transport http.RoundTripper) *installation {
	t.Helper()
	return openWith(t, path, transport, nil)
}

// openWith is open with what stands in for the network of Telegram.
func openWith(t *testing.T, path string, transport, telegram http.RoundTripper) *installation {
	t.Helper()
	targets := apptest.Targets(t, "127.0.0.1/32")
	sender := courier.NewSender(targets, "test", transport)
	w := apptest.Open(t, path,
		services.Config{Targets: targets, Send: sender.Send, Alert: scheduler.NewAlerter(targets, "test", telegram).Send})
	return &installation{World: w, sender: sender, log: &apptest.Output{}}
}

func (s *installation) start(t *testing.T) {
	t.Helper()
	var err error
	s.courier, err = scheduler.Start(s.Services, s.sender.Send, scheduler.Options{
		Installation: upkeep.Installation{BaseURL: "https://baoco.example.vn"}, Logger: slog.New(slog.NewTextHandler(s.log, nil)),
	})
	must(t, err)
}

// close stops gracefully.
func (s *installation) close(t *testing.T) {
	t.Helper()
	if s.courier != nil {
		must(t, s.courier.Stop(context.Background()))
	}
	must(t, s.Store.Close())
}

// crash ends without waiting for attempts in flight, as a kill would.
func (s *installation) crash(t *testing.T) {
	t.Helper()
	now, cancel := context.WithCancel(context.Background())
	cancel()
	must(t, s.courier.Stop(now))
	must(t, s.Store.Close())
}

func (s *installation) webhook(t *testing.T, url string) delivery.Webhook {
	t.Helper()
	hook, _ := s.Webhook(url, delivery.WebhookAll)
	return hook
}

// history is all attempts, oldest first.
func (s *installation) history(t *testing.T) []delivery.Attempt {
	t.Helper()
	list, total, err := s.Services.Deliveries.History(context.Background(), 1, delivery.HistoryFilter{Page: app.Page{Number: 1, Size: 100}})
	must(t, err)
	if int(total) != len(list) {
		t.Fatalf("the history holds %d records and says %d", len(list), total)
	}
	slices.Reverse(list)
	return list
}

// senderOn is courier.NewSender with the names of a test's resolver and the certificates
// that a test trusts, over the real network.
func senderOn(policy *target.Policy, resolver *net.Resolver, roots *x509.CertPool) *courier.Sender {
	return senderWithin(delivery.AttemptTimeout, policy, resolver, roots)
}

// senderWithin is senderOn with attempts that take no longer than limit.
func senderWithin(limit time.Duration, policy *target.Policy, resolver *net.Resolver, roots *x509.CertPool) *courier.Sender {
	network := courier.NewNetwork(policy, roots, resolver.Dial)
	sender := courier.NewSender(policy, "test", network)
	network.Limit, sender.Limit = limit, limit
	return sender
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
