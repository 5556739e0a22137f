package dashboard_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/upkeep"
	"baoco/sqlitestore"
	"baoco/web"
	"baoco/web/dashboard"
	"baoco/web/webtest"
)

// The page says whether the replica is good, and of when that is known.
func TestReplicaOnTheSystemPage(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	place := "s3://shop-replica/baoco"
	now := time.Now()
	for _, c := range []struct {
		check *upkeep.ReplicaCheck
		want  []string
	}{
		{nil, []string{"If this machine is lost, what came in since the last backup is lost with it"}},
		{&upkeep.ReplicaCheck{At: now, Place: place, Written: now}, []string{place, "Nothing checked yet"}},
		{&upkeep.ReplicaCheck{At: now, Place: place, Written: now, CheckedAt: now, Transactions: 12345},
			[]string{place, `<span class="in">Good</span>`, "12,345 transactions"}},
		{&upkeep.ReplicaCheck{At: now, Place: place, Written: now, CheckedAt: now, Problem: app.Text{EN: "It is <old>.", VI: "Nó cũ."}},
			[]string{place, `<span class="bad">It is &lt;old&gt;.</span>`}},
	} {
		w.Services.Upkeep.SetReplicaCheck(c.check)
		page := b.Get("/system").Body
		for _, want := range c.want {
			if !strings.Contains(page, want) {
				t.Errorf("of %+v the page doesn't say %q", c.check, want)
			}
		}
		if good := strings.Contains(page, `<span class="in">Good</span>`); good &&
			(c.check == nil || c.check.CheckedAt.IsZero() || c.check.Problem.EN != "") {
			t.Errorf("the page says of %+v that it is good", c.check)
		}
	}
}

// A missing backup is asked for once there is something old enough to lose,
// with the command that makes it; and no more once it is made.
func TestBackupOnTheSystemPage(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "thungan", access.RoleCashier)
	in := upkeep.Installation{Listen: "127.0.0.1:8080", BaseURL: "https://baoco.shop.vn"}
	b := serving(w, in).SignIn("lan")
	asks := func() bool {
		overview, system := b.Get("/").Body, b.Get("/system").Body
		if strings.Contains(overview, `href="/system#backup"`) != strings.Contains(system, "There is no backup yet") {
			t.Error("the overview and the system page differ")
		}
		return strings.Contains(overview, "There is no backup yet")
	}
	b.Get("/system").Shows(t, `<dd>Never</dd>`, "Back up every day")
	if asks() {
		t.Error("asked for a backup of nothing")
	}
	source := w.Native()
	w.Link("ACB", "19354957")
	w.Came(0, source, apptest.Transfer{ID: "1", Number: "1", Account: "19354957", Amount: 1000})
	if asks() {
		t.Error("asked on the first day")
	}
	w.Change(`UPDATE transactions SET created_at = created_at - 8 * 86400`)
	if !asks() {
		t.Error("not asked for a backup after 8 days")
	}
	if body := w.Browser().SignIn("thungan").Get("/").Body; strings.Contains(body, "backup") {
		t.Error("a cashier is asked for a backup")
	}
	file := filepath.Join(t.TempDir(), "<b>copy.db")
	_, err := w.Store.Backup(context.Background(), sqlitestore.BackupTarget{File: file}, time.Now())
	apptest.Must(t, err)
	if asks() {
		t.Error("asked for a backup that was just made")
	}
	if page := b.Get("/system").Body; !strings.Contains(page, "&lt;b&gt;copy.db</code>") || !strings.Contains(page, "with its key") {
		t.Errorf("the page doesn't name the backup:\n%s", page)
	}
}

