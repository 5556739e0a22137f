// Package metrics counts the attempts, calls, requests and commits of the server, and writes
// the figures for Prometheus, with Prometheus' own library.
package metrics

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/services"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// mostSources bounds the series: further sources are counted together, under the source
// "other".
const mostSources = 200

// Metrics has the counters of the server. It is safe for concurrent use.
type Metrics struct {
	figures                                 *prometheus.Registry
	attempts, calls, transactions, requests *prometheus.CounterVec
	commitTime, commitSize                  prometheus.Histogram

	mu      sync.Mutex
	sources map[int64]bool // the sources that have series of their own
}

// New makes the counters of a server of a version.
func New(version string) *Metrics {
	p := newPage(version)
	p.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return promauto.With(p).NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, first float64, n int) prometheus.Histogram {
		buckets := prometheus.ExponentialBuckets(first, 2, n)
		return promauto.With(p).NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	}
	return &Metrics{
		figures:    p.Registry,
		commitTime: histogram("baoco_commit_duration_seconds", "How long commits took until they were on disk.", 0.0005, 14),
		commitSize: histogram("baoco_commit_batch_size", "How many callers one commit served.", 1, 10),
		attempts:   counters("baoco_attempts_total", "Attempts of deliveries, by outcome: delivered, or the class of the error.", "outcome"),
		calls: counters("baoco_calls_total", "Calls of providers, by source and outcome. A refused call may name no source.",
			"outcome", "provider", "source"),
		transactions: counters("baoco_transactions_total", "Transactions of calls, lists and files, and typed ones, by what became of them. "+
			"Those of files and typed ones are of an unknown source.", "outcome", "provider", "source"),
		requests: counters("baoco_http_requests_total", "HTTP requests that were answered, by what they were for and the class of the status.",
			"code", "handler"),
		sources: map[int64]bool{},
	}
}

// Handler answers with the figures: the counters, the figures of Go and of the process, and
// those that service has at that moment.
func (m *Metrics) Handler(service *services.All) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := page{prometheus.NewRegistry()}
		p.state(r.Context(), service, time.Now())
		p.answer(w, r, m.figures)
	})
}

// page has the figures of one answer.
type page struct{ *prometheus.Registry }

func newPage(version string) page {
	p := page{prometheus.NewRegistry()}
	p.gauges("baoco_build_info", "The version of baoco; always 1.", "version").WithLabelValues(version).Set(1)
	return p
}

func (p page) gauge(name, help string, value float64) {
	p.gauges(name, help).WithLabelValues().Set(value)
}

func (p page) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return promauto.With(p).NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
}

// answer writes the figures of others, and those of the page.
func (p page) answer(w http.ResponseWriter, r *http.Request, others ...prometheus.Gatherer) {
	w.Header().Set("Cache-Control", "no-store")
	promhttp.HandlerFor(append(prometheus.Gatherers(others), p), promhttp.HandlerOpts{DisableCompression: true}).ServeHTTP(w, r)
}

// Attempted counts an attempt that was recorded.
func (m *Metrics) Attempted(r delivery.Result) {
	became := string(r.Error)
	if r.OK() {
		became = "delivered"
	}
	m.attempts.WithLabelValues(became).Inc()
}

// Recorded counts transactions by outcome. The source is zero if they came from no source.
func (m *Metrics) Recorded(source inbound.Source, r inbound.Recording) {
	count := func(outcome inbound.Outcome, n int) {
		if n > 0 {
			m.of(m.transactions, source, string(outcome)).Add(float64(n))
		}
	}
	count(inbound.OutcomeRecorded, r.Recorded)
	count(inbound.OutcomeDuplicate, r.Duplicates)
	count(inbound.OutcomeUnassigned, r.Unassigned)
	count(inbound.OutcomeConflict, r.Conflicts)
	count(inbound.OutcomeRejected, r.Rejected)
	count(inbound.OutcomeMayBeRepeat, r.MayBeRepeats)
}

// Called counts a provider's call. err is the error of its answer. The source is zero if the
// call named none.
func (m *Metrics) Called(source inbound.Source, err error) {
	outcome := "accepted"
	if err != nil {
		outcome = "refused"
		if code := app.CodeOf(err); code == app.CodeInternal || code == app.CodeUnavailable {
			outcome = "failed"
		}
	}
	m.of(m.calls, source, outcome).Inc()
}

// of returns the counter of an outcome of a source. The zero source is counted as unknown.
func (m *Metrics) of(counters *prometheus.CounterVec, source inbound.Source, outcome string) prometheus.Counter {
	if source.ID == 0 {
		return counters.WithLabelValues(outcome, "unknown", "unknown")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.sources[source.ID] {
		if len(m.sources) >= mostSources {
			return counters.WithLabelValues(outcome, "other", "other")
		}
		m.sources[source.ID] = true
	}
	return counters.WithLabelValues(outcome, string(source.Provider), strconv.FormatInt(source.ID, 10))
}

// Requested counts an answered request. handler must be one of a few names.
func (m *Metrics) Requested(handler string, status int) {
	m.requests.WithLabelValues(strconv.Itoa(status/100)+"xx", handler).Inc()
}

// Committed counts a commit.
func (m *Metrics) Committed(took time.Duration, callers int) {
	m.commitTime.Observe(took.Seconds())
	m.commitSize.Observe(float64(callers))
}
