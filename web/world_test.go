package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/provider"
	"baoco/scheduler"
	"baoco/sqlitestore"
	"baoco/web"
)

// world is a whole installation on a throw-away file, reached over HTTP.
type world struct {
	t       *testing.T
	path    string // of the database
	store   *sqlitestore.Store
	service *app.Service
	url     string
	stop    func() // ends what start began
}

// newWorld starts everything that serve does on a new file.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, path: filepath.Join(t.TempDir(), "baoco.db")}
	must(t, sqlitestore.Create(context.Background(), w.path, app.DefaultZone, time.Now()))
	w.start()
	t.Cleanup(func() { w.stop() })
	return w
}

// newStillWorld is a world without a server and a courier, so that it can live
// in a bubble of synctest, where no time passes while it works.
func newStillWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, path: filepath.Join(t.TempDir(), "baoco.db")}
	must(t, sqlitestore.Create(context.Background(), w.path, app.DefaultZone, time.Now()))
	w.open()
	t.Cleanup(func() { must(t, w.store.Close()) })
	return w
}

// open makes the service over the file. Webhooks may go to 127.0.0.1.
func (w *world) open() *scheduler.Sender {
	t := w.t
	t.Helper()
	ctx := context.Background()
	var err error
	w.store, err = sqlitestore.Open(ctx, w.path, sqlitestore.Options{Serve: true})
	must(t, err)
	zone, err := w.store.Zone(ctx)
	must(t, err)
	targets, err := app.ParseTargetPolicy([]string{"127.0.0.1/32"})
	must(t, err)
	sender := scheduler.NewSender(targets, "test", nil)
	w.service = app.NewService(app.Config{
		Store: w.store, Zone: zone, Targets: targets, Providers: provider.Facts(), Read: provider.Read, Send: sender.Send,
		Alert: scheduler.NewAlerter(targets, "test", nil).Send,
	})
	return sender
}

// start serves the file on a loopback port, another one each time.
func (w *world) start() {
	t := w.t
	t.Helper()
	ctx := context.Background()
	sender := w.open()
	courier, err := scheduler.Start(w.service, sender.Send, scheduler.Options{})
	must(t, err)
	server := httptest.NewServer(web.New(web.Config{Service: w.service, Version: "test"}))
	w.url = server.URL
	w.stop = func() {
		server.Close()
		stop, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		must(t, courier.Stop(stop))
		must(t, w.store.Close())
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// apiKey makes a key of account 1.
func (w *world) apiKey(scope app.Scope) string {
	w.t.Helper()
	_, key, err := w.service.CreateAPIKey(context.Background(), 1, "test", scope, time.Time{}, time.Now())
	must(w.t, err)
	return key
}

// link links a bank account to account 1.
func (w *world) link(bank, number string) app.BankAccount {
	w.t.Helper()
	r, err := w.service.LinkBankAccount(context.Background(), 1, app.BankAccountLink{Bank: bank, AccountNumber: number, AccountName: "NGUYEN VAN A"}, time.Now())
	must(w.t, err)
	return r.BankAccount
}

// source adds a source to account 1.
func (w *world) source(provider app.Provider, auth app.Auth, secret string) app.Source {
	w.t.Helper()
	s, err := w.service.AddSource(context.Background(), 1, app.SourceAdd{Provider: provider, Auth: auth, Name: "test", Secret: secret}, time.Now())
	must(w.t, err)
	return s
}

// webhook makes a webhook of account 1 and gives its secret too.
func (w *world) webhook(url string, hookType app.WebhookType) (app.Webhook, string) {
	w.t.Helper()
	hook, secret, err := w.service.CreateWebhook(context.Background(), 1, app.WebhookCreate{Name: "test", URL: url, Type: hookType}, time.Now())
	must(w.t, err)
	return hook, secret
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

// json reads the answer's body.
func (a answer) json(t *testing.T) map[string]any {
	t.Helper()
	var v map[string]any
	d := json.NewDecoder(strings.NewReader(a.body))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, a.body)
	}
	return v
}

// do sends a request; header holds pairs of name and value, each added. The
// answer must be as openapi.yaml has it.
func (w *world) do(method, path, body string, header ...string) answer {
	w.t.Helper()
	request, err := http.NewRequest(method, w.url+path, strings.NewReader(body))
	must(w.t, err)
	for i := 0; i < len(header); i += 2 {
		request.Header.Add(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	must(w.t, err)
	defer response.Body.Close()
	var b bytes.Buffer
	_, err = io.Copy(&b, response.Body)
	must(w.t, err)
	a := answer{response.StatusCode, response.Header, b.String()}
	for _, f := range checkContract(method, path, a) {
		w.t.Errorf("%s %s: %s", method, short(path), f)
	}
	return a
}
