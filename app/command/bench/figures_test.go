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
	g := &generator{benchLoad: benchLoad{Run: 12, Account: benchAccountNumber}}
	before := time.Now().UnixNano()
	run, n, stamp, found := readBenchMarks(g.body(345))
	if !found || run != 12 || n != 345 || stamp < before || stamp > time.Now().UnixNano() {
		t.Errorf("read run %d, number %d, stamp %d, %v", run, n, stamp, found)
	}
	if _, _, _, found := readBenchMarks([]byte(`{"transactions":[]}`)); found {
		t.Error("found marks where there are none")
	}

	r := &benchReceiver{runs: map[int][]*shopArrivals{}, shops: 2}
	second := int64(time.Second)
	for n := range 10 {
		r.note(0, 1, n, int64(n+1)*second, 2e6)
	}
	r.note(0, 1, 3, 20*second, 5e6) // again
	r.note(1, 1, 9, 3*second, 4e6)
	got := r.answer(benchQuestion{Run: 1, Report: true, Shops: 2, Calls: 12, Failed: []int{10, 0}})
	// Of 0 to 11 without 10 and 0, the first shop lacks 11, the second all but 9.
	want := benchArrived{Unique: 11, Duplicates: 1, Lost: 1 + 9, LastNS: 10 * second, SteadyPerS: 8.0 / 7, Latency: quantiles{11, 2, 4, 4, 4}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if again := r.answer(benchQuestion{Run: 1}); again.Unique != 0 {
		t.Errorf("a reported run is remembered: %+v", again)
	}
	if err := (benchCounts{Lost: 1}).verdict(); terminal.ExitCode(err) != terminal.ExitCheck {
		t.Errorf("a loss: %v", err)
	}
	if err := (benchCounts{Duplicates: 1}).verdict(); !errors.Is(err, nil) {
		t.Errorf("a duplicate: %v", err)
	}
}

// A person reads in the tables what was measured.
func TestReportText(t *testing.T) {
	report := newBenchReport(benchPlan{duration: time.Second, rounds: 1, connections: 64})
	run := benchRun{benchCalls: benchCalls{Calls: 1, FirstNS: 1, EndNS: 1e9}, benchArrived: benchArrived{Unique: 1, LastNS: 1e9, MostHanging: hangingWebhooks}}
	report.addRounds(map[string][]benchRun{phaseDirect: {run}, phaseRelay: {run}, phaseOne: {run}, phaseThree: {run}})
	report.addLatency(50, 0, run)
	report.addLatency(50, hangingWebhooks, run)
	var text bytes.Buffer
	report.print(&text)
	for _, part := range []string{"relay limit", "3 webhooks", "beside 100 hanging webhooks", "0 lost"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("the table lacks %q:\n%s", part, &text)
		}
	}
}
