package serve

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"time"

	"baoco/app"
	"baoco/app/replica"
	"baoco/app/upkeep"
	"baoco/sqlitestore"
)

const (
	// checkBytes is about how many bytes a day checks of the replica may fetch.
	checkBytes = 2 << 30
	// checkLeast and checkMost bound the time between two checks, unless a look finds a
	// reason for one.
	checkLeast, checkMost = 3 * time.Minute, 24 * time.Hour
	// silentReplica is how long the place may get nothing new. A beat comes there every
	// minute.
	silentReplica = 130 * time.Second
	// clockDiffers is how much the clock of the place may differ from ours.
	clockDiffers = 2 * time.Minute
)

// ReplicaChecker looks at the replica of a database. One Look at a time is made.
type ReplicaChecker struct {
	Store *sqlitestore.Store
	seen  seen
}

type seen struct {
	config replica.Config
	look   replica.Look // the last; zero: none
	at     time.Time    // of that look
	moved  time.Time    // when a look last found new objects
	newest int64        // the newest transaction of the file then
	sealed bool         // a look has found a sealed key
	clock  app.Text     // how the clock of the place differs; zero: it doesn't
	last   upkeep.ReplicaCheck
	next   time.Time // of a check
}

// Replicated reports whether the database has a replica.
func (r *ReplicaChecker) Replicated() bool {
	_, err := replica.ReadConfig(r.Store.Path())
	return !errors.Is(err, fs.ErrNotExist)
}

// Look lists the replica, and checks it if a check is due or Odd finds a reason.
func (r *ReplicaChecker) Look(ctx context.Context, now time.Time) upkeep.ReplicaCheck {
	c := r.look(ctx, now)
	c.At, c.Written, c.Place = now, r.seen.moved, r.seen.config.Place.String()
	c.CheckedAt, c.Took, c.Transactions = r.seen.last.At, r.seen.last.Took, r.seen.last.Transactions
	return c
}

func (r *ReplicaChecker) look(ctx context.Context, now time.Time) upkeep.ReplicaCheck {
	c, err := replica.ReadConfig(r.Store.Path())
	if err == nil && c != r.seen.config {
		r.seen = seen{config: c, moved: now}
	}
	var look replica.Look
	var problem app.Text
	if err == nil {
		look, problem, err = r.list(ctx)
	}
	if err != nil {
		return upkeep.ReplicaCheck{Problem: app.Textf("The place of the replica can’t be read: %s",
			"Không đọc được nơi lưu bản sao ngoài máy: %s", err.Error())}
	}
	if look.Empty() && now.Sub(r.seen.moved) <= silentReplica {
		return upkeep.ReplicaCheck{} // the replica was just set up, or the server just started
	}
	reason := look.Odd(r.seen.look)
	if look.News(r.seen.look) {
		r.seen.clock = clockProblem(look.Newest, r.seen.at, now)
		r.seen.moved = now
		if held, err := r.Store.CopyFacts(ctx, upkeep.AllCopied); err == nil {
			r.seen.newest = held.NewestID
		}
	} else if since, err := r.Store.FirstAfter(ctx, r.seen.newest, upkeep.AllCopied); err == nil && !since.IsZero() &&
		now.Sub(since) > upkeep.StaleCopy {
		reason = errStandsStill
	}
	r.seen.look, r.seen.at = look, now
	if silent := now.Sub(r.seen.moved); silent > silentReplica && r.seen.last.Problem == (app.Text{}) {
		return upkeep.ReplicaCheck{Behind: silent, Problem: app.Textf(
			"Nothing new has come to the replica for %d minutes.", "Đã %d phút không có gì mới được chép sang bản sao ngoài máy.",
			int(silent/time.Minute)).And(upkeep.RestartLitestream)}
	}
	if reason != nil && r.seen.last.Problem == (app.Text{}) || !now.Before(r.seen.next) {
		r.seen.last = r.Check(ctx, now)
		r.seen.next = now.Add(r.pause())
	}
	last := r.seen.last
	last.Problem = cmp.Or(last.Problem, problem, r.seen.clock)
	return last
}

// errStandsStill says that transactions were recorded, but the place got nothing new.
var errStandsStill = errors.New("the copy stands still under a writing server")

// clockProblem compares our clock with that of the place, by which written is the time of
// the newest object. That object is new since the look at before; zero: the first look.
func clockProblem(written, before, now time.Time) app.Text {
	ago := now.Sub(written)
	if before.IsZero() || ago > -clockDiffers && ago < now.Sub(before)+clockDiffers {
		return app.Text{}
	}
	return app.Textf("The clock of this machine differs from that of the replica’s place by %d minutes. Dates of transactions depend on it: "+
		"see that it is right, with timedatectl.",
		"Đồng hồ của máy này lệch %d phút so với nơi lưu bản sao ngoài máy. Ngày giờ giao dịch phụ thuộc vào đồng hồ: "+
			"hãy kiểm tra bằng timedatectl.", int(ago.Abs().Round(time.Minute)/time.Minute))
}

// list lists the replica. problem says what is wrong with the objects of baoco beside it;
// zero: nothing.
func (r *ReplicaChecker) list(ctx context.Context) (l replica.Look, problem app.Text, err error) {
	c := r.seen.config
	objects, err := replica.Open(ctx, c.Place, c.Credentials)
	if err != nil {
		return l, problem, err
	}
	defer objects.Close()
	if l, err = replica.LookAt(ctx, objects, c.Epoch); err != nil {
		return l, problem, err
	}
	if _, there, err := replica.EpochAfter(ctx, objects, c.Epoch-1); err != nil || !there {
		return l,
			app.Textf("Beside the replica lies no epoch %d, so no other machine can take over. Run: baoco replica setup, with the same URL.",
				"Cạnh bản sao ngoài máy không có tệp số hiệu (epoch) %d nên máy khác không tiếp quản được. Hãy chạy lại: "+
					"baoco replica setup với cùng URL.", int(c.Epoch)), err
	}
	problem, err = r.keyProblem(ctx, objects)
	return l, problem, err
}

