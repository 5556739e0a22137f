// Package scheduler is the clock: it has the courier make the attempts of due
// deliveries (package courier), reads the lists of providers (catchup.go), sends alerts
// and messages about payments (alert.go, push.go), sends streams to brokers (stream.go),
// calls the operator's address (heartbeat.go), looks at the replica (replica.go), and does
// the housekeeping.
package scheduler

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/services"
	"baoco/app/upkeep"
	"baoco/scheduler/courier"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"
	"github.com/jonboulle/clockwork"
)

// Intervals of the regular work.
const (
	sweepInterval = 500 * time.Millisecond
	probeInterval = time.Second
	pruneInterval = time.Hour
	indexInterval = time.Second
	alertInterval = 30 * time.Second
	feedInterval  = time.Second
	linkInterval  = 10 * time.Second
	backupEvery   = 10 * time.Second
	lookInterval  = 30 * time.Second // at the replica
)

// steadyClock counts from its start, however the clock is set. gocron compares wall-clock
// times: a clock that is set back an hour would stop every job for an hour.
type steadyClock struct {
	clockwork.Clock
	began time.Time
}

func (c steadyClock) Now() time.Time { return c.began.Add(time.Since(c.began)) }

// Options say what the scheduler does.
type Options struct {
	Installation upkeep.Installation // what alerts are about, and where they lead
	Keep         upkeep.PruneLimits
	Backups      upkeep.BackupSchedule
	CatchUp      time.Duration // how often lists of providers are read; 0: never
	Heartbeat    *Heartbeat    // nil: none
	Replica      Replica       // nil: there can be none
	Logger       *slog.Logger
}

// Scheduler runs until Stop.
type Scheduler struct {
	courier *courier.Courier
	feeds   onePerID // by channel: the messages about payments
	streams onePerID // by stream: its loop
	cron    gocron.Scheduler
	jobs    sync.RWMutex // a job holds it for reading while it runs, Stop for writing
	quit    chan struct{}
	done    chan struct{}
	running sync.WaitGroup  // feeds, streams and messages to phones
	ctx     context.Context // of work that may continue after Stop
	cancel  context.CancelFunc
	jobsCtx context.Context // of the jobs, until Stop
	endJobs context.CancelFunc
	log     *slog.Logger
}

// onePerID runs goroutines, at most one for an id at a time and most in all.
type onePerID struct {
	most int
	mu   sync.Mutex
	busy map[int64]bool
}

// begin runs f if no goroutine of the id runs and fewer than most run. running counts it.
func (o *onePerID) begin(running *sync.WaitGroup, id int64, f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.busy[id] || len(o.busy) >= o.most {
		return
	}
	o.busy[id] = true
	running.Go(func() {
		defer func() {
			o.mu.Lock()
			defer o.mu.Unlock()
			delete(o.busy, id)
		}()
		f()
	})
}

// Start begins to deliver; what is due already is attempted at once, within
// the slots. send makes one attempt.
func Start(service *services.All, send func(context.Context, delivery.Outgoing) delivery.Result, o Options) (*Scheduler, error) {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	cron, err := gocron.NewScheduler(
		gocron.WithLogger(cronLogger{o.Logger}),
		gocron.WithClock(steadyClock{clockwork.NewRealClock(), time.Now()}),
		gocron.WithStopTimeout(1), // gocron takes a whole core while it waits, so Stop waits itself
		gocron.WithGlobalJobOptions(
			gocron.WithSingletonMode(gocron.LimitModeReschedule),
			gocron.WithEventListeners(gocron.AfterJobRunsWithPanic(func(_ uuid.UUID, name string, value any) {
				o.Logger.Error("panic in a regular job", "job", name, "panic", fmt.Sprint(value))
			})),
		),
	)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Scheduler{
		courier: courier.New(ctx, service, send, o.Logger), feeds: onePerID{most: feedsAtOnce, busy: map[int64]bool{}},
		streams: onePerID{most: math.MaxInt, busy: map[int64]bool{}},
		cron:    cron, ctx: ctx, cancel: cancel, log: o.Logger, quit: make(chan struct{}), done: make(chan struct{}),
	}
	s.jobsCtx, s.endJobs = context.WithCancel(ctx)
	if err := s.addJobs(service, o); err != nil {
		cancel()
		return nil, errors.Join(err, cron.Shutdown())
	}
	// Root certificates are read once in a process. If the first HTTPS connection read them
	// while no file can be opened, no certificate would ever be trusted.
	if _, err := x509.SystemCertPool(); err != nil {
		o.Logger.Warn("this machine's root certificates can't be read, so deliveries over HTTPS will fail", "err", err)
	}
	step, err := service.ClockAtStart(ctx, time.Now())
	s.logFault(ctx, "compare the clock with the newest row", err)
	s.courier.NoteStep(step)
	service.Upkeep.Probe(ctx, time.Now()) // from now on, silence means that the storage hangs
	s.push(ctx, service)                  // from now on, phones ring for what is recorded
	service.SetCourier(delivery.Courier{Wake: s.courier.Wake, Sweep: s.courier.LookEverywhere, InFlight: s.courier.InFlight,
		Swept: s.courier.LastSweep, Shortage: s.courier.ShortageOf})
	go func() {
		defer close(s.done)
		s.courier.Run(s.quit)
	}()
	cron.Start()
	return s, nil
}

