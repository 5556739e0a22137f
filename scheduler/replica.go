package scheduler

import (
	"context"
	"time"

	"baoco/app"
	"baoco/app/services"
	"baoco/app/upkeep"
)

// Replica is what the regular work needs of the replica of the file.
type Replica interface {
	// Replicated reports whether the file has a replica.
	Replicated() bool
	// Look lists the replica, and checks it now and then. One call at a time is made.
	Look(ctx context.Context, now time.Time) upkeep.ReplicaCheck
}

func (s *Scheduler) writeBeat(ctx context.Context, service *services.All, r Replica) {
	if !r.Replicated() {
		return
	}
	s.logFault(ctx, "write the beat of the replica", service.Upkeep.SetBeat(ctx, time.Now()))
}

// lookAtReplica keeps the result of a look, and logs when the replica becomes good or bad.
func (s *Scheduler) lookAtReplica(ctx context.Context, service *services.All, r Replica) {
	if !r.Replicated() {
		service.Upkeep.SetReplicaCheck(nil)
		return
	}
	now := time.Now()
	check := r.Look(ctx, now)
	if ctx.Err() != nil {
		return // the server stops
	}
	check.At = time.Now() // its age counts from the end of a look, after which the next one begins
	before, _ := service.Upkeep.ReplicaCheck(now)
	service.Upkeep.SetReplicaCheck(&check)
	switch bad, was := check.Problem != (app.Text{}), before.Problem != (app.Text{}); {
	case bad && !was:
		s.log.Error("the replica is not good", "problem", check.Problem.EN)
	case was && !bad:
		s.log.Info("the replica is good again", "behind", check.Behind.String())
	}
}