// keyProblem says what is wrong with the sealed key beside the replica; zero: nothing.
func (r *ReplicaChecker) keyProblem(ctx context.Context, objects replica.Objects) (problem app.Text, err error) {
	sealed, err := objects.Get(ctx, replica.SealedKey)
	if errors.Is(err, fs.ErrNotExist) {
		if r.seen.sealed { // otherwise the operator keeps the key elsewhere
			problem = app.Text{
				EN: "The sealed key beside the replica is gone, and without a key the replica can sign nothing. Run: baoco replica seal-key.",
				VI: "Tệp khoá đã mã hoá cạnh bản sao ngoài máy đã mất, mà thiếu khoá thì bản sao không ký được gì. Hãy chạy: baoco replica seal-key.",
			}
		}
		return problem, nil
	}
	if err != nil {
		return problem, err
	}
	own, err := r.Store.Key()
	if id, _ := replica.SealedKeyID(sealed); id != replica.KeyID(own) {
		problem = app.Text{EN: "The sealed key beside the replica isn’t that of this database. Run: baoco replica seal-key.",
			VI: "Tệp khoá đã mã hoá cạnh bản sao ngoài máy không phải của cơ sở dữ liệu này. Hãy chạy: baoco replica seal-key."}
	}
	r.seen.sealed = true
	return problem, err
}

// pause is the time to the next check: the larger the file, the longer. A bad copy is
// checked again sooner.
func (r *ReplicaChecker) pause() time.Duration {
	if r.seen.last.Problem != (app.Text{}) {
		return 9 * r.seen.last.Took
	}
	status, err := r.Store.StorageStatus()
	if err != nil {
		return checkLeast
	}
	share := time.Duration(float64(24*time.Hour) * float64(status.Size) / checkBytes)
	return min(max(share, checkLeast), checkMost)
}

// Check restores the replica into a temporary file, and compares it with the database. If
// they differ it checks once more, since the undo of an import may have removed
// transactions meanwhile.
func (r *ReplicaChecker) Check(ctx context.Context, now time.Time) (c upkeep.ReplicaCheck) {
	began := time.Now()
	for range 2 {
		var err error
		if c, err = r.check(ctx, now); err != nil {
			c = upkeep.ReplicaCheck{At: now,
				Problem: app.Textf("The replica can’t be restored: %s. If the error stays, begin a new one: baoco replica setup --anew.",
					"Không khôi phục được bản sao ngoài máy: %s. Nếu vẫn vậy, hãy bắt đầu bản mới: baoco replica setup --anew.", err.Error())}
		}
		if !c.Differs {
			break
		}
	}
	c.Took = time.Since(began)
	return c
}

// nothingToCheck says why this server has no copy to compare; zero: it has one.
func nothingToCheck(ctx context.Context, c replica.Config) (why app.Text, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	objects, err := replica.Open(ctx, c.Place, c.Credentials)
	if err != nil {
		return why, err
	}
	defer objects.Close()
	last, err := replica.Newest(ctx, objects)
	if err != nil {
		return why, err
	}
	if last.Number > c.Epoch {
		return app.Textf("Another server took over: %s. What is recorded here reaches nobody.",
			"Máy chủ khác đã tiếp quản: %s. Những gì ghi ở đây không đến được ai.", last.String()), nil
	}
	held, err := replica.CopyOf(ctx, objects, c.Epoch)
	if err == nil && held.Objects == 0 {
		why = app.Text{EN: "Nothing has been copied yet. See whether Litestream runs: systemctl status baoco-litestream.",
			VI: "Chưa có gì được chép. Hãy kiểm tra Litestream: systemctl status baoco-litestream."}
	}
	return why, err
}

// checkTime is how long a restore may take, and how much longer for each GB.
const checkTime = 10 * time.Minute

func (r *ReplicaChecker) check(ctx context.Context, now time.Time) (c upkeep.ReplicaCheck, err error) {
	config, err := replica.ReadConfig(r.Store.Path())
	if err != nil {
		return c, err
	}
	why, err := nothingToCheck(ctx, config)
	if err != nil || why != (app.Text{}) {
		return upkeep.ReplicaCheck{At: now, Problem: why}, err
	}
	program, err := replica.FindProgram(ctx, config.Program)
	if err != nil {
		return c, err
	}
	before, err := r.Store.CopyFacts(ctx, upkeep.AllCopied)
	if err != nil {
		return c, err
	}
	draft, remove, err := r.Store.NewCopy()
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	status, err := r.Store.StorageStatus()
	if err != nil {
		return c, err
	}
	limited, cancel := context.WithTimeout(ctx, checkTime*time.Duration(1+status.Size>>30))
	defer cancel()
	if err := program.Restore(limited, config, draft); err != nil {
		return c, err
	}
	held, err := r.Store.CheckedCopy(ctx, draft)
	if err != nil {
		return c, err
	}
	same, err := r.Store.CopyFacts(ctx, held.NewestID)
	if err != nil {
		return c, err
	}
	missing, err := r.Store.FirstAfter(ctx, held.NewestID, before.NewestID)
	if err != nil {
		return c, err
	}
	return upkeep.CheckCopy(before, same, held, missing, now), nil
}
