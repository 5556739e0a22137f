package dashboard_test

import (
	"fmt"
	"html"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/stream"
	"baoco/web/webtest"
)

// awaitStream waits until a stream is as it should be.
func awaitStream(w *webtest.World, id int64, what string, is func(stream.Stream) bool) stream.Stream {
	w.T.Helper()
	var st stream.Stream
	w.Until(what, func() (ok bool) {
		var err error
		st, err = w.Services.Streams.Stream(w.T.Context(), 1, id)
		apptest.Must(w.T, err)
		return is(st)
	})
	return st
}

func TestStreamForm(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	bank := w.Link("ACB", apptest.SomeAccount)
	w.Pay(1, "1", "before")
	b := w.Browser().SignIn("lan")
	b.Get("/webhooks").Shows(t, `href="/streams"`, "Streams: NATS, Kafka")
	b.Get("/streams").Shows(t, "For shops with many programs", "a webhook is enough", `href="/help/streams"`, `href="/streams/new"`)
	once := b.Get("/streams/new").Once(t)
	good := map[string]string{"name": " ledger ", "url": "kafka://k1.shop.vn:9093,k2.shop.vn", "topic": "shop", "type": "IN", "start": "now",
		"bank_account_id": fmt.Sprint(bank.ID)}
	send := func(change ...string) webtest.Answer {
		form := []string{"once", once}
		changed := map[string]string{}
		for name, value := range good {
			changed[name] = value
		}
		for i := 0; i < len(change); i += 2 {
			changed[change[i]] = change[i+1]
		}
		for name, value := range changed {
			form = append(form, name, value)
		}
		return b.Post("/streams", form...)
	}
	for problem, change := range map[string][]string{
		"name":            {"name", ""},
		"url":             {"url", "https://shop.vn"},
		"topic":           {"topic", "a b"},
		"type":            {"type", "SIDEWAYS"},
		"bank_account_id": {"bank_account_id", "99"},
		"since_id":        {"start", "after", "since_id", "x"},
		"username":        {"password", "a password that is typed"},
		"password":        {"username", "lan", "credentials", "-----BEGIN NATS USER JWT-----"},
	} {
		a := send(change...)
		a.WantStatus(t, http.StatusUnprocessableEntity)
		a.Shows(t, `id="`+problem+`-problem"`)
		a.Hides(t, "a password that is typed", "BEGIN NATS")
	}
	if a := send("url", "nats://10.0.0.1", "topic", "shop"); a.Status != http.StatusUnprocessableEntity {
		t.Errorf("a private address: %d", a.Status)
	}
	if list, err := w.Services.Streams.Streams(t.Context(), 1); err != nil || len(list) != 0 {
		t.Fatalf("made of nothing: %+v, %v", list, err)
	}
	// What was refused didn't use the form up.
	a := send("start", "first", "username", "lan", "password", "the right one")
	secret := secretOf(t, a)
	a.Shows(t, "Created stream", `action="/streams/1/env"`, `href="/help/streams"`)
	st := awaitStream(w, 1, "what was recorded before is sent", func(st stream.Stream) bool { return st.Sent == 1 })
	if st.Name != "ledger" || st.URL != good["url"] || st.Topic != "shop" || st.Username != "lan" || st.Type != delivery.WebhookIn ||
		st.BankAccountID != bank.ID || !st.IsActive {
		t.Errorf("%+v", st)
	}
	kept, to := w.Brokers.All(), w.Brokers.Opened()
	if to.Password != "the right one" || len(kept) != 1 ||
		!strings.Contains(fmt.Sprint(kept[0].Headers), delivery.Signature(secret, kept[0].Body)) {
		t.Errorf("%+v, %+v", to, kept)
	}
	b.Get("/streams").Shows(t, "ledger", "Kafka · k1.shop.vn:9093 +1", "On", "All are sent")
	b.Get("/streams/1").Shows(t, "1 message", "after transaction #1", "All are sent", "<code>lan</code>", "Money in", "19354957")

	// The secret is on that page only, and as a file.
	again := send("start", "first")
	again.Shows(t, "already shown")
	for _, path := range []string{"/streams", "/streams/new", "/streams/1", "/streams/1/edit", "/streams/1/rotate", "/streams/1/delete"} {
		page := b.Get(path)
		page.WantStatus(t, http.StatusOK)
		if body := html.UnescapeString(page.Body); strings.Contains(body, secret) || strings.Contains(body, "the right one") {
			t.Errorf("%s shows a secret", path)
		}
	}
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(w.Path + suffix)
		apptest.Must(t, err)
		if strings.Contains(string(data), secret) {
			t.Errorf("%s holds a secret in clear", w.Path+suffix)
		}
	}
	a = b.Post("/streams/1/env", "secret", secret)
	if !strings.HasSuffix(a.Body, "\nBAOCO_SECRET="+secret+"\n") ||
		a.Header.Get("Content-Disposition") != `attachment; filename="baoco-stream-1.env"` {
		t.Errorf("%v\n%s", a.Header, a.Body)
	}
	b.Post("/streams/1/env", "secret", "x").WantStatus(t, http.StatusUnprocessableEntity)
	if second := secretOf(t, b.Submit("/streams/1/rotate")); second == secret {
		t.Error("the secret was not rotated")
	}
}

