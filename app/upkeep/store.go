package upkeep

import (
	"context"
	"time"
)

// Records are the queries and changes that no rule decides.
type Records interface {
	// StorageStatus looks at the files from outside.
	StorageStatus() (StorageStatus, error)
	// BackupStatus costs a look at one row or two.
	BackupStatus(ctx context.Context) (BackupStatus, error)
	// Prunable counts what Prune would remove in all its steps.
	Prunable(ctx context.Context, limits PruneLimits, now time.Time) (Pruned, error)
	// Reclaimable is how many bytes of the file are free. New rows go there first.
	Reclaimable(ctx context.Context) (int64, error)
	// SetBeat writes the next beat into the file.
	SetBeat(ctx context.Context, now time.Time) error
}

// Store remembers for [Service]. The comments of [app.Records] and [app.Store] about all
// stores hold here too.
type Store interface {
	Records

	// SetDailyBackup keeps BackupStatus.DailyAt.
	SetDailyBackup(ctx context.Context, at string) error
	// ScheduledBackup makes a verified copy of the database and its key in the directory of a
	// schedule, or in BackupStatus.DailyDir if the schedule has none. Then it removes the oldest
	// copies that it made there, and leaves schedule.Keep. It takes as long as reading the
	// database twice, while the server continues.
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
	// OldestDue returns the earliest due time of the due deliveries of each active webhook,
	// without those in skip.
	OldestDue(ctx context.Context, now time.Time, skip []int64) (map[int64]time.Time, error)
	// NewestTime is when the newest transaction, call or attempt was recorded; zero: there
	// is none.
	NewestTime(ctx context.Context) (time.Time, error)
	// WriterBeat is when the writer last ended a commit, with an error or not. Each Probe
	// makes one.
	WriterBeat() time.Time
}
