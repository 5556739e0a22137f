package dashboard_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/payment"
	"baoco/web/webtest"
)

func TestCounterLinkShowsMoneyInOnly(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	one, _ := w.Link("ACB", "19354957"), w.Link("VCB", "700700")
	second := w.SecondAccount()
	_, err := w.Services.Inbound.LinkBankAccount(t.Context(), second,
		inbound.BankAccountLink{Bank: "ACB", AccountNumber: "19354957", AccountName: "B"}, time.Now())
	apptest.Must(t, err)
	native := w.Native()
	for i, x := range []apptest.Transfer{
		{Account: "19354957", Amount: 200000, Content: "BAN 7 <b>"},
		{Account: "19354957", Amount: 300000, Content: "TIEN RA", Direction: "OUT"},
		{Account: "700700", Gateway: "VCB", Amount: 400000, Content: "TAI KHOAN KHAC"},
		{Account: "19354957", Amount: 500000, Content: "NAM NGOAI", Date: "2025-01-01 00:00:00"},
		{Account: "19354957", Amount: 600000, Content: "HOM KIA", Date: app.FormatTime(time.Now().Add(-25*time.Hour), w.Services.Ledger.Zone())},
	} {
		x.ID, x.Number = fmt.Sprint("a", i), fmt.Sprint("FT", i)
		if x.Date == "" {
			x.Date = today(w)
		}
		w.Names(webtest.Recorded, native, x)
	}
	theirs, err := w.Services.Inbound.AddSource(t.Context(), second, inbound.SourceAdd{Provider: "native", Name: "theirs"}, time.Now())
	apptest.Must(t, err)
	w.Names(webtest.Recorded, theirs,
		apptest.Transfer{ID: "b", Number: "FTb", Account: "19354957", Amount: 700000, Content: "NGUOI KHAC", Date: today(w)})

	nobody := w.Browser()
	all, mine, sum := counterLink(w, 1, payment.CounterLinkCreate{}), counterLink(w, 1, payment.CounterLinkCreate{BankAccountID: one.ID}),
		counterLink(w, 1, payment.CounterLinkCreate{BankAccountID: one.ID, ShowsTotal: true})
	w.User(second, "minh", access.RoleOwner)
	minh := w.Browser().SignIn("minh")
	for _, c := range []struct {
		b           *webtest.Browser
		path        string
		shown, hide []string
	}{
		{nobody, "/counter/" + all, []string{"+200,000", "+400,000", "BAN 7 &lt;b&gt;"},
			[]string{"TIEN RA", "300,000", "NAM NGOAI", "HOM KIA", "NGUOI KHAC", "Today:"}},
		{nobody, "/counter/" + mine, []string{"+200,000"},
			[]string{"TIEN RA", "TAI KHOAN KHAC", "NAM NGOAI", "HOM KIA", "NGUOI KHAC", "Today:", "19354957"}},
		{nobody, "/counter/" + sum, []string{"+200,000", "Today: +200,000", "1 payment"}, []string{"400,000"}},
		// A link shows its own account, whoever opens it; a user theirs.
		{minh, "/counter/" + mine, []string{"+200,000"}, []string{"NGUOI KHAC"}},
		{minh, "/counter", []string{"+700,000"}, []string{"+200,000", "BAN 7"}},
	} {
		a := c.b.Get(c.path)
		body := strings.NewReplacer("\u00a0", " ", "&#43;", "+").Replace(a.Body)
		a.WantStatus(t, http.StatusOK)
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
		if !strings.Contains(a.Header.Get("X-Robots-Tag"), "noindex") || a.Header.Get("Referrer-Policy") != "same-origin" ||
			a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: headers %v", c.path, a.Header)
		}
		if c.b == nobody && a.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: a cookie %q", c.path, a.Header.Get("Set-Cookie"))
		}
	}

	// The token opens nothing else, and doesn't stand in the file.
	nobody.Get("/transactions").Goes(t, "/login?back=%2Ftransactions")
	nobody.Get("/live/counter?since=0").WantStatus(t, http.StatusUnauthorized)
	if a := w.Do("GET", "/api/v1/transactions", "", "Authorization", "Bearer "+all); a.Status != http.StatusUnauthorized {
		t.Errorf("the token on the API: %d", a.Status)
	}
	if a := w.Do("POST", "/api/webhooks/provider/"+all, "{}"); a.Status != http.StatusUnauthorized {
		t.Errorf("the token as a source's: %d", a.Status)
	}
	w.File(func(db *sql.DB) error {
		var n int
		err := db.QueryRow(`SELECT count(*) FROM counter_links WHERE hash = CAST(? AS BLOB) OR name = ?`, all, all).Scan(&n)
		if n != 0 {
			t.Error("a token stands in the file")
		}
		return err
	})
}

