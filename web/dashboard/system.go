package dashboard

import (
	"html/template"
	"log/slog"
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/inbound"
	"baoco/app/upkeep"
	"baoco/web/wire"
)

type systemData struct {
	upkeep.SystemStatus
	Sources []namedSource // of the operator's account
	Log     []logLine     // newest first
}

type namedSource struct {
	inbound.Source
	KindName string
}

// systemPage is for the operator only. Other owners get 404.
func (s *Server) systemPage(v *visit) error { return s.showSystem(v, nil) }

func (s *Server) showSystem(v *visit, wrong error) (err error) {
	if !v.operator() {
		return wire.ErrNothingHere()
	}
	data := systemData{Log: s.RecentLog.newestFirst()}
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
	return s.render(v, wrong, pageHead{"system", "system", app.Text{EN: "System", VI: "Hệ thống"}}, data)
}

var backupStep = guideStep{
	Name: "backup", Title: app.Text{EN: "Backup", VI: "Sao lưu"}, To: "/system#backup", Optional: true,
	read: (*Server).readBackupStep, show: (*Server).showBackupStep,
}

// readBackupStep reads the step, which only the operator has. It is done once daily backups are
// on or a backup was made.
func (s *Server) readBackupStep(v *visit) (p guideProgress, err error) {
	if !v.operator() {
		return p, nil
	}
	backup, err := s.Services.Upkeep.BackupStatus(v.Context())
	switch {
	case err != nil || backup.Failed:
		return doneIf(""), err
	case backup.DailyAt != "":
		return doneIf(v.T("every day at ", "mỗi ngày lúc ") + backup.DailyAt), nil
	case !backup.Last.At.IsZero():
		return doneIf(v.When(backup.Last.At)), nil
	}
	return doneIf(""), nil
}

// backupStepData is the step: the switch of daily backups, or the note that serve has a
// directory for backups.
type backupStepData struct {
	upkeep.BackupStatus
	ByFlag bool
}

func (s *Server) showBackupStep(v *visit, page view, _ any) (template.HTML, error) {
	backup, err := s.Services.Upkeep.BackupStatus(v.Context())
	if err != nil {
		return "", err
	}
	return s.showPart(page, "guide-backup", backupStepData{backup, s.Installation.Backups.Dir != ""})
}

// setDailyBackup turns daily backups on or off, or sets their time.
func (s *Server) setDailyBackup(v *visit) error {
	if !v.operator() || s.Installation.Backups.Dir != "" { // with Dir a flag of serve decides
		return wire.ErrNothingHere()
	}
	at, flash := "", app.Text{EN: "Daily backups are turned off.", VI: "Đã tắt sao lưu hằng ngày."}
	if v.PostFormValue("off") == "" {
		at = v.PostFormValue("daily_at")
		flash = app.Text{EN: "Daily backups are turned on. The first is made within seconds.",
			VI: "Đã bật sao lưu hằng ngày. Bản đầu tiên được tạo sau vài giây."}
	}
	if err := s.Services.Upkeep.SetDailyBackup(v.Context(), at); err != nil {
		return s.showSystem(v, err)
	}
	return s.redirect(v, v.next("/system#backup"), flash)
}

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
