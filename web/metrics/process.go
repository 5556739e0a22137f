package metrics

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// process shows the figures of Go and of the process, under the names that they
// have in every program.
func (p *page) process(started time.Time) {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	threads, _ := runtime.ThreadCreateProfile(nil)
	p.info("go_info", "Information about the Go environment.", runtime.Version())
	p.gauge("go_goroutines", "Number of goroutines that currently exist.", float64(runtime.NumGoroutine()))
	p.gauge("go_threads", "Number of OS threads created.", float64(threads))
	p.gauge("go_gc_gomemlimit_bytes", "Go runtime memory limit, otherwise math.MaxInt64.", float64(debug.SetMemoryLimit(-1)))
	p.gauge("go_memstats_alloc_bytes", "Number of bytes allocated in heap and currently in use.", float64(memory.Alloc))
	p.counter("go_memstats_alloc_bytes_total", "Total number of bytes allocated in heap until now, even if released already.", float64(memory.TotalAlloc))
	p.counter("go_memstats_mallocs_total", "Total number of heap objects allocated, both live and gc-ed.", float64(memory.Mallocs))
	p.counter("go_memstats_frees_total", "Total number of heap objects frees.", float64(memory.Frees))
	p.gauge("go_memstats_heap_inuse_bytes", "Number of heap bytes that are in use.", float64(memory.HeapInuse))
	p.gauge("go_memstats_heap_idle_bytes", "Number of heap bytes waiting to be used.", float64(memory.HeapIdle))
	p.gauge("go_memstats_heap_released_bytes", "Number of heap bytes released to OS.", float64(memory.HeapReleased))
	p.gauge("go_memstats_heap_objects", "Number of currently allocated objects.", float64(memory.HeapObjects))
	p.gauge("go_memstats_stack_inuse_bytes", "Number of bytes obtained from system for stack allocator.", float64(memory.StackInuse))
	p.gauge("go_memstats_next_gc_bytes", "Number of heap bytes when next garbage collection will take place.", float64(memory.NextGC))
	p.gauge("go_memstats_sys_bytes", "Number of bytes obtained from system.", float64(memory.Sys))

	collections := debug.GCStats{PauseQuantiles: make([]time.Duration, 5)}
	debug.ReadGCStats(&collections)
	p.head("go_gc_duration_seconds", "summary", "A summary of the wall-time pause (stop-the-world) duration in garbage collection cycles.")
	for i, pause := range collections.PauseQuantiles {
		fmt.Fprintf(p, "go_gc_duration_seconds{quantile=\"%v\"} %v\n", float64(i)/4, pause.Seconds())
	}
	fmt.Fprintf(p, "go_gc_duration_seconds_sum %v\ngo_gc_duration_seconds_count %d\n", collections.PauseTotal.Seconds(), collections.NumGC)

	p.gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds.", float64(started.UnixMilli())/1000)
	p.linux()
}

// ticks is how many units of CPU time Linux counts in a second.
const ticks = 100

// linux shows what Linux says of the process. On another system nothing is shown.
func (p *page) linux() {
	read := func(name string) string {
		text, _ := os.ReadFile("/proc/self/" + name)
		return string(text)
	}
	stat := read("stat")
	// The second field is the name of the program in parentheses, which may have spaces.
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) > 21 {
		field := func(n int) float64 {
			value, _ := strconv.ParseFloat(fields[n-3], 64)
			return value
		}
		p.counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", (field(14)+field(15))/ticks)
		p.gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.", field(23))
		p.gauge("process_resident_memory_bytes", "Resident memory size in bytes.", field(24)*float64(os.Getpagesize()))
	}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		p.gauge("process_open_fds", "Number of open file descriptors.", float64(len(open)))
	}
	_, limit, _ := strings.Cut(read("limits"), "Max open files")
	var files float64
	if _, err := fmt.Sscan(limit, &files); err == nil { // it isn't "unlimited"
		p.gauge("process_max_fds", "Maximum number of open file descriptors.", files)
	}
}
