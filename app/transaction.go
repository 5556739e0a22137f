package app

import (
	"context"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"baoco/app/fold"
)

// Direction tells money in from money out.
type Direction string

// The directions.
const (
	In  Direction = "IN"
	Out Direction = "OUT"
)

// MaxContent is the length of a transfer content in characters; longer ones
// are cut, the raw inbound event keeps them.
const MaxContent = 2000

// SameTransferWindow is how far apart two sources may date one transfer.
const SameTransferWindow = 72 * time.Hour

// Transaction is one movement of money, recorded once and for ever, unless it was
// read out of a statement file whose import is taken back.
type Transaction struct {
	ID            int64
	AccountID     int64
	BankAccountID int64
	Bank          string
	AccountNumber string
	Number        string // the bank's code of the transfer; may be empty
	Type          Direction
	Amount        int64 // VND, 1 to MaxAmount
	Content       string
	Time          time.Time // of the transfer, to the second
	DateOnly      bool      // its provider named the day alone: Time is the first moment of it
	DateFlaw      DateFlaw  // not empty: Time is that of receipt
	ZoneOffset    int       // seconds east of UTC when it was recorded: a body is rendered with it for ever
	CreatedAt     time.Time
}

// CleanText makes any bytes a text that can be stored and sent: invalid UTF-8
// becomes U+FFFD, NUL is dropped, what is longer than limit characters is cut.
func CleanText(s string, limit int) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "")
	}
	if len(s) <= limit {
		return s
	}
	n := 0
	for i := range s {
		if n == limit {
			return s[:i]
		}
		n++
	}
	return s
}

// ReadQuery reads what contents and numbers are searched for, as typed, and
// notes where it is longer than any of them.
func ReadQuery(text string, bad *Invalid) string {
	q := CleanText(text, MaxContent+1)
	if utf8.RuneCountInString(q) > MaxContent {
		bad.Add("q", "must be at most 2000 characters", "dài tối đa 2000 ký tự")
	}
	return q
}

// SearchText is what q is looked for in.
func SearchText(content, number string) string {
	return fold.String(content + "\n" + number)
}

// TransactionSort is the order of a listing.
type TransactionSort string

// The orders of a listing of transactions.
const (
	SortIDDesc   TransactionSort = "-id"
	SortID       TransactionSort = "id"
	SortDateDesc TransactionSort = "-date"
	SortDate     TransactionSort = "date"
)

// TransactionFilter narrows a listing; zero values do not.
type TransactionFilter struct {
	BankAccountID int64
	Type          Direction
	From, To      time.Time // from From on, before To
	MinAmount     int64
	MaxAmount     int64
	Query         string        // as typed; compared folded
	DeliveryState DeliveryState // one of [TransactionStates]
	SinceID       *int64        // ids above it, ascending
	UntilID       int64         // ids up to it; what arrives later doesn't shift the pages
	Sort          TransactionSort
	Page          Page
	Sums          bool // those of all pages are asked for
}

// DeliveryUnsent is the state of a transaction without deliveries; no delivery
// has it.
const DeliveryUnsent DeliveryState = "unsent"

// TransactionStates are what a transaction can be told of by its deliveries.
// Cancelled ones are left out, as if they had never been made: the shop has
// deleted their webhook. Each transaction is in the first state that fits, and
// so in exactly one:
//
//   - failed: of some webhook the last delivery failed.
//   - pending: some delivery is still to be attempted.
//   - delivered: of every webhook the last delivery succeeded, and there is one.
//   - unsent: there is none: no webhook matched.
var TransactionStates = []DeliveryState{DeliveryFailed, DeliveryPending, DeliveryDelivered, DeliveryUnsent}

// TransactionPage is a page of a listing, and what is known of all its pages.
type TransactionPage struct {
	Rows  []Transaction
	Total int64 // or [Uncounted]
	Sums  *TransactionSums
	// A listing that needn't be counted to its end looks at so many
	// transactions only, newest first, however few of them it finds. SearchedTo
	// is the last one it looked at, which was recorded at SearchedBack: the
	// listing with an UntilID below it goes on. 0: it looked at all.
	SearchedTo   int64
	SearchedBack time.Time
}

