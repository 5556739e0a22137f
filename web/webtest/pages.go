package webtest

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/csv"
	"fmt"
	"html"
	"log/slog"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/sqlitestore"
	"baoco/web"
	"baoco/web/dashboard"
)

// NoSecretInFile looks for a secret in clear.
func (w *World) NoSecretInFile(secret string) {
	w.T.Helper()
	for _, suffix := range []string{"", "-wal"} {
		if data, err := os.ReadFile(w.Path + suffix); err != nil || strings.Contains(string(data), secret) {
			w.T.Errorf("the file%s holds a secret: %v", suffix, err)
		}
	}
}

func (w *World) Banks() []app.BankAccount {
	w.T.Helper()
	list, err := w.Service.BankAccounts(context.Background(), 1)
	apptest.Must(w.T, err)
	return list
}

// Action is a method and a path of the dashboard; %d in it is an id.
type Action = struct{ Method, Path string }

// Nobody but an owner of the account reaches a page of this table, and nothing
// changes. The form is what an owner would send.
func (w *World) WantOwnersOnly(t testing.TB, actions []Action, id int64, secret string, unchanged func() string, form ...string) {
	t.Helper()
	w.User(1, "cashier", app.RoleViewer)
	second, err := w.Service.CreateAccount(t.Context(), "second", time.Now())
	apptest.Must(t, err)
	w.User(second.ID, "stranger", app.RoleOwner)
	before := unchanged()
	cashier, stranger, nobody, forged := w.Browser().SignIn("cashier"), w.Browser().SignIn("stranger"), w.Browser(), w.Browser().SignIn("lan")
	forged.Header = http.Header{"Sec-Fetch-Site": {"cross-site"}}
	ask := func(b *Browser, method, path string) Answer {
		if method == "GET" {
			return b.Get(path)
		}
		return b.Submit(path, form...)
	}
	for _, action := range actions {
		path := action.Path
		if strings.Contains(path, "%d") {
			path = fmt.Sprintf(path, id)
			ask(stranger, action.Method, path).WantStatus(t, http.StatusNotFound)
			for _, other := range []string{"0", "x", "99", "-1"} {
				ask(stranger, action.Method, strings.Replace(action.Path, "%d", other, 1)).WantStatus(t, http.StatusNotFound)
			}
		} else if action.Method == "GET" {
			if a := stranger.Get(path); strings.Contains(a.Body, secret) {
				t.Errorf("%s shows what is another account's", path)
			}
		}
		ask(cashier, action.Method, path).WantStatus(t, http.StatusForbidden)
		if a := ask(nobody, action.Method, path); a.Status != http.StatusSeeOther || !strings.HasPrefix(a.Header.Get("Location"), "/login") {
			t.Errorf("%s %s: %d for nobody", action.Method, path, a.Status)
		}
		if action.Method == "POST" {
			forged.Post(path, form...).WantStatus(t, http.StatusForbidden)
		}
	}
	if after := unchanged(); after != before {
		t.Errorf("changed\n%s\nto\n%s", before, after)
	}
}

// Listed are the deliveries that a page of the history lists, in its order.
func (a Answer) Listed(t testing.TB) (ids []string) {
	t.Helper()
	a.WantStatus(t, http.StatusOK)
	for _, m := range regexp.MustCompile(`<td class="content"><a href="/deliveries/(\d+)">`).FindAllStringSubmatch(a.Body, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

// Events are the events that a page of the inbound log lists, in its order.
func (a Answer) Events(t testing.TB) (ids []string) {
	t.Helper()
	a.WantStatus(t, http.StatusOK)
	for _, m := range regexp.MustCompile(`<a href="/inbound/events/(\d+)">`).FindAllStringSubmatch(a.Body, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

// Contents are the contents of an exported CSV file, in its order.
func (a Answer) Contents(t testing.TB) (list []string) {
	t.Helper()
	a.WantStatus(t, http.StatusOK)
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(a.Body, "\uFEFF"))).ReadAll()
	apptest.Must(t, err)
	for _, row := range rows[1:] {
		list = append(list, row[6])
	}
	return list
}

// ManyLong records so many transactions with long contents that their export
// doesn't fit into the buffers of a connection.
func (w *World) ManyLong(n int) {
	w.T.Helper()
	in, err := w.Service.NewImport(context.Background(), app.ImportOptions{AccountID: 1})
	apptest.Must(w.T, err)
	long := strings.Repeat("dài", 600)
	for from := 0; from < n; from += 500 {
		var rows []app.Incoming
		for i := from; i < min(n, from+500); i++ {
			rows = append(rows, app.Incoming{EventID: fmt.Sprint(i), Gateway: "ACB", AccountNumber: apptest.SomeAccount, Type: app.In, Amount: int64(i + 1), Content: long, Time: time.Unix(int64(1e9+i), 0)})
		}
		_, err := in.Add(context.Background(), rows, time.Now())
		apptest.Must(w.T, err)
	}
}

// Slowly requests a path on a connection of its own with small buffers, and
// gives its body.
func (w *World) Slowly(b *Browser, path string) *bufio.Reader {
	w.T.Helper()
	here, err := url.Parse(w.URL)
	apptest.Must(w.T, err)
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		if err == nil {
			err = c.(*net.TCPConn).SetReadBuffer(64 << 10)
		}
		return c, err
	}}
	request, err := http.NewRequest("GET", w.URL+path, nil)
	apptest.Must(w.T, err)
	for _, c := range b.Client.Jar.Cookies(here) {
		request.AddCookie(c)
	}
	response, err := transport.RoundTrip(request)
	apptest.Must(w.T, err)
	w.T.Cleanup(func() { response.Body.Close(); transport.CloseIdleConnections() })
	if response.StatusCode != http.StatusOK {
		w.T.Fatalf("%s: %s", path, response.Status)
	}
	return bufio.NewReader(response.Body)
}

