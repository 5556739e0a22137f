package acceptance_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/command/terminal"
)

// runBenchIn runs baoco bench in dir as a process and reads what it prints.
func runBenchIn(t *testing.T, dir string, report any) {
	t.Helper()
	cmd := program(dir, "bench", "--quick", "--duration", "150ms", "-o", "json")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("baoco bench: %v\n%s%s", err, out, &stderr)
	}
	must(t, json.Unmarshal(out, report))
	if !strings.Contains(stderr.String(), "saturation, round 1") {
		t.Errorf("no progress on stderr: %s", &stderr)
	}
}

// benchReport is what the test reads of a report.
type benchReport struct {
	Machine    struct{ CPUs int } `json:"machine"`
	Sync       benchTimes         `json:"fsync"`
	Saturation []struct {
		Name          string       `json:"name"`
		Webhooks      int          `json:"webhooks"`
		Transactions  int          `json:"transactions"`
		AcceptedPerS  *benchSpread `json:"accepted_per_s"`
		DeliveredPerS *benchSpread `json:"delivered_per_s"`
		CPUMicros     *benchSpread `json:"cpu_us_per_transaction"`
		DiskBytes     *benchSpread `json:"disk_bytes_per_transaction"`
	} `json:"saturation"`
	RelayRatio *benchSpread `json:"relay_ratio"`
	OthersCPU  *benchSpread `json:"others_cpu_share"`
	Latency    []struct {
		HangingWebhooks int `json:"hanging_webhooks"`
		HangingRequests int `json:"hanging_requests"`
		benchTimes
	} `json:"latency"`
	Memory struct {
		IdleMB       *benchSpread `json:"idle_mb"`
		SaturationMB *benchSpread `json:"saturation_peak_mb"`
		HangingMB    *float64     `json:"hanging_peak_mb"`
	} `json:"memory"`
	FailedCalls int            `json:"failed_calls"`
	Errors      map[string]int `json:"errors"`
	Lost        int            `json:"lost"`
	Duplicates  int            `json:"duplicates"`
}

type benchTimes struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50_ms"`
	P99   float64 `json:"p99_ms"`
	Max   float64 `json:"max_ms"`
}

type benchSpread struct{ Median, Min, Max float64 }

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
		if s.Webhooks > 0 && (s.DiskBytes == nil || s.DiskBytes.Median < 100 || s.CPUMicros == nil) {
			t.Errorf("%s: disk %v, CPU %v for each transaction", s.Name, s.DiskBytes, s.CPUMicros)
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
}

// Ctrl-C ends a bench at once, with all its processes and files.
func TestBenchInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := program(dir, "bench", "--duration", "1s")
	stderr := &apptest.Output{}
	cmd.Stderr = stderr
	must(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill() }()
	eventually(t, "baoco is under load", func() bool { return strings.Contains(stderr.String(), "1 webhook") })
	time.Sleep(300 * time.Millisecond) // the interrupt comes somewhere in the load
	must(t, cmd.Process.Signal(os.Interrupt))
	interrupted := time.Now()
	err := cmd.Wait()
	if cmd.ProcessState.ExitCode() != terminal.ExitError || !strings.Contains(stderr.String(), "interrupted") || time.Since(interrupted) > 30*time.Second {
		t.Errorf("%v after %v\n%s", err, time.Since(interrupted), stderr)
	}
	left, err := os.ReadDir(dir)
	must(t, err)
	if len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}
