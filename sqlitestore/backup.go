package sqlitestore

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/upkeep"
)

// A backup is made beside a running server by VACUUM INTO. That is one read
// transaction, so the copy is the state of one moment; SQLite's online backup would
// begin again with every commit of the server.
//
// The copy is made under another name in the same directory, synced, and checked as
// a restore checks it. It gets its name only then, after its key is copied: so a file
// with the name of a backup is complete.

// Errors of Backup and Restore.
var (
	ErrBackupRuns = errors.New("another backup is being made of a database in this directory")
	ErrNoRoom     = errors.New("there is not enough room on the disk")
	ErrInUse      = errors.New("this file belongs to a database in use")
)

// BackupTarget says where a backup goes: to File, or to a dated name in Dir.
type BackupTarget struct {
	File    string
	Replace bool // replace an older backup with this name
	Dir     string
	Keep    int  // how many backups of this database stay in Dir; 0: all
	NoKey   bool // leave the key out
	// Scheduled marks the name in Dir. Keep counts scheduled backups and other ones
	// separately.
	Scheduled bool
	// Progress is called every 200 ms with the bytes that were written and the estimated
	// total; may be nil.
	Progress func(done, of int64)
}

// BackupMade is a backup, its contents, and the older backups that were removed.
type BackupMade struct {
	upkeep.Backup
	upkeep.Contents
	Removed []string // older ones, beyond BackupTarget.Keep
	Left    []string // files with such a name, of another database; they stay
}

// Backup makes a copy of the database as it is at one moment, and notes in the
// database that it was made at now. The errors are ErrBackupRuns, ErrNoRoom, ErrInUse,
// fs.ErrExist and errors of files. After an error the copy is usable only if
// BackupMade.Path is set: then a later step failed.
func (s *Store) Backup(ctx context.Context, t BackupTarget, now time.Time) (made BackupMade, err error) {
	dir, path, err := s.backupPlace(t, now)
	if err != nil {
		return made, err
	}
	defer func() { err = UnitAdvice(err, dir) }()
	unlock, err := lockDir(filepath.Dir(s.path))
	if err != nil {
		return made, err
	}
	defer unlock()
	mark, err := s.installation(ctx)
	if err != nil {
		return made, err
	}
	drafts := filepath.Join(dir, ".baoco-backup-"+mark+"-")
	if err := removeDrafts(drafts); err != nil {
		return made, err
	}
	draft := drafts + rand.Text()[:8]
	defer os.Remove(draft)
	if made, err = s.checkedCopy(ctx, draft, t.Progress); err != nil {
		return BackupMade{}, err
	}
	if !t.NoKey {
		if err := copyKey(s.path+".key", path+".key", drafts+"key-"+rand.Text()[:8]); err != nil {
			return BackupMade{}, err
		}
	}
	if err := publish(draft, path, t.Replace); err != nil {
		return BackupMade{}, err
	}
	made.Path, made.At, made.WithKey = path, now, !t.NoKey
	if err = s.noteBackup(context.WithoutCancel(ctx), made.Backup, t.Scheduled); err != nil {
		err = fmt.Errorf("the backup is made, but could not be noted in the database: %w", err)
	}
	if t.Dir != "" && t.Keep > 0 {
		err = errors.Join(err, s.removeOld(ctx, t, mark, &made))
	}
	return made, err
}

func (s *Store) ScheduledBackup(ctx context.Context, schedule upkeep.BackupSchedule, now time.Time) (upkeep.Backup, error) {
	if schedule.Dir == "" {
		schedule.Dir = s.dailyDir()
		err := os.Mkdir(schedule.Dir, 0o700)
		if err == nil {
			err = syncDir(filepath.Dir(schedule.Dir))
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return upkeep.Backup{}, err
		}
	}
	made, err := s.Backup(ctx, BackupTarget{Dir: schedule.Dir, Keep: schedule.Keep, Scheduled: true}, now)
	return made.Backup, err
}

func (s *Store) dailyDir() string { return filepath.Join(filepath.Dir(s.path), "backups") }

