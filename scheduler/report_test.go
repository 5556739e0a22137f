package scheduler_test

import (
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/alert"
)

// until waits for a time of a day in the zone of the shop. The world begins at 7 in
// the morning of 1 January 2000. An open store looks at its file every second, so it is better
// closed meanwhile.
func until(t *testing.T, clock string) {
	t.Helper()
	zone, err := time.LoadLocation(app.DefaultZone)
	must(t, err)
	at, err := app.ParseTime("2000-01-"+clock+":00", zone)
	must(t, err)
	time.Sleep(time.Until(at))
}

func (s *installation) report(t *testing.T, at alert.ReportTime) {
	t.Helper()
	must(t, s.Services.Alerts.SetReport(t.Context(), 1, alert.Telegram, at, time.Now()))
}

// pauseUntil ends the server and starts it again at a time.
func (s *installation) pauseUntil(t *testing.T, c *chat, clock string) {
	t.Helper()
	s.close(t)
	until(t, clock)
	again := openWith(t, s.Path, nil, c)
	s.World, s.sender, s.courier = again.World, again.sender, nil
	s.start(t)
	time.Sleep(time.Minute) // two looks
}

// The report of the day comes once, at closing time or when the server is back.
func TestReport(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newChat()
		s := openWith(t, newFile(t), nil, c)
		s.bot(t)
		must(t, s.Services.Alerts.SetAlertPreferences(t.Context(), 1, alert.Preferences{Lang: app.English, Muted: alert.Kinds}))
		s.report(t, "21:30")
		s.start(t)
		s.Record("1")
		s.Record("2")
		s.pauseUntil(t, c, "01 21:28")
		c.wantTexts(t)
		until(t, "01 21:32")
		first := "Báo Có · Day book 01/01/2000 … Money in: 400,000\u00a0₫ (2) … Money out: 0\u00a0₫ (0) … ACB ··4957\nIn: " +
			"400,000\u00a0₫ (2)\n\nAs of 21:3 … https://baoco.example.vn/day?date=2000-01-01"
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
		s.pauseUntil(t, c, "07 21:28") // of the days that nobody was told of, the last one
		c.wantTexts(t, first, late, "", "Day book 06/01/2000 … This is late")

		// A chat that fails gets it once it works again.
		c.answerBy(func(int) (int, string) { return 500, `{"ok":false}` })
		until(t, "07 21:40") // three tries
		s.report(t, "21:30") // the same again
		c.answerBy(nil)
		until(t, "07 21:53")
		all := []string{first, late, "", "", "Day book 07/01/2000 … As of 21:30", "As of 21:31", "As of 21:36",
			"Day book 07/01/2000 … As of 21:51"}
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
		must(t, s.Services.Alerts.SetAlertPreferences(t.Context(), 1, alert.Preferences{Lang: app.English, Muted: alert.Kinds}))
		s.report(t, "01:30")
		s.start(t)
		s.Record("1")
		s.pauseUntil(t, c, "02 01:28")
		c.wantTexts(t)
		until(t, "02 01:33")
		c.wantTexts(t, "Day book 01/01/2000 … Money in: 200,000\u00a0₫ (1)")
		s.pauseUntil(t, c, "09 01:28")
		until(t, "09 01:33")
		c.wantTexts(t, "", "Day book 07/01/2000 … This is late",
			"Day book 08/01/2000 … Money in: 0\u00a0₫ (0) … A week before, money in: 200,000\u00a0₫ (1)")
		for _, wrong := range []alert.ReportTime{"24:00", "9:30", "21:30:00", "soon"} {
			if err := s.Services.Alerts.SetReport(t.Context(), 1, alert.Telegram, wrong, time.Now()); app.CodeOf(err) != app.CodeValidation {
				t.Errorf("%s: %v", wrong, err)
			}
		}
		if err := s.Services.Alerts.SetReport(t.Context(), 1, alert.Email, "21:30", time.Now()); app.CodeOf(err) != app.CodeNotFound {
			t.Error(err)
		}
		s.close(t)
	})
}

