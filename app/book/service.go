// Package book keeps the books that the tax law asks of a household business: it decides which
// money in is revenue, and has the book of revenue, the book of the money at banks, and the
// closing of both.
//
// A book is computed at each request, and never stored. A closed book still doesn't change: a
// closing has its last day and the newest transaction at its time, so a transaction that came
// later is in a later book (closing.go), and no data of a closed book can be changed.
package book

import (
	"time"

	"baoco/app"
)

// Service is the use cases of the books. It is safe for concurrent use.
type Service struct {
	Records
	store  Store
	zone   *time.Location
	ledger *app.Service
}

// NewService makes the use cases over a store.
func NewService(store Store, ledger *app.Service) *Service {
	return &Service{Records: store, store: store, zone: ledger.Zone(), ledger: ledger}
}

// Deeds of the audit log.
const (
	DeedMark       app.Deed = "transaction.mark"
	DeedRuleAdd    app.Deed = "book.rule_add"
	DeedRuleRemove app.Deed = "book.rule_remove"
	DeedHeading    app.Deed = "book.heading"
	DeedCash       app.Deed = "book.cash"
	DeedOpening    app.Deed = "book.opening"
	DeedClose      app.Deed = "book.close"
	DeedOpen       app.Deed = "book.open"
	DeedExport     app.Deed = "book.export"
)
