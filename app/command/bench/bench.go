// Package bench measures what a machine can take, with a baoco serve of its own.
// The bench itself plays the provider and the shops over HTTP.
package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
		),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "dir", Usage: "`DIRECTORY` of the throw-away database (default: that of --db, the current one where none is given)"},
			&cli.DurationFlag{Name: "duration", Usage: "`TIME` of each phase at saturation; those of latency take a multiple", Value: 2 * time.Second},
			&cli.IntFlag{Name: "rounds", Usage: "measure saturation `N` times; the median counts", Value: 3},
			&cli.IntFlag{Name: "connections", Usage: "call from `N` connections at saturation", Value: 64},
			&cli.BoolFlag{Name: "quick", Usage: "one short round: shows that it works more than how fast it is"},
			terminal.DBFlag, terminal.OutputFlag,
		},
		Action: terminal.Interruptible(run),
	}
}

// plan is how much is measured.
type plan struct {
	duration    time.Duration
	rounds      int
	connections int
	syncs       int
}

func readPlan(c *cli.Context) (plan, error) {
	p := plan{duration: c.Duration("duration"), rounds: c.Int("rounds"), connections: c.Int("connections"), syncs: 200}
	if c.Bool("quick") {
		p.syncs = 50
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
	}
	return p, errors.Join(terminal.CheckOutput(c), terminal.NoArguments(c))
}

// bench is a measurement under way.
type bench struct {
	plan
	dir      string // is removed afterwards
	steps    *steps
	receiver *receiver
	relayURL string
	runs     int // so far
	files    int // made so far
}

const (
	answeringShops = 3
	// hangingShops is how many webhooks hang in the phase with many: as many as
	// an account may have, with the one that answers.
	hangingShops = delivery.MaxWebhooks
)

func run(c *cli.Context) error {
	plan, err := readPlan(c)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(cmp.Or(c.String("dir"), filepath.Dir(c.String("db"))), "baoco-bench-")
	if err != nil {
		return terminal.Exit(terminal.ExitDatabase, err)
	}
	defer os.RemoveAll(dir)
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // collecting garbage here would be measured as the server's
	b := &bench{plan: plan, dir: dir, steps: &steps{out: c.App.ErrWriter, of: 1 + 4*plan.rounds + 4}}
	if b.receiver, err = openReceiver(answeringShops, hangingShops); err != nil {
		return err
	}
	defer b.receiver.close()
	relay, err := openRelay(b.receiver.shops[0].url)
	if err != nil {
		return err
	}
	defer relay.close()
	b.relayURL = relay.url
	report, err := b.measure(app.ActingAs(c.Context, app.Actor{Way: app.WayCommand, Name: "bench", At: time.Now()}))
	if err != nil {
		return err
	}
	if err := terminal.Output(c, report, report.print); err != nil {
		return err
	}
	return report.verdict()
}

// file is a database that was set up for a phase.
type file struct {
	db      string
	sources []inbound.Source // one of each account
	bytes   int64            // of the file before any transaction
}

// accountNumber is the bank account that all transactions are on.
const accountNumber = "19354957"

// newFile makes a database with one account for each list of webhook URLs.
func (b *bench) newFile(ctx context.Context, accounts ...[]string) (f file, err error) {
	b.files++
	f.db = filepath.Join(b.dir, fmt.Sprintf("bench-%d.db", b.files))
	now := time.Now()
	if err := sqlitestore.Create(ctx, f.db, app.DefaultZone, now); err != nil {
		return f, err
	}
	store, err := sqlitestore.Open(ctx, f.db, sqlitestore.Options{})
	if err != nil {
		return f, err
	}
	f.sources, err = setUp(ctx, store, accounts, now)
	if err = errors.Join(err, store.Close()); err != nil {
		return f, err
	}
	info, err := os.Stat(f.db)
	if err == nil {
		f.bytes = info.Size()
	}
	return f, err
}

// setUp makes the accounts of a file, each with the bank account, a source and
// webhooks at its URLs, and gives their sources.
func setUp(ctx context.Context, store *sqlitestore.Store, accounts [][]string, now time.Time) (sources []inbound.Source, err error) {
	if err := store.SetAllowTargets(ctx, []string{"127.0.0.0/8"}); err != nil {
		return nil, err
	}
	service, _, err := serve.NewService(ctx, store, nil)
	if err != nil {
		return nil, err
	}
	for i, urls := range accounts {
		account := int64(app.DefaultAccountID)
		if i > 0 {
			a, err := service.Ledger.CreateAccount(ctx, "bench", now)
			if err != nil {
				return nil, err
			}
			account = a.ID
		}
		if _, err := service.Inbound.LinkBankAccount(ctx, account, inbound.BankAccountLink{Bank: "ACB", AccountNumber: accountNumber, AccountName: "NGUYEN VAN A"}, now); err != nil {
			return nil, err
		}
		for n, url := range urls {
			if _, _, err := service.Deliveries.CreateWebhook(ctx, account, delivery.WebhookCreate{Name: fmt.Sprintf("shop %d", n+1), URL: url, Type: delivery.WebhookAll}, now); err != nil {
				return nil, err
			}
		}
		source, err := service.Inbound.AddSource(ctx, account, inbound.SourceAdd{Provider: "native", Name: "bench"}, now)
		if err != nil {
			return nil, err
		}
		sources = append(sources, source)
	}
	return sources, nil
}
