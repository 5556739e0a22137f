package sqlitestore_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/services"
	"baoco/app/upkeep"
	"baoco/sqlitestore"
)

// The directories of restores that run stand beside each other; those of processes that
// were killed are removed.
func TestRestoreDir(t *testing.T) {
	t.Parallel()
	db := create(t)
	left := db + ".checking-LEFT"
	must(t, errors.Join(os.Mkdir(left, 0o700), os.WriteFile(filepath.Join(left, "copy.db"), nil, 0o600)))
	var removes []func() error
	for i := range 3 {
		dir, others, remove, err := sqlitestore.RestoreDir(db, ".checking-")
		must(t, err)
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 || others != (i > 0) {
			t.Errorf("number %d: %v, %v, others: %v", i, info, err, others)
		}
		must(t, os.WriteFile(filepath.Join(dir, "copy.db"), nil, 0o600))
		removes = append(removes, remove)
	}
	if got := names(t, filepath.Dir(db)); strings.Contains(got, "LEFT") || strings.Count(got, ".checking-") != 3 {
		t.Errorf("in the directory: %s", got)
	}
	for _, remove := range removes {
		must(t, remove())
	}
	if got := names(t, filepath.Dir(db)); strings.Contains(got, ".checking-") || strings.Contains(got, "draft") {
		t.Errorf("in the directory afterwards: %s", got)
	}
}

// A draft takes the place of the database itself, once somebody has decided so.
func TestRestoreDraft(t *testing.T) {
	t.Parallel()
	db, draft := backedUp(t)
	refused := errors.New("not now")
	source := sqlitestore.RestoreSource{File: draft, Draft: true, Decide: func() error {
		if got := baseURL(t, draft); got != "https://then.vn" {
			t.Errorf("the draft is %s", got)
		}
		if _, err := sqlitestore.Open(t.Context(), db, sqlitestore.Options{Serve: true}); !errors.Is(err, sqlitestore.ErrServed) {
			t.Errorf("a server starts meanwhile: %v", err)
		}
		return refused
	}}
	if _, err := sqlitestore.Restore(acting(t.Context()), db, source, backupTime); !errors.Is(err, refused) ||
		strings.Contains(names(t, filepath.Dir(db)), "restor") {
		t.Errorf("%v; in the directory: %s", err, names(t, filepath.Dir(db)))
	}
	source.Decide = nil
	r, err := sqlitestore.Restore(acting(t.Context()), db, source, backupTime)
	must(t, err)
	if _, err := os.Stat(draft); !os.IsNotExist(err) {
		t.Errorf("the draft is still there: %v", err)
	}
	if now, then := baseURL(t, db), baseURL(t, r.SetAside[0]); now != "https://then.vn" || then != "https://now.vn" {
		t.Errorf("restored: %s, set aside: %s", now, then)
	}
}

// What several accounts hold together may be more than 64 bits. It is compared all the same.
func TestCopyFactsOfManyAccounts(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, create(t), services.Config{})
	defer w.Close()
	w.Link("ACB", apptest.SomeAccount)
	w.Pay(1, "1", "x")
	one, err := w.Store.CopyFacts(t.Context(), upkeep.AllCopied)
	must(t, err)
	w.Pay(1, "2", "x")
	w.Change(`INSERT INTO bank_account_days (bank_account_id, day, type, count, amount)
		VALUES (1, 1, 'IN', 0, 9223372036854775807), (1, 2, 'IN', 0, 9223372036854775807), (1, 3, 'IN', 0, 2)`)
	all, err := w.Store.CopyFacts(t.Context(), upkeep.AllCopied)
	must(t, err)
	before, err := w.Store.CopyFacts(t.Context(), one.NewestID)
	must(t, err)
	if before != one || all.Transactions != 2 || all.In != 2*one.In {
		t.Errorf("one transaction: %+v, and later %+v; both: %+v", one, before, all)
	}
	w.Change(`UPDATE bank_account_days SET amount = 3 WHERE day = 3`)
	if other, err := w.Store.CopyFacts(t.Context(), upkeep.AllCopied); err != nil || other == all {
		t.Errorf("with one đồng more: %+v, %v", other, err)
	}
}

