package dashboard_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/web/webtest"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
)

const exportPath = "/transactions/export"

func TestExportFilters(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	bank := w.Link("ACB", apptest.SomeAccount)
	bad := newMoody(t, 503, "")
	w.Pay(1, "1", "cà phê sữa đá")
	hook, _ := w.Webhook(bad.url, delivery.WebhookAll)
	w.Pay(1, "2", "bún chả")
	w.Pay(1, "3", "=HYPERLINK(\"http://evil.vn\")\n+1")
	w.Attempts(1, 2)
	b := w.Browser().SignIn("lan")
	today := time.Now().In(w.Services.Ledger.Zone()).Format(app.DateLayout)
	hostile := "'=HYPERLINK(\"http://evil.vn\") +1" // on one line
	check := func(query string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, exportedContents(t, b.Get(exportPath+"?format=csv&"+query))); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
	check("", "cà phê sữa đá", "bún chả", hostile)
	check("q=bun+cha", "bún chả")
	check("type=OUT")
	check("from="+today+"&to="+today, "cà phê sữa đá", "bún chả", hostile)
	check("to=2020-01-01")
	for range 21 { // more than a user may read at once
		check("q=bun+cha", "bún chả")
	}
	check("min=1.549.000&max=1549000&bank_account_id="+itoa(bank.ID), "cà phê sữa đá", "bún chả", hostile)
	check("min=1549001")
	check("delivery_state=pending", "bún chả", hostile)
	check("delivery_state=failed")
	exhaust(w, hook.ID, serverError)
	check("delivery_state=failed&q=bun", "bún chả")
	check("page=7&until=1&q=bun", "bún chả")
	for _, query := range []string{"", "format=pdf", "format=csv&min=x", "format=csv&max=0", "format=csv&min=1.5", "format=csv&min=1.549.00",
		"format=csv&bank_account_id=99", "format=csv&delivery_state=cancelled"} {
		if a := b.Get(exportPath + "?" + query); a.Status != http.StatusUnprocessableEntity && a.Status != http.StatusBadRequest ||
			a.Header.Get("Content-Disposition") != "" || !strings.Contains(a.Body, "<html") {
			t.Errorf("%q: %d %q", query, a.Status, a.Header)
		}
	}
	h := b.Get(exportPath + "?format=csv").Header
	if got := h.Get("Content-Disposition"); !strings.HasPrefix(got, `attachment; filename="baoco-`) || !strings.HasSuffix(got, `.csv"`) ||
		h.Get("Content-Type") != "text/csv; charset=utf-8" || h.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%v", h)
	}
	for query, name := range map[string]string{
		"format=xlsx&from=2026-11-01&to=2026-11-22":                  "baoco-2026-11-01_2026-11-22.xlsx",
		"format=csv&from=2026-11-22+10:00:00&to=2026-11-22+11:00:00": "baoco-2026-11-22_2026-11-22.csv",
		"format=csv&from=2026-11-01":                                 "baoco-from-2026-11-01.csv",
		"format=csv&to=2026-11-22&q=x":                               "baoco-until-2026-11-22.csv",
	} {
		if got := b.Get(exportPath + "?" + query).Header.Get("Content-Disposition"); got != `attachment; filename="`+name+`"` {
			t.Errorf("%s: %s", query, got)
		}
	}
	a := b.Get(exportPath + "?format=xlsx&q=evil")
	f, err := excelize.OpenReader(strings.NewReader(a.Body))
	apptest.Must(t, err)
	defer f.Close()
	rows, err := f.GetRows(f.GetSheetList()[0])
	apptest.Must(t, err)
	if len(rows) != 7 || rows[3][0] != "Only: “evil”" || rows[5][6] != strings.ReplaceAll(hostile, "'", "") {
		t.Errorf("%q", rows)
	}
	b.Header.Set("Accept-Language", "vi")
	if a := b.Get(exportPath + "?format=csv"); !strings.HasPrefix(a.Body, "\uFEFFMã baoco,Thời gian,") {
		t.Errorf("not in the language of the visit: %.100s", a.Body)
	}
	if a := b.Send("HEAD", exportPath+"?format=csv", nil); a.Status != http.StatusOK || a.Body != "" {
		t.Errorf("HEAD: %d %q", a.Status, a.Body)
	}
	if a := b.Get("/transactions?q=bun+cha&page=2"); !strings.Contains(a.Body, `href="/transactions/export?format=xlsx&amp;q=bun&#43;cha"`) {
		t.Errorf("the page has no link to its export\n%s", a.Body)
	}
}

