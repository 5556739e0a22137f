package dashboard

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"baoco/app"
	"baoco/app/delivery"
)

// chart draws money in and out by day, as wide as the page: x coordinates are percentages,
// y coordinates are pixels. Its texts are in the language of the visitor.
type chart struct {
	Left   float64 // width of the labels of amounts, in pixels
	Lines  []gridLine
	Days   []chartDay // none if there is nothing to draw
	Labels []dayLabel
	Sum    dayTotal
	// Before is the line of the money in of as many days before: the data of an SVG path in
	// which a day is one unit wide. BeforeSum is the sum of these days.
	Before    string
	BeforeSum app.Amounts
	Table     []dayTotal // the same days as a table, for people who can't see the chart
}

// Height, Bottom, LabelX and LabelY are the places of the zero line and the labels, in pixels.
func (c chart) Height() int     { return chartHeight }
func (c chart) Bottom() float64 { return chartHeight - chartBottom }
func (c chart) LabelX() float64 { return c.Left - 8 }
func (c chart) LabelY() float64 { return c.Bottom() + 18 }

// chartDay is the column of one day, as high as the chart, with up to two bars.
type chartDay struct {
	X, Width float64
	Today    bool // it isn't over yet
	Text     string
	Bars     []bar
}

type bar struct {
	X, Y, Width, Height float64
	Class               string // in or out
}

type gridLine struct {
	Y     float64
	Label string
}

// dayLabel is the name of a day under the chart. The label of today ends at the chart's
// edge, since it is wider than its bars. A phone has no room for a label near it.
type dayLabel struct {
	X           float64
	Today, Near bool
	Label       string
}

// dayTotal is the money in and out of one day.
type dayTotal struct {
	Day app.Day
	app.Flow
}

// totalView is what the template of a sum gets.
type totalView struct {
	view
	Label  string
	Total  dayTotal
	Change string // the difference from the period before; empty: there is nothing to compare
}

func (v view) LabelTotal(en, vi string, total dayTotal, change string) totalView {
	return totalView{v, v.T(en, vi), total, change}
}

// dayTotals lists all days from first to last, also those without transactions.
func dayTotals(rows []app.PeriodRow, first, last app.Day) []dayTotal {
	days := make([]dayTotal, last-first+1)
	for i := range days {
		days[i].Day = first + app.Day(i)
	}
	for _, row := range rows {
		if row.Day < first || row.Day > last {
			continue
		}
		if day := &days[row.Day-first]; row.Type == app.In {
			day.In = row.Amounts
		} else {
			day.Out = row.Amounts
		}
	}
	return days
}

// sumDays is the sum of the days from a day on.
func sumDays(days []dayTotal, from app.Day) dayTotal {
	sum := dayTotal{Day: from}
	for _, d := range days {
		if d.Day >= from {
			sum.In.Count, sum.In.Total = sum.In.Count+d.In.Count, sum.In.Total+d.In.Total
			sum.Out.Count, sum.Out.Total = sum.Out.Count+d.Out.Count, sum.Out.Total+d.Out.Total
		}
	}
	return sum
}

// These are sizes in pixels, the greatest width of a bar in percent, how many labels of days
// a phone has room for, and from which x in percent on a label meets the label of today.
const (
	chartHeight = 220.0
	chartTop    = 8.0
	chartBottom = 28.0
	chartLeft   = 48.0 // more if a label is long
	chartLetter = 7.5
	chartBar    = 4.0
	chartLabels = 5
	chartNear   = 66.0
)

