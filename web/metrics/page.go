package metrics

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"slices"
)

// page is a text in the format of Prometheus: for each figure what it is, its type
// and its series. Values of labels are ASCII without quotes or control characters.
type page struct{ bytes.Buffer }

func (p *page) answer(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8") // every version of Prometheus reads it
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(p.Bytes())
}

func (p *page) head(name, kind, help string) {
	fmt.Fprintf(p, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func (p *page) gauge(name, help string, value float64) {
	p.head(name, "gauge", help)
	fmt.Fprintf(p, "%s %v\n", name, value)
}

func (p *page) counter(name, help string, value float64) {
	p.head(name, "counter", help)
	fmt.Fprintf(p, "%s %v\n", name, value)
}

func (p *page) info(name, help, version string) {
	p.head(name, "gauge", help)
	fmt.Fprintf(p, "%s{version=%q} 1\n", name, version)
}

// counters writes those of one figure, in the order of their labels.
func counters[K interface {
	comparable
	labels() string
}](p *page, name, help string, counted map[K]uint64) {
	if len(counted) == 0 {
		return
	}
	p.head(name, "counter", help)
	var series []string
	for of, n := range counted {
		series = append(series, fmt.Sprintf("%s{%s} %d\n", name, of.labels(), n))
	}
	slices.Sort(series)
	for _, line := range series {
		p.WriteString(line)
	}
}

// histogram counts values by the first of its bounds that they are not above.
type histogram struct {
	bounds []float64 // ascending; the last is infinite
	counts []uint64
	sum    float64
}

// newHistogram makes one with n finite bounds, each twice the one before.
func newHistogram(first float64, n int) histogram {
	h := histogram{counts: make([]uint64, n+1)}
	for i := range n {
		h.bounds = append(h.bounds, math.Ldexp(first, i))
	}
	h.bounds = append(h.bounds, math.Inf(1))
	return h
}

func (h *histogram) observe(value float64) {
	i, _ := slices.BinarySearch(h.bounds, value)
	h.counts[i]++
	h.sum += value
}

func (p *page) histogram(name, help string, h histogram) {
	p.head(name, "histogram", help)
	n := uint64(0)
	for i, bound := range h.bounds {
		n += h.counts[i]
		fmt.Fprintf(p, "%s_bucket{le=\"%v\"} %d\n", name, bound, n)
	}
	fmt.Fprintf(p, "%s_sum %v\n%s_count %d\n", name, h.sum, name, n)
}
