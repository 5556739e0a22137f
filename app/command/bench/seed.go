package bench

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/command/terminal"
	"baoco/sqlitestore"

	"github.com/urfave/cli/v2"
)

// SeedReport is what baoco bench --seed-rows prints.
type SeedReport struct {
	Machine        machine         `json:"machine"`
	Rows           int64           `json:"rows"`
	File           string          `json:"file"` // empty: it was thrown away
	FileBytes      int64           `json:"file_bytes"`
	SeedS          float64         `json:"seed_s"`
	StartMS        float64         `json:"start_ms"` // of the server, after a clean stop
	CheckS         *float64        `json:"check_s"`  // until the server was idle after its start
	Endpoints      []benchEndpoint `json:"endpoints"`
	Pages          []benchEndpoint `json:"pages"` // of the dashboard
	EmptyPerS      *spread         `json:"empty_delivered_per_s"`
	SeededPerS     *spread         `json:"seeded_delivered_per_s"`
	IngestRatio    *spread         `json:"ingest_ratio"` // seeded : empty
	SeededMemoryMB *float64        `json:"seeded_peak_mb"`
	benchCounts
}

// benchEndpoint is what one request of the API, or one page, takes.
type benchEndpoint struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	Failed int    `json:"failed"` // not answered with 200
	quantiles
}

// seedBanks is how many bank accounts the seeded transactions are on, each
// with a webhook of its own.
const seedBanks = 8

// seededFile is a file as the seeded one, with rows or without.
type seededFile struct {
	benchFile
	apiKey   string
	password string // of benchUser
	banks    []int64
	hooks    []int64
}

// measureSeeded is the whole of baoco bench --seed-rows.
func (b *bench) measureSeeded(ctx context.Context, c *cli.Context) error {
	report := &SeedReport{Machine: thisMachine(), Rows: c.Int64("seed-rows"), benchCounts: benchCounts{Errors: map[string]int{}}}
	db := filepath.Join(b.dir, "seeded.db")
	if c.Bool("keep") {
		db, report.File = c.String("db"), c.String("db")
	}
	now := time.Now()
	none := &seededFile{benchFile: benchFile{sources: make([]app.Source, 1)}, banks: []int64{1}, hooks: []int64{1}}
	requests := len(apiRequests(none, report.Rows, now)) + len(pageRequests(none, report.Rows, now))
	b.steps = newBenchSteps(c.App.ErrWriter, 3+requests+2*b.rounds)
	f, err := b.newSeededFile(ctx, db, now)
	if err != nil {
		return err
	}
	if err := b.seed(ctx, f, report, now); err != nil {
		return err
	}
	server, err := b.startSeeded(ctx, f, report)
	if err != nil {
		return err
	}
	defer server.kill()
	for _, request := range apiRequests(f, report.Rows, now) {
		b.steps.next("the API: %s", request.Name)
		if err := b.measureEndpoint(ctx, server, "Authorization", "Bearer "+f.apiKey, &request); err != nil {
			return err
		}
		report.Endpoints = append(report.Endpoints, request)
	}
	if err := b.measurePages(ctx, server, f, report, now); err != nil {
		return err
	}
	if err := b.compareIngest(ctx, server, f, report); err != nil {
		return err
	}
	if figures := server.figures(); figures.known {
		report.SeededMemoryMB = &figures.peak
	}
	if _, err := server.stop(); err != nil {
		return err
	}
	b.steps.done()
	if err := terminal.Output(c, report, report.print); err != nil {
		return err
	}
	return report.verdict()
}

