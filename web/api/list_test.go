package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"baoco/app/access"
	"baoco/web/webtest"
)

// TestWindows records transactions of many days and counts the windows again
// by the calendar.
func TestWindows(t *testing.T) {
	w := webtest.NewWorld(t)
	var failures []string
	differs := func(what string, got, want any) {
		if webtest.Shown(got) != webtest.Shown(want) {
			failures = append(failures, fmt.Sprintf("%s: %s\nwant %s", what, webtest.Shown(got), webtest.Shown(want)))
		}
	}
	key := w.APIKey(access.ScopeFull)
	w.Link("ACB", "0123456789")
	zone := w.Services.Ledger.Zone()
	now := time.Now().In(zone)
	noon := time.Date(now.Year(), now.Month(), now.Day(), 12, 0, 0, 0, zone)
	type transaction struct {
		at        time.Time
		direction string
		amount    int64
	}
	var list []transaction
	for back := 40; back >= 0; back-- {
		day := noon.AddDate(0, 0, -back)
		// The first and the last second of the day are the day's.
		list = append(list, transaction{day.Add(-12 * time.Hour), "OUT", int64(1000 + back)},
			transaction{day.Add(12*time.Hour - time.Second), "IN", int64(100_000 + back)})
		if back%3 == 0 {
			list = append(list, transaction{day, "IN", 7})
		}
	}
	list = append(list, transaction{noon.Add(12 * time.Hour), "IN", 5_000_000}) // tomorrow, at midnight
	for i, tr := range list {
		body := fmt.Sprintf(`{"id":"W%d","gateway":"ACB","accountNumber":"0123456789","transferType":%q,"transferAmount":%d`+
			`,"transactionDate":%q}`,
			i, tr.direction, tr.amount, tr.at.Format("2006-01-02 15:04:05"))
		if a := w.Do("POST", "/api/v1/transactions", body, "Authorization", "Bearer "+key); a.Status != 201 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	date := func(t time.Time) string { return t.Format("2006-01-02") }
	sum := func(first, last time.Time, directions ...string) (count, total int64) {
		for _, tr := range list {
			d := date(tr.at)
			if d >= date(first) && d <= date(last) && slices.Contains(directions, tr.direction) {
				count, total = count+1, total+tr.amount
			}
		}
		return count, total
	}
	get := func(path string) map[string]any {
		return w.Do("GET", path, "", "Authorization", "Bearer "+key).JSON(t)
	}
	for window, days := range map[string]int{"daily": 1, "weekly": 7, "monthly": 30} {
		var want []any
		for back := days - 1; back >= 0; back-- {
			day := noon.AddDate(0, 0, -back)
			for _, direction := range []string{"IN", "OUT"} {
				count, total := sum(day, day, direction)
				want = append(want, map[string]any{"date": date(day), "type": direction, "count": count, "total": total})
			}
		}
		differs(window, get("/api/v1/analytics/period?range=" + window)["data"], want)
	}
	differs("without a range", get("/api/v1/analytics/period")["data"], get("/api/v1/analytics/period?range=monthly")["data"])
	monday := noon
	for monday.Weekday() != time.Monday {
		monday = monday.AddDate(0, 0, -1)
	}
	wantSummary := map[string]any{"id": 1, "account_number": "0123456789", "bank": "ACB", "account_name": "NGUYEN VAN A", "status": "active"}
	for name, first := range map[string]time.Time{
		"today_": noon, "week_": monday, "month_": noon.AddDate(0, 0, 1-noon.Day()), "": noon.AddDate(-1, 0, 0),
	} {
		last := noon
		if name == "" {
			last = noon.AddDate(0, 0, 2)
		}
		count, total := sum(first, last, "IN", "OUT")
		wantSummary[name+"transaction_count"], wantSummary[name+"total_amount"] = count, total
	}
	differs("summary", get("/api/v1/bank-accounts/summary")["banks"], []any{wantSummary})
	count, _ := sum(noon.AddDate(-1, 0, 0), noon.AddDate(0, 0, 2), "IN", "OUT")
	_, in := sum(noon.AddDate(-1, 0, 0), noon.AddDate(0, 0, 2), "IN")
	_, out := sum(noon.AddDate(-1, 0, 0), noon.AddDate(0, 0, 2), "OUT")
	want := map[string]any{"total_transactions": count, "total_in": in, "total_out": out, "bank_accounts": 1, "webhooks_sent": 0,
		"webhooks_errors": 0}
	differs("overview", get("/api/v1/analytics/overview")["overview"], want)
	if date(time.Now().In(zone)) != date(noon) {
		t.Skip("midnight came meanwhile")
	}
	for _, f := range failures {
		t.Error(f)
	}
}

// TestPages walks through a listing page by page and by since_id.
func TestPages(t *testing.T) {
	w := webtest.NewWorld(t)
	key := w.APIKey(access.ScopeFull)
	w.Link("ACB", "0123456789")
	for i := range 47 {
		body := fmt.Sprintf(`{"id":"P%d","gateway":"ACB","accountNumber":"0123456789","transferType":"IN","transferAmount":%d}`, i, i+1)
		if a := w.Do("POST", "/api/v1/transactions", body, "Authorization", "Bearer "+key); a.Status != 201 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	amounts := func(query string) (list []string, pages string) {
		body := w.Do("GET", "/api/v1/transactions?"+query, "", "Authorization", "Bearer "+key).JSON(t)
		for _, tr := range body["transactions"].([]any) {
			list = append(list, tr.(map[string]any)["amount"].(json.Number).String())
		}
		return list, webtest.Shown(body["pagination"])
	}
	var all []string
	for page := 1; page <= 5; page++ {
		list, pages := amounts(fmt.Sprintf("per_page=10&page=%d", page))
		all = append(all, list...)
		if want := fmt.Sprintf(`{"current_page":%d,"last_page":5,"per_page":10,"total":47}`, page); pages != want {
			t.Errorf("%s, want %s", pages, want)
		}
	}
	for i := range 47 {
		if i >= len(all) || all[i] != strconv.Itoa(47-i) {
			t.Fatalf("the pages together: %v", all)
		}
	}
	for query, want := range map[string]string{
		"page=6&per_page=10":           `{"current_page":6,"last_page":5,"per_page":10,"total":47}`,
		"page=1099511627776":           `{"current_page":1099511627776,"last_page":3,"per_page":20,"total":47}`,
		"page=2&min_amount=48":         `{"current_page":2,"last_page":1,"per_page":20,"total":0}`,
		"since_id=47":                  `{"current_page":1,"last_page":1,"per_page":20,"total":0}`,
		"since_id=9223372036854775807": `{"current_page":1,"last_page":1,"per_page":20,"total":0}`,
	} {
		if list, pages := amounts(query); len(list) != 0 || pages != want {
			t.Errorf("%s: %v %s", query, list, pages)
		}
	}
	if list, pages := amounts(""); len(list) != 20 || pages != `{"current_page":1,"last_page":3,"per_page":20,"total":47}` {
		t.Errorf("without parameters: %v %s", list, pages)
	}
	if list, _ := amounts("per_page=100"); len(list) != 47 {
		t.Errorf("100 a page: %d", len(list))
	}
	// Polling: each call goes on where the last one ended.
	var polled []string
	since := 0
	for {
		list, _ := amounts(fmt.Sprintf("since_id=%d&per_page=9", since))
		if len(list) == 0 {
			break
		}
		polled = append(polled, list...)
		since += len(list)
	}
	slices.Reverse(all)
	if !slices.Equal(polled, all) {
		t.Errorf("polled: %v", polled)
	}
}