// A report and news at one time: the news first, and neither is lost. A clock that was
// wrong for a while silences nobody, and repeats nothing.
func TestReportAmongAlerts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newChat()
		path := newFile(t)
		until(t, "01 21:29")
		s := openWith(t, path, nil, c)
		s.bot(t)
		planEnds := func(at time.Time) {
			t.Helper()
			_, err := s.Services.Ledger.UpdateAccount(t.Context(), 1, app.AccountUpdate{ExpiresAt: &at})
			must(t, err)
		}
		look := func(at time.Time) {
			t.Helper()
			_, err := s.Services.Alerts.Alert(t.Context(), alertHome, at)
			must(t, err)
		}
		s.start(t)
		until(t, "01 21:30")
		s.report(t, "21:30") // at that second: the first one is tomorrow's
		time.Sleep(5 * time.Minute)
		c.wantTexts(t)
		planEnds(time.Now().Add(7*24*time.Hour + 12*time.Hour)) // news from tomorrow morning on
		s.pauseUntil(t, c, "02 21:35")
		time.Sleep(2 * time.Minute)
		want := []string{"Your plan expires at", "Day book 02/01/2000"}
		c.wantTexts(t, want...)

		look(time.Now().Add(-15 * time.Minute)) // before closing time: yesterday's isn't due again
		c.wantTexts(t, want...)
		must(t, s.Services.Alerts.SetReport(t.Context(), 1, alert.Telegram, "21:00", time.Now().AddDate(5, 0, 0)))
		time.Sleep(2 * time.Minute)
		want = append(want, "Day book 02/01/2000")
		c.wantTexts(t, want...)

		look(time.Now().Add(25 * time.Hour))
		want = append(want, "Still, since … Your plan")
		c.wantTexts(t, want...)
		planEnds(time.Now().Add(-time.Hour))
		time.Sleep(2 * time.Minute)
		want = append(want, "Your plan has expired")
		c.wantTexts(t, want...)

		c.answerBy(func(int) (int, string) { return 500, `{"ok":false}` })
		look(time.Now().AddDate(0, 0, 30)) // fails, to be tried again a month from now
		c.answerBy(nil)
		planEnds(time.Now().Add(24 * time.Hour))
		time.Sleep(2 * time.Minute)
		c.wantTexts(t, append(want, "Still", "Your plan expires at")...)
		s.close(t)
	})
}

// The report of a month comes once, on the first of the next one at 8 or when the server is back.
func TestReportOfTheMonth(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newChat()
		s := openWith(t, newFile(t), nil, c)
		s.bot(t)
		must(t, s.Services.Alerts.SetAlertPreferences(t.Context(), 1, alert.Preferences{Lang: app.English, Muted: alert.Kinds}))
		monthly := func(on bool) {
			t.Helper()
			must(t, s.Services.Alerts.SetMonthReport(t.Context(), 1, alert.Telegram, on, time.Now()))
		}
		sleep := func(text string) {
			t.Helper()
			at, err := app.ParseTime("2000-"+text+":00", s.Services.Ledger.Zone())
			must(t, err)
			time.Sleep(time.Until(at))
		}
		pause := func(text string) {
			t.Helper()
			s.close(t)
			sleep(text)
			again := openWith(t, s.Path, nil, c)
			s.World, s.sender, s.courier = again.World, again.sender, nil
			s.start(t)
			time.Sleep(2 * time.Minute)
		}
		sleep("01-01 09:00")
		monthly(true)
		s.start(t)
		s.Record("1")
		s.Record("2")
		pause("02-01 07:50")
		c.wantTexts(t)
		sleep("02-01 08:03")
		january := "Báo Có · Report of the month 01/2000 … Money in: 400,000\u00a0₫\nPayments in: 2\nMoney out: 0\u00a0₫ … " +
			"The month before, money in: 0\u00a0₫ (0)\n\nhttps://baoco.example.vn/report?from=2000-01-01&to=2000-01-31&by=day"
		c.wantTexts(t, january)
		pause("02-01 09:00") // a restart doesn't repeat it
		pause("02-29 23:00")
		c.wantTexts(t, january)
		// The server is down on the first; of two months the last one is told.
		february := "month 02/2000 … Money in: 0\u00a0₫ … The month before, money in: 400,000\u00a0₫ (2) … " +
			"This is late: it could not be sent at 01/03 08:00."
		pause("03-05 12:00")
		c.wantTexts(t, january, february)
		pause("05-02 12:00")
		c.wantTexts(t, january, february, "month 04/2000 … This is late")
		// Beside the report of a day, each comes by itself.
		s.report(t, "08:00")
		pause("06-01 07:30")
		sleep("06-01 08:10")
		c.wantTexts(t, january, february, "", "Day book 31/05/2000", "Day book 01/06/2000", "month 05/2000")
		s.report(t, "")
		monthly(false)
		pause("07-03 12:00")
		c.wantTexts(t, january, february, "", "", "", "")
		monthly(true) // the first one is that of this month
		pause("07-31 12:00")
		c.wantTexts(t, january, february, "", "", "", "")
		s.close(t)
	})
}
