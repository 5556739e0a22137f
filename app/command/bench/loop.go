package bench

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"baoco/app/command/serve"
	"baoco/app/command/terminal"

	"github.com/urfave/cli/v2"
)

// benchRun is one load and what came of it.
type benchRun struct {
	benchCalls
	benchArrived
	cpu       time.Duration // of the server; 0: unknown
	idle      float64       // MB; 0: unknown
	peak      float64       // MB; 0: unknown
	diskBytes int64
}

// acceptedPerS is how many transactions were accepted per second.
func (r benchRun) acceptedPerS() float64 {
	return float64(r.accepted()) / time.Duration(r.EndNS-r.FirstNS).Seconds()
}

// deliveredPerS is how many deliveries arrived per second from the first call
// to the last arrival, so that what was put off counts.
func (r benchRun) deliveredPerS() float64 {
	if r.LastNS <= r.FirstNS {
		return 0
	}
	return float64(r.Unique) / time.Duration(r.LastNS-r.FirstNS).Seconds()
}

// load has the generator work, and waits until every accepted transaction has
// arrived at so many shops.
func (b *bench) load(ctx context.Context, l benchLoad, shops int) (r benchRun, err error) {
	b.runs++
	l.Run, l.Account, l.Connections = b.runs, benchAccountNumber, b.connections
	if err := b.generator.ask(l, &r.benchCalls); err != nil {
		return r, err
	}
	if err := b.drain(ctx, l.Run, r.accepted()*shops); err != nil {
		return r, err
	}
	return r, b.receiver.ask(benchQuestion{Run: l.Run, Report: true, Shops: shops, Calls: r.Calls, Failed: r.Failed}, &r.benchArrived)
}

// patience is how long nothing may arrive before what is missing counts as
// lost: longer than the wait before a second attempt.
const patience = 20 * time.Second

