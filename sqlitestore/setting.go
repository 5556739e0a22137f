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

// settingIfAny is the query of a setting; empty: it isn't set.
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

// AllowTargets returns the operator's allow-list from the last start of serve.
func (s *Store) AllowTargets(ctx context.Context) ([]string, error) {
	value, err := s.setting(ctx, "allow_targets")
	return strings.Fields(value), err
}

// SetAllowTargets stores the allow-list for the commands beside the server.
func (s *Store) SetAllowTargets(ctx context.Context, entries []string) error {
	return s.setSetting(ctx, "allow_targets", strings.Join(entries, " "))
}

// BaseURL returns the address of the installation from outside, without a final slash;
// empty: the operator gave none.
func (s *Store) BaseURL(ctx context.Context) (string, error) { return s.setting(ctx, "base_url") }

// SetBaseURL stores the address for the commands beside the server.
func (s *Store) SetBaseURL(ctx context.Context, base string) error {
	return s.setSetting(ctx, "base_url", base)
}

// ReachedAt returns the base URL, or else the address at which serve listened after its last
// start, as a URL; empty: serve was never started.
func (s *Store) ReachedAt(ctx context.Context) (address string, err error) {
	return readOne[string](ctx, s, settingIfAny, "reached_at")
}

// SetReachedAt stores the address for the commands beside the server.
func (s *Store) SetReachedAt(ctx context.Context, address string) error {
	return s.setSetting(ctx, "reached_at", address)
}

// Keep returns how long the server keeps rows that may be pruned, from the last start of
// serve; found is false if serve was never started.
func (s *Store) Keep(ctx context.Context) (keep upkeep.PruneLimits, found bool, err error) {
	value, err := readOne[string](ctx, s, settingIfAny, "keep")
	if err != nil || value == "" {
		return keep, false, err
	}
	_, err = fmt.Sscan(value, (*int64)(&keep.Inbound), (*int64)(&keep.History))
	return keep, true, err
}

// SetKeep stores how long the server keeps rows that may be pruned, for the commands beside
// it: these must not remove rows that the server keeps.
func (s *Store) SetKeep(ctx context.Context, keep upkeep.PruneLimits) error {
	return s.setSetting(ctx, "keep", fmt.Sprint(int64(keep.Inbound), " ", int64(keep.History)))
}

// SetLang stores the language of alerts for accounts that have not chosen one; empty:
// Vietnamese.
func (s *Store) SetLang(ctx context.Context, lang app.Lang) error {
	return s.setSetting(ctx, "lang", string(cmp.Or(lang, app.Vietnamese)))
}

// SetOpenFiles stores how many files the server may open, for baoco doctor.
func (s *Store) SetOpenFiles(ctx context.Context, files uint64) error {
	return s.setSetting(ctx, "open_files", fmt.Sprint(files))
}

// SetZone stores a new zone and, in the same commit, counts the daily totals again by its
// calendar. The bodies of deliveries stay as they were.
func (s *Store) SetZone(ctx context.Context, name string) error {
	if _, err := time.LoadLocation(name); err != nil {
		return err
	}
	return s.write(ctx, func(tx *tx) error {
		tx.exec(`UPDATE settings SET value = ? WHERE name = 'timezone'`, name)
		return recount(tx, time.Time{}, derivedTables[:3]...) // the days
	})
}
