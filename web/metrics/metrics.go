// Package metrics counts what the server does, and shows the figures to
// Prometheus.
package metrics

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"sync"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/services"
)

// mostSources bounds the series: the calls of sources beyond these are counted
// together, under the source "other".
const mostSources = 200

// Metrics counts. It is safe for concurrent use.
type Metrics struct {
	version string
	started time.Time

	// One lock guards all. It is on the way of every transaction, so it is held for
	// microseconds only.
	mu           sync.Mutex
	attempts     map[outcome]uint64
	calls        map[ofSource]uint64
	transactions map[ofSource]uint64
	requests     map[ofRequest]uint64
	commitTime   histogram
	commitSize   histogram
	sources      map[int64]bool // that have series of their own
}

// outcome names a counter of attempts.
type outcome string

func (o outcome) labels() string { return fmt.Sprintf("outcome=%q", string(o)) }

// ofSource names a counter of a source; the zero source is none.
type ofSource struct {
	id      int64
	kind    app.Provider
	outcome string
}

// others is the id of all sources beyond mostSources.
const others = -1

func (s ofSource) labels() string {
	kind, id := string(s.kind), strconv.FormatInt(s.id, 10)
	switch s.id {
	case 0:
		kind, id = "unknown", "unknown"
	case others:
		kind, id = "other", "other"
	}
	return fmt.Sprintf("outcome=%q,provider=%q,source=%q", s.outcome, kind, id)
}

// ofRequest names a counter of requests; class is the first digit of the status.
type ofRequest struct {
	handler string
	class   int
}

func (r ofRequest) labels() string { return fmt.Sprintf(`code="%dxx",handler=%q`, r.class, r.handler) }

// New makes the counters of a program of that version, which starts now.
func New(version string, now time.Time) *Metrics {
	return &Metrics{
		version: version, started: now,
		attempts: map[outcome]uint64{}, calls: map[ofSource]uint64{}, transactions: map[ofSource]uint64{}, requests: map[ofRequest]uint64{},
		commitTime: newHistogram(0.0005, 14), commitSize: newHistogram(1, 10),
		sources: map[int64]bool{},
	}
}

// Handler shows the figures, with those that service has at that moment, and those
// of Go and of the process.
func (m *Metrics) Handler(service *services.All) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var p page
		m.write(&p)
		p.state(r.Context(), service, time.Now())
		p.process(m.started)
		p.answer(w)
	})
}

// write shows what was counted.
func (m *Metrics) write(p *page) {
	p.info("baoco_build_info", "The version of baoco; always 1.", m.version)
	m.mu.Lock()
	p.histogram("baoco_commit_duration_seconds", "How long commits took until they were on disk.", m.commitTime)
	p.histogram("baoco_commit_batch_size", "How many callers one commit served.", m.commitSize)
	// A thousand series take milliseconds to write, which no commit should wait for.
	attempts, calls, transactions, requests := maps.Clone(m.attempts), maps.Clone(m.calls), maps.Clone(m.transactions), maps.Clone(m.requests)
	m.mu.Unlock()
	counters(p, "baoco_attempts_total", "Attempts of deliveries, by outcome: delivered, or the class of the error.", attempts)
	counters(p, "baoco_calls_total", "Calls of providers, by source and outcome. A refused call may name no source.", calls)
	counters(p, "baoco_transactions_total", "Transactions of calls, lists and files, and typed ones, by what became of them. Those of files and typed ones are of an unknown source.", transactions)
	counters(p, "baoco_http_requests_total", "HTTP requests that were answered, by what they were for and the class of the status.", requests)
}

// Attempted counts an attempt that was recorded.
func (m *Metrics) Attempted(r delivery.Result) {
	became := outcome(r.Error)
	if r.OK() {
		became = "delivered"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.attempts[became]++
}

// Recorded counts what became of transactions. The source is zero where none named them.
func (m *Metrics) Recorded(source inbound.Source, r inbound.Recording) {
	m.mu.Lock()
	defer m.mu.Unlock()
	count := func(outcome inbound.Outcome, n int) {
		if n > 0 {
			m.transactions[m.of(source, string(outcome))] += uint64(n)
		}
	}
	count(inbound.OutcomeRecorded, r.Recorded)
	count(inbound.OutcomeDuplicate, r.Duplicates)
	count(inbound.OutcomeUnassigned, r.Unassigned)
	count(inbound.OutcomeConflict, r.Conflicts)
	count(inbound.OutcomeRejected, r.Rejected)
	count(inbound.OutcomeMayBeRepeat, r.MayBeRepeats)
}

// Called counts a provider's call. err is that of its answer. The source is zero
// where the call named none.
func (m *Metrics) Called(source inbound.Source, err error) {
	outcome := "accepted"
	if err != nil {
		outcome = "refused"
		if code := app.CodeOf(err); code == app.CodeInternal || code == app.CodeUnavailable {
			outcome = "failed"
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls[m.of(source, outcome)]++
}

// of names the counter of an outcome of a source. The lock is held.
func (m *Metrics) of(source inbound.Source, outcome string) ofSource {
	if source.ID != 0 && !m.sources[source.ID] {
		if len(m.sources) >= mostSources {
			return ofSource{id: others, outcome: outcome}
		}
		m.sources[source.ID] = true
	}
	return ofSource{source.ID, source.Provider, outcome}
}

// Requested counts an answered request. handler is one of few names.
func (m *Metrics) Requested(handler string, status int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[ofRequest{handler, status / 100}]++
}

// Committed counts a commit.
func (m *Metrics) Committed(took time.Duration, callers int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.commitTime.observe(took.Seconds())
	m.commitSize.observe(float64(callers))
}
