package terminal

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/urfave/cli/v2"
)

// Progress shows on a terminal, on stderr, what a command does, how much is done and how
// long it has taken. It shows nothing if stderr is no terminal, or beside JSON for a program.
type Progress struct {
	w       io.Writer // nil: it shows nothing
	columns int
	began   time.Time
	stop    context.CancelFunc
	stopped sync.WaitGroup

	mu          sync.Mutex
	message     string
	done, total int64
}

// NewProgress begins to show message. It is drawn five times a second, also if it changes
// more often.
func NewProgress(c *cli.Context, message string) *Progress {
	p := &Progress{message: message, stop: func() {}}
	same := columns(c.App.Writer) > 0
	if p.columns = columns(c.App.ErrWriter); p.columns == 0 || c.String("output") == "json" && !same {
		return p
	}
	ctx, stop := context.WithCancel(context.Background())
	p.w, p.began, p.stop = c.App.ErrWriter, time.Now(), stop
	p.draw()
	if out, ok := c.App.Writer.(*stdout); ok && same {
		out.progress = p
	}
	p.stopped.Go(func() {
		ticks := time.NewTicker(200 * time.Millisecond)
		defer ticks.Stop()
		for {
			select {
			case <-ctx.Done():
				fmt.Fprint(p.w, "\r\x1b[K")
				return
			case <-ticks.C:
				p.draw()
			}
		}
	})
	return p
}

// Update sets the message and how much of the total is done; total 0: unknown.
func (p *Progress) Update(message string, done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.message, p.done, p.total = message, done, total
}

func (p *Progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := p.message
	if p.total > 0 {
		line += fmt.Sprintf(", %d %%", 100*min(p.done, p.total)/p.total)
	}
	if took := time.Since(p.began).Truncate(time.Second); took > 0 {
		line += ", " + took.String()
	}
	fmt.Fprintf(p.w, "\r%s\x1b[K", Clip(line, p.columns-1)) // some terminals wrap a line that is full
}

// Stop clears the line. Output to the same terminal clears it too.
func (p *Progress) Stop() {
	p.stop()
	p.stopped.Wait()
}