// A counter that is open takes the card of money away whose import was undone, and a screen
// that connects anew as well.
func TestCounterOfRemoved(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	one := w.Link("ACB", "19354957")
	w.Link("VCB", "700700")
	screen := "/live/counter/" + counterLink(w, 1, payment.CounterLinkCreate{BankAccountID: one.ID})
	l := w.Browser().Listen(screen + "?since=0")
	for i, number := range []string{"700700", "19354957"} {
		in, err := w.Services.Inbound.NewImport(t.Context(), inbound.ImportOptions{AccountID: 1, File: "a.csv"})
		apptest.Must(t, err)
		_, err = in.Add(t.Context(),
			[]inbound.Incoming{{AccountNumber: number, Number: number, Type: app.In, Amount: 5000, Time: time.Now()}}, time.Now())
		apptest.Must(t, err)
		if i == 1 {
			l.Next("money")
		}
		apptest.Must(t, w.Services.Inbound.UndoImport(t.Context(), 1, in.ID(), time.Now()))
	}
	if got := l.Next("removed").Data; got != "2" {
		t.Errorf("removed %q", got)
	}
	if got := w.Browser().Listen(screen + "?since=2").Next("removed").Data; got != "2" {
		t.Errorf("one that connects anew: removed %q", got)
	}
}

var saying = regexp.MustCompile(`data-say="([^"]*)"`)

func TestCounterLive(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	one, _ := w.Link("ACB", "19354957"), w.Link("VCB", "700700")
	native := w.Native()
	token := counterLink(w, 1, payment.CounterLinkCreate{BankAccountID: one.ID, ShowsTotal: true})
	nobody := w.Browser()
	l := nobody.Listen("/live/counter/"+token+"?since=0", "Accept-Language", "vi")
	l.Next("alive")
	l.Next("total") // of nothing
	w.Names(webtest.Recorded, native,
		apptest.Transfer{ID: "1", Number: "1", Account: "19354957", Amount: 5000, Direction: "OUT", Date: today(w)})
	w.Names(webtest.Recorded, native, apptest.Transfer{ID: "2", Number: "2", Account: "700700", Gateway: "VCB", Amount: 6000, Date: today(w)})
	w.Names(webtest.Recorded, native, apptest.Transfer{ID: "3", Number: "3", Account: "19354957", Amount: 7000, Date: "2025-01-01 10:00:00"})
	came := time.Now()
	w.Names(webtest.Recorded, native,
		apptest.Transfer{ID: "4", Number: "4", Account: "19354957", Amount: 200000, Content: "BAN 7\r\n<i>", Date: today(w)})
	both := l.All("money", "total") // nothing of the first three; a look at the first may have found the last in the total
	e, sum := both[0], both[1]
	if took := time.Since(came); took > time.Second {
		t.Errorf("the money came after %v", took)
	}
	if said := saying.FindStringSubmatch(e.Data); !strings.Contains(e.Data, "+200.000\u00a0₫") || !strings.Contains(e.Data, "&lt;i&gt;") ||
		said == nil || said[1] != "Đã nhận hai trăm nghìn đồng" {
		t.Errorf("%+v", e)
	}
	if sum.Data != "Hôm nay: +200.000\u00a0₫ · 1 khoản" {
		t.Errorf("%+v", sum)
	}

	// What came while the connection was broken comes once it is back, once;
	// what is no news any more isn't read out.
	l.Stop()
	w.Came(10*time.Minute, native, apptest.Transfer{ID: "5", Number: "5", Account: "19354957", Amount: 8000, Date: today(w)})
	again := nobody.Listen("/live/counter/"+token+"?since=0", "Last-Event-Id", e.ID)
	missed := again.Next("money")
	if said := saying.FindStringSubmatch(missed.Data); !strings.Contains(missed.Data, "8,000") || said == nil || said[1] != "" ||
		!strings.Contains(missed.Data, "data-missed") {
		t.Errorf("%+v", missed)
	}
	again.Next("total")
	select {
	case e := <-again.Events:
		t.Errorf("and then %+v", e)
	case <-time.After(time.Second):
	}
	nobody.Get("/live/counter/"+token+"?since=x").WantStatus(t, http.StatusUnprocessableEntity)
	nobody.Get("/live/counter/"+token+"?since=-1").WantStatus(t, http.StatusUnprocessableEntity)
}

