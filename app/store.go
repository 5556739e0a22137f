package app

import (
	"context"
	"time"
)

// Store remembers. It is implemented by sqlitestore over one file. Beside what
// everybody may ask ([Reader]) and change ([Writer]) it has what only the use
// cases of [Service] call.
//
// A method fails with an [*Error] where the caller is at fault, with
// CodeUnavailable where storage fails and trying again may help, and with any
// other error where it doesn't. What Reader says of accountID and ids holds
// here too. A function that is passed runs inside a transaction, perhaps more
// than once: it must have no effects.
type Store interface {
	Reader
	Writer

	// CreateAccount inserts a and gives it with its id.
	CreateAccount(ctx context.Context, a Account) (Account, error)
	// UpdateAccount changes what isn't nil in u, and gives the account after it.
	UpdateAccount(ctx context.Context, id int64, u AccountUpdate) (Account, error)

	// CreateAPIKey inserts k with the SHA-256 of the key, and gives it with its
	// id. ErrFormUsed where once was used before, ErrTooManyAPIKeys beyond
	// MaxAPIKeys.
	CreateAPIKey(ctx context.Context, k APIKey, hash [32]byte, once IdempotencyKey) (APIKey, error)
	// APIKeyByHash sees a key made by another process from its commit on, and
	// a revocation within a second. ok is false where there is none.
	APIKeyByHash(ctx context.Context, hash [32]byte) (k APIKey, ok bool, err error)
	// TouchAPIKey notes the use of a key, at most once a minute. It doesn't wait
	// for the commit.
	TouchAPIKey(id int64, now time.Time)

	// CreateCounterLink fails with CodeValidation for an unknown bank account
	// and CodeLimitReached beyond MaxCounterLinks. ErrFormUsed where key was used
	// before.
	CreateCounterLink(ctx context.Context, l CounterLink, hash [32]byte, newName bool, key IdempotencyKey) (CounterLink, error)
	// CounterLinkByHash sees a link made by another process from its commit
	// on, and a revocation within a second. ok is false where there is none.
	CounterLinkByHash(ctx context.Context, hash [32]byte) (l CounterLink, ok bool, err error)

	// CreateUser fails with CodeAlreadyExists where the name is taken, and with
	// ErrFormUsed where key was used before.
	CreateUser(ctx context.Context, u User, hash string, key IdempotencyKey) (User, error)
	// CreateFirstUser creates u only if setup is the hash of a set-up token that
	// hasn't ended at now and there is no user yet, else it fails with
	// CodeForbidden. The token ends with it.
	CreateFirstUser(ctx context.Context, u User, hash string, setup [32]byte, now time.Time) (User, error)
	// SetUp keeps the hash of a set-up token until end, in place of an earlier
	// one. ok is false where there is a user already.
	SetUp(ctx context.Context, setup [32]byte, end time.Time) (ok bool, err error)
	// SetUpOpen tells whether setup is the hash of a set-up token that hasn't
	// ended at now.
	SetUpOpen(ctx context.Context, setup [32]byte, now time.Time) (bool, error)
	// UserByName also gives the hash of the password. ok is false where there is
	// no such user.
	UserByName(ctx context.Context, name string) (u User, hash string, ok bool, err error)
	// SetPassword gives the user a new generation, which ends all sessions.
	// ErrFormUsed where key was used before.
	SetPassword(ctx context.Context, accountID, id int64, hash string, key IdempotencyKey, now time.Time) (User, error)
	// SetRole gives the user a new generation too. CodeConflict where the
	// account would have no owner left, ErrStillLimited where the user is limited and
	// the role can't be.
	SetRole(ctx context.Context, accountID, id int64, role Role) (User, error)
	// SetTOTP gives the user an app and recovery codes in place of earlier ones, and
	// a new generation. ErrFormUsed where key was used before.
	SetTOTP(ctx context.Context, u User, totp TOTP, codes [][32]byte, key IdempotencyKey, now time.Time) (User, error)
	// TOTP gives the app of a user. ok is false where there is none, or where the
	// key doesn't open its secret.
	TOTP(ctx context.Context, userID int64) (totp TOTP, ok bool, err error)
	// UseTOTPStep is true once for a step, and false for all steps up to it from
	// then on, in whatever process.
	UseTOTPStep(ctx context.Context, userID, step int64) (bool, error)
	// SetRecoveryCodes replaces the recovery codes of a user. ErrFormUsed where key
	// was used before.
	SetRecoveryCodes(ctx context.Context, u User, codes [][32]byte, key IdempotencyKey, now time.Time) error
	// UseRecoveryCode is true once for a code.
	UseRecoveryCode(ctx context.Context, u User, hash [32]byte) (bool, error)
	// AddPasskey adds a passkey to a user, with a new generation. first is true where
	// the user had no second factor: then they get the recovery codes. ErrFormUsed where
	// key was used before, ErrSamePasskey, ErrTooManyPasskeys.
	AddPasskey(ctx context.Context, u User, p Passkey, codes [][32]byte, key IdempotencyKey, now time.Time) (_ User, first bool, err error)
	// RenamePasskey fails with ErrNoPasskey where the user has no such passkey.
	RenamePasskey(ctx context.Context, u User, id int64, name string) error
	// RemovePasskey removes a passkey of a user, with the recovery codes where nothing
	// else is left of the second factor, and gives the user a new generation.
	// ErrNoPasskey, ErrLastFactor.
	RemovePasskey(ctx context.Context, u User, id int64) (User, error)
	// PasskeyByCredential finds a passkey and its user. ok is false where there is none.
	PasskeyByCredential(ctx context.Context, id []byte) (p Passkey, u User, ok bool, err error)
	// UsePasskey keeps the count of a signature of a passkey. ErrPasskeyCopied where it
	// isn't larger than the one before, unless both are 0; ErrNoPasskey.
	UsePasskey(ctx context.Context, id int64, count uint32, now time.Time) error
	// SetNeedsSecondFactor keeps whether an account demands a second factor.
	SetNeedsSecondFactor(ctx context.Context, accountID int64, needs bool) error
	// NoteSignIn keeps when a user signed in last.
	NoteSignIn(ctx context.Context, u User, now time.Time) error
	// NoteRefusedSignIn keeps that somebody entered a wrong password for a user. It
	// doesn't wait for the commit.
	NoteRefusedSignIn(ctx context.Context, u User)

	// LinkBankAccount fails with CodeAlreadyExists where the pair of bank and
	// number is linked already, CodePlanLimit or CodePlanExpired. The unassigned
	// items of that account are recorded in steps, each a commit of its own.
	LinkBankAccount(ctx context.Context, b BankAccount, in BankAccountLink, zone *time.Location, now time.Time) (LinkResult, error)
	// FinishLinks records the rest of the links that LinkBankAccount or
	// LinkInbound made before a time, with the deliveries that were asked for
	// then. It gives the webhooks that got deliveries.
	FinishLinks(ctx context.Context, before time.Time, zone *time.Location, now time.Time) (webhooks []int64, err error)
	// SetBankAccountLook changes a linked bank account.
	SetBankAccountLook(ctx context.Context, accountID, id int64, look BankAccountLook) error
	// BankAccountSummaries lists the linked bank accounts by id with the sums of
	// all time and of the day, week and month of today, without balances.
	BankAccountSummaries(ctx context.Context, accountID int64, today Day) ([]BankAccountSummary, error)

	// FirstDay is the first day with a transaction; otherwise where there is none.
	FirstDay(ctx context.Context, accountID int64, otherwise Day) (Day, error)
	// BankAccountDays lists the bank accounts that had transactions on a day, by
	// id, without balances.
	BankAccountDays(ctx context.Context, accountID int64, day Day) ([]BankAccountDay, error)
	// HoursBetween adds up the transactions from an instant on and before another
	// by whole hours since the first. It reads each of them.
	HoursBetween(ctx context.Context, accountID int64, from, to time.Time) ([]HourRow, error)

	// CreateSource fails with CodeAlreadyExists where another source has the same
	// Bearer secret or user name or there are MaxSources, and with
	// CodeValidation for an unknown bank account. Where the key was used before it gives the source that was made
	// then, without its secret.
	CreateSource(ctx context.Context, s Source, newName bool, key IdempotencyKey, now time.Time) (Source, error)
	// SourceByToken, SourceByBearer and SourceByUsername find as SourceByID does.
	SourceByToken(ctx context.Context, token string) (s Source, ok bool, err error)
	SourceByBearer(ctx context.Context, hash [32]byte) (s Source, ok bool, err error)
	SourceByUsername(ctx context.Context, username string) (s Source, ok bool, err error)
	// SetSourceSecret changes nothing and gives the source without its secret
	// where the key was used before. CodeAlreadyExists as CreateSource.
	SetSourceSecret(ctx context.Context, accountID, id int64, secret string, key IdempotencyKey, now time.Time) (Source, error)
	// AddSourceSenders adds senders to those of the source's options.
	AddSourceSenders(ctx context.Context, accountID, id int64, senders []string) (Source, error)
	// SetSourceAPIKey also forgets why the list couldn't be read. The list of a
	// source that had no key is read from now on.
	SetSourceAPIKey(ctx context.Context, accountID, id int64, apiKey string, now time.Time) (Source, error)
	// RefusedCalls lists the last refused calls, at most limit, newest first:
	// those of one source, or of all sources of the account where sourceID is 0,
	// and with unnamed also those that named no source.
	RefusedCalls(ctx context.Context, accountID, sourceID int64, unnamed bool, limit int) ([]RefusedCall, error)

	// CreatePaymentRequest inserts what choose makes of r. Where the key was used before
	// it gives the request that was made then.
	CreatePaymentRequest(ctx context.Context, r PaymentRequest, choose func(PaymentChoices) (PaymentRequest, error), key IdempotencyKey) (PaymentRequest, error)

	// UnmatchedTransactions lists a page of the money in since a time that no payment request
	// was found for, newest first, and counts it. There is none before the account's first
	// payment request.
	UnmatchedTransactions(ctx context.Context, accountID int64, since time.Time, page Page) ([]Transaction, int64, error)
	// PaymentCandidates lists the last payment requests that aren't full or cancelled, at most
	// limit, newest first.
	PaymentCandidates(ctx context.Context, accountID int64, limit int) ([]PaymentCandidate, error)

	// RecordInbound does all of a call in one commit: the inbound event, its
	// open items, the new transactions, their totals and one pending delivery
	// for each matching webhook. A call with very many elements takes steps of
	// some hundred rows. zone dates the transactions. It returns once the last
	// commit is on disk.
	RecordInbound(ctx context.Context, call InboundCall, zone *time.Location) (Recording, error)
	// RetryInbound records the elements of call, which are what the body of
	// event id is read as now, and closes the items that are no longer at fault.
	RetryInbound(ctx context.Context, id int64, call InboundCall, zone *time.Location, now time.Time) (Recording, error)
	// DiscardInbound closes the open items of an event, or one of them where
	// itemID isn't 0, and gives how many. CodeValidation where the event has no
	// such item.
	DiscardInbound(ctx context.Context, accountID, id, itemID int64) (int, error)
	// SettleRepeat does what Service.SettleRepeat says.
	SettleRepeat(ctx context.Context, accountID, eventID, itemID, transactionID int64, repeat bool, zone *time.Location, now time.Time) (Settled, error)
	// LinkInbound links in one commit and records in steps, as LinkBankAccount.
	LinkInbound(ctx context.Context, accountID, id int64, in InboundLink, zone *time.Location, now time.Time) (InboundLinkResult, error)
	// InboundEventsBefore lists at most f.Page.Size events without bodies,
	// newest first, and tells whether there are more. It counts nothing: it is
	// quick however long the log is.
	InboundEventsBefore(ctx context.Context, accountID int64, f InboundFilter) (list []InboundEvent, more bool, err error)
	// InboundEvent gives the event without its items, and its source, removed
	// or not.
	InboundEvent(ctx context.Context, accountID, id int64) (InboundEvent, Source, error)
	// InboundItems lists at most limit items of an event, open ones first.
	InboundItems(ctx context.Context, accountID, eventID int64, limit int) ([]InboundItem, error)
	// InboundBodies gives the bodies of the events by their ids, without those
	// of more than most bytes.
	InboundBodies(ctx context.Context, accountID int64, ids []int64, most int) (map[int64][]byte, error)
	// InboundSources gives sources by their ids, removed or not.
	InboundSources(ctx context.Context, accountID int64, ids []int64) (map[int64]Source, error)
	// KnownEvents gives what each event id is known as, in the order of refs;
	// nil for an unknown one.
	KnownEvents(ctx context.Context, accountID int64, refs []EventRef) ([]*KnownEvent, error)

	// PolledSources lists the sources in use that have an API key, of every
	// account.
	PolledSources(ctx context.Context) ([]Source, error)
	// RecordPage does all of a page in one commit: what RecordInbound does,
	// and how far the source's list is read. The body is kept only if something
	// in it is new. complete says that the list is read to its end at the time
	// of receipt; then the source has no fault. CodeNotFound where the source
	// was removed meanwhile.
	RecordPage(ctx context.Context, call InboundCall, progress string, complete bool, zone *time.Location) (Recording, error)
	// NotePollFault keeps why a source's list couldn't be read, and tells
	// whether that is new. A refused key stays until a list is read again:
	// nothing else proves it right. When it is newly refused, the bank accounts
	// that the source serves go to BankAccountError, but not inactive ones.
	NotePollFault(ctx context.Context, sourceID int64, fault PollFault) (isNew bool, err error)

	// Transactions lists a page. It gives the sums of all pages if f.Sums asks
	// for them and they cost little: where days are counted by the filter, or
	// the transactions are few. They are exact.
	Transactions(ctx context.Context, accountID int64, f TransactionFilter) (TransactionPage, error)
	// SetNote writes a note, or removes it where its text is empty, if check
	// agrees with the present one.
	SetNote(ctx context.Context, accountID, transactionID int64, check func(present Note) error, note Note) error
	// ScheduledBackup makes a verified copy of the database and its key in the
	// directory of a schedule, and then removes the oldest that it made there, but
	// for as many as are to stay. It takes as long as reading the database twice.
	// The server goes on meanwhile.
	ScheduledBackup(ctx context.Context, schedule BackupSchedule, now time.Time) (Backup, error)

	// IndexSearch adds one small step to the index of search texts. left is 0
	// once it holds all transactions.
	IndexSearch(ctx context.Context) (left int64, err error)
	// Unindexed counts the transactions that the index of search texts doesn't
	// hold, up to some thousands.
	Unindexed(ctx context.Context) (int64, error)
	// IDsOf gives a range that holds all ids of a filter; it may hold others
	// too.
	IDsOf(ctx context.Context, accountID int64, f TransactionFilter) (IDRange, error)
	// TransactionsIn lists the first transactions of a filter, at most limit,
	// with ids within a range, ascending.
	TransactionsIn(ctx context.Context, accountID int64, f TransactionFilter, ids IDRange, limit int) ([]Transaction, error)
	// UndoImport looks at a bounded number of transactions of an import, those
	// with the least ids above after, removes what may go and gives the last id; then of
	// its rows that might have been repeats. 0: none was left, and the import counts as taken back. A transaction stays
	// if a shop was told or may be told, or if a call or a person named it too:
	// it was acknowledged. The event ids of the removed ones are free again.
	UndoImport(ctx context.Context, accountID, id, after int64, zone *time.Location, now time.Time) (last int64, err error)

	// CreateCodePattern inserts p and gives it with its id. ErrSamePrefix,
	// ErrTooManyCodePatterns or CodePlanExpired.
	CreateCodePattern(ctx context.Context, p CodePattern) (CodePattern, error)

	// CreateStream inserts st and gives it with its id and position: since, or the last
	// transaction's id where since is nil. It fails and repeats as CreateWebhook.
	CreateStream(ctx context.Context, st Stream, secrets StreamSecrets, since *int64, key IdempotencyKey, now time.Time) (_ Stream, made bool, _ error)
	// UpdateStream changes what isn't nil in u, and gives the stream after it. It
	// switches on as ToggleStream.
	UpdateStream(ctx context.Context, accountID, id int64, u StreamUpdate, now time.Time) (Stream, error)
	// RotateStreamSecret keeps a new secret. changed is false where the key was used
	// before.
	RotateStreamSecret(ctx context.Context, accountID, id int64, secret string, key IdempotencyKey, now time.Time) (changed bool, _ error)

	// CreateWebhook fails with CodePlanExpired, CodeLimitReached beyond
	// MaxWebhooks, and CodeValidation for an unknown bank account. made is false
	// where the key was used before: then w is what was made that time.
	CreateWebhook(ctx context.Context, w Webhook, secret string, key IdempotencyKey, now time.Time) (_ Webhook, made bool, _ error)
	// UpdateWebhook changes what isn't nil in u, and gives the webhook after it. It
	// switches on as ToggleWebhook.
	UpdateWebhook(ctx context.Context, accountID, id int64, u WebhookUpdate, now time.Time) (Webhook, error)
	// ToggleWebhook switches a webhook on or off. Switching on fails with
	// CodePlanExpired.
	ToggleWebhook(ctx context.Context, accountID, id int64, now time.Time) (Webhook, error)
	// WebhookSecrets gives the secrets of an account's webhooks by their ids;
	// lost ones are empty.
	WebhookSecrets(ctx context.Context, accountID int64) (map[int64]Secrets, error)
	// ChangeSecrets applies change to the secrets in one commit. changed is
	// false where the key was used before.
	ChangeSecrets(ctx context.Context, accountID, id int64, key IdempotencyKey, change func(Secrets) (Secrets, error), now time.Time) (changed bool, _ error)
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
	Pending(ctx context.Context, accountID int64, f PendingFilter) (list []PendingDelivery, total int64, err error)
	// DeliveryFacts finds one delivery.
	DeliveryFacts(ctx context.Context, accountID, id int64) (DeliveryFacts, error)
	// DeliveriesOf lists the deliveries of transactions, oldest first, without
	// those that a resend has replaced.
	DeliveriesOf(ctx context.Context, accountID int64, transactionIDs []int64) ([]LatestDelivery, error)
	// AddTest makes the delivery of a test with the payload that sample returns.
	// It queues nothing.
	AddTest(ctx context.Context, accountID, webhookID int64, sample func(Webhook) Payload, now time.Time) (Outgoing, error)
	// Resend fails with CodeNotFound, CodeWebhookDeleted, CodeWebhookInactive
	// or CodeDeliveryPending.
	Resend(ctx context.Context, accountID, historyID int64, key IdempotencyKey, now time.Time) (Delivery, error)
	// ResendMany resends each delivery of these history records once, in one
	// commit. What can't be resent is refused and keeps nothing else back.
	ResendMany(ctx context.Context, accountID int64, historyIDs []int64, key IdempotencyKey, now time.Time) (ResendResult, error)
	// Replay makes a new delivery for every failed one of a webhook that was
	// created from from on and before to (zero: open), unless a later delivery
	// of its transaction to the webhook is pending or was delivered.
	Replay(ctx context.Context, accountID, webhookID int64, from, to time.Time, key IdempotencyKey, now time.Time) (n int, err error)
	// SendNow sets the due time of a pending delivery to now, unless it is earlier.
	// It fails with CodeNotFound, or as Delivery.SendableNow.
	SendNow(ctx context.Context, accountID, id int64, key IdempotencyKey, now time.Time) error
	// SendWaiting does so for all of a webhook, and counts those that it changed.
	// It fails with CodeNotFound, or as Webhook.Sends.
	SendWaiting(ctx context.Context, accountID, webhookID int64, key IdempotencyKey, now time.Time) (n int, err error)
	// FailedDeliveries lists at most limit failed deliveries by the rule of
	// Replay, of active webhooks: one webhook after another, oldest first.
	FailedDeliveries(ctx context.Context, accountID int64, f FailedFilter, limit int) ([]FailedDelivery, error)

	// SetAlertPreferences replaces those of the account.
	SetAlertPreferences(ctx context.Context, accountID int64, p AlertPreferences) error
	// SetAlertChannel replaces the channel of the same medium, and forgets its
	// failures and conditions.
	SetAlertChannel(ctx context.Context, c AlertChannel) (AlertChannel, error)
	// SetReport keeps when the channel of a medium gets the report of the day.
	// reported is the last day that needs none any more.
	SetReport(ctx context.Context, accountID int64, medium AlertMedium, at ReportTime, reported Day) error
	// AlertConditions lists what a channel knows, in the order of its making;
	// none for an unknown channel.
	AlertConditions(ctx context.Context, channelID int64) ([]AlertCondition, error)
	// SettleAlert does nothing where the channel was set up anew or removed
	// meanwhile. A message that was tried before replaces the row of that time.
	SettleAlert(ctx context.Context, o AlertOutcome) error
	// NoteAlertTest keeps a test. One that was sent ends the channel's failures.
	NoteAlertTest(ctx context.Context, c AlertChannel, m AlertMessage) error
	// SetPaymentFeed keeps what the feed of a channel tells, or that it is off. A feed
	// that was off begins after the transactions that there are.
	SetPaymentFeed(ctx context.Context, channelID int64, f PaymentFeed) error
	// PaymentsToTell lists the first FeedRead payments after c.Feed.ToldTo that c.Feed
	// tells of, by id. Where there are none, those up to passed are not told later
	// either: somebody may change the feed, or switch a bank account on. Of a feed that
	// was switched off, switched on or changed since c was read it lists none, and
	// passed is 0.
	PaymentsToTell(ctx context.Context, c AlertChannel) (list []Transaction, passed int64, _ error)
	// SettlePaymentFeed keeps how far c.Feed has got since toldTo. It does nothing
	// where the feed was switched off or on meanwhile.
	SettlePaymentFeed(ctx context.Context, c AlertChannel, toldTo int64) error

	// QueueStatus reads the queue's index.
	QueueStatus(ctx context.Context, now time.Time) (QueueStatus, error)
	// AnswerTimes is about the last AnswersCounted attempts that began after an
	// instant.
	AnswerTimes(ctx context.Context, after time.Time) (AnswerTimes, error)
	// Prune removes a bounded number of old rows. Transactions and open items
	// always stay.
	Prune(ctx context.Context, limits PruneLimits, now time.Time) (Pruned, error)
	// Reclaim gives a bounded part of the Reclaimable bytes back to the disk. The
	// file is shorter once the write-ahead log is copied into it.
	Reclaim(ctx context.Context) error
	// Probe fails if data can't be read or, after a commit failed, if it can't
	// be written again.
	Probe(ctx context.Context) error
	// OldestDue gives the earliest due time of the deliveries of each active webhook
	// that are due, but for those to skip.
	OldestDue(ctx context.Context, now time.Time, skip []int64) (map[int64]time.Time, error)
	// PullRetries gives retries that are due later than the longest wait from now the
	// wait before their next attempt, from now on. It returns how many there were.
	PullRetries(ctx context.Context, schedule []time.Duration, now time.Time) (int64, error)
	// NewestTime is the latest of when the newest transaction, call and attempt were
	// recorded; zero: there is none.
	NewestTime(ctx context.Context) (time.Time, error)
	// WriterBeat is when the writer last ended a commit, whatever came of it. Each
	// Probe gives it one to make.
	WriterBeat() time.Time
}
