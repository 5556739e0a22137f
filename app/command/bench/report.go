package bench

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"baoco/app/command/terminal"
)

// Report is what baoco bench prints. A figure that this machine doesn't
// tell is null.
type Report struct {
	Machine     machine           `json:"machine"`
	DurationS   float64           `json:"duration_s"`
	Rounds      int               `json:"rounds"`
	Connections int               `json:"connections"`
	Sync        quantiles         `json:"fsync"`
	Saturation  []benchSaturation `json:"saturation"`
	RelayRatio  *spread           `json:"relay_ratio"`      // delivered with 1 webhook : relay limit
	OthersCPU   *spread           `json:"others_cpu_share"` // of the machine, by other programs, during the rounds
	Latency     []benchLatency    `json:"latency"`
	Memory      benchMemory       `json:"memory"`
	benchCounts
}

// benchCounts is what must be nothing.
type benchCounts struct {
	FailedCalls int            `json:"failed_calls"`
	Errors      map[string]int `json:"errors"` // of the failed calls
	Lost        int            `json:"lost"`   // accepted, and never arrived
	Duplicates  int            `json:"duplicates"`
}

func (c *benchCounts) add(r benchRun) {
	c.FailedCalls += len(r.Failed)
	c.Lost += r.Lost
	c.Duplicates += r.Duplicates
	for text, n := range r.Errors {
		c.Errors[text] += n
	}
}

// benchSaturation is what passes when the callers call as fast as they can.
type benchSaturation struct {
	Name                    string  `json:"name"`
	Webhooks                int     `json:"webhooks"` // 0: a limit, without baoco
	Transactions            int     `json:"transactions"`
	AcceptedPerS            *spread `json:"accepted_per_s"`
	DeliveredPerS           *spread `json:"delivered_per_s"`
	SteadyPerS              *spread `json:"steady_delivered_per_s"`
	CPUMicrosPerTransaction *spread `json:"cpu_us_per_transaction"` // of the server, the deliveries included
	DiskPerTransaction      *spread `json:"disk_bytes_per_transaction"`
	PeakMB                  *spread `json:"peak_mb"` // resident memory of the server
}

// benchLatency is the time from the start of a provider's call to the
// webhook's arrival at the shop.
type benchLatency struct {
	Rate            float64 `json:"rate_per_s"`
	HangingWebhooks int     `json:"hanging_webhooks"`
	HangingRequests int     `json:"hanging_requests"` // at once, at most
	MaxLagMS        float64 `json:"generator_max_lag_ms"`
	quantiles
}

// benchMemory is the resident memory of the server, in MB.
type benchMemory struct {
	IdleMB          *spread  `json:"idle_mb"`
	SaturationMB    *spread  `json:"saturation_peak_mb"`
	HangingMB       *float64 `json:"hanging_peak_mb"`
	HangingRequests int      `json:"hanging_requests"`
}

func newBenchReport(p benchPlan) *Report {
	return &Report{
		Machine: thisMachine(), DurationS: p.duration.Seconds(), Rounds: p.rounds, Connections: p.connections,
		benchCounts: benchCounts{Errors: map[string]int{}},
	}
}

// figuresOf collects one figure of every round; what is not positive is not
// known.
func figuresOf(runs []benchRun, figure func(benchRun) float64) *spread {
	var known []float64
	for _, r := range runs {
		if f := figure(r); f > 0 {
			known = append(known, f)
		}
	}
	return spreadOf(known)
}

func (report *Report) addRounds(rounds map[string][]benchRun) {
	for _, phase := range []struct {
		name     string
		webhooks int
	}{{phaseDirect, 0}, {phaseRelay, 0}, {phaseOne, 1}, {phaseThree, benchShops}} {
		runs := rounds[phase.name]
		s := benchSaturation{
			Name: phase.name, Webhooks: phase.webhooks,
			AcceptedPerS: figuresOf(runs, benchRun.acceptedPerS), DeliveredPerS: figuresOf(runs, benchRun.deliveredPerS),
			SteadyPerS:              figuresOf(runs, func(r benchRun) float64 { return r.SteadyPerS }),
			CPUMicrosPerTransaction: figuresOf(runs, func(r benchRun) float64 { return perTransaction(r, float64(r.cpu/time.Microsecond)) }),
			DiskPerTransaction:      figuresOf(runs, func(r benchRun) float64 { return perTransaction(r, float64(r.diskBytes)) }),
			PeakMB:                  figuresOf(runs, func(r benchRun) float64 { return r.peak }),
		}
		for _, r := range runs {
			s.Transactions += r.accepted()
			report.add(r)
		}
		report.Saturation = append(report.Saturation, s)
	}
	var ratios []float64
	for i, one := range rounds[phaseOne] {
		if limit := rounds[phaseRelay][i].deliveredPerS(); limit > 0 {
			ratios = append(ratios, one.deliveredPerS()/limit)
		}
	}
	report.RelayRatio = spreadOf(ratios)
	report.Memory.IdleMB = figuresOf(rounds[phaseOne], func(r benchRun) float64 { return r.idle })
	report.Memory.SaturationMB = figuresOf(rounds[phaseOne], func(r benchRun) float64 { return r.peak })
}

func perTransaction(r benchRun, figure float64) float64 {
	if r.accepted() == 0 {
		return 0
	}
	return figure / float64(r.accepted())
}

