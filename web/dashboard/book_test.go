package dashboard_test

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"baoco/app/access"
	"baoco/app/apptest"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
)

// A book that begins at the midnight of an older time zone says so. The closed one stays as it was.
func TestBookZone(t *testing.T) {
	t.Parallel()
	w, lan := dayWorld(t)
	const says = "The time zone was changed after the book through 2025-10-31 was closed. " +
		"That book ends at 2025-11-01 06:00:00 in the new zone"
	lan.Post("/book/close?period=2025-10").Goes(t, "/book?period=2025-10")
	lan.Get("/book/sheet?period=2025-11").Hides(t, "The time zone")
	apptest.Must(t, w.Store.SetZone(t.Context(), "Pacific/Auckland"))
	w.Stop()
	w.Start()
	lan = w.Browser().SignIn("lan")
	for _, period := range []string{"2025-11", "2025"} {
		lan.Get("/book/sheet?period="+period).Shows(t, says)
		f, err := excelize.OpenReader(strings.NewReader(lan.Get("/book/file?format=xlsx&period=" + period).Body))
		apptest.Must(t, err)
		rows, err := f.GetRows(f.GetSheetList()[0])
		apptest.Must(t, err)
		if !strings.HasPrefix(rows[8][0], says) {
			t.Errorf("%q", rows[:9])
		}
	}
	for _, period := range []string{"2025-10", "2025-12"} {
		lan.Get("/book/sheet?period="+period).Hides(t, "The time zone")
	}
}

