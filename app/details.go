package app

import (
	"context"
	"slices"
	"time"
)

// DeliveryFacts is a delivery with what it would be sent as, and with its
// relatives.
type DeliveryFacts struct {
	Outgoing
	Webhook    Webhook // as it is now
	Deleted    bool    // the webhook: its secrets are gone, and Outgoing has none
	ResentFrom int64   // the delivery that this one resends; 0: none, or no longer known
	ResentAs   []Delivery
}

// Signable tells whether there is a secret that requests can be signed with.
func (f DeliveryFacts) Signable() bool { return !f.Deleted && !f.Webhook.SecretLost }

// DeliveryDetails is all that is known of one delivery.
type DeliveryDetails struct {
	DeliveryFacts
	Calls    []Call // oldest first
	Shortage Text   // what this server lacks for the next attempt; empty: nothing
	// Now is the request as an attempt at this moment would make it; zero
	// where it isn't Signable.
	Now Request
}

// Call is an attempt with the request that it made, rendered anew.
type Call struct {
	Attempt
	Request Request // zero where it isn't Signable: the body has a checksum too
	// Resigned says that the secrets were changed since: the checksum and the
	// signatures are those of the present ones, and not what was sent.
	Resigned bool
}

// DeliveryDetails reads one delivery; CodeNotFound where there is none. The
// requests carry userAgent, whatever version made the attempts. Secrets stay
// behind: the details have none.
func (s *Service) DeliveryDetails(ctx context.Context, accountID, id int64, userAgent string, now time.Time) (DeliveryDetails, error) {
	facts, err := s.store.DeliveryFacts(ctx, accountID, id)
	if err != nil {
		return DeliveryDetails{}, err
	}
	attempts, _, err := s.History(ctx, accountID, HistoryFilter{DeliveryID: id, Page: Page{Number: 1, Size: MaxPageSize}})
	if err != nil {
		return DeliveryDetails{}, err
	}
	o := facts.Outgoing
	facts.Secrets = Secrets{}
	d := DeliveryDetails{DeliveryFacts: facts, Shortage: s.shortageOf(o.Delivery)}
	if d.Signable() {
		d.Now = o.Request(userAgent, now)
	}
	for _, a := range slices.Backward(attempts) {
		call := Call{Attempt: a}
		if d.Signable() {
			at := o
			at.URL = a.URL
			if call.Resigned = a.Result.StartedAt.Before(o.Secrets.ChangedAt); call.Resigned {
				// Those of then are gone: all that can be shown is the present.
				at.Secrets.Current, _ = o.Secrets.At(now)
				at.Secrets.Next = ""
			}
			call.Request = at.Request(userAgent, a.Result.StartedAt)
		}
		d.Calls = append(d.Calls, call)
	}
	return d, nil
}

// ErrNoDelivery says that an id names no delivery.
func ErrNoDelivery() error {
	return NotFound("There is no delivery with this id.", "Không có lần gửi với id này.")
}
