// Package bench measures how much a machine can do, with a baoco serve of its own.
// The bench itself plays the provider and the shops over HTTP.
package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"baoco/app"
	"baoco/app/command/serve"
	"baoco/app/command/terminal"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/sqlitestore"

	"github.com/urfave/cli/v2"
)

// Command is baoco bench.
func Command() *cli.Command {
	return &cli.Command{
		Name: "bench", Usage: "measure what this machine can take, on a throw-away database",
		Description: terminal.Example(
			"baoco bench",
			"baoco bench --dir /var/lib/baoco -o json",
			"baoco bench --https",
		),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "dir",
				Usage: "`DIRECTORY` of the throw-away database (default: that of --db, the current one where none is given)"},
			&cli.BoolFlag{Name: "https", Usage: "deliver to shops that speak TLS, as most do; not on Windows and macOS"},
			&cli.DurationFlag{Name: "duration", Usage: "`TIME` of each phase", Value: 6 * time.Second},
			terminal.DBFlag, terminal.OutputFlag,
		},
		Action: terminal.Interruptible(terminal.WithoutArguments(run)),
	}
}

type bench struct {
	duration time.Duration
	dir      string // it is removed at the end
	receiver *receiver
	runs     int // so far
	report   *report
}

const (
	hangingWebhooks = delivery.MaxWebhooks - 1 // with the one that answers they are as many as an account may have
	connections     = 64                       // callers at saturation
	latencyRate     = 50                       // calls a second while latency is measured
)

func run(c *cli.Context) (err error) {
	b := &bench{duration: c.Duration("duration")}
	if b.duration < 100*time.Millisecond || b.duration > time.Hour {
		return terminal.Usagef("--duration must be from 100ms to 1h")
	}
	secure := c.Bool("https")
	if secure && (runtime.GOOS == "windows" || runtime.GOOS == "darwin") {
		return terminal.Usagef("--https needs a system that keeps the certificates it trusts in files")
	}
	if b.dir, err = os.MkdirTemp(cmp.Or(c.String("dir"), filepath.Dir(c.String("db"))), "baoco-bench-"); err != nil {
		return terminal.Exit(terminal.ExitDatabase, err)
	}
	defer os.RemoveAll(b.dir)
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // garbage collection in this process would slow the server down
	if b.receiver, err = openReceiver(b.dir, secure); err != nil {
		return err
	}
	defer b.receiver.server.Close()
	b.report = &report{
		Machine:   fmt.Sprintf("baoco %s, %s, %s/%s, %d CPUs", serve.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU()),
		DurationS: b.duration.Seconds(), HTTPS: secure, Errors: map[string]int{},
	}
	if err := b.measure(app.ActingAs(c.Context, app.Actor{Way: app.WayCommand, Name: "bench", At: time.Now()}), c.App.ErrWriter); err != nil {
		return err
	}
	if err := terminal.Output(c, b.report, b.report.print); err != nil {
		return err
	}
	if b.report.Lost > 0 {
		return terminal.Exit(terminal.ExitCheck, fmt.Errorf("%d deliveries of accepted transactions did not arrive", b.report.Lost))
	}
	return nil
}

func (b *bench) measure(ctx context.Context, progress io.Writer) error {
	fmt.Fprintln(progress, "[1/4] at saturation: a relay without storage, signature or retry")
	saturating := load{url: b.receiver.urls[0] + "/relay", connections: connections, duration: b.duration}
	r, err := b.load(ctx, saturating)
	if err != nil {
		return err
	}
	b.report.Relay = r.passed(0)

	fmt.Fprintln(progress, "[2/4] at saturation: baoco")
	r, s, err := b.serving(ctx, 0, saturating)
	if err != nil {
		return err
	}
	b.report.Baoco, b.report.Memory.IdleMB, b.report.Memory.SaturationMB = r.passed(s.cpu), s.idleMB, s.mostMB

	for i, hanging := range []int{0, hangingWebhooks} {
		fmt.Fprintf(progress, "[%d/4] %d calls a second beside %d hanging webhooks\n", i+3, latencyRate, hanging)
		warmUp := load{rate: latencyRate, duration: min(time.Second/2, b.duration)}
		if r, s, err = b.serving(ctx, hanging, warmUp, load{rate: latencyRate, duration: b.duration}); err != nil {
			return err
		}
		b.report.Memory.HangingMB = s.mostMB
		b.report.Latency = append(b.report.Latency, latency{hanging, r.hanging, quantilesOf(r.took)})
	}
	return nil
}