// A form that leaves the password out keeps it, but never for another broker or user.
func TestStreamEdit(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Stream(stream.Create{Credentials: stream.BrokerCredentials{Username: "shop", Password: "first password"}})
	b := w.Browser().SignIn("lan")
	b.Get("/streams/1/edit").Hides(t, "first password")
	edit := func(pairs ...string) webtest.Answer {
		return b.Post("/streams/1/edit", append(pairs, "name", "ledger", "topic", "shop", "type", "OUT", "start", "now")...)
	}
	opens := func(what string, want stream.BrokerCredentials) {
		t.Helper()
		b.Post("/streams/1/test").Goes(t, "/streams/1")
		if to := w.Brokers.Opened(); (stream.BrokerCredentials{Username: to.Username, Password: to.Password}) != want {
			t.Errorf("%s: the broker is opened with %q and %q", what, to.Username, to.Password)
		}
	}
	edit("url", "nats://nats.shop.vn", "username", "shop").Goes(t, "/streams/1")
	opens("nothing of it changed", stream.BrokerCredentials{Username: "shop", Password: "first password"})
	for _, other := range [][]string{{"url", "nats://evil.vn", "username", "shop"}, {"url", "nats://nats.shop.vn", "username", "hoa"}} {
		a := edit(other...)
		a.WantStatus(t, http.StatusUnprocessableEntity)
		a.Shows(t, `id="password-problem"`)
	}
	edit("url", "nats://two.shop.vn", "username", "shop", "password", "second password").Goes(t, "/streams/1")
	opens("another broker", stream.BrokerCredentials{Username: "shop", Password: "second password"})
	edit("url", "nats://two.shop.vn", "credentials", "-----BEGIN NATS USER JWT-----\r\nx\r\n").Goes(t, "/streams/1")
	opens("a credentials file", stream.BrokerCredentials{Password: "-----BEGIN NATS USER JWT-----\nx\n"})
	edit("url", "nats://three.shop.vn").Goes(t, "/streams/1")
	opens("a third broker", stream.BrokerCredentials{})

	// Two tabs.
	version := regexp.MustCompile(`name="version" value="([0-9a-f]{16})"`).FindStringSubmatch(b.Get("/streams/1/edit").Body)[1]
	edit("url", "nats://three.shop.vn", "name", "by another tab", "version", version).Goes(t, "/streams/1")
	a := edit("url", "nats://three.shop.vn", "name", "by this tab", "version", version)
	a.WantStatus(t, http.StatusConflict)
	a.Shows(t, "changed elsewhere", "by another tab", `value="by this tab"`)

	// Sent again from where somebody says.
	w.Link("ACB", apptest.SomeAccount)
	edit("url", "nats://three.shop.vn", "type", "ALL").Goes(t, "/streams/1")
	for i := range 3 {
		w.Pay(1, fmt.Sprint(i), "x")
	}
	awaitStream(w, 1, "all are sent", func(st stream.Stream) bool { return st.Position == 3 })
	before := w.Brokers.All()
	edit("url", "nats://three.shop.vn", "type", "ALL", "start", "after", "since_id", "1").Goes(t, "/streams/1")
	awaitStream(w, 1, "two are sent again", func(st stream.Stream) bool { return st.Sent == 5 })
	if after := w.Brokers.All(); after[len(before)].ID != before[len(before)-2].ID || after[len(before)+1].ID != before[len(before)-1].ID {
		t.Error("what is sent again has other ids")
	}
}

// A stream whose broker refuses says so, with the broker's reason, and goes on.
func TestStreamFails(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	w.Stream(stream.Create{})
	b := w.Browser().SignIn("lan")
	b.Get("/streams/1").Shows(t, "0 messages", "before the first transaction", "Never")
	b.Post("/streams/1/test").Goes(t, "/streams/1")
	b.Get("/streams/1").Shows(t, "The broker has kept the test message.")
	if kept := w.Brokers.All(); len(kept) != 1 || !strings.Contains(string(kept[0].Body), `"test":true`) {
		t.Errorf("%+v", kept)
	}
	w.Brokers.Refuse(&stream.BrokerError{Text: app.Text{EN: "No <b>stream</b> keeps this subject.", VI: "Chưa có stream giữ subject này."}})
	a := b.Post("/streams/1/test")
	a.WantStatus(t, http.StatusConflict)
	a.Shows(t, "The test was not sent. No <b>stream</b> keeps this subject.")
	a.Hides(t, "<b>stream")
	w.Pay(1, "1", "x")
	awaitStream(w, 1, "it fails", func(st stream.Stream) bool { return !st.FailingSince.IsZero() })
	b.Get("/streams").Shows(t, "Failing", "those since", "No <b>stream</b> keeps this subject.")
	b.Get("/streams/1").Shows(t, "Not reaching the broker since", "No <b>stream</b> keeps this subject.")

	b.Post("/streams/1/toggle", "active", "0").Goes(t, "/streams/1")
	b.Post("/streams/1/toggle", "active", "0").Goes(t, "/streams/1") // twice is the same as once
	page := b.Get("/streams/1")
	page.Shows(t, "Stream turned off", "Turn on", "those since")
	page.Hides(t, "Not reaching the broker")
	w.Brokers.Refuse(nil)
	b.Post("/streams/1/toggle", "active", "1").Goes(t, "/streams/1")
	awaitStream(w, 1, "what waited is sent", func(st stream.Stream) bool { return st.Sent == 1 })
	b.Get("/streams/1").Shows(t, "Stream turned on", "1 message", "All are sent")

	b.Post("/streams/1/delete", "word", "other").WantStatus(t, http.StatusUnprocessableEntity)
	b.Post("/streams/1/delete", "word", "Ledger").Goes(t, "/streams")
	b.Get("/streams").Shows(t, "The stream was deleted.", "For shops with many programs")
	b.Get("/streams/1").WantStatus(t, http.StatusNotFound)
}

