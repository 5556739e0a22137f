package bench

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestQuantiles(t *testing.T) {
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(100-i)*time.Millisecond)
	}
	for _, c := range []struct {
		of   []time.Duration
		want quantiles
	}{
		{nil, quantiles{}},
		{[]time.Duration{7 * time.Millisecond}, quantiles{1, 7, 7, 7, 7}},
		{[]time.Duration{3e6, 1e6}, quantiles{2, 1, 3, 3, 3}},
		{hundred, quantiles{100, 50, 95, 99, 100}},
		{[]time.Duration{1500, 2499999}, quantiles{2, 0.002, 2.5, 2.5, 2.5}},
	} {
		if d := cmp.Diff(c.want, quantilesOf(c.of)); d != "" {
			t.Error(d)
		}
	}
}

// The receiver knows what of a run is there, there twice, and missing.
func TestBenchReceiver(t *testing.T) {
	r := &receiver{}
	r.begin(12)
	called := time.Now()
	call := func(body []byte) {
		r.answer(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/shop", bytes.NewReader(body)))
	}
	for _, n := range []int{1, 2, 3, 3} {
		call(body(12, n, called))
	}
	call(body(11, 4, called))
	call([]byte(`{"transactions":[]}`))
	if n := r.arrived(); n != 3 {
		t.Errorf("%d arrived, want 3", n)
	}
	got := result{count: 6, failed: map[int]string{0: "x", 1: "it arrived all the same"}}
	r.report(&got)
	if got.accepted() != 4 || got.duplicates != 1 || got.lost != 2 || len(got.took) != 3 {
		t.Errorf("%+v", got)
	}
	for _, took := range got.took {
		if took <= 0 || took > time.Since(called) || got.last.Before(called) {
			t.Errorf("it took %v, and the last came at %v", took, got.last)
		}
	}
	if r.begin(13); r.arrived() != 0 {
		t.Error("an earlier run is remembered")
	}
}

// A person reads in the tables what was measured.
func TestReportText(t *testing.T) {
	begin := time.Now()
	r := result{count: 2000, failed: map[int]string{0: "HTTP 503"}, first: begin, end: begin.Add(time.Second),
		took: make([]time.Duration, 1000), last: begin.Add(2 * time.Second), handshakes: 64}
	mb := 38.4
	report := &report{Relay: r.passed(0), Baoco: r.passed(time.Second), Errors: map[string]int{},
		Latency: []latency{{99, 99, quantilesOf(r.took)}}}
	report.Memory.IdleMB, report.Memory.SaturationMB, report.Memory.HangingMB = &mb, &mb, &mb
	report.count(r)
	var text bytes.Buffer
	report.print(&text)
	for _, part := range []string{"1,999", "500", "64", "100 % of what the relay does, with 1000 µs of CPU for each delivery",
		"beside 99 hanging webhooks", "38 MB idle", "0 lost, 0 duplicated, 1 calls failed", "1 × HTTP 503"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("the table lacks %q:\n%s", part, &text)
		}
	}
}
