package apptest

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/inbound"
)

// Said is an element of an event as it is read, with its outcome.
type Said struct {
	State       inbound.Outcome
	Amount      int64
	Content     string
	Transaction int64
	WaitsIn     int64
	Open        bool // it has an item that needs attention
}

// Reads returns the elements of an event, and the event.
func (w *World) Reads(event int64) ([]Said, inbound.Event) {
	w.T.Helper()
	e, err := w.Services.Inbound.ReadInboundEvent(context.Background(), 1, event)
	Must(w.T, err)
	var list []Said
	for _, i := range e.Elements {
		list = append(list, Said{i.State, i.Amount, i.Content, i.TransactionID, i.WaitsIn, i.Item != nil && i.Item.State.Open()})
	}
	return list, e
}

// Links links a bank account and checks how many waiting items are recorded.
func (w *World) Links(bank, number string, notify inbound.NotifyOnLink, recorded, deliveries int) app.BankAccount {
	w.T.Helper()
	r, err := w.Services.Inbound.LinkBankAccount(context.Background(), 1,
		inbound.BankAccountLink{Bank: bank, AccountNumber: number, AccountName: "NGUYEN VAN A", Notify: notify}, time.Now())
	Must(w.T, err)
	if r.Recorded != recorded || r.Deliveries != deliveries {
		w.T.Errorf("linking recorded %d with %d deliveries, want %d with %d", r.Recorded, r.Deliveries, recorded, deliveries)
	}
	return r.BankAccount
}

func (w *World) Unlinks(id int64) {
	w.T.Helper()
	Must(w.T, w.Services.Ledger.UnlinkBankAccount(context.Background(), 1, id, time.Now()))
}

// Came records a native call with a time of receipt in the past.
func (w *World) Came(ago time.Duration, s inbound.Source, x Transfer) {
	w.T.Helper()
	body := []byte(Batch(x.Native()))
	_, err := w.Services.Inbound.RecordTransactions(context.Background(), inbound.Call{
		AccountID: s.AccountID, Source: s, Channel: app.ChannelCall, Body: body, ReceivedAt: time.Now().Add(-ago), Elements: ReadNative(body),
	})
	Must(w.T, err)
}

func (w *World) Event(id int64) inbound.Event {
	w.T.Helper()
	e, err := w.Services.Inbound.InboundEvent(context.Background(), 1, id)
	Must(w.T, err)
	return e
}

// Transactions lists the transactions of account 1, oldest first, at most 100.
func (w *World) Transactions() []app.Transaction {
	w.T.Helper()
	page, err := w.Services.Ledger.Transactions(context.Background(), 1,
		app.TransactionFilter{Sort: app.SortID, Page: app.Page{Number: 1, Size: 100}})
	Must(w.T, err)
	return page.Rows
}

func (w *World) WantTransactions(n int) []app.Transaction {
	w.T.Helper()
	list := w.Transactions()
	if len(list) != n {
		w.T.Fatalf("%d transactions, want %d: %+v", len(list), n, list)
	}
	return list
}

// Events returns the inbound log of account 1, newest first.
func (w *World) Events() []inbound.Event {
	w.T.Helper()
	list, _, err := w.Services.Inbound.InboundEvents(context.Background(), 1, inbound.Filter{Page: app.Page{Number: 1, Size: 1000}})
	Must(w.T, err)
	for i := range list {
		if list[i], err = w.Services.Inbound.InboundEvent(context.Background(), 1, list[i].ID); err != nil {
			w.T.Fatal(err)
		}
	}
	return list
}

// NewestEvent returns the first of Events; if the log is empty, the test ends.
func (w *World) NewestEvent() inbound.Event {
	w.T.Helper()
	list, _, err := w.Services.Inbound.InboundEvents(context.Background(), 1, inbound.Filter{Page: app.Page{Number: 1, Size: 1}})
	Must(w.T, err)
	if len(list) == 0 {
		w.T.Fatal("the inbound log is empty")
	}
	return w.Event(list[0].ID)
}

func (w *World) Items(event int64) []inbound.Item {
	w.T.Helper()
	return w.Event(event).Items
}

// File runs fn on the file, like another program.
func (w *World) File(fn func(db *sql.DB) error) {
	w.T.Helper()
	asAnother(w.T, w.Path, fn)
}

// Change changes the file, like another program.
func (w *World) Change(statement string, args ...any) {
	w.T.Helper()
	w.File(func(db *sql.DB) error {
		_, err := db.Exec(statement, args...)
		return err
	})
}

func (w *World) Rows(table string) (n int) {
	w.T.Helper()
	w.File(func(db *sql.DB) error { return db.QueryRow(`SELECT count(*) FROM ` + table).Scan(&n) })
	return n
}

// Pay records money in on SomeAccount and returns the transaction's id. id is the
// provider's.
func (w *World) Pay(accountID int64, id, content string) int64 {
	w.T.Helper()
	return w.byHand(accountID, inbound.TransactionCreate{Body: []byte("{}"),
		Incoming: inbound.Incoming{EventID: id, Number: "FT" + id, Amount: 1549000, Content: content}}).ID
}

// Attempts waits until an account has n attempts, and returns them, newest first.
func (w *World) Attempts(accountID int64, n int) (list []delivery.Attempt) {
	w.T.Helper()
	w.Until(fmt.Sprintf("%d attempts", n), func() bool {
		var err error
		list, _, err = w.Services.Deliveries.History(context.Background(), accountID,
			delivery.HistoryFilter{Page: app.Page{Number: 1, Size: 100}})
		Must(w.T, err)
		return len(list) >= n
	})
	return list
}
