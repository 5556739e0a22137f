package sqlitestore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"baoco/app/upkeep"
)

func (s *Store) SetBeat(ctx context.Context, now time.Time) error {
	return s.write(ctx, func(tx *tx) error {
		return tx.exec(`INSERT INTO settings (name, value) VALUES ('beat', '1 ' || ?1)
			ON CONFLICT (name) DO UPDATE SET value = (CAST(value AS INTEGER) + 1) || ' ' || ?1`, now.UnixMilli())
	})
}

const beat = `SELECT coalesce((SELECT value FROM settings WHERE name = 'beat'), '0 0')`

// factsUpTo sums the daily totals, and subtracts what was recorded after a transaction: so
// its cost doesn't grow with the transactions. The sum of one account fits into 64 bits, but
// the sum of all accounts may not: so the upper and the lower 32 bits are summed separately.
var factsUpTo = beat + `, coalesce((SELECT max(id) FROM transactions WHERE id <= ?1), 0),
	(SELECT coalesce(sum(count), 0) FROM bank_account_days) - (SELECT count(*) FROM transactions WHERE id > ?1), ` +
	strings.Join([]string{amountsUpTo("amount >> 32", "IN"), amountsUpTo("amount & 0xffffffff", "IN"), amountsUpTo("amount >> 32", "OUT"),
		amountsUpTo("amount & 0xffffffff", "OUT")}, ", ")

func amountsUpTo(part, direction string) string {
	return fmt.Sprintf(`(SELECT coalesce(sum(%[1]s), 0) FROM bank_account_days WHERE type = '%[2]s')
		- (SELECT coalesce(sum(%[1]s), 0) FROM transactions WHERE id > ?1 AND type = '%[2]s')`, part, direction)
}

// copyFacts is upkeep.CopyFacts with the beat as it is in the file.
type copyFacts struct {
	upkeep.CopyFacts
	beat string
}

func (f *copyFacts) scan(row scanner) error {
	var upper, lower [2]int64
	if err := row.Scan(&f.beat, &f.NewestID, &f.Transactions, &upper[0], &lower[0], &upper[1], &lower[1]); err != nil {
		return err
	}
	f.In, f.Out = upper[0]<<32+lower[0], upper[1]<<32+lower[1]
	return f.readBeat()
}

func (f *copyFacts) readBeat() error {
	var at int64
	if _, err := fmt.Sscan(f.beat, &f.Beat.Sequence, &at); err != nil {
		return fmt.Errorf("%w: the beat is %q", ErrDamaged, f.beat)
	}
	f.Beat.At = time.UnixMilli(at)
	return nil
}

// CopyFacts reads what the file contains up to a transaction; upkeep.AllCopied: all.
func (s *Store) CopyFacts(ctx context.Context, upTo int64) (upkeep.CopyFacts, error) {
	var f copyFacts
	err := f.scan(s.queryRow(ctx, factsUpTo, upTo))
	return f.CopyFacts, err
}

// FirstAfter returns when the first transaction after id and up to upTo was recorded; zero:
// none was.
func (s *Store) FirstAfter(ctx context.Context, id, upTo int64) (at time.Time, err error) {
	err = s.queryRow(ctx, `SELECT created_at FROM transactions WHERE id > ? AND id <= ? ORDER BY id LIMIT 1`, id, upTo).Scan(secondsInto(&at))
	return at, noRowsAs(err, nil)
}

// Key returns the content of the key file.
func (s *Store) Key() ([]byte, error) { return os.ReadFile(s.path + ".key") }

// CheckedCopy checks a restored copy as a restore does, checks that the key of the file
// opens its secrets, and reads what it contains. The copy is left untouched.
func (s *Store) CheckedCopy(ctx context.Context, path string) (upkeep.CopyFacts, error) {
	if _, err := checkFile(path); err != nil {
		return upkeep.CopyFacts{}, err
	}
	if err := checkNoLog(path); err != nil {
		return upkeep.CopyFacts{}, err
	}
	held, err := inspect(ctx, path, released())
	if err != nil {
		return upkeep.CopyFacts{}, err
	}
	db := openStill(path)
	defer db.Close()
	var f copyFacts
	err = f.scan(db.QueryRowContext(ctx, factsUpTo, upkeep.AllCopied))
	if err == nil && f.Transactions != held.Transactions {
		err = fmt.Errorf("%w: %s has %d transactions, and %d by its totals", ErrDamaged, path, held.Transactions, f.Transactions)
	}
	if err == nil {
		_, _, err = findKey(held, s.path+".key")
	}
	return f.CopyFacts, storageError(err)
}

// RestoreDir makes a directory beside a database, in which a copy is restored. Its name
// begins with the name of the database and suffix. remove removes it, and until then it is
// locked. Such directories without a lock are of killed processes and are removed first.
// others reports whether another process has one.
func RestoreDir(path, suffix string) (dir string, others bool, remove func() error, err error) {
	dirs, err := namesWith(path + suffix)
	for _, dir := range dirs {
		unlock, held := lockDir(dir)
		if held != nil { // or just removed
			others = others || errors.Is(held, ErrBackupRuns)
			continue
		}
		err = errors.Join(err, os.RemoveAll(dir))
		unlock()
	}
	owner, e := ownerFor(path)
	if err = errors.Join(err, e); err != nil {
		return "", others, nil, err
	}
	// It gets its name once it is locked.
	draft, err := os.MkdirTemp(filepath.Dir(path), "."+filepath.Base(path)+".draft-*")
	if err != nil {
		return "", others, nil, err
	}
	unlock, err := lockDir(draft)
	if err = errors.Join(err, ownAs(draft, owner)); err == nil {
		dir = path + suffix + rand.Text()[:8]
		err = rename(draft, dir)
	}
	if err != nil {
		return "", others, nil, errors.Join(err, os.Remove(draft))
	}
	return dir, others, func() error { defer unlock(); return os.RemoveAll(dir) }, nil
}

// NewCopy returns the path for a copy that will be restored beside the file. It checks that
// the disk has room for it. remove removes the copy.
func (s *Store) NewCopy() (path string, remove func() error, err error) {
	info, err := os.Stat(s.path)
	if err != nil {
		return "", nil, err
	}
	if err := checkRoom(filepath.Dir(s.path), info.Size()+reserve); err != nil {
		return "", nil, err
	}
	dir, _, remove, err := RestoreDir(s.path, ".checking-")
	return filepath.Join(dir, "copy.db"), remove, err
}
