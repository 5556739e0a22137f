package serve

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"baoco/app"
	"baoco/app/replica"
	"baoco/sqlitestore"
)

// follower keeps the copy of a standby up to date:
//
//  1. It restores the copy of the newest epoch that has one into a new file, and checks
//     it as a restore does.
//  2. It starts Litestream, which goes on applying to that file what comes to the place,
//     and shows the file in place of the one before.
//  3. It reads the beat of the shown copy every two seconds, looks for a newer epoch
//     every ten, and lists the place every minute.
//
// It starts over, from step 1, where Litestream has ended; where the copy is damaged, or
// can't be read for half a minute; where the beat stands still although the place gets
// new transactions of the file, since then Litestream is there and applies nothing; and
// where another server took over and has written a copy, in another directory. Until
// there is a new copy the old one is shown, and its Litestream goes on. The pause before
// it starts over once more doubles until a beat has come through.
//
// Where the place gets nothing new the server writes nothing. The copy stays as it is,
// and everybody sees how old it is.
type follower struct {
	store   *sqlitestore.Standby
	program replica.Program
	config  replica.Config // of the shown copy; epoch 0: there is none
	log     *slog.Logger
	shown   func(ctx context.Context) error // another copy is shown
	state   atomic.Pointer[app.Standby]

	litestream *litestream     // that writes the shown copy
	objects    replica.Objects // nil: not connected
	beat       app.Beat        // of the shown copy
	movedAt    time.Time       // when it was another one last
	skew       time.Duration   // by how much the clock here is ahead of the server's, where that is too much
	readAt     time.Time       // when the copy could be read last
	checkedAt  time.Time
	epochAt    time.Time // when it looked for an epoch last
	listedAt   time.Time
	listed     listed
	key        app.Text // as in app.Standby

	problem app.Text // why it starts over, or can't
	place   app.Text // what is wrong at the place

	next  time.Time // before which it doesn't start over
	pause time.Duration
}

// listed is what lists of the place have shown since the beat moved.
type listed struct {
	beat  int64
	first uint64 // the last transaction of the file, in the first list
	gaps  int    // lists in a row with a gap
}

const (
	followerLook    = 2 * time.Second
	epochLook       = 10 * time.Second
	listLook        = time.Minute
	copyCheck       = time.Hour
	unreadTime      = 30 * time.Second // for which a copy may be unreadable
	stillTime       = 150 * time.Second
	leastPause      = 5 * time.Second
	mostPause       = 5 * time.Minute
	longestRestore  = 30 * time.Minute
	mostSkew        = 2 * time.Minute
	placeLooks      = 20 * time.Second // for the requests of one look
	beatRead        = 8 * time.Second
	gapsUntilItSays = 2 // Litestream may just have replaced objects by one
)

// litestream is a program that writes a copy.
type litestream struct {
	stop context.CancelFunc
	done chan struct{}
	err  error // after done
}

func (f *follower) follow(config replica.Config, path string) *litestream {
	ctx, stop := context.WithCancel(context.Background())
	l := &litestream{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(l.done)
		l.err = app.Protected(func() error { return f.program.Follow(ctx, config, path) })
	}()
	return l
}

func (l *litestream) end() {
	if l != nil {
		l.stop()
		<-l.done
	}
}

// run follows until ctx ends.
func (f *follower) run(ctx context.Context) error {
	defer func() { f.litestream.end(); f.closePlace() }()
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
	if f.litestream == nil {
		return because(nil, "The copy is being restored.", "Đang khôi phục bản sao.")
	}
	select {
	case <-f.litestream.done:
		return because(f.litestream.err, "Litestream has ended, so the standby starts over.", "Litestream đã dừng nên máy dự phòng đang làm lại từ đầu.")
	case err := <-f.store.Fatal():
		return because(err, "The copy is damaged, so the standby starts over.", "Bản sao bị hỏng nên máy dự phòng đang làm lại từ đầu.")
	default:
	}
	if err := f.readBeat(ctx, now); err != nil {
		return err
	}
	if now.Sub(f.checkedAt) >= copyCheck {
		f.checkedAt = now
		if err := f.store.Check(ctx); err != nil {
			return because(err, "The copy is damaged, so the standby starts over.", "Bản sao bị hỏng nên máy dự phòng đang làm lại từ đầu.")
		}
	}
	return f.lookAtPlace(ctx, now)
}

func (f *follower) readBeat(ctx context.Context, now time.Time) error {
	limited, cancel := context.WithTimeout(ctx, beatRead)
	defer cancel()
	beat, err := f.store.Beat(limited)
	if err != nil {
		if now.Sub(f.readAt) < unreadTime {
			return nil
		}
		return because(err, "The copy can’t be read, so the standby starts over.", "Không đọc được bản sao nên máy dự phòng đang làm lại từ đầu.")
	}
	f.readAt = now
	if beat.Sequence == f.beat.Sequence {
		return nil
	}
	f.skew = 0
	if off := now.Sub(beat.At); beat.Sequence == f.beat.Sequence+1 && off.Abs() > mostSkew {
		f.skew = off
	}
	f.beat, f.movedAt, f.pause = beat, now, leastPause
	return nil
}