// checkedCopy makes the copy and checks it as a restore does.
func (s *Store) checkedCopy(ctx context.Context, draft string, progress func(done, of int64)) (made BackupMade, err error) {
	if err := s.copyTo(ctx, draft, progress); err != nil {
		return made, err
	}
	contents, err := inspect(ctx, draft, s.schema)
	if err == nil && !s.sealer.fits(contents.keyCheck) {
		err = ErrKey
	}
	if err != nil {
		return made, fmt.Errorf("the copy is not whole, so it is thrown away: %w", err)
	}
	info, err := os.Stat(draft)
	if err != nil {
		return made, err
	}
	made.Size, made.Contents = info.Size(), contents.Contents
	return made, nil
}

// backupPlace returns the path of the backup and its directory, or an error if no
// backup can be made there.
func (s *Store) backupPlace(t BackupTarget, now time.Time) (dir, path string, err error) {
	path = t.File
	if t.Dir != "" {
		path = filepath.Join(t.Dir, s.backupPrefix(t)+stamp(now)+".db")
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", "", err
	}
	if dir, err = filepath.EvalSymlinks(filepath.Dir(path)); err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, filepath.Base(path))
	for _, own := range []string{"", "-wal", "-shm", "-journal", ".key", ".lock"} {
		if path == s.path+own || path+".key" == s.path+own {
			return "", "", fmt.Errorf("%w: %s", ErrInUse, path)
		}
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return dir, path, nil
	case err != nil:
		return "", "", err
	case !info.Mode().IsRegular():
		return "", "", fmt.Errorf("%s is not a regular file: %w", path, fs.ErrExist)
	case !t.Replace:
		return "", "", fmt.Errorf("%s: %w; --force replaces it", path, fs.ErrExist)
	}
	return dir, path, checkNoLog(path)
}

// checkNoLog refuses a file with a write-ahead log beside it: it is a database in use,
// and incomplete without the log.
func checkNoLog(path string) error {
	switch _, err := os.Lstat(path + "-wal"); {
	case err == nil:
		return fmt.Errorf("%w: %s-wal stands beside it; baoco backup --db %s makes a copy of both", ErrInUse, path, app.ShellWord(path))
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return err
	}
}

func (s *Store) backupPrefix(t BackupTarget) string {
	prefix := strings.TrimSuffix(filepath.Base(s.path), ".db") + "-"
	if t.Scheduled {
		prefix += "auto-"
	}
	return prefix
}

const stampLayout = "20060102T150405Z"

// stamp formats an instant for a file name: such names sort by time.
func stamp(t time.Time) string { return t.UTC().Format(stampLayout) }

// installation returns an identifier of this database and its copies, a hash of the check
// value of the key.
func (s *Store) installation(ctx context.Context) (string, error) {
	check, err := s.setting(ctx, "key_check")
	return installationOf(check), err
}

func installationOf(keyCheck string) string {
	sum := sha256.Sum256([]byte(keyCheck))
	return hex.EncodeToString(sum[:6])
}