// The operator turns daily backups on and off without a terminal, on the page and on the
// guide, unless a flag of serve decides.
func TestDailyBackupOnTheSystemPage(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	other := w.SecondAccount()
	w.User(other, "mai", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	w.Browser().SignIn("mai").Post("/system/backup", "daily_at", "02:30").WantStatus(t, http.StatusNotFound)
	b.Post("/system/backup", "daily_at", "2 o'clock").Shows(t, `id="daily_at-problem"`)
	b.Get("/guide?step=backup").Shows(t, `action="/system/backup"`, filepath.Join(filepath.Dir(w.Path), "backups"))
	b.Post("/system/backup", "guide", "1", "daily_at", "02:30").Goes(t, "/guide")
	b.Get("/guide").Shows(t, "every day at 02:30")
	b.Get("/system").Shows(t, `value="02:30"`, "Turn off")
	b.Get("/settings/audit").Shows(t, "time of the daily backup")
	b.Post("/system/backup", "off", "1", "daily_at", "03:30").Goes(t, "/system#backup")
	b.Get("/system").Hides(t, "Turn off")

	flags := upkeep.Installation{Backups: upkeep.BackupSchedule{Dir: "/var/backups/baoco", Every: time.Hour, Keep: 3}}
	served := serving(w, flags).SignIn("lan")
	served.Get("/system").Shows(t, "/var/backups/baoco")
	served.Get("/system").Hides(t, "/system/backup")
	served.Get("/guide?step=backup").Hides(t, "/system/backup")
	served.Post("/system/backup", "daily_at", "02:30").WantStatus(t, http.StatusNotFound)
}

func TestCertificateOnTheSystemPage(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	for _, c := range []struct {
		days     int // left; 0: there is none yet
		says     string
		overview bool
	}{
		{0, "none yet", false},
		{60, "60 days left", false},
		{10, "10 days left", true},
		{-1, "has expired", true},
	} {
		end := func(context.Context) (status upkeep.CertificateStatus) {
			if c.days != 0 {
				status.End = time.Now().Add(time.Duration(c.days)*24*time.Hour + time.Hour)
			}
			return status
		}
		b := serving(w, upkeep.Installation{Domain: "baoco.shop.vn", BaseURL: "https://baoco.shop.vn", Certificate: end}).SignIn("lan")
		if page := b.Get("/system").Body; !strings.Contains(page, c.says) {
			t.Errorf("%d days: the page doesn't say %q\n%s", c.days, c.says, page)
		}
		if got := strings.Contains(b.Get("/").Body, `href="/system#program"`); got != c.overview {
			t.Errorf("%d days: on the overview: %v", c.days, got)
		}
	}
}

func TestAnswerTimes(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	if !strings.Contains(b.Get("/system").Body, "No attempts in the last hour") {
		t.Error("answers without attempts")
	}
	hook, _ := w.Webhook("http://127.0.0.1:1/", delivery.WebhookAll)
	at := time.Now().Add(-time.Minute)
	w.Change(`INSERT INTO deliveries (id, account_id, webhook_id, sample, state, attempts, retry, created_ms, single)
		VALUES (1, 1, ?, '{}', 1, 1, 0, 0, 0)`, hook.ID)
	for i := range 100 {
		began := at
		if i >= 50 { // two hours ago
			began = at.Add(-2 * time.Hour)
		}
		w.Change(`INSERT INTO attempts (id, account_id, delivery_id, webhook_id, type, number, url, started_ms, duration_ms, dns_ms, connect_ms,
			tls_ms, wait_ms, status_code, ok, error, detail, response_body)
				VALUES (?, 1, 1, ?, 'IN', 1, '', ?, ?, 0, 0, 0, 0, 200, 1, '', '', x'')`, 100-i, hook.ID, began.UnixMilli(), 100+i)
	}
	page := strings.ReplaceAll(b.Get("/system").Body, "\u00a0", " ")
	if !strings.Contains(page, "125 ms") || !strings.Contains(page, "p95 147 ms") || !strings.Contains(page, "50 attempts in the last hour") {
		t.Errorf("the page says otherwise:\n%s", page)
	}
}

// What is logged is shown as it is, and does nothing to the page.
func TestRecentLog(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	log, written, b := logging(w)
	if !strings.Contains(b.Get("/system").Body, "Nothing yet.") {
		t.Error("a log before anything was logged")
	}
	log.Debug("never shown")
	log.Info("first")
	log.With("source", 7).WithGroup("deep").Warn("second", "a", errors.New("<script>alert(1)</script>"), slog.Group("more", "b", time.Second))
	log.Error("\u202ethird\x1b[31m\r\nlevel=ERROR", "k", "{{7*7}} \xff", "", slog.GroupValue(slog.String("inline", "x")))
	log.Info("long", "stack", strings.Repeat("dài", 5000))
	page := b.Get("/system").Body
	for _, want := range []string{
		"first", `<span class="pill pending">warning</span>`, "<code><bdi>source=7</bdi></code>",
		"deep.a=&lt;script&gt;alert(1)&lt;/script&gt;", "deep.more.b=1s",
		`<span class="pill failed">error</span>`, "k={{7*7}} \ufffd", "inline=x", "…</bdi>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page doesn't show %q", want)
		}
	}
	if strings.Contains(page, "<script>alert") || strings.Contains(page, "never shown") || len(page) > 40_000 ||
		strings.Index(page, "long") > strings.Index(page, "first") {
		t.Errorf("%d bytes:\n%.3000s", len(page), page)
	}
	for _, want := range []string{"source=7", "deep.more.b=1s", "level=ERROR", "inline=x"} {
		if !strings.Contains(written.String(), want) {
			t.Errorf("the log itself misses %q:\n%s", want, written)
		}
	}
	for i := range 300 {
		log.Info(fmt.Sprintf("line %03d.", i))
	}
	page = b.Get("/system").Body
	if strings.Contains(page, "line 199.") || !strings.Contains(page, "line 200.") || !strings.Contains(page, "line 299.") {
		t.Error("not the last 100 lines are shown")
	}
}

// logging is a server with a log that the operator may read.
func logging(w *webtest.World) (*slog.Logger, *bytes.Buffer, *webtest.Browser) {
	w.T.Helper()
	var written bytes.Buffer
	recent := dashboard.NewRecentLog(slog.NewTextHandler(&written, nil))
	b := w.Serve(web.Config{Logger: slog.New(recent), RecentLog: recent})
	return slog.New(recent), &written, b.SignIn("lan")
}