func (b *bench) drain(ctx context.Context, run, want int) error {
	got, last := -1, time.Now()
	for ctx.Err() == nil {
		var arrived benchArrived
		if err := b.receiver.ask(benchQuestion{Run: run}, &arrived); err != nil {
			return err
		}
		if arrived.Unique > got {
			got, last = arrived.Unique, time.Now()
		}
		if got >= want || time.Since(last) > patience {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
	return ctx.Err()
}

// saturate measures a server of its own, with so many webhooks, as fast as
// the callers can.
func (b *bench) saturate(ctx context.Context, webhooks int) (r benchRun, err error) {
	f, err := b.newFile(ctx, b.addresses.Shops[:webhooks])
	if err != nil {
		return r, err
	}
	server, err := startServer(ctx, f.db)
	if err != nil {
		return r, err
	}
	defer server.kill()
	if r, err = b.saturateServer(ctx, server, f.sources[0].URLPath(), f.sources[0].Secret, webhooks); err != nil {
		return r, err
	}
	life, err := server.stop()
	if err != nil {
		return r, err
	}
	if r.cpu == 0 {
		r.cpu = life
	}
	info, err := os.Stat(f.db)
	if err != nil {
		return r, err
	}
	r.diskBytes = info.Size() - f.bytes
	return r, os.Remove(f.db)
}

func (b *bench) saturateServer(ctx context.Context, server *benchServer, path, secret string, webhooks int) (r benchRun, err error) {
	time.Sleep(100 * time.Millisecond) // what the start left to do
	before := server.figures()
	if r, err = b.load(ctx, benchLoad{URL: server.url + path, Secret: secret, For: b.duration}, webhooks); err != nil {
		return r, err
	}
	if after := server.figures(); after.known {
		r.cpu, r.idle, r.peak = after.cpu-before.cpu, before.resident, after.peak
	}
	return r, nil
}

// latency is a load of so many calls per second, after a few to warm up.
func (b *bench) latency(ctx context.Context, url, secret string, rate float64, d time.Duration) (benchRun, error) {
	warmUp := min(time.Second/2, d)
	if _, err := b.load(ctx, benchLoad{URL: url, Secret: secret, Rate: 50, For: warmUp}, 1); err != nil {
		return benchRun{}, err
	}
	return b.load(ctx, benchLoad{URL: url, Secret: secret, Rate: rate, For: d}, 1)
}

// measureLoop is the whole of baoco bench.
func (b *bench) measureLoop(ctx context.Context, c *cli.Context) (err error) {
	b.steps = newBenchSteps(c.App.ErrWriter, 1+4*b.rounds+4)
	report := newBenchReport(b.benchPlan)
	b.steps.next("the disk: %d times 4 KiB written and synced", b.syncs)
	if report.Sync, err = syncTimes(b.dir, b.syncs, 5*time.Second); err != nil {
		return err
	}
	rounds, noise := map[string][]benchRun{}, []float64{}
	for round := range b.rounds {
		others := b.watchOthers()
		if err := b.measureRound(ctx, round+1, rounds); err != nil {
			return err
		}
		noise = append(noise, others()...)
	}
	report.addRounds(rounds)
	report.OthersCPU = spreadOf(noise)
	if err := b.measureLatencies(ctx, report); err != nil {
		return err
	}
	b.steps.done()
	if err := terminal.Output(c, report, report.print); err != nil {
		return err
	}
	return report.verdict()
}

// The phases at saturation, next to one another so that the noise of a shared
// machine falls on all of them.
const (
	phaseDirect = "direct limit"
	phaseRelay  = "relay limit"
	phaseOne    = "1 webhook"
	phaseThree  = "3 webhooks"
)

func (b *bench) measureRound(ctx context.Context, round int, rounds map[string][]benchRun) error {
	for _, phase := range []struct {
		name, what string
		measure    func() (benchRun, error)
	}{
		{phaseDirect, "the callers straight to the receiver", func() (benchRun, error) {
			return b.load(ctx, benchLoad{URL: b.addresses.Shops[0], For: b.duration}, 1)
		}},
		{phaseRelay, "a relay without storage, signature or retry between them", func() (benchRun, error) {
			return b.load(ctx, benchLoad{URL: b.relayURL, For: b.duration}, 1)
		}},
		{phaseOne, "baoco between them", func() (benchRun, error) { return b.saturate(ctx, 1) }},
		{phaseThree, "baoco between them", func() (benchRun, error) { return b.saturate(ctx, benchShops) }},
	} {
		b.steps.next("saturation, round %d: %s (%s)", round, phase.name, phase.what)
		r, err := phase.measure()
		if err != nil {
			return err
		}
		rounds[phase.name] = append(rounds[phase.name], r)
	}
	return nil
}

// measureLatencies adds what a single webhook takes to be told, beside others
// or not.
func (b *bench) measureLatencies(ctx context.Context, report *Report) error {
	f, err := b.newFile(ctx, b.addresses.Shops[:1])
	if err != nil {
		return err
	}
	server, err := startServer(ctx, f.db)
	if err != nil {
		return err
	}
	defer server.kill()
	for _, rate := range []float64{50, 500} {
		b.steps.next("latency at %v calls a second", rate)
		r, err := b.latency(ctx, server.url+f.sources[0].URLPath(), f.sources[0].Secret, rate, 3*b.duration)
		if err != nil {
			return err
		}
		report.addLatency(rate, 0, r)
	}
	server.kill()
	if err := b.besideHanging(ctx, 1, 3*b.duration, report); err != nil {
		return err
	}
	return b.besideHanging(ctx, hangingWebhooks, 6*b.duration, report)
}

// besideHanging measures the latency of one webhook that answers beside others
// that never do. They stand in the same account, told of the same
// transactions; the one that an account hasn't room for stands in another.
func (b *bench) besideHanging(ctx context.Context, hanging int, d time.Duration, report *Report) error {
	b.steps.next("latency at 50 calls a second beside %d hanging webhooks", hanging)
	beside := min(hanging, hangingWebhooks-1)
	f, err := b.newFile(ctx, append(b.addresses.Shops[:1:1], b.addresses.Hanging[:beside]...), b.addresses.Hanging[beside:hanging])
	if err != nil {
		return err
	}
	server, err := startServer(ctx, f.db)
	if err != nil {
		return err
	}
	defer server.kill() // what hangs would hold a clean stop
	other := benchLoad{URL: server.url + f.sources[1].URLPath(), Secret: f.sources[1].Secret, Rate: 100, For: 100 * time.Millisecond}
	if _, err := b.load(ctx, other, 0); err != nil {
		return err
	}
	r, err := b.latency(ctx, server.url+f.sources[0].URLPath(), f.sources[0].Secret, 50, d)
	if err != nil {
		return err
	}
	r.peak = server.figures().peak
	report.addLatency(50, hanging, r)
	return nil
}

// watchOthers gives, when it is asked, which share of the machine's CPU time
// programs that aren't part of the bench took meanwhile; nothing where that
// isn't known.
func (b *bench) watchOthers() func() []float64 {
	own := func() time.Duration {
		self := processFiguresOf(os.Getpid())
		cpu := self.cpu + self.ended
		for _, p := range []*benchPart{b.generator, b.receiver, b.relay} {
			cpu += processFiguresOf(p.cmd.Process.Pid).cpu
		}
		return cpu
	}
	busy, known := machineBusy()
	ownBefore, began := own(), time.Now()
	return func() []float64 {
		now, _ := machineBusy()
		all := time.Since(began) * time.Duration(runtime.NumCPU())
		if !known || all <= 0 {
			return nil
		}
		others := (now - busy) - (own() - ownBefore)
		return []float64{min(1, max(0, float64(others)/float64(all)))}
	}
}

// machine is what the figures were measured on.
type machine struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	CPUs    int    `json:"cpus"`
	At      string `json:"at"`
}

func thisMachine() machine {
	return machine{serve.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), time.Now().UTC().Format(time.RFC3339)}
}

func (m machine) String() string {
	return fmt.Sprintf("baoco %s, %s, %s/%s, %d CPUs", m.Version, m.Go, m.OS, m.Arch, m.CPUs)
}
