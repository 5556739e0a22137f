// Package bench measures what a machine can take, with baoco serve, the provider
// and the shops as processes of their own.
package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"baoco/app"
	"baoco/app/command/serve"
	"baoco/app/command/terminal"
	"baoco/sqlitestore"

	"github.com/urfave/cli/v2"
)

func Command() *cli.Command {
	return &cli.Command{
		Name: "bench", Usage: "measure what this machine can take, on a throw-away database",
		Description: terminal.Example(
			"baoco bench",
			"baoco bench --dir /var/lib/baoco -o json",
			"baoco bench --seed-rows 10000000",
		),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "dir", Usage: "`DIRECTORY` of the throw-away database (default: that of --db, the current one where none is given)"},
			&cli.DurationFlag{Name: "duration", Usage: "`TIME` of each phase at saturation; those of latency take a multiple", Value: 2 * time.Second},
			&cli.IntFlag{Name: "rounds", Usage: "measure saturation `N` times; the median counts", Value: 3},
			&cli.IntFlag{Name: "connections", Usage: "call from `N` connections at saturation", Value: 64},
			&cli.BoolFlag{Name: "quick", Usage: "one short round: shows that it works more than how fast it is"},
			&cli.Int64Flag{Name: "seed-rows", Usage: "instead, fill the database with `N` transactions and measure the API on it"},
			&cli.BoolFlag{Name: "keep", Usage: "with --seed-rows: fill the new file that --db names, and keep it"},
			terminal.DBFlag, terminal.OutputFlag,
		},
		Action: terminal.Interruptible(runBench), HideHelpCommand: true,
		Subcommands: []*cli.Command{
			{Name: "generate", Usage: "plays the provider", Description: terminal.Example("baoco bench generate"), Hidden: true, Action: benchGenerate},
			{
				Name: "receive", Usage: "plays the shops", Description: terminal.Example("baoco bench receive --shops 3"), Hidden: true, Action: benchReceive,
				Flags: []cli.Flag{&cli.IntFlag{Name: "shops", Value: 1}, &cli.IntFlag{Name: "hanging"}},
			},
			{
				Name: "relay", Usage: "forwards and promises nothing", Description: terminal.Example("baoco bench relay --to URL"), Hidden: true, Action: benchRelay,
				Flags: []cli.Flag{&cli.StringFlag{Name: "to"}},
			},
		},
	}
}

// benchPlan is how much is measured.
type benchPlan struct {
	duration    time.Duration
	rounds      int
	connections int
	syncs       int
	repeats     int // of an API request
}

func readBenchPlan(c *cli.Context) (benchPlan, error) {
	p := benchPlan{duration: c.Duration("duration"), rounds: c.Int("rounds"), connections: c.Int("connections"), syncs: 200, repeats: 20}
	if c.Bool("quick") {
		p.syncs, p.repeats = 50, 3
		if !c.IsSet("duration") {
			p.duration = 300 * time.Millisecond
		}
		if !c.IsSet("rounds") {
			p.rounds = 1
		}
	}
	switch {
	case p.duration < 100*time.Millisecond || p.duration > time.Hour:
		return p, terminal.Usagef("--duration must be from 100ms to 1h")
	case p.rounds < 1 || p.rounds > 100:
		return p, terminal.Usagef("--rounds must be from 1 to 100")
	case p.connections < 1 || p.connections > 10_000:
		return p, terminal.Usagef("--connections must be from 1 to 10000")
	case c.IsSet("seed-rows") && (c.Int64("seed-rows") < 1000 || c.Int64("seed-rows") > 1_000_000_000):
		return p, terminal.Usagef("--seed-rows must be from 1000 to 1000000000")
	case c.Bool("keep") && !(c.IsSet("seed-rows") && c.IsSet("db")):
		return p, terminal.Usagef("--keep needs --seed-rows and --db, the new file to fill")
	}
	return p, errors.Join(terminal.CheckOutput(c), terminal.NoArguments(c))
}

// bench is a measurement under way: this process asks, the others work.
type bench struct {
	benchPlan
	dir       string // that is removed afterwards
	steps     *benchSteps
	generator *benchPart
	receiver  *benchPart
	relay     *benchPart
	addresses benchAddresses
	relayURL  string
	runs      int // so far
	files     int // made so far
}