// The screen begins with what happened last, whatever was recorded last: a statement
// brings old transfers after new ones. Nothing comes by the stream again.
func TestCounterOrder(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", "19354957")
	native := w.Native()
	ago := func(d time.Duration) string { return app.FormatTime(time.Now().Add(-d), w.Services.Ledger.Zone()) }
	add := func(id, date string) {
		w.Names(webtest.Recorded, native, apptest.Transfer{ID: id, Number: id, Account: "19354957", Amount: 5000, Content: id, Date: date})
	}
	add("NEW", ago(time.Minute))
	add("NEWEST", ago(time.Second))
	for i := range 12 * payment.CounterRows {
		if i == 10*payment.CounterRows {
			add("DAY", today(w)[:len(time.DateOnly)])
		}
		add(fmt.Sprintf("OLD%d", i), ago(time.Hour+time.Duration(i)*time.Minute))
	}
	path := "/counter/" + counterLink(w, 1, payment.CounterLinkCreate{})
	body := w.Browser().Get(path).Body
	var shown []string
	for _, found := range regexp.MustCompile(`"text"><bdi>([A-Z0-9]+)</bdi>`).FindAllStringSubmatch(body, -1) {
		shown = append(shown, found[1])
	}
	if want := "DAY NEWEST NEW OLD0 OLD1"; len(shown) != payment.CounterRows || strings.Join(shown[:5], " ") != want {
		t.Errorf("%d cards: %v; the first are not %s", len(shown), shown, want)
	}
	stream := regexp.MustCompile(`data-stream="([^"]*)"`).FindStringSubmatch(body)
	l := w.Browser().Listen(stream[1])
	l.Next("alive")
	add("LAST", ago(0))
	if e := l.Next("money"); !strings.Contains(e.Data, "LAST") {
		t.Errorf("the stream begins with %s", e.Data)
	}
}

// A transfer of hours ago that is recorded now is shown, and not announced as if
// somebody had just paid.
func TestCounterAnnouncesNews(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", "19354957")
	native := w.Native()
	l := w.Browser().Listen("/live/counter/"+counterLink(w, 1, payment.CounterLinkCreate{})+"?since=0", "Accept-Language", "vi")
	ago := func(d time.Duration) string { return app.FormatTime(time.Now().Add(-d), w.Services.Ledger.Zone()) }
	for i, x := range []struct {
		date string
		says string
	}{
		{ago(29 * time.Minute), "Đã nhận năm nghìn đồng"},
		{ago(31 * time.Minute), ""},
		{ago(23 * time.Hour), ""},
		{today(w)[:len(time.DateOnly)], "Đã nhận năm nghìn đồng"},
	} {
		w.Names(webtest.Recorded, native,
			apptest.Transfer{ID: fmt.Sprint(i), Number: fmt.Sprint(i), Account: "19354957", Amount: 5000, Date: x.date})
		e := l.Next("money")
		if said := saying.FindStringSubmatch(e.Data); said == nil || said[1] != x.says || strings.Contains(e.Data, "data-missed") {
			t.Errorf("dated %s: %q, want %q: %s", x.date, said, x.says, e.Data)
		}
	}
}

// The age of a payment counts from its transfer; from its record where only the
// day of the transfer is known.
func TestCounterAge(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", "19354957")
	native := w.Native()
	l := w.Browser().Listen("/live/counter/" + counterLink(w, 1, payment.CounterLinkCreate{}) + "?since=0")
	since := regexp.MustCompile(`data-since="(\d+)"`)
	for i, x := range []struct {
		date string
		age  time.Duration
	}{
		{app.FormatTime(time.Now().Add(-10*time.Minute), w.Services.Ledger.Zone()), 10 * time.Minute},
		{today(w)[:len(time.DateOnly)], 0},
	} {
		w.Names(webtest.Recorded, native,
			apptest.Transfer{ID: fmt.Sprint(i), Number: fmt.Sprint(i), Account: "19354957", Amount: 5000, Date: x.date})
		found := since.FindStringSubmatch(l.Next("money").Data)
		if len(found) != 2 {
			t.Fatal("a card without its age")
		}
		seconds, err := strconv.ParseInt(found[1], 10, 64)
		apptest.Must(t, err)
		if age := time.Since(time.Unix(seconds, 0)); age < x.age || age > x.age+time.Minute {
			t.Errorf("dated %s: %v old, want %v", x.date, age, x.age)
		}
	}
}

