package scheduler_test

import (
	"database/sql"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/inbound"
)

// What a kill left of a link is recorded after the start, by nobody's doing.
func TestLinkGoesOnAfterAStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := newFile(t)
		s := open(t, path, nil)
		_, err := s.Services.Inbound.RecordTransactions(t.Context(), inbound.Call{
			AccountID: 1, Channel: app.ChannelCall, Body: []byte("{}"), ReceivedAt: time.Now(),
			Elements: []inbound.Incoming{{EventID: "1", Gateway: "ACB", AccountNumber: "999", Type: app.In, Amount: 5000, Time: time.Now()}},
		})
		must(t, err)
		s.close(t)
		file, err := sql.Open("sqlite", path)
		must(t, err)
		_, err = file.Exec(`INSERT INTO bank_accounts (id, account_id, bank, account_number, account_name, status, created_at)
			VALUES (99, 1, 'ACB', '999', 'A', 'active', 0);
			INSERT INTO unfinished_links (bank_account_id, inbound_event_id, notify, linked_at, item_id) VALUES (99, 0, 0, ?, 0)`, time.Now().Unix())
		must(t, err)
		must(t, file.Close())

		s = open(t, path, nil)
		s.start(t)
		time.Sleep(time.Minute)
		synctest.Wait()
		all, err := s.Services.Ledger.Transactions(t.Context(), 1, app.TransactionFilter{Page: app.Page{Number: 1, Size: 10}})
		if err != nil || len(all.Rows) != 1 {
			t.Errorf("%d transactions, %v", len(all.Rows), err)
		}
		s.close(t)
	})
}
