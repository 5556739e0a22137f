package bench

import (
	"fmt"
	"io"
	"time"

	"baoco/app/command/terminal"

	"github.com/jedib0t/go-pretty/v6/progress"
)

// benchSteps tells a waiting person what is measured now: one bar on a
// terminal, a line for each step elsewhere.
type benchSteps struct {
	out     io.Writer
	of, at  int
	writer  progress.Writer
	tracker *progress.Tracker
}

func newBenchSteps(out io.Writer, of int) *benchSteps {
	s := &benchSteps{out: out, of: of}
	if !terminal.IsTerminal(out) {
		return s
	}
	s.writer = terminal.NewProgress(out)
	s.writer.SetUpdateFrequency(250 * time.Millisecond) // what draws takes time from what is measured
	s.writer.SetTrackerLength(24)
	s.writer.SetMessageLength(72)
	s.writer.SetTrackerPosition(progress.PositionLeft)
	s.writer.SetStyle(progress.StyleBlocks)
	s.writer.Style().Visibility = progress.StyleVisibility{Tracker: true, Percentage: true, Time: true}
	s.writer.Style().Options.PercentFormat = "%3.0f %%"
	s.writer.Style().Options.TimeInProgressPrecision = time.Second
	s.writer.Style().Options.TimeDonePrecision = time.Second
	s.tracker = &progress.Tracker{Message: "starting", Total: int64(of)}
	s.writer.AppendTracker(s.tracker)
	go s.writer.Render()
	return s
}

// next begins a step.
func (s *benchSteps) next(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if s.tracker != nil {
		s.tracker.UpdateMessage(text)
		s.tracker.SetValue(int64(s.at))
	} else {
		fmt.Fprintf(s.out, "[%*d/%d] %s\n", len(fmt.Sprint(s.of)), s.at+1, s.of, text)
	}
	s.at++
}

// say tells how far the step is.
func (s *benchSteps) say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if s.tracker != nil {
		s.tracker.UpdateMessage(text)
		return
	}
	fmt.Fprintf(s.out, "  %s\n", text)
}

// done ends the telling; it may be called again.
func (s *benchSteps) done() {
	if s == nil || s.writer == nil {
		return
	}
	if s.at == s.of {
		s.tracker.UpdateMessage("measured")
		s.tracker.MarkAsDone()
		time.Sleep(300 * time.Millisecond) // until it is drawn
	}
	s.writer.Stop()
	for range 20 {
		if !s.writer.IsRenderInProgress() {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.writer = nil
}