// TransactionSums is money in and money out.
type TransactionSums struct{ In, Out Amounts }

// Transactions lists transactions, and says what is known of all pages.
func (s *Service) Transactions(ctx context.Context, accountID int64, f TransactionFilter) (TransactionPage, error) {
	if f.Sort == "" {
		f.Sort = SortIDDesc
	}
	if f.SinceID != nil {
		f.Sort = SortID
	}
	return s.store.Transactions(ctx, accountID, f)
}

// How far the index of search texts may lag behind, in transactions, since it
// costs a search less to read so many than recording to index each; and how
// many steps follow one another, since they keep recording waiting.
const (
	searchLag   = 1000
	searchSteps = 8
)

// IndexSearch brings the index of search texts nearer to the newest
// transaction. It is for the regular work; searches are complete without it.
func (s *Service) IndexSearch(ctx context.Context) error {
	left, err := s.store.Unindexed(ctx)
	if left < searchLag {
		return err
	}
	for step := 0; err == nil && left > 0 && step < searchSteps; step++ {
		left, err = s.store.IndexSearch(ctx)
	}
	return err
}

// Page is one page of a listing, from 1.
type Page struct {
	Number int64
	Size   int
	// CountTo spares counting every row of a filter whose total isn't kept: if
	// there are more, the total is [Uncounted], and pages beyond so many rows
	// may be empty. 0: all are counted.
	CountTo int64
}

// Uncounted is the total of a listing with more rows than its page counts to.
const Uncounted int64 = math.MaxInt64

// The sizes of a page.
const (
	DefaultPageSize = 20
	MaxPageSize     = 100
)

// LastPage is the number of pages, at least 1.
func (p Page) LastPage(total int64) int64 {
	return max(1, (total+int64(p.Size)-1)/int64(p.Size))
}

// Offset is how many rows come before the page.
func (p Page) Offset() int64 { return (p.Number - 1) * int64(p.Size) }

// ErrNoTransaction says that an id names no transaction.
var ErrNoTransaction error = NotFound("There is no transaction with this id.", "Không có giao dịch với id này.")

// TransactionOrigin is where a transaction comes from.
type TransactionOrigin struct {
	SourceID       int64  // that named it first; 0: by hand or from a file
	SourceName     string // empty for the same
	Provider       Provider
	Channel        Channel
	InboundEventID int64 // 0: there was none, or it was pruned
	// Merged are the names under which others told of the same transfer.
	Merged []EventName
}

// EventName is a name that a source gave a transaction on a channel.
type EventName struct {
	SourceID   int64
	SourceName string
	Channel    Channel
	EventID    string
}

// MaxMerged is how many names of a transaction a TransactionOrigin has at most.
const MaxMerged = 100

// exportPage is how many transactions an export reads at a time, and
// exportSpan how many ids it looks at for them: each read ends within
// milliseconds, however few of the ids the filter leaves.
const (
	exportPage = 1000
	exportSpan = 20_000
)

// IDRange is a stretch of ids, both ends included.
type IDRange struct{ First, Last int64 }

// ExportTransactions hands out every transaction of a filter, oldest id first,
// some at a time: those that exist when it begins. Sort and Page of the filter
// don't count. Nothing of the storage is held while take runs, however long
// that takes; its error ends the export.
func (s *Service) ExportTransactions(ctx context.Context, accountID int64, f TransactionFilter, take func([]Transaction) error) error {
	ids, err := s.store.IDsOf(ctx, accountID, f)
	for err == nil && ids.First <= ids.Last {
		var list []Transaction
		span := IDRange{ids.First, min(ids.Last, ids.First+exportSpan-1)}
		if list, err = s.store.TransactionsIn(ctx, accountID, f, span, exportPage); err != nil {
			return err
		}
		ids.First = span.Last + 1
		if len(list) == exportPage {
			ids.First = list[len(list)-1].ID + 1
		}
		if len(list) > 0 {
			err = take(list)
		}
	}
	return err
}
