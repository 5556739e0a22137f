package sqlitestore

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/upkeep"
)

func (s *Store) setting(ctx context.Context, name string) (string, error) {
	value, err := readOne[string](ctx, s, `SELECT value FROM settings WHERE name = ?`, name)
	if noRows(err) {
		return "", fmt.Errorf("%w: setting %s is missing", ErrDamaged, name)
	}
	return value, err
}

const keepSetting = `INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)`

func (s *Store) setSetting(ctx context.Context, name, value string) error {
	return s.write(ctx, func(tx *tx) error { return tx.exec(keepSetting, name, value) })
}

// settingIfAny is the query of a setting; empty: there is none.
const settingIfAny = `SELECT coalesce(max(value), '') FROM settings WHERE name = ?`

// Zone is the zone of the installation.
func (s *Store) Zone(ctx context.Context) (*time.Location, error) {
	name, err := s.setting(ctx, "timezone")
	if err != nil {
		return nil, err
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("zone %q of the database: %w", name, err)
	}
	return zone, nil
}

// AllowTargets is the operator's allow-list, as serve was last started with.
func (s *Store) AllowTargets(ctx context.Context) ([]string, error) {
	value, err := s.setting(ctx, "allow_targets")
	return strings.Fields(value), err
}

// SetAllowTargets keeps the allow-list for the commands beside the server.
func (s *Store) SetAllowTargets(ctx context.Context, entries []string) error {
	return s.setSetting(ctx, "allow_targets", strings.Join(entries, " "))
}

// BaseURL is the address at which the installation is reached from outside,
// without a final slash; empty where the operator gave none.
func (s *Store) BaseURL(ctx context.Context) (string, error) { return s.setting(ctx, "base_url") }

// SetBaseURL keeps the address for the commands beside the server.
func (s *Store) SetBaseURL(ctx context.Context, base string) error {
	return s.setSetting(ctx, "base_url", base)
}

// ReachedAt is the base URL, and where there is none the address at which serve listened when
// it started last, as a URL; empty: it never did.
func (s *Store) ReachedAt(ctx context.Context) (address string, err error) {
	return readOne[string](ctx, s, settingIfAny, "reached_at")
}

// SetReachedAt keeps the address for the commands beside the server.
func (s *Store) SetReachedAt(ctx context.Context, address string) error {
	return s.setSetting(ctx, "reached_at", address)
}

// Keep is how long serve was last started to keep what may go; found is false
// where it never was.
func (s *Store) Keep(ctx context.Context) (keep upkeep.PruneLimits, found bool, err error) {
	value, err := readOne[string](ctx, s, settingIfAny, "keep")
	if err != nil || value == "" {
		return keep, false, err
	}
	_, err = fmt.Sscan(value, (*int64)(&keep.Inbound), (*int64)(&keep.History))
	return keep, true, err
}

// SetKeep keeps how long what may go is kept for the commands beside the
// server, which must not remove what the server would keep.
func (s *Store) SetKeep(ctx context.Context, keep upkeep.PruneLimits) error {
	return s.setSetting(ctx, "keep", fmt.Sprint(int64(keep.Inbound), " ", int64(keep.History)))
}

// SetLang keeps the language of alerts of the accounts that have not chosen one;
// empty is Vietnamese.
func (s *Store) SetLang(ctx context.Context, lang app.Lang) error {
	return s.setSetting(ctx, "lang", string(cmp.Or(lang, app.Vietnamese)))
}

// SetOpenFiles keeps how many files the server may open, for baoco doctor.
func (s *Store) SetOpenFiles(ctx context.Context, files uint64) error {
	return s.setSetting(ctx, "open_files", fmt.Sprint(files))
}

// SetZone keeps a new zone and, in the same commit, counts the totals of days
// again by its calendar. The bodies of deliveries stay as they were.
func (s *Store) SetZone(ctx context.Context, name string) error {
	if _, err := time.LoadLocation(name); err != nil {
		return err
	}
	return s.write(ctx, func(tx *tx) error {
		tx.exec(`UPDATE settings SET value = ? WHERE name = 'timezone'`, name)
		return recount(tx, time.Time{}, derivedTables[:3]...) // the days
	})
}
