package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"baoco/app"

	sqlite3 "modernc.org/sqlite/lib"
)

// maxBatch is how many callers one commit serves at most.
const maxBatch = 512

var (
	errClosed = errors.New("the store is closed")
	errBroken = errors.New("the database can't be trusted any more: the server ends")
)

// writer is the one goroutine that writes. It takes all the jobs that wait,
// commits them together with one fsync, and only then replies to the callers. A
// job that fails, or whose context has ended, doesn't fail the other jobs.
type writer struct {
	work     chan *write
	quit     chan struct{}
	finished chan struct{}
	closing  sync.Once
	onFatal  func(error)
	failing  atomic.Bool // a commit failed, and no probe has succeeded since
	broken   atomic.Bool // the file can't be trusted any more: nothing is written
	turn     *turn
	dir      string // of the database
	files    *openFiles
	tx       *tx
	onCommit func(took time.Duration, callers int) // may be nil
	beat     atomic.Pointer[time.Time]             // when the last batch was done, also one that failed

	logged          int       // pages written to the log since the last checkpoint
	gaveWay         time.Time // when giveWay last let another process write
	checkpointErr   atomic.Pointer[error]
	retryCheckpoint atomic.Bool
}

type write struct {
	ctx   context.Context
	fn    func(tx *tx) error
	err   error
	reply chan error // nil: the caller doesn't wait
}

// openWriter opens the connection. The caller starts run.
func openWriter(ctx context.Context, path string, sealer *sealer, turn *turn, onFatal func(error)) (*writer, error) {
	conn, err := connector(writeDSN(path)).Connect(ctx)
	if err != nil {
		return nil, storageError(err)
	}
	w := &writer{
		turn: turn, dir: filepath.Dir(path), onFatal: onFatal, tx: newTx(conn, sealer),
		work: make(chan *write, maxBatch), quit: make(chan struct{}), finished: make(chan struct{}),
	}
	w.noteBeat()
	return w, nil
}

func (w *writer) noteBeat() {
	now := time.Now()
	w.beat.Store(&now)
}

// do runs fn in the next commit and returns fn's error once the commit is on
// disk. fn may run twice: the first run is then rolled back, so fn must have no
// effects outside the transaction. When ctx ends first, do returns ctx.Err(); fn may
// be committed nevertheless, so it must be safe to repeat.
func (w *writer) do(ctx context.Context, fn func(tx *tx) error) error {
	if w.broken.Load() {
		return errBroken
	}
	job := &write{ctx: ctx, fn: fn, reply: make(chan error, 1)}
	select {
	case w.work <- job:
	case <-w.quit:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-job.reply:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-w.finished:
		select {
		case err := <-job.reply:
			return err
		default:
			return errClosed
		}
	}
}

// offer queues fn without waiting for it. fn is dropped when the queue is full.
func (w *writer) offer(fn func(tx *tx) error) {
	select {
	case w.work <- &write{ctx: context.Background(), fn: fn}:
	default:
	}
}

func (w *writer) close() error {
	w.closing.Do(func() { close(w.quit) })
	<-w.finished
	if w.broken.Load() {
		return w.turn.close()
	}
	return errors.Join(w.tx.close(), w.turn.close())
}

func (w *writer) run() {
	defer close(w.finished)
	batch := make([]*write, 0, maxBatch)
	for {
		busy := len(batch) >= busyBatch
		batch = batch[:0]
		select {
		case job := <-w.work:
			if busy {
				letOthersCall()
			}
			batch = append(batch, job)
		case <-w.quit:
			if batch = w.drain(batch); len(batch) == 0 {
				return
			}
		}
		batch = w.drain(batch)
		if err := app.Protected(func() error { w.commit(batch); return nil }); err != nil {
			w.fail(err) // the state of the transaction isn't known
			answer(batch, errBroken)
		}
		w.noteBeat()
	}
}

// busyBatch is how many callers a commit has at least for the next one to wait for more.
const busyBatch = 4

// letOthersCall lets other goroutines run a few times: they may bring more callers for
// the commit.
func letOthersCall() {
	for range 4 {
		runtime.Gosched()
	}
}

// answer replies to the waiting callers of a batch. err is for those whose own job has
// not failed. A caller that has a reply already gets no second one.
func answer(batch []*write, err error) {
	for _, job := range batch {
		if job.err == nil {
			job.err = err
		}
		select {
		case job.reply <- storageError(job.err):
		default: // the caller doesn't wait, or has its reply
		}
	}
}

func (w *writer) drain(batch []*write) []*write {
	for len(batch) < maxBatch {
		select {
		case job := <-w.work:
			batch = append(batch, job)
		default:
			return batch
		}
	}
	return batch
}

// commit runs a batch in one transaction and replies to its callers.
func (w *writer) commit(batch []*write) {
	w.turn.begin()
	err := errBroken
	if !w.broken.Load() {
		err = w.tryCommit(batch)
	}
	w.turn.end()
	var gone []string
	if err == nil && w.files != nil {
		if gone = w.files.goneAfterCommit(); len(gone) > 0 {
			w.broken.Store(true)
			if err = ErrTaken; !w.files.served {
				err = fmt.Errorf("%w: %s; what this command did last is lost: look what the database has", ErrTaken, strings.Join(gone, ", "))
			}
		}
	}
	if err != nil {
		w.failing.Store(true)
		if isFatal(err) {
			w.fail(err)
		}
	}
	answer(batch, err)
	if len(gone) > 0 && w.files.served {
		w.onFatal(w.saveOpenFiles(gone))
	}
	w.checkpointIfLarge(primaryCode(err) == sqlite3.SQLITE_FULL)
}