func TestCounterBacklog(t *testing.T) {
	t.Parallel()
	nobody := webtest.NewWorld(t).Browser()
	for query, want := range map[string]string{
		"count=25&sum=325000":                               "25 new payments, three hundred twenty-five thousand dong in total",
		"count=2&sum=" + fmt.Sprint(int64(app.MaxAmount+1)): "",
		"count=0&sum=1":                                     "", "count=x&sum=1": "", "count=1&sum=-1": "", "count=1": "",
	} {
		a := nobody.Get("/counter/backlog?" + query)
		if want == "" {
			a.WantStatus(t, http.StatusUnprocessableEntity)
		} else if a.WantStatus(t, http.StatusOK); a.Body != want {
			t.Errorf("%s: %q", query, a.Body)
		}
	}
}

// A tablet that installs a counter opens it at its own address.
func TestCounterManifest(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "thungan", access.RoleCashier)
	nobody := w.Browser()
	link := "/counter/" + counterLink(w, 1, payment.CounterLinkCreate{Name: "Quầy <1>"})
	for _, c := range []struct {
		b          *webtest.Browser
		path, name string
	}{
		{nobody, link, "Quầy <1> · baoco"},
		{w.Browser().SignIn("thungan"), "/counter", "Counter screen · baoco"},
	} {
		address := c.path + "/manifest.webmanifest"
		if !strings.Contains(c.b.Get(c.path).Body, `href="`+address+`"`) {
			t.Errorf("%s doesn't name its manifest", c.path)
		}
		a := c.b.Get(address)
		a.WantStatus(t, http.StatusOK)
		var m struct {
			Name     string `json:"name"`
			StartURL string `json:"start_url"`
			Icons    []struct {
				Src string `json:"src"`
			} `json:"icons"`
		}
		apptest.Must(t, json.Unmarshal([]byte(a.Body), &m))
		if m.Name != c.name || m.StartURL != c.path || len(m.Icons) != 3 || a.Header.Get("Content-Type") != "application/manifest+json" {
			t.Errorf("%s: %s %s", address, a.Header.Get("Content-Type"), a.Body)
		}
		for _, icon := range m.Icons {
			if a := nobody.Get(icon.Src); a.Status != http.StatusOK || a.Header.Get("Content-Type") != "image/png" {
				t.Errorf("%s: %d %s", icon.Src, a.Status, a.Header.Get("Content-Type"))
			}
		}
	}
	nobody.Get("/counter/"+strings.Repeat("A", 43)+"/manifest.webmanifest").WantStatus(t, http.StatusNotFound)
}

// More than one event's worth of news comes whole.
func TestCounterManyAtOnce(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", "19354957")
	native := w.Native()
	const n = payment.CounterRows*2 + 3
	for i := range n {
		w.Names(webtest.Recorded, native,
			apptest.Transfer{ID: fmt.Sprint(i), Number: fmt.Sprint(i), Account: "19354957", Amount: int64(1000 + i), Date: today(w)})
	}
	l := w.Browser().Listen("/live/counter/" + counterLink(w, 1, payment.CounterLinkCreate{}) + "?since=0")
	for i := range n {
		if e := l.Next("money"); !strings.Contains(e.Data, fmt.Sprintf("+1,0%02d", i)) {
			t.Fatalf("event %d: %+v", i, e)
		}
	}
}

func TestCounterRevoked(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", "19354957")
	lan, nobody := w.Browser().SignIn("lan"), w.Browser()
	first, second, third := counterLink(w, 1, payment.CounterLinkCreate{}), counterLink(w, 1, payment.CounterLinkCreate{}),
		counterLink(w, 1, payment.CounterLinkCreate{})
	admin := w.Admin()
	kept := nobody.Listen("/live/counter/" + third + "?since=0")
	kept.Next("alive")
	for i, revoke := range []func(id int64) error{
		func(id int64) error {
			lan.Post(fmt.Sprintf("/settings/counters/%d/revoke", id)).Goes(t, "/settings")
			return nil
		},
		func(id int64) error { return admin.Payments.RevokeCounterLink(t.Context(), 1, id, time.Now()) },
	} {
		token := []string{first, second}[i]
		l := nobody.Listen("/live/counter/" + token + "?since=0")
		l.Next("alive")
		apptest.Must(t, revoke(int64(i+1)))
		t.Logf("the screen went dark after %v", streamEnds(t, l))
		for _, path := range []string{"/counter/" + token, "/live/counter/" + token + "?since=0"} {
			if a := nobody.Get(path); a.Status != http.StatusNotFound || strings.Contains(a.Body, "text/event-stream") {
				t.Errorf("%s: %d", path, a.Status)
			}
		}
	}
	nobody.Get("/counter/"+strings.Repeat("A", 43)).WantStatus(t, http.StatusNotFound)
	nobody.Get("/counter/"+third).WantStatus(t, http.StatusOK)
	w.Names(webtest.Recorded, w.Native(), apptest.Transfer{Account: "19354957", Amount: 1000, Date: today(w)})
	kept.Next("money") // the other link goes on
}