func (s *Scheduler) addJobs(service *services.All, o Options) (err error) {
	add := func(name string, every time.Duration, run func(context.Context), options ...gocron.JobOption) {
		_, fault := s.cron.NewJob(gocron.DurationJob(every), s.task(run), append(options, gocron.WithName(name))...)
		err = errors.Join(err, fault)
	}
	atOnce := gocron.WithStartAt(gocron.WithStartImmediately())
	add("sweep", sweepInterval, func(context.Context) { s.courier.LookEverywhere() })
	add("probe", probeInterval, func(ctx context.Context) { service.Upkeep.Probe(ctx, time.Now()) })
	add("index", indexInterval, func(ctx context.Context) { s.logFault(ctx, "index the search texts", service.Ledger.IndexSearch(ctx)) })
	add("link", linkInterval, func(ctx context.Context) {
		s.logFault(ctx, "finish the links of bank accounts", service.Inbound.FinishLinks(ctx, time.Now()))
	})
	add("alert", alertInterval, func(ctx context.Context) {
		s.alert(ctx, service, o.Installation)
		s.pushAttention(ctx, service, o.Installation)
	})
	add("payments", feedInterval, func(ctx context.Context) { s.sendPayments(ctx, service) })
	add("push", feedInterval, func(ctx context.Context) { s.push(ctx, service) })
	add("streams", streamLook, func(ctx context.Context) { s.beginStreams(ctx, service, delivery.UserAgent(o.Installation.Version)) })
	add("prune", pruneInterval, func(ctx context.Context) { s.prune(ctx, service, o.Keep) })
	if o.Heartbeat != nil {
		add("heartbeat", heartbeatInterval, func(ctx context.Context) { s.heartbeat(ctx, service, o.Heartbeat) })
	}
	if o.Replica != nil {
		add("beat", upkeep.BeatInterval, func(ctx context.Context) { s.writeBeat(ctx, service, o.Replica) }, atOnce)
		add("replica", lookInterval, func(ctx context.Context) { s.lookAtReplica(ctx, service, o.Replica) }, atOnce)
	}
	add("backup", backupEvery, func(ctx context.Context) { s.backUp(ctx, service, o.Backups) }, atOnce)
	if o.CatchUp != 0 {
		add("catch up", o.CatchUp, func(ctx context.Context) { s.catchUp(ctx, service, o.CatchUp) }, atOnce)
	}
	return err
}

// task makes a job of run, which does nothing after Stop. Its context is ours: gocron
// replaces its own during a stop, while jobs may still read it.
func (s *Scheduler) task(run func(context.Context)) gocron.Task {
	return gocron.NewTask(func() {
		if s.jobs.TryRLock() {
			defer s.jobs.RUnlock()
			run(s.jobsCtx)
		}
	})
}

func (s *Scheduler) prune(ctx context.Context, service *services.All, keep upkeep.PruneLimits) {
	now := time.Now()
	pruned, err := service.Upkeep.Prune(app.ActingAs(ctx, app.Actor{Way: app.WayServer, At: now}), keep, now)
	switch {
	case err != nil && ctx.Err() == nil:
		s.log.Error("prune", "err", err)
	case pruned != upkeep.Pruned{}:
		s.log.Info("pruned", "inbound_events", pruned.InboundEvents, "attempts", pruned.Attempts)
	}
}

func (s *Scheduler) backUp(ctx context.Context, service *services.All, schedule upkeep.BackupSchedule) {
	began := time.Now()
	made, err := service.Upkeep.BackUpIfDue(ctx, schedule, began)
	switch {
	case err != nil && ctx.Err() == nil:
		s.log.Error("scheduled backup", "err", err)
	case err == nil && made.Path != "":
		s.log.Info("backup made", "file", made.Path, "bytes", made.Size, "took", time.Since(began).Round(time.Millisecond).String())
	}
}

// logFault logs an error of regular work, unless the scheduler stops or the storage is
// unavailable, which is logged elsewhere. The work is done the next time.
func (s *Scheduler) logFault(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil && app.CodeOf(err) != app.CodeUnavailable {
		s.log.Error(what, "err", err)
	}
}

// Stop begins no new attempt and waits until those in flight are settled, at most a
// little longer than the longest attempt; the end of ctx ends the wait. An attempt that
// is cut off is not counted, and its delivery is due at the next start.
func (s *Scheduler) Stop(ctx context.Context) error {
	s.endJobs()
	err := s.cron.Shutdown()
	ended := make(chan struct{})
	go func() {
		s.jobs.Lock()
		close(ended)
	}()
	select {
	case <-ended:
		err = nil
	case <-time.After(3 * time.Second):
	}
	close(s.quit)
	<-s.done
	settled := make(chan struct{})
	go func() {
		defer close(settled)
		s.courier.Wait()
		s.running.Wait()
	}()
	timer := time.NewTimer(courier.Grace)
	defer timer.Stop()
	select {
	case <-settled:
	case <-timer.C:
	case <-ctx.Done():
	}
	s.cancel()
	<-settled
	return err
}

// cronLogger passes on the warnings and errors of gocron.
type cronLogger struct{ *slog.Logger }

func (cronLogger) Debug(string, ...any) {}
func (cronLogger) Info(string, ...any)  {}
