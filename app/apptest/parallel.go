package apptest

import (
	"flag"
	"runtime"
	"strconv"
	"testing"
)

// RunTests is m.Run with n parallel tests at once where the machine is smaller, for tests that
// wait most of the time. A -parallel that is given stays.
func RunTests(m *testing.M, n int) int {
	flag.Parse()
	if p := flag.Lookup("test.parallel"); p.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) && runtime.GOMAXPROCS(0) < n {
		_ = p.Value.Set(strconv.Itoa(n))
	}
	return m.Run()
}
