package dashboard_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/web/webtest"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
)

// dayWorld is a world in which some money moved on 14 October 2025, the day before
// and a week before.
func dayWorld(t *testing.T) (*webtest.World, *webtest.Browser) {
	t.Helper()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", "19354957")
	w.Link("VCB", "0071000888888")
	sepay := w.Sepay()
	zone := w.Services.Ledger.Zone()
	move := func(at, number string, d app.Direction, amount, balance int64) {
		t.Helper()
		e := inbound.Incoming{EventID: at + number, AccountNumber: number, Type: d, Amount: amount, Content: "DH " + at, Balance: balance}
		e.SetDate(at, zone)
		recording, err := w.Services.Inbound.RecordTransactions(t.Context(),
			inbound.Call{AccountID: 1, Source: sepay, Channel: app.ChannelCall, Body: []byte("{}"), ReceivedAt: time.Now(),
				Elements: []inbound.Incoming{e}})
		apptest.Must(t, err)
		if recording.Recorded != 1 {
			t.Fatalf("%+v", recording)
		}
	}
	move("2025-10-07 10:00:00", "19354957", app.In, 400_000, 0)
	move("2025-10-13 23:59:59", "19354957", app.In, 100_000, 5_000_000)
	move("2025-10-14 00:00:00", "19354957", app.In, 200_000, 5_200_000)
	move("2025-10-14 08:15:00", "19354957", app.In, 300_000, 5_500_000)
	move("2025-10-14 08:59:59", "0071000888888", app.Out, 50_000, 0)
	move("2025-10-14", "0071000888888", app.In, 7_000, 0)
	move("2025-10-15 00:00:00", "19354957", app.In, 900_000, 0)
	move("2025-10-20 10:00:00", "0071000888888", app.Out, 60_000, 0)
	return w, w.Browser().SignIn("lan")
}

func TestDayPage(t *testing.T) {
	t.Parallel()
	w, b := dayWorld(t)
	page := b.Get("/day?date=2025-10-14")
	page.Shows(t, "Day book 14 Oct 2025", "Tuesday, 14 Oct 2025", "+507,000\u00a0₫", "3 payments in", "−50,000\u00a0₫", "1 payment out",
		"+500,000\u00a0₫", "5,000,000\u00a0₫", "5,500,000\u00a0₫", "08:00", "00:00", "no time", `href="/day?date=2025-10-13"`,
		`href="/day?date=2025-10-15"`,
		"+400,000\u00a0₫", "+27%", "+407%", "/transactions?from=2025-10-14&to=2025-10-14")
	page.Hides(t, "09:00", "23:00", "so far")
	empty := b.Get("/day?date=2025-10-01")
	empty.Shows(t, "No money came in or went out on this day.")
	empty.Hides(t, `rel="prev"`) // nothing is known of the time before
	slip := b.Get("/day?date=2025-10-14&paper=58")
	slip.Shows(t, "no time (1)</dt><dd>7,000") // so the hours add up to the sum
	slip.Shows(t, "slip.css", `data-theme="light"`, "507,000\u00a0₫", "08:00 (1)")
	slip.Hides(t, "app.css", "09:00")
	if got := hoursOf(slip); got != "00:00 (1) 08:00 (1)" {
		t.Error(got)
	}
	// Its paper is as long as it has lines, and the policy knows the style that says so.
	if empty := slipHeight(t, b.Get("/day?date=2025-10-01&paper=58")); slipHeight(t, slip) < empty+4*8 {
		t.Errorf("the slip of a day is %d mm long, of an empty one %d mm", slipHeight(t, slip), empty)
	}
	b.Get("/day?date=2025-10-07").Hides(t, "09:00")
	next := b.Get("/day?date=2025-10-15")
	if strings.Count(next.Body, "5,500,000") != 1 {
		t.Error("a day on which no balance was told must have the opening one alone")
	}
	b.Get("/day?date=2025-10-20").Shows(t, "··8888", "−60,000\u00a0₫")

	today := b.Get("/day")
	today.Shows(t, "Day book ", "Today, so far")
	today.Hides(t, `rel="next"`)
	for _, date := range []string{"2999-01-01", "yesterday", "2025-02-30", "2025-10-14x"} {
		for _, path := range []string{"/day?date=", "/day?paper=58&date="} {
			b.Get(path+date).WantStatus(t, http.StatusUnprocessableEntity)
		}
	}

	// The list of transactions leads to the days.
	b.Get("/transactions").Shows(t, `<a href="/day?date=2025-10-14">`)
	w.User(1, "hoa", access.RoleDeveloper)
	w.Browser().SignIn("hoa").Get("/transactions").Hides(t, `/day?date=`)
}

// slipHeight is how long the paper of a slip is, in mm.
func slipHeight(t *testing.T, slip webtest.Answer) int {
	t.Helper()
	style := regexp.MustCompile(`<style>(@page \{ size: 58mm (\d+)mm; \})</style>`).FindStringSubmatch(slip.Body)
	if style == nil {
		t.Fatalf("no style names the paper: %s", slip.Body)
	}
	sum := sha256.Sum256([]byte(style[1]))
	if policy := slip.Header.Get("Content-Security-Policy"); !strings.Contains(policy, base64.StdEncoding.EncodeToString(sum[:])) {
		t.Errorf("the policy %s forbids %s", policy, style[1])
	}
	height, err := strconv.Atoi(style[2])
	apptest.Must(t, err)
	return height
}

