package terminal

import (
	"io"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"golang.org/x/term"
)

// Bar shows a person at a terminal how far the work on a file is. It shows
// nothing anywhere else.
type Bar struct {
	writer  progress.Writer // nil: nobody sees it
	tracker *progress.Tracker
}

// NewBar begins to draw a bar on w, if that is a terminal.
func NewBar(w io.Writer, message string) *Bar {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return &Bar{}
	}
	// The library looks for the width of the standard output, which may be a
	// file. A line that is too long would be wrapped, and drawn again below.
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil || width < 1 {
		width = 80
	}
	b := &Bar{writer: progress.NewWriter(), tracker: &progress.Tracker{Message: message}}
	b.writer.SetOutputWriter(w)
	b.writer.SetTerminalWidth(width - 1) // some terminals wrap a line that is full
	b.writer.SetUpdateFrequency(200 * time.Millisecond)
	b.writer.SetStyle(progress.StyleBlocks)
	b.writer.AppendTracker(b.tracker)
	go b.writer.Render()
	return b
}

// Bytes makes the bar count in bytes.
func (b *Bar) Bytes() {
	if b.writer != nil {
		b.tracker.Units = progress.UnitsBytes
	}
}

// Update shows what is done of the total; a total of 0 is unknown. The bar stays a step
// short of its end until Stop, since the library ends a bar that reaches it.
func (b *Bar) Update(message string, done, total int64) {
	if b.writer == nil {
		return
	}
	b.tracker.UpdateTotal(max(total, 1))
	b.tracker.SetValue(min(done, max(total, 1)-1))
	b.tracker.UpdateMessage(message)
}

// Stop ends the bar and waits until it is drawn for the last time.
func (b *Bar) Stop() {
	if b.writer == nil {
		return
	}
	b.tracker.MarkAsDone()
	b.writer.Stop()
	for b.writer.IsRenderInProgress() {
		time.Sleep(10 * time.Millisecond)
	}
}
