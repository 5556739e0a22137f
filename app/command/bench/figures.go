package bench

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// quantiles of durations, in milliseconds.
type quantiles struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50_ms"`
	P95   float64 `json:"p95_ms"`
	P99   float64 `json:"p99_ms"`
	Max   float64 `json:"max_ms"`
}

// quantilesOf sorts nanoseconds and reads them by nearest rank: the smallest
// value that the given share of all does not exceed.
func quantilesOf(nanoseconds []int64) quantiles {
	q := quantiles{Count: len(nanoseconds)}
	if q.Count == 0 {
		return q
	}
	slices.Sort(nanoseconds)
	at := func(share float64) float64 {
		rank := max(1, int(math.Ceil(share*float64(q.Count))))
		return millisecondsOf(time.Duration(nanoseconds[rank-1]))
	}
	q.P50, q.P95, q.P99, q.Max = at(0.50), at(0.95), at(0.99), at(1)
	return q
}

// millisecondsOf is d in milliseconds, to the microsecond.
func millisecondsOf(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}

// spread is a figure of several rounds.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// spreadOf is nil where nothing was measured.
func spreadOf(figures []float64) *spread {
	if len(figures) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(figures))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + median) / 2
	}
	return &spread{Median: thousandths(median), Min: thousandths(sorted[0]), Max: thousandths(sorted[len(sorted)-1])}
}

func thousandths(f float64) float64 { return math.Round(f*1000) / 1000 }

// processFigures is what a process has used. It is known on Linux only.
type processFigures struct {
	cpu      time.Duration
	ended    time.Duration // CPU time of its children that have ended
	resident float64       // MB
	peak     float64       // MB, since the process began
	known    bool
}

const userHz = 100 // of /proc, on every architecture that Go runs on

func processFiguresOf(pid int) (f processFigures) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return f
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return f
	}
	// The name before the bracket may hold spaces.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 15 {
		return f
	}
	f.cpu = ticksOf(fields[11:13])
	f.ended = ticksOf(fields[13:15])
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		kb, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
		switch name {
		case "VmHWM":
			f.peak = kb / 1024
		case "VmRSS":
			f.resident = kb / 1024
		}
	}
	f.known = true
	return f
}

func ticksOf(fields []string) (d time.Duration) {
	for _, ticks := range fields {
		n, _ := strconv.ParseInt(ticks, 10, 64)
		d += time.Duration(n) * time.Second / userHz
	}
	return d
}

// machineBusy is the CPU time that all programs have used since the machine
// began, with what a virtual machine was denied; false where it isn't known.
func machineBusy() (time.Duration, bool) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, false
	}
	line, _, _ := strings.Cut(string(stat), "\n")
	f := strings.Fields(line) // cpu, user, nice, system, idle, iowait, irq, softirq, steal
	if len(f) < 9 {
		return 0, false
	}
	return ticksOf([]string{f[1], f[2], f[3], f[6], f[7], f[8]}), true
}

// watchOthers begins to watch, and gives a function that ends it: the share of
// the machine's CPU time that programs outside the bench took meanwhile; nothing
// where that isn't known. Servers count once they have ended.
func watchOthers() func() []float64 {
	own := func() time.Duration {
		self := processFiguresOf(os.Getpid())
		return self.cpu + self.ended
	}
	busy, known := machineBusy()
	ownBefore, began := own(), time.Now()
	return func() []float64 {
		now, _ := machineBusy()
		all := time.Since(began) * time.Duration(runtime.NumCPU())
		if !known || all <= 0 {
			return nil
		}
		others := (now - busy) - (own() - ownBefore)
		return []float64{min(1, max(0, float64(others)/float64(all)))}
	}
}

// syncTimes appends 4 KiB to a scratch file in dir and syncs it, again and
// again. That is what a commit on this disk costs at least.
func syncTimes(dir string, times int, within time.Duration) (q quantiles, err error) {
	path := filepath.Join(dir, "sync")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return q, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(path)) }()
	block := make([]byte, 4096)
	var took []int64
	for begin := time.Now(); len(took) < times && time.Since(begin) < within; {
		started := time.Now()
		if _, err := f.Write(block); err != nil {
			return q, err
		}
		if err := f.Sync(); err != nil {
			return q, err
		}
		took = append(took, int64(time.Since(started)))
	}
	return quantilesOf(took), nil
}
