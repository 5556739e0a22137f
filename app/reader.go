package app

import (
	"context"
	"time"
)

// Reader has the queries that pass through [Service] unchanged: it embeds Reader, so
// that web, scheduler and the commands ask the storage without a forward for each
// query.
//
// A method that takes accountID sees only what belongs to that account. An id
// that names nothing in it is CodeNotFound, an id in a filter CodeValidation,
// unless the method says otherwise. What the context's limit doesn't show belongs
// to nobody ([SeeingOnly]). Amounts are in VND. The other errors are
// those of [Store].
type Reader interface {
	// Account finds one account.
	Account(ctx context.Context, id int64) (Account, error)
	// Accounts lists all accounts by id.
	Accounts(ctx context.Context) ([]Account, error)
	// AccountStatus gives an account's plan and how much of it is in use.
	AccountStatus(ctx context.Context, accountID int64) (AccountStatus, error)
	// APIKeys lists the keys of an account by id, revoked ones included.
	APIKeys(ctx context.Context, accountID int64) ([]APIKey, error)
	// CounterLinks lists the links of an account by id, revoked ones included.
	CounterLinks(ctx context.Context, accountID int64) ([]CounterLink, error)

	// User finds a user of any account. ok is false where there is none.
	User(ctx context.Context, id int64) (u User, ok bool, err error)
	// Users lists the users of an account by name.
	Users(ctx context.Context, accountID int64) ([]User, error)
	// SecondFactor tells what a user has beside the password.
	SecondFactor(ctx context.Context, userID int64) (SecondFactor, error)
	// Passkeys lists the passkeys of a user by id.
	Passkeys(ctx context.Context, userID int64) ([]Passkey, error)
	// Session gives what web keeps under a session's token. ok is false where
	// there is no such session, or where it has ended.
	Session(ctx context.Context, token string, now time.Time) (data []byte, ok bool, err error)
	// Sessions lists the sessions of a user that haven't ended, the last seen
	// first. token is that of This.
	Sessions(ctx context.Context, accountID, userID int64, token string, now time.Time) ([]Session, error)

	// BankAccounts lists the linked bank accounts by id.
	BankAccounts(ctx context.Context, accountID int64) ([]BankAccount, error)
	// Balances gives the last balance of each bank account up to the end of a
	// day, by the ids. A bank account without one isn't in it.
	Balances(ctx context.Context, accountID int64, until Day) (map[int64]Balance, error)

	// Sources lists the sources in use by id.
	Sources(ctx context.Context, accountID int64) ([]Source, error)
	// SourcesHealth lists the sources in use by id, each with its refused calls.
	SourcesHealth(ctx context.Context, accountID int64) ([]SourceHealth, error)
	// SourceByID finds a source in use of any account, from the commit on with
	// which another process made it. ok is false where there is none. It
	// authenticates nobody.
	SourceByID(ctx context.Context, id int64) (s Source, ok bool, err error)
	// RefreshCredentials reads sources, API keys and counter links again if
	// another process changed one, so that a secret that was rotated there counts
	// from the next call on.
	RefreshCredentials(ctx context.Context) error

	// InboundEvents lists a page of the inbound log without bodies, newest
	// first, and counts the events on all pages. f.SourceID may name a removed
	// source.
	InboundEvents(ctx context.Context, accountID int64, f InboundFilter) (list []InboundEvent, total int64, err error)
	// OpenInbound counts the items that need somebody's attention. It counts
	// each state up to most.
	OpenInbound(ctx context.Context, accountID int64, most int) (OpenInbound, error)

	// Transaction finds one transaction.
	Transaction(ctx context.Context, accountID, id int64) (Transaction, error)
	// TransactionOrigin says where a transaction comes from.
	TransactionOrigin(ctx context.Context, accountID, transactionID int64) (TransactionOrigin, error)
	// Note gives the note of a transaction; the zero Note where it has none.
	Note(ctx context.Context, accountID, transactionID int64) (Note, error)
	// Noted lists the transactions whose notes contain a text, newest first, at
	// most limit.
	Noted(ctx context.Context, accountID int64, query string, limit int) ([]Transaction, error)
	// Overview reads the kept totals of all time; zeros for an unknown account.
	Overview(ctx context.Context, accountID int64) (Overview, error)
	// Days reads the kept totals of the days from first to last, both included,
	// by ascending day, IN before OUT: of one bank account (no rows for an
	// unknown one), or of all where bankAccountID is 0. A day without
	// transactions has no row.
	Days(ctx context.Context, accountID, bankAccountID int64, first, last Day) ([]PeriodRow, error)
	// Imports lists a page of the statement files, newest first.
	Imports(ctx context.Context, accountID int64, page Page) ([]ImportedFile, error)
	// Undoable tells what UndoImport would remove now.
	Undoable(ctx context.Context, accountID, id int64, now time.Time) (Undoing, error)

	// Webhook finds a webhook that isn't deleted.
	Webhook(ctx context.Context, accountID, id int64) (Webhook, error)
	// Webhooks lists the webhooks that aren't deleted by id.
	Webhooks(ctx context.Context, accountID int64) ([]Webhook, error)

	// CodePatterns lists the code patterns of an account by id.
	CodePatterns(ctx context.Context, accountID int64) ([]CodePattern, error)
	// CodesTaken counts those of codes that no new payment request can have at now.
	CodesTaken(ctx context.Context, accountID int64, codes []string, now time.Time) (int64, error)

	// PaymentRequest finds a payment request.
	PaymentRequest(ctx context.Context, accountID, id int64) (PaymentRequest, error)
	// PaymentRequestByToken finds the payment request, of any account, whose page the
	// token opens. CodeNotFound where there is none.
	PaymentRequestByToken(ctx context.Context, token string) (PaymentRequest, error)
	// PaymentRequests lists a page of the payment requests of an account.
	PaymentRequests(ctx context.Context, accountID int64, f PaymentFilter, now time.Time) (PaymentPage, error)
	// PaymentTransfers lists the transfers of a payment request in the order in which
	// they were matched, at most limit.
	PaymentTransfers(ctx context.Context, accountID, requestID int64, limit int) ([]PaymentTransfer, error)

	// OpenShift finds the open shift of a user. ok is false where there is none.
	OpenShift(ctx context.Context, accountID, userID int64) (sh Shift, ok bool, err error)
	// Shift finds a shift.
	Shift(ctx context.Context, accountID, id int64) (Shift, error)
	// Shifts lists a page of the shifts of an account, newest first, and counts them: those
	// of one user, or all where userID is 0.
	Shifts(ctx context.Context, accountID, userID int64, page Page) ([]Shift, int64, error)

	// Stream finds a stream that isn't deleted.
	Stream(ctx context.Context, accountID, id int64) (Stream, error)
	// Streams lists the streams that aren't deleted by id, or those of every account
	// where accountID is 0.
	Streams(ctx context.Context, accountID int64) ([]Stream, error)
	// StreamWork is Stream with its secrets; lost ones are empty.
	StreamWork(ctx context.Context, accountID, id int64) (StreamWork, error)
	// StreamTransactions lists the first transactions of a stream after an id, by id.
	// Those up to passed were looked at: there may be more after it, also where the
	// list is shorter than limit.
	StreamTransactions(ctx context.Context, st Stream, after int64, limit int) (list []Transaction, passed int64, _ error)
	// RemovedTransactions gives the ids up to upTo of transactions of a stream that were removed
	// by the removals after a number. Those up to passed were looked at: there may be more.
	// Of an account the last MaxRemovals are kept.
	RemovedTransactions(ctx context.Context, st Stream, after, upTo int64) (ids []int64, passed int64, _ error)
	// StreamBehind is when the first transaction after the position of a stream was
	// recorded, of those that belong to it; zero: all are sent.
	StreamBehind(ctx context.Context, st Stream) (time.Time, error)

	// Backlogs lists the active webhooks with pending deliveries. Its cost
	// grows with the webhooks, not with the deliveries.
	Backlogs(ctx context.Context, now time.Time) ([]WebhookBacklog, error)
	// Due gives at most limit deliveries of a webhook that are due and not
	// among skip, by due time: its retries, or its first attempts, which are
	// due whatever the clock says. It gives none where the webhook isn't active or has lost its secret.
	Due(ctx context.Context, webhookID int64, now time.Time, skip []int64, limit int, retries bool) ([]Outgoing, error)
	// PendingDeliveries counts the deliveries that are still to be attempted: to
	// one webhook (0 for an unknown one), or to all where webhookID is 0.
	PendingDeliveries(ctx context.Context, accountID, webhookID int64) (int64, error)
	// Replayable counts the deliveries that Replay would resend, among the most
	// failed ones that were created last. all is false where there are more.
	Replayable(ctx context.Context, accountID, webhookID int64, from, to time.Time, most int, now time.Time) (n int64, all bool, err error)
	// History lists a page of the attempts, newest first, and counts those on
	// all pages.
	History(ctx context.Context, accountID int64, f HistoryFilter) (list []Attempt, total int64, err error)
	// NewestIDs gives the highest ids of the file. It costs a look at the ends of a
	// few indexes.
	NewestIDs(ctx context.Context) (NewestIDs, error)

	// AlertPreferences gives Vietnamese and nothing muted where none were set.
	AlertPreferences(ctx context.Context, accountID int64) (AlertPreferences, error)
	// AlertChannels lists the channels of an account by id, or those of every
	// account where accountID is 0.
	AlertChannels(ctx context.Context, accountID int64) ([]AlertChannel, error)
	// AlertMessages lists the last messages, at most most, newest first.
	AlertMessages(ctx context.Context, accountID int64, most int) ([]AlertMessage, error)

	// AuditLines lists the last lines of the audit log, newest first, at most limit.
	AuditLines(ctx context.Context, accountID int64, f AuditFilter, limit int) ([]AuditLine, error)

	// StorageStatus looks at the files from outside.
	StorageStatus(now time.Time) (StorageStatus, error)
	// BackupStatus costs a look at one row or two.
	BackupStatus(ctx context.Context) (BackupStatus, error)
	// GuideHidden tells whether the dashboard's overview shows no steps of the
	// set-up to the owners of an account.
	GuideHidden(ctx context.Context, accountID int64) (bool, error)

	// Prunable counts what Prune would remove in all its steps.
	Prunable(ctx context.Context, limits PruneLimits, now time.Time) (Pruned, error)
	// Reclaimable is how many bytes of the file hold nothing. New rows go there
	// first.
	Reclaimable(ctx context.Context) (int64, error)
	// Beat is the last beat in the file.
	Beat(ctx context.Context) (Beat, error)
}