// A signed-in user's screen goes dark with their session.
func TestCounterOfAUser(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	u := w.User(1, "thungan", access.RoleCashier)
	b := w.Browser().SignIn("thungan")
	b.Get("/counter").WantStatus(t, http.StatusOK)
	l := b.Listen("/live/counter?since=0")
	l.Next("alive")
	_, err := w.Services.Access.EndSessions(t.Context(), 1, u.ID)
	apptest.Must(t, err)
	t.Logf("the screen went dark after %v", streamEnds(t, l))
}

// One link can't take the streams of all others.
func TestCounterStreamsOfALink(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	greedy, other := counterLink(w, 1, payment.CounterLinkCreate{}), counterLink(w, 1, payment.CounterLinkCreate{})
	nobody := w.Browser()
	var open []*webtest.Listener
	for range 20 {
		l := nobody.Listen("/live/counter/" + greedy + "?since=0")
		l.Next("alive")
		open = append(open, l)
	}
	if l := nobody.Listen("/live/counter/" + greedy + "?since=0"); l.Status != http.StatusServiceUnavailable {
		t.Errorf("one screen too many: %d", l.Status)
	}
	nobody.Listen("/live/counter/" + other + "?since=0").Next("alive")
	open[0].Stop()
	apptest.Eventually(t, "a place for one more screen", func() bool {
		l := nobody.Listen("/live/counter/" + greedy + "?since=0")
		l.Stop()
		return l.Status == http.StatusOK
	})
}

func TestCounterLinksInTheSettings(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	bank := w.Link("ACB", "19354957")
	second := w.SecondAccount()
	theirs, err := w.Services.Inbound.LinkBankAccount(t.Context(), second,
		inbound.BankAccountLink{Bank: "ACB", AccountNumber: "5", AccountName: "B"}, time.Now())
	apptest.Must(t, err)
	lan := w.Browser().SignIn("lan")
	form := []string{"once", lan.Once("/settings"), "name", "Quầy 1", "bank_account_id", fmt.Sprint(bank.ID), "total", "1"}
	link := secretShown(t, lan.Post("/settings/counters", form...))
	if !strings.HasPrefix(link, w.URL+"/counter/") {
		t.Errorf("the link %s", link)
	}
	w.Browser().Get(strings.TrimPrefix(link, w.URL)).WantStatus(t, http.StatusOK)
	lan.Post("/settings/counters", form...).Goes(t, "/settings")
	page := lan.Get("/settings").Body
	if strings.Contains(page, link) || strings.Count(page, "Quầy 1</bdi>") != 1 || !strings.Contains(page, "ACB 19354957, today’s total") {
		t.Errorf("the settings after creating a link:\n%s", page)
	}
	for _, c := range [][]string{
		{"name", "", "bank_account_id", ""}, {"name", "x", "bank_account_id", fmt.Sprint(theirs.BankAccount.ID)},
		{"name", "x", "bank_account_id", "99"}, {"name", "x", "bank_account_id", "y"},
	} {
		lan.Post("/settings/counters", append(c, "once", lan.Once("/settings"))...).WantStatus(t, http.StatusUnprocessableEntity)
	}
	lan.Get("/settings/counters/1/revoke").WantStatus(t, http.StatusOK)
	lan.Post("/settings/counters/1/revoke").Goes(t, "/settings")
	w.Browser().Get(strings.TrimPrefix(link, w.URL)).WantStatus(t, http.StatusNotFound)
	if page := lan.Get("/settings").Body; strings.Contains(page, "Quầy 1</bdi>") {
		t.Error("a revoked link is still listed")
	}
}

// today is the date of a transfer at this moment.
func today(w *webtest.World) string { return app.FormatTime(time.Now(), w.Services.Ledger.Zone()) }
