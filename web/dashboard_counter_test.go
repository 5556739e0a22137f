package web_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"baoco/app"
)

// counterLink makes a link of the counter screen and gives its token.
func (w *world) counterLink(accountID int64, in app.CounterLinkCreate) string {
	w.t.Helper()
	if in.Name == "" {
		in.Name = "Quầy 1"
	}
	_, token, err := w.service.CreateCounterLink(context.Background(), accountID, in, time.Now())
	must(w.t, err)
	return token
}

// today is the date of a transfer at this moment.
func (w *world) today() string { return app.FormatTime(time.Now(), w.service.Zone()) }

// event is one server-sent event.
type event struct{ name, id, data string }

// listener is an open stream of events.
type listener struct {
	t      *testing.T
	status int
	events chan event // closed once the stream has ended
	stop   context.CancelFunc
}

func (b *browser) listen(path string, header ...string) *listener {
	b.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	b.t.Cleanup(stop)
	request, err := http.NewRequestWithContext(ctx, "GET", b.base+path, nil)
	must(b.t, err)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := b.client.Do(request)
	must(b.t, err)
	l := &listener{b.t, response.StatusCode, make(chan event, 100), stop}
	go func() {
		defer close(l.events)
		defer response.Body.Close()
		var e event
		lines := bufio.NewScanner(response.Body)
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "event":
				e.name = value
			case "id":
				e.id = value
			case "data":
				e.data += strings.ReplaceAll(value, "&#43;", "+") // as html/template writes it
			case "":
				l.events <- e
				e = event{}
			}
		}
	}()
	return l
}

// next is the next event of a name; those of other names are left out, but not
// ended.
func (l *listener) next(name string) event {
	l.t.Helper()
	timeout := time.After(30 * time.Second)
	for {
		select {
		case e, open := <-l.events:
			if !open || e.name == "ended" && name != "ended" {
				l.t.Fatalf("the stream ended before %s", name)
			}
			if e.name == name {
				return e
			}
		case <-timeout:
			l.t.Fatalf("no event %s within 30 s", name)
		}
	}
}

// ends waits for the end of the stream and gives how long it took.
func (l *listener) ends() time.Duration {
	l.t.Helper()
	begun := time.Now()
	l.next("ended")
	select {
	case e, open := <-l.events:
		if open {
			l.t.Errorf("%+v after the end", e)
		}
	case <-time.After(30 * time.Second):
		l.t.Error("the stream stays open after its end")
	}
	return time.Since(begun)
}

func TestCounterLinkShowsMoneyInOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, _ := w.link("ACB", "19354957"), w.link("VCB", "700700")
	second := w.secondAccount()
	_, err := w.service.LinkBankAccount(t.Context(), second, app.BankAccountLink{Bank: "ACB", AccountNumber: "19354957", AccountName: "B"}, time.Now())
	must(t, err)
	native := w.native()
	for i, x := range []transfer{
		{account: "19354957", amount: 200000, content: "BAN 7 <b>"},
		{account: "19354957", amount: 300000, content: "TIEN RA", direction: "OUT"},
		{account: "700700", gateway: "VCB", amount: 400000, content: "TAI KHOAN KHAC"},
		{account: "19354957", amount: 500000, content: "NAM NGOAI", date: "2025-01-01 00:00:00"},
		{account: "19354957", amount: 600000, content: "HOM KIA", date: app.FormatTime(time.Now().Add(-25*time.Hour), w.service.Zone())},
	} {
		x.id, x.number = fmt.Sprint("a", i), fmt.Sprint("FT", i)
		if x.date == "" {
			x.date = w.today()
		}
		w.names(recorded, native, x)
	}
	theirs, err := w.service.AddSource(t.Context(), second, app.SourceAdd{Provider: "native", Name: "theirs"}, time.Now())
	must(t, err)
	w.names(recorded, theirs, transfer{id: "b", number: "FTb", account: "19354957", amount: 700000, content: "NGUOI KHAC", date: w.today()})

	nobody := w.browser()
	all, mine, sum := w.counterLink(1, app.CounterLinkCreate{}), w.counterLink(1, app.CounterLinkCreate{BankAccountID: one.ID}), w.counterLink(1, app.CounterLinkCreate{BankAccountID: one.ID, ShowsTotal: true})
	w.user(second, "minh", app.RoleOwner)
	minh := w.browser().signIn("minh")
	for _, c := range []struct {
		b           *browser
		path        string
		shown, hide []string
	}{
		{nobody, "/counter/" + all, []string{"+200,000", "+400,000", "BAN 7 &lt;b&gt;"}, []string{"TIEN RA", "300,000", "NAM NGOAI", "HOM KIA", "NGUOI KHAC", "Today:"}},
		{nobody, "/counter/" + mine, []string{"+200,000"}, []string{"TIEN RA", "TAI KHOAN KHAC", "NAM NGOAI", "HOM KIA", "NGUOI KHAC", "Today:", "19354957"}},
		{nobody, "/counter/" + sum, []string{"+200,000", "Today: +200,000", "1 payment"}, []string{"400,000"}},
		// A link shows its own account, whoever opens it; a user theirs.
		{minh, "/counter/" + mine, []string{"+200,000"}, []string{"NGUOI KHAC"}},
		{minh, "/counter", []string{"+700,000"}, []string{"200,000", "BAN 7"}},
	} {
		a := c.b.get(c.path)
		body := strings.NewReplacer("\u00a0", " ", "&#43;", "+").Replace(a.body)
		a.wantStatus(t, http.StatusOK)
		for _, text := range c.shown {
			if !strings.Contains(body, text) {
				t.Errorf("%s doesn't show %q:\n%s", c.path, text, body)
			}
		}
		for _, text := range c.hide {
			if strings.Contains(body, text) {
				t.Errorf("%s shows %q", c.path, text)
			}
		}
		if !strings.Contains(a.header.Get("X-Robots-Tag"), "noindex") || a.header.Get("Referrer-Policy") != "no-referrer" || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: headers %v", c.path, a.header)
		}
		if c.b == nobody && a.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: a cookie %q", c.path, a.header.Get("Set-Cookie"))
		}
	}

	// The token opens nothing else, and doesn't stand in the file.
	nobody.get("/transactions").goes(t, "/login?back=%2Ftransactions")
	nobody.get("/live/counter?since=0").wantStatus(t, http.StatusUnauthorized)
	if a := w.do("GET", "/api/v1/transactions", "", "Authorization", "Bearer "+all); a.status != http.StatusUnauthorized {
		t.Errorf("the token on the API: %d", a.status)
	}
	if a := w.do("POST", "/api/webhooks/provider/"+all, "{}"); a.status != http.StatusUnauthorized {
		t.Errorf("the token as a source's: %d", a.status)
	}
	w.file(func(db *sql.DB) error {
		var n int
		err := db.QueryRow(`SELECT count(*) FROM counter_links WHERE hash = CAST(? AS BLOB) OR name = ?`, all, all).Scan(&n)
		if n != 0 {
			t.Error("a token stands in the file")
		}
		return err
	})
}

var saying = regexp.MustCompile(`data-say="([^"]*)"`)

func TestCounterLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, _ := w.link("ACB", "19354957"), w.link("VCB", "700700")
	native := w.native()
	token := w.counterLink(1, app.CounterLinkCreate{BankAccountID: one.ID, ShowsTotal: true})
	nobody := w.browser()
	l := nobody.listen("/live/counter/"+token+"?since=0", "Accept-Language", "vi")
	l.next("alive")
	w.names(recorded, native, transfer{id: "1", number: "1", account: "19354957", amount: 5000, direction: "OUT", date: w.today()})
	w.names(recorded, native, transfer{id: "2", number: "2", account: "700700", gateway: "VCB", amount: 6000, date: w.today()})
	w.names(recorded, native, transfer{id: "3", number: "3", account: "19354957", amount: 7000, date: "2025-01-01 10:00:00"})
	came := time.Now()
	w.names(recorded, native, transfer{id: "4", number: "4", account: "19354957", amount: 200000, content: "BAN 7\r\n<i>", date: w.today()})
	e := l.next("money") // nothing of the first three
	if took := time.Since(came); took > time.Second {
		t.Errorf("the money came after %v", took)
	}
	if said := saying.FindStringSubmatch(e.data); !strings.Contains(e.data, "+200.000\u00a0₫") || !strings.Contains(e.data, "&lt;i&gt;") || said == nil || said[1] != "Đã nhận hai trăm nghìn đồng" {
		t.Errorf("%+v", e)
	}
	if e := l.next("total"); e.data != "Hôm nay: +200.000\u00a0₫ · 1 giao dịch" {
		t.Errorf("%+v", e)
	}

	// What came while the connection was broken comes once it is back, once;
	// what is no news any more isn't read out.
	l.stop()
	w.came(10*time.Minute, native, transfer{id: "5", number: "5", account: "19354957", amount: 8000, date: w.today()})
	again := nobody.listen("/live/counter/"+token+"?since=0", "Last-Event-Id", e.id)
	missed := again.next("money")
	if said := saying.FindStringSubmatch(missed.data); !strings.Contains(missed.data, "8,000") || said == nil || said[1] != "" {
		t.Errorf("%+v", missed)
	}
	again.next("total")
	select {
	case e := <-again.events:
		t.Errorf("and then %+v", e)
	case <-time.After(time.Second):
	}
	nobody.get("/live/counter/"+token+"?since=x").wantStatus(t, http.StatusUnprocessableEntity)
	nobody.get("/live/counter/"+token+"?since=-1").wantStatus(t, http.StatusUnprocessableEntity)
}

// A transfer of hours ago that is recorded now is shown, and not announced as if
// somebody had just paid.
func TestCounterAnnouncesNews(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("ACB", "19354957")
	native := w.native()
	l := w.browser().listen("/live/counter/"+w.counterLink(1, app.CounterLinkCreate{})+"?since=0", "Accept-Language", "vi")
	ago := func(d time.Duration) string { return app.FormatTime(time.Now().Add(-d), w.service.Zone()) }
	for i, x := range []struct {
		date string
		says string
	}{
		{ago(29 * time.Minute), "Đã nhận năm nghìn đồng"},
		{ago(31 * time.Minute), ""},
		{ago(23 * time.Hour), ""},
		{w.today()[:len(time.DateOnly)], "Đã nhận năm nghìn đồng"},
	} {
		w.names(recorded, native, transfer{id: fmt.Sprint(i), number: fmt.Sprint(i), account: "19354957", amount: 5000, date: x.date})
		if said := saying.FindStringSubmatch(l.next("money").data); said == nil || said[1] != x.says {
			t.Errorf("dated %s: %q, want %q", x.date, said, x.says)
		}
	}
}

// More than one event's worth of news comes whole.
func TestCounterManyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("ACB", "19354957")
	native := w.native()
	const n = app.CounterRows*2 + 3
	for i := range n {
		w.names(recorded, native, transfer{id: fmt.Sprint(i), number: fmt.Sprint(i), account: "19354957", amount: int64(1000 + i), date: w.today()})
	}
	l := w.browser().listen("/live/counter/" + w.counterLink(1, app.CounterLinkCreate{}) + "?since=0")
	for i := range n {
		if e := l.next("money"); !strings.Contains(e.data, fmt.Sprintf("+1,0%02d", i)) {
			t.Fatalf("event %d: %+v", i, e)
		}
	}
}

func TestCounterRevoked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.link("ACB", "19354957")
	lan, nobody := w.browser().signIn("lan"), w.browser()
	first, second, third := w.counterLink(1, app.CounterLinkCreate{}), w.counterLink(1, app.CounterLinkCreate{}), w.counterLink(1, app.CounterLinkCreate{})
	admin := w.admin()
	kept := nobody.listen("/live/counter/" + third + "?since=0")
	kept.next("alive")
	for i, revoke := range []func(id int64) error{
		func(id int64) error {
			lan.post(fmt.Sprintf("/settings/counters/%d/revoke", id)).goes(t, "/settings")
			return nil
		},
		func(id int64) error { return admin.RevokeCounterLink(t.Context(), 1, id, time.Now()) },
	} {
		token := []string{first, second}[i]
		l := nobody.listen("/live/counter/" + token + "?since=0")
		l.next("alive")
		must(t, revoke(int64(i+1)))
		t.Logf("the screen went dark after %v", l.ends())
		for _, path := range []string{"/counter/" + token, "/live/counter/" + token + "?since=0"} {
			if a := nobody.get(path); a.status != http.StatusNotFound || strings.Contains(a.body, "text/event-stream") {
				t.Errorf("%s: %d", path, a.status)
			}
		}
	}
	nobody.get("/counter/"+strings.Repeat("A", 43)).wantStatus(t, http.StatusNotFound)
	nobody.get("/counter/"+third).wantStatus(t, http.StatusOK)
	w.names(recorded, w.native(), transfer{account: "19354957", amount: 1000, date: w.today()})
	kept.next("money") // the other link goes on
}

