package bench

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/command/terminal"
)

// benchUser is who looks at the pages of a seeded file.
const benchUser = "bench"

// measurePages signs in and asks for every page of the dashboard that reads.
func (b *bench) measurePages(ctx context.Context, server *benchServer, f *seededFile, report *SeedReport, now time.Time) error {
	cookie, err := signIn(ctx, server, f.password)
	if err != nil {
		return err
	}
	for _, page := range pageRequests(f, report.Rows, now) {
		b.steps.next("the dashboard: %s", page.Name)
		if err := b.measureEndpoint(ctx, server, "Cookie", cookie, &page); err != nil {
			return err
		}
		report.Pages = append(report.Pages, page)
	}
	return nil
}

// signIn gives the cookie of a new session.
func signIn(ctx context.Context, server *benchServer, password string) (string, error) {
	form := url.Values{"name": {benchUser}, "password": {password}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.url+"/login", strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return "", err
	}
	response.Body.Close()
	for _, c := range response.Cookies() {
		if c.Name == "baoco" {
			return c.Name + "=" + c.Value, nil
		}
	}
	return "", fmt.Errorf("signing in was answered with %s", response.Status)
}

// pageRequests are the pages of the dashboard that read.
func pageRequests(f *seededFile, rows int64, now time.Time) []benchEndpoint {
	bank, hook := f.banks[len(f.banks)/2], f.hooks[len(f.hooks)/2]
	last := min(10_000, rows/app.DefaultPageSize)
	month := now.AddDate(-1, 0, 0)
	dates := "from=" + month.Format(app.DateLayout) + "&to=" + month.AddDate(0, 1, 0).Format(app.DateLayout)
	var list []benchEndpoint
	add := func(name, format string, args ...any) {
		list = append(list, benchEndpoint{Name: name, Path: fmt.Sprintf(format, args...)})
	}
	add("overview", "/")
	add("overview of 90 days", "/?days=90")
	add("transactions", "/transactions")
	add(fmt.Sprintf("transactions, page %s", terminal.Grouped(last)), "/transactions?page=%d&until=%d", last, rows)
	add("transactions of a bank account", "/transactions?bank_account_id=%d", bank)
	add("transactions OUT", "/transactions?type=OUT")
	add("transactions of a month", "/transactions?%s", dates)
	add("transactions that failed", "/transactions?delivery_state=failed")
	add("transactions that wait", "/transactions?delivery_state=pending")
	add("transactions, search for what is there once", "/transactions?q=DH%d", rows/3)
	add("transactions, search for what is frequent", "/transactions?q=thanh+toan")
	add("transactions, search for two letters", "/transactions?q=ck")
	add("transactions, search on a bank account", "/transactions?q=thanh+toan&bank_account_id=%d", bank)
	add("transactions, search of a month", "/transactions?q=thanh+toan&%s", dates)
	add("transactions by amount", "/transactions?min=1000000&max=1010000")
	add("transactions by a frequent amount", "/transactions?min=1000000")
	add("transactions by a rare amount", "/transactions?min=5008000")
	add("transactions by amount on a bank account", "/transactions?min=1000000&max=1010000&bank_account_id=%d", bank)
	add("transactions by amount, search", "/transactions?min=1000000&max=1010000&q=thanh+toan")
	add("transactions that were delivered", "/transactions?delivery_state=delivered")
	add("transactions that were delivered, search", "/transactions?delivery_state=delivered&q=thanh+toan")
	add("transactions that were never sent", "/transactions?delivery_state=unsent")
	add("a transaction", "/transactions/%d", max(1, rows/2))
	add("webhooks", "/webhooks")
	add("a new webhook", "/webhooks/new")
	for _, page := range []string{"", "/edit", "/rotate", "/replay", "/delete"} {
		add(strings.TrimSpace("a webhook "+strings.TrimPrefix(page, "/")), "/webhooks/%d%s", hook, page)
	}
	add("the signature tool", "/tools/signature?webhook_id=%d", hook)
	add("deliveries", "/deliveries")
	add(fmt.Sprintf("deliveries, page %s", terminal.Grouped(last)), "/deliveries?page=%d", last)
	add("deliveries of a webhook", "/deliveries?webhook_id=%d", hook)
	add("deliveries with errors", "/deliveries?status=0")
	add("deliveries of a month", "/deliveries?%s", dates)
	add("deliveries, search for what is frequent", "/deliveries?q=thanh+toan")
	add("deliveries, search for what is not so frequent", "/deliveries?q=1234")
	add("deliveries, search for what is there once", "/deliveries?q=DH%d", rows/3)
	add("deliveries of a webhook, search for what is frequent", "/deliveries?webhook_id=%d&q=thanh+toan", hook)
	add("deliveries with errors, search for what is frequent", "/deliveries?status=0&q=thanh+toan")
	add("deliveries of a month, search for what is frequent", "/deliveries?q=thanh+toan&%s", dates)
	add("deliveries, search for two characters", "/deliveries?q=dh")
	add("deliveries that wait", "/deliveries?status=waiting")
	add("a delivery", "/deliveries/%d", max(1, rows/2))
	add("sending again", "/deliveries/resend?failed=all")
	add("sending again, of what is frequent", "/deliveries/resend?failed=all&q=thanh+toan")
	add("sending again, of a choice", "/deliveries/resend?id=%d&id=%d&id=%d", rows/4, rows/2, rows)
	add("bank accounts", "/banks")
	add("a bank account", "/banks/%d", bank)
	add("its VietQR code", "/banks/%d/qr.png?amount=150000&content=DH1", bank)
	add("sources", "/inbound")
	add("a source", "/inbound/sources/%d", f.sources[0].ID)
	add("inbound log", "/inbound/events")
	add("inbound log of a source", "/inbound/events?source_id=%d", f.sources[0].ID)
	add("refused calls", "/inbound/refused")
	add("API keys", "/keys")
	add("settings", "/settings")
	add("alerts", "/settings/alerts")
	add("the system", "/system")
	add("counter screen", "/counter")
	return list
}
