// Package services makes the services of all rooms, once.
package services

import "baoco/app"

// All is the services of the rooms of app.
type All struct {
	Ledger, Payments, Deliveries, Access, Upkeep, Inbound, Streams, Alerts *app.Service
}

// New makes the services over c.
func New(c app.Config) *All {
	s := app.NewService(c)
	return &All{s, s, s, s, s, s, s, s}
}