// lookAtPlace finds out whether another server took over, or new transactions of the
// file aren't applied. What is wrong at the place is no reason to start over.
func (f *follower) lookAtPlace(ctx context.Context, now time.Time) (why error) {
	if now.Sub(f.epochAt) < epochLook {
		return nil
	}
	f.epochAt = now
	ctx, cancel := context.WithTimeout(ctx, placeLooks)
	defer cancel()
	objects, err := f.openPlace(ctx)
	var place app.Text
	if err == nil {
		why, place, err = f.lookForEpoch(ctx, objects)
	}
	if err == nil && why == nil && now.Sub(f.listedAt) >= listLook {
		f.listedAt = now
		why, err = f.list(ctx, objects, now)
	}
	if place == (app.Text{}) && f.listed.gaps >= gapsUntilItSays {
		place = app.Text{EN: "Objects of the replica are missing, so a takeover may fail. See what the server says: baoco replica check.", VI: "Bản sao ngoài máy bị thiếu tệp nên có thể không chạy thay được. Hãy xem trên máy chủ: baoco replica check."}
	}
	if err != nil {
		f.closePlace()
		place = app.Text{EN: "The place of the replica can’t be read from this machine. The log says why.", VI: "Máy này không đọc được nơi lưu bản sao ngoài máy, nhật ký có ghi lý do."}
	}
	if place != f.place && place != (app.Text{}) && ctx.Err() == nil {
		f.log.Warn("something is wrong at the place of the replica", "problem", place.EN, "err", err)
	}
	f.place = place
	return why
}

func (f *follower) lookForEpoch(ctx context.Context, objects replica.Objects) (why error, place app.Text, err error) {
	_, taken, err := replica.EpochAfter(ctx, objects, f.config.Epoch)
	if err != nil || !taken {
		return nil, place, err
	}
	last, err := replica.Newest(ctx, objects)
	if err != nil {
		return nil, place, err
	}
	held, err := replica.LastCopy(ctx, objects, last.Number)
	if err == nil && held.Epoch > f.config.Epoch {
		return because(nil, "Another server took over. The standby goes on with its copy.", "Máy chủ khác đã chạy thay. Máy dự phòng chuyển sang bản sao của máy đó."), place, nil
	}
	return nil, app.Textf("Another server took over at %s and has written no copy yet: %s.", "Máy chủ khác đã chạy thay lúc %s nhưng chưa có bản sao: %s.", last.At.Format(time.RFC3339), last.Host), err
}

// list finds out whether the place has got transactions of the file while the beat stood
// still.
func (f *follower) list(ctx context.Context, objects replica.Objects, now time.Time) (why error, err error) {
	look, err := replica.LookAt(ctx, objects, f.config.Epoch)
	if err != nil {
		return nil, err
	}
	if look.Odd(replica.Look{}) == nil {
		f.listed.gaps = 0
	} else {
		f.listed.gaps++
	}
	last := look.Last()
	if f.listed.beat != f.beat.Sequence {
		f.listed.beat, f.listed.first = f.beat.Sequence, last
	}
	if f.beat.Sequence > 0 && last > f.listed.first && now.Sub(f.movedAt) >= stillTime {
		return because(nil, "Litestream doesn’t apply what is new, so the standby starts over.", "Litestream không cập nhật bản sao nữa nên máy dự phòng đang làm lại từ đầu."), nil
	}
	return nil, nil
}

func (f *follower) openPlace(ctx context.Context) (_ replica.Objects, err error) {
	if f.objects == nil {
		f.objects, err = replica.Open(ctx, f.config.Place, f.config.Credentials)
	}
	return f.objects, err
}

func (f *follower) closePlace() {
	if f.objects != nil {
		_ = f.objects.Close() // only reads
	}
	f.objects = nil
}

func (f *follower) startOver(ctx context.Context, why error) {
	f.log.Info("the replica is being restored", "why", why)
	err := f.restore(ctx)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		f.closePlace()
		err = errors.Join(err, f.store.RemoveOthers())
		f.log.Error("the replica can't be restored", "err", err)
		f.problem = app.Text{EN: "The replica can’t be restored. The log says why.", VI: "Không khôi phục được bản sao ngoài máy, nhật ký có ghi lý do."}
		if errors.Is(err, sqlitestore.ErrNewer) || errors.Is(err, sqlitestore.ErrOlder) {
			f.problem = app.Text{EN: "The server has another version of baoco than this machine. Install the same on both.", VI: "Máy chủ chạy phiên bản baoco khác với máy này. Hãy cài cùng một phiên bản."}
		}
	default:
		f.log.Info("the standby follows", "epoch", f.config.Epoch, "beat", f.beat.At)
	}
	if err == nil {
		why = nil
	}
	f.publish(why)
	f.next = time.Now().Add(f.pause)
	f.pause = min(2*f.pause, mostPause)
}

