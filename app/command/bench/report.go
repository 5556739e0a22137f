package bench

import (
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"time"

	"baoco/app/command/serve"
	"baoco/app/command/terminal"
)

// report is what baoco bench prints. A figure that this machine doesn't
// tell is null.
type report struct {
	Machine     machine      `json:"machine"`
	DurationS   float64      `json:"duration_s"`
	Rounds      int          `json:"rounds"`
	Connections int          `json:"connections"`
	Sync        quantiles    `json:"fsync"`
	Saturation  []saturation `json:"saturation"`
	RelayRatio  *spread      `json:"relay_ratio"`      // delivered with 1 webhook : relay limit
	OthersCPU   *spread      `json:"others_cpu_share"` // of the machine, by other programs, during the rounds
	Latency     []latency    `json:"latency"`
	Memory      memory       `json:"memory"`
	counts
}

// counts are the counts that must be zero.
type counts struct {
	FailedCalls int            `json:"failed_calls"`
	Errors      map[string]int `json:"errors"` // of the failed calls
	Lost        int            `json:"lost"`   // accepted, and never arrived
	Duplicates  int            `json:"duplicates"`
}

func (c *counts) add(r result) {
	c.FailedCalls += len(r.failed)
	c.Lost += r.lost
	c.Duplicates += r.duplicates
	for text, n := range r.errors {
		c.Errors[text] += n
	}
}

// saturation is what passes when the callers call as fast as they can.
type saturation struct {
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

// latency is the time from the start of a provider's call to the
// webhook's arrival at the shop.
type latency struct {
	Rate            float64 `json:"rate_per_s"`
	HangingWebhooks int     `json:"hanging_webhooks"`
	HangingRequests int     `json:"hanging_requests"` // at once, at most
	MaxLagMS        float64 `json:"generator_max_lag_ms"`
	quantiles
}

// memory is the resident memory of the server, in MB.
type memory struct {
	IdleMB          *spread  `json:"idle_mb"`
	SaturationMB    *spread  `json:"saturation_peak_mb"`
	HangingMB       *float64 `json:"hanging_peak_mb"`
	HangingRequests int      `json:"hanging_requests"`
}

func newReport(p plan) *report {
	return &report{
		Machine: thisMachine(), DurationS: p.duration.Seconds(), Rounds: p.rounds, Connections: p.connections,
		counts: counts{Errors: map[string]int{}},
	}
}

// figuresOf collects one figure of every round; what is not positive is not
// known.
func figuresOf(runs []result, figure func(result) float64) *spread {
	var known []float64
	for _, r := range runs {
		if f := figure(r); f > 0 {
			known = append(known, f)
		}
	}
	return spreadOf(known)
}

func (report *report) addRounds(rounds map[string][]result) {
	for _, phase := range []struct {
		name     string
		webhooks int
	}{{phaseDirect, 0}, {phaseRelay, 0}, {phaseOne, 1}, {phaseThree, answeringShops}} {
		runs := rounds[phase.name]
		s := saturation{
			Name: phase.name, Webhooks: phase.webhooks,
			AcceptedPerS: figuresOf(runs, result.acceptedPerS), DeliveredPerS: figuresOf(runs, result.deliveredPerS),
			SteadyPerS:              figuresOf(runs, func(r result) float64 { return r.steadyPerS }),
			CPUMicrosPerTransaction: figuresOf(runs, func(r result) float64 { return perTransaction(r, float64(r.cpu/time.Microsecond)) }),
			DiskPerTransaction:      figuresOf(runs, func(r result) float64 { return perTransaction(r, float64(r.diskBytes)) }),
			PeakMB:                  figuresOf(runs, func(r result) float64 { return r.peak }),
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
	report.Memory.IdleMB = figuresOf(rounds[phaseOne], func(r result) float64 { return r.idle })
	report.Memory.SaturationMB = figuresOf(rounds[phaseOne], func(r result) float64 { return r.peak })
}

func perTransaction(r result, figure float64) float64 {
	if r.accepted() == 0 {
		return 0
	}
	return figure / float64(r.accepted())
}

func (report *report) addLatency(rate float64, hanging int, r result) {
	report.add(r)
	report.Latency = append(report.Latency, latency{
		Rate: rate, HangingWebhooks: hanging, HangingRequests: r.mostHanging, MaxLagMS: millisecondsOf(r.maxLag), quantiles: r.latency,
	})
	if hanging > 0 && r.mostHanging >= report.Memory.HangingRequests {
		report.Memory.HangingRequests = r.mostHanging
		if r.peak > 0 {
			report.Memory.HangingMB = &r.peak
		}
	}
}

// verdict is an error where the machine lost what was accepted.
func (c counts) verdict() error {
	if c.Lost == 0 {
		return nil
	}
	return terminal.Exit(terminal.ExitCheck, fmt.Errorf("%d deliveries of accepted transactions did not arrive", c.Lost))
}

func (report *report) print(w io.Writer) {
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

func (report *report) printLatency(w io.Writer) {
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

func (report *report) printMemory(w io.Writer) {
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

func (c counts) printCounts(w io.Writer) {
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

// machine is what the figures were measured on.
type machine struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	CPUs    int    `json:"cpus"`
	At      string `json:"at"`
}

func thisMachine() machine {
	return machine{serve.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), time.Now().UTC().Format(time.RFC3339)}
}

func (m machine) String() string {
	return fmt.Sprintf("baoco %s, %s, %s/%s, %d CPUs", m.Version, m.Go, m.OS, m.Arch, m.CPUs)
}