func (report *Report) addLatency(rate float64, hanging int, r benchRun) {
	report.add(r)
	report.Latency = append(report.Latency, benchLatency{
		Rate: rate, HangingWebhooks: hanging, HangingRequests: r.MostHanging, MaxLagMS: r.MaxLagMS, quantiles: r.benchArrived.Latency,
	})
	if hanging > 0 && r.MostHanging >= report.Memory.HangingRequests {
		report.Memory.HangingRequests = r.MostHanging
		if r.peak > 0 {
			report.Memory.HangingMB = &r.peak
		}
	}
}

// verdict is an error where the machine lost what was accepted.
func (c benchCounts) verdict() error {
	if c.Lost == 0 {
		return nil
	}
	return terminal.Exit(terminal.ExitCheck, fmt.Errorf("%d deliveries of accepted transactions did not arrive", c.Lost))
}

func (report *Report) print(w io.Writer) {
	fmt.Fprintf(w, "%s\n4 KiB written and synced in %s ms (median), %s ms (99 %%)\n\n", report.Machine, terminal.Decimals(report.Sync.P50), terminal.Decimals(report.Sync.P99))

	rounds := "one round"
	if report.Rounds > 1 {
		rounds = fmt.Sprintf("median of %d rounds (lowest–highest)", report.Rounds)
	}
	fmt.Fprintf(w, "At saturation: %d connections for %g s, %s\n", report.Connections, report.DurationS, rounds)
	var rows [][]string
	for _, s := range report.Saturation {
		rows = append(rows, []string{
			s.Name, s.AcceptedPerS.text(), s.DeliveredPerS.text(), s.SteadyPerS.text(), s.CPUMicrosPerTransaction.text(), s.DiskPerTransaction.text(),
		})
	}
	columns := []string{"", "ACCEPTED/S", "DELIVERED/S", "STEADY/S", "CPU µs/TRANSACTION", "BYTES/TRANSACTION"}
	terminal.PrintTable(w, "", columns, rows, columns[1:]...)
	if r := report.RelayRatio; r != nil {
		fmt.Fprintf(w, "With 1 webhook it delivers %s of the relay limit.\n", r.percent())
	}
	if s := report.OthersCPU; s != nil {
		fmt.Fprintf(w, "Meanwhile other programs took %s of the machine's CPU time.\n", s.percent())
	}
	report.printLatency(w)
	report.printMemory(w)
	report.printCounts(w)
}

func (report *Report) printLatency(w io.Writer) {
	fmt.Fprintln(w, "\nFrom the provider's call to the shop, in ms")
	var rows [][]string
	for _, l := range report.Latency {
		what := fmt.Sprintf("%g calls/s", l.Rate)
		switch {
		case l.HangingWebhooks == 1:
			what += ", beside 1 hanging webhook"
		case l.HangingWebhooks > 1:
			what += fmt.Sprintf(", beside %d hanging webhooks", l.HangingWebhooks)
		}
		rows = append(rows, []string{
			what, strconv.Itoa(l.Count), terminal.Decimals(l.P50), terminal.Decimals(l.P95), terminal.Decimals(l.P99), terminal.Decimals(l.Max), terminal.Decimals(l.MaxLagMS),
		})
	}
	columns := []string{"", "CALLS", "MEDIAN", "95 %", "99 %", "MAX", "CALLER LATE BY"}
	terminal.PrintTable(w, "", columns, rows, columns[1:]...)
}

func (report *Report) printMemory(w io.Writer) {
	fmt.Fprintln(w, "\nThe server's memory, in MB")
	hanging := "unknown"
	if report.Memory.HangingMB != nil {
		hanging = fmt.Sprintf("%.0f", *report.Memory.HangingMB)
	}
	terminal.PrintTable(w, "", []string{"", "RESIDENT"}, [][]string{
		{"idle, before any load", report.Memory.IdleMB.text()},
		{"at saturation, 1 webhook, at most", report.Memory.SaturationMB.text()},
		{fmt.Sprintf("with %d hanging requests, at most", report.Memory.HangingRequests), hanging},
	}, "RESIDENT")
}

func (c benchCounts) printCounts(w io.Writer) {
	fmt.Fprintf(w, "\n%d lost, %d duplicated, %d calls failed\n", c.Lost, c.Duplicates, c.FailedCalls)
	for _, text := range slices.Sorted(maps.Keys(c.Errors)) {
		fmt.Fprintf(w, "  %d × %s\n", c.Errors[text], terminal.OneLine(text))
	}
}

// text writes a figure with its spread.
func (s *spread) text() string {
	switch {
	case s == nil:
		return "–"
	case s.Min == s.Max:
		return terminal.Grouped(int64(s.Median + 0.5))
	}
	return fmt.Sprintf("%s (%s–%s)", terminal.Grouped(int64(s.Median+0.5)), terminal.Grouped(int64(s.Min+0.5)), terminal.Grouped(int64(s.Max+0.5)))
}

// percent writes a share with its spread.
func (s *spread) percent() string {
	if s.Min == s.Max {
		return fmt.Sprintf("%.0f %%", 100*s.Median)
	}
	return fmt.Sprintf("%.0f %% (%.0f–%.0f)", 100*s.Median, 100*s.Min, 100*s.Max)
}
