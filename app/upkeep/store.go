package upkeep

import (
	"context"
	"time"
)

// Records are what everybody may ask and change: no rule decides about it.
type Records interface {
	// StorageStatus looks at the files from outside.
	StorageStatus() (StorageStatus, error)
	// BackupStatus costs a look at one row or two.
	BackupStatus(ctx context.Context) (BackupStatus, error)
	// Prunable counts what Prune would remove in all its steps.
	Prunable(ctx context.Context, limits PruneLimits, now time.Time) (Pruned, error)
	// Reclaimable is how many bytes of the file hold nothing. New rows go there
	// first.
	Reclaimable(ctx context.Context) (int64, error)
	// SetBeat writes the next beat into the file.
	SetBeat(ctx context.Context, now time.Time) error
}

// Store remembers for [Service]. What [app.Records] and [app.Store] say of all stores holds
// here too.
type Store interface {
	Records

	// SetDailyBackup keeps BackupStatus.DailyAt.
	SetDailyBackup(ctx context.Context, at string) error
	// ScheduledBackup makes a verified copy of the database and its key in the
	// directory of a schedule, or where that has none in BackupStatus.DailyDir, and then removes the oldest that it made there, but
	// for as many as are to stay. It takes as long as reading the database twice.
	// The server goes on meanwhile.
	ScheduledBackup(ctx context.Context, schedule BackupSchedule, now time.Time) (Backup, error)
	// Unindexed counts the transactions that the index of search texts doesn't
	// hold, up to some thousands.
	Unindexed(ctx context.Context) (int64, error)
	// QueueStatus reads the queue's index.
	QueueStatus(ctx context.Context, now time.Time) (QueueStatus, error)
	// AnswerTimes is about the last AnswersCounted attempts that began after an
	// instant.
	AnswerTimes(ctx context.Context, after time.Time) (AnswerTimes, error)
	// Prune removes a bounded number of old rows. Transactions and open items
	// always stay.
	Prune(ctx context.Context, limits PruneLimits, now time.Time) (Pruned, error)
	// Reclaim gives a bounded part of the Reclaimable bytes back to the disk. The
	// file is shorter once the write-ahead log is copied into it.
	Reclaim(ctx context.Context) error
	// Probe fails if data can't be read or, after a commit failed, if it can't
	// be written again.
	Probe(ctx context.Context) error
	// OldestDue gives the earliest due time of the deliveries of each active webhook
	// that are due, but for those to skip.
	OldestDue(ctx context.Context, now time.Time, skip []int64) (map[int64]time.Time, error)
	// NewestTime is the latest of when the newest transaction, call and attempt were
	// recorded; zero: there is none.
	NewestTime(ctx context.Context) (time.Time, error)
	// WriterBeat is when the writer last ended a commit, whatever came of it. Each
	// Probe gives it one to make.
	WriterBeat() time.Time
}
