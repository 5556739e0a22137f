package upkeep

import (
	"context"
	"time"

	"baoco/app"
)

// ClockStep is that the clock of this machine was set while the server ran, or since
// its file was written.
type ClockStep struct {
	By time.Duration // negative: back
	At time.Time     // when that was seen
}

const (
	// LargeClockStep is how far the clock must have been set for a warning.
	LargeClockStep = 2 * time.Minute
	// clockStepTold is how long there is one.
	clockStepTold = 15 * time.Minute
)

// Text says that the clock was set, and what to do.
func (c ClockStep) Text() app.Text {
	minutes := int(c.By.Round(time.Minute) / time.Minute)
	if minutes > 0 {
		return app.Textf("The clock of this machine was set forward by %d minutes, or the machine slept. "+
			"Dates of transactions and the age of copies depend on it: see that it is right, with timedatectl.",
			"Đồng hồ của máy này vừa bị chỉnh tới %d phút, hoặc máy vừa ngủ. Ngày giờ giao dịch và tuổi của bản sao phụ thuộc vào đồng hồ: "+
				"hãy kiểm tra bằng timedatectl.", minutes)
	}
	return app.Textf("The clock of this machine was set back by %d minutes. Dates of transactions and the age of copies depend on it: "+
		"see that it is right, with timedatectl.",
		"Đồng hồ của máy này vừa bị chỉnh lùi %d phút. Ngày giờ giao dịch và tuổi của bản sao phụ thuộc vào đồng hồ: "+
			"hãy kiểm tra bằng timedatectl.", -minutes)
}

// ClockAtStart returns by how much the clock is behind what was recorded last; zero
// where it isn't behind. newest is when that was.
func (s *Service) ClockAtStart(ctx context.Context, now time.Time) (c ClockStep, newest time.Time, err error) {
	newest, err = s.store.NewestTime(ctx)
	if newest.After(now) {
		c = ClockStep{By: now.Sub(newest), At: now}
	}
	return c, newest, err
}

// NoteClockStep has the pages and alerts say for a while that the clock was set. It
// reports whether the step is large enough for that.
func (s *Service) NoteClockStep(c ClockStep) bool {
	large := c.By.Abs() > LargeClockStep
	if large {
		s.clockStep.Store(&c)
	}
	return large
}

func (s *Service) clockWarning(now time.Time) (w Warning, set bool) {
	c := s.clockStep.Load()
	if c == nil || now.Sub(c.At) >= clockStepTold {
		return w, false
	}
	return Warning{Text: c.Text(), Name: WarningClock, Grave: true}, true
}
