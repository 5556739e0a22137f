package sqlitestore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"baoco/app/upkeep"
)

func (s *Store) StorageStatus() (upkeep.StorageStatus, error) { return filesStatus(s.path) }

// filesStatus looks at the files of a database from outside.
func filesStatus(path string) (upkeep.StorageStatus, error) {
	status := upkeep.StorageStatus{Path: path, Schema: released().version(), Free: freeSpace(filepath.Dir(path))}
	file, err := os.Stat(path)
	if err != nil {
		return status, err
	}
	status.Size, status.FileMode = file.Size(), file.Mode()
	log, err := os.Stat(path + "-wal")
	if err == nil {
		status.LogSize = log.Size()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return status, err
	}
	key, err := os.Stat(path + ".key")
	if err != nil {
		return status, err
	}
	status.KeyMode = key.Mode()
	return status, nil
}

// QueueStatus reads webhook by webhook, in the order of the queue's index. Deliveries of a
// webhook that is switched off, or whose secret is lost, aren't due.
func (s *Store) QueueStatus(ctx context.Context, now time.Time) (upkeep.QueueStatus, error) {
	var q upkeep.QueueStatus
	const due = `FILTER (WHERE d.due_ms <= ?1 AND w.is_active = 1 AND NOT ` + secretLost + `)`
	err := s.queryRow(ctx, `SELECT count(*), count(*) `+due+`, min(d.due_ms) `+due+`
		FROM webhooks w JOIN deliveries d INDEXED BY deliveries_due ON d.webhook_id = w.id AND d.state = 0`, now.UnixMilli()).
		Scan(&q.Pending, &q.Due, millisInto(&q.OldestDue))
	return q, err
}

// AnswerTimes reads back from the newest attempt.
func (s *Store) AnswerTimes(ctx context.Context, after time.Time) (upkeep.AnswerTimes, error) {
	took, err := readAll(ctx, s, scanOne[int64],
		`SELECT duration_ms FROM (SELECT started_ms, duration_ms FROM attempts ORDER BY id DESC LIMIT ?) WHERE started_ms > ?`,
		upkeep.AnswersCounted, after.UnixMilli())
	if err != nil || len(took) == 0 {
		return upkeep.AnswerTimes{}, err
	}
	slices.Sort(took)
	at := func(share int) time.Duration { return time.Duration(took[len(took)*share/100]) * time.Millisecond }
	return upkeep.AnswerTimes{Count: int64(len(took)), Median: at(50), P95: at(95)}, nil
}
