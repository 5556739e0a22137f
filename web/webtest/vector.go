package webtest

import (
	"context"
	"database/sql"
	"time"

	"baoco/app"
	"baoco/app/apptest"
)

// Prepare links the accounts that a vector names, and adds its source.
func (w *World) Prepare(v apptest.Vector) app.Source {
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
	add := app.SourceAdd{Provider: v.Provider, Auth: v.Auth, Name: v.Name, Secret: v.Secret, Options: app.SourceOptions{AccessKey: v.AccessKey}}
	if v.Provider == "pay2s-ipn" {
		if add.BankAccountID = bankAccounts[""]; add.BankAccountID == 0 {
			add.BankAccountID = w.Link("ACB", apptest.SomeAccount).ID
		}
	}
	s, err := w.Service.AddSource(context.Background(), 1, add, time.Now())
	apptest.Must(w.T, err)
	return s
}

func (w *World) EventIDs() (ids []string) {
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
