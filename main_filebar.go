package main

import (
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
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
	b := &fileBar{writer: progress.NewWriter(), tracker: &progress.Tracker{Message: message}}
	b.writer.SetOutputWriter(w)
	b.writer.SetUpdateFrequency(200 * time.Millisecond)
	b.writer.SetStyle(progress.StyleBlocks)
	b.writer.AppendTracker(b.tracker)
	go b.writer.Render()
	return b
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
