package app

// DeliveryState is how far a delivery has come.
type DeliveryState string

// The states of a delivery. Only pending ones are attempted.
const (
	DeliveryPending   DeliveryState = "pending"
	DeliveryDelivered DeliveryState = "delivered"
	DeliveryFailed    DeliveryState = "failed"    // after the last attempt; can be resent
	DeliveryCancelled DeliveryState = "cancelled" // the webhook was deleted
)
