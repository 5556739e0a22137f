package book

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"baoco/app"
)

// Period is a month, a quarter or a year.
type Period struct {
	First, Last app.Day
	text        string
}

// String is the period in the form that ParsePeriod reads.
func (p Period) String() string { return p.text }

var periodText = regexp.MustCompile(`^(20\d\d)(?:-(0[1-9]|1[0-2])|-Q([1-4]))?$`)

// ParsePeriod reads a month as 2026-11, a quarter as 2026-Q4, a year as 2026. A period that
// begins after today is refused.
func ParsePeriod(text string, today app.Day) (Period, error) {
	m := periodText.FindStringSubmatch(text)
	if m == nil {
		return Period{}, app.InvalidField("period", "must be a month, quarter or year, such as 2026-11, 2026-Q4 or 2026",
			"phải là tháng, quý hoặc năm, ví dụ 2026-11, 2026-Q4 hoặc 2026")
	}
	year, _ := strconv.Atoi(m[1])
	month, months := 1, 12
	switch {
	case m[2] != "":
		month, _ = strconv.Atoi(m[2])
		months = 1
	case m[3] != "":
		quarter, _ := strconv.Atoi(m[3])
		month, months = quarter*3-2, 3
	}
	day := func(month int) app.Day {
		return app.DayOf(time.Date(year, time.Month(month), 1, 0, 0, 0, 0, time.UTC), time.UTC)
	}
	p := Period{day(month), day(month+months) - 1, text}
	if p.First > today {
		return p, app.InvalidField("period", "has not begun yet", "chưa bắt đầu")
	}
	return p, nil
}

func (p Period) Name() app.Text {
	year, part, _ := strings.Cut(p.text, "-")
	switch {
	case part == "":
		return app.Textf("Year %s", "Năm %s", year)
	case part[0] == 'Q':
		return app.Textf("Quarter %s of %s", "Quý %s năm %s", part[1:], year)
	}
	return app.Textf("Month %s of %s", "Tháng %s năm %s", part, year)
}

// Periods lists this year and the year before with their quarters and months, the newest first,
// without periods that have not begun.
func Periods(today app.Day) (list []Period) {
	year := today.Date().Year()
	for y := year; y >= year-1; y-- {
		texts := []string{fmt.Sprint(y)}
		for quarter := 4; quarter >= 1; quarter-- {
			texts = append(texts, fmt.Sprintf("%d-Q%d", y, quarter))
			for month := quarter * 3; month > quarter*3-3; month-- {
				texts = append(texts, fmt.Sprintf("%d-%02d", y, month))
			}
		}
		for _, text := range texts {
			if p, err := ParsePeriod(text, today); err == nil {
				list = append(list, p)
			}
		}
	}
	return list
}
