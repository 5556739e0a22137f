package dashboard

import (
	"cmp"
	"html/template"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/inbound"
	"baoco/app/upkeep"
	"baoco/web/wire"
)

type systemData struct {
	upkeep.SystemStatus
	Sources    []namedSource // of the operator's account
	BackupOnce string        // the command that makes a backup
	BackupCron string        // the line that makes one every night
	Log        []logLine     // newest first
}

// namedSource is a source with the name of its provider.
type namedSource struct {
	inbound.Source
	KindName string
}

// systemPage is for the operator only. For other owners the page doesn't exist.
func (s *Server) systemPage(v *visit) error {
	if !v.operator() {
		return wire.ErrNothingHere()
	}
	data := systemData{Log: s.RecentLog.newestFirst()}
	var err error
	if data.SystemStatus, err = s.Services.Upkeep.SystemStatus(v.Context(), s.Installation, v.now); err != nil {
		return err
	}
	sources, err := s.Services.Inbound.Sources(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	for _, src := range sources {
		data.Sources = append(data.Sources, namedSource{src, s.nameOf(src.Provider)})
	}
	data.BackupOnce = backupCommand(s.Installation.Program, data.Path)
	data.BackupCron = cronLine(data.BackupOnce)
	return s.render(v, nil, pageHead{"system", "system", app.Text{EN: "System", VI: "Hệ thống"}}, data)
}

var backupStep = guideStep{
	Name: "backup", Title: app.Text{EN: "Backup", VI: "Sao lưu"}, To: "/system#backup", Optional: true,
	read: (*Server).readBackupStep, show: (*Server).showBackupStep,
}

// readBackupStep: the step is the operator's.
func (s *Server) readBackupStep(v *visit) (p guideProgress, err error) {
	if !v.operator() {
		return p, nil
	}
	backup, err := s.Services.Upkeep.BackupStatus(v.Context())
	if err != nil || backup.Last.At.IsZero() {
		return doneIf(""), err
	}
	return doneIf(v.When(backup.Last.At)), nil
}

// backupStepData are the commands of a backup: once, and every night.
type backupStepData struct{ Once, Cron string }

func (s *Server) showBackupStep(v *visit, page view, _ any) (template.HTML, error) {
	storage, err := s.Services.Upkeep.StorageStatus(v.now)
	if err != nil {
		return "", err
	}
	once := backupCommand(s.Installation.Program, storage.Path)
	return s.showPart(page, "guide-backup", backupStepData{once, cronLine(once)})
}

// backupCommand is the shell command that makes a dated backup.
func backupCommand(program, db string) string {
	return app.ShellWord(cmp.Or(program, "baoco")) + " backup --db " + app.ShellWord(db) + " --dir /var/backups/baoco --keep 14"
}

// cronLine runs a command every night, after all other jobs. Its errors go to
// cron's mail. A percent sign would end the command, so it is escaped.
func cronLine(command string) string {
	return "30 2 * * * nice -n 19 " + strings.ReplaceAll(command, "%", `\%`) + " >/dev/null"
}

// LevelName names a level of the log.
func (w words) LevelName(l slog.Level) string {
	switch {
	case l >= slog.LevelError:
		return w.T("error", "lỗi")
	case l >= slog.LevelWarn:
		return w.T("warning", "cảnh báo")
	}
	return w.T("info", "thông tin")
}

// LevelPill is the CSS class of a level's pill.
func (words) LevelPill(l slog.Level) string {
	switch {
	case l >= slog.LevelError:
		return "failed"
	case l >= slog.LevelWarn:
		return "pending"
	}
	return ""
}

// DaysLeft counts the days until t; 0 once it has passed.
func (w words) DaysLeft(t time.Time) int64 { return max(0, int64(t.Sub(w.now)/(24*time.Hour))) }

// Now is the time of the visit.
func (w words) Now() time.Time { return w.now }

// Zone is the name of the time zone and its present offset from UTC.
func (w words) Zone() string { return w.ZoneName() + w.now.In(w.zone).Format(" (UTC-07:00)") }

// ZoneName is the name of the time zone, as browsers know it too.
func (w words) ZoneName() string { return w.zone.String() }

// Bytes writes a size in the unit that fits.
func (w words) Bytes(n int64) string {
	units := []string{"B", "KB", "MB", "GB", "TB"}
	size, unit := float64(n), 0
	for size >= 1000 && unit < len(units)-1 {
		size, unit = size/1000, unit+1
	}
	text := strconv.FormatFloat(size, 'f', 0, 64)
	if size < 10 && unit > 0 {
		text = strconv.FormatFloat(size, 'f', 1, 64)
		text = text[:1] + w.T(".", ",") + text[2:]
	}
	return text + nbsp + units[unit]
}

// Since writes the time since t.
func (w words) Since(t time.Time) string { return w.DurationText(w.now.Sub(t)) }

// CommitTime writes a duration of a few milliseconds.
func (w words) CommitTime(d time.Duration) string {
	text := strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 1, 64)
	if text == "0.0" {
		text = "<0.1"
	}
	if w.Lang == app.Vietnamese {
		text = text[:len(text)-2] + "," + text[len(text)-1:]
	}
	return text + nbsp + "ms"
}
