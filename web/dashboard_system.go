package web

import (
	"net/http"
	"strconv"
	"time"

	"baoco/app"
)

type systemData struct {
	app.SystemStatus
	Sources []app.Source // of the operator's account
}

// systemPage is for the operator only: to other owners there is no such page.
func (s *Server) systemPage(v *visit) error {
	if !v.operator() {
		return errNothingHere()
	}
	var data systemData
	var err error
	if data.SystemStatus, err = s.service.SystemStatus(v.Context(), s.installation, v.now); err != nil {
		return err
	}
	if data.Sources, err = s.service.Sources(v.Context(), v.account.ID); err != nil {
		return err
	}
	return s.render(v, http.StatusOK, "system", "system", app.Text{EN: "System", VI: "Hệ thống"}, data)
}

// Bytes writes a size in the unit that fits.
func (v view) Bytes(n int64) string {
	units := []string{"B", "KB", "MB", "GB", "TB"}
	size, unit := float64(n), 0
	for size >= 1000 && unit < len(units)-1 {
		size, unit = size/1000, unit+1
	}
	text := strconv.FormatFloat(size, 'f', 0, 64)
	if size < 10 && unit > 0 {
		text = strconv.FormatFloat(size, 'f', 1, 64)
		text = text[:1] + v.T(".", ",") + text[2:]
	}
	return text + nbsp + units[unit]
}

// Age writes a time that has passed, in its two greatest units.
func (v view) Age(d time.Duration) string {
	days, hours, minutes, seconds := int(d.Hours())/24, int(d.Hours())%24, int(d.Minutes())%60, int(d.Seconds())%60
	part := func(n int, en, vi string) string { return strconv.Itoa(n) + nbsp + v.T(en, vi) }
	switch {
	case days > 0:
		return part(days, "d", "ngày") + " " + part(hours, "h", "giờ")
	case hours > 0:
		return part(hours, "h", "giờ") + " " + part(minutes, "min", "phút")
	case minutes > 0:
		return part(minutes, "min", "phút") + " " + part(seconds, "s", "giây")
	}
	return part(seconds, "s", "giây")
}

// Since is the Age of what began at t.
func (v view) Since(t time.Time) string { return v.Age(v.now.Sub(t)) }

// CommitTime writes a time of a few milliseconds.
func (v view) CommitTime(d time.Duration) string {
	text := strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 1, 64)
	if v.Lang == app.Vietnamese {
		text = text[:len(text)-2] + "," + text[len(text)-1:]
	}
	return text + nbsp + "ms"
}
