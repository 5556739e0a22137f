// Package webtest is the test kit of the houses of web: a whole installation
// reached over HTTP, a browser, providers' calls, live pages, and the contract
// that every answer is held against. Only tests import it.
package webtest

import (
	"bytes"
	"context"
	"encoding/json"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/provider"
	"baoco/scheduler"
	"baoco/sqlitestore"
	"baoco/web"
)

// World is a whole installation on a throw-away file, reached over HTTP.
type World struct {
	T       *testing.T
	Path    string // of the database
	Store   *sqlitestore.Store
	Service *app.Service
	URL     string
	Stop    func() // ends what start began
}

// NewWorld starts everything that serve does on a new file.
func NewWorld(t *testing.T) *World {
	t.Helper()
	w := &World{T: t, Path: filepath.Join(t.TempDir(), "baoco.db")}
	Must(t, sqlitestore.Create(context.Background(), w.Path, app.DefaultZone, time.Now()))
	w.Start()
	t.Cleanup(func() { w.Stop() })
	return w
}

// NewStillWorld is a world without a server and a courier, so that it can live
// in a bubble of synctest, where no time passes while it works.
func NewStillWorld(t *testing.T) *World {
	t.Helper()
	w := &World{T: t, Path: filepath.Join(t.TempDir(), "baoco.db")}
	Must(t, sqlitestore.Create(context.Background(), w.Path, app.DefaultZone, time.Now()))
	w.open()
	t.Cleanup(func() { Must(t, w.Store.Close()) })
	return w
}

// open makes the service over the file. Webhooks may go to 127.0.0.1.
func (w *World) open() *scheduler.Sender {
	t := w.T
	t.Helper()
	ctx := context.Background()
	var err error
	w.Store, err = sqlitestore.Open(ctx, w.Path, sqlitestore.Options{Serve: true})
	Must(t, err)
	zone, err := w.Store.Zone(ctx)
	Must(t, err)
	targets, err := app.ParseTargetPolicy([]string{"127.0.0.1/32"})
	Must(t, err)
	sender := scheduler.NewSender(targets, "test", nil)
	w.Service = app.NewService(app.Config{
		Store: w.Store, Zone: zone, Targets: targets, Providers: provider.Facts(), Read: provider.Read, Send: sender.Send,
		Alert: scheduler.NewAlerter(targets, "test", nil).Send,
	})
	return sender
}

// Start serves the file on a loopback port, another one each time.
func (w *World) Start() {
	t := w.T
	t.Helper()
	ctx := context.Background()
	sender := w.open()
	courier, err := scheduler.Start(w.Service, sender.Send, scheduler.Options{})
	Must(t, err)
	server := httptest.NewServer(web.New(web.Config{Service: w.Service, Version: "test"}))
	w.URL = server.URL
	w.Stop = func() {
		server.Close()
		stop, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		Must(t, courier.Stop(stop))
		Must(t, w.Store.Close())
	}
}

func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// APIKey makes a key of account 1.
func (w *World) APIKey(scope app.Scope) string {
	w.T.Helper()
	_, key, err := w.Service.CreateAPIKey(context.Background(), 1, "test", scope, time.Time{}, time.Now())
	Must(w.T, err)
	return key
}

// Link links a bank account to account 1.
func (w *World) Link(bank, number string) app.BankAccount {
	w.T.Helper()
	r, err := w.Service.LinkBankAccount(context.Background(), 1, app.BankAccountLink{Bank: bank, AccountNumber: number, AccountName: "NGUYEN VAN A"}, time.Now())
	Must(w.T, err)
	return r.BankAccount
}

// Source adds a source to account 1.
func (w *World) Source(provider app.Provider, auth app.Auth, secret string) app.Source {
	w.T.Helper()
	s, err := w.Service.AddSource(context.Background(), 1, app.SourceAdd{Provider: provider, Auth: auth, Name: "test", Secret: secret}, time.Now())
	Must(w.T, err)
	return s
}

// Webhook makes a webhook of account 1 and gives its secret too.
func (w *World) Webhook(url string, hookType app.WebhookType) (app.Webhook, string) {
	w.T.Helper()
	hook, secret, err := w.Service.CreateWebhook(context.Background(), 1, app.WebhookCreate{Name: "test", URL: url, Type: hookType}, time.Now())
	Must(w.T, err)
	return hook, secret
}

// Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// JSON reads the answer's body.
func (a Answer) JSON(t *testing.T) map[string]any {
	t.Helper()
	var v map[string]any
	d := json.NewDecoder(strings.NewReader(a.Body))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, a.Body)
	}
	return v
}

// Do sends a request; header holds pairs of name and value, each added. The
// answer must be as openapi.yaml has it.
func (w *World) Do(method, path, body string, header ...string) Answer {
	w.T.Helper()
	request, err := http.NewRequest(method, w.URL+path, strings.NewReader(body))
	Must(w.T, err)
	for i := 0; i < len(header); i += 2 {
		request.Header.Add(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	Must(w.T, err)
	defer response.Body.Close()
	var b bytes.Buffer
	_, err = io.Copy(&b, response.Body)
	Must(w.T, err)
	a := Answer{response.StatusCode, response.Header, b.String()}
	for _, f := range CheckContract(method, path, a) {
		w.T.Errorf("%s %s: %s", method, Short(path), f)
	}
	return a
}

// LastRefused is the address of the n-th call that was refused.
func (w *World) LastRefused(n int) string {
	w.T.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		calls, err := w.Service.RefusedCalls(context.Background(), 1, 0, n)
		Must(w.T, err)
		if len(calls) == n {
			return calls[0].Remote
		}
		if time.Now().After(deadline) {
			w.T.Fatal("the refused call isn't noted")
		}
	}
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// BogusKey has the form and the check digits of a key, but nobody made it.
func BogusKey(r *rand.Rand) string {
	b := []byte("baoco_")
	for range 37 {
		b = append(b, base62[r.IntN(62)])
	}
	sum := crc32.ChecksumIEEE(b)
	check := make([]byte, 6)
	for i := 5; i >= 0; i-- {
		check[i] = base62[sum%62]
		sum /= 62
	}
	return string(b) + string(check)
}

func Heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
