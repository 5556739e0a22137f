package delivery

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/appsscript"
)

// RetrySchedule is the wait before each attempt of a delivery, counted from
// the end of the attempt before it.
var RetrySchedule = []time.Duration{0, 10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute, 10 * time.Minute}

// AttemptTimeout is how long a receiver may take, from the start of the
// look-up of its name to the end of its response headers.
const AttemptTimeout = 10 * time.Second

// Delivery is one transaction to one webhook.
type Delivery struct {
	ID            int64
	AccountID     int64
	WebhookID     int64
	TransactionID int64 // 0: a test
	State         app.DeliveryState
	Attempts      int       // made and counted
	DueAt         time.Time // of the next attempt; zero when not pending
	CreatedAt     time.Time
	ResendOf      int64 // the history record; 0: none
	Test          bool  // a made-up transaction, one attempt only
}

// Attempted is the delivery after an attempt that ended at now: delivered,
// due again after the next wait of schedule, or failed.
func (d Delivery) Attempted(ok bool, schedule []time.Duration, now time.Time) Delivery {
	d.Attempts++
	d.DueAt = time.Time{}
	switch {
	case ok:
		d.State = app.DeliveryDelivered
	case d.Test || d.Attempts >= len(schedule):
		d.State = app.DeliveryFailed
	default:
		d.State = app.DeliveryPending
		d.DueAt = now.Add(schedule[d.Attempts])
	}
	return d
}

// Outgoing is a delivery with all that one attempt needs.
type Outgoing struct {
	Delivery
	Kind     WebhookKind
	URL      string
	Auth     SepayAuth
	Headers  []Header // of the webhook's own
	Secrets  Secrets
	Payload  Payload
	Original Original // for WebhookSepay
}

const messageIDPrefix = "dlv_"

// MessageID is the webhook-id header: the same on every attempt, and never
// again for another delivery, even after an old backup was restored.
func (d Delivery) MessageID() string {
	return messageIDPrefix + strconv.FormatInt(d.ID, 10) + "_" + strconv.FormatInt(d.CreatedAt.UnixMilli(), 36)
}

// ParseID reads the id of a delivery from its number or its MessageID.
func ParseID(text string) (int64, bool) {
	number := text
	if rest, named := strings.CutPrefix(text, messageIDPrefix); named {
		var made string
		number, made, _ = strings.Cut(rest, "_")
		if _, err := strconv.ParseInt(made, 36, 64); err != nil {
			return 0, false
		}
	}
	id, err := strconv.ParseInt(number, 10, 64)
	return id, err == nil && id > 0 && strconv.FormatInt(id, 10) == number
}

// WebhookBacklog is a webhook with pending deliveries.
type WebhookBacklog struct {
	WebhookID int64
	Due       bool
	NextDue   time.Time // the first due time of a retry after now; zero: none
	LastDue   time.Time // the last due time of a retry; zero: none
}

// Settle records the result of an attempt and returns the history record.
func (s *Service) Settle(ctx context.Context, o Outgoing, r Result) (Attempt, error) {
	next := o.Delivery.Attempted(r.OK(), s.config.Schedule, r.EndedAt())
	made, err := s.store.Settle(ctx, Attempt{
		Delivery: next, Number: next.Attempts, URL: o.URL, Result: r, NextAttemptAt: next.DueAt, Payload: o.Payload,
	})
	if err == nil && s.counted != nil {
		s.counted(r)
	}
	return made, err
}

// TestWebhook sends one signed test request, even to a webhook that isn't
// active, and returns its history record. It fails with CodeUnavailable where this
// machine is short of something for the attempt.
func (s *Service) TestWebhook(ctx context.Context, accountID, webhookID int64, now time.Time) (Attempt, error) {
	code, err := s.ledger.SampleCode(ctx, accountID)
	if err != nil {
		return Attempt{}, err
	}
	o, err := s.store.AddTest(ctx, accountID, webhookID, func(w Webhook) Payload { return SamplePayload(w.Type, code, now, s.zone) }, now)
	if err != nil {
		return Attempt{}, err
	}
	// The result is recorded even if the caller disconnects meanwhile.
	ctx = context.WithoutCancel(ctx)
	result := s.config.Send(ctx, o)
	if result.Error == ErrorShortage {
		return Attempt{}, app.Refused(app.CodeUnavailable, result.Explanation())
	}
	return s.Settle(ctx, o, result)
}

