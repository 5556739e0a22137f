package serve

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"baoco/app"
	"baoco/app/replica"
	"baoco/app/upkeep"
	"baoco/sqlitestore"
)

// follower keeps the copy of a standby up to date:
//
//  1. It restores the copy of the newest epoch that has one into a new file, and checks
//     it as a restore does.
//  2. It has Litestream apply to that file what comes to the place, and shows the file
//     in place of the one before.
//  3. It reads the beat of the shown copy every two seconds, looks for a newer epoch
//     every ten, and lists the place every minute.
//
// It starts over, from step 1, where Litestream has ended; where the copy is damaged, or
// can't be read for half a minute; where the beat stands still although the place gets
// new transactions of the file, since then Litestream is there and applies nothing; and
// where another server took over and has written a copy. Until there is a new copy the
// old one is shown, and its Litestream goes on. The pause before it starts over once
// more doubles until a beat has come, so that a lost server costs little.
//
// Where the place gets nothing new the server writes nothing. The copy stays as it is,
// and everybody sees how old it is.
type follower struct {
	store   *sqlitestore.Standby
	program replica.Program
	config  replica.Config                  // of the shown copy, once there is one
	shown   func(ctx context.Context) error // is told of another copy
	log     *slog.Logger
	state   atomic.Pointer[upkeep.Standby]

	writer    *copyWriter     // of the shown copy; nil: there is none
	objects   replica.Objects // nil: never connected
	beat      upkeep.Beat     // of the shown copy
	asOf      time.Time       // of the shown copy, by the clock here
	movedAt   time.Time       // when the beat was another one last
	readAt    time.Time       // when the copy could be read last
	checkedAt time.Time
	lookedAt  time.Time // at the epochs
	listedAt  time.Time
	listed    listed

	failed app.Text // why it can't start over
	place  app.Text // what is wrong at the place
	key    app.Text // as in upkeep.Standby
	next   time.Time
	pause  time.Duration // after which it starts over next
}

// listed is what lists of the place have shown since the beat moved.
type listed struct {
	beat  int64
	first uint64 // the last transaction of the file, in the first list
	gaps  int    // lists in a row with a gap: Litestream may just have replaced objects
}

const (
	followerLook   = 2 * time.Second
	epochLook      = 10 * time.Second
	listLook       = time.Minute
	copyCheck      = time.Hour
	stillTime      = 150 * time.Second // Beats come every minute.
	unreadTime     = 30 * time.Second
	beatRead       = 8 * time.Second
	placeLook      = 20 * time.Second // for its requests
	longestRestore = 30 * time.Minute

	leastPause, mostPause = 5 * time.Second, 5 * time.Minute
)

// copyWriter is a Litestream that writes a copy.
type copyWriter struct {
	stop context.CancelFunc
	done chan struct{}
	err  error // after done
}

func (f *follower) startWriter(config replica.Config, path string) *copyWriter {
	ctx, stop := context.WithCancel(context.Background())
	w := &copyWriter{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		w.err = app.Protected(func() error { return f.program.Follow(ctx, config, path) })
	}()
	return w
}

func (w *copyWriter) end() {
	if w != nil {
		w.stop()
		<-w.done
	}
}