// The owner chooses a book, prints it, takes it as a file and closes it.
func TestBookPages(t *testing.T) {
	t.Parallel()
	w, lan := dayWorld(t)
	heading := []string{"name", "Hộ <A>", "address", "1 Lê Lợi", "place", "Chợ B", "tax_code", "0123456789-001"}
	lan.Post("/book/heading", heading...).Goes(t, "/book")
	lan.Post("/book/cash", "day", "2025-10-14", "amount", "5.000", "note", "chợ").Goes(t, "/book?period=2025-10")
	lan.Post("/book/opening", "bank_account_id", "1", "day", "2025-10-01", "amount", "-70.000").Goes(t, "/book")
	lan.Get("/book?period=2025-10").Shows(t, "Month 10 of 2025", "5,000\u00a0₫", "chợ", `value="0123456789-001"`, "−70,000",
		"Close the books")
	lan.Post("/book/cash", "day", "2025-10-14", "amount", "5.000", "note", "chợ B").Goes(t, "/book?period=2025-10")
	lan.Post("/book/opening", "bank_account_id", "1", "day", "2025-10-02", "amount", "-60.000").Goes(t, "/book")
	lan.Get("/settings/audit").Shows(t, "entered the cash of \u20682025-10-14\u2069 (note: \u2068chợ\u2069 → \u2068chợ B\u2069)",
		"(beginning of: 01 Oct 2025 → 02 Oct 2025, the amount: \u2068-70000\u2069 → \u2068-60000\u2069)")
	lan.Post("/book/cash", "day", "2025-10-14", "amount", "5.000", "note", "chợ").Goes(t, "/book?period=2025-10")
	lan.Post("/book/opening", "bank_account_id", "1", "day", "2025-10-01", "amount", "-70.000").Goes(t, "/book")
	lan.Get("/book/sheet?period=2025-10").Shows(t, "Form S1a-HKD, Circular 152/2025/TT-BTC", "Hộ <A>", "1 Lê Lợi", "Chợ B",
		"0123456789-001",
		"Book of revenue from sales of goods and services", "Sales by bank transfer (3)", "507,000", "Sales for cash: chợ",
		"1,912,000", "not closed")
	lan.Get("/book/sheet?period=2025-10&by=transaction").Shows(t, "DH 2025-10-14 08:15:00", "300,000")
	s2e := lan.Get("/book/sheet?period=2025-10&form=s2e")
	s2e.Shows(t, "Detailed book of money, part II: money at banks", "ACB 19354957", "Balance at the beginning", "−70,000",
		"BC2", "1,830,000", "Vietcombank")
	lan.Get("/book/file?period=2025-10&format=csv").Shows(t, "Date (A),Description (B),Amount (1)",
		"2025-10-14,Sales for cash: chợ,5000", ",Total,1912000")
	file := lan.Get("/book/file?period=2025-10&form=s2e&format=xlsx")
	f, err := excelize.OpenReader(strings.NewReader(file.Body))
	apptest.Must(t, err)
	rows, err := f.GetRows(f.GetSheetList()[0])
	apptest.Must(t, err)
	if rows[0][0] != "Household business: Hộ <A>" || rows[8][0] != "Document (A)" || rows[9][2] != "ACB 19354957" || rows[10][3] != "-70,000" {
		t.Errorf("%q", rows[:11])
	}
	if name := file.Header.Get("Content-Disposition"); name != `attachment; filename="s2e-hkd-2025-10.xlsx"` {
		t.Error(name)
	}

	lan.Get("/book/close?period=2025-10").Shows(t, "Close the books?", "31 Oct 2025")
	lan.Post("/book/close?period=2025-10").Goes(t, "/book?period=2025-10")
	lan.Get("/book?period=2025-10").Shows(t, "Closed through", "31 Oct 2025", "Open the book again")
	for path, form := range map[string][]string{"/book/cash": {"day", "2025-10-01", "amount", "5.000"},
		"/transactions/3/revenue": {"kind", "loan"}, "/book/opening": {"bank_account_id", "1", "day", "2025-12-01", "amount",
			"5.000"}} {
		refused := lan.Post(path, form...)
		refused.WantStatus(t, http.StatusConflict)
		refused.Shows(t, "This is in a closed book")
	}
	lan.Post("/book/close?period=2025-10").WantStatus(t, http.StatusConflict)
	lan.Post("/book/heading", "name", "Hộ B").Goes(t, "/book")
	lan.Get("/book/sheet?period=2025-10").Shows(t, "Hộ <A>")
	lan.Get("/book/sheet?period=2025-11").Shows(t, "Hộ B")
	lan.Post("/book/close?period=2025-11").Goes(t, "/book?period=2025-11")
	const open = "/book/open?through=2025-11-30"
	lan.Get("/book/open").Shows(t, `action="`+open+`"`)
	lan.Post(open).Goes(t, "/book")
	lan.Post(open).WantStatus(t, http.StatusConflict) // sent twice it opens one book
	lan.Get("/book/sheet?period=2025-10").Shows(t, "Hộ <A>")
	lan.Post("/book/open").Goes(t, "/book")
	lan.Get("/book/sheet?period=2025-10").Shows(t, "Hộ B")
	lan.Post("/book/open").WantStatus(t, http.StatusConflict)

	month := time.Now().In(w.Services.Ledger.Zone()).Format("2006-01")
	// Cash is of the whole shop: who is limited to some of its money has nothing to do with it.
	minh := w.User(1, "minh", access.RoleAccountant)
	_, err = w.Services.Access.LimitUser(t.Context(), 1, minh.ID, access.BankAccountLimit{On: true, IDs: []int64{1}})
	apptest.Must(t, err)
	limited := w.Browser().SignIn("minh")
	limited.Post("/book/cash", "day", "2025-10-14", "amount", "1").WantStatus(t, http.StatusForbidden)
	limited.Get("/book?period=2025-10").Hides(t, "chợ", `action="/book/cash"`)
	limited.Get("/book/sheet?period=2025-10").Hides(t, "chợ")
	lan.Get("/book?period=2025-10").Shows(t, "5,000\u00a0₫", "chợ")

	lan.Post("/book/close?period="+month).WantStatus(t, http.StatusUnprocessableEntity)
	for _, path := range []string{"/book/sheet?form=x", "/book/sheet?by=week", "/book/sheet?period=2999",
		"/book?period=2025-10-01",
		"/book/file?format=pdf", "/book/file?format=csv&form=x"} {
		lan.Get(path).WantStatus(t, http.StatusUnprocessableEntity)
	}
	for _, form := range [][]string{{"day", "2025-13-01", "amount", "5"}, {"day", "2025-10-01", "amount", "5.00"}, {"day",
		"2999-01-01", "amount", "5"},
		{"day", "2025-10-01", "amount", "-5"}, {"day", "2025-10-01", "amount", "5", "note", strings.Repeat("a", 201)}} {
		lan.Post("/book/cash", form...).WantStatus(t, http.StatusUnprocessableEntity)
	}
	wrong := lan.Post("/book/heading", "name", "Hộ C", "tax_code", "123")
	wrong.WantStatus(t, http.StatusUnprocessableEntity)
	wrong.Shows(t, "must be 10 or 13 digits", `value="Hộ C"`)
}

