package alert

import (
	"context"
	"time"

	"baoco/app"
)

// Records are the queries and changes that no rule decides.
type Records interface {
	// AlertPreferences gives Vietnamese and nothing muted where none were set.
	AlertPreferences(ctx context.Context, accountID int64) (Preferences, error)
	// AlertChannels lists the channels of an account by id, or those of every
	// account where accountID is 0.
	AlertChannels(ctx context.Context, accountID int64) ([]Channel, error)
	// AlertMessages lists the last messages, at most most, newest first.
	AlertMessages(ctx context.Context, accountID int64, most int) ([]Message, error)
	// RemoveAlertChannel ends the channel of a medium. CodeNotFound where there
	// is none.
	RemoveAlertChannel(ctx context.Context, accountID int64, medium Medium) error
	// Phones lists the phones of a user by id, or those of every user where userID is 0.
	// Those whose address was lost with the key file are left out.
	Phones(ctx context.Context, userID int64) ([]Phone, error)
	// RemovePhone removes a phone of a user. ErrNoPhone where there is none.
	RemovePhone(ctx context.Context, userID, id int64) error
}

// Store remembers for [Service]. The comments of [app.Records] and [app.Store] about all
// stores hold here too.
type Store interface {
	Records

	// SetAlertPreferences replaces those of the account.
	SetAlertPreferences(ctx context.Context, accountID int64, p Preferences) error
	// SetAlertChannel replaces the channel of the same medium, and forgets its
	// failures and conditions.
	SetAlertChannel(ctx context.Context, c Channel) (Channel, error)
	// SetReport keeps when the channel of a medium gets the report of the day.
	// reported is the last day that needs none any more.
	SetReport(ctx context.Context, accountID int64, medium Medium, at ReportTime, reported app.Day) error
	// SetMonthReport keeps the last month whose report the channel of a medium needs no more; 0: it gets none.
	SetMonthReport(ctx context.Context, accountID int64, medium Medium, month app.Day) error
	// AlertConditions lists what a channel knows, in the order of its making;
	// none for an unknown channel.
	AlertConditions(ctx context.Context, channelID int64) ([]Condition, error)
	// SettleAlert does nothing if the channel was set up again or removed
	// meanwhile. A message that was tried before replaces the row of that time.
	SettleAlert(ctx context.Context, o Outcome) error
	// NoteAlertTest keeps a test. One that was sent ends the channel's failures.
	NoteAlertTest(ctx context.Context, c Channel, m Message) error
	// SetPaymentFeed keeps which payments the feed of a channel sends, or that it is off. A feed
	// that was off begins after the transactions that there are.
	SetPaymentFeed(ctx context.Context, channelID int64, f PaymentFeed) error
	// PaymentsToSend lists the first FeedRead payments after c.Feed.SentThrough that c.Feed
	// sends, by id. If there are none, those up to passed are not sent later
	// either: somebody may change the feed, or switch a bank account on. Of a feed that
	// was switched off, switched on or changed since c was read it lists none, and
	// passed is 0.
	PaymentsToSend(ctx context.Context, c Channel) (list []app.Transaction, passed int64, _ error)
	// SettlePaymentFeed keeps how far c.Feed has got since sentThrough. It does nothing
	// where the feed was switched off or on meanwhile.
	SettlePaymentFeed(ctx context.Context, c Channel, sentThrough int64) error
	// PushKey gives the private key of an account, and makes one where there is none.
	PushKey(ctx context.Context, accountID int64) ([]byte, error)
	// AddPhone inserts a phone. One with the same endpoint is removed where it is another
	// user's; the user's own is given the name, the language and the address of p.
	// ErrTooManyPhones beyond MaxPhones.
	AddPhone(ctx context.Context, p Phone) (Phone, error)
	// ChangePhone keeps for what a phone rings, and when. ErrNoPhone where there is none.
	ChangePhone(ctx context.Context, p Phone) error
	// SettlePhone keeps what a phone knows. One that is gone is no error.
	SettlePhone(ctx context.Context, id int64, conditions []Condition) error
	// PaymentsToPush lists money in of the transactions after an id that were recorded since
	// a time, but for that of statement files and of bank accounts that are off. seen is the
	// last transaction that it looked at; after -1, and where no phone rings for payments, it lists
	// none, and seen is the newest.
	PaymentsToPush(ctx context.Context, after int64, since time.Time) (list []app.Transaction, seen int64, _ error)
}
