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
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// mostSources bounds the series: the calls of sources beyond these are counted
// together, under the source "other".
const mostSources = 200

// Metrics counts. It is safe for concurrent use. What counts is called on the way
// of every transaction, so the counter of every label is looked up once.
type Metrics struct {
	registry *prometheus.Registry

	attempts     *prometheus.CounterVec
	calls        *prometheus.CounterVec
	transactions *prometheus.CounterVec
	requests     *prometheus.CounterVec
	commitTime   prometheus.Histogram
	commitSize   prometheus.Histogram

	mu      sync.Mutex
	sources map[int64]string // the label of each source
	known   sync.Map         // counterKey → prometheus.Counter
}

// counterKey names a counter by its vector and its labels.
type counterKey struct {
	vec     *prometheus.CounterVec
	a, b, c string
}

// New makes the counters of a program of that version. The figures of the process
// and of Go come with them.
func New(version string) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &Metrics{
		registry:     prometheus.NewRegistry(),
		attempts:     counter("baoco_attempts_total", "Attempts of deliveries, by outcome: delivered, or the class of the error.", "outcome"),
		calls:        counter("baoco_calls_total", "Calls of providers, by source and outcome. A refused call may name no source.", "provider", "source", "outcome"),
		transactions: counter("baoco_transactions_total", "Transactions that sources named in calls, lists and files, by what became of them.", "provider", "source", "outcome"),
		requests:     counter("baoco_http_requests_total", "HTTP requests that were answered, by what they were for and the class of the status.", "handler", "code"),
		commitTime: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "baoco_commit_duration_seconds", Help: "How long commits took until they were on disk.", Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14),
		}),
		commitSize: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "baoco_commit_batch_size", Help: "How many callers one commit served.", Buckets: prometheus.ExponentialBuckets(1, 2, 10),
		}),
		sources: map[int64]string{},
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "baoco_build_info", Help: "The version of baoco; always 1.", ConstLabels: prometheus.Labels{"version": version}})
	build.Set(1)
	m.registry.MustRegister(m.attempts, m.calls, m.transactions, m.requests, m.commitTime, m.commitSize, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler shows the figures, with those that service has at that moment.
func (m *Metrics) Handler(service *app.Service) http.Handler {
	m.registry.MustRegister(&state{service})
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second})
}

// add counts one under labels.
func (m *Metrics) add(vec *prometheus.CounterVec, n int, labels ...string) {
	if n == 0 {
		return
	}
	key := counterKey{vec: vec, a: labels[0]}
	if len(labels) > 1 {
		key.b = labels[1]
	}
	if len(labels) > 2 {
		key.c = labels[2]
	}
	c, found := m.known.Load(key)
	if !found {
		c, _ = m.known.LoadOrStore(key, vec.WithLabelValues(labels...))
	}
	c.(prometheus.Counter).Add(float64(n))
}

// Attempted counts an attempt that was recorded.
func (m *Metrics) Attempted(r app.Result) {
	outcome := string(r.Error)
	if r.OK() {
		outcome = "delivered"
	}
	m.add(m.attempts, 1, outcome)
}

// Recorded counts what became of the transactions that a source named.
func (m *Metrics) Recorded(source app.Source, r app.Recording) {
	kind, id := m.labels(source)
	m.add(m.transactions, r.Recorded, kind, id, string(app.OutcomeRecorded))
	m.add(m.transactions, r.Duplicates, kind, id, string(app.OutcomeDuplicate))
	m.add(m.transactions, r.Unassigned, kind, id, string(app.OutcomeUnassigned))
	m.add(m.transactions, r.Conflicts, kind, id, string(app.OutcomeConflict))
	m.add(m.transactions, r.Rejected, kind, id, string(app.OutcomeRejected))
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
	kind, id := m.labels(source)
	m.add(m.calls, 1, kind, id, outcome)
}

// Requested counts an answered request. handler is one of few names.
func (m *Metrics) Requested(handler string, status int) {
	m.add(m.requests, 1, handler, strconv.Itoa(status/100)+"xx")
}

// Committed counts a commit.
func (m *Metrics) Committed(took time.Duration, callers int) {
	m.commitTime.Observe(took.Seconds())
	m.commitSize.Observe(float64(callers))
}

// labels are those of a source: its kind and its id.
func (m *Metrics) labels(source app.Source) (kind, id string) {
	if source.ID == 0 {
		return "unknown", "unknown"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	id, found := m.sources[source.ID]
	if !found {
		if len(m.sources) >= mostSources {
			return "other", "other"
		}
		id = strconv.FormatInt(source.ID, 10)
		m.sources[source.ID] = id
	}
	return string(source.Provider), id
}
