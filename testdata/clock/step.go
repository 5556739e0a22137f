package time

import "syscall"

// What package time gets in addition in a program whose clock is set by CLOCK_STEP, such
// as -1h, at CLOCK_STEP_AT, in seconds since 1970. time.Now adds stepOf.
var clockStep, _ = ParseDuration(variable("CLOCK_STEP"))

var clockStepAt, _ = ParseDuration(variable("CLOCK_STEP_AT") + "s")

func variable(name string) string {
	text, _ := syscall.Getenv(name)
	return text
}

func stepOf(sec int64) int64 {
	if clockStep != 0 && sec >= int64(clockStepAt/Second) {
		return int64(clockStep / Second)
	}
	return 0
}