// A stream whose secret is lost says so, with the way out.
func TestStreamWithoutSecret(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	w.Stream(stream.Create{Credentials: stream.BrokerCredentials{Username: "shop", Password: "lost with it"}})
	loseKey(w)
	w.Pay(1, "1", "after")
	b := w.Browser().SignIn("lan")
	const rotate = `href="/streams/1/rotate"`
	b.Get("/").Shows(t, "has lost its secret and its password", rotate)
	w.User(1, "minh", access.RoleDeveloper)
	w.Browser().SignIn("minh").Get("/").Shows(t, "has lost its secret and its password", rotate)
	b.Get("/streams").Shows(t, "Secret lost")
	page := b.Get("/streams/1")
	page.Shows(t, "The secret is lost", rotate, "No transaction is lost")
	page.Hides(t, "/streams/1/test", "Kept by you")
	b.Post("/streams/1/test").WantStatus(t, http.StatusConflict)
	b.Get("/streams/1/rotate").Shows(t, "The password of the broker is lost as well")
	secretOf(t, b.Submit("/streams/1/rotate"))
	awaitStream(w, 1, "what waited is sent", func(st stream.Stream) bool { return st.Sent == 1 })
	for _, path := range []string{"/", "/streams", "/streams/1"} {
		b.Get(path).Hides(t, "has lost its secret", "Secret lost", "The secret is lost")
	}
}

// Nobody but an owner or a developer of the account reaches a stream.
func TestStreamTenancyAndRoles(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	st, secret := w.Stream(stream.Create{})
	unchanged := func() string {
		list, err := w.Services.Streams.Streams(t.Context(), 0)
		apptest.Must(t, err)
		return fmt.Sprint(list)
	}
	actions{
		{"GET", "/streams"}, {"GET", "/streams/new"}, {"GET", "/streams/%d"}, {"GET", "/streams/%d/edit"}, {"POST", "/streams/%d/edit"},
		{"POST", "/streams/%d/toggle"},
		{"POST", "/streams/%d/test"}, {"GET", "/streams/%d/rotate"}, {"POST", "/streams/%d/rotate"}, {"POST", "/streams/%d/env"},
		{"GET", "/streams/%d/delete"}, {"POST", "/streams/%d/delete"},
	}.wantOwnersOnly(w, st.ID, "ledger", unchanged, "name", "x", "url", "nats://evil.vn", "topic", "x", "type", "ALL", "start", "now",
		"active", "0", "secret", secret, "word", "ledger")
	w.User(1, "minh", access.RoleDeveloper)
	developer := w.Browser().SignIn("minh")
	developer.Get("/streams/1").WantStatus(t, http.StatusOK)
}

// Live pages hear of what a stream has sent, and of what became of its broker.
func TestStreamPagesAreLive(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	st, _ := w.Stream(stream.Create{Type: delivery.WebhookOut})
	w.Pay(1, "1", "not of the stream")
	st = awaitStream(w, st.ID, "it is passed over", func(st stream.Stream) bool { return st.Position == 1 })
	before, err := w.Services.Deliveries.NewestIDs(t.Context())
	apptest.Must(t, err)
	for _, p := range []stream.Progress{
		{StreamID: st.ID, From: 1, To: 1, FailingSince: time.Now(), Problem: app.Text{EN: "x", VI: "x"}}, {StreamID: st.ID, From: 1, To: 1},
		{StreamID: st.ID, From: 1, To: 2, Sent: 1, SentAt: time.Now()},
	} {
		apptest.Must(t, w.Services.Streams.SettleStream(t.Context(), p))
		now, err := w.Services.Deliveries.NewestIDs(t.Context())
		apptest.Must(t, err)
		if now == before {
			t.Errorf("nobody hears of %+v", p)
		}
		before = now
	}
}
