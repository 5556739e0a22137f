package inbound

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"baoco/app"
)

// Catching up reads a provider's list of transactions, for the calls that
// never came: SePay gives up on a call after about 33 minutes. The walk:
//
//	the regular work of scheduler, or a command → Service.CatchUp → for every
//	source with an API key, each on its own: Config.Poll reads a page → its
//	elements are recorded as those of a call are, and in the same commit how
//	far the list was read → the next page, until the last
//
// A page is read again until it is recorded, so no transaction is skipped; one that
// a call named is known, so it isn't recorded twice.

// PolledPage is one page of a source's list.
type PolledPage struct {
	Body     []byte // as it came
	Elements []Incoming
	Progress string // where the next page begins; only Config.Poll understands it
	More     bool   // the next page follows at once
}

// PollFault is the class of an error of reading a list.
type PollFault string

const (
	PollKeyRefused  PollFault = "key_refused"  // the provider doesn't take the API key
	PollRateLimited PollFault = "rate_limited" // asked too often
	PollUnreachable PollFault = "unreachable"  // no answer, or one that says that the provider is down
	PollUnreadable  PollFault = "unreadable"   // an answer that is no page of the list
)

// PollFaultOf is the class of an answer with a status of HTTP that isn't 200.
func PollFaultOf(status int) PollFault {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return PollKeyRefused
	case status == http.StatusTooManyRequests:
		return PollRateLimited
	case status == http.StatusRequestTimeout || status >= 500:
		return PollUnreachable
	}
	return PollUnreadable
}

// PollError is why a list couldn't be read. It never holds the API key.
type PollError struct {
	Fault      PollFault
	RetryAfter time.Duration // as the provider asked; 0: it didn't
	Err        error
}

func (e *PollError) Error() string { return fmt.Sprintf("%s: %v", e.Fault, e.Err) }
func (e *PollError) Unwrap() error { return e.Err }

// CaughtUp is the result of reading one source's list.
type CaughtUp struct {
	Source    Source
	Pages     int
	Recording       // the counts of all pages
	Err       error // why the list wasn't read to its end
	Changed   bool  // it failed for a new reason, or works again
}

// catchUps lets only one caller at a time read a list, and remembers when a
// provider may be asked again.
type catchUps struct {
	mu        sync.Mutex
	busy      map[int64]bool
	notBefore map[int64]time.Time
}

// begin reserves a source for the caller. It is false where another caller
// reads the list, or where wait is set and the provider may not be asked yet.
func (c *catchUps) begin(id int64, now time.Time, wait bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy[id] || wait && now.Before(c.notBefore[id]) {
		return false
	}
	c.busy[id] = true
	return true
}

// end releases a source. CatchUp leaves it alone until notBefore.
func (c *catchUps) end(id int64, notBefore time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.busy, id)
	c.notBefore[id] = notBefore
}

// CatchUp reads the list of every source with an API key from where the last
// reading ended, all at the same time, and returns a result for each list that was read.
// When ctx ends, the rest is read the next time. It leaves out a source whose
// list is being read or whose provider asked for more time.
func (s *Service) CatchUp(ctx context.Context, now time.Time) ([]CaughtUp, error) {
	sources, err := s.store.PolledSources(ctx)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var results []CaughtUp
	var running sync.WaitGroup
	for _, source := range sources {
		if !s.catchUps.begin(source.ID, now, true) {
			continue
		}
		running.Go(func() {
			var result CaughtUp
			if err := app.Protected(func() error { result = s.catchUp(ctx, source, now); return nil }); err != nil {
				result = CaughtUp{Source: source, Err: err}
			}
			mu.Lock()
			defer mu.Unlock()
			results = append(results, result)
		})
	}
	running.Wait()
	return results, nil
}

// CatchUpSource reads the list of one source now. CodeConflict where the source
// has no API key, or where its list is being read already.
func (s *Service) CatchUpSource(ctx context.Context, accountID, id int64, now time.Time) (CaughtUp, error) {
	source, err := s.source(ctx, accountID, id)
	switch {
	case err != nil:
		return CaughtUp{}, err
	case source.APIKey == "":
		return CaughtUp{}, app.Conflict("This source has no API key, so there is no list to sync.",
			"Nguồn này chưa có khoá API nên không đồng bộ được.")
	case !s.catchUps.begin(id, now, false):
		return CaughtUp{}, app.Conflict("This source is already syncing.", "Nguồn này đang được đồng bộ.")
	}
	result := s.catchUp(ctx, source, now)
	return result, result.Err
}

// catchUp reads a list to its end. The caller has reserved the source.
func (s *Service) catchUp(ctx context.Context, source Source, now time.Time) (result CaughtUp) {
	result.Source = source
	var notBefore time.Time
	defer func() { s.catchUps.end(source.ID, notBefore) }()
	for more := true; more; result.Pages++ {
		page, err := s.readPage(ctx, source, now)
		if err != nil {
			fault, known := errors.AsType[*PollError](err)
			if !known || stopped(ctx, result.Pages) {
				return result
			}
			notBefore = now.Add(fault.RetryAfter)
			result.Changed, err = s.notePollFault(ctx, source.ID, fault.Fault)
			result.Err = errors.Join(fault, err)
			return result
		}
		recording, err := s.recordPage(ctx, source, page, now)
		if err != nil {
			if !stopped(ctx, result.Pages) {
				result.Err = err
			}
			return result
		}
		result.add(recording)
		source.Progress, more = page.Progress, page.More
	}
	result.Changed = source.PollError != ""
	return result
}

// stopped reports whether reading ended without a fault: the service stops, or the
// time is up after part of the list was read. The rest is read the next time.
func stopped(ctx context.Context, pages int) bool {
	return errors.Is(ctx.Err(), context.Canceled) || ctx.Err() != nil && pages > 0
}

// readPage reads the next page. A panic of the reader is a page that can't be
// read.
func (s *Service) readPage(ctx context.Context, source Source, now time.Time) (page PolledPage, err error) {
	err = app.Protected(func() (err error) { page, err = s.config.Poll(ctx, source, source.Progress, now); return err })
	if _, panicked := errors.AsType[*app.PanicError](err); panicked {
		err = &PollError{Fault: PollUnreadable, Err: err}
	}
	return page, err
}

// recordPage records a page. Until a list was read to its end once, transactions from
// before the source had an API key are history, and make no deliveries.
func (s *Service) recordPage(ctx context.Context, source Source, page PolledPage, now time.Time) (Recording, error) {
	call := Call{
		AccountID: source.AccountID, Source: source, Channel: app.ChannelPoll, Body: page.Body, ReceivedAt: now, Elements: page.Elements,
	}
	if source.PolledAt.IsZero() {
		call.NoDeliveriesBefore = source.ListFrom
	}
	s.normalize(&call)
	recording, err := s.store.RecordPage(ctx, call, page.Progress, !page.More, s.zone)
	if err != nil {
		return recording, err
	}
	s.counted(call.Source, recording)
	return recording, nil
}

// noteTimeout is how long storing a fault may take after the time for reading is
// up.
const noteTimeout = 5 * time.Second

func (s *Service) notePollFault(ctx context.Context, sourceID int64, fault PollFault) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTimeout)
	defer cancel()
	return s.store.NotePollFault(ctx, sourceID, fault)
}

func (c *CaughtUp) add(r Recording) {
	c.Recorded += r.Recorded
	c.Duplicates += r.Duplicates
	c.Unassigned += r.Unassigned
	c.Conflicts += r.Conflicts
	c.Rejected += r.Rejected
	c.Deliveries += r.Deliveries
}
