package sqlitestore_test

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/upkeep"
	"baoco/sqlitestore"
)

func TestStorageStatus(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := create(t)
	s := open(t, path, true)
	defer s.Close()
	now := time.Now()
	before, err := s.StorageStatus()
	must(t, err)
	if before.Path != s.Path() || before.Free <= 0 || before.FileMode.Perm() != 0o600 ||
		before.KeyMode.Perm() != 0o600 {
		t.Errorf("%+v", before)
	}
	for range 10 {
		_, err := s.CreateAccount(ctx, app.NewAccount("x", now))
		must(t, err)
	}
	after, err := s.StorageStatus()
	must(t, err)
	if info, err := os.Stat(path); err != nil || after.Size != info.Size() || after.LogSize == 0 {
		t.Errorf("%+v, %v", after, err)
	}
	must(t, os.Chmod(path+".key", 0o644))
	if open, err := s.StorageStatus(); err != nil || open.KeyMode.Perm() != 0o644 {
		t.Errorf("%+v, %v", open, err)
	}
}

// Commits that wrote nothing aren't told: there was nothing to sync.
func TestCommitted(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var told []int
	s, err := sqlitestore.Open(ctx, create(t), sqlitestore.Options{Committed: func(took time.Duration, callers int) {
		if told = append(told, callers); took <= 0 || took > time.Minute {
			t.Errorf("a commit took %s", took)
		}
	}})
	must(t, err)
	must(t, s.Probe(ctx))
	for range 3 {
		must(t, s.SetBaseURL(ctx, "https://shop.vn"))
	}
	must(t, s.Close())
	if !slices.Equal(told, []int{1, 1, 1}) {
		t.Errorf("told %v, want three commits of one caller", told)
	}
}

func TestQueueStatus(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := open(t, create(t), true)
	defer s.Close()
	now := time.Now().Truncate(time.Millisecond)
	if q, err := s.QueueStatus(ctx, now); err != nil || q != (upkeep.QueueStatus{}) {
		t.Errorf("%+v, %v", q, err)
	}
	hooks := []int64{}
	for range 3 {
		w, _, err := s.CreateWebhook(ctx, delivery.Webhook{AccountID: 1, Name: "x", URL: "https://shop.vn/", Type: delivery.WebhookAll,
			IsActive: true, CreatedAt: now}, delivery.Sealed{Secret: "whsec_x"}, app.IdempotencyKey{}, now)
		must(t, err)
		hooks = append(hooks, w.ID)
	}
	_, err := s.ToggleWebhook(ctx, 1, hooks[1], now) // waits
	must(t, err)
	must(t, s.Write(ctx, func(exec func(query string, args ...any) error) error {
		for _, d := range []struct {
			hook  int64
			state int
			due   time.Time
		}{{hooks[0], 0, now.Add(-time.Minute)}, {hooks[0], 0, now.Add(-time.Second)}, {hooks[0], 0, now.Add(time.Hour)},
			{hooks[0], 1, now.Add(-time.Hour)}, {hooks[1], 0, now.Add(-24 * time.Hour)}, {hooks[2], 0, now.Add(-24 * time.Hour)}} {
			if err := exec(`INSERT INTO deliveries (account_id, webhook_id, sample, state, attempts, retry, due_ms, created_ms, single)
				VALUES (1, ?, '{}', ?, 0, 0, ?, 0, 0)`, d.hook, d.state, d.due.UnixMilli()); err != nil {
				return err
			}
		}
		return exec(`UPDATE webhooks SET secret = x'' WHERE id = ?`, hooks[2]) // lost
	}))
	q, err := s.QueueStatus(ctx, now)
	must(t, err)
	if q.Pending != 5 || q.Due != 2 || !q.OldestDue.Equal(now.Add(-time.Minute)) {
		t.Errorf("%+v", q)
	}
}
