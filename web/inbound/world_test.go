package inbound_test

import (
	"database/sql"
	"encoding/base64"
	"fmt"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/web/webtest"
)

// inboundPath is the way in for providers' calls, before a source's token.
const inboundPath = "/api/webhooks/provider"

const (
	tokenPath = "/api/token_generate"
	syncPath  = "/bank/api/transaction-sync"
)

func basic(username, password string) []string {
	return []string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(username+":"+password))}
}

// addKind adds a source of any kind under the name of its provider; one that names no
// bank account is for the account linked here.
func addKind(w *webtest.World, p app.Provider, auth inbound.Auth, secret string) inbound.Source {
	w.T.Helper()
	add := inbound.SourceAdd{Provider: p, Auth: auth, Name: string(p), Secret: secret}
	if p == "pay2s-ipn" {
		add.Options.AccessKey = "AK1"
		add.BankAccountID = w.Link("MBB", fmt.Sprint(7000+w.Rows("bank_accounts"))).ID
	}
	return w.AddSource(add)
}

// nothingStored checks that no call left anything but a note of its refusal.
func nothingStored(w *webtest.World) {
	w.T.Helper()
	w.File(func(db *sql.DB) error {
		for _, table := range []string{"transactions", "inbound_events", "inbound_items", "event_ids", "deliveries"} {
			var n int
			if err := db.QueryRow(`SELECT count(*) FROM ` + table).Scan(&n); err != nil {
				return err
			}
			if n != 0 {
				w.T.Errorf("%d rows in %s", n, table)
			}
		}
		return nil
	})
}

// keptAsRejected checks that the newest event of the inbound log has body, and
// one rejected item of the field.
func keptAsRejected(w *webtest.World, body, field string) {
	w.T.Helper()
	e := w.NewestEvent()
	if string(e.Body) != body || e.Rejected != 1 || e.Open != 1 {
		w.T.Errorf("inbound log after %.100q: %+v", body, e)
		return
	}
	items := w.Items(e.ID)
	if len(items) != 1 || items[0].State != inbound.OutcomeRejected || items[0].Fault == nil ||
		items[0].Fault.Field != field || items[0].Fault.Text.EN == "" || items[0].Fault.Text.VI == "" {
		w.T.Errorf("items after %.100q: %+v, want one of %s", body, items, field)
	}
}

func headerOf(v apptest.Vector) (pairs []string) {
	for name, value := range v.Headers {
		pairs = append(pairs, name, value)
	}
	return pairs
}
