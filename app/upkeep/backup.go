package upkeep

import (
	"context"
	"time"

	"baoco/app"
)

// Contents helps a person to recognise a database file.
type Contents struct {
	Schema       int
	Accounts     int64
	Transactions int64     // of all accounts
	NewestID     int64     // of the transactions; 0: there is none
	NewestAt     time.Time // when that one was recorded
	Pending      int64     // deliveries that are still to be attempted
	Zone         string    // of the installation
}

// Backup is a complete copy of the database, verified after it was written.
type Backup struct {
	Path    string // absolute
	Size    int64  // in bytes
	At      time.Time
	WithKey bool // the key that opens its secrets is beside it
}

// BackupStatus is what the database knows about its backups.
type BackupStatus struct {
	Last      Backup        // zero: there never was one
	Scheduled Backup        // the last that the server made by its schedule; zero: there never was one
	Every     time.Duration // of the schedule; 0: there is none
	DailyAt   string        // when the owner has backups made where serve has no directory for them, such as "02:30"; empty: never
	DailyDir  string        // where they go: beside the database
	Failed    bool          // the last that the schedule asked for failed; only the server knows
	FirstAt   time.Time     // when the oldest transaction was recorded; zero: there is none
}

// BackupSchedule is how the server makes backups by itself.
type BackupSchedule struct {
	Dir   string        // absolute; empty: serve has none, and an owner decides about daily ones
	Every time.Duration // from one to the next
	Keep  int           // how many of them stay
}

const dailyKept = 14

// SetDailyBackup has the server make a backup every day at a time such as "02:30", or none
// where that is empty. The first is made within seconds.
func (s *Service) SetDailyBackup(ctx context.Context, at string) error {
	if _, err := time.Parse(dayTime, at); err != nil && at != "" {
		return app.InvalidField("daily_at", "must be a time such as 02:30", "phải là một giờ, ví dụ 02:30")
	}
	s.backupFailed.Store(nil)
	return s.store.SetDailyBackup(ctx, at)
}

const dayTime = "15:04"

// sinceDaily is how young a backup is that was made at the last time of daily backups, or
// after it.
func sinceDaily(at string, now time.Time) time.Duration {
	t, _ := time.Parse(dayTime, at) // as SetDailyBackup checked it
	last := time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), 0, 0, now.Location())
	if last.After(now) {
		last = last.AddDate(0, 0, -1)
	}
	return now.Sub(last) + 1 // one of that very moment counts
}

// backupRetry is how long after a scheduled backup that failed it is tried again.
const backupRetry = 15 * time.Minute

// BackupStatus is what is known about the backups of this database.
func (s *Service) BackupStatus(ctx context.Context) (BackupStatus, error) {
	status, err := s.store.BackupStatus(ctx)
	status.Failed = s.backupFailed.Load() != nil
	return status, err
}

// BackUpIfDue makes a scheduled backup if none was made within the interval of the
// schedule. made is zero where none was due. A backup of a time that has not come
// yet doesn't count: the clock was set back. After an error it waits for backupRetry.
func (s *Service) BackUpIfDue(ctx context.Context, schedule BackupSchedule, now time.Time) (made Backup, err error) {
	if schedule.Dir == "" {
		schedule.Every, schedule.Keep = 24*time.Hour, dailyKept
	}
	if failed := s.backupFailed.Load(); failed != nil && between(*failed, now, min(backupRetry, schedule.Every)) {
		return made, nil
	}
	status, err := s.store.BackupStatus(ctx)
	if err != nil {
		return made, err
	}
	fresh := schedule.Every
	if schedule.Dir == "" {
		if status.DailyAt == "" {
			return made, nil
		}
		fresh = sinceDaily(status.DailyAt, now.In(s.zone))
	}
	if between(status.Scheduled.At, now, fresh) {
		return made, nil
	}
	made, err = s.store.ScheduledBackup(ctx, schedule, now)
	switch {
	case err == nil:
		s.backupFailed.Store(nil)
	case ctx.Err() == nil:
		s.backupFailed.Store(&now)
	}
	return made, err
}

// between reports whether less than a time has gone by since an instant, which must
// not be later than now.
func between(since, now time.Time, less time.Duration) bool {
	gone := now.Sub(since)
	return gone >= 0 && gone < less
}

// backupAge is how old the last backup may be, and the oldest transaction
// without any.
const backupAge = 7 * 24 * time.Hour

// warning is the warning that the schedule of backups isn't kept, or, where there is
// none, that there are transactions older than backupAge and no backup younger than
// that.
func (b BackupStatus) warning(now time.Time) (w Warning, overdue bool) {
	if b.Every > 0 {
		return b.scheduleWarning(now)
	}
	if b.FirstAt.IsZero() || now.Sub(b.FirstAt) <= backupAge || !b.Last.At.IsZero() && now.Sub(b.Last.At) <= backupAge {
		return w, false
	}
	text := app.Text{EN: "There is no backup yet. If the disk fails, every transaction is lost.",
		VI: "Chưa có bản sao lưu nào: nếu ổ đĩa hỏng, mọi giao dịch sẽ mất."}
	if !b.Last.At.IsZero() {
		text = app.Textf(
			"The last backup is %d days old. If the disk fails, every transaction since is lost.",
			"Bản sao lưu gần nhất đã %d ngày trước: nếu ổ đĩa hỏng, các giao dịch sau đó sẽ mất.", int(now.Sub(b.Last.At)/(24*time.Hour)))
	}
	return Warning{Text: text, Name: WarningBackup, Grave: true}, true
}

func (b BackupStatus) scheduleWarning(now time.Time) (w Warning, overdue bool) {
	w = Warning{Name: WarningBackup, Grave: true}
	last := b.Scheduled.At
	switch {
	case b.Failed:
		w.Text = app.Text{EN: "The last scheduled backup failed. The log says why. It is tried again every 15 minutes.",
			VI: "Lần sao lưu theo lịch gần nhất bị lỗi, nhật ký có ghi lý do. Cứ 15 phút hệ thống thử lại một lần."}
	case last.IsZero() && !b.FirstAt.IsZero() && now.Sub(b.FirstAt) > 2*b.Every:
		w.Text = app.Text{EN: "Backups are scheduled, but none was made yet.", VI: "Đã đặt lịch sao lưu nhưng chưa có bản nào được tạo."}
	case !last.IsZero() && now.Sub(last) > 2*b.Every:
		hours := int(now.Sub(last) / time.Hour)
		w.Text = app.Textf("The last scheduled backup is %d hours old.", "Bản sao lưu theo lịch gần nhất đã %d giờ trước.", hours)
	default:
		return Warning{}, false
	}
	return w, true
}
