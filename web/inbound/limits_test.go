package inbound_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"fmt"
	"math"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/web/webtest"
)

// Every form in which providers write dates is read, and what is replaced all
// the same is flagged with its reason, wherever it comes in.
func TestProviderDates(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	native, sepay, casso := w.Native(), w.Sepay(), w.Source("casso", inbound.AuthToken, "")
	zone := w.Services.Ledger.Zone()
	in := func(d time.Duration) string { return app.FormatTime(time.Now().Add(d), zone) }
	soon, later := in(23*time.Hour), in(25*time.Hour)
	for i, c := range []struct {
		literal string
		want    string // how it is dated, or the flaw for which that is the time of receipt
	}{
		{`"2025-10-14 10:59:30"`, "2025-10-14 10:59:30"}, {`"2024-02-29 00:00:00"`, "2024-02-29 00:00:00"},
		{`"2025-12-31 23:59:59"`, "2025-12-31 23:59:59"}, {`"` + soon + `"`, soon},
		{`"2025-10-14T10:59:30"`, "2025-10-14 10:59:30"}, {`"2025-10-14T03:59:30Z"`, "2025-10-14 10:59:30"},
		{`"2025-10-14 03:59:30Z"`, "2025-10-14 10:59:30"},
		{`"2025-10-14T03:59:30.999Z"`, "2025-10-14 10:59:30"}, {`"2025-10-14T12:59:30.5+09:00"`, "2025-10-14 10:59:30"},
		{`"2025-10-14t03:59:30z"`, "2025-10-14 10:59:30"},
		{`"2025-10-14T10:59:30+0700"`, "2025-10-14 10:59:30"}, {`"2025-10-14 10:59:30 +07:00"`, "2025-10-14 10:59:30"},
		{`"2025-10-14 10:59:30.123456"`, "2025-10-14 10:59:30"}, {`"2025-10-14 10:59"`, "2025-10-14 10:59:00"},
		{`"14/10/2025 10:59:30"`, "2025-10-14 10:59:30"}, {`"14/10/2025 10:59"`, "2025-10-14 10:59:00"}, {`" 4/9/2025 "`, "2025-09-04"},
		{`"14/10/2025"`, "2025-10-14"}, {`"2025-10-14"`, "2025-10-14"},
		{`1760414370`, "2025-10-14 10:59:30"}, {`"1760414370"`, "2025-10-14 10:59:30"}, {`1760414370123`, "2025-10-14 10:59:30"},
		{`"1760414370123"`, "2025-10-14 10:59:30"},
		{`"` + later + `"`, "ahead"}, {`"9999-12-31"`, "ahead"}, {`9999999999`, "ahead"},
		{`"2026-02-30 10:00:00"`, "impossible"}, {`"2025-02-29"`, "impossible"}, {`"31/04/2025"`, "impossible"}, {`"10/14/2025"`, "impossible"},
		{`"2025-10-14 24:00:00"`, "impossible"}, {`"2025-10-14 23:59:60"`, "impossible"},
		{`"2025-10-14 10:60:00"`, "impossible"}, {`"0000-00-00 00:00:00"`, "impossible"}, {`"1969-12-31"`, "impossible"},
		{`"2025-10-14T10:59:30+25:00"`, "impossible"}, {`"2025-10-14 10:59:30 ICT"`, "impossible"}, {`"2025-13-01 00:00:00"`, "impossible"},
		{`20251014`, "impossible"}, {`20251014105930`, "impossible"}, {`1.76e9`, "impossible"}, {`-1`, "impossible"}, {`0`, "impossible"},
		{`"today"`, "impossible"}, {`true`, "impossible"}, {`[]`, "impossible"}, {`{"a":1}`, "impossible"},
		{`""`, "missing"}, {`" "`, "missing"}, {`null`, "missing"},
	} {
		flaw := app.DateFlaw(c.want)
		if flaw.Text() == (app.Text{}) {
			flaw = ""
		}
		x := apptest.Transfer{ID: fmt.Sprint("d", i)}
		for j, source := range []inbound.Source{native, sepay, casso} {
			x.Amount = int64(200_000 + 1000*j) // of each source another transfer
			body := apptest.Batch(x.Native())
			switch j {
			case 1:
				body = x.Sepay()
			case 2:
				body = `{"error":0,"data":[{"id":"` + x.ID + `","amount":5000,"when":"` + apptest.SomeDate + `","bank_sub_acc_id":"` +
					apptest.SomeAccount + `"}]}`
			}
			before := time.Now().Truncate(time.Second)
			answer := w.Sends(source, strings.Replace(body, `"`+apptest.SomeDate+`"`, c.literal, 1))
			got, err := w.Services.Ledger.Transaction(context.Background(), 1, int64(3*i+j+1))
			apptest.Must(t, err)
			written := app.FormatDate(got.Time, got.DateOnly, zone)
			replaced := !got.Time.Before(before) && !got.Time.After(time.Now())
			if got.DateFlaw != flaw || flaw == "" && written != c.want || flaw != "" && (!replaced || got.DateOnly) {
				t.Errorf("%s of %s was recorded as %s, flaw %q", c.literal, source.Provider, written, got.DateFlaw)
			}
			if said := strings.Contains(answer.Body, "Dated by the time of receipt: 1 ("+flaw.Text().EN+")"); said != (flaw != "") ||
				answer.Counts(t) != webtest.Recorded {
				t.Errorf("%s of %s is answered %s", c.literal, source.Provider, answer.Body)
			}
		}
	}
	w.Wants(webtest.Recorded, native, apptest.Batch(strings.Replace(apptest.Transfer{ID: "missing"}.Native(), `"transactionDate"`, `"x"`, 1)))
	if got, err := w.Services.Ledger.Transaction(context.Background(), 1, int64(w.Rows("transactions"))); err != nil ||
		got.DateFlaw != app.DateMissing {
		t.Errorf("a missing date has the flaw %q, %v", got.DateFlaw, err)
	}
}

