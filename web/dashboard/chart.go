package dashboard

import (
	"math"
	"unicode/utf8"

	"baoco/app"
)

// chart draws money in and out by day. Its coordinates are in units of its own,
// its texts in the language of the visitor.
type chart struct {
	Width, Height int
	Bottom        float64 // y of the zero line
	Left          float64 // x where the bars begin
	Bars          []bar
	Lines         []gridLine
	Days          []dayLabel
	Table         []dayTotal // the same as a table, for those who can't see the chart
}

// LabelX and LabelY are where the labels of the axes stand.
func (c chart) LabelX() float64 { return c.Left - 8 }
func (c chart) LabelY() float64 { return c.Bottom + 18 }

type bar struct {
	X, Y, Width, Height float64
	Class               string // in or out
	Title               string
}

type gridLine struct {
	Y     float64
	Label string
}

type dayLabel struct {
	X     float64
	Label string
}

// dayTotal is the money in and out of one day.
type dayTotal struct {
	Day app.Day
	app.Flow
}

// dayTotals are all days from first to last, including those without transactions.
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

// The space around the bars and the width of a letter, in the units of the chart.
const (
	chartLeft   = 64.0 // more if a label is long
	chartLetter = 7.5
	chartTop    = 12.0
	chartBottom = 28.0
)

// drawChart lays the days out in a chart of this size.
func (w words) drawChart(days []dayTotal, width, height int) chart {
	c := chart{Width: width, Height: height, Left: chartLeft, Bottom: float64(height) - chartBottom, Table: days}
	var most int64
	for _, d := range days {
		most = max(most, d.In.Total, d.Out.Total)
	}
	top := roundUp(most)
	scale := (c.Bottom - chartTop) / float64(top)
	for i := range 5 {
		value := top / 4 * int64(i)
		label := w.Short(value)
		c.Lines = append(c.Lines, gridLine{Y: round1(c.Bottom - float64(value)*scale), Label: label})
		c.Left = math.Max(c.Left, chartLetter*float64(utf8.RuneCountInString(label))+8)
	}
	slot := (float64(width) - c.Left - 8) / float64(len(days))
	thick := math.Min(22, slot*0.4)
	every := int(math.Ceil(48 / slot))
	for i, d := range days {
		x := c.Left + slot*float64(i) + slot/2
		for _, side := range []struct {
			class string
			of    app.Amounts
			x     float64
			name  string
		}{{"in", d.In, x - thick, w.Direction(app.In)}, {"out", d.Out, x, w.Direction(app.Out)}} {
			if side.of.Total == 0 {
				continue
			}
			h := math.Max(1.5, float64(side.of.Total)*scale)
			c.Bars = append(c.Bars, bar{
				X: round1(side.x), Y: round1(c.Bottom - h), Width: round1(thick), Height: round1(h), Class: side.class,
				Title: w.Date(d.Day) + ": " + side.name + " " + w.Money(side.of.Total),
			})
		}
		if i%every == 0 {
			c.Days = append(c.Days, dayLabel{X: round1(x), Label: d.Day.Start(w.zone).In(w.zone).Format(w.T("Jan 2", "02/01"))})
		}
	}
	return c
}

// roundUp is the next number with one or two leading digits that quarters
// well: the top of the axis.
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
