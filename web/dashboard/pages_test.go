package dashboard_test

import (
	"context"
	"encoding/csv"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/payment"
	"baoco/app/upkeep"
	"baoco/web"
	"baoco/web/webtest"
)

// What these tests read of pages and of the file.

// listed are the deliveries that a page of the history lists, in its order.
func listed(t testing.TB, a webtest.Answer) (ids []string) {
	t.Helper()
	a.WantStatus(t, http.StatusOK)
	for _, m := range regexp.MustCompile(`<td class="content"><a class="row" href="/deliveries/(\d+)">`).FindAllStringSubmatch(a.Body, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

// eventsListed are the events that a page of the inbound log lists, in its order.
func eventsListed(t testing.TB, a webtest.Answer) (ids []string) {
	t.Helper()
	a.WantStatus(t, http.StatusOK)
	for _, m := range regexp.MustCompile(`<a class="row" href="/inbound/events/(\d+)">`).FindAllStringSubmatch(a.Body, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

// exportedContents are the contents of an exported CSV file, in its order.
func exportedContents(t testing.TB, a webtest.Answer) (list []string) {
	t.Helper()
	a.WantStatus(t, http.StatusOK)
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(a.Body, "\uFEFF"))).ReadAll()
	apptest.Must(t, err)
	for _, row := range rows[1:] {
		list = append(list, row[6])
	}
	return list
}

// codeShown is the receiver's code that a page shows.
func codeShown(t testing.TB, a webtest.Answer, id string) string {
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

var shownURL = regexp.MustCompile(`id="url">([^<]+)<`)

// urlAndSecret is what a page of a new secret shows: the path and the secret.
func urlAndSecret(t testing.TB, a webtest.Answer, base string) (path, secret string) {
	t.Helper()
	u := shownURL.FindStringSubmatch(a.Body)
	if a.Status != http.StatusOK || u == nil {
		t.Fatalf("%d, no URL on the page\n%s", a.Status, a.Body)
	}
	return strings.TrimPrefix(html.UnescapeString(u[1]), base), secretShown(t, a)
}

// transactionsListed are the transactions that a page lists, in its order.
func transactionsListed(t testing.TB, a webtest.Answer) (ids []string) {
	t.Helper()
	a.WantStatus(t, http.StatusOK)
	for _, m := range regexp.MustCompile(`<tr id="tx-(\d+)">`).FindAllStringSubmatch(a.Body, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

// linkOf is the address of a page's link to the next or the one before.
func linkOf(t testing.TB, a webtest.Answer, rel string) string {
	t.Helper()
	m := regexp.MustCompile(`<a rel="` + rel + `" href="([^"]*)"`).FindStringSubmatch(a.Body)
	if m == nil {
		t.Fatalf("no %s link on\n%s", rel, a.Body)
	}
	return html.UnescapeString(m[1])
}

var secretPattern = regexp.MustCompile(`whsec_[A-Za-z0-9+/]{43}=`)

// secretOf is the secret that a page shows.
func secretOf(t testing.TB, a webtest.Answer) string {
	t.Helper()
	secret := secretPattern.FindString(html.UnescapeString(a.Body))
	if a.Status != http.StatusOK || secret == "" {
		t.Fatalf("%d, no secret on the page\n%s", a.Status, a.Body)
	}
	return secret
}

// sumOf is the hidden field by which the second form names the file of the first.
func sumOf(t testing.TB, a webtest.Answer) string {
	t.Helper()
	m := regexp.MustCompile(`name="sum" value="([0-9a-f]{64}-[^"]*)"`).FindStringSubmatch(a.Body)
	if m == nil {
		t.Fatalf("%d, nothing to confirm\n%s", a.Status, a.Body)
	}
	return html.UnescapeString(m[1])
}

// serving is a browser at a server of an installation.
func serving(w *webtest.World, in upkeep.Installation) *webtest.Browser {
	w.T.Helper()
	return w.Serve(web.Config{Version: "1.2.3", Installation: in})
}

// sendTo makes a request with the cookies of a browser, and keeps those it gets.
func sendTo(w webtest.Bubble, cookies map[string]*http.Cookie, method, path string, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, c := range cookies {
		r.AddCookie(c)
	}
	answer := httptest.NewRecorder()
	w.Handler.ServeHTTP(answer, r)
	for _, c := range answer.Result().Cookies() {
		cookies[c.Name] = c
	}
	return answer
}

func signInTo(w webtest.Bubble, name string) map[string]*http.Cookie {
	w.T.Helper()
	cookies := map[string]*http.Cookie{}
	form := url.Values{"name": {name}, "password": {apptest.SomePassword}}
	if a := sendTo(w, cookies, "POST", "/login", form); a.Code != http.StatusSeeOther {
		w.T.Fatalf("sign-in: %d", a.Code)
	}
	return cookies
}

func bankAccountsOf(w *webtest.World) []app.BankAccount {
	w.T.Helper()
	list, err := w.Services.Ledger.BankAccounts(context.Background(), 1)
	apptest.Must(w.T, err)
	return list
}

// exhaust makes the attempts that are left of a webhook's deliveries at once;
// all of them fail.
func exhaust(w *webtest.World, webhookID int64, r delivery.Result) {
	w.T.Helper()
	ctx := context.Background()
	for {
		due, err := w.Services.Deliveries.Due(ctx, delivery.DueFilter{
			WebhookID: webhookID, Retries: true, Limit: 100,
		}, time.Now().Add(24*time.Hour))
		apptest.Must(w.T, err)
		if len(due) == 0 {
			return
		}
		for _, o := range due {
			r.StartedAt = time.Now()
			_, err := w.Services.Deliveries.Settle(ctx, o, r)
			apptest.Must(w.T, err)
		}
	}
}

func sourcesOf(w *webtest.World) []inbound.Source {
	w.T.Helper()
	list, err := w.Services.Inbound.Sources(context.Background(), 1)
	apptest.Must(w.T, err)
	return list
}

func webhooksOf(w *webtest.World) []delivery.Webhook {
	w.T.Helper()
	list, err := w.Services.Deliveries.Webhooks(context.Background(), 1)
	apptest.Must(w.T, err)
	return list
}

// counterLink makes a link of the counter screen and gives its token.
func counterLink(w *webtest.World, accountID int64, in payment.CounterLinkCreate) string {
	w.T.Helper()
	if in.Name == "" {
		in.Name = "Quầy 1"
	}
	_, token, err := w.Services.Payments.CreateCounterLink(context.Background(), accountID, in, time.Now())
	apptest.Must(w.T, err)
	return token
}

// streamEnds waits for the end of the stream and gives how long it took.
func streamEnds(t testing.TB, l *webtest.Listener) time.Duration {
	t.Helper()
	begun := time.Now()
	l.Next("ended")
	select {
	case e, open := <-l.Events:
		if open {
			t.Errorf("%+v after the end", e)
		}
	case <-time.After(30 * time.Second):
		t.Error("the stream stays open after its end")
	}
	return time.Since(begun)
}

var secretText = regexp.MustCompile(`id="secret"[^>]*>([^<]+)<`)

// secretShown is what a page shows once.
func secretShown(t testing.TB, a webtest.Answer) string {
	t.Helper()
	found := secretText.FindStringSubmatch(a.Body)
	if found == nil {
		t.Fatalf("%d: nothing is shown once\n%s", a.Status, a.Body)
	}
	return html.UnescapeString(found[1])
}

// openPage gets a page as a person does: it follows a redirect.
func openPage(b *webtest.Browser, path string) webtest.Answer {
	a := b.Get(path)
	if a.Status == http.StatusSeeOther {
		return b.Get(a.Header.Get("Location"))
	}
	return a
}