// Pay records money in on the bank account someAccount and gives the
// transaction's id. id is the provider's.
func (w *World) Pay(accountID int64, id, content string) int64 {
	w.T.Helper()
	tr, _, err := w.Service.RecordByHand(context.Background(), accountID, app.Incoming{
		EventID: id, Gateway: "ACB", AccountNumber: apptest.SomeAccount, Number: "FT" + id, Type: app.In, Amount: 1549000, Content: content, Time: time.Now(),
	}, []byte("{}"), app.IdempotencyKey{}, time.Now())
	apptest.Must(w.T, err)
	return tr.ID
}

// Attempts are those of an account, newest first, once there are n.
func (w *World) Attempts(accountID int64, n int) (list []app.Attempt) {
	w.T.Helper()
	apptest.Eventually(w.T, fmt.Sprintf("%d attempts", n), func() bool {
		var err error
		list, _, err = w.Service.History(context.Background(), accountID, app.HistoryFilter{Page: app.Page{Number: 1, Size: 100}})
		apptest.Must(w.T, err)
		return len(list) >= n
	})
	return list
}

// Exhaust makes the attempts that are left of a webhook's deliveries at once;
// all of them fail.
func (w *World) Exhaust(webhookID int64, r app.Result) {
	w.T.Helper()
	ctx := context.Background()
	for {
		due, err := w.Service.Due(ctx, webhookID, time.Now().Add(24*time.Hour), nil, 100, true)
		apptest.Must(w.T, err)
		if len(due) == 0 {
			return
		}
		for _, o := range due {
			r.StartedAt = time.Now()
			_, err := w.Service.Settle(ctx, o, r)
			apptest.Must(w.T, err)
		}
	}
}

// LoseKey loses the key file, makes a new one, and starts everything again.
func (w *World) LoseKey() {
	w.T.Helper()
	w.Stop()
	apptest.Must(w.T, os.Remove(w.Path+".key"))
	_, err := sqlitestore.ReplaceKey(context.Background(), w.Path, time.Now())
	apptest.Must(w.T, err)
	w.Start()
}

// Hides checks that a page says none of texts.
func (a Answer) Hides(t testing.TB, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(a.Body, text) {
			t.Errorf("%d, the page says %q\n%s", a.Status, text, a.Body)
		}
	}
}

// Code is the receiver's code that a page shows.
func (a Answer) Code(t testing.TB, id string) string {
	t.Helper()
	found := regexp.MustCompile(`(?s)<code id="code-` + id + `">(.*?)</code>`).FindStringSubmatch(a.Body)
	if found == nil {
		t.Fatalf("%d, no code in %s\n%s", a.Status, id, a.Body)
	}
	code := html.UnescapeString(found[1])
	if strings.ContainsAny(code, "«»") || strings.Contains(code, "HOOK-PATH") {
		t.Errorf("a value is not filled in:\n%s", code)
	}
	return code
}

// Delivered counts the deliveries that ended well.
func (w *World) Delivered() (n int) {
	list, _, err := w.Service.History(context.Background(), 1, app.HistoryFilter{Page: app.Page{Number: 1, Size: 100}})
	apptest.Must(w.T, err)
	for _, a := range list {
		if a.Result.OK() {
			n++
		}
	}
	return n
}

