package scheduler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/provider"
	"baoco/app/services"
	"baoco/app/target"
	"baoco/scheduler/courier"
)

// This file is the regular catching up: the job of gocron, at the start and
// then every interval. The walk of a page:
//
//	catchUp → CatchUp in app/inbound → Poller.Poll: the provider's List says what
//	to ask for, Poll asks for it, not too often, and List reads the answer →
//	app/inbound records the page

// catchUpTime is how long one run may read lists. What is left is read in the
// next run, from where this one stopped.
const catchUpTime = 2 * time.Minute

// catchUp reads the lists of all sources. A slow source is cut off at the end of the
// run, so it delays the next run by no more than that.
func (s *Scheduler) catchUp(ctx context.Context, service *services.All, every time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, min(every, catchUpTime))
	defer cancel()
	results, err := service.Inbound.CatchUp(ctx, time.Now())
	s.logFault(ctx, "catch up", err)
	for _, r := range results {
		s.logCaughtUp(r)
	}
}

// logCaughtUp logs that a list brought new transactions, that it can't be read any
// more, or that it can be read again.
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

const (
	pollTime    = 20 * time.Second // for one request, its body included
	maxPageBody = 4 << 20

	maxRetryAfter = 24 * time.Hour // that a provider may ask for
)

// Poller asks providers for the pages of their lists.
type Poller struct {
	client    *http.Client
	userAgent string
	zone      *time.Location
	pacers    map[*provider.List]*pacer
}

// NewPoller makes a poller that connects where policy allows and reads dates in
// zone. A transport that isn't nil stands in for the network. No proxy is used
// and no redirect followed: they would carry the API key elsewhere. No two
// requests share a connection: one account's list is never another's.
func NewPoller(policy *target.Policy, zone *time.Location, version string, transport http.RoundTripper) *Poller {
	if transport == nil {
		transport = courier.NewNetwork(policy, nil, nil)
	}
	p := &Poller{
		client: &http.Client{
			Transport: transport, Timeout: pollTime,
			CheckRedirect: courier.NoRedirect,
		},
		userAgent: delivery.UserAgent(version), zone: zone, pacers: map[*provider.List]*pacer{},
	}
	for _, kind := range provider.Kinds {
		if kind.List != nil {
			p.pacers[kind.List] = &pacer{every: kind.List.Pace}
		}
	}
	return p
}

// Poll reads the next page of a source's list, as services.Config says.
func (p *Poller) Poll(ctx context.Context, source inbound.Source, progress string, now time.Time) (inbound.PolledPage, error) {
	kind, _ := provider.Find(source.Provider)
	if kind.List == nil {
		return inbound.PolledPage{}, unreadable("source kind %s has no list that is known", source.Provider)
	}
	question := kind.List.Ask(source, progress, now, p.zone)
	body, err := p.get(ctx, kind.List, source, question.Query, now)
	if err != nil {
		if question.Otherwise != "" && refusesRequest(err) {
			return inbound.PolledPage{Progress: question.Otherwise, More: true}, nil
		}
		return inbound.PolledPage{}, err
	}
	return question.Read(body)
}

// statusError is an answer of a status that isn't 200.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("the provider answered %d", int(e)) }

// refusesRequest reports whether the provider accepts the key but not the request.
func refusesRequest(err error) bool {
	var status statusError
	return errors.As(err, &status) &&
		(status == http.StatusBadRequest || status == http.StatusNotFound || status == http.StatusUnprocessableEntity)
}

func unreadable(format string, args ...any) *inbound.PollError {
	return &inbound.PollError{Fault: inbound.PollUnreadable, Err: fmt.Errorf(format, args...)}
}

// get asks for a page of a source's list, when the pacer allows it. The API key is in
// the Authorization header and nowhere else.
func (p *Poller) get(ctx context.Context, list *provider.List, source inbound.Source, query url.Values, now time.Time) ([]byte, error) {
	base := strings.TrimSuffix(cmp.Or(source.APIURL, list.Base), path.Dir(list.Path)) // with or without the version
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+list.Path+"?"+query.Encode(), nil)
	if err != nil {
		return nil, unreadable("the address of the API: %w", err)
	}
	request.Header.Set("Authorization", list.Scheme+" "+source.APIKey)
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", p.userAgent)
	if err := p.pacers[list].wait(ctx); err != nil {
		return nil, err
	}
	response, err := p.client.Do(request)
	if err != nil {
		return nil, unreachable(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, faultOf(response, now)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxPageBody+1))
	if err != nil {
		return nil, unreachable(err)
	}
	if len(body) > maxPageBody {
		return nil, unreadable("the answer is larger than %d MiB", maxPageBody>>20)
	}
	return body, nil
}

func unreachable(err error) error {
	return &inbound.PollError{Fault: inbound.PollUnreachable, Err: err}
}

func faultOf(response *http.Response, now time.Time) error {
	fault := &inbound.PollError{Fault: inbound.PollFaultOf(response.StatusCode), Err: statusError(response.StatusCode)}
	if fault.Fault == inbound.PollRateLimited || fault.Fault == inbound.PollUnreachable {
		fault.RetryAfter = retryAfter(response.Header, now)
	}
	return fault
}

// retryAfter reads the header of that name, which holds seconds or a date
// (RFC 9110, 10.2.3).
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := h.Get("Retry-After")
	var wait time.Duration
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
		wait = time.Duration(min(seconds, int64(maxRetryAfter/time.Second))) * time.Second
	} else if date, err := http.ParseTime(value); err == nil {
		wait = date.Sub(now)
	}
	return min(max(wait, 0), maxRetryAfter)
}

// pacer spaces out the requests to a provider, whatever source they are for.
type pacer struct {
	every time.Duration // from the beginning of a request to that of the next, at least
	mu    sync.Mutex
	next  time.Time
}

func (p *pacer) wait(ctx context.Context) error {
	p.mu.Lock()
	now := time.Now()
	at := p.next
	if at.Before(now) {
		at = now
	}
	p.next = at.Add(p.every)
	p.mu.Unlock()
	if !at.After(now) {
		return nil
	}
	timer := time.NewTimer(at.Sub(now))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
