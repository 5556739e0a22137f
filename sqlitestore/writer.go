package sqlitestore

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
)

// maxBatch is how many callers one commit serves at most.
const maxBatch = 512

var (
	errClosed = errors.New("the store is closed")
	errBroken = errors.New("the database can't be trusted any more: the server ends")
)

// writer is the one goroutine that writes. Callers hand it their work; it
// takes one, drains what waits, commits all of it with one fsync, and only
// then replies. Work that fails or gives up takes nobody with it.
type writer struct {
	work     chan *write
	quit     chan struct{}
	finished chan struct{}
	closing  sync.Once
	onFatal  func(error)
	failing  atomic.Bool // a commit failed, and Probe hasn't seen one succeed since
	broken   atomic.Bool // the file can't be trusted any more
	turn     *turn
	files    *openFiles // nil: nobody serves
	tx       *tx
	commits  commitTimes

	logged          int // pages written to the log since the last checkpoint
	checkpointErr   atomic.Pointer[error]
	retryCheckpoint atomic.Bool
}

type write struct {
	ctx   context.Context
	fn    func(tx *tx) error
	err   error
	reply chan error // nil: nobody waits
}

// openWriter gives a writer that waits for its run to be started.
func openWriter(ctx context.Context, dsn string, sealer *sealer, turn *turn, onFatal func(error)) (*writer, error) {
	conn, err := connector(dsn).Connect(ctx)
	if err != nil {
		return nil, storageError(err)
	}
	w := &writer{
		turn: turn, onFatal: onFatal, tx: newTx(conn, sealer),
		work: make(chan *write, maxBatch), quit: make(chan struct{}), finished: make(chan struct{}),
	}
	return w, nil
}

// do runs fn in the next commit and returns once that is on disk, with fn's
// own error. fn may run more than once before that, each time in a transaction
// that knows nothing of the time before. When ctx ends first the caller is told
// so; fn may be committed all the same, so it must be safe to repeat.
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

// offer has fn committed some time, or dropped when the queue is full.
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
		batch = batch[:0]
		select {
		case job := <-w.work:
			batch = append(batch, job)
		case <-w.quit:
			if batch = w.drain(batch); len(batch) == 0 {
				return
			}
			w.commit(batch)
			continue
		}
		w.commit(w.drain(batch))
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

// commit runs a batch in one transaction and replies to everyone in it.
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
			err = ErrTaken
			w.broken.Store(true)
		}
	}
	if err != nil {
		w.failing.Store(true)
		if isFatal(err) {
			w.fail(err)
		}
	}
	for _, job := range batch {
		if job.reply == nil {
			continue
		}
		if err != nil && job.err == nil {
			job.err = err
		}
		job.reply <- storageError(job.err)
	}
	if len(gone) > 0 {
		w.onFatal(w.saveOpenFiles(gone))
	}
	w.checkpointIfLarge()
}

// tryCommit runs a batch without savepoints first: they would copy every page
// that the batch touches, and hardly any work fails. Where work failed after it
// had written something, the batch is undone and runs again with them.
func (w *writer) tryCommit(batch []*write) error {
	err := w.runBatch(batch, false)
	if err == errPartlyDone {
		err = w.runBatch(batch, true)
	}
	return err
}

// errPartlyDone: work failed and left some of its writes in the transaction.
var errPartlyDone = errors.New("work failed half done")

func (w *writer) runBatch(batch []*write, savepoints bool) error {
	t, begun := w.tx, time.Now()
	unchanged := t.changes
	t.totals.reset()
	if err := t.exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	if err := t.checkCache(); err != nil {
		t.rollback()
		return err
	}
	wrote := false
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
			wrote = true
		case losesTransaction(job.err):
			t.rollback()
			return job.err
		case !savepoints && t.changes != before && len(batch) > 1:
			t.rollback()
			return errPartlyDone
		}
	}
	if !wrote {
		t.rollback()
		return nil
	}
	if err := t.totals.flush(t); err != nil {
		t.rollback()
		return err
	}
	if err := t.exec(`COMMIT`); err != nil {
		t.rollback()
		return err
	}
	if t.changes != unchanged { // else there was nothing to sync
		ended := time.Now()
		w.commits.note(ended, ended.Sub(begun))
	}
	return nil
}