// Writer makes the changes about which Service has nothing to decide. Service
// embeds it too. What Reader says of accountID and ids holds here.
//
// What people do is written into the audit log in the same commit, here and in
// [Store]; the context says who does it: [ActingAs].
type Writer interface {
	// MoveRetries moves the retries that are due after one instant and not after
	// another by the time between the two, and returns how many there were.
	MoveRetries(ctx context.Context, after, until time.Time) (int64, error)
	// Audit writes a line of the audit log about what changes nothing else in the
	// file, such as an export.
	Audit(ctx context.Context, accountID int64, deed Deed, id int64, d AuditDetail) error

	// RevokeAPIKey ends a key. An earlier revocation stays as it is.
	RevokeAPIKey(ctx context.Context, accountID, id int64, now time.Time) error
	// RevokeCounterLink ends a link, and within a second the screens that are
	// open with it. An earlier revocation stays as it is.
	RevokeCounterLink(ctx context.Context, accountID, id int64, now time.Time) error

	// EndSessions signs a user out everywhere, by a new generation.
	EndSessions(ctx context.Context, accountID, id int64) (User, error)
	// RemoveSecondFactor removes the app, passkeys and recovery codes of a user, and
	// signs them out everywhere by a new generation.
	RemoveSecondFactor(ctx context.Context, accountID, id int64) (User, error)
	// LimitUser limits what a user sees to some bank accounts, linked or not, or
	// ends the limit. It counts from the user's next request on. ErrNotLimited for
	// a role that can't be limited, ErrUnknownBankAccountID for an unknown one.
	LimitUser(ctx context.Context, accountID, id int64, limit BankAccountLimit) (User, error)
	// RemoveUser removes a user and the user's sessions. CodeConflict for the
	// last owner of an account.
	RemoveUser(ctx context.Context, accountID, id int64) error
	// SetSession keeps a session, and data, under a token until its end. One that
	// was ended stays so.
	SetSession(ctx context.Context, token string, session Session, data []byte) error
	// SeeSession notes that there was a request in a session, where the last one
	// was noted longer ago than SeenInterval. It doesn't wait for the commit.
	SeeSession(ctx context.Context, token, address string, now time.Time) error
	// EndSession ends one session of a user. ErrNoSession where it has ended.
	EndSession(ctx context.Context, accountID, userID, id int64, now time.Time) error
	// RemoveSession ends a session. An unknown token is no error.
	RemoveSession(ctx context.Context, token string) error

	// ToggleBankAccount switches a bank account off where it is active, else on.
	// Switching on fails with CodePlanExpired or CodePlanLimit.
	ToggleBankAccount(ctx context.Context, accountID, id int64, now time.Time) (BankAccount, error)
	// UnlinkBankAccount takes a bank account out of the account. Its
	// transactions and totals stay; new transactions for it are unassigned. To
	// link it again brings the same bank account back.
	UnlinkBankAccount(ctx context.Context, accountID, id int64, now time.Time) error
	// RemoveSource ends a source: its calls are refused from now on. What it
	// recorded stays.
	RemoveSource(ctx context.Context, accountID, id int64, now time.Time) error
	// NoteRefusedCall keeps a call that was refused, and the last
	// KeptRefusedCalls in all. It doesn't wait for the commit.
	NoteRefusedCall(c RefusedCall)

	// DeleteWebhook hides a webhook and cancels its pending deliveries. The
	// history stays.
	DeleteWebhook(ctx context.Context, accountID, id int64, now time.Time) error
	// DeleteCodePattern ends a pattern. The codes of transactions stay.
	// ErrPatternInUse while a payment request with such a code can be paid.
	DeleteCodePattern(ctx context.Context, accountID, id int64, now time.Time) error
	// CancelPaymentRequest ends a payment request that isn't full; what comes for it all
	// the same comes too late. ErrPaymentIsPaid for one that is full.
	CancelPaymentRequest(ctx context.Context, accountID, id int64, now time.Time) (PaymentRequest, error)
	// PrintReceipt notes that the receipt of a payment request is printed. again says that it
	// was before, within the time for which the audit log is kept.
	PrintReceipt(ctx context.Context, accountID, id int64) (again bool, err error)
	// MatchTransaction matches a transaction with a payment request by hand. ErrNotMoneyIn,
	// ErrMatchedAlready.
	MatchTransaction(ctx context.Context, accountID, requestID, transactionID int64, now time.Time) (PaymentRequest, error)
	// UnmatchTransaction undoes a match, whatever it was found by. ErrNotMatched.
	UnmatchTransaction(ctx context.Context, accountID, requestID, transactionID int64) (PaymentRequest, error)
	// CloseShift ends a shift. ErrShiftClosed where it has ended.
	CloseShift(ctx context.Context, accountID, id int64, now time.Time) (Shift, error)
	// ToggleStream switches a stream off, where it keeps its position, or on, where it
	// goes on from there. Switching on fails with CodePlanExpired.
	ToggleStream(ctx context.Context, accountID, id int64, now time.Time) (Stream, error)
	// DeleteStream ends a stream.
	DeleteStream(ctx context.Context, accountID, id int64, now time.Time) error
	// SettleStream keeps what became of sending. Where somebody moved the position
	// meanwhile, or deleted the stream, it keeps Tried only.
	SettleStream(ctx context.Context, p StreamProgress) error

	// HideGuide sets GuideHidden.
	HideGuide(ctx context.Context, accountID int64, hidden bool) error
	// RemoveAlertChannel ends the channel of a medium. CodeNotFound where there
	// is none.
	RemoveAlertChannel(ctx context.Context, accountID int64, medium AlertMedium) error

	// SetBeat writes the next beat into the file.
	SetBeat(ctx context.Context, now time.Time) error
}
