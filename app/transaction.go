package app

import (
	"cmp"
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

// Transaction is one movement of money. It stays for ever, unless it came from
// a statement file whose import is undone.
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
	DateOnly      bool      // the provider named only the day; Time is its first moment
	DateFlaw      DateFlaw  // not empty: Time is the time of receipt
	ZoneOffset    int       // seconds east of UTC when it was recorded; deliveries write Time with it for ever
	Code          PaymentCode
	PaymentSent   PaymentState // as deliveries say it: after this transfer; never changes
	CreatedAt     time.Time

	ReceivingNumber string // of its bank account, to which the payer transferred; empty: none was named

	Revenue     string // of money in: a book.Kind; empty: nobody has made a mark or a rule; not in what is delivered
	RevenueNote string

	PaymentRequest PaymentState // with which it is matched, as it is now; not in what is delivered
	// What people gave it and its bank account; not in what is delivered.
	Note string
	BankAccountLabel
}

// KnownAt is when a transaction happened, or when it was recorded where only its day is
// known.
func (t Transaction) KnownAt() time.Time {
	if t.DateOnly {
		return t.CreatedAt
	}
	return t.Time
}

// Payment is the state of the request that the transaction is for: after this transfer, or,
// where they were matched later, as it is now.
func (t Transaction) Payment() PaymentState {
	if t.PaymentSent.ID == t.PaymentRequest.ID {
		return t.PaymentSent
	}
	return t.PaymentRequest
}

// maxNote is the length of a note in characters.
const maxNote = 500

// Note is what somebody wrote about a transaction.
type Note struct {
	Text      string // empty: there is none
	ChangedAt time.Time
	ChangedBy string // name of the user; empty: the command line
}

// cleanNote brings a note into the form in which notes are compared and kept.
func cleanNote(text string) string {
	return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
}

// SetNote writes the note of a transaction, or removes it where the text is empty.
// seen is the note that its writer had before them: where it is another now,
// SetNote changes nothing and fails with CodeConflict.
func (s *Service) SetNote(ctx context.Context, accountID, transactionID int64, seen string, note Note) error {
	var ok bool
	if note.Text, ok = ReadText(cleanNote(note.Text), maxNote, "\n\t"); !ok {
		return InvalidField("note", "must be at most 500 characters without control characters",
			"dài tối đa 500 ký tự, không chứa ký tự điều khiển")
	}
	return s.store.SetNote(ctx, accountID, transactionID, func(present Note) error {
		if present.Text == cleanNote(seen) || present.Text == note.Text {
			return nil
		}
		by := cmp.Or(present.ChangedBy, "baoco")
		return Refused(CodeConflict, Textf(
			"%s changed this note in the meantime. It is now: “%s”. Yours below is not saved yet; save again to replace it.",
			"%s vừa sửa ghi chú này. Ghi chú hiện tại: “%s”. Nội dung bạn nhập bên dưới chưa được lưu; bấm lưu lần nữa nếu muốn thay thế.",
			Isolated(by), Isolated(present.Text)))
	}, note)
}

// CleanText makes a text that can be stored and sent: invalid UTF-8 becomes
// U+FFFD, NUL is dropped, and the text is cut after limit characters.
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

// ReadQuery reads a typed search text. bad notes one that is longer than any
// content, and one of which nothing is left to search for, such as a NUL: it
// would find everything.
func ReadQuery(text string, bad *Invalid) string {
	q := CleanText(text, MaxContent+1)
	if utf8.RuneCountInString(q) > MaxContent {
		bad.Add("q", "must be at most 2000 characters", "dài tối đa 2000 ký tự")
	}
	if text != "" && fold.String(q) == "" {
		bad.Add("q", "must have a character that can be searched for", "phải có ký tự tìm được")
	}
	return q
}

// SearchMeaning is what a search text may mean besides a part of a content or of
// a transaction number.
type SearchMeaning struct {
	Amount       int64         // 0: the text is no amount
	Code         string        // empty: the text is no payment code
	BankAccounts []BankAccount // whose numbers end in the text, or whose nicknames begin with it
}

// Any tells whether the text may mean anything else.
func (m SearchMeaning) Any() bool {
	return m.Amount != 0 || m.Code != "" || len(m.BankAccounts) > 0
}

// leastEnd is how many characters of the end of an account number, or of a nickname, a
// search text has at least. Screens show as many of a number.
const leastEnd = 4

// MeaningOf finds out what else a search text may mean: an amount, perhaps with
// a sign, a payment code as the account has them, the end of the number of one of
// these bank accounts, perhaps with marks before it for what is left out, or the
// beginning of its nickname.
func MeaningOf(query string, accounts []BankAccount, codes CodeReader) (m SearchMeaning) {
	query = strings.TrimSpace(query)
	if n, err := ReadShortAmount(strings.TrimLeft(query, "+-−")); err == nil {
		m.Amount = n
	}
	m.Code = codes.Read(query).Text
	end := strings.ToUpper(strings.TrimLeft(query, "·•.…*xX "))
	if len(end) < leastEnd {
		return m
	}
	name := fold.String(query)
	for _, b := range accounts {
		if strings.HasSuffix(strings.ToUpper(b.AccountNumber), end) || strings.HasPrefix(fold.String(b.Nickname), name) {
			m.BankAccounts = append(m.BankAccounts, b)
		}
	}
	return m
}

