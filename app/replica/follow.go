package replica

import (
	"context"
	"os"
	"time"
)

// Litestream can go on after a restore, and apply to the file what comes to the place.
// It keeps how far it is in a file beside it, the mark, which it replaces after it has
// applied something whole; and it goes on from there if it is started again.

// MarkOf is the mark of a file that Litestream follows with.
func MarkOf(file string) string { return file + "-txid" }

// followInterval is how often Litestream lists the place for what is new.
const followInterval = time.Second

// RestoreToFollow writes the newest state of a replica into the file to, and leaves it
// and its mark as Follow takes them.
func (p Program) RestoreToFollow(ctx context.Context, c Config, to string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- p.follow(ctx, c, to, 24*time.Hour) }() // it applies nothing so soon
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-look.C:
			if _, err := os.Lstat(MarkOf(to)); err == nil {
				stop()
				<-ended
				return nil
			}
		}
	}
}

// Follow applies to a file what comes to the place, until ctx ends or the program does.
func (p Program) Follow(ctx context.Context, c Config, file string) error {
	return p.follow(ctx, c, file, followInterval)
}

func (p Program) follow(ctx context.Context, c Config, file string, every time.Duration) error {
	config, err := c.encode()
	if err != nil {
		return err
	}
	_, err = p.run(ctx, config, "restore", "-config", "/dev/stdin", "-no-expand-env", "-f", "-follow-interval", every.String(), "-o", file, c.Database)
	return err
}