// CheckSignature sends the form of the signature tool as a browser does.
func (b *Browser) CheckSignature(file []byte, pairs ...string) Answer {
	b.t.Helper()
	var form bytes.Buffer
	m := multipart.NewWriter(&form)
	for i := 0; i < len(pairs); i += 2 {
		apptest.Must(b.t, m.WriteField(pairs[i], pairs[i+1]))
	}
	if file != nil {
		part, err := m.CreateFormFile("file", "body.bin")
		apptest.Must(b.t, err)
		_, err = part.Write(file)
		apptest.Must(b.t, err)
	}
	apptest.Must(b.t, m.Close())
	request, err := http.NewRequest("POST", b.Base+"/tools/signature", &form)
	apptest.Must(b.t, err)
	request.Header.Set("Content-Type", m.FormDataContentType())
	response, err := b.Client.Do(request)
	apptest.Must(b.t, err)
	defer response.Body.Close()
	var body bytes.Buffer
	_, err = body.ReadFrom(response.Body)
	apptest.Must(b.t, err)
	return Answer{response.StatusCode, response.Header, html.UnescapeString(body.String())}
}

var (
	shownSecret = regexp.MustCompile(`id="secret">([^<]+)<`)
	shownURL    = regexp.MustCompile(`id="url">([^<]+)<`)
)

// Shown is what a page of a new secret shows: the path and the secret.
func (a Answer) Shown(t testing.TB, base string) (path, secret string) {
	t.Helper()
	u, s := shownURL.FindStringSubmatch(a.Body), shownSecret.FindStringSubmatch(a.Body)
	if a.Status != http.StatusOK || u == nil || s == nil {
		t.Fatalf("%d, no secret on the page\n%s", a.Status, a.Body)
	}
	return strings.TrimPrefix(html.UnescapeString(u[1]), base), html.UnescapeString(s[1])
}

func (w *World) Sources() []app.Source {
	w.T.Helper()
	list, err := w.Service.Sources(context.Background(), 1)
	apptest.Must(w.T, err)
	return list
}

// Change changes the file as another program would.
func (w *World) Change(statement string, args ...any) {
	w.T.Helper()
	w.File(func(db *sql.DB) error {
		_, err := db.Exec(statement, args...)
		return err
	})
}

// Logging is a server with a log that the operator may read.
func (w *World) Logging() (*slog.Logger, *bytes.Buffer, *Browser) {
	w.T.Helper()
	var written bytes.Buffer
	recent := dashboard.NewRecentLog(slog.NewTextHandler(&written, nil))
	server := httptest.NewServer(web.New(web.Config{Service: w.Service, Logger: slog.New(recent), RecentLog: recent}))
	w.T.Cleanup(server.Close)
	b := w.Browser()
	b.Base = server.URL
	return slog.New(recent), &written, b.SignIn("lan")
}

// TransactionsListed are the transactions that a page lists, in its order.
func (a Answer) TransactionsListed(t testing.TB) (ids []string) {
	t.Helper()
	a.WantStatus(t, http.StatusOK)
	for _, m := range regexp.MustCompile(`<tr id="tx-(\d+)">`).FindAllStringSubmatch(a.Body, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

// LinkOf is the address of a page's link to the next or the one before.
func (a Answer) LinkOf(t testing.TB, rel string) string {
	t.Helper()
	m := regexp.MustCompile(`<a rel="` + rel + `" href="([^"]*)"`).FindStringSubmatch(a.Body)
	if m == nil {
		t.Fatalf("no %s link on\n%s", rel, a.Body)
	}
	return html.UnescapeString(m[1])
}

var (
	SecretPattern = regexp.MustCompile(`whsec_[A-Za-z0-9+/]{43}=`)
	oncePattern   = regexp.MustCompile(`name="once" value="([^"]+)"`)
)

// SecretOf is the secret that a page shows.
func (a Answer) SecretOf(t testing.TB) string {
	t.Helper()
	secret := SecretPattern.FindString(html.UnescapeString(a.Body))
	if a.Status != http.StatusOK || secret == "" {
		t.Fatalf("%d, no secret on the page\n%s", a.Status, a.Body)
	}
	return secret
}

// Once is the key of the form on a page.
func (a Answer) Once(t testing.TB) string {
	t.Helper()
	found := oncePattern.FindStringSubmatch(a.Body)
	if found == nil {
		t.Fatalf("%d, no form that counts once\n%s", a.Status, a.Body)
	}
	return found[1]
}

// Shows checks that a page says all of texts.
func (a Answer) Shows(t testing.TB, texts ...string) {
	t.Helper()
	page := html.UnescapeString(a.Body)
	for _, text := range texts {
		if !strings.Contains(page, text) {
			t.Errorf("%d, the page does not say %q\n%s", a.Status, text, a.Body)
		}
	}
}

func (w *World) Webhooks() []app.Webhook {
	w.T.Helper()
	list, err := w.Service.Webhooks(context.Background(), 1)
	apptest.Must(w.T, err)
	return list
}

// Failed waits until that many attempts of a webhook have failed.
func (w *World) Failed(webhookID, n int64) {
	w.T.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		h, err := w.Service.WebhookHealth(context.Background(), 1, webhookID, time.Now())
		apptest.Must(w.T, err)
		if h.Sum().Failed == n {
			return
		}
	}
	w.T.Fatalf("webhook %d never failed %d times", webhookID, n)
}
