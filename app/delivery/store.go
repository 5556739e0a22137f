package delivery

import (
	"context"
	"time"

	"baoco/app"
)

// Records are the queries and changes that no rule decides.
type Records interface {
	// Webhook finds a webhook that isn't deleted.
	Webhook(ctx context.Context, accountID, id int64) (Webhook, error)
	// Webhooks lists the webhooks that aren't deleted by id.
	Webhooks(ctx context.Context, accountID int64) ([]Webhook, error)
	// Backlogs lists the active webhooks with pending deliveries. Its cost
	// grows with the webhooks, not with the deliveries.
	Backlogs(ctx context.Context, now time.Time) ([]WebhookBacklog, error)
	// Due returns the due deliveries of a webhook, by due time; none if the webhook isn't
	// active or has lost its secret.
	Due(ctx context.Context, f DueFilter, now time.Time) ([]Outgoing, error)
	// PendingDeliveries counts the deliveries that are still to be attempted: to
	// one webhook (0 for an unknown one), or to all where webhookID is 0.
	PendingDeliveries(ctx context.Context, accountID, webhookID int64) (int64, error)
	// Replayable counts the deliveries that Replay would resend. It looks at the newest
	// failed ones, at most most of them; all is false if there are more.
	Replayable(ctx context.Context, accountID int64, in ReplayCreate, most int, now time.Time) (n int64, all bool, err error)
	// History lists a page of the attempts, newest first, and counts those on
	// all pages.
	History(ctx context.Context, accountID int64, f HistoryFilter) (list []Attempt, total int64, err error)
	// NewestIDs returns the highest ids of the file. It reads the ends of a few indexes.
	NewestIDs(ctx context.Context) (NewestIDs, error)
	// MoveRetries moves the retries that are due after one instant and not after
	// another by the time between the two, and returns how many there were.
	MoveRetries(ctx context.Context, after, until time.Time) (int64, error)
	// DeleteWebhook hides a webhook and cancels its pending deliveries. The
	// history stays.
	DeleteWebhook(ctx context.Context, accountID, id int64, now time.Time) error
}

// Store remembers for [Service]. The rules of [app.Records] and [app.Store] for all stores
// hold here too.
type Store interface {
	Records

	// CreateWebhook fails with CodePlanExpired, CodeLimitReached beyond
	// MaxWebhooks, and CodeValidation for an unknown bank account. made is false if
	// the key was used before: then the result is the webhook that was made that time.
	CreateWebhook(ctx context.Context, w Webhook, sealed Sealed, key app.IdempotencyKey, now time.Time) (_ Webhook, made bool, _ error)
	// UpdateWebhook changes the fields that aren't nil in u, and returns the webhook after
	// the change. It switches a webhook on as ToggleWebhook does.
	UpdateWebhook(ctx context.Context, accountID, id int64, u WebhookUpdate, now time.Time) (Webhook, error)
	// ToggleWebhook switches a webhook on or off. Switching on fails with
	// CodePlanExpired.
	ToggleWebhook(ctx context.Context, accountID, id int64, now time.Time) (Webhook, error)
	// WebhookSecrets returns the secrets of an account's webhooks by their ids;
	// lost ones are empty.
	WebhookSecrets(ctx context.Context, accountID int64) (map[int64]Secrets, error)
	// ChangeSecrets applies change to the secrets in one commit. changed is
	// false where the key was used before.
	ChangeSecrets(ctx context.Context, accountID, id int64, in SecretsChange, now time.Time) (changed bool, _ error)
	// WebhookHealth lists the health of the webhooks of an account by id, or of
	// one of them where webhookID isn't 0; none for an unknown one. It costs a
	// few rows a webhook, and one for each delivery in Retrying.
	WebhookHealth(ctx context.Context, accountID, webhookID int64, now time.Time) ([]WebhookHealth, error)
	// RecentAttempts sums the same hours over all webhooks of an account,
	// deleted ones included.
	RecentAttempts(ctx context.Context, accountID int64, now time.Time) (HourHealth, error)
	// Settle records an attempt, the delivery after it and the counters in one
	// commit. A delivery that was cancelled meanwhile stays cancelled, unless
	// the attempt succeeded.
	Settle(ctx context.Context, a Attempt) (Attempt, error)
	// Pending lists a page of the pending deliveries by their next attempts, and
	// counts those on all pages. Last come those whose webhook is switched off
	// or has lost its secret.
	Pending(ctx context.Context, accountID int64, f Filter, page app.Page) (list []Pending, total int64, err error)
	// DeliveryFacts finds one delivery.
	DeliveryFacts(ctx context.Context, accountID, id int64) (Facts, error)
	// DeliveriesOf lists the deliveries of transactions, oldest first, without
	// those that a resend has replaced.
	DeliveriesOf(ctx context.Context, accountID int64, transactionIDs []int64) ([]Latest, error)
	// AddTest makes the delivery of a test with the payload that sample returns.
	// It doesn't queue the delivery.
	AddTest(ctx context.Context, accountID, webhookID int64, sample func(Webhook) Payload, now time.Time) (Outgoing, error)
	// Resend fails with CodeNotFound, CodeWebhookDeleted, CodeWebhookInactive
	// or CodeDeliveryPending.
	Resend(ctx context.Context, accountID, historyID int64, key app.IdempotencyKey, now time.Time) (Delivery, error)
	// ResendMany resends each delivery of these history records once, in one
	// commit. Records that can't be resent are refused, and the rest is resent.
	ResendMany(ctx context.Context, accountID int64, historyIDs []int64, key app.IdempotencyKey, now time.Time) (ResendResult, error)
	// Replay makes a new delivery for every failed one that is named, unless a
	// later delivery of its transaction to the webhook is pending or was delivered.
	Replay(ctx context.Context, accountID int64, in ReplayCreate, now time.Time) (n int, err error)
	// SendNow sets the due time of a pending delivery to now, unless it is earlier.
	// It fails with CodeNotFound, or as Delivery.SendableNow.
	SendNow(ctx context.Context, accountID, id int64, key app.IdempotencyKey, now time.Time) error
	// SendWaiting does the same for all pending deliveries of a webhook, and counts those
	// that it changed. It fails with CodeNotFound, or as Webhook.Sends.
	SendWaiting(ctx context.Context, accountID, webhookID int64, key app.IdempotencyKey, now time.Time) (n int, err error)
	// FailedDeliveries lists at most limit failed deliveries by the rule of
	// Replay, of active webhooks: one webhook after another, oldest first.
	FailedDeliveries(ctx context.Context, accountID int64, f Filter, limit int) ([]Failed, error)
	// PullRetries finds retries that are due later than the longest wait from now, and lets
	// the wait before their next attempt begin at now. It returns how many there were.
	PullRetries(ctx context.Context, schedule []time.Duration, now time.Time) (int64, error)
}
