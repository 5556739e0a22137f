package bench

import (
	"context"
	"os"
	"time"
)

// result is one load and what came of it.
type result struct {
	calls
	arrivals
	cpu       time.Duration // of the server; 0: unknown
	idle      float64       // MB of the server before the load; 0: unknown
	peak      float64       // MB of the server; 0: unknown
	diskBytes int64
}

// acceptedPerS is how many transactions were accepted per second.
func (r result) acceptedPerS() float64 { return float64(r.accepted()) / r.end.Sub(r.first).Seconds() }

// deliveredPerS is how many deliveries arrived per second from the first call
// to the last arrival, so that deliveries that were put off count.
func (r result) deliveredPerS() float64 {
	if !r.last.After(r.first) {
		return 0
	}
	return float64(r.unique) / r.last.Sub(r.first).Seconds()
}

// measure is the whole of baoco bench.
func (b *bench) measure(ctx context.Context) (report *report, err error) {
	report = newReport(b.plan)
	b.steps.next("the disk: %d times 4 KiB written and synced", b.syncs)
	if report.Sync, err = syncTimes(b.dir, b.syncs, 5*time.Second); err != nil {
		return nil, err
	}
	rounds, noise := map[string][]result{}, []float64{}
	for round := range b.rounds {
		others := watchOthers()
		if err := b.measureRound(ctx, round+1, rounds); err != nil {
			return nil, err
		}
		noise = append(noise, others()...)
	}
	report.addRounds(rounds)
	report.OthersCPU = spreadOf(noise)
	return report, b.measureLatencies(ctx, report)
}

// The phases at saturation. They follow one another in each round, so that the
// noise of a shared machine falls on all of them.
const (
	phaseDirect = "direct limit"
	phaseRelay  = "relay limit"
	phaseOne    = "1 webhook"
	phaseThree  = "3 webhooks"
)

func (b *bench) measureRound(ctx context.Context, round int, rounds map[string][]result) error {
	for _, phase := range []struct {
		name, what string
		measure    func() (result, error)
	}{
		{phaseDirect, "the callers straight to the receiver", func() (result, error) {
			return b.load(ctx, load{url: b.receiver.shops[0].url, duration: b.duration}, 1)
		}},
		{phaseRelay, "a relay without storage, signature or retry between them", func() (result, error) {
			return b.load(ctx, load{url: b.relayURL, duration: b.duration}, 1)
		}},
		{phaseOne, "baoco between them", func() (result, error) { return b.saturate(ctx, 1) }},
		{phaseThree, "baoco between them", func() (result, error) { return b.saturate(ctx, answeringShops) }},
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

// load posts a load, and waits until every accepted transaction has arrived at
// so many shops.
func (b *bench) load(ctx context.Context, l load, shops int) (r result, err error) {
	b.runs++
	l.run, l.connections = b.runs, b.connections
	if r.calls, err = generate(ctx, l); err != nil {
		return r, err
	}
	if err := b.drain(ctx, l.run, r.accepted()*shops); err != nil {
		return r, err
	}
	r.arrivals = b.receiver.report(l.run, shops, r.calls)
	return r, nil
}

// patience is how long nothing may arrive before missing deliveries count as
// lost. It is longer than the wait before a second attempt.
const patience = 20 * time.Second

// drain waits until so many deliveries of a run have arrived, or none has for
// longer than patience.
func (b *bench) drain(ctx context.Context, run, want int) error {
	got, last := -1, time.Now()
	for {
		unique := b.receiver.arrived(run)
		if unique > got {
			got, last = unique, time.Now()
		}
		if got >= want || time.Since(last) > patience {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// saturate measures a server of its own, with so many webhooks, as fast as
// the callers can.
func (b *bench) saturate(ctx context.Context, webhooks int) (r result, err error) {
	f, err := b.newFile(ctx, urlsOf(b.receiver.shops[:webhooks]))
	if err != nil {
		return r, err
	}
	server, err := startServer(ctx, f.db)
	if err != nil {
		return r, err
	}
	defer server.kill()
	time.Sleep(100 * time.Millisecond) // the rest of the server's start
	before := server.figures()
	if r, err = b.load(ctx, load{url: server.url + f.sources[0].URLPath(), secret: f.sources[0].Secret, duration: b.duration}, webhooks); err != nil {
		return r, err
	}
	after := server.figures()
	life, err := server.stop()
	if err != nil {
		return r, err
	}
	r.cpu = life
	if after.known {
		r.cpu, r.idle, r.peak = after.cpu-before.cpu, before.resident, after.peak
	}
	info, err := os.Stat(f.db)
	if err != nil {
		return r, err
	}
	r.diskBytes = info.Size() - f.bytes
	return r, os.Remove(f.db)
}

func urlsOf(list []*listener) (urls []string) {
	for _, l := range list {
		urls = append(urls, l.url)
	}
	return urls
}

// measureLatencies adds the time from a call to its arrival at one webhook, by
// itself and beside webhooks that hang.
func (b *bench) measureLatencies(ctx context.Context, report *report) error {
	f, err := b.newFile(ctx, urlsOf(b.receiver.shops[:1]))
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
	return b.besideHanging(ctx, hangingShops, 6*b.duration, report)
}

// latency is a load of so many calls per second, after a few to warm up.
func (b *bench) latency(ctx context.Context, url, secret string, rate float64, d time.Duration) (result, error) {
	warmUp := min(time.Second/2, d)
	if _, err := b.load(ctx, load{url: url, secret: secret, rate: 50, duration: warmUp}, 1); err != nil {
		return result{}, err
	}
	return b.load(ctx, load{url: url, secret: secret, rate: rate, duration: d}, 1)
}

// besideHanging measures the latency of a webhook that answers beside others
// that never do. They are in the same account and get the same transactions;
// the last one, for which the account has no room, is in another account.
func (b *bench) besideHanging(ctx context.Context, hanging int, d time.Duration, report *report) error {
	b.steps.next("latency at 50 calls a second beside %d hanging webhooks", hanging)
	beside := min(hanging, hangingShops-1)
	urls := urlsOf(b.receiver.hanging[:hanging])
	f, err := b.newFile(ctx, append(urlsOf(b.receiver.shops[:1]), urls[:beside]...), urls[beside:])
	if err != nil {
		return err
	}
	server, err := startServer(ctx, f.db)
	if err != nil {
		return err
	}
	defer server.kill() // requests that hang would hold a clean stop
	other := load{url: server.url + f.sources[1].URLPath(), secret: f.sources[1].Secret, rate: 100, duration: 100 * time.Millisecond}
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
