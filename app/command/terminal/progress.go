package terminal

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// Progress shows a person at a terminal how far the work on a file is. It shows
// nothing anywhere else.
type Progress struct {
	w     io.Writer // nil: nobody sees it
	width int
}

// NewProgress begins to show it on w, if that is a terminal.
func NewProgress(w io.Writer, message string) *Progress {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return &Progress{}
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil || width < 2 {
		width = 80
	}
	p := &Progress{w, width - 1} // some terminals wrap a line that is full
	p.Update(message, 0, 0)
	return p
}

// Update shows what is done of the total; a total of 0 is unknown.
func (p *Progress) Update(message string, done, total int64) {
	if p.w == nil {
		return
	}
	if total > 0 {
		message = fmt.Sprintf("%s, %d %%", message, 100*min(done, total)/total)
	}
	fmt.Fprintf(p.w, "\r%s\x1b[K", Clip(message, p.width))
}

// Stop clears the line.
func (p *Progress) Stop() {
	if p.w != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