// run follows until ctx ends.
func (f *follower) run(ctx context.Context) error {
	defer func() {
		f.writer.end()
		if f.objects != nil {
			_ = f.objects.Close() // only reads
		}
	}()
	tick := time.NewTicker(followerLook)
	defer tick.Stop()
	f.pause = leastPause
	for ctx.Err() == nil {
		why := f.look(ctx, time.Now())
		f.publish(why)
		if why != nil && !time.Now().Before(f.next) {
			f.startOver(ctx, why)
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	return nil
}

// because is a reason for people, with its error for the log.
func because(err error, en, vi string) error {
	return &app.Error{Code: app.CodeUnavailable, Text: app.Text{EN: en, VI: vi}, Err: err}
}

// look finds out why the follower must start over; nil: it follows.
func (f *follower) look(ctx context.Context, now time.Time) error {
	if f.writer == nil {
		return because(nil, "The copy is being restored.", "Đang khôi phục bản sao.")
	}
	select {
	case <-f.writer.done:
		return because(f.writer.err, "Litestream has ended, so the standby starts over.", "Litestream đã dừng nên máy dự phòng đang làm lại từ đầu.")
	case err := <-f.store.Fatal():
		return damagedCopy(err)
	default:
	}
	if err := f.readBeat(ctx, now); err != nil {
		return err
	}
	if now.Sub(f.checkedAt) >= copyCheck {
		f.checkedAt = now
		if err := f.store.Check(ctx); err != nil {
			return damagedCopy(err)
		}
	}
	if now.Sub(f.lookedAt) < epochLook {
		return nil
	}
	f.lookedAt = now
	limited, cancel := context.WithTimeout(ctx, placeLook)
	defer cancel()
	place, why, err := f.lookAtPlace(limited, now)
	if err != nil {
		place = app.Text{EN: "The place of the replica can’t be read from this machine. The log says why.", VI: "Máy này không đọc được nơi lưu bản sao ngoài máy, nhật ký có ghi lý do."}
	}
	if place != f.place && place != (app.Text{}) && ctx.Err() == nil {
		f.log.Warn("something is wrong at the place of the replica", "problem", place.EN, "err", err)
	}
	f.place = place
	return why
}

func damagedCopy(err error) error {
	return because(err, "The copy is damaged, so the standby starts over.", "Bản sao bị hỏng nên máy dự phòng đang làm lại từ đầu.")
}

// readBeat reads how far the copy is. A beat that was seen to come is of now; the clock
// of the server may be wrong.
func (f *follower) readBeat(ctx context.Context, now time.Time) error {
	limited, cancel := context.WithTimeout(ctx, beatRead)
	defer cancel()
	beat, err := f.store.Beat(limited)
	switch {
	case err != nil && now.Sub(f.readAt) >= unreadTime:
		return because(err, "The copy can’t be read, so the standby starts over.", "Không đọc được bản sao nên máy dự phòng đang làm lại từ đầu.")
	case err != nil:
		return nil
	case beat.Sequence == f.beat.Sequence+1:
		f.asOf = now
	case beat.Sequence != f.beat.Sequence:
		f.asOf = earlier(beat.At, now)
	}
	if f.readAt = now; beat.Sequence != f.beat.Sequence {
		f.beat, f.movedAt, f.pause = beat, now, leastPause
	}
	return nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// lookAtPlace finds out whether another server took over, and every minute whether the
// place has got transactions of the file while the beat stood still. why is a reason to
// start over, and place what is wrong without being one.
func (f *follower) lookAtPlace(ctx context.Context, now time.Time) (place app.Text, why, err error) {
	if err := f.openPlace(ctx); err != nil {
		return place, nil, err
	}
	held, last, err := f.newest(ctx)
	switch {
	case err != nil:
		return place, nil, err
	case held.Epoch > f.config.Epoch:
		return place, because(nil, "Another server took over. The standby goes on with its copy.", "Máy chủ khác đã tiếp quản. Máy dự phòng chuyển sang bản sao của máy đó."), nil
	case last.Number > f.config.Epoch:
		return app.Textf("Another server took over and has written no copy yet: %s.", "Máy chủ khác đã tiếp quản nhưng chưa có bản sao: %s.", last.Host), nil, nil
	}
	if now.Sub(f.listedAt) >= listLook {
		f.listedAt = now
		look, err := replica.LookAt(ctx, f.objects, f.config.Epoch)
		if err != nil {
			return place, nil, err
		}
		if f.standsStill(look, now) {
			return place, because(nil, "Litestream doesn’t apply what is new, so the standby starts over.", "Litestream không cập nhật bản sao nữa nên máy dự phòng đang làm lại từ đầu."), nil
		}
	}
	if f.listed.gaps > 1 {
		place = app.Text{EN: "Objects of the replica are missing, so a takeover may fail. See what the server says: baoco replica check.", VI: "Bản sao ngoài máy bị thiếu tệp nên có thể không tiếp quản được. Hãy xem trên máy chủ: baoco replica check."}
	}
	return place, nil, nil
}

func (f *follower) standsStill(look replica.Look, now time.Time) bool {
	if f.listed.gaps++; look.Odd(replica.Look{}) == nil {
		f.listed.gaps = 0
	}
	if f.listed.beat != f.beat.Sequence {
		f.listed.beat, f.listed.first = f.beat.Sequence, look.Last()
	}
	return f.beat.Sequence > 0 && look.Last() > f.listed.first && now.Sub(f.movedAt) >= stillTime
}

// newest finds the last epoch, and the last copy there is.
func (f *follower) newest(ctx context.Context) (held replica.Copy, last replica.Epoch, err error) {
	if last, err = replica.Newest(ctx, f.objects); err == nil && last.Number != f.config.Epoch {
		held, err = replica.LastCopy(ctx, f.objects, last.Number)
	}
	return held, last, err
}

func (f *follower) openPlace(ctx context.Context) (err error) {
	if f.objects == nil {
		f.objects, err = replica.Open(ctx, f.config.Place, f.config.Credentials)
	}
	return err
}

func (f *follower) startOver(ctx context.Context, why error) {
	f.log.Info("the replica is being restored", "why", why)
	err := f.restore(ctx)
	if ctx.Err() != nil {
		return
	}
	f.failed = app.Text{}
	if err != nil {
		f.log.Error("the replica can't be restored", "err", errors.Join(err, f.store.RemoveOthers()))
		f.failed = app.Text{EN: "The replica can’t be restored. The log says why.", VI: "Không khôi phục được bản sao ngoài máy, nhật ký có ghi lý do."}
		if errors.Is(err, sqlitestore.ErrNewer) || errors.Is(err, sqlitestore.ErrOlder) {
			f.failed = app.Text{EN: "The server has another version of baoco than this machine. Install the same on both.", VI: "Máy chủ chạy phiên bản baoco khác với máy này. Hãy cài cùng một phiên bản."}
		}
		f.publish(why)
	} else {
		f.log.Info("the standby follows", "epoch", f.config.Epoch, "beat", f.beat.Sequence)
		f.publish(nil)
	}
	f.next = time.Now().Add(f.pause)
	f.pause = min(2*f.pause, mostPause)
}

// restore shows a new copy, with a Litestream of its own.
func (f *follower) restore(ctx context.Context) error {
	if err := f.openPlace(ctx); err != nil {
		return err
	}
	last, err := replica.Newest(ctx, f.objects)
	if err != nil {
		return err
	}
	held, err := replica.LastCopy(ctx, f.objects, last.Number)
	if err != nil {
		return err
	}
	config := f.config
	config.Epoch = held.Epoch
	path, err := f.store.NewCopy()
	if err != nil {
		return err
	}
	mark := replica.MarkOf(path)
	limited, cancel := context.WithTimeout(ctx, longestRestore)
	defer cancel()
	if err := f.program.RestoreToFollow(limited, config, path); err != nil {
		return err
	}
	facts, keyFits, err := f.store.Admit(ctx, path, mark)
	if err == nil && config.Epoch == f.config.Epoch && facts.Beat.Sequence < f.beat.Sequence {
		err = f.goesBack(ctx)
	}
	if err != nil {
		return err
	}
	writer := f.startWriter(config, path)
	f.store.Show(path, mark)
	f.writer.end()
	if f.key = (app.Text{}); !keyFits {
		f.key = app.Text{
			EN: "The server’s key isn’t on this machine, so a takeover would fail. Copy it here, or make it of the sealed one by baoco replica open-key, name it with --key and restart the standby.",
			VI: "Máy này không có tệp khoá của máy chủ nên sẽ không tiếp quản được. Hãy chép sang đây hoặc tạo từ khoá đã niêm phong bằng baoco replica open-key, chỉ tới nó bằng --key rồi khởi động lại máy dự phòng.",
		}
		f.log.Warn("a takeover would fail", "problem", f.key.EN)
	}
	if facts.Beat.Sequence != f.beat.Sequence { // the server lives
		f.pause = leastPause
	}
	now := time.Now()
	f.writer, f.config, f.beat, f.asOf, f.listed, f.place = writer, config, facts.Beat, earlier(facts.Beat.At, now), listed{}, app.Text{}
	f.movedAt, f.readAt, f.checkedAt, f.lookedAt, f.listedAt = now, now, now, now, now
	return errors.Join(f.store.RemoveOthers(), f.shown(ctx))
}

// goesBack refuses a copy that is older than the shown one because objects are missing.
// A server that has restored a backup goes back too, and has no gap.
func (f *follower) goesBack(ctx context.Context) error {
	look, err := replica.LookAt(ctx, f.objects, f.config.Epoch)
	if err == nil {
		err = look.Odd(replica.Look{})
	}
	if err != nil {
		err = errors.Join(errors.New("what can be restored is older than the copy that is shown"), err)
	}
	return err
}

// publish says how the standby is. why is what look found.
func (f *follower) publish(why error) {
	state := upkeep.Standby{Copied: f.writer != nil, At: f.asOf, Problem: f.place, Key: f.key}
	if f.beat.Sequence == 0 {
		state.At = time.Time{}
	}
	var reason *app.Error
	switch {
	case why == nil:
		f.failed = app.Text{}
	case f.failed != app.Text{}:
		state.Problem = f.failed
	case errors.As(why, &reason):
		state.Problem = reason.Text
	}
	f.state.Store(&state)
}

// standby is how the standby is.
func (f *follower) standby() upkeep.Standby { return *f.state.Load() }