// TestProviderDayBorders runs in a process whose own zone is 14 or 15 hours
// behind.
func TestProviderDayBorders(t *testing.T) {
	t.Parallel()
	const variable = "BAOCO_TEST_DAY_BORDERS"
	if os.Getenv(variable) == "" {
		run := exec.Command(os.Args[0], "-test.run=^TestProviderDayBorders$", "-test.count=1")
		run.Env = append(os.Environ(), variable+"=1", "TZ=America/Los_Angeles")
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	if name, _ := time.Now().Zone(); name != "PST" && name != "PDT" {
		t.Skip("this machine has no time zones: ", name)
	}
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	native, key := w.Native(), w.APIKey(access.ScopeRead)
	today := app.DayOf(time.Now(), w.Services.Ledger.Zone())
	w.Names(webtest.Recorded, native, apptest.Transfer{ID: "1", Amount: 1, Date: (today - 1).String() + " 23:59:59"})
	w.Names(webtest.Recorded, native, apptest.Transfer{ID: "2", Amount: 20, Date: today.String() + " 00:00:00"})
	w.Names(webtest.Recorded, native, apptest.Transfer{ID: "3", Amount: 300, Date: (today - 1).String() + " 00:00:00"})
	w.Names(webtest.Recorded, native, apptest.Transfer{ID: "4", Amount: 4000, Date: (today - 2).String() + " 23:59:59"})
	rows := w.Do("GET", "/api/v1/analytics/period?range=weekly", "", "Authorization", "Bearer "+key).JSON(t)["data"]
	want := fmt.Sprintf("[map[count:1 date:%s total:4000 type:IN] map[count:2 date:%s total:301 type:IN] map[count:1 "+
		"date:%s total:20 type:IN]]", today-2, today-1, today)
	if got := fmt.Sprint(rows); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestProviderCap has more money than there is: sums must not overflow.
func TestProviderCap(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	native, key := w.Native(), w.APIKey(access.ScopeRead)
	// The sum is beyond what a float64 holds exactly.
	const rows, each = 2000, 1000
	date := app.FormatTime(time.Now(), w.Services.Ledger.Zone())
	for n := 0; n < rows; n += each {
		var elements []string
		for i := range each {
			elements = append(elements, apptest.Transfer{ID: fmt.Sprint(n + i), Amount: app.MaxAmount, Date: date}.Native())
		}
		w.Wants(webtest.Counts{Recorded: each}, native, apptest.Batch(elements...))
	}
	for _, path := range []string{"/api/v1/analytics/overview", "/api/v1/analytics/period", "/api/v1/bank-accounts/summary"} {
		a := w.Do("GET", path, "", "Authorization", "Bearer "+key)
		if a.Status != http.StatusOK || !strings.Contains(a.Body, fmt.Sprint(rows*int64(app.MaxAmount))) {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
}

// TestProviderBodySize has a body of exactly as many bytes as may be, and of one
// more.
func TestProviderBodySize(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	for _, source := range []inbound.Source{w.Native(), w.Source("native", inbound.AuthHMAC, ""), w.Sepay(),
		w.Source("sepay", inbound.AuthHMAC, "")} {
		x := apptest.Transfer{ID: fmt.Sprint("s", source.ID), Amount: 1000 * source.ID}
		body, most := apptest.Batch(x.Native()), 1<<20
		if source.Provider == "sepay" {
			body, most = x.Sepay(), 64<<10 // of one transaction
		}
		body += strings.Repeat(" ", most-len(body))
		for _, chunked := range []bool{false, true} {
			for _, paths := range []string{source.URLPath(), inboundPath} {
				if paths == inboundPath && source.Auth != inbound.AuthBearer {
					continue
				}
				larger := body + " "
				request, err := http.NewRequest("POST", w.URL+paths, strings.NewReader(larger))
				apptest.Must(t, err)
				header := apptest.Credentials(source, larger, time.Now())
				for i := 0; i < len(header); i += 2 {
					request.Header.Set(header[i], header[i+1])
				}
				if chunked {
					request.ContentLength = -1
				}
				response, err := http.DefaultClient.Do(request)
				apptest.Must(t, err)
				response.Body.Close()
				if response.StatusCode != http.StatusRequestEntityTooLarge {
					t.Errorf("%s %s, chunked %v: %d", source.Provider, source.Auth, chunked, response.StatusCode)
				}
			}
		}
		before := len(w.Transactions())
		w.Wants(webtest.Recorded, source, body)
		w.WantTransactions(before + 1)
	}
	// 413 isn't answered like a wrong secret, so the operator finds it in the log.
	w.Until("the calls that were too large are noted", func() bool { return w.Rows("refused_calls") == 10 })
	list, err := w.Services.Inbound.RefusedCalls(t.Context(), 1, 0, 1000)
	apptest.Must(t, err)
	noted := map[string]int{}
	for _, c := range list {
		noted[fmt.Sprintf("source %d: %s %s", c.SourceID, c.Code, c.Text.EN)]++
	}
	want := map[string]int{
		"source 1: too_large The request body is larger than 1048576 bytes.": 4,
		"source 2: too_large The request body is larger than 1048576 bytes.": 2,
		"source 3: too_large The request body is larger than 65536 bytes.":   2,
		"source 4: too_large The request body is larger than 65536 bytes.":   2,
	}
	if diff := cmp.Diff(want, noted); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := w.Rows("inbound_events"); n != 4 {
		t.Errorf("%d events are kept", n)
	}
	w.File(func(db *sql.DB) error {
		var shortest, longest int
		err := db.QueryRow(`SELECT min(length(body)), max(length(body)) FROM inbound_events`).Scan(&shortest, &longest)
		if shortest != 64<<10 || longest != 1<<20 {
			t.Errorf("bodies of %d to %d bytes are kept", shortest, longest)
		}
		return err
	})
}

// TestProviderCompressed: a body is read as it stands.
func TestProviderCompressed(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(apptest.Batch(apptest.Transfer{}.Native())))
	apptest.Must(t, z.Close())
	native, sepay := w.Native(), w.Sepay()
	a := w.Do("POST", native.URLPath(), b.String(), append(apptest.Credentials(native, "", time.Now()), "Content-Encoding", "gzip")...)
	if a.Status != http.StatusBadRequest && a.Status != http.StatusUnsupportedMediaType {
		t.Errorf("native: %d %s", a.Status, a.Body)
	}
	a = w.Do("POST", sepay.URLPath(), b.String(), append(apptest.Credentials(sepay, "", time.Now()), "Content-Encoding", "gzip")...)
	if got := a.Counts(t); got != webtest.Rejected {
		t.Errorf("sepay: %d %s", a.Status, a.Body)
	}
	w.WantTransactions(0)
}

// An amount that the sums of the account can't take is kept as rejected, and isn't the
// caller's fault: whoever sends it gets an answer that ends its tries.
func TestSumTooLarge(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	native, sepay := w.Native(), w.Sepay()
	w.Names(webtest.Recorded, native, apptest.Transfer{ID: "1", Amount: 1})
	w.Change(`UPDATE account_totals SET in_amount = ?`, int64(math.MaxInt64-1000))
	w.Names(webtest.Counts{Rejected: 1}, native, apptest.Transfer{ID: "2", Amount: 1001})
	w.Names(webtest.Counts{Rejected: 1}, sepay, apptest.Transfer{ID: "2", Amount: 1002})
	w.Wants(webtest.Counts{Rejected: 2}, native,
		apptest.Batch(apptest.Transfer{ID: "3", Amount: 1003}.Native(), apptest.Transfer{ID: "4", Amount: 1004}.Native()))
	w.Wants(webtest.Counts{Recorded: 1, Rejected: 1}, native,
		apptest.Batch(apptest.Transfer{ID: "5", Amount: 1005}.Native(), apptest.Transfer{ID: "6", Amount: 1000}.Native()))
	w.WantTransactions(2)
}
