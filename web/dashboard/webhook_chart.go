package dashboard

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"baoco/app"
)

// hoursChart draws the health of a webhook as one bar an hour: the attempts that
// succeeded, and on top those that failed. All bars of a kind are one path, since
// a page may have 100 charts. Words says the same in words.
type hoursChart struct {
	Width, Height           int
	Succeeded, Failed, None string // data of SVG paths
	Words                   string
	Percent                 string // of the attempts that succeeded; empty if there were none
	Total                   int64
}

// drawHours lays the hours out, the present one on the right.
func (w words) drawHours(h app.WebhookHealth, width, height int) hoursChart {
	sum := h.Sum()
	c := hoursChart{Width: width, Height: height, Words: w.T("Last 24 hours: ", "24 giờ qua: ") + w.attempts(sum), Total: sum.Succeeded + sum.Failed}
	var most int64
	for _, hour := range h.Hours {
		most = max(most, hour.Succeeded+hour.Failed)
	}
	slot := float64(width) / app.HealthHours
	begin := w.now.Truncate(time.Hour).Add(-(app.HealthHours - 1) * time.Hour)
	var failures []string
	for i, hour := range h.Hours {
		x, base := slot*float64(i), float64(height)
		stack := func(path *string, count int64) {
			if count > 0 {
				tall := math.Max(3, float64(count)/float64(most)*float64(height-4))
				*path += barPath(x, base, slot*0.75, tall)
				base -= tall
			}
		}
		stack(&c.Succeeded, hour.Succeeded)
		stack(&c.Failed, hour.Failed)
		if hour == (app.HourHealth{}) {
			c.None += barPath(x, base, slot*0.75, 1)
		}
		if hour.Failed > 0 {
			failures = append(failures, begin.Add(time.Duration(i)*time.Hour).In(w.zone).Format("15:04")+" ("+w.Number(hour.Failed)+")")
		}
	}
	if c.Total > 0 {
		c.Percent = w.percent(sum.Succeeded, c.Total)
	}
	if len(failures) > 0 {
		c.Words += w.T(". Failures from ", ". Thất bại từ ") + strings.Join(failures, ", ")
	}
	return c
}

// barPath draws a bar that stands on base.
func barPath(x, base, width, height float64) string {
	return fmt.Sprintf("M%g %gv%gh%gv%gz", round1(x), round1(base), -round1(height), round1(width), round1(height))
}

// attempts says how many attempts succeeded and how many failed.
func (w words) attempts(h app.HourHealth) string {
	switch {
	case h == app.HourHealth{}:
		return w.T("no attempts", "không gửi lần nào")
	case h.Failed == 0:
		return w.Number(h.Succeeded) + w.T(" succeeded", " lần thành công")
	}
	return w.Number(h.Succeeded) + w.T(" succeeded, ", " lần thành công, ") + w.Number(h.Failed) + w.T(" failed", " lần thất bại")
}

// percent writes part of whole, rounded down, so that 100 % means all.
func (w words) percent(part, whole int64) string {
	permille := part * 1000 / whole
	text := strconv.FormatInt(permille/10, 10)
	if tenth := permille % 10; tenth > 0 {
		text += w.T(".", ",") + strconv.FormatInt(tenth, 10)
	}
	return text + nbsp + "%"
}