// hoursOf are the hours of a slip, each with its number of payments.
func hoursOf(slip webtest.Answer) string {
	return strings.Join(regexp.MustCompile(`\d\d:00 \(\d+\)`).FindAllString(slip.Body, -1), " ")
}

// Where the clocks change, a day has 23 or 25 hours: all of them are in its book and in
// its file, and nothing of the next day is.
func TestDayOfClockChange(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Change(`UPDATE settings SET value = 'America/New_York' WHERE name = 'timezone'`)
	w.Stop()
	w.Start()
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	native := w.Native()
	for i, date := range []string{
		"2025-03-09T00:30:00-05:00", "2025-03-09T01:59:59-05:00", "2025-03-09T03:00:00-04:00", "2025-03-09T23:59:59-04:00",
		"2025-03-10T00:00:00-04:00",
		"2025-11-02T00:30:00-04:00", "2025-11-02T01:30:00-04:00", "2025-11-02T01:30:00-05:00", "2025-11-02T23:59:59-05:00",
		"2025-11-03T00:00:00-05:00",
	} {
		w.Names(webtest.Recorded, native, apptest.Transfer{ID: fmt.Sprint(i), Number: fmt.Sprint(i), Date: date, Amount: 1 << i})
	}
	b := w.Browser().SignIn("lan")
	for date, want := range map[string]struct {
		hours string
		sum   string
	}{
		"2025-03-09": {"00:00 (1) 01:00 (1) 03:00 (1) 23:00 (1)", "15"},
		"2025-11-02": {"00:00 (1) 01:00 (2) 23:00 (1)", "480"},
	} {
		slip := b.Get("/day?paper=58&date=" + date)
		slip.Shows(t, "<dd>"+want.sum+"\u00a0₫</dd>")
		if got := hoursOf(slip); got != want.hours {
			t.Errorf("%s: %s, want %s", date, got, want.hours)
		}
		rows := fileRows(t, b, date)
		if got := rows[len(rows)-1]; len(rows) != 11 || got != "Total|"+want.sum+"|0|" {
			t.Errorf("%s: %d rows, %s", date, len(rows), got)
		}
	}
}

// Before a day is over it isn't compared with whole ones, and the next one has no page.
// Sums of a week hold its days of the month before.
func TestDayThatGoesOn(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) { // on Saturday, 1 January 2000
		w.User(1, "lan", access.RoleOwner)
		native := w.Native()
		for i, date := range []string{"1999-12-31 10:00:00", "2000-01-01 06:00:00"} {
			w.Came(0, native, apptest.Transfer{ID: fmt.Sprint(i), Date: date, Amount: int64(i+1) * 1_000_000})
		}
		cookies := signInTo(w, "lan")
		get := func(path string) (int, string) {
			a := sendTo(w, cookies, "GET", path, nil)
			return a.Code, html.UnescapeString(a.Body.String())
		}
		if _, page := get("/day"); strings.Contains(page, "this day:") || !strings.Contains(page, "+1,000,000\u00a0₫") {
			t.Errorf("the book of a day that goes on:\n%s", page)
		}
		if code, _ := get("/day?date=2000-01-02"); code != http.StatusUnprocessableEntity {
			t.Errorf("tomorrow: %d", code)
		}
		if _, page := get("/banks"); strings.Count(page, "+3,000,000\u00a0₫") != 1 {
			t.Errorf("the sum of the week must stand once on\n%s", page)
		}
	})
}

// fileRows are the rows of the file of a day, of each the columns of transactions that
// matter here.
func fileRows(t *testing.T, b *webtest.Browser, date string) (got []string) {
	t.Helper()
	a := b.Get("/transactions/export?format=xlsx&from=" + date + "&to=" + date)
	a.WantStatus(t, http.StatusOK)
	if got := a.Header.Get("Content-Disposition"); got != `attachment; filename="baoco-`+date+`_`+date+`.xlsx"` {
		t.Error(got)
	}
	f, err := excelize.OpenReader(strings.NewReader(a.Body))
	apptest.Must(t, err)
	defer f.Close()
	rows, err := f.GetRows(f.GetSheetList()[0])
	apptest.Must(t, err)
	for _, row := range rows {
		for len(row) < 7 {
			row = append(row, "")
		}
		got = append(got, fmt.Sprint(row[0], "|", row[4], "|", row[5], "|", row[6]))
	}
	return got
}

// The file of a day has its heading, its rows in the order of their times, and its sums.
func TestDayFile(t *testing.T) {
	t.Parallel()
	_, b := dayWorld(t)
	want := []string{
		"Transactions|||", "Báo Có|||", "All bank accounts|||", "From: 14/10/2025|||", "Through: 14/10/2025|||",
		"baoco id|Money in|Money out|Content",
		"3|200,000||DH 2025-10-14 00:00:00", "6|7,000||DH 2025-10-14", "4|300,000||DH 2025-10-14 08:15:00",
		"5||50,000|DH 2025-10-14 08:59:59",
		"Total|507,000|50,000|",
	}
	if diff := cmp.Diff(want, fileRows(t, b, "2025-10-14")); diff != "" {
		t.Error(diff)
	}
}
