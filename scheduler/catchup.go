package scheduler

import (
	"context"
	"errors"
	"time"

	"baoco/app"
	"baoco/app/inbound"
	"baoco/app/services"
)

// This file is the regular catching up: the job of gocron, at the start and
// then every interval. The walk of a page:
//
//	catchUp → app.Service.CatchUp → Poller.Poll (poller.go): the provider's List
//	says what to ask for, Poll asks for it, not too often, and List reads the
//	answer → app records the page

// catchUpTime is how long one run may read lists. What is left is read in the
// next run, from where this one stopped.
const catchUpTime = 2 * time.Minute

// catchUp reads the lists of all sources. A slow one ends with the time of the
// run, so it delays no other's next run by more than that.
func (s *Scheduler) catchUp(ctx context.Context, service *services.All, every time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, min(every, catchUpTime))
	defer cancel()
	results, err := service.Inbound.CatchUp(ctx, time.Now())
	s.logFault(ctx, "catch up", err)
	for _, r := range results {
		s.logCaughtUp(r)
	}
}

// logCaughtUp says that a list was read where that brought something, that it
// can't be read any more, or that it can again.
func (s *Scheduler) logCaughtUp(r inbound.CaughtUp) {
	log := s.log.With("source", r.Source.ID, "name", r.Source.Name)
	var fault *inbound.PollError
	switch {
	case errors.As(r.Err, &fault) && r.Changed:
		log.Warn("catching up fails; it is tried again regularly", "fault", string(fault.Fault), "err", fault.Err)
	case r.Err != nil && fault == nil && app.CodeOf(r.Err) != app.CodeUnavailable && app.CodeOf(r.Err) != app.CodeNotFound:
		log.Error("record what was caught up on", "err", r.Err)
	case r.Err == nil && r.Changed:
		log.Info("catching up works again", "recorded", r.Recorded)
	case r.Recorded > 0:
		log.Info("caught up", "recorded", r.Recorded, "pages", r.Pages)
	}
}
