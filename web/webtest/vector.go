package webtest

import (
	"context"
	"database/sql"
	"net/http"
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/apptest"
)

// Vector is a call of testdata/provider with what must come of it.
type Vector struct {
	Name       string
	Provider   app.Provider
	Auth       app.Auth
	AccessKey  string `json:"access_key"`
	Secret     string
	Headers    map[string]string
	Body       string
	Normalized []normalized // none: a test call, or nothing paid
}

// normalized is one transaction of a vector; what is nil isn't said.
type normalized struct {
	TestCall  bool   `json:"test_call"`
	EventID   string `json:"event_id"`
	Account   string
	Gateway   string
	Direction app.Direction
	Amount    int64
	Time      string
	BankRef   *string `json:"bank_ref"`
	Content   *string
}

func (v Vector) Header() (pairs []string) {
	for name, value := range v.Headers {
		pairs = append(pairs, name, value)
	}
	return pairs
}

// HTTPHeader is header as a server reads it.
func (v Vector) HTTPHeader() http.Header {
	h := http.Header{}
	for name, value := range v.Headers {
		h.Set(name, value)
	}
	return h
}

// SignedAt is the time at which the vector's timestamp is that of now.
func (v Vector) SignedAt() time.Time {
	if n, err := strconv.ParseInt(v.Headers["X-SePay-Timestamp"], 10, 64); err == nil {
		return time.Unix(n, 0)
	}
	return time.Now()
}

// Source is the vector's source as its kind sees it.
func (v Vector) Source() app.Source {
	return app.Source{Provider: v.Provider, Auth: v.Auth, Secret: v.Secret, Options: app.SourceOptions{AccessKey: v.AccessKey}}
}

// Prepare links the accounts that a vector names, and adds its source.
func (w *World) Prepare(v Vector) app.Source {
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
			number = SomeAccount
		}
		bankAccounts[n.Account] = w.Link(bank.Code, number).ID
	}
	add := app.SourceAdd{Provider: v.Provider, Auth: v.Auth, Name: v.Name, Secret: v.Secret, Options: app.SourceOptions{AccessKey: v.AccessKey}}
	if v.Provider == "pay2s-ipn" {
		if add.BankAccountID = bankAccounts[""]; add.BankAccountID == 0 {
			add.BankAccountID = w.Link("ACB", SomeAccount).ID
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
