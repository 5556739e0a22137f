package sqlitestore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/services"

	"github.com/google/go-cmp/cmp"
)

// TestSeed fills a file with rows that were never recorded, has what is kept beside
// them counted, and serves it.
func TestSeed(t *testing.T) {
	t.Parallel()
	ctx, path, now := context.Background(), create(t), time.Now()
	w := apptest.Open(t, path, services.Config{})
	for i := range 3 {
		b := w.Link("ACB", fmt.Sprint("100", i))
		_, _, err := w.Services.Deliveries.CreateWebhook(ctx, 1,
			delivery.WebhookCreate{Name: "w", URL: "https://shop.vn/w", Type: delivery.WebhookAll, BankAccountIDs: []int64{b.ID}}, now)
		must(t, err)
	}
	w.Source("native", "", "")
	w.Close()

	const rows = 2000
	apptest.Seed(t, path, apptest.Seeding{AccountID: 1, Rows: rows, From: now.AddDate(-3, 0, 0), To: now})
	checkTotals(t, path, 7*3600)
	for table, want := range map[string]int64{
		"transactions": rows, "event_ids": rows, "inbound_events": rows, "deliveries": rows, "attempts": rows,
		"attempts WHERE ok = 0": rows / 100,
		// What is in search is what app makes of content and number.
		"transactions WHERE search LIKE 'thanh toan tien hang cho cua hang hoa sen, don so dh%'": peek(t, path,
			`SELECT count(*) FROM transactions WHERE content LIKE 'Thanh toán%'`)[0][0].(int64),
	} {
		if got := peek(t, path, `SELECT count(*) FROM `+table)[0][0].(int64); got != want || got == 0 {
			t.Errorf("%d rows in %s, want %d", got, table, want)
		}
	}

	store := open(t, path, true) // and checked
	defer store.Close()
	o, err := store.Overview(ctx, 1)
	must(t, err)
	if o.Transactions != rows || o.WebhooksSent != rows || o.WebhooksErrors != rows/100 {
		t.Errorf("overview of a seeded file: %+v", o)
	}
	for _, c := range [][2]string{
		{`SELECT sum(succeeded), sum(failed) FROM webhook_hours`,
			`SELECT sum(ok), sum(1 - ok) FROM attempts WHERE started_ms > (SELECT max(started_ms) FROM attempts) - 172800000`},
		{`SELECT webhook_id, last_attempt_id, failed_in_row FROM webhook_totals ORDER BY 1`,
			`SELECT webhook_id, max(id), (SELECT count(*) FROM attempts l WHERE l.webhook_id = a.webhook_id AND l.id > max(a.id * a.ok))
				FROM attempts a GROUP BY 1 ORDER BY 1`},
	} {
		if d := cmp.Diff(peek(t, path, c[1]), peek(t, path, c[0])); d != "" {
			t.Errorf("%s (-counted +kept):\n%s", c[0], d)
		}
	}
	if n, err := store.Unindexed(ctx); err != nil || n != 0 {
		t.Errorf("%d transactions are not in the index of search texts, %v", n, err)
	}
	found, err := store.Transactions(ctx, 1, app.TransactionFilter{Query: "DH1234", Page: app.Page{Number: 1, Size: 20}})
	must(t, err)
	if found.Total != 1 || found.Rows[0].Number != "FT0000001234" {
		t.Errorf("search for one: %+v", found)
	}
}