// newSeededFile makes a file that can be seeded.
func (b *bench) newSeededFile(ctx context.Context, db string, now time.Time) (*seededFile, error) {
	if err := sqlitestore.Create(ctx, db, app.DefaultZone, now); err != nil {
		return nil, err
	}
	f := &seededFile{benchFile: benchFile{db: db}}
	return f, b.withService(ctx, db, func(service *app.Service) error {
		for i := range seedBanks {
			number := benchAccountNumber
			if i > 0 {
				number = fmt.Sprintf("%s%d", benchAccountNumber, i)
			}
			linked, err := service.LinkBankAccount(ctx, app.DefaultAccountID, app.BankAccountLink{Bank: "ACB", AccountNumber: number, AccountName: "NGUYEN VAN A"}, now)
			if err != nil {
				return err
			}
			hook, _, err := service.CreateWebhook(ctx, app.DefaultAccountID, app.WebhookCreate{
				Name: fmt.Sprintf("shop %d", i+1), URL: b.addresses.Shops[0], Type: app.WebhookAll, BankAccountID: linked.BankAccount.ID,
			}, now)
			if err != nil {
				return err
			}
			f.banks, f.hooks = append(f.banks, linked.BankAccount.ID), append(f.hooks, hook.ID)
		}
		source, err := service.AddSource(ctx, app.DefaultAccountID, app.SourceAdd{Provider: "native", Name: "bench"}, now)
		if err != nil {
			return err
		}
		f.sources = []app.Source{source}
		if _, f.apiKey, err = service.CreateAPIKey(ctx, app.DefaultAccountID, "bench", app.ScopeFull, time.Time{}, now); err != nil {
			return err
		}
		f.password = rand.Text()
		_, err = service.CreateUser(ctx, app.DefaultAccountID, app.UserCreate{Name: benchUser, Password: f.password, Role: app.RoleOwner}, now)
		return err
	})
}

// seedYears is over how long the seeded transactions are spread.
const seedYears = 3

func (b *bench) seed(ctx context.Context, f *seededFile, report *SeedReport, now time.Time) error {
	b.steps.next("seed %s rows", terminal.Grouped(report.Rows))
	started, told := time.Now(), time.Now()
	err := sqlitestore.Seed(ctx, f.db, sqlitestore.Seeding{
		AccountID: app.DefaultAccountID, Rows: report.Rows, From: now.AddDate(-seedYears, 0, 0), To: now.Add(-time.Minute),
		Progress: func(n, of int64) {
			if time.Since(told) > 2*time.Second {
				told = time.Now()
				b.steps.say("seed %s of %s rows", terminal.Grouped(n), terminal.Grouped(of))
			}
		},
	})
	if err != nil {
		return errors.Join(err, removeDatabase(f.db))
	}
	report.SeedS = time.Since(started).Seconds()
	info, err := os.Stat(f.db)
	if err == nil {
		report.FileBytes = info.Size()
	}
	return err
}

