package main

import (
	"io"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"golang.org/x/term"
)

// fileBar shows how far the work on a file is, to a person at a terminal.
type fileBar struct {
	writer  progress.Writer
	tracker *progress.Tracker
}

func newFileBar(w io.Writer, message string) *fileBar {
	if !isTerminal(w) {
		return &fileBar{}
	}
	b := &fileBar{writer: newProgress(w), tracker: &progress.Tracker{Message: message}}
	b.writer.SetUpdateFrequency(200 * time.Millisecond)
	b.writer.SetStyle(progress.StyleBlocks)
	b.writer.AppendTracker(b.tracker)
	go b.writer.Render()
	return b
}

// isTerminal tells a person's terminal from a file or a pipe.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// newProgress draws bars on a terminal, in lines that fit it: what is longer
// would be wrapped, and drawn anew below. By itself the library looks at the
// standard output, which may be a file.
func newProgress(terminal io.Writer) progress.Writer {
	p := progress.NewWriter()
	p.SetOutputWriter(terminal)
	width, _, err := term.GetSize(int(terminal.(*os.File).Fd()))
	if err != nil || width < 1 {
		width = 80
	}
	p.SetTerminalWidth(width - 1) // some terminals wrap a line that is full
	return p
}

// bytes has it count in bytes.
func (b *fileBar) bytes() {
	if b.writer != nil {
		b.tracker.Units = progress.UnitsBytes
	}
}

func (b *fileBar) update(message string, done, total int64) {
	if b.writer == nil {
		return
	}
	b.tracker.UpdateTotal(max(total, 1))
	b.tracker.SetValue(min(done, max(total, 1)-1))
	b.tracker.UpdateMessage(message)
}

func (b *fileBar) stop() {
	if b.writer == nil {
		return
	}
	b.tracker.MarkAsDone()
	b.writer.Stop()
	for b.writer.IsRenderInProgress() {
		time.Sleep(10 * time.Millisecond)
	}
}
