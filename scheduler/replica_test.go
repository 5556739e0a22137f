package scheduler_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/services"
	"baoco/app/upkeep"
	"baoco/scheduler"
)

// place is a replica in these tests: what a look finds, and whether there is one.
type place struct {
	mu    sync.Mutex
	there bool
	found upkeep.ReplicaCheck
}

// become changes it beside those who look.
func (p *place) become(there bool, problem app.Text) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.there, p.found.Problem = there, problem
}

func (p *place) Replicated() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.there
}

func (p *place) Look(_ context.Context, now time.Time) upkeep.ReplicaCheck {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.found
	c.At = now
	return c
}

// A beat comes every minute while there is a replica, and what a look finds is a thing
// that needs attention within a minute.
func TestReplicaJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := apptest.Open(t, newFile(t), services.Config{})
		defer w.Close()
		p := &place{}
		s, err := scheduler.Start(w.Services, func(context.Context, delivery.Outgoing) delivery.Result { return delivery.Result{} },
			scheduler.Options{Replica: p})
		must(t, err)
		defer s.Stop(t.Context())
		attention := func() (text string) {
			list, err := w.Services.Alerts.Attention(t.Context(), app.DefaultAccountID, upkeep.Installation{}, time.Now())
			must(t, err)
			for _, a := range list {
				if a.Warning == upkeep.WarningReplica {
					text += a.Text.EN
				}
			}
			return text
		}
		beats := func() int64 {
			facts, err := w.Store.CopyFacts(t.Context(), 0)
			must(t, err)
			return facts.Beat.Sequence
		}
		time.Sleep(3*time.Minute + 30*time.Second)
		if n, said := beats(), attention(); n != 0 || said != "" {
			t.Errorf("without a replica: %d beats, %q", n, said)
		}
		p.become(true, app.Text{})
		time.Sleep(3 * time.Minute)
		facts, err := w.Store.CopyFacts(t.Context(), 0)
		must(t, err)
		b := facts.Beat
		if said := attention(); b.Sequence != 3 || time.Since(b.At) > time.Minute || said != "" {
			t.Errorf("with one: %+v, %q", b, said)
		}
		p.become(true, app.Text{EN: "It is 3 minutes behind.", VI: "Chậm 3 phút."})
		time.Sleep(time.Minute + time.Second)
		if said := attention(); said != "It is 3 minutes behind." {
			t.Errorf("attention: %q", said)
		}
		p.become(true, app.Text{})
		time.Sleep(time.Minute + time.Second)
		if said := attention(); said != "" {
			t.Errorf("once it is good: %q", said)
		}
		p.become(false, app.Text{EN: "It is bad."})
		time.Sleep(time.Minute + time.Second)
		if said := attention(); said != "" {
			t.Errorf("once it is removed: %q", said)
		}
	})
}

// lingering is a replica whose look goes on for a moment after a stop.
type lingering struct{ begun, ended chan struct{} }

func (l lingering) Replicated() bool { return true }

func (l lingering) Look(ctx context.Context, _ time.Time) (c upkeep.ReplicaCheck) {
	close(l.begun)
	<-ctx.Done()
	time.Sleep(100 * time.Millisecond)
	close(l.ended)
	return c
}

// A stop ends the contexts of jobs and waits for those that run: the file is closed after it.
func TestStopWaitsForJobs(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, newFile(t), services.Config{})
	defer w.Close()
	l := lingering{make(chan struct{}), make(chan struct{})}
	s, err := scheduler.Start(w.Services, func(context.Context, delivery.Outgoing) delivery.Result { return delivery.Result{} },
		scheduler.Options{Replica: l})
	must(t, err)
	apptest.Receive(t, "a look at the replica", l.begun)
	must(t, s.Stop(t.Context()))
	select {
	case <-l.ended:
	default:
		t.Error("the stop did not wait for the look")
	}
}
