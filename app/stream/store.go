package stream

import (
	"context"
	"time"

	"baoco/app"
)

// Records are the queries and changes that no rule decides.
type Records interface {
	// Stream finds a stream that isn't deleted.
	Stream(ctx context.Context, accountID, id int64) (Stream, error)
	// Streams lists the streams that aren't deleted by id, or those of every account
	// where accountID is 0.
	Streams(ctx context.Context, accountID int64) ([]Stream, error)
	// StreamWork is Stream with its secrets; lost ones are empty.
	StreamWork(ctx context.Context, accountID, id int64) (Work, error)
	// StreamTransactions lists the first transactions of a stream after an id, by id.
	// Those up to passed were looked at: there may be more after it, also where the
	// list is shorter than limit.
	StreamTransactions(ctx context.Context, st Stream, after int64, limit int) (list []app.Transaction, passed int64, _ error)
	// RemovedTransactions returns the ids up to upTo of transactions of a stream that were removed
	// by the removals after a number. Those up to passed were looked at: there may be more.
	// Of an account the last MaxRemovals are kept.
	RemovedTransactions(ctx context.Context, st Stream, after, upTo int64) (ids []int64, passed int64, _ error)
	// StreamBehind is when the first transaction after the position of a stream was
	// recorded, of those that belong to it; zero: all are sent.
	StreamBehind(ctx context.Context, st Stream) (time.Time, error)
	// ToggleStream switches a stream off, which keeps its position, or on again from
	// there. Switching on fails with CodePlanExpired.
	ToggleStream(ctx context.Context, accountID, id int64, now time.Time) (Stream, error)
	// DeleteStream ends a stream.
	DeleteStream(ctx context.Context, accountID, id int64, now time.Time) error
	// SettleStream stores p. If somebody moved the position or deleted the stream
	// meanwhile, it stores Tried only.
	SettleStream(ctx context.Context, p Progress) error
}

// Store remembers for [Service]. The comments of [app.Records] and [app.Store] about all
// stores hold here too.
type Store interface {
	Records

	// CreateStream inserts st and returns it with its id and position: since, or the last
	// transaction's id if since is nil. It fails and repeats as CreateWebhook.
	CreateStream(ctx context.Context, st Stream, secrets Secrets, since *int64, key app.IdempotencyKey) (_ Stream, made bool, _ error)
	// UpdateStream changes the fields that aren't nil in u, and returns the stream after it. It
	// switches on as ToggleStream.
	UpdateStream(ctx context.Context, accountID, id int64, u Update, now time.Time) (Stream, error)
	// RotateStreamSecret keeps a new secret. changed is false where the key was used
	// before.
	RotateStreamSecret(ctx context.Context, accountID, id int64, in SecretRotate, now time.Time) (changed bool, _ error)
}
