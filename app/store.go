package app

import (
	"context"
	"time"
)

// Records are the queries and changes that no rule decides, so [Service] embeds them. This
// comment holds for the records and the store of every room.
//
// A method that takes accountID sees only the rows of that account. For an id that
// isn't there the error is CodeNotFound, for such an id in a filter CodeValidation,
// unless the method says otherwise. Rows that the context's limit hides aren't there
// ([SeeingOnly]). Amounts are in VND.
//
// A method fails with an [*Error] where the caller is at fault, with
// CodeUnavailable where storage fails and trying again may help, and with any
// other error where it doesn't.
type Records interface {
	// Account finds one account.
	Account(ctx context.Context, id int64) (Account, error)
	// Accounts lists all accounts by id.
	Accounts(ctx context.Context) ([]Account, error)
	// AccountStatus returns an account's plan and how much of it is in use.
	AccountStatus(ctx context.Context, accountID int64) (AccountStatus, error)
	// BankAccounts lists the linked bank accounts by id.
	BankAccounts(ctx context.Context, accountID int64) ([]BankAccount, error)
	// Balances returns the last balance of each bank account up to the end of a
	// day, by the ids. A bank account without one isn't in it.
	Balances(ctx context.Context, accountID int64, until Day) (map[int64]Balance, error)
	// Transaction finds one transaction.
	Transaction(ctx context.Context, accountID, id int64) (Transaction, error)
	// TransactionOrigin says where a transaction comes from.
	TransactionOrigin(ctx context.Context, accountID, transactionID int64) (TransactionOrigin, error)
	// Note returns the note of a transaction; the zero Note if it has none.
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
	// CodePatterns lists the code patterns of an account by id.
	CodePatterns(ctx context.Context, accountID int64) ([]CodePattern, error)
	// AuditLines lists the last lines of the audit log, newest first, at most limit.
	AuditLines(ctx context.Context, accountID int64, f AuditFilter, limit int) ([]AuditLine, error)
	// Audit writes a line of the audit log about a deed that changes nothing else in the
	// file, such as an export.
	Audit(ctx context.Context, accountID int64, deed Deed, id int64, d AuditDetail) error
	// ToggleBankAccount switches a bank account off where it is active, else on.
	// Switching on fails with CodePlanExpired or CodePlanLimit.
	ToggleBankAccount(ctx context.Context, accountID, id int64, now time.Time) (BankAccount, error)
	// UnlinkBankAccount takes a bank account out of the account. Its
	// transactions and totals stay; new transactions for it are unassigned. To
	// link it again brings the same bank account back.
	UnlinkBankAccount(ctx context.Context, accountID, id int64, now time.Time) error
	// DeleteCodePattern ends a pattern. The codes of transactions stay. It fails with
	// ErrPatternInUse while a payment request with such a code can be paid.
	DeleteCodePattern(ctx context.Context, accountID, id int64, now time.Time) error
}

// Store remembers, for the use cases of [Service]. Package sqlitestore implements it, over
// one file. A function that is passed runs inside a transaction, perhaps more than once: it
// must have no effects.
type Store interface {
	Records

	// CreateAccount inserts a and returns it with its id.
	CreateAccount(ctx context.Context, a Account) (Account, error)
	// UpdateAccount changes the fields that aren't nil in u, and returns the account after it.
	UpdateAccount(ctx context.Context, id int64, u AccountUpdate) (Account, error)
	// SetBankAccountLabel changes a linked bank account.
	SetBankAccountLabel(ctx context.Context, accountID, id int64, label BankAccountLabel) error
	// SetAccountName changes a linked bank account, and returns it.
	SetAccountName(ctx context.Context, accountID, id int64, name string) (BankAccount, error)
	// SetBankAccountReceiving changes a linked bank account, and returns it.
	SetBankAccountReceiving(ctx context.Context, accountID, id int64, r BankAccountReceiving) (BankAccount, error)
	// BankAccountSummaries lists the linked bank accounts by id with the sums of
	// all time and of the day, week and month of today, without balances.
	BankAccountSummaries(ctx context.Context, accountID int64, today Day) ([]BankAccountSummary, error)
	// FirstDay is the first day with a transaction, or the argument otherwise.
	FirstDay(ctx context.Context, accountID int64, otherwise Day) (Day, error)
	// BankAccountDays lists the bank accounts that had transactions on a day, by
	// id, without balances.
	BankAccountDays(ctx context.Context, accountID int64, day Day) ([]BankAccountDay, error)
	// HoursBetween adds up the transactions from an instant on and before another
	// by whole hours since the first. It reads each of them.
	HoursBetween(ctx context.Context, accountID int64, from, to time.Time) ([]HourRow, error)
	// Transactions lists a page.
	Transactions(ctx context.Context, accountID int64, f TransactionFilter) (TransactionPage, error)
	// SetNote writes a note, or removes it where its text is empty, if check
	// agrees with the present one.
	SetNote(ctx context.Context, accountID, transactionID int64, check func(present Note) error, note Note) error
	// IndexSearch adds one small step to the index of search texts. left is 0
	// once it holds all transactions.
	IndexSearch(ctx context.Context) (left int64, err error)
	// Unindexed counts the transactions that the index of search texts doesn't
	// hold, up to some thousands.
	Unindexed(ctx context.Context) (int64, error)
	// TransactionsAfter looks at the next transactions after a place, at most some, and lists those that
	// meet a filter. next is the place after them; it is after if there are none.
	TransactionsAfter(ctx context.Context, accountID int64, f TransactionFilter, after ExportPlace, some int) (
		list []Transaction, next ExportPlace, _ error)
	// CreateCodePattern inserts p and returns it with its id. It fails with
	// ErrSamePrefix, ErrTooManyCodePatterns or CodePlanExpired.
	CreateCodePattern(ctx context.Context, p CodePattern) (CodePattern, error)
}