var datedName = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}Z\.db$`)

// removeOld removes the oldest dated backups of this database with their keys, and keeps
// Keep of them. It neither removes nor counts backups of another database, and backups
// dated later than the new one: a wrong clock made these, and they must not push out
// real ones.
func (s *Store) removeOld(ctx context.Context, t BackupTarget, mark string, made *BackupMade) error {
	prefix := filepath.Join(filepath.Dir(made.Path), s.backupPrefix(t))
	names, err := namesWith(prefix)
	if err != nil {
		return err
	}
	var own []string // without the new one
	for _, name := range names {
		if name >= made.Path || !datedName.MatchString(strings.TrimPrefix(name, prefix)) {
			continue
		}
		if check, err := keyCheckOf(ctx, name); err != nil || installationOf(check) != mark {
			made.Left = append(made.Left, name)
			continue
		}
		own = append(own, name)
	}
	for _, old := range own[:max(0, len(own)-t.Keep+1)] {
		if err := os.Remove(old); err != nil {
			return err
		}
		if err := os.Remove(old + ".key"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		made.Removed = append(made.Removed, old)
	}
	return nil
}

// notedBackup is the setting last_backup.
type notedBackup struct {
	AtMS    int64  `json:"at_ms"`
	Path    string `json:"path"`
	Size    int64  `json:"size"`
	WithKey bool   `json:"with_key"`
}

// The settings about backups: the last one, the last one by schedule, how often the
// schedule of the server makes one, and at what time the owner has one made every day.
const (
	settingLastBackup      = "last_backup"
	settingScheduledBackup = "scheduled_backup"
	settingBackupEvery     = "backup_every"
	settingDailyBackup     = "daily_backup"
)

func (s *Store) noteBackup(ctx context.Context, b upkeep.Backup, scheduled bool) error {
	value, err := json.Marshal(notedBackup{b.At.UnixMilli(), b.Path, b.Size, b.WithKey})
	if err != nil {
		return err
	}
	return s.write(ctx, func(tx *tx) error {
		tx.exec(keepSetting, settingLastBackup, string(value))
		d := app.AuditNamed(b.Path)
		if !scheduled {
			return tx.audit(ctx, app.DefaultAccountID, app.DeedDatabaseBackup, 0, d)
		}
		tx.exec(keepSetting, settingScheduledBackup, string(value))
		d.Count = 1 // all backups of a day are one line
		return tx.auditOften(app.ActingAs(ctx, app.Actor{Way: app.WayServer, At: b.At}), 24*time.Hour, app.AuditLine{
			AccountID: app.DefaultAccountID, Deed: app.DeedDatabaseBackup, AuditDetail: d,
		})
	})
}

// SetBackupEvery stores how often the server makes backups, for the commands beside it;
// 0: never.
func (s *Store) SetBackupEvery(ctx context.Context, every time.Duration) error {
	return s.setSetting(ctx, settingBackupEvery, every.String())
}

func (s *Store) SetDailyBackup(ctx context.Context, at string) error {
	return s.write(ctx, func(tx *tx) error {
		before := findValue[string](tx, settingIfAny, settingDailyBackup)
		tx.exec(keepSetting, settingDailyBackup, at)
		a := txAccount(tx, app.DefaultAccountID)
		return tx.auditChange(ctx, a.ID, app.DeedAccountChange, a.ID, app.AuditNamed(a.Name).Changed("daily_at", before, at))
	})
}

// aboutBackups is the query of the time at which the oldest transaction was recorded, and of the
// settings about backups.
const aboutBackups = `SELECT (SELECT created_at FROM transactions ORDER BY id LIMIT 1),
	coalesce((SELECT value FROM settings WHERE name = '` + settingLastBackup + `'), '{}'),
	coalesce((SELECT value FROM settings WHERE name = '` + settingScheduledBackup + `'), '{}'),
	coalesce((SELECT value FROM settings WHERE name = '` + settingDailyBackup + `'), ''),
	coalesce((SELECT value FROM settings WHERE name = '` + settingBackupEvery + `'), '0')`

func (s *Store) BackupStatus(ctx context.Context) (upkeep.BackupStatus, error) {
	status, err := scanBackupStatus(s.queryRow(ctx, aboutBackups))
	status.DailyDir = s.dailyDir()
	return status, err
}

func scanBackupStatus(row scanner) (status upkeep.BackupStatus, err error) {
	var last, scheduled, every string
	if err = row.Scan(secondsInto(&status.FirstAt), &last, &scheduled, &status.DailyAt, &every); err != nil {
		return status, err
	}
	if status.Last, err = readNoted(last); err != nil {
		return status, err
	}
	if status.Scheduled, err = readNoted(scheduled); err != nil {
		return status, err
	}
	status.Every, err = time.ParseDuration(every)
	if status.Every == 0 && status.DailyAt != "" {
		status.Every = 24 * time.Hour
	}
	return status, err
}

// readNoted reads a setting about a backup; zero: no backup was made yet.
func readNoted(text string) (b upkeep.Backup, err error) {
	var noted notedBackup
	if err := json.Unmarshal([]byte(text), &noted); err != nil {
		return b, fmt.Errorf("%w: what is noted about a backup: %v", ErrDamaged, err)
	}
	b = upkeep.Backup{Path: noted.Path, Size: noted.Size, WithKey: noted.WithKey}
	if noted.AtMS != 0 {
		b.At = time.UnixMilli(noted.AtMS)
	}
	return b, nil
}
