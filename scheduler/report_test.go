package scheduler_test

import (
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
)

// until waits for a time of a day in the zone of the shop. The world begins at 7 in
// the morning of 1 January 2000.
func (s *installation) until(t *testing.T, clock string) {
	t.Helper()
	at, err := app.ParseTime("2000-01-"+clock+":00", s.Service.Zone())
	must(t, err)
	time.Sleep(time.Until(at))
}

func (s *installation) report(t *testing.T, at app.ReportTime) {
	t.Helper()
	must(t, s.Service.SetReport(t.Context(), 1, app.AlertTelegram, at, time.Now()))
}

// pauseUntil ends the server and starts it again at a time.
func (s *installation) pauseUntil(t *testing.T, c *chat, clock string) {
	t.Helper()
	s.close(t)
	s.until(t, clock)
	again := openWith(t, s.Path, nil, c)
	s.World, s.sender, s.courier = again.World, again.sender, nil
	s.start(t)
	time.Sleep(2 * time.Minute)
}

// The report of the day comes once, at closing time or when the server is back.
func TestReport(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newChat()
		s := openWith(t, newFile(t), nil, c)
		s.bot(t)
		must(t, s.Service.SetAlertPreferences(t.Context(), 1, app.AlertPreferences{Lang: app.English, Muted: app.AlertKinds}))
		s.report(t, "21:30")
		s.start(t)
		s.Record("1")
		s.Record("2")
		s.pauseUntil(t, c, "01 21:20")
		s.until(t, "01 21:29")
		c.wantTexts(t)
		s.until(t, "01 21:32")
		first := "Báo Có · Day book 01/01/2000 … Money in: 400,000\u00a0₫ (2) … Money out: 0\u00a0₫ (0) … ACB ··4957\nIn: 400,000\u00a0₫ (2) … As of 21:3 … https://baoco.example.vn/day?date=2000-01-01"
		c.wantTexts(t, first)
		s.pauseUntil(t, c, "01 23:00") // a restart doesn't repeat it
		s.pauseUntil(t, c, "02 20:00")
		c.wantTexts(t, first)

		// The server is down at closing time, and back in the same evening or later.
		s.pauseUntil(t, c, "02 22:15")
		late := "Day book 02/01/2000 … Money in: 0\u00a0₫ (0) … As of 22: … This is late: it could not be sent at 21:30."
		c.wantTexts(t, first, late)
		s.pauseUntil(t, c, "04 08:00")
		c.wantTexts(t, first, late, "Day book 03/01/2000 … This is late")
		s.pauseUntil(t, c, "07 21:00") // of the days that nobody was told of, the last one
		c.wantTexts(t, first, late, "", "Day book 06/01/2000 … This is late")

		// A chat that fails gets it once it works again.
		c.answerBy(func(int) (int, string) { return 500, `{"ok":false}` })
		s.until(t, "07 21:40") // three tries
		c.answerBy(nil)
		s.until(t, "07 23:59")
		all := []string{first, late, "", "", "Day book 07/01/2000 … As of 21:30", "As of 21:31", "As of 21:36", "Day book 07/01/2000 … As of 21:51"}
		c.wantTexts(t, all...)
		s.pauseUntil(t, c, "08 21:00")
		c.wantTexts(t, all...)

		// It is set to another time, which has passed: the next one is of the next day.
		s.report(t, "20:00")
		s.pauseUntil(t, c, "09 19:00")
		c.wantTexts(t, all...)
		s.report(t, "")
		s.pauseUntil(t, c, "10 23:00")
		c.wantTexts(t, all...)
		s.close(t)
	})
}

// A shop that closes after midnight gets the report of the day before.
func TestReportOfTheNight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newChat()
		s := openWith(t, newFile(t), nil, c)
		s.bot(t)
		s.report(t, "01:30")
		s.start(t)
		s.Record("1")
		s.pauseUntil(t, c, "02 01:00")
		c.wantTexts(t)
		s.until(t, "02 01:33")
		c.wantTexts(t, "Day book 01/01/2000 … Money in: 200,000\u00a0₫ (1)")
		for _, wrong := range []app.ReportTime{"24:00", "9:30", "21:30:00", "soon"} {
			if err := s.Service.SetReport(t.Context(), 1, app.AlertTelegram, wrong, time.Now()); app.CodeOf(err) != app.CodeValidation {
				t.Errorf("%s: %v", wrong, err)
			}
		}
		if err := s.Service.SetReport(t.Context(), 1, app.AlertEmail, "21:30", time.Now()); app.CodeOf(err) != app.CodeNotFound {
			t.Error(err)
		}
		s.close(t)
	})
}
