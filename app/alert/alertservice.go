package alert

import (
	"context"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/payment"
	"baoco/app/stream"
	"baoco/app/target"
	"baoco/app/upkeep"
)

// AlertConfig is what an AlertService works with.
type AlertConfig struct {
	Targets *target.TargetPolicy
	// Send sends one message on a channel. The error is an [*AlertError] where
	// the owner can do something about it.
	Send func(ctx context.Context, c AlertChannel, m AlertMessage) error
	// DayPath is the path, with its query, of the dashboard's page of a day.
	DayPath func(app.Day) string
	// AttentionPath is the path, with its query, of the dashboard's page where
	// something can be ended. Alerts link to it.
	AttentionPath func(Attention) string
}

// AlertRooms are the services of which alerts tell.
type AlertRooms struct {
	Ledger     *app.Service
	Payments   *payment.PaymentService
	Deliveries *delivery.DeliveryService
	Inbound    *inbound.InboundService
	Streams    *stream.StreamService
	Upkeep     *upkeep.UpkeepService
}

// AlertService is the use cases of attention, alerts, feeds and reports. It is safe for
// concurrent use.
type AlertService struct {
	AlertRecords
	store  AlertStore
	zone   *time.Location
	config AlertConfig
	rooms  AlertRooms
}

// NewAlertService makes the use cases over a store.
func NewAlertService(store AlertStore, c AlertConfig, rooms AlertRooms) *AlertService {
	return &AlertService{AlertRecords: store, store: store, zone: rooms.Ledger.Zone(), config: c, rooms: rooms}
}
