package dashboard

import (
	"strconv"
	"time"

	"baoco/app"
)

// Answer writes the status code or error of an attempt, and how long it took.
func (w words) Answer(r app.Result) string {
	what := strconv.Itoa(r.StatusCode)
	if r.StatusCode == 0 || r.Error == app.ErrorTimeout {
		what = w.ErrorWord(r.Error)
	}
	return what + " · " + w.LatencyText(r.Duration)
}

// Explanation says why an attempt failed and what to do.
func (w words) Explanation(r app.Result) string { return r.Explanation().In(w.Lang) }

// ResultClass is the CSS class of an attempt's pill.
func (w words) ResultClass(r app.Result) app.DeliveryState {
	if r.OK() {
		return app.DeliveryDelivered
	}
	return app.DeliveryFailed
}

// AttemptLabel says which attempt of its delivery one is.
func (w words) AttemptLabel(d app.Delivery, number int) string {
	if d.Test {
		return w.T("Test", "Gửi thử")
	}
	return w.T("attempt", "lần") + nbsp + strconv.Itoa(number) + "/" + strconv.Itoa(len(app.RetrySchedule))
}

// Dots draw the attempts of a delivery, up to the one with the given number as
// failed or received, later ones as planned. There are none if the first attempt
// was received, or if it was the only one.
func (w words) Dots(d app.Delivery, number int, ok bool) []dot {
	total := len(app.RetrySchedule)
	if d.Test || number == 0 || ok && number == 1 || number > total {
		return nil
	}
	var dots []dot
	for i := range total {
		state := "planned"
		switch {
		case i+1 < number || i+1 == number && !ok:
			state = "failed"
		case i+1 == number:
			state = "received"
		case ok:
			return dots
		}
		dots = append(dots, dot{1 + i*dotWidth, state})
	}
	return dots
}

// dot is one attempt in the drawing; X is in pixels.
type dot struct {
	X     int
	State string
}

const dotWidth = 11

// Center is the x of the middle of a round dot.
func (d dot) Center() float64 { return float64(d.X) + 4.5 }

// CircledNumber is the number of an attempt in a circle.
func (w words) CircledNumber(number int) string {
	if number < 1 || number > 20 {
		return strconv.Itoa(number)
	}
	return string(rune('①' + number - 1))
}

// DurationText writes a duration in its two largest units.
func (w words) DurationText(d time.Duration) string {
	if d >= time.Second {
		d = d.Round(time.Second)
	}
	amount := func(n time.Duration, en, vi string) string {
		return strconv.FormatInt(int64(n), 10) + nbsp + w.T(en, vi)
	}
	const day = 24 * time.Hour
	switch {
	case d < time.Second:
		return amount(d/time.Millisecond, "ms", "ms")
	case d < time.Minute:
		return amount(d/time.Second, "s", "giây")
	case d < time.Hour:
		text := amount(d/time.Minute, "min", "phút")
		if seconds := d % time.Minute / time.Second; seconds > 0 {
			text += " " + amount(seconds, "s", "giây")
		}
		return text
	case d < day:
		return amount(d/time.Hour, "h", "giờ") + " " + amount(d%time.Hour/time.Minute, "min", "phút")
	}
	return amount(d/day, "d", "ngày") + " " + amount(d%day/time.Hour, "h", "giờ")
}
