// Package alert tells what needs attention: channels, messages, feeds of payments, the report of the day.
package alert

import (
	"context"
	"time"

	"baoco/app"
	"baoco/app/book"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/payment"
	"baoco/app/stream"
	"baoco/app/target"
	"baoco/app/upkeep"
)

// Config is what a Service works with.
type Config struct {
	Targets *target.Policy
	// Send sends one message on a channel. The error is an [*Error] where
	// the owner can do something about it.
	Send func(ctx context.Context, c Channel, m Message) error
	// TelegramChats asks a bot for its chats, as [Service.TelegramChats] says.
	TelegramChats func(ctx context.Context, t TelegramSettings) ([]TelegramChat, error)
	// Push sends one message to a phone. The error is an [*Error] where its push service
	// didn't take it.
	Push func(ctx context.Context, p Push) error
}

// Rooms are the services of which alerts tell.
type Rooms struct {
	Ledger     *app.Service
	Books      *book.Service
	Payments   *payment.Service
	Deliveries *delivery.Service
	Inbound    *inbound.Service
	Streams    *stream.Service
	Upkeep     *upkeep.Service
}

// Service is the use cases of attention, alerts, feeds and reports. It is safe for
// concurrent use.
type Service struct {
	Records
	store  Store
	zone   *time.Location
	config Config
	rooms  Rooms
	pushes pushes
}

// NewService makes the use cases over a store.
func NewService(store Store, c Config, rooms Rooms) *Service {
	return &Service{Records: store, store: store, zone: rooms.Ledger.Zone(), config: c, rooms: rooms,
		pushes: pushes{ringings: map[ringKey]*ringing{}}}
}