func TestExportIsOfTheAccount(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	other, err := w.Services.Ledger.CreateAccount(context.Background(), "other", time.Now())
	apptest.Must(t, err)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "cashier", access.RoleCashier)
	w.User(other.ID, "stranger", access.RoleOwner)
	bank := w.Link("ACB", apptest.SomeAccount)
	w.Pay(1, "1", "cà phê sữa đá")
	cashier, stranger := w.Browser().SignIn("cashier"), w.Browser().SignIn("stranger")
	cashier.Get(exportPath+"?format=csv").WantStatus(t, http.StatusForbidden)
	if a := cashier.Get("/transactions"); strings.Contains(a.Body, exportPath) {
		t.Error("the cashier is offered the export")
	}
	if a := stranger.Get(exportPath + "?format=csv"); len(exportedContents(t, a)) != 0 {
		t.Errorf("a stranger got\n%s", a.Body)
	}
	if a := stranger.Get(exportPath + "?format=csv&bank_account_id=" + itoa(bank.ID)); a.Status == http.StatusOK {
		t.Errorf("a stranger's filter by a bank account: %d", a.Status)
	}
	stranger.Get("/transactions/1").WantStatus(t, http.StatusNotFound)
	if a := w.Browser().Get(exportPath + "?format=csv"); a.Status != http.StatusSeeOther {
		t.Errorf("signed out: %d", a.Status)
	}
}

// A reader that stops in the middle keeps nothing of the database: the log can
// be emptied meanwhile. It gets what there was when it began, and no more; once
// signed out, no more at all.
func TestExportToASlowReader(t *testing.T) {
	t.Parallel()
	const n = 4000
	w := webtest.NewWorld(t)
	owner := w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	manyLong(w, n)
	b := w.Browser().SignIn("lan")
	export := func() *bufio.Reader { return slowly(w, b, exportPath+"?format=csv") }
	one, two := export(), export()
	for _, r := range []*bufio.Reader{one, two} {
		_, err := r.ReadString('\n')
		apptest.Must(t, err)
	}
	w.Pay(1, "later", "later")
	// While the server empties the log itself, SQLite refuses another at once.
	apptest.Eventually(t, "the log is emptied beside the exports", func() bool {
		var busy, log, checkpointed int
		w.File(func(db *sql.DB) error {
			return db.QueryRow(`PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &log, &checkpointed)
		})
		return busy == 0
	})
	rest, err := io.ReadAll(one)
	if rows := bytes.Count(rest, []byte("\n")); err != nil || rows != n || bytes.Contains(rest, []byte("later")) {
		t.Errorf("%d rows, %v, want %d", rows, err, n)
	}
	_, err = w.Services.Access.EndSessions(context.Background(), 1, owner.ID)
	apptest.Must(t, err)
	if rest, err := io.ReadAll(two); err == nil || bytes.Count(rest, []byte("\n")) >= n {
		t.Errorf("signed out, the reader got %d rows and %v; want a broken connection", bytes.Count(rest, []byte("\n")), err)
	}
}

// manyLong records so many transactions with long contents that their export
// doesn't fit into the buffers of a connection.
func manyLong(w *webtest.World, n int) {
	w.T.Helper()
	in, err := w.Services.Inbound.NewImport(context.Background(), inbound.ImportOptions{AccountID: 1})
	apptest.Must(w.T, err)
	long := strings.Repeat("dài", 600)
	for from := 0; from < n; from += 500 {
		var rows []inbound.Incoming
		for i := from; i < min(n, from+500); i++ {
			rows = append(rows, inbound.Incoming{EventID: fmt.Sprint(i), Gateway: "ACB", AccountNumber: apptest.SomeAccount, Type: app.In,
				Amount: int64(i + 1), Content: long, Time: time.Unix(int64(1e9+i), 0)})
		}
		_, err := in.Add(context.Background(), rows, time.Now())
		apptest.Must(w.T, err)
	}
}

// slowly requests a path on a connection of its own with small buffers, and
// gives its body.
func slowly(w *webtest.World, b *webtest.Browser, path string) *bufio.Reader {
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