// drawChart draws the days up to today, and the money in of as many days before them.
func (w words) drawChart(days, before []dayTotal) chart {
	c := chart{Left: chartLeft, Table: days, Sum: sumDays(days, days[0].Day), BeforeSum: sumDays(before, before[0].Day).In}
	var most int64
	for i, d := range days {
		most = max(most, d.In.Total, d.Out.Total, before[i].In.Total)
	}
	if most == 0 {
		return c
	}
	top := roundUp(most)
	scale := (c.Bottom() - chartTop) / float64(top)
	for i := range 5 {
		value := top / 4 * int64(i)
		label := w.Short(value)
		c.Lines = append(c.Lines, gridLine{Y: round1(c.Bottom() - float64(value)*scale), Label: label})
		c.Left = math.Max(c.Left, chartLetter*float64(utf8.RuneCountInString(label))+8)
	}
	for i, d := range before {
		if c.BeforeSum.Count > 0 {
			c.Before += fmt.Sprintf("%s%g %g", map[bool]string{true: "M", false: "L"}[i == 0], float64(i)+0.5,
				round1(c.Bottom()-float64(d.In.Total)*scale))
		}
	}
	slot := 100 / float64(len(days))
	thick := math.Min(chartBar, slot*0.42)
	every := (len(days) + chartLabels - 1) / chartLabels
	for i, d := range days {
		day := chartDay{X: round2(slot * float64(i)), Width: round2(slot), Today: i == len(days)-1, Text: w.chartText(d)}
		middle := slot * (float64(i) + 0.5)
		for _, b := range []struct {
			class string
			total int64
			x     float64
		}{{"in", d.In.Total, middle - thick}, {"out", d.Out.Total, middle}} {
			if b.total > 0 {
				h := math.Max(1.5, float64(b.total)*scale)
				day.Bars = append(day.Bars, bar{X: round2(b.x), Y: round1(c.Bottom() - h), Width: round2(thick), Height: round1(h), Class: b.class})
			}
		}
		c.Days = append(c.Days, day)
		if day.Today {
			c.Labels = append(c.Labels, dayLabel{X: 100, Today: true, Label: w.DayName(d.Day)})
		} else if (len(days)-1-i)%every == 0 {
			c.Labels = append(c.Labels,
				dayLabel{X: round2(middle), Near: middle > chartNear, Label: d.Day.Start(w.zone).In(w.zone).Format(w.T("02 Jan", "02/01"))})
		}
	}
	return c
}

// chartText writes one day of the chart for screen readers.
func (w words) chartText(d dayTotal) string {
	text := w.DayName(d.Day) + ": " + w.SignedIn(d.In.Total) + " (" + w.Number(d.In.Count) + ")"
	if d.Out.Count > 0 {
		text += ", " + w.SignedOut(d.Out.Total) + " (" + w.Number(d.Out.Count) + ")"
	}
	return text
}

// roundUp is the top of the axis: the next round number that can be divided by four well.
func roundUp(n int64) int64 {
	size := int64(1000)
	for {
		for _, step := range []int64{4, 8, 12, 20, 32} {
			if n <= step*size {
				return step * size
			}
		}
		size *= 10
	}
}

func round1(x float64) float64 { return math.Round(x*10) / 10 }
func round2(x float64) float64 { return math.Round(x*100) / 100 }

// hoursChart draws the health of a webhook with one bar for each hour: the attempts that
// succeeded, and on top those that failed. All bars of a kind are one path, since
// a page may have 100 charts. Words is the same as a text.
type hoursChart struct {
	Width, Height           int
	Succeeded, Failed, None string // data of SVG paths
	Words                   string
	Percent                 string // of the attempts that succeeded; empty if there were none
	Total                   int64
}

// drawHours draws the hours, with the present hour on the right.
func (w words) drawHours(h delivery.WebhookHealth, width, height int) hoursChart {
	sum := h.Sum()
	c := hoursChart{Width: width, Height: height, Words: w.T("Last 24 hours: ", "24 giờ qua: ") + w.attempts(sum),
		Total: sum.Succeeded + sum.Failed}
	var most int64
	for _, hour := range h.Hours {
		most = max(most, hour.Succeeded+hour.Failed)
	}
	slot := float64(width) / delivery.HealthHours
	begin := w.now.Truncate(time.Hour).Add(-(delivery.HealthHours - 1) * time.Hour)
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
		if hour == (delivery.HourHealth{}) {
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

func barPath(x, base, width, height float64) string {
	return fmt.Sprintf("M%g %gv%gh%gv%gz", round1(x), round1(base), -round1(height), round1(width), round1(height))
}

// attempts says how many attempts succeeded and how many failed.
func (w words) attempts(h delivery.HourHealth) string {
	switch {
	case h == delivery.HourHealth{}:
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