// serving measures a server with one webhook that answers, and with hanging webhooks that
// get the same transactions and never answer. It returns the result of the last load, and
// the server, which has ended.
func (b *bench) serving(ctx context.Context, hanging int, loads ...load) (r result, s *server, err error) {
	if s, err = b.serve(ctx, hanging); err != nil {
		return r, nil, err
	}
	defer s.kill()
	time.Sleep(100 * time.Millisecond) // the server may still be starting
	s.idleMB = s.memory("VmRSS")
	for _, l := range loads {
		l.url, l.secret = s.url, s.secret
		if r, err = b.load(ctx, l); err != nil {
			return r, s, err
		}
	}
	s.mostMB = s.memory("VmHWM")
	return r, s, nil
}

// patience is how long nothing may arrive before missing deliveries count as
// lost. It is longer than the wait before a second attempt.
const patience = 20 * time.Second

// load posts a load, waits until every accepted transaction has arrived, or none has arrived
// for longer than patience, and counts the errors.
func (b *bench) load(ctx context.Context, l load) (r result, err error) {
	b.runs++
	l.run = b.runs
	b.receiver.begin(l.run)
	if r, err = generate(ctx, l); err != nil {
		return r, err
	}
	got, since := -1, time.Now()
	for got < r.accepted() && time.Since(since) < patience {
		if unique := b.receiver.arrived(); unique > got {
			got, since = unique, time.Now()
		}
		select {
		case <-ctx.Done():
			return r, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	b.receiver.report(&r)
	b.report.count(r)
	return r, nil
}

// accountNumber is the bank account that all transactions are on.
const accountNumber = "19354957"

// serve starts a server on a new database, with one webhook that answers and the given
// number of webhooks that hang.
func (b *bench) serve(ctx context.Context, hanging int) (s *server, err error) {
	const account = app.DefaultAccountID
	db, now := filepath.Join(b.dir, fmt.Sprintf("bench-%d.db", b.runs)), time.Now()
	if err := sqlitestore.Create(ctx, db, app.DefaultZone, now); err != nil {
		return nil, err
	}
	store, err := sqlitestore.Open(ctx, db, sqlitestore.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := store.SetAllowTargets(ctx, []string{"127.0.0.0/8"}); err != nil {
		return nil, err
	}
	service, _, err := serve.NewService(ctx, store, nil)
	if err != nil {
		return nil, err
	}
	link := inbound.BankAccountLink{Bank: "ACB", AccountNumber: accountNumber, AccountName: "NGUYEN VAN A"}
	if _, err := service.Inbound.LinkBankAccount(ctx, account, link, now); err != nil {
		return nil, err
	}
	for i, url := range b.receiver.urls[1 : 2+hanging] {
		hook := delivery.WebhookCreate{Name: "shop", URL: url + "/shop", Type: delivery.WebhookAll}
		if i > 0 {
			hook.URL = url + "/hang"
		}
		if _, _, err := service.Deliveries.CreateWebhook(ctx, account, hook, now); err != nil {
			return nil, err
		}
	}
	source, err := service.Inbound.AddSource(ctx, account, inbound.SourceAdd{Provider: "native", Name: "bench"}, now)
	if err != nil {
		return nil, err
	}
	return startServer(ctx, db, source)
}
