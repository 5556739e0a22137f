package scheduler

import (
	"context"
	"sync"
	"time"

	"baoco/app"
)

// Replica is the replica of the file, as far as the regular work knows it.
type Replica interface {
	// Replicated reports whether there is one.
	Replicated() bool
	// Look lists it, and checks it now and then. One call at a time is made.
	Look(ctx context.Context, now time.Time) app.ReplicaCheck
}

// clockStep is by how much the clock may run ahead of the time that goes by, or behind
// it, between two beats. More was set by somebody.
const clockStep = 2 * time.Minute

// clock compares the time of day with the time that goes by.
type clock struct {
	mu     sync.Mutex
	last   time.Time // of the last beat, by both
	step   time.Duration
	stepAt time.Time
}

// beat notes a beat, and the beat that the file had before.
func (c *clock) beat(before app.Beat, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var step time.Duration
	switch {
	case !c.last.IsZero():
		step = now.Round(0).Sub(c.last.Round(0)) - now.Sub(c.last)
	case before.Sequence > 0 && before.At.After(now): // at the start of the server
		step = now.Sub(before.At)
	}
	if step.Abs() > clockStep {
		c.step, c.stepAt = step, now
	}
	c.last = now
}

// toldStep is how long a step of the clock is a problem.
const toldStep = 15 * time.Minute

// problem says that the clock was set.
func (c *clock) problem(now time.Time) (app.Text, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return app.Textf("The clock of this machine was set by %d minutes. Dates of transactions and the age of the replica depend on it: see that it is right, with timedatectl.",
		"Đồng hồ của máy này vừa bị chỉnh %d phút. Ngày giờ giao dịch và tuổi của bản sao phụ thuộc vào đồng hồ: hãy kiểm tra bằng timedatectl.", int(c.step.Round(time.Minute)/time.Minute)), !c.stepAt.IsZero() && now.Sub(c.stepAt) < toldStep
}

// beat writes the beat of a file that has a replica.
func (s *Scheduler) beat(ctx context.Context, service *app.Service, r Replica, c *clock) {
	if !r.Replicated() {
		return
	}
	before, err := service.Beat(ctx)
	if err == nil {
		now := time.Now()
		c.beat(before, now)
		err = service.SetBeat(ctx, now)
	}
	s.logFault(ctx, "write the beat of the replica", err)
}

// lookAtReplica keeps what is seen, and logs when it becomes good or bad.
func (s *Scheduler) lookAtReplica(ctx context.Context, service *app.Service, r Replica, c *clock) {
	if !r.Replicated() {
		service.SetReplicaCheck(nil)
		return
	}
	now := time.Now()
	check := r.Look(ctx, now)
	if ctx.Err() != nil {
		return // the server stops
	}
	if text, set := c.problem(now); set && check.Problem == (app.Text{}) {
		check.Problem = text
	}
	check.At = time.Now() // it is kept until the next look, which comes after its end
	before, _ := service.ReplicaCheck(now)
	service.SetReplicaCheck(&check)
	switch bad, was := check.Problem != (app.Text{}), before.Problem != (app.Text{}); {
	case bad && !was:
		s.log.Error("the replica is not good", "problem", check.Problem.EN)
	case was && !bad:
		s.log.Info("the replica is good again", "behind", check.Behind.String())
	}
}
