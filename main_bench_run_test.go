package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// runBenchIn runs baoco bench in dir as a process and reads what it prints.
func runBenchIn(t *testing.T, dir string, report any, args ...string) {
	t.Helper()
	cmd := program(dir, append([]string{"bench", "--quick", "--duration", "150ms", "-o", "json"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("baoco bench: %v\n%s%s", err, out, &stderr)
	}
	must(t, json.Unmarshal(out, report))
	if !strings.Contains(stderr.String(), "saturation, round 1") && !strings.Contains(stderr.String(), "ingest, round 1") {
		t.Errorf("no progress on stderr: %s", &stderr)
	}
}

// The whole of bench, as short as it can be: everything is measured, nothing
// is lost, nothing is left.
func TestBench(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var report benchReport
	runBenchIn(t, dir, &report)
	if report.Lost != 0 || report.FailedCalls != 0 || report.Duplicates != 0 {
		t.Errorf("%d lost, %d duplicates, %d failed calls: %v", report.Lost, report.Duplicates, report.FailedCalls, report.Errors)
	}
	if len(report.Saturation) != 4 || len(report.Latency) != 4 {
		t.Fatalf("%d phases at saturation and %d of latency", len(report.Saturation), len(report.Latency))
	}
	for _, s := range report.Saturation {
		if s.Transactions == 0 || s.AcceptedPerS.Median <= 0 || s.DeliveredPerS.Median <= 0 {
			t.Errorf("%+v", s)
		}
		if s.Webhooks > 0 && (s.DiskPerTransaction == nil || s.DiskPerTransaction.Median < 100 || s.CPUMicrosPerTransaction == nil) {
			t.Errorf("%s: disk %v, CPU %v for each transaction", s.Name, s.DiskPerTransaction, s.CPUMicrosPerTransaction)
		}
	}
	for _, l := range report.Latency {
		if l.Count == 0 || l.P50 <= 0 || l.P50 > l.P99 || l.P99 > l.Max || (l.HangingWebhooks > 0) != (l.HangingRequests > 0) {
			t.Errorf("%+v", l)
		}
	}
	if report.RelayRatio == nil || report.RelayRatio.Median <= 0 || report.Sync.P50 <= 0 || report.Machine.CPUs == 0 {
		t.Errorf("ratio %v, fsync %+v, machine %+v", report.RelayRatio, report.Sync, report.Machine)
	}
	if _, err := os.Stat("/proc/self/stat"); err == nil && (report.Memory.IdleMB == nil || report.Memory.SaturationMB == nil || report.Memory.HangingMB == nil) {
		t.Errorf("memory %+v", report.Memory)
	}
	if s := report.OthersCPU; s != nil && (s.Min < 0 || s.Max > 1) {
		t.Errorf("others took %+v of the machine", s)
	}
	left, err := os.ReadDir(dir)
	must(t, err)
	if len(left) > 0 {
		t.Errorf("bench left %v", left)
	}
	var text bytes.Buffer
	report.print(&text)
	for _, part := range []string{"relay limit", "3 webhooks", "beside 100 hanging webhooks", "0 lost"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("the table lacks %q:\n%s", part, &text)
		}
	}
}

func TestBenchSeeded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var report seedReport
	runBenchIn(t, dir, &report, "--seed-rows", "3000", "--keep", "--db", "kept.db")
	for _, e := range report.Endpoints {
		if e.Failed > 0 || e.Count == 0 || e.P50 <= 0 {
			t.Errorf("%+v", e)
		}
	}
	if len(report.Endpoints) < 30 || report.StartMS <= 0 || report.FileBytes < 500_000 || report.IngestRatio == nil || report.Lost > 0 || report.FailedCalls > 0 {
		t.Errorf("%+v", report)
	}
	if list := do(t, dir, "transaction", "list", "--q", "DH1234", "--db", "kept.db"); !strings.Contains(list, "FT0000001234") {
		t.Errorf("the kept file: %s", list)
	}
	left, err := filepath.Glob(filepath.Join(dir, "baoco-bench-*"))
	must(t, err)
	if len(left) > 0 {
		t.Errorf("bench left %v", left)
	}
	// A file that is there is never seeded.
	cmd := program(dir, "bench", "--quick", "--seed-rows", "3000", "--keep", "--db", "kept.db")
	out, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != exitDatabase || !strings.Contains(string(out), "exists already") {
		t.Errorf("seeding an old file: exit %d\n%s", cmd.ProcessState.ExitCode(), out)
	}
}

// Ctrl-C ends a bench at once, with all its processes and files.
func TestBenchInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := program(dir, "bench")
	stderr := &lockedOutput{}
	cmd.Stderr = stderr
	must(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill() }()
	eventually(t, "baoco is under load", func() bool { return strings.Contains(stderr.String(), "1 webhook") })
	time.Sleep(300 * time.Millisecond)
	must(t, cmd.Process.Signal(os.Interrupt))
	interrupted := time.Now()
	err := cmd.Wait()
	if cmd.ProcessState.ExitCode() != exitError || !strings.Contains(stderr.String(), "interrupted") || time.Since(interrupted) > 30*time.Second {
		t.Errorf("%v after %v\n%s", err, time.Since(interrupted), stderr)
	}
	left, err := os.ReadDir(dir)
	must(t, err)
	if len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}

func TestBenchUsage(t *testing.T) {
	for _, args := range [][]string{
		{"--duration", "1ms"}, {"--rounds", "0"}, {"--connections", "0"}, {"--seed-rows", "10"}, {"--keep"}, {"--keep", "--seed-rows", "2000"}, {"now"}, {"-o", "xml"},
	} {
		if code, stdout, stderr := baoco("", append([]string{"bench"}, args...)...); code != exitUsage || stdout != "" {
			t.Errorf("%v: exit %d, %s%s", args, code, stdout, stderr)
		}
	}
}

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
	if err := (benchCounts{Lost: 1}).verdict(); exitCode(err) != exitCheck {
		t.Errorf("a loss: %v", err)
	}
	if err := (benchCounts{Duplicates: 1}).verdict(); !errors.Is(err, nil) {
		t.Errorf("a duplicate: %v", err)
	}
}
