package bench

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"baoco/app/command/terminal"
)

// report is the output of baoco bench. Values that this machine doesn't report are null.
type report struct {
	Machine   string    `json:"machine"`
	DurationS float64   `json:"duration_s"`
	HTTPS     bool      `json:"https"` // to the shops
	Relay     passed    `json:"relay"`
	Baoco     passed    `json:"baoco"`
	Latency   []latency `json:"latency"`
	Memory    struct {  // of the server, resident, in MB
		IdleMB       *float64 `json:"idle_mb"`
		SaturationMB *float64 `json:"saturation_peak_mb"`
		HangingMB    *float64 `json:"hanging_peak_mb"`
	} `json:"memory"`
	FailedCalls int            `json:"failed_calls"`
	Errors      map[string]int `json:"errors"` // of the failed calls
	Lost        int            `json:"lost"`   // transactions that were accepted and never arrived
	Duplicates  int            `json:"duplicates"`
}

// passed is the throughput when the callers call as fast as they can.
type passed struct {
	Transactions  int     `json:"transactions"`
	AcceptedPerS  float64 `json:"accepted_per_s"`
	DeliveredPerS float64 `json:"delivered_per_s"` // until the last arrival, so late deliveries count
	Handshakes    int64   `json:"tls_handshakes"`
	CPUMicros     int64   `json:"cpu_per_delivery_us,omitempty"` // of the server; 0 for the relay, which has no process of its own
}

// latency is the time from the start of a provider's call to the
// webhook's arrival at the shop.
type latency struct {
	HangingWebhooks int   `json:"hanging_webhooks"`
	HangingRequests int64 `json:"hanging_requests"` // at once
	quantiles
}

// quantiles of durations, in milliseconds.
type quantiles struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50_ms"`
	P95   float64 `json:"p95_ms"`
	P99   float64 `json:"p99_ms"`
	Max   float64 `json:"max_ms"`
}

func (r result) passed(cpu time.Duration) passed {
	perSecond := func(count int, end time.Time) float64 {
		return math.Round(float64(count) / max(end.Sub(r.first).Seconds(), time.Microsecond.Seconds()))
	}
	return passed{r.accepted(), perSecond(r.accepted(), r.end), perSecond(len(r.took), r.last), r.handshakes,
		cpu.Microseconds() / int64(max(len(r.took), 1))}
}

// quantilesOf sorts durations and reads them by nearest rank: the smallest
// value that the given share of all does not exceed.
func quantilesOf(durations []time.Duration) quantiles {
	q := quantiles{Count: len(durations)}
	if q.Count == 0 {
		return q
	}
	slices.Sort(durations)
	at := func(share float64) float64 {
		d := durations[max(1, int(math.Ceil(share*float64(q.Count))))-1]
		return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
	}
	q.P50, q.P95, q.P99, q.Max = at(0.50), at(0.95), at(0.99), at(1)
	return q
}

// count adds the counts that must be zero.
func (report *report) count(r result) {
	report.FailedCalls += len(r.failed)
	report.Lost += r.lost
	report.Duplicates += r.duplicates
	for _, text := range r.failed {
		report.Errors[text]++
	}
}

func (report *report) print(w io.Writer) {
	fmt.Fprintf(w, "%s\n\nAt saturation: %d connections for %g s\n", report.Machine, connections, report.DurationS)
	row := func(name string, p passed) []string {
		return []string{name, terminal.Grouped(int64(p.AcceptedPerS)), terminal.Grouped(int64(p.DeliveredPerS)), terminal.Grouped(p.Handshakes)}
	}
	terminal.PrintTable(w, "", "|>ACCEPTED/S|>DELIVERED/S|>TLS HANDSHAKES",
		[][]string{row("relay", report.Relay), row("baoco", report.Baoco)})
	fmt.Fprintf(w, "It delivers %.0f %% of what the relay does, with %d µs of CPU for each delivery.\n",
		100*report.Baoco.DeliveredPerS/max(report.Relay.DeliveredPerS, 1), report.Baoco.CPUMicros)

	fmt.Fprintf(w, "\nFrom the provider's call to the shop at %d calls/s, in ms\n", latencyRate)
	var rows [][]string
	for _, l := range report.Latency {
		one := []string{fmt.Sprintf("beside %d hanging webhooks", l.HangingWebhooks), terminal.Grouped(int64(l.Count))}
		for _, ms := range []float64{l.P50, l.P95, l.P99, l.Max} {
			one = append(one, terminal.Decimals(ms))
		}
		rows = append(rows, one)
	}
	terminal.PrintTable(w, "", "|>CALLS|>MEDIAN|>95 %|>99 %|>MAX", rows)

	if m := report.Memory; m.IdleMB != nil && m.SaturationMB != nil && m.HangingMB != nil {
		fmt.Fprintf(w, "\nThe server's memory: %.0f MB idle, at most %.0f MB at saturation, %.0f MB beside hanging webhooks\n",
			*m.IdleMB, *m.SaturationMB, *m.HangingMB)
	}
	fmt.Fprintf(w, "\n%d lost, %d duplicated, %d calls failed\n", report.Lost, report.Duplicates, report.FailedCalls)
	for _, text := range slices.Sorted(maps.Keys(report.Errors)) {
		fmt.Fprintf(w, "  %d × %s\n", report.Errors[text], terminal.OneLine(text))
	}
}
