// Package services makes the services of all rooms, once. Only web, scheduler, the commands
// and the test kits import it: no room does.
package services

import (
	"context"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/alert"
	"baoco/app/book"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/payment"
	"baoco/app/stream"
	"baoco/app/target"
	"baoco/app/upkeep"
)

// Config is what the services work with.
type Config struct {
	Store     Store
	Zone      *time.Location
	Targets   *target.Policy
	Providers []inbound.ProviderKind
	// Read reads the transactions of a body.
	Read inbound.Reader
	// Poll reads the next page of a source's list, as [inbound.Config] says.
	Poll func(ctx context.Context, source inbound.Source, progress string, now time.Time) (inbound.PolledPage, error)
	// Send makes one attempt of a delivery.
	Send func(ctx context.Context, o delivery.Outgoing) delivery.Result
	// OpenBroker gives a publisher, which connects when it publishes.
	OpenBroker func(b stream.Broker) stream.Publisher
	// Alert sends one message on a channel, as [alert.Config] says.
	Alert func(ctx context.Context, c alert.Channel, m alert.Message) error
	// TelegramChats asks a bot for its chats, as [alert.Config] says.
	TelegramChats func(ctx context.Context, t alert.TelegramSettings) ([]alert.TelegramChat, error)
	// Push sends one message to a phone, as [alert.Config] says.
	Push func(ctx context.Context, p alert.Push) error
	// Schedule is the waits before the attempts; nil: [delivery.RetrySchedule].
	Schedule []time.Duration
}

// Store is the memory of all rooms. Package sqlitestore implements it over one file.
type Store interface {
	app.Store
	payment.Store
	delivery.Store
	access.Store
	upkeep.Store
	inbound.Store
	stream.Store
	alert.Store
	book.Store
}

// All is the services of the rooms of app. They are safe for concurrent use.
type All struct {
	Ledger     *app.Service
	Payments   *payment.Service
	Deliveries *delivery.Service
	Access     *access.Service
	Upkeep     *upkeep.Service
	Inbound    *inbound.Service
	Streams    *stream.Service
	Alerts     *alert.Service
	Books      *book.Service
}

// New makes the services over c.
func New(c Config) *All {
	a := &All{Ledger: app.NewService(c.Store, c.Zone), Upkeep: upkeep.NewService(c.Store, c.Zone)}
	a.Books = book.NewService(c.Store, a.Ledger)
	a.Payments = payment.NewService(c.Store, a.Ledger)
	a.Deliveries = delivery.NewService(c.Store, delivery.Config{Targets: c.Targets, Send: c.Send, Schedule: c.Schedule}, a.Ledger)
	a.Access = access.NewService(c.Store, a.Ledger)
	a.Inbound = inbound.NewService(c.Store, inbound.Config{Targets: c.Targets, Providers: c.Providers, Read: c.Read, Poll: c.Poll},
		a.Ledger, a.Deliveries)
	a.Streams = stream.NewService(c.Store, stream.Config{Targets: c.Targets, OpenBroker: c.OpenBroker}, a.Ledger)
	a.Alerts = alert.NewService(c.Store, alert.Config{Targets: c.Targets, Send: c.Alert, TelegramChats: c.TelegramChats, Push: c.Push},
		alert.Rooms{Ledger: a.Ledger, Books: a.Books, Payments: a.Payments, Deliveries: a.Deliveries, Inbound: a.Inbound, Streams: a.Streams,
			Upkeep: a.Upkeep})
	return a
}

// SetCourier names who makes the attempts. Without one the sweep of another process finds
// the deliveries.
func (a *All) SetCourier(c delivery.Courier) {
	a.Deliveries.SetCourier(c)
	a.Upkeep.SetAttempts(upkeep.Attempts{InFlight: c.InFlight, Swept: c.Swept})
}

// ClockAtStart returns by how much the clock is behind what was recorded last; zero where it
// isn't behind.
func (a *All) ClockAtStart(ctx context.Context, now time.Time) (upkeep.ClockStep, error) {
	c, newest, err := a.Upkeep.ClockAtStart(ctx, now)
	if err == nil {
		a.Inbound.StartedAfter(newest)
	}
	return c, err
}

// Meter counts what the services do. Its methods return at once.
type Meter interface {
	// Recorded gets the results of the transactions that a source named, or a file or
	// a person; then source is zero.
	Recorded(source inbound.Source, r inbound.Recording)
	// Attempted gets each attempt of a delivery that was recorded.
	Attempted(r delivery.Result)
}

// SetMeter names who counts, before the services are used.
func (a *All) SetMeter(m Meter) {
	a.Inbound.CountRecordings(m.Recorded)
	a.Deliveries.CountAttempts(m.Attempted)
}