// hangingWebhooks is how many webhooks hang in the phase with many: as many as
// an account may have, with the one that answers.
const (
	benchShops      = 3
	hangingWebhooks = app.MaxWebhooks
)

func runBench(c *cli.Context) error {
	plan, err := readBenchPlan(c)
	if err != nil {
		return err
	}
	ctx := c.Context
	dir := c.String("dir")
	if dir == "" {
		dir = filepath.Dir(c.String("db"))
	}
	if dir, err = os.MkdirTemp(dir, "baoco-bench-"); err != nil {
		return terminal.Exit(terminal.ExitDatabase, err)
	}
	defer os.RemoveAll(dir)
	b := &bench{benchPlan: plan, dir: dir}
	defer b.close()
	if err := b.open(ctx); err != nil {
		return err
	}
	if c.IsSet("seed-rows") {
		return b.measureSeeded(ctx, c)
	}
	return b.measureLoop(ctx, c)
}

// open starts the processes that play the provider, the shops and the relay.
func (b *bench) open(ctx context.Context) (err error) {
	if b.generator, err = startPart(ctx, "generate"); err != nil {
		return err
	}
	if b.receiver, err = startPart(ctx, "receive", "--shops", fmt.Sprint(benchShops), "--hanging", fmt.Sprint(hangingWebhooks)); err != nil {
		return err
	}
	if err = b.receiver.ask(nil, &b.addresses); err != nil {
		return err
	}
	if b.relay, err = startPart(ctx, "relay", "--to", b.addresses.Shops[0]); err != nil {
		return err
	}
	var relay benchAddresses
	err = b.relay.ask(nil, &relay)
	if err == nil {
		b.relayURL = relay.Shops[0]
	}
	return err
}

func (b *bench) close() {
	b.steps.done()
	b.generator.close()
	b.relay.close()
	b.receiver.close()
}

// benchFile is a database that was set up for a phase.
type benchFile struct {
	db      string
	sources []app.Source // one of each account
	bytes   int64        // of the file before any transaction
}

// benchAccountNumber is the bank account that the generator's transactions
// are on.
const benchAccountNumber = "19354957"

// newFile makes a database with one account for each list of webhook URLs.
func (b *bench) newFile(ctx context.Context, accounts ...[]string) (f benchFile, err error) {
	b.files++
	f.db = filepath.Join(b.dir, fmt.Sprintf("bench-%d.db", b.files))
	now := time.Now()
	if err := sqlitestore.Create(ctx, f.db, app.DefaultZone, now); err != nil {
		return f, err
	}
	err = b.withService(ctx, f.db, func(service *app.Service) error {
		for i, urls := range accounts {
			account := int64(app.DefaultAccountID)
			if i > 0 {
				a, err := service.CreateAccount(ctx, "bench", now)
				if err != nil {
					return err
				}
				account = a.ID
			}
			source, err := setUpAccount(ctx, service, account, urls, now)
			if err != nil {
				return err
			}
			f.sources = append(f.sources, source)
		}
		return nil
	})
	if err != nil {
		return f, err
	}
	info, err := os.Stat(f.db)
	if err == nil {
		f.bytes = info.Size()
	}
	return f, err
}

// withService works on a file that nobody serves.
func (b *bench) withService(ctx context.Context, db string, work func(*app.Service) error) (err error) {
	store, err := sqlitestore.Open(ctx, db, sqlitestore.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := store.SetAllowTargets(ctx, []string{"127.0.0.0/8"}); err != nil {
		return err
	}
	service, _, err := serve.NewService(ctx, store, nil)
	if err != nil {
		return err
	}
	return work(service)
}

// setUpAccount links the bank account, and makes a source and the webhooks.
func setUpAccount(ctx context.Context, service *app.Service, account int64, urls []string, now time.Time) (app.Source, error) {
	if _, err := service.LinkBankAccount(ctx, account, app.BankAccountLink{Bank: "ACB", AccountNumber: benchAccountNumber, AccountName: "NGUYEN VAN A"}, now); err != nil {
		return app.Source{}, err
	}
	for i, url := range urls {
		if _, _, err := service.CreateWebhook(ctx, account, app.WebhookCreate{Name: fmt.Sprintf("shop %d", i+1), URL: url, Type: app.WebhookAll}, now); err != nil {
			return app.Source{}, err
		}
	}
	return service.AddSource(ctx, account, app.SourceAdd{Provider: "native", Name: "bench"}, now)
}