// A signed-in user's screen goes dark with their session.
func TestCounterOfAUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	u := w.user(1, "thungan", app.RoleViewer)
	b := w.browser().signIn("thungan")
	b.get("/counter").wantStatus(t, http.StatusOK)
	l := b.listen("/live/counter?since=0")
	l.next("alive")
	_, err := w.service.EndSessions(t.Context(), 1, u.ID)
	must(t, err)
	t.Logf("the screen went dark after %v", l.ends())
}

// One link can't take the streams of all others.
func TestCounterStreamsOfALink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	greedy, other := w.counterLink(1, app.CounterLinkCreate{}), w.counterLink(1, app.CounterLinkCreate{})
	nobody := w.browser()
	var open []*listener
	for range 20 {
		l := nobody.listen("/live/counter/" + greedy + "?since=0")
		l.next("alive")
		open = append(open, l)
	}
	if l := nobody.listen("/live/counter/" + greedy + "?since=0"); l.status != http.StatusServiceUnavailable {
		t.Errorf("one screen too many: %d", l.status)
	}
	nobody.listen("/live/counter/" + other + "?since=0").next("alive")
	open[0].stop()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		l := nobody.listen("/live/counter/" + greedy + "?since=0")
		if l.stop(); l.status == http.StatusOK {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d after a screen was closed", l.status)
		}
	}
}

func TestCounterLinksInTheSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	bank := w.link("ACB", "19354957")
	second := w.secondAccount()
	theirs, err := w.service.LinkBankAccount(t.Context(), second, app.BankAccountLink{Bank: "ACB", AccountNumber: "5", AccountName: "B"}, time.Now())
	must(t, err)
	lan := w.browser().signIn("lan")
	form := []string{"once", lan.once("/settings"), "name", "Quầy 1", "bank_account_id", fmt.Sprint(bank.ID), "total", "1"}
	link := lan.post("/settings/counters", form...).secret(t)
	if !strings.HasPrefix(link, w.url+"/counter/") {
		t.Errorf("the link %s", link)
	}
	w.browser().get(strings.TrimPrefix(link, w.url)).wantStatus(t, http.StatusOK)
	lan.post("/settings/counters", form...).goes(t, "/settings")
	page := lan.get("/settings").body
	if strings.Contains(page, link) || strings.Count(page, "Quầy 1</bdi>") != 1 || !strings.Contains(page, "ACB 19354957, today’s total") {
		t.Errorf("the settings after creating a link:\n%s", page)
	}
	for _, c := range [][]string{
		{"name", "", "bank_account_id", ""}, {"name", "x", "bank_account_id", fmt.Sprint(theirs.BankAccount.ID)}, {"name", "x", "bank_account_id", "99"}, {"name", "x", "bank_account_id", "y"},
	} {
		lan.post("/settings/counters", append(c, "once", lan.once("/settings"))...).wantStatus(t, http.StatusUnprocessableEntity)
	}
	lan.get("/settings/counters/1/revoke").wantStatus(t, http.StatusOK)
	lan.post("/settings/counters/1/revoke").goes(t, "/settings")
	w.browser().get(strings.TrimPrefix(link, w.url)).wantStatus(t, http.StatusNotFound)
	if page := lan.get("/settings").body; strings.Contains(page, "Quầy 1</bdi>") {
		t.Error("a revoked link is still listed")
	}
}
