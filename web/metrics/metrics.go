// Package metrics counts what the server does, and shows the figures to
// Prometheus.
package metrics

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"baoco/app"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"
)

// mostSources bounds the series: the calls of sources beyond these are counted
// together, under the source "other".
const mostSources = 200

// Metrics counts. It is safe for concurrent use.
type Metrics struct {
	registry     *prometheus.Registry
	attempts     counters[string]
	calls        counters[ofSource]
	transactions counters[ofSource]
	requests     counters[ofRequest]
	commitTime   prometheus.Histogram
	commitSize   prometheus.Histogram

	mu      sync.Mutex
	sources map[int64]bool // that have series of their own
}

// ofSource names a counter of a source; the zero source is none.
type ofSource struct {
	id      int64
	kind    app.Provider
	outcome string
}

// ofRequest names a counter of requests; class is the first digit of the status.
type ofRequest struct {
	handler string
	class   int
}

// counters are the counters of one figure. This is on the way of every transaction,
// and to find a counter by its labels in the library takes several times as long.
type counters[K comparable] struct {
	vec    *prometheus.CounterVec
	labels func(K) []string
	mu     sync.RWMutex
	known  map[K]prometheus.Counter
}

func (c *counters[K]) add(key K, n int) {
	if n == 0 {
		return
	}
	c.mu.RLock()
	counter := c.known[key]
	c.mu.RUnlock()
	if counter == nil {
		counter = c.vec.WithLabelValues(c.labels(key)...)
		c.mu.Lock()
		c.known[key] = counter
		c.mu.Unlock()
	}
	counter.Add(float64(n))
}

// register makes the counters of a figure.
func register[K comparable](r *prometheus.Registry, c *counters[K], name, help string, labels func(K) []string, names ...string) {
	c.vec = prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, names)
	c.labels, c.known = labels, map[K]prometheus.Counter{}
	r.MustRegister(c.vec)
}

// New makes the counters of a program of that version. The figures of the process
// and of Go come with them.
func New(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		commitTime: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "baoco_commit_duration_seconds", Help: "How long commits took until they were on disk.", Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14),
		}),
		commitSize: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "baoco_commit_batch_size", Help: "How many callers one commit served.", Buckets: prometheus.ExponentialBuckets(1, 2, 10),
		}),
		sources: map[int64]bool{},
	}
	register(m.registry, &m.attempts, "baoco_attempts_total", "Attempts of deliveries, by outcome: delivered, or the class of the error.",
		func(outcome string) []string { return []string{outcome} }, "outcome")
	register(m.registry, &m.calls, "baoco_calls_total", "Calls of providers, by source and outcome. A refused call may name no source.", m.labels, "provider", "source", "outcome")
	register(m.registry, &m.transactions, "baoco_transactions_total", "Transactions that sources named in calls, lists and files, by what became of them.", m.labels, "provider", "source", "outcome")
	register(m.registry, &m.requests, "baoco_http_requests_total", "HTTP requests that were answered, by what they were for and the class of the status.",
		func(r ofRequest) []string { return []string{r.handler, strconv.Itoa(r.class) + "xx"} }, "handler", "code")
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "baoco_build_info", Help: "The version of baoco; always 1.", ConstLabels: prometheus.Labels{"version": version}})
	build.Set(1)
	m.registry.MustRegister(m.commitTime, m.commitSize, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler shows the figures, with those that service has at that moment.
func (m *Metrics) Handler(service *app.Service) http.Handler {
	m.registry.MustRegister(&state{service})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		format := expfmt.NewFormat(expfmt.TypeTextPlain) // every version of Prometheus reads it
		w.Header().Set("Content-Type", string(format))
		w.Header().Set("Cache-Control", "no-store")
		figures, err := m.registry.Gather()
		if err != nil && len(figures) == 0 {
			http.Error(w, "the figures can't be read", http.StatusInternalServerError)
			return
		}
		to := expfmt.NewEncoder(w, format)
		for _, family := range figures {
			if to.Encode(family) != nil {
				return // the client has gone
			}
		}
	})
}

// Attempted counts an attempt that was recorded.
func (m *Metrics) Attempted(r app.Result) {
	outcome := string(r.Error)
	if r.OK() {
		outcome = "delivered"
	}
	m.attempts.add(outcome, 1)
}

// Recorded counts what became of the transactions that a source named.
func (m *Metrics) Recorded(source app.Source, r app.Recording) {
	key := ofSource{id: source.ID, kind: source.Provider}
	count := func(outcome app.Outcome, n int) {
		key.outcome = string(outcome)
		m.transactions.add(key, n)
	}
	count(app.OutcomeRecorded, r.Recorded)
	count(app.OutcomeDuplicate, r.Duplicates)
	count(app.OutcomeUnassigned, r.Unassigned)
	count(app.OutcomeConflict, r.Conflicts)
	count(app.OutcomeRejected, r.Rejected)
}

// Called counts a provider's call. err is that of its answer. The source is zero
// where the call named none.
func (m *Metrics) Called(source app.Source, err error) {
	outcome := "accepted"
	if err != nil {
		outcome = "refused"
		if code := app.CodeOf(err); code == app.CodeInternal || code == app.CodeUnavailable {
			outcome = "failed"
		}
	}
	m.calls.add(ofSource{source.ID, source.Provider, outcome}, 1)
}

// Requested counts an answered request. handler is one of few names.
func (m *Metrics) Requested(handler string, status int) {
	m.requests.add(ofRequest{handler, status / 100}, 1)
}

// Committed counts a commit.
func (m *Metrics) Committed(took time.Duration, callers int) {
	m.commitTime.Observe(took.Seconds())
	m.commitSize.Observe(float64(callers))
}

// labels are those of a source and an outcome.
func (m *Metrics) labels(of ofSource) []string {
	if of.id == 0 {
		return []string{"unknown", "unknown", of.outcome}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.sources[of.id] && len(m.sources) >= mostSources {
		return []string{"other", "other", of.outcome}
	}
	m.sources[of.id] = true
	return []string{string(of.kind), strconv.FormatInt(of.id, 10), of.outcome}
}