// removeDatabase removes a file that is worth nothing, with those beside it.
func removeDatabase(db string) error {
	var errs []error
	for _, name := range []string{db, db + ".key", db + ".lock", db + "-wal", db + "-shm"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// startSeeded starts the server, stops it cleanly and starts it again: the
// second start is measured. It waits until the check of the file is over.
func (b *bench) startSeeded(ctx context.Context, f *seededFile, report *SeedReport) (*benchServer, error) {
	b.steps.next("start, stop and start again")
	server, err := startServer(ctx, f.db)
	if err != nil {
		return nil, err
	}
	if _, err := server.stop(); err != nil {
		return nil, err
	}
	if server, err = startServer(ctx, f.db); err != nil {
		return nil, err
	}
	report.StartMS = millisecondsOf(server.ready)
	b.steps.next("wait until the server has checked the file")
	report.CheckS = awaitIdle(ctx, server, 15*time.Minute)
	return server, nil
}

// awaitIdle waits until the server has done nothing for a second, and gives
// how long that took; nil where it can't be known.
func awaitIdle(ctx context.Context, server *benchServer, most time.Duration) *float64 {
	begin := time.Now()
	for last := server.figures(); last.known && ctx.Err() == nil && time.Since(begin) < most; {
		time.Sleep(time.Second)
		now := server.figures()
		if now.cpu-last.cpu < 50*time.Millisecond {
			took := (time.Since(begin) - time.Second).Seconds()
			return &took
		}
		last = now
	}
	return nil
}

// apiRequests are the requests of the management API that read.
func apiRequests(f *seededFile, rows int64, now time.Time) []benchEndpoint {
	last := min(10_000, rows/app.DefaultPageSize)
	bank, hook := f.banks[len(f.banks)/2], f.hooks[len(f.hooks)/2]
	month := now.AddDate(-1, 0, 0)
	dates := "from=" + month.Format(app.DateLayout) + "&to=" + month.AddDate(0, 1, 0).Format(app.DateLayout)
	page := fmt.Sprintf("page=%d", last)
	var list []benchEndpoint
	add := func(name, format string, args ...any) {
		list = append(list, benchEndpoint{Name: name, Path: "/api/v1/" + fmt.Sprintf(format, args...)})
	}
	add("overview", "analytics/overview")
	for _, window := range []string{"daily", "weekly", "monthly"} {
		add("period, "+window, "analytics/period?range=%s", window)
	}
	add("account status", "analytics/status")
	add("bank accounts", "bank-accounts")
	add("summary", "bank-accounts/summary")
	add("webhooks", "webhooks")

	add("transactions", "transactions")
	add(fmt.Sprintf("transactions, page %s", terminal.Grouped(last)), "transactions?%s", page)
	add("transactions, 100 a page", "transactions?per_page=100")
	add("transactions since an id", "transactions?since_id=%d", rows/2)
	add("transactions of a bank account", "transactions?bank_account_id=%d", bank)
	add("transactions OUT", "transactions?type=OUT")
	add("transactions of a month", "transactions?%s", dates)
	add("transactions of a month and a bank account", "transactions?bank_account_id=%d&%s", bank, dates)
	add("transactions by amount", "transactions?min_amount=1000000&max_amount=1010000")
	add("transactions by date", "transactions?sort=-date")
	add(fmt.Sprintf("transactions by date, page %s", terminal.Grouped(last)), "transactions?sort=-date&%s", page)
	add("transactions, search for what is frequent", "transactions?q=thanh+toan")
	add("transactions, search for what is there once", "transactions?q=DH%d", rows/3)
	add("transactions, search for what is not there", "transactions?q=khongcogi")

	add("history", "webhooks/history")
	add(fmt.Sprintf("history, page %s", terminal.Grouped(last)), "webhooks/history?%s", page)
	add("history of a webhook", "webhooks/history?webhook_id=%d", hook)
	add("history of errors", "webhooks/history?status=0")
	add("history of successes", "webhooks/history?status=1")
	add("history OUT", "webhooks/history?type=OUT")
	add("history of a month", "webhooks/history?%s", dates)
	add("history of a transaction", "webhooks/history?transaction_id=%d", rows/3)
	add("history of a delivery", "webhooks/history?delivery_id=%d", rows/3)
	add("history, search for what is frequent", "webhooks/history?q=thanh+toan")
	add("history, search for what is there once", "webhooks/history?q=DH%d", rows/3)
	add("history of errors, search for what is frequent", "webhooks/history?status=0&q=thanh+toan")
	return list
}

// longestEndpoint is for how long one request is repeated.
const longestEndpoint = 15 * time.Second

// measureEndpoint makes a request a few times, one after the other.
func (b *bench) measureEndpoint(ctx context.Context, server *benchServer, header, value string, e *benchEndpoint) error {
	client := &http.Client{Transport: benchTransport(1), Timeout: time.Minute}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.url+e.Path, nil)
	if err != nil {
		return err
	}
	request.Header.Set(header, value)
	var took []int64
	for begin := time.Now(); len(took) < b.repeats && (len(took) < 2 || time.Since(begin) < longestEndpoint); {
		started := time.Now()
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if err != nil {
			return err
		}
		took = append(took, int64(time.Since(started)))
		if response.StatusCode != http.StatusOK {
			e.Failed++
		}
	}
	e.quantiles = quantilesOf(took)
	return nil
}

// compareIngest measures saturation on an empty file and on the seeded one by
// turns.
func (b *bench) compareIngest(ctx context.Context, server *benchServer, f *seededFile, report *SeedReport) error {
	var empty, seeded, ratios []float64
	for round := range b.rounds {
		b.steps.next("ingest, round %d: an empty file", round+1)
		e, err := b.saturateEmpty(ctx)
		if err != nil {
			return err
		}
		b.steps.next("ingest, round %d: the seeded file", round+1)
		s, err := b.saturateServer(ctx, server, f.sources[0].URLPath(), f.sources[0].Secret, 1)
		if err != nil {
			return err
		}
		report.add(e)
		report.add(s)
		empty, seeded = append(empty, e.deliveredPerS()), append(seeded, s.deliveredPerS())
		if e.deliveredPerS() > 0 {
			ratios = append(ratios, s.deliveredPerS()/e.deliveredPerS())
		}
	}
	report.EmptyPerS, report.SeededPerS, report.IngestRatio = spreadOf(empty), spreadOf(seeded), spreadOf(ratios)
	return nil
}

// saturateEmpty measures a file that is set up as the seeded one, but empty.
func (b *bench) saturateEmpty(ctx context.Context) (r benchRun, err error) {
	b.files++
	f, err := b.newSeededFile(ctx, filepath.Join(b.dir, fmt.Sprintf("empty-%d.db", b.files)), time.Now())
	if err != nil {
		return r, err
	}
	server, err := startServer(ctx, f.db)
	if err != nil {
		return r, err
	}
	defer server.kill()
	if r, err = b.saturateServer(ctx, server, f.sources[0].URLPath(), f.sources[0].Secret, 1); err != nil {
		return r, err
	}
	if _, err := server.stop(); err != nil {
		return r, err
	}
	return r, removeDatabase(f.db)
}

func (report *SeedReport) print(w io.Writer) {
	fmt.Fprintf(w, "%s\n", report.Machine)
	fmt.Fprintf(w, "%s transactions, as many deliveries and attempts, over %d years: %s MB, seeded in %.0f s\n",
		terminal.Grouped(report.Rows), seedYears, terminal.Grouped(report.FileBytes>>20), report.SeedS)
	fmt.Fprintf(w, "The server starts in %s ms", terminal.Decimals(report.StartMS))
	if report.CheckS != nil && *report.CheckS >= 1 {
		fmt.Fprintf(w, ", and checks the file for %.0f s meanwhile", *report.CheckS)
	}
	fmt.Fprintf(w, ".\n\nRequests of the API, one after the other, in ms\n")
	printEndpoints(w, report.Endpoints)
	fmt.Fprintf(w, "\nPages of the dashboard, one after the other, in ms\n")
	printEndpoints(w, report.Pages)
	fmt.Fprintln(w, "\nAt saturation, deliveries per second with 1 webhook")
	terminal.PrintTable(w, "", []string{"", "DELIVERED/S"}, [][]string{
		{"an empty file", report.EmptyPerS.text()}, {"the seeded file", report.SeededPerS.text()},
	}, "DELIVERED/S")
	if r := report.IngestRatio; r != nil {
		fmt.Fprintf(w, "The seeded file takes %s of what the empty one does.\n", r.percent())
	}
	report.printCounts(w)
	if report.File != "" {
		fmt.Fprintf(w, "Kept: %s\n", report.File)
	}
}

func printEndpoints(w io.Writer, list []benchEndpoint) {
	var rows [][]string
	for _, e := range list {
		failed := ""
		if e.Failed > 0 {
			failed = strconv.Itoa(e.Failed)
		}
		rows = append(rows, []string{e.Name, strconv.Itoa(e.Count), terminal.Decimals(e.P50), terminal.Decimals(e.P99), terminal.Decimals(e.Max), failed})
	}
	columns := []string{"", "REQUESTS", "MEDIAN", "99 %", "MAX", "FAILED"}
	terminal.PrintTable(w, "", columns, rows, columns[1:]...)
}
