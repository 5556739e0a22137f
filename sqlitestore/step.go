package sqlitestore

import (
	"context"
	"time"
)

// Long work goes in steps, each a commit of its own, so that a call that comes
// in meanwhile waits for one step and never for all of it. A step ends when it
// has changed stepRows rows, or has taken stepTime for at least wholeRows: what
// is as small as a call of a few elements is one commit on any machine. Where a
// single statement changes the rows of a step, it changes stepRows at most.
const (
	stepRows  = 400
	stepTime  = 20 * time.Millisecond
	wholeRows = 20
)

// stepLimit is stepRows in a statement: a LIMIT that is a parameter would have
// SQLite prepare the statement anew for each value.
const stepLimit = ` LIMIT 400`

// full tells whether the running work has done what one step may do.
func (t *tx) full() bool {
	changed := t.changes - t.step.changes
	return changed >= stepRows || changed >= wholeRows && time.Since(t.step.began) >= stepTime
}

// stepBegin is where the running work began.
type stepBegin struct {
	changes int64
	began   time.Time
}

// inSteps runs fn in one commit after another, each time with what the last
// one gave, until there is no more to do. With an error it gives what the last
// commit gave. From the second step on, long works take turns: however many
// there are, others find one step at a time before them.
func inSteps[T any](ctx context.Context, s *Store, state T, fn func(tx *tx, state T) (_ T, more bool, err error)) (T, error) {
	type step struct {
		state T
		more  bool
	}
	done, err := step{state, true}, error(nil)
	for turn := false; err == nil && done.more; turn = true {
		if turn {
			select {
			case s.longWork <- struct{}{}:
			case <-ctx.Done():
				return done.state, storageError(ctx.Err())
			}
		}
		var next step
		next, err = writing(ctx, s, func(tx *tx) (n step, err error) {
			n.state, n.more, err = fn(tx, done.state)
			return n, err
		})
		if turn {
			<-s.longWork
		}
		if err == nil {
			done = next
		}
	}
	return done.state, err
}