// SamplePayload is a made-up transaction for a webhook of that type.
func SamplePayload(takes WebhookType, code app.PaymentCode, now time.Time, zone *time.Location) Payload {
	direction := app.In
	if takes == WebhookOut {
		direction = app.Out
	}
	return Payload{
		ID: "0", Gateway: "ACB", TransactionDate: app.FormatTime(now, zone),
		TransactionNumber: fmt.Sprintf("TEST-%d", now.UnixMilli()), AccountNumber: "0000000000",
		Content: "BAOCO TEST", TransferType: direction, Code: code, Test: true,
	}
}

// Latest is a delivery that no resend has replaced, with its webhook
// and its last attempt.
type Latest struct {
	Delivery
	WebhookName string
	URL         string // of the webhook now
	Deleted     bool   // the webhook: nothing can be resent to it
	// These are of the last attempt; zero: none was made.
	HistoryID  int64
	StatusCode int
	Error      ErrorClass
	Duration   time.Duration
}

// NewestIDs are the highest ids in the file, of all accounts: a new row has a higher
// id. In a context with a limit they are those of the last transactions that the limit
// shows, and of their deliveries.
type NewestIDs struct {
	TransactionID, AttemptID, InboundEventID int64
	DeliveryID                               int64
	PaymentChanges                           int64 // of payment requests, beside those that new transactions make
	Removals                                 int64 // of transactions of imports that were undone; 0 in a context with a limit
	StreamState                              int64 // changes when a stream has sent something, begins to fail or works again
}

// DeliveriesOf lists the deliveries of transactions by transaction id.
func (s *Service) DeliveriesOf(ctx context.Context, accountID int64, transactionIDs []int64) (map[int64][]Latest, error) {
	list, err := s.store.DeliveriesOf(ctx, accountID, transactionIDs)
	byTransaction := map[int64][]Latest{}
	for _, d := range list {
		byTransaction[d.TransactionID] = append(byTransaction[d.TransactionID], d)
	}
	return byTransaction, err
}

// DueFilter asks for due deliveries of a webhook.
type DueFilter struct {
	WebhookID int64
	Retries   bool    // false: first attempts, which are due whatever the clock says
	Skip      []int64 // ids of deliveries that are left out
	Limit     int     // how many are returned at most
}

// Pending is a pending delivery with its webhook and its last attempt,
// if there was one.
type Pending struct {
	Latest
	Paused bool // the webhook is switched off; nothing is sent until it is on
	// SecretLost says that nothing is sent until the webhook's secret is rotated.
	SecretLost bool
	// Shortage is what this machine is short of for the next attempt; empty: nothing.
	// The attempt is made when the shortage ends.
	Shortage app.Text
	Payload  Payload
}

// Pending is Store.Pending with the shortages of this machine.
func (s *Service) Pending(ctx context.Context, accountID int64, f Filter, page app.Page) ([]Pending, int64, error) {
	list, total, err := s.store.Pending(ctx, accountID, f, page)
	for i := range list {
		list[i].Shortage = s.shortageOf(list[i].Delivery)
	}
	return list, total, err
}

// Facts is a delivery with its webhook, the content of its requests and
// its resends.
type Facts struct {
	Outgoing
	Webhook    Webhook // as it is now
	Deleted    bool    // the webhook is deleted; its secrets are gone
	ResentFrom int64   // the delivery that this one resends; 0: none, or no longer known
	ResentAs   []Delivery
}

// Signable reports whether there is a secret to sign requests with.
func (f Facts) Signable() bool { return !f.Deleted && !f.Webhook.SecretLost }

// Details is everything that is known about one delivery.
type Details struct {
	Facts
	Calls    []AttemptDetails // oldest first
	Shortage app.Text         // as in Pending
	// Now is the request of an attempt at this moment; zero unless Signable.
	Now Request
}

// AttemptDetails is an attempt with its request, which is rendered again.
type AttemptDetails struct {
	Attempt
	Request Request // zero unless Signable, since the body has a checksum too
	// Resigned says that the secrets have changed since the attempt: checksum
	// and signatures are made with the present ones and differ from those that
	// were sent.
	Resigned bool
}