// SearchText is the folded text in which searches look.
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
	BankAccountID   int64
	Among           []int64 // bank accounts; nil: all. The storage fills it in from the context's limit
	ReceivingNumber string  // empty: all. The storage fills it in from the context's limit
	Type            Direction
	From, To        time.Time // from From on, before To
	MinAmount       int64
	MaxAmount       int64
	Code            string        // payment code, see [ReadCode]
	Query           string        // as typed; compared folded
	Or              SearchMeaning // with Query: a transaction that has this amount or code, or is of one of these bank accounts, fits too
	DeliveryState   DeliveryState // one of [TransactionStates]
	Revenue         *bool         // money in that is revenue, or that isn't
	SinceID         *int64        // ids above it, ascending
	UntilID         int64         // only ids up to it, so that new ones don't shift the pages
	Sort            TransactionSort
	Page            Page
	Sums            bool // asks for the sums of all pages
}

// DeliveryUnsent is the state of a transaction without deliveries. No delivery
// has this state.
const DeliveryUnsent DeliveryState = "unsent"

// TransactionStates are the states of a transaction by its deliveries. Cancelled
// deliveries don't count, since the shop deleted their webhook. A transaction is
// in the first state of this list that fits:
//
//   - failed: the last delivery to some webhook failed.
//   - pending: some delivery is still to be attempted.
//   - delivered: the last delivery to every webhook succeeded.
//   - unsent: there is no delivery, because no webhook matched.
var TransactionStates = []DeliveryState{DeliveryFailed, DeliveryPending, DeliveryDelivered, DeliveryUnsent}

// TransactionPage is a page of a listing, with what is known about all pages.
type TransactionPage struct {
	Rows  []Transaction
	Total int64 // or [Uncounted]
	Sums  *Flow // of all pages, if the filter asks for them; nil where Total is [Uncounted]
}

// Transactions is Store.Transactions, by default newest first, with SinceID
// oldest first.
func (s *Service) Transactions(ctx context.Context, accountID int64, f TransactionFilter) (TransactionPage, error) {
	f.Sort = cmp.Or(f.Sort, SortIDDesc)
	if f.SinceID != nil {
		f.Sort = SortID
	}
	return s.store.Transactions(ctx, accountID, f)
}

// searchLag is how many transactions the index of search texts may lag behind:
// to read so many costs a search less than recording would cost to index each.
// searchSteps is how many steps follow one another, since recording waits for
// them. Where the index lags farBehind, as during an import, there are farSteps: they
// keep up with whatever is recorded.
const (
	searchLag   = 1000
	searchSteps = 8
	farBehind   = 10_000
	farSteps    = 40
)

// IndexSearch updates the index of search texts. It is part of the regular
// work; searches are complete without it.
func (s *Service) IndexSearch(ctx context.Context) error {
	left, err := s.store.Unindexed(ctx)
	if left < searchLag {
		return err
	}
	steps := searchSteps
	if left >= farBehind {
		steps = farSteps
	}
	for step := 0; err == nil && left > 0 && step < steps; step++ {
		left, err = s.store.IndexSearch(ctx)
	}
	return err
}

// Page is one page of a listing, from 1.
type Page struct {
	Number int64
	Size   int
	// CountTo limits the counting of a filter whose total isn't stored. If
	// there are more rows, the total is [Uncounted], and later pages may be
	// empty. 0: all rows are counted.
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
	SourceID       int64  // the first source that named it; 0: by hand or from a file
	SourceName     string // empty without a source
	Provider       Provider
	Channel        Channel
	InboundEventID int64 // 0: there was none, or it was pruned
	// Merged are the names under which others reported the same transfer.
	Merged []EventName
}

// EventName is the event id that a source gave a transaction on a channel, and what it said.
type EventName struct {
	SourceID   int64
	SourceName string
	Channel    Channel
	EventID    string

	Number, Content string
	Time            time.Time
	DateOnly        bool
	Balance         int64 // of the bank account after the transaction, in VND; 0: it said none
}

// MaxMerged is how many names of a transaction a TransactionOrigin has at most.
const MaxMerged = 100

// exportPage is how many transactions an export looks at at a time: each read ends within
// milliseconds, however few of them match.
const exportPage = 1000

// ExportPlace is how far an export is: up to a transaction, in the order of their times. Newest is
// the id of the last one that belongs to it. The zero value is the beginning.
type ExportPlace struct {
	Time       time.Time
	ID, Newest int64
}

// ExportTransactions passes every transaction of a filter to take, in the order of their times and
// then of their ids, some at a time: those that exist when the export begins. It ignores Sort
// and Page of the filter. It holds nothing of the storage while take runs,
// however long that is. An error of take ends the export.
func (s *Service) ExportTransactions(ctx context.Context, accountID int64, f TransactionFilter, take func([]Transaction) error) error {
	if err := s.Audit(ctx, accountID, DeedTransactionExport, 0, s.auditPeriod(f.From, f.To)); err != nil {
		return err
	}
	for place, more := (ExportPlace{}), true; more; {
		list, next, err := s.store.TransactionsAfter(ctx, accountID, f, place, exportPage)
		if err == nil && len(list) > 0 {
			err = take(list)
		}
		if err != nil {
			return err
		}
		place, more = next, next != place
	}
	return nil
}
