package inbound_test

import (
	"context"
	"database/sql"
	"net/http"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/web/webtest"

	"github.com/google/go-cmp/cmp"
)

// TestProviderVectors: every vector authenticates and is recorded exactly as
// it says, once.
func TestProviderVectors(t *testing.T) {
	t.Parallel()
	for _, v := range apptest.Vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			if why := apptest.RefusalOf(v.Source(), []byte(v.Body), v.HTTPHeader(), v.SignedAt()); why.Code != "" {
				t.Fatalf("refused: %+v", why)
			}
			w := webtest.NewWorld(t)
			source := prepare(w, v)
			header := headerOf(v)
			if v.Provider == "sepay" && v.Auth == inbound.AuthHMAC {
				// The signature itself is right, the timestamp is years old.
				if a := w.Do("POST", source.URLPath(), v.Body, header...); a.Status != http.StatusUnauthorized {
					t.Fatalf("an old timestamp: %d %s", a.Status, a.Body)
				}
				nothingStored(w)
				header = apptest.Credentials(source, v.Body, time.Now())
			}
			n := len(v.Normalized)
			if got := w.Do("POST", source.URLPath(), v.Body, header...).Counts(t); got != (webtest.Counts{Recorded: n}) {
				t.Fatalf("got %+v", got)
			}
			for i, got := range w.WantTransactions(n) {
				want := v.Normalized[i]
				bank, known := app.FindBank(want.Gateway)
				if known && got.Bank != bank.Code || want.Account != "" && got.AccountNumber != want.Account || got.Type != want.Direction ||
					got.Amount != want.Amount ||
					want.BankRef != nil && got.Number != *want.BankRef || want.Content != nil && got.Content != *want.Content ||
					want.Time != "" && (app.FormatTime(got.Time, w.Services.Ledger.Zone()) != want.Time || got.DateFlaw != "") {
					t.Errorf("recorded %+v\nwant %+v", got, want)
				}
			}
			if diff := cmp.Diff(wantedEvents(v), eventIDs(w)); diff != "" {
				t.Errorf("event ids (-want +got):\n%s", diff)
			}
			if e := w.Events(); len(e) != 1 || string(e[0].Body) != v.Body || e[0].SourceID != source.ID || e[0].Open != 0 {
				t.Errorf("inbound log: %+v", e)
			}
			// The provider tries again.
			if got := w.Do("POST", source.URLPath(), v.Body, header...).Counts(t); got != (webtest.Counts{Duplicates: n}) {
				t.Errorf("again: %+v", got)
			}
			w.WantTransactions(n)
			w.Tallies()
			list, e := w.Reads(2)
			if len(list) != n || n == 0 && (e.Explanation == app.Text{}) {
				t.Errorf("the log says %+v, %+v", list, e.Explanation)
			}
			for i, s := range list {
				if s.Transaction != int64(i+1) || s.Amount != v.Normalized[i].Amount {
					t.Errorf("the log says %+v", s)
				}
			}
		})
	}
}

func wantedEvents(v apptest.Vector) (ids []string) {
	for _, n := range v.Normalized {
		ids = append(ids, n.EventID)
	}
	return ids
}

// prepare links the accounts that a vector names, and adds its source.
func prepare(w *webtest.World, v apptest.Vector) inbound.Source {
	w.T.Helper()
	bankAccounts := map[string]int64{}
	for _, n := range v.Normalized {
		if _, linked := bankAccounts[n.Account]; linked {
			continue
		}
		bank, known := app.FindBank(n.Gateway)
		if !known {
			bank.Code = "ACB"
		}
		number := n.Account
		if number == "" {
			number = apptest.SomeAccount
		}
		bankAccounts[n.Account] = w.Link(bank.Code, number).ID
	}
	add := inbound.SourceAdd{Provider: v.Provider, Auth: v.Auth, Name: v.Name, Secret: v.Secret,
		Options: inbound.SourceOptions{AccessKey: v.AccessKey}}
	if v.Provider == "pay2s-ipn" {
		if add.BankAccountID = bankAccounts[""]; add.BankAccountID == 0 {
			add.BankAccountID = w.Link("ACB", apptest.SomeAccount).ID
		}
	}
	s, err := w.Services.Inbound.AddSource(context.Background(), 1, add, time.Now())
	apptest.Must(w.T, err)
	return s
}

func eventIDs(w *webtest.World) (ids []string) {
	w.T.Helper()
	w.File(func(db *sql.DB) error {
		rows, err := db.Query(`SELECT event_id FROM event_ids ORDER BY transaction_id`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id string
			if err := rows.Scan(&id); err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return rows.Err()
	})
	return ids
}