// DeliveryDetails reads one delivery; CodeNotFound if it doesn't exist. The
// requests name userAgent, although another version may have made the attempts.
// The result holds no secrets, so the URLs of requests are without the query that
// baoco adds.
func (s *Service) DeliveryDetails(ctx context.Context, accountID, id int64, userAgent string, now time.Time) (Details, error) {
	facts, err := s.store.DeliveryFacts(ctx, accountID, id)
	if err != nil {
		return Details{}, err
	}
	attempts, _, err := s.History(ctx, accountID, HistoryFilter{DeliveryID: id, Page: app.Page{Number: 1, Size: app.MaxPageSize}})
	if err != nil {
		return Details{}, err
	}
	o := facts.Outgoing
	facts.Secrets, facts.Headers = Secrets{}, nil
	d := Details{Facts: facts, Shortage: s.shortageOf(o.Delivery)}
	if d.Signable() {
		d.Now = o.shown(userAgent, now)
	}
	for _, a := range slices.Backward(attempts) {
		call := AttemptDetails{Attempt: a}
		if d.Signable() {
			at := o
			at.URL = a.URL
			if call.Resigned = a.Result.StartedAt.Before(o.Secrets.ChangedAt); call.Resigned {
				// The secrets of that time are gone; sign with the present one.
				at.Secrets.Current, _ = o.Secrets.At(now)
				at.Secrets.Next = ""
			}
			call.Request = at.shown(userAgent, a.Result.StartedAt)
		}
		d.Calls = append(d.Calls, call)
	}
	return d, nil
}

// ErrNoDelivery says that an id names no delivery.
var ErrNoDelivery error = app.NotFound("There is no delivery with this id.", "Không có thông báo với id này.")

// Header is one header of a request.
type Header struct{ Name, Value string }

// Request is one POST of a delivery. The connection adds Host and
// Content-Length.
type Request struct {
	URL     string
	Headers []Header
	Body    []byte
}

// UserAgent is the User-Agent of a version of baoco.
func UserAgent(version string) string { return "baoco/" + version }

// Request renders an attempt that begins at now. The sender and the dashboard
// both use it: with the same secrets they get the same bytes.
func (o Outgoing) Request(userAgent string, now time.Time) Request {
	secret, all := o.Secrets.At(now)
	if o.Kind == WebhookSepay {
		body := o.sepayBody()
		return Request{URL: o.URL, Body: body, Headers: append(o.sepayHeaders(userAgent, secret, now, body), o.Headers...)}
	}
	body := o.Payload.Body(secret)
	id := o.MessageID()
	address := o.URL
	if o.Kind == WebhookSheet {
		address = appsscript.Call(o.URL, id, all)
	}
	return Request{URL: address, Body: body, Headers: append(SignedHeaders(userAgent, id, all, now, body), o.Headers...)}
}

// shown is the request as people see it: without the query that baoco adds, and without
// the values of headers that are secret.
func (o Outgoing) shown(userAgent string, now time.Time) Request {
	r := o.Request(userAgent, now)
	r.URL = o.URL
	for i := range r.Headers {
		h := &r.Headers[i]
		own := slices.ContainsFunc(o.Headers, func(of Header) bool { return of.Name == h.Name })
		if scheme, _, secret := strings.Cut(h.Value, " "); h.Name == "Authorization" && secret && !own {
			h.Value = scheme + " …"
		} else if own {
			h.Value = "…"
		}
	}
	return r
}

// SignedHeaders are the headers of a body that is sent at now. All secrets sign
// Webhook-Signature, and the first one also X-Webhook-Signature.
func SignedHeaders(userAgent, id string, secrets []string, now time.Time, body []byte) []Header {
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		signatures[i] = StandardSignature(secret, id, now, body)
	}
	return []Header{
		{"Content-Type", "application/json"},
		{"User-Agent", userAgent},
		{"X-Webhook-Signature", Signature(secrets[0], body)},
		{"Webhook-Id", id},
		{"Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10)},
		{"Webhook-Signature", strings.Join(signatures, " ")},
	}
}