// The older the copy is by its beat, the more ids are left out: the lost server may have
// given them.
func TestGapOfOldCopy(t *testing.T) {
	t.Parallel()
	for age, want := range map[time.Duration]int64{-time.Hour: 1_000_000, time.Second: 1_000_000, 2*time.Hour + time.Second: 25_000_000} {
		db, backup := create(t), filepath.Join(t.TempDir(), "copy.db")
		s := open(t, db, false)
		must(t, s.SetBeat(t.Context(), backupTime.Add(-age)))
		makeBackup(t, s, sqlitestore.BackupTarget{File: backup})
		must(t, s.Close())
		_, err := sqlitestore.Restore(acting(t.Context()), db, sqlitestore.RestoreSource{File: backup}, backupTime)
		must(t, err)
		if got := lastIDs(t, db)["deliveries"]; got != want {
			t.Errorf("of a copy %v old the last delivery is %d, want %d", age, got, want)
		}
	}
}

// What a check compares of a file up to one of its transactions is what its rows say; and a
// copy whose rows and totals differ, or that another key opens, isn't good.
func TestCopyFacts(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 9)
	defer h.store.Close()
	ctx, began := t.Context(), h.now
	h.imports("a.csv", false, h.rows(0, 30)) // every third is money out
	h.now = began.Add(time.Hour)
	h.imports("b.csv", false, h.rows(30, 5))
	h.now = began.Add(2 * time.Hour)
	h.imports("c.csv", false, h.rows(35, 5))
	for _, upTo := range []int64{0, 1, 17, 30, 40, upkeep.AllCopied} {
		sums := peek(t, h.store.Path(),
			`SELECT coalesce(max(id), 0), count(*), coalesce(sum(iif(type = 'IN', amount, 0)), 0), coalesce(sum(iif(type = 'OUT', amount, 0)), 0)
				FROM transactions WHERE id <= ?`, upTo)[0]
		want := upkeep.CopyFacts{NewestID: sums[0].(int64), Transactions: sums[1].(int64), In: sums[2].(int64), Out: sums[3].(int64)}
		got, err := h.store.CopyFacts(ctx, upTo)
		if got.Beat = (upkeep.Beat{}); err != nil || got != want {
			t.Errorf("up to %d: %+v, %v, want %+v", upTo, got, err, want)
		}
	}
	for _, c := range []struct {
		after, upTo int64
		want        time.Time
	}{{0, 40, began}, {30, 40, began.Add(time.Hour)}, {35, 40, began.Add(2 * time.Hour)}, {30, 30, time.Time{}}, {40, 50, time.Time{}}} {
		if got, err := h.store.FirstAfter(ctx, c.after, c.upTo); err != nil || !got.Equal(c.want.Truncate(time.Second)) && !got.Equal(c.want) {
			t.Errorf("the first after %d and up to %d: %v, %v, want %v", c.after, c.upTo, got, err, c.want)
		}
	}

	backup := filepath.Join(t.TempDir(), "copy.db")
	makeBackup(t, h.store, sqlitestore.BackupTarget{File: backup, NoKey: true})
	if got, err := h.store.CheckedCopy(ctx, backup); err != nil || got.Transactions != 40 {
		t.Errorf("a good copy: %+v, %v", got, err)
	}
	other := open(t, apptest.NewFileOfOwnKey(t), false)
	defer other.Close()
	if _, err := other.CheckedCopy(ctx, backup); !errors.Is(err, sqlitestore.ErrKey) {
		t.Errorf("under another key: %v", err)
	}
	alter(t, backup, `UPDATE bank_account_days SET count = count + 1 WHERE count = (SELECT max(count) FROM bank_account_days)`)
	if _, err := h.store.CheckedCopy(ctx, backup); !errors.Is(err, sqlitestore.ErrDamaged) {
		t.Errorf("with other totals than rows: %v", err)
	}
}