// tryCommit runs a batch without savepoints first, since savepoints copy every page
// that the batch touches, and few jobs fail. If a job fails after it has written
// something, the batch is rolled back and runs again with a savepoint for each job.
func (w *writer) tryCommit(batch []*write) error {
	err := w.runBatch(batch, false)
	if err == errPartlyDone {
		err = w.runBatch(batch, true)
	}
	return err
}

var errPartlyDone = errors.New("a job failed after it had written something")

func (w *writer) runBatch(batch []*write, savepoints bool) error {
	t, begun := w.tx, time.Now()
	unchanged := t.changes
	t.totals.reset()
	if err := t.control(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	if err := t.checkCache(); err != nil {
		t.rollback()
		return err
	}
	succeeded := false
	for _, job := range batch {
		if job.err = job.ctx.Err(); job.err != nil {
			continue
		}
		before := t.changes
		if savepoints {
			job.err = t.runInSavepoint(job)
		} else {
			job.err = t.runJob(job)
		}
		switch {
		case job.err == nil:
			succeeded = true
		case losesTransaction(job.err):
			t.rollback()
			return job.err
		case !savepoints && t.changes != before && len(batch) > 1:
			t.rollback()
			return errPartlyDone
		}
	}
	if !succeeded {
		t.rollback()
		return nil
	}
	if err := t.totals.flush(t); err != nil {
		return t.undo(err)
	}
	if err := t.control(`COMMIT`); err != nil {
		t.rollback()
		return err
	}
	if t.changes != unchanged && w.onCommit != nil { // otherwise there was nothing to sync
		w.onCommit(time.Since(begun), len(batch))
	}
	return nil
}

// undo rolls back a batch whose totals could not be written. The batch then runs again
// with savepoints, which shows whose totals they are.
func (t *tx) undo(err error) error {
	t.rollback()
	if losesTransaction(err) {
		return err
	}
	return errPartlyDone
}

// runJob runs one job. If it fails, runJob removes what it added to the totals.
func (t *tx) runJob(job *write) error {
	mark := t.totals.mark()
	t.step = stepBegin{t.changes, time.Now()}
	err := t.together(func() error { return app.Protected(func() error { return job.fn(t) }) })
	if err != nil {
		t.totals.rewind(mark)
	}
	if t.stepped != nil {
		t.stepped(t.changes - t.step.changes)
	}
	return err
}

// runInSavepoint runs one job so that its failure rolls back only itself.
func (t *tx) runInSavepoint(job *write) error {
	if err := t.control(`SAVEPOINT job`); err != nil {
		return err
	}
	err := t.runJob(job)
	if err == nil {
		err = t.totals.flush(t)
	}
	t.totals.reset()
	if err == nil {
		return t.control(`RELEASE job`)
	}
	if losesTransaction(err) {
		return err
	}
	t.forgetCache()
	if undo := errors.Join(t.control(`ROLLBACK TO job`), t.control(`RELEASE job`)); undo != nil {
		return undo
	}
	return err
}

// write runs fn in the next commit.
func (s *Store) write(ctx context.Context, fn func(tx *tx) error) error {
	return storageError(s.writer.do(ctx, fn))
}

// writing runs fn in the next commit and returns its result. After an error, such as the
// end of ctx, it returns the zero value: the writer may still be writing the result.
func writing[T any](ctx context.Context, s *Store, fn func(tx *tx) (T, error)) (T, error) {
	var result, none T
	err := s.write(ctx, func(tx *tx) (err error) {
		result, err = fn(tx)
		return err
	})
	if err != nil {
		return none, err
	}
	return result, nil
}

// probeSize is how many bytes Probe writes: a full disk may have room for one small
// commit and not for the next.
const probeSize = 64 << 10

// probeTime is how long Probe waits for the writer.
const probeTime = 4 * time.Second

// Probe reads a row and waits for the writer to run an empty job, because a disk
// that stalls delays commits without an error. After a failed commit Probe also
// writes and removes probeSize bytes, so that a recovery is noticed without a call
// of a provider. It returns app.CodeUnavailable if the store can't be used, after
// probeTime at most.
func (s *Store) Probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	if _, err := readOne[int](ctx, s, `SELECT 1`); err != nil {
		return err
	}
	if s.writer.checkpointed() != nil {
		s.writer.retryCheckpoint.Store(true)
		if err := errors.Join(s.write(ctx, func(*tx) error { return nil }), s.writer.checkpointed()); err != nil {
			return storageError(err)
		}
	}
	if !s.writer.failing.Load() {
		return s.write(ctx, func(*tx) error { return nil })
	}
	err := s.write(ctx, func(tx *tx) error {
		return tx.exec(`INSERT OR REPLACE INTO settings (name, value) VALUES ('probe', ?)`, strings.Repeat(".", probeSize))
	})
	if err == nil {
		err = s.write(ctx, func(tx *tx) error { return tx.exec(`DELETE FROM settings WHERE name = 'probe'`) })
	}
	if err == nil {
		s.writer.failing.Store(false)
	}
	return err
}

func (s *Store) WriterBeat() time.Time { return *s.writer.beat.Load() }

// fail stops all further writing and reports err to the process.
func (w *writer) fail(err error) {
	w.broken.Store(true)
	if e := storageError(err); errors.Is(e, ErrDamaged) {
		err = e
	}
	w.onFatal(err)
}
