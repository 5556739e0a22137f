package web_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/csv"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"baoco/app"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
)

const exportPath = "/transactions/export"

// contents are the contents of an exported CSV file, in its order.
func (a answer) contents(t *testing.T) (list []string) {
	t.Helper()
	a.wantStatus(t, http.StatusOK)
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(a.body, "\uFEFF"))).ReadAll()
	must(t, err)
	for _, row := range rows[1:] {
		list = append(list, row[6])
	}
	return list
}

func TestExportFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	bank := w.link("ACB", someAccount)
	bad := newMoody(t, 503, "")
	w.pay(1, "1", "cà phê sữa đá")
	hook, _ := w.webhook(bad.url, app.WebhookAll)
	w.pay(1, "2", "bún chả")
	w.pay(1, "3", "=HYPERLINK(\"http://evil.vn\")\n+1")
	w.attempts(1, 2)
	b := w.browser().signIn("lan")
	today := time.Now().In(w.service.Zone()).Format(app.DateLayout)
	hostile := "'=HYPERLINK(\"http://evil.vn\")\n+1"
	check := func(query string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, b.get(exportPath+"?format=csv&"+query).contents(t)); diff != "" {
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
	w.exhaust(hook.ID, serverError)
	check("delivery_state=failed&q=bun", "bún chả")
	check("page=7&until=1&q=bun", "bún chả")
	for _, query := range []string{"", "format=pdf", "format=csv&min=x", "format=csv&max=0", "format=csv&min=1.5", "format=csv&min=1.549.00", "format=csv&bank_account_id=99", "format=csv&delivery_state=cancelled"} {
		if a := b.get(exportPath + "?" + query); a.status != http.StatusUnprocessableEntity && a.status != http.StatusBadRequest || a.header.Get("Content-Disposition") != "" || !strings.Contains(a.body, "<html") {
			t.Errorf("%q: %d %q", query, a.status, a.header)
		}
	}
	h := b.get(exportPath + "?format=csv").header
	if got := h.Get("Content-Disposition"); !strings.HasPrefix(got, `attachment; filename="baoco-`) || !strings.HasSuffix(got, `.csv"`) || h.Get("Content-Type") != "text/csv; charset=utf-8" || h.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%v", h)
	}
	a := b.get(exportPath + "?format=xlsx&q=evil")
	f, err := excelize.OpenReader(strings.NewReader(a.body))
	must(t, err)
	defer f.Close()
	rows, err := f.GetRows(f.GetSheetList()[0])
	must(t, err)
	if len(rows) != 2 || rows[1][6] != hostile[1:] {
		t.Errorf("%q", rows)
	}
	b.header.Set("Accept-Language", "vi")
	if a := b.get(exportPath + "?format=csv"); !strings.HasPrefix(a.body, "\uFEFFMã baoco,Thời gian,") {
		t.Errorf("not in the language of the visit: %.100s", a.body)
	}
	if a := b.send("HEAD", exportPath+"?format=csv", nil); a.status != http.StatusOK || a.body != "" {
		t.Errorf("HEAD: %d %q", a.status, a.body)
	}
	if a := b.get("/transactions?q=bun+cha&page=2"); !strings.Contains(a.body, `href="/transactions/export?format=xlsx&amp;q=bun&#43;cha"`) {
		t.Errorf("the page has no link to its export\n%s", a.body)
	}
}

func TestExportIsOfTheAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other, err := w.service.CreateAccount(context.Background(), "other", time.Now())
	must(t, err)
	w.user(1, "lan", app.RoleOwner)
	w.user(1, "cashier", app.RoleViewer)
	w.user(other.ID, "stranger", app.RoleOwner)
	bank := w.link("ACB", someAccount)
	w.pay(1, "1", "cà phê sữa đá")
	cashier, stranger := w.browser().signIn("cashier"), w.browser().signIn("stranger")
	cashier.get(exportPath+"?format=csv").wantStatus(t, http.StatusForbidden)
	if a := cashier.get("/transactions"); strings.Contains(a.body, exportPath) {
		t.Error("the cashier is offered the export")
	}
	if a := stranger.get(exportPath + "?format=csv"); len(a.contents(t)) != 0 {
		t.Errorf("a stranger got\n%s", a.body)
	}
	if a := stranger.get(exportPath + "?format=csv&bank_account_id=" + itoa(bank.ID)); a.status == http.StatusOK {
		t.Errorf("a stranger's filter by a bank account: %d", a.status)
	}
	stranger.get("/transactions/1").wantStatus(t, http.StatusNotFound)
	if a := w.browser().get(exportPath + "?format=csv"); a.status != http.StatusSeeOther {
		t.Errorf("signed out: %d", a.status)
	}
}

// manyLong records so many transactions with long contents that their export
// doesn't fit into the buffers of a connection.
func (w *world) manyLong(n int) {
	w.t.Helper()
	in, err := w.service.NewImport(context.Background(), app.ImportOptions{AccountID: 1})
	must(w.t, err)
	long := strings.Repeat("dài", 600)
	for from := 0; from < n; from += 500 {
		var rows []app.Incoming
		for i := from; i < min(n, from+500); i++ {
			rows = append(rows, app.Incoming{EventID: fmt.Sprint(i), Gateway: "ACB", AccountNumber: someAccount, Type: app.In, Amount: int64(i + 1), Content: long, Time: time.Unix(int64(1e9+i), 0)})
		}
		_, err := in.Add(context.Background(), rows, time.Now())
		must(w.t, err)
	}
}

// A reader that stops in the middle keeps nothing of the database: the log can
// be emptied meanwhile. It gets what there was when it began, and no more; once
// signed out, no more at all.
func TestExportToASlowReader(t *testing.T) {
	t.Parallel()
	const n = 4000
	w := newWorld(t)
	owner := w.user(1, "lan", app.RoleOwner)
	w.link("ACB", someAccount)
	w.manyLong(n)
	b := w.browser().signIn("lan")
	export := func() *bufio.Reader { return w.slowly(b, exportPath+"?format=csv") }
	one, two := export(), export()
	for _, r := range []*bufio.Reader{one, two} {
		_, err := r.ReadString('\n')
		must(t, err)
	}
	w.pay(1, "later", "later")
	w.file(func(db *sql.DB) error {
		var busy, log, checkpointed int
		err := db.QueryRow(`PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &log, &checkpointed)
		if busy != 0 {
			t.Error("the export keeps the log from being emptied")
		}
		return err
	})
	rest, err := io.ReadAll(one)
	if rows := bytes.Count(rest, []byte("\n")); err != nil || rows != n || bytes.Contains(rest, []byte("later")) {
		t.Errorf("%d rows, %v, want %d", rows, err, n)
	}
	_, err = w.service.EndSessions(context.Background(), 1, owner.ID)
	must(t, err)
	if rest, err := io.ReadAll(two); err == nil || bytes.Count(rest, []byte("\n")) >= n {
		t.Errorf("signed out, the reader got %d rows and %v; want a broken connection", bytes.Count(rest, []byte("\n")), err)
	}
}

// slowly requests a path on a connection of its own with small buffers, and
// gives its body.
func (w *world) slowly(b *browser, path string) *bufio.Reader {
	w.t.Helper()
	here, err := url.Parse(w.url)
	must(w.t, err)
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		if err == nil {
			err = c.(*net.TCPConn).SetReadBuffer(64 << 10)
		}
		return c, err
	}}
	request, err := http.NewRequest("GET", w.url+path, nil)
	must(w.t, err)
	for _, c := range b.client.Jar.Cookies(here) {
		request.AddCookie(c)
	}
	response, err := transport.RoundTrip(request)
	must(w.t, err)
	w.t.Cleanup(func() { response.Body.Close(); transport.CloseIdleConnections() })
	if response.StatusCode != http.StatusOK {
		w.t.Fatalf("%s: %s", path, response.Status)
	}
	return bufio.NewReader(response.Body)
}
