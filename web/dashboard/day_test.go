package dashboard_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/web/webtest"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
)

// dayWorld is a world in which some money moved on 14 October 2025, the day before
// and a week before.
func dayWorld(t *testing.T) (*webtest.World, *webtest.Browser) {
	t.Helper()
	w := webtest.NewWorld(t)
	w.User(1, "lan", app.RoleOwner)
	w.Link("ACB", "19354957")
	w.Link("VCB", "0071000888888")
	sepay := w.Sepay()
	zone := w.Service.Zone()
	move := func(at, number string, d app.Direction, amount, balance int64) {
		t.Helper()
		e := app.Incoming{EventID: at + number, AccountNumber: number, Type: d, Amount: amount, Content: "DH " + at, Balance: balance}
		e.SetDate(at, zone)
		recording, err := w.Service.RecordTransactions(t.Context(), app.InboundCall{AccountID: 1, Source: sepay, Channel: app.ChannelCall, Body: []byte("{}"), ReceivedAt: time.Now(), Elements: []app.Incoming{e}})
		apptest.Must(t, err)
		if recording.Recorded != 1 {
			t.Fatalf("%+v", recording)
		}
	}
	move("2025-10-07 10:00:00", "19354957", app.In, 400_000, 0)
	move("2025-10-13 23:59:59", "19354957", app.In, 100_000, 5_000_000)
	move("2025-10-14 00:00:00", "19354957", app.In, 200_000, 0)
	move("2025-10-14 08:15:00", "19354957", app.In, 300_000, 5_500_000)
	move("2025-10-14 08:59:59", "0071000888888", app.Out, 50_000, 0)
	move("2025-10-14", "0071000888888", app.In, 7_000, 0)
	move("2025-10-15 00:00:00", "19354957", app.In, 900_000, 0)
	return w, w.Browser().SignIn("lan")
}

func TestDayPage(t *testing.T) {
	t.Parallel()
	w, b := dayWorld(t)
	page := b.Get("/day?date=2025-10-14")
	page.Shows(t, "Day book 14 Oct 2025", "Tuesday, 14 Oct 2025", "+507,000\u00a0₫", "3 payments in", "−50,000\u00a0₫", "1 payment out",
		"+500,000\u00a0₫", "5,000,000\u00a0₫", "5,500,000\u00a0₫", "08:00", "00:00", "no time", `href="/day?date=2025-10-13"`, `href="/day?date=2025-10-15"`,
		"+400,000\u00a0₫", "+27%", "+407%", "/transactions?from=2025-10-14&to=2025-10-14")
	page.Hides(t, "09:00", "23:00", "so far")
	empty := b.Get("/day?date=2025-10-01")
	empty.Shows(t, "No money came in or went out on this day.")
	empty.Hides(t, `rel="prev"`) // nothing is known of the time before
	slip := b.Get("/day?date=2025-10-14&paper=58")
	slip.Shows(t, "slip.css", `data-theme="light"`, "507,000\u00a0₫", "08:00 (1)")
	slip.Hides(t, "app.css", "09:00")

	today := b.Get("/day")
	today.Shows(t, "Day book ", "Today, so far")
	today.Hides(t, `rel="next"`)
	for _, date := range []string{"2999-01-01", "yesterday", "2025-02-30", "2025-10-14x"} {
		for _, path := range []string{"/day?date=", "/day?paper=58&date=", "/day/file?date="} {
			b.Get(path+date).WantStatus(t, http.StatusUnprocessableEntity)
		}
	}

	// The list of transactions leads to the days.
	b.Get("/transactions").Shows(t, `<a href="/day?date=2025-10-14">`)
	w.User(1, "hoa", app.RoleDeveloper)
	w.Browser().SignIn("hoa").Get("/transactions").Hides(t, `/day?date=`)
}

// The file of a day has its title, its rows and its sums.
func TestDayFile(t *testing.T) {
	t.Parallel()
	_, b := dayWorld(t)
	a := b.Get("/day/file?date=2025-10-14")
	a.WantStatus(t, http.StatusOK)
	if got := a.Header.Get("Content-Disposition"); got != `attachment; filename="baoco-2025-10-14.xlsx"` {
		t.Error(got)
	}
	f, err := excelize.OpenReader(strings.NewReader(a.Body))
	apptest.Must(t, err)
	defer f.Close()
	rows, err := f.GetRows(f.GetSheetList()[0])
	apptest.Must(t, err)
	var got []string
	for _, row := range rows {
		for len(row) < 7 {
			row = append(row, "")
		}
		got = append(got, fmt.Sprint(row[0], "|", row[4], "|", row[5], "|", row[6]))
	}
	want := []string{
		"Day book|||", "Báo Có|||", "14 Oct 2025|||", "baoco id|Money in|Money out|Content",
		"3|200,000||DH 2025-10-14 00:00:00", "4|300,000||DH 2025-10-14 08:15:00", "5||50,000|DH 2025-10-14 08:59:59", "6|7,000||DH 2025-10-14",
		"Total|507,000|50,000|",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
