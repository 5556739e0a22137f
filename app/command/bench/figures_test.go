package bench

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"baoco/app/command/terminal"

	"github.com/google/go-cmp/cmp"
)

func TestQuantiles(t *testing.T) {
	var hundred []int64
	for i := range int64(100) {
		hundred = append(hundred, (100-i)*int64(time.Millisecond))
	}
	for _, c := range []struct {
		of   []int64
		want quantiles
	}{
		{nil, quantiles{}},
		{[]int64{int64(7 * time.Millisecond)}, quantiles{1, 7, 7, 7, 7}},
		{[]int64{3e6, 1e6}, quantiles{2, 1, 3, 3, 3}},
		{hundred, quantiles{100, 50, 95, 99, 100}},
		{[]int64{1500, 2499999}, quantiles{2, 0.002, 2.5, 2.5, 2.5}},
	} {
		if d := cmp.Diff(c.want, quantilesOf(c.of)); d != "" {
			t.Error(d)
		}
	}
}

func TestSpread(t *testing.T) {
	if spreadOf(nil) != nil {
		t.Error("a spread of nothing")
	}
	for _, c := range []struct {
		of   []float64
		want spread
	}{
		{[]float64{5}, spread{5, 5, 5}}, {[]float64{3, 1}, spread{2, 1, 3}}, {[]float64{9, 1, 4}, spread{4, 1, 9}},
	} {
		if d := cmp.Diff(c.want, *spreadOf(c.of)); d != "" {
			t.Error(d)
		}
	}
}

// The receiver knows what of a run is there, there twice, and missing.
func TestBenchReceiver(t *testing.T) {
	g := &generator{load: load{run: 12}}
	before := time.Now().UnixNano()
	run, n, stamp, found := readMarks(g.body(345))
	if !found || run != 12 || n != 345 || stamp < before || stamp > time.Now().UnixNano() {
		t.Errorf("read run %d, number %d, stamp %d, %v", run, n, stamp, found)
	}
	if _, _, _, found := readMarks([]byte(`{"transactions":[]}`)); found {
		t.Error("found marks where there are none")
	}

	r := &receiver{runs: map[int][]*shopArrivals{}}
	second := int64(time.Second)
	for n := range 10 {
		r.note(0, 1, n, int64(n+1)*second, 2e6)
	}
	r.note(0, 1, 3, 20*second, 5e6) // again
	r.note(1, 1, 9, 3*second, 4e6)
	if n := r.arrived(1); n != 11 {
		t.Errorf("%d arrived, want 11", n)
	}
	got := r.report(1, 2, calls{count: 12, failed: []int{10, 0}})
	// Of 0 to 11 without 10 and 0, the first shop lacks 11, the second all but 9.
	want := arrivals{unique: 11, duplicates: 1, lost: 1 + 9, last: time.Unix(10, 0), steadyPerS: 8.0 / 7, latency: quantiles{11, 2, 4, 4, 4}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(arrivals{})); d != "" {
		t.Error(d)
	}
	if r.arrived(1) != 0 {
		t.Error("a reported run is remembered")
	}
	if err := (counts{Lost: 1}).verdict(); terminal.ExitCode(err) != terminal.ExitCheck {
		t.Errorf("a loss: %v", err)
	}
	if err := (counts{Duplicates: 1}).verdict(); !errors.Is(err, nil) {
		t.Errorf("a duplicate: %v", err)
	}
}

// A person reads in the tables what was measured.
func TestReportText(t *testing.T) {
	report := newReport(plan{duration: time.Second, rounds: 1, connections: 64})
	begin := time.Now()
	r := result{calls: calls{count: 1, first: begin, end: begin.Add(time.Second)}, arrivals: arrivals{unique: 1, last: begin.Add(time.Second), mostHanging: hangingShops}}
	report.addRounds(map[string][]result{phaseDirect: {r}, phaseRelay: {r}, phaseOne: {r}, phaseThree: {r}})
	report.addLatency(50, 0, r)
	report.addLatency(50, hangingShops, r)
	var text bytes.Buffer
	report.print(&text)
	for _, part := range []string{"relay limit", "3 webhooks", "beside 100 hanging webhooks", "0 lost"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("the table lacks %q:\n%s", part, &text)
		}
	}
}