// runJob runs one caller's work.
func (t *tx) runJob(job *write) error {
	mark := t.totals.mark()
	t.step = stepBegin{t.changes, time.Now()}
	err := protect(func() error { return job.fn(t) })
	if err != nil {
		t.totals.rewind(mark)
	}
	if t.stepped != nil {
		t.stepped(t.changes - t.step.changes)
	}
	return err
}

// runInSavepoint runs one caller's work so that its failure undoes only
// itself.
func (t *tx) runInSavepoint(job *write) error {
	if err := t.exec(`SAVEPOINT job`); err != nil {
		return err
	}
	err := t.runJob(job)
	if err == nil {
		return t.exec(`RELEASE job`)
	}
	if losesTransaction(err) {
		return err
	}
	t.forgetCache()
	if undo := errors.Join(t.exec(`ROLLBACK TO job`), t.exec(`RELEASE job`)); undo != nil {
		return undo
	}
	return err
}

// protect turns a panic in one caller's work into that caller's error.
func protect(fn func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicError{r}
		}
	}()
	return fn()
}

// write runs fn in the next commit.
func (s *Store) write(ctx context.Context, fn func(tx *tx) error) error {
	return storageError(s.writer.do(ctx, fn))
}

// writing runs fn in the next commit and gives its result. The result of a
// caller who gave up meanwhile is left to the writer, who may still be at it.
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

// probeSize is how much room Probe wants, in bytes: where a small commit just
// fits, the next may not.
const probeSize = 64 << 10

// probeTime is how long Probe waits for its turn.
const probeTime = 4 * time.Second

// Probe reads, and looks whether the writer comes to its turn: a stalled disk
// fails no commit, it holds it. Where a commit failed it also writes something
// of no meaning, and removes it, so that a recovery is seen without anybody's
// call.
func (s *Store) Probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	var one int
	if err := s.queryRow(ctx, `SELECT 1`).Scan(&one); err != nil {
		return storageError(err)
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

// checkpointPages is how many pages go into the write-ahead log, of 4 KiB
// each, before they are copied into the database file.
const checkpointPages = 4000

// The writer makes the checkpoints itself, after it has replied. SQLite's own
// would come inside a COMMIT, and nobody would be told when one fails: neither
// that the log grows without end, nor that a sync of the database file failed,
// after which Linux forgets what it should have written, the next sync succeeds
// and the log is overwritten. After such an error nothing of the log may be
// given up: the process ends without closing the file, which would be one more
// checkpoint, and the next start copies the whole log again.

// checkpointIfLarge copies the log into the file where it has grown, or where
// the last time failed and Probe wants to know.
func (w *writer) checkpointIfLarge() {
	if pages, _, err := w.tx.conn.(sqlite.DBStatus).Status(sqlite.DBStatusCacheWrite, true); err == nil {
		w.logged += pages
	}
	if w.broken.Load() || w.logged < checkpointPages && !w.retryCheckpoint.Load() {
		return
	}
	var busy, pages, copied int
	err := w.tx.queryRow(`PRAGMA wal_checkpoint(PASSIVE)`).Scan(&busy, &pages, &copied)
	w.logged = 0
	if copied < pages { // somebody still reads an older state: again soon
		w.logged = checkpointPages * 7 / 8
	}
	w.retryCheckpoint.Store(false)
	w.checkpointErr.Store(&err)
	if isFatal(err) {
		w.fail(err)
	}
}

// checkpointed is how the last checkpoint ended.
func (w *writer) checkpointed() error {
	if err := w.checkpointErr.Load(); err != nil {
		return *err
	}
	return nil
}

// fail ends the trust in the file.
func (w *writer) fail(err error) {
	w.broken.Store(true)
	if e := storageError(err); errors.Is(e, ErrDamaged) {
		err = e
	}
	w.onFatal(err)
}
