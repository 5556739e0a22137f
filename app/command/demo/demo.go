// Package demo shows baoco at work on a throw-away database. It plays the provider and
// the shop over HTTP.
package demo

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/command/serve"
	"baoco/app/command/terminal"
	"baoco/app/inbound"
	"baoco/app/payment"
	"baoco/sqlitestore"
	"baoco/web/dashboard"

	"github.com/urfave/cli/v2"
)

// schedule has the waits before the attempts. They are shorter than those of serve, so
// that a user can watch a retry.
var schedule = []time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second, 5 * time.Second}

// Command is baoco demo.
func Command() *cli.Command {
	return &cli.Command{
		Name: "demo", Usage: "show everything at work on a throw-away database",
		Description: terminal.Example("baoco demo", "baoco demo --lang vi", "baoco demo --once"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "once", Usage: "end after the loop: exit 0 when all of it was true, 6 otherwise"},
			&cli.StringFlag{Name: "listen", Usage: "`ADDRESS` to listen on; a free port if it is taken", Value: "127.0.0.1:8080"},
			&cli.DurationFlag{Name: "every", Usage: "after the loop somebody pays every `DURATION` or a little more; 0: nobody does",
				Value: 15 * time.Second},
			terminal.Choice(cli.StringFlag{Name: "lang", Usage: "`LANGUAGE` of what it says and of the dashboard, %s",
				DefaultText: "en, and the dashboard that of the browser"}, app.English, app.Vietnamese),
		},
		Action: terminal.WithoutArguments(run),
	}
}

func run(c *cli.Context) error {
	every := c.Duration("every")
	if every < 0 {
		return terminal.Usagef("--every must not be negative")
	}
	ctx, stop := terminal.UntilStopped(c.Context)
	ctx = app.ActingAs(ctx, app.Actor{Way: app.WayCommand, Name: "demo", At: time.Now()})
	defer stop()
	dir, err := os.MkdirTemp("", "baoco-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	d := &demo{out: c.App.Writer, lang: app.Lang(c.String("lang")), db: filepath.Join(dir, "demo.db"), trade: newTrade(time.Now())}
	if err := d.open(ctx, c.String("listen")); err != nil {
		return err
	}
	defer d.close()
	if err := d.story(ctx); err != nil {
		return terminal.Exit(terminal.ExitCheck, err)
	}
	if c.Bool("once") {
		return nil
	}
	for _, step := range []func(context.Context) error{d.past, d.addUser, d.takeMoney} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if err := d.printVisit(ctx, every); err != nil {
		return err
	}
	if every > 0 {
		d.live(ctx, every)
	}
	<-ctx.Done()
	return nil
}

type demo struct {
	out      io.Writer
	lang     app.Lang // of the output; empty: English
	db       string
	store    *sqlitestore.Store
	server   *serve.Server
	base     string
	receiver *receiver
	source   inbound.Source
	apiKey   string
	trade    *trade
	banks    []app.BankAccount // in the order of the variable banks
	user     access.User       // for a look around, with password
	password string
	first    inbound.Incoming // of the story
	calls    int              // of SePay, after the story
	failures []string         // the lines of the story that were not true
}

func (d *demo) open(ctx context.Context, listen string) (err error) {
	if err := sqlitestore.Create(ctx, d.db, app.DefaultZone, time.Now()); err != nil {
		return err
	}
	if d.store, err = sqlitestore.Open(ctx, d.db, sqlitestore.Options{Serve: true}); err != nil {
		return err
	}
	if d.receiver, err = startReceiver(); err != nil {
		return err
	}
	s := serve.Settings{DB: d.db, Listen: freeAddress(listen), RateLimit: 300, Schedule: schedule, Lang: d.lang,
		Targets: []string{"127.0.0.1/32@" + d.receiver.port()}}
	if err := serve.SaveSettings(ctx, d.store, s); err != nil {
		return err
	}
	if d.server, err = serve.Start(ctx, d.store, s, dashboard.NewRecentLog(slog.DiscardHandler)); err != nil {
		return err
	}
	d.base = "http://" + d.server.Listener.Addr().String()
	return nil
}

// freeAddress returns address, or a free port of its host if the port is taken.
func freeAddress(address string) string {
	l, err := net.Listen("tcp", address)
	if err != nil {
		host, _, _ := net.SplitHostPort(address)
		return net.JoinHostPort(host, "0")
	}
	l.Close()
	return address
}

func (d *demo) close() {
	_ = d.server.Stop(serve.StopTime)
	d.receiver.server.Close()
	_ = d.store.Close()
}

func (d *demo) narrate(en, vi string, args ...any) { fmt.Fprintln(d.out, d.inLang(en, vi, args...)) }

func (d *demo) inLang(en, vi string, args ...any) string {
	return app.Textf(en, vi, args...).In(d.lang)
}

func (d *demo) addUser(ctx context.Context) (err error) {
	d.password = access.GeneratePassword()
	d.user, err = d.server.Services.Access.CreateUser(ctx, app.DefaultAccountID,
		access.UserCreate{Name: "demo", Password: d.password, Role: access.RoleOwner}, time.Now())
	return err
}

// printVisit makes a counter link, and prints how to look around.
func (d *demo) printVisit(ctx context.Context, every time.Duration) error {
	counter, token, err := d.server.Services.Payments.CreateCounterLink(ctx, app.DefaultAccountID,
		payment.CounterLinkCreate{Name: "Quầy 1", ShowsTotal: true}, time.Now())
	if err != nil {
		return err
	}
	d.narrate(`
Still serving; Ctrl-C ends it and removes the database. In a browser:

  %[1]s   the dashboard (name: demo, password: %[2]s)
  %[1]s/till   the till: what a cashier sees
  %[1]s%[3]s   the screen at the counter, without signing in
`, `
Máy chủ vẫn chạy; nhấn Ctrl-C để dừng và xoá cơ sở dữ liệu. Trong trình duyệt:

  %[1]s   trang quản lý (tên: demo, mật khẩu: %[2]s)
  %[1]s/till   trang thu tiền của thu ngân
  %[1]s%[3]s   màn hình quầy, không cần đăng nhập
`, d.base, d.password, counter.Path(token))
	if every > 0 {
		d.narrate(`Somebody pays every %s or a little more, over the source for SePay: watch it come in on either page,
and go out in the dashboard's delivery history. /ledger fails now and then, and is tried again.
`, `Cứ khoảng %s lại có người chuyển tiền, qua nguồn SePay: hãy xem tiền vào trên cả hai trang,
và được báo đi trong lịch sử gửi. Thỉnh thoảng /ledger lỗi rồi được gửi lại.
`, every)
	}
	d.narrate("In another terminal:\n", "Trong một cửa sổ dòng lệnh khác:\n")
	fmt.Fprintf(d.out, `  KEY=%[2]s
  curl -H "Authorization: Bearer $KEY" %[1]s/api/v1/transactions
  curl -H "Authorization: Bearer $KEY" %[1]s/api/v1/webhooks/history
  curl -H "Authorization: Bearer $KEY" '%[1]s/api/v1/analytics/period?range=weekly'
  curl -X POST -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" -d '{"gateway":"ACB","accountNumber":"19354957"`+
		`,"transferType":"IN","transferAmount":75000,"transactionNumber":"FT1","content":"DH77"}' %[1]s/api/v1/transactions
  curl -X POST -H "Authorization: Bearer $KEY" %[1]s/api/v1/webhooks/1/test
`, d.base, d.apiKey)
	return nil
}
