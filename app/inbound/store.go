package inbound

import (
	"context"
	"time"

	"baoco/app"
)

// Records are the queries and changes that no rule decides.
type Records interface {
	// Sources lists the sources in use by id.
	Sources(ctx context.Context, accountID int64) ([]Source, error)
	// SourcesHealth lists the sources in use by id, each with its refused calls.
	SourcesHealth(ctx context.Context, accountID int64) ([]SourceHealth, error)
	// SourceByID finds a source in use of any account, from the commit on with
	// which another process made it. ok is false if there is no such source. It
	// authenticates nobody.
	SourceByID(ctx context.Context, id int64) (s Source, ok bool, err error)
	// InboundEvents lists a page of the inbound log without bodies, newest
	// first, and counts the events on all pages. f.SourceID may name a removed
	// source.
	InboundEvents(ctx context.Context, accountID int64, f Filter) (list []Event, total int64, err error)
	// OpenInbound counts the items that need somebody's attention. It counts
	// each state up to most.
	OpenInbound(ctx context.Context, accountID int64, most int) (OpenItems, error)
	// Imports lists a page of the statement files, newest first.
	Imports(ctx context.Context, accountID int64, page app.Page) ([]ImportedFile, error)
	// Undoable returns what UndoImport would remove now.
	Undoable(ctx context.Context, accountID, id int64, now time.Time) (Undoing, error)
	// RemoveSource ends a source: its calls are refused from now on. What it
	// recorded stays.
	RemoveSource(ctx context.Context, accountID, id int64, now time.Time) error
	// NoteRefusedCall keeps a call that was refused, and the last
	// KeptRefusedCalls in all. It doesn't wait for the commit.
	NoteRefusedCall(c RefusedCall)
}

// Store remembers for [Service]. The rules of [app.Records] and [app.Store] for all stores
// hold here too.
type Store interface {
	Records

	// LinkBankAccount fails with CodeAlreadyExists where the pair of bank and
	// number is linked already, CodePlanLimit or CodePlanExpired. The unassigned
	// items of that account are recorded in steps, each a commit of its own.
	LinkBankAccount(ctx context.Context, b app.BankAccount, in BankAccountLink, zone *time.Location, now time.Time) (LinkResult, error)
	// FinishLinks records the rest of the links that LinkBankAccount or
	// LinkInbound made before a time, with the deliveries that were asked for
	// then. It returns the webhooks that got deliveries.
	FinishLinks(ctx context.Context, before time.Time, zone *time.Location, now time.Time) (webhooks []int64, err error)
	// CreateSource fails with CodeAlreadyExists where another source has the same
	// Bearer secret or user name or there are MaxSources, and with CodeValidation
	// for an unknown bank account. If the key was used before, it returns the source
	// that was made then, without its secret.
	CreateSource(ctx context.Context, s Source, newName bool, key app.IdempotencyKey, now time.Time) (Source, error)
	// SourceByToken, SourceByBearer and SourceByUsername find as SourceByID does.
	SourceByToken(ctx context.Context, token string) (s Source, ok bool, err error)
	SourceByBearer(ctx context.Context, hash [32]byte) (s Source, ok bool, err error)
	SourceByUsername(ctx context.Context, username string) (s Source, ok bool, err error)
	// SetSourceSecret changes nothing and returns the source without its secret
	// where the key was used before. CodeAlreadyExists as CreateSource.
	SetSourceSecret(ctx context.Context, accountID, id int64, in SourceRotate, now time.Time) (Source, error)
	// AddSourceSenders adds senders to those of the source's options.
	AddSourceSenders(ctx context.Context, accountID, id int64, senders []string) (Source, error)
	// SetSourceAPIKey also forgets why the list couldn't be read. The list of a
	// source that had no key is read from now on.
	SetSourceAPIKey(ctx context.Context, accountID, id int64, apiKey string, now time.Time) (Source, error)
	// RefusedCalls lists the last refused calls, at most limit, newest first:
	// those of one source, or of all sources of the account where sourceID is 0,
	// and with unnamed also those that named no source.
	RefusedCalls(ctx context.Context, accountID, sourceID int64, unnamed bool, limit int) ([]RefusedCall, error)
	// RecordInbound does all of a call in one commit: the inbound event, its
	// open items, the new transactions, their totals and one pending delivery
	// for each matching webhook. A call with very many elements takes steps of
	// some hundred rows. zone dates the transactions. It returns once the last
	// commit is on disk.
	RecordInbound(ctx context.Context, call Call, zone *time.Location) (Recording, error)
	// RetryInbound records the elements of call, which were read again from the body
	// of event id, and closes the items that no longer have a fault.
	RetryInbound(ctx context.Context, id int64, call Call, zone *time.Location, now time.Time) (Recording, error)
	// DiscardInbound closes the open items of an event, or one of them where
	// itemID isn't 0, and returns how many. CodeValidation where the event has no
	// such item.
	DiscardInbound(ctx context.Context, accountID, id, itemID int64) (int, error)
	// SettleRepeat does what Service.SettleRepeat says.
	SettleRepeat(ctx context.Context, accountID int64, in RepeatSettle, zone *time.Location, now time.Time) (Settled, error)
	// PartReport does what Service.PartReport says.
	PartReport(ctx context.Context, accountID int64, in ReportPart, zone *time.Location, now time.Time) (Settled, error)
	// LinkInbound links in one commit and records in steps, as LinkBankAccount.
	LinkInbound(ctx context.Context, accountID int64, in EventLink, zone *time.Location, now time.Time) (EventLinkResult, error)
	// InboundEventsBefore lists at most f.Page.Size events without bodies,
	// newest first, and returns whether there are more. It counts nothing, so it is
	// quick however long the log is.
	InboundEventsBefore(ctx context.Context, accountID int64, f Filter) (list []Event, more bool, err error)
	// InboundEvent returns the event without its items, and its source, removed
	// or not.
	InboundEvent(ctx context.Context, accountID, id int64) (Event, Source, error)
	// InboundItems lists at most limit items of an event, open ones first.
	InboundItems(ctx context.Context, accountID, eventID int64, limit int) ([]Item, error)
	// InboundBodies returns the bodies of the events by their ids, without those
	// of more than most bytes.
	InboundBodies(ctx context.Context, accountID int64, ids []int64, most int) (map[int64][]byte, error)
	// InboundSources returns sources by their ids, removed or not.
	InboundSources(ctx context.Context, accountID int64, ids []int64) (map[int64]Source, error)
	// KnownEvents returns what each event id is known as, in the order of refs;
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
	RecordPage(ctx context.Context, call Call, progress string, complete bool, zone *time.Location) (Recording, error)
	// NotePollFault keeps why a source's list couldn't be read, and returns
	// whether that is new. A refused key stays until a list is read again:
	// nothing else proves it right. When it is newly refused, the bank accounts
	// that the source serves go to BankAccountError, but not inactive ones.
	NotePollFault(ctx context.Context, sourceID int64, fault PollFault) (isNew bool, err error)
	// UndoImport looks at a bounded number of transactions of an import, those with the
	// lowest ids above at.After, then at its rows that might have been repeats. It removes
	// those that may go, and returns the last id; 0: none was left, and the import counts
	// as undone. A transaction stays if it has, or may get, a delivery to a shop, or if a
	// call or a person named it too: then it was acknowledged. The event ids of removed
	// transactions are free again.
	UndoImport(ctx context.Context, accountID int64, at UndoStep, zone *time.Location, now time.Time) (last int64, err error)
}