// Chromium prints the book on A4: it drops a page size that it doesn't understand.
func TestBookIsPrintedOnA4(t *testing.T) {
	t.Parallel()
	browser, err := exec.LookPath("chromium-headless-shell")
	if err != nil {
		t.Skip("there is no chromium-headless-shell")
	}
	_, lan := dayWorld(t)
	page := lan.Get("/book/sheet?period=2025-10&form=s2e").Body
	style := regexp.MustCompile(`href="(/static/book\.css[^"]*)"`).FindStringSubmatch(page)
	dir := t.TempDir()
	apptest.Must(t, os.WriteFile(filepath.Join(dir, "book.css"), []byte(lan.Get(style[1]).Body), 0o600))
	apptest.Must(t, os.WriteFile(filepath.Join(dir, "book.html"), []byte(strings.Replace(page, style[1], "book.css", 1)), 0o600))
	pdf := filepath.Join(dir, "book.pdf")
	out, err := exec.CommandContext(t.Context(), browser, "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer",
		"--print-to-pdf="+pdf,
		"file://"+filepath.Join(dir, "book.html")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	content, err := os.ReadFile(pdf)
	apptest.Must(t, err)
	box := regexp.MustCompile(`/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]`).FindSubmatch(content)
	if box == nil || !bytes.HasPrefix(box[1], []byte("59")) || !bytes.HasPrefix(box[2],
		[]byte("84")) { // 210 × 297 mm are 595 × 842 points
		t.Errorf("the pages are %q", box)
	}
}

// The report of a period: its page, its files, and what is refused.
func TestReportPage(t *testing.T) {
	t.Parallel()
	_, b := dayWorld(t)
	b.Get("/report?from=2025-10-01&to=2025-10-31&by=month").Shows(t, "Report 10/2025", "All bank accounts", "1,907,000\u00a0₫",
		"Before: 09/2025", `<path class="in" d="M`, `href="/report/file?by=month&format=xlsx&from=2025-10-01&to=2025-10-31"`)
	b.Get("/report?by=hour").Shows(t, "This period isn’t over yet.")
	for query, says := range map[string]string{
		"from=2025-10-02&to=2025-10-01": "must not be before", "from=2999-01-01&to=2999-01-02": "has not begun yet",
		"by=year": "must be day, week",
		"from=x":  "must be a date", "from=2020-01-01": "at most 3 years", "bank_account_id=99": "names nothing in this account",
	} {
		a := b.Get("/report?" + query)
		a.WantStatus(t, http.StatusUnprocessableEntity)
		a.Shows(t, says)
		b.Get("/report/file?format=csv&"+query).WantStatus(t, http.StatusUnprocessableEntity)
	}
	a := b.Get("/report/file?from=2025-10-14&to=2025-10-14&by=hour&format=csv")
	if got := a.Header.Get("Content-Disposition"); got != `attachment; filename="report-2025-10-14_2025-10-14.csv"` {
		t.Error(got)
	}
	a.Shows(t, "Hour,Money in,Payments in,Money out,Payments out,In less out", "08:00,300000,1,50000,1,250000", "no time,7000,1,0,0,7000",
		"Total,507000,3,50000,1,457000", "Before: 13/10/2025,")
	f, err := excelize.OpenReader(strings.NewReader(b.Get("/report/file?from=2025-10-14&to=2025-10-14&format=xlsx").Body))
	apptest.Must(t, err)
	defer f.Close()
	rows, err := f.GetRows(f.GetSheetList()[0])
	apptest.Must(t, err)
	want := [][]string{{"Report"}, {"Báo Có"}, {"All bank accounts"}, {"14/10/2025"},
		{"Date", "Money in", "Payments in", "Money out", "Payments out", "In less out"}, {"14/10/2025", "507,000", "3", "50,000", "1", "457,000"},
		{"Total", "507,000", "3", "50,000", "1", "457,000"}}
	if diff := cmp.Diff(want, rows[:7]); diff != "" {
		t.Error(diff)
	}
}
