package acceptance_test

import (
	"bytes"
	"encoding/json"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/command/terminal"
)

// runBenchIn runs baoco bench in dir as a process and reads what it prints.
func runBenchIn(t *testing.T, dir string, report any, args ...string) {
	t.Helper()
	cmd := program(dir, append([]string{"bench", "--duration", "300ms", "-o", "json"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("baoco bench: %v\n%s%s", err, out, &stderr)
	}
	must(t, json.Unmarshal(out, report))
	if !strings.Contains(stderr.String(), "at saturation: baoco") {
		t.Errorf("no progress on stderr: %s", &stderr)
	}
}

// benchReport is what the test reads of a report.
type benchReport struct {
	Machine string        `json:"machine"`
	Relay   benchPassed   `json:"relay"`
	Baoco   benchPassed   `json:"baoco"`
	Latency []benchTimes  `json:"latency"`
	Memory  benchMemories `json:"memory"`

	FailedCalls int            `json:"failed_calls"`
	Errors      map[string]int `json:"errors"`
	Lost        int            `json:"lost"`
	Duplicates  int            `json:"duplicates"`
}

type benchPassed struct {
	Transactions  int     `json:"transactions"`
	AcceptedPerS  float64 `json:"accepted_per_s"`
	DeliveredPerS float64 `json:"delivered_per_s"`
	Handshakes    int     `json:"tls_handshakes"`
	CPUMicros     int     `json:"cpu_per_delivery_us"`
}

type benchTimes struct {
	HangingWebhooks int     `json:"hanging_webhooks"`
	HangingRequests int     `json:"hanging_requests"`
	Count           int     `json:"count"`
	P50             float64 `json:"p50_ms"`
	P99             float64 `json:"p99_ms"`
	Max             float64 `json:"max_ms"`
}

type benchMemories struct {
	IdleMB       *float64 `json:"idle_mb"`
	SaturationMB *float64 `json:"saturation_peak_mb"`
	HangingMB    *float64 `json:"hanging_peak_mb"`
}

// The whole of bench, as short as it can be: everything is measured, nothing
// is lost, nothing is left.
func TestBench(t *testing.T) {
	t.Parallel()
	testBench(t, false)
}

// A server keeps connections to its shop's HTTPS too: no handshake for each delivery.
func TestBenchHTTPS(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the certificates that this system trusts aren't in files")
	}
	testBench(t, true, "--https")
}

func testBench(t *testing.T, https bool, args ...string) {
	dir := t.TempDir()
	var report benchReport
	runBenchIn(t, dir, &report, args...)
	if report.Lost != 0 || report.FailedCalls != 0 || report.Duplicates != 0 {
		t.Errorf("%d lost, %d duplicates, %d failed calls: %v", report.Lost, report.Duplicates, report.FailedCalls, report.Errors)
	}
	for _, p := range []benchPassed{report.Relay, report.Baoco} {
		if p.Transactions == 0 || p.AcceptedPerS <= 0 || p.DeliveredPerS <= 0 || (p.Handshakes > 0) != https {
			t.Errorf("%+v", p)
		}
	}
	if n := report.Baoco.Handshakes; n > 64 || report.Baoco.CPUMicros <= 0 {
		t.Errorf("%d handshakes with one shop, %d µs for each delivery", n, report.Baoco.CPUMicros)
	}
	if len(report.Latency) != 2 || report.Machine == "" {
		t.Fatalf("%+v", report)
	}
	for _, l := range report.Latency {
		if l.Count == 0 || l.P50 <= 0 || l.P50 > l.P99 || l.P99 > l.Max || (l.HangingWebhooks > 0) != (l.HangingRequests > 0) {
			t.Errorf("%+v", l)
		}
	}
	if _, err := os.Stat("/proc/self/stat"); err == nil &&
		(report.Memory.IdleMB == nil || report.Memory.SaturationMB == nil || report.Memory.HangingMB == nil) {
		t.Errorf("memory %+v", report.Memory)
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
	cmd := program(dir, "bench", "--duration", "3s")
	stderr := &apptest.Output{}
	cmd.Stderr = stderr
	must(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill() }()
	eventually(t, "baoco is under load", func() bool { return strings.Contains(stderr.String(), "at saturation: baoco") })
	time.Sleep(300 * time.Millisecond) // the interrupt comes somewhere in the load
	must(t, cmd.Process.Signal(os.Interrupt))
	interrupted := time.Now()
	err := cmd.Wait()
	if cmd.ProcessState.ExitCode() != terminal.ExitError || !strings.Contains(stderr.String(), "interrupted") ||
		time.Since(interrupted) > 30*time.Second {
		t.Errorf("%v after %v\n%s", err, time.Since(interrupted), stderr)
	}
	left, err := os.ReadDir(dir)
	must(t, err)
	if len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}