// restore shows a new copy, with a Litestream of its own.
func (f *follower) restore(ctx context.Context) error {
	config := f.config
	objects, err := f.openPlace(ctx)
	if err != nil {
		return err
	}
	last, err := replica.Newest(ctx, objects)
	if err != nil {
		return err
	}
	held, err := replica.LastCopy(ctx, objects, last.Number)
	if err != nil {
		return err
	}
	config.Epoch = held.Epoch
	path, err := f.store.NewCopy()
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, longestRestore)
	defer cancel()
	mark := replica.MarkOf(path)
	if err := f.program.RestoreToFollow(limited, config, path); err != nil {
		return err
	}
	facts, keyFits, err := f.store.Admit(ctx, path, mark)
	if err == nil && f.goesBack(ctx, objects, config.Epoch, facts) {
		err = errors.New("objects of the replica are missing, and without them it is older than the copy that is shown")
	}
	if err != nil {
		return err
	}
	next := f.follow(config, path)
	f.store.Show(path, mark)
	f.litestream.end()
	now := time.Now()
	f.litestream, f.config, f.key = next, config, f.keyProblem(ctx, keyFits, objects)
	f.beat, f.skew, f.listed, f.place = facts.Beat, 0, listed{}, app.Text{}
	f.movedAt, f.readAt, f.checkedAt, f.epochAt, f.listedAt = now, now, now, now, now
	return errors.Join(f.store.RemoveOthers(), f.shown(ctx))
}

// goesBack reports whether a restored copy is older than the shown one because objects
// are missing. A server that has restored a backup goes back too, and has no gap.
func (f *follower) goesBack(ctx context.Context, objects replica.Objects, epoch int64, facts app.CopyFacts) bool {
	if epoch != f.config.Epoch || facts.Beat.Sequence >= f.beat.Sequence {
		return false
	}
	look, err := replica.LookAt(ctx, objects, epoch)
	return err != nil || look.Odd(replica.Look{}) != nil
}

// keyProblem says why a takeover of this machine would lack the key.
func (f *follower) keyProblem(ctx context.Context, fits bool, objects replica.Objects) (text app.Text) {
	switch _, err := objects.Get(ctx, replica.SealedKey); {
	case fits:
		return text
	case f.store.HasKey():
		text = app.Text{EN: "The key on this machine doesn’t open the secrets of the copy, so a takeover would fail. Name the right key with --key.", VI: "Tệp khoá trên máy này không mở được dữ liệu bí mật của bản sao nên sẽ không chạy thay được. Hãy chỉ đúng tệp khoá bằng --key."}
	case err == nil:
		text = app.Text{EN: "There is no key on this machine, which a takeover needs. Make it of the sealed one, with baoco replica open-key, and restart the standby.", VI: "Máy này chưa có tệp khoá để chạy thay. Hãy tạo từ khoá đã niêm phong bằng baoco replica open-key rồi khởi động lại máy dự phòng."}
	default:
		text = app.Text{EN: "There is no key on this machine, so a takeover would fail. Copy the server’s key file here, name it with --key and restart the standby.", VI: "Máy này không có tệp khoá nên sẽ không chạy thay được. Hãy chép tệp khoá của máy chủ sang đây, chỉ tới nó bằng --key rồi khởi động lại máy dự phòng."}
	}
	f.log.Warn("a takeover of this machine would lack the key", "problem", text.EN)
	return text
}

// publish says how the standby is. why is what look found.
func (f *follower) publish(why error) {
	if why == nil {
		f.problem = app.Text{}
	}
	state := app.Standby{Copied: f.litestream != nil, At: f.beat.At, Key: f.key, Problem: f.problem}
	var reason *app.Error
	switch {
	case f.problem != app.Text{}:
	case errors.As(why, &reason):
		state.Problem = reason.Text
	case f.place != app.Text{}:
		state.Problem = f.place
	case f.skew != 0:
		state.Problem = app.Textf("The clocks of this machine and of the server differ by %d minutes. See timedatectl on both.",
			"Đồng hồ của máy này và của máy chủ lệch nhau %d phút. Hãy xem timedatectl trên cả hai máy.", int(f.skew.Abs()/time.Minute))
	}
	if f.skew != 0 {
		state.At = f.movedAt
	}
	if f.beat.Sequence == 0 {
		state.At = time.Time{}
	}
	f.state.Store(&state)
}

// standby is how the standby is.
func (f *follower) standby() app.Standby { return *f.state.Load() }
