package terminal

import (
	"io"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"golang.org/x/term"
)

// Bar shows how far the work on a file is, to a person at a terminal.
type Bar struct {
	writer  progress.Writer
	tracker *progress.Tracker
}

func NewBar(w io.Writer, message string) *Bar {
	if !IsTerminal(w) {
		return &Bar{}
	}
	b := &Bar{writer: NewProgress(w), tracker: &progress.Tracker{Message: message}}
	b.writer.SetUpdateFrequency(200 * time.Millisecond)
	b.writer.SetStyle(progress.StyleBlocks)
	b.writer.AppendTracker(b.tracker)
	go b.writer.Render()
	return b
}

// IsTerminal tells a person's terminal from a file or a pipe.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// NewProgress draws bars on a terminal, in lines that fit it: what is longer
// would be wrapped, and drawn anew below. By itself the library looks at the
// standard output, which may be a file.
func NewProgress(terminal io.Writer) progress.Writer {
	p := progress.NewWriter()
	p.SetOutputWriter(terminal)
	width, _, err := term.GetSize(int(terminal.(*os.File).Fd()))
	if err != nil || width < 1 {
		width = 80
	}
	p.SetTerminalWidth(width - 1) // some terminals wrap a line that is full
	return p
}

// Bytes has it count in bytes.
func (b *Bar) Bytes() {
	if b.writer != nil {
		b.tracker.Units = progress.UnitsBytes
	}
}

func (b *Bar) Update(message string, done, total int64) {
	if b.writer == nil {
		return
	}
	b.tracker.UpdateTotal(max(total, 1))
	b.tracker.SetValue(min(done, max(total, 1)-1))
	b.tracker.UpdateMessage(message)
}

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
