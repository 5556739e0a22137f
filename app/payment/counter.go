package payment

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"baoco/app"
)

// CounterLink opens the counter screen on a tablet where nobody signs in. The
// screen shows the money in of the last 24 hours, and nothing else. The token
// is shown once; the store has its SHA-256 only.
type CounterLink struct {
	ID            int64
	AccountID     int64
	Name          string // the name of the counter, such as Quầy 1
	BankAccountID int64  // 0: all bank accounts
	// ReceivingNumber is the only receiving number whose money is shown; empty: all money. The
	// context of all reads for the link is limited to it.
	ReceivingNumber string
	ShowsTotal      bool // shows the total of today
	CreatedAt       time.Time
	RevokedAt       time.Time // zero: in force
}

// Path is the path of the counter screen.
func (CounterLink) Path(token string) string { return "/counter/" + token }

// counterWindow is how far back a counter sees, by the time of the transfer.
const counterWindow = 24 * time.Hour

// CounterRows is how many transactions a counter shows.
const CounterRows = 20

// MaxCounterLinks is how many links of an account may be in force at a time.
const MaxCounterLinks = 100

// CounterLinkCreate is a request to create a link.
type CounterLinkCreate struct {
	Name            string
	BankAccountID   int64  // 0: all, or the one of the receiving number
	ReceivingNumber string // empty: all
	ShowsTotal      bool
	NewName         bool               // ErrSameName if a link in force has the name
	Key             app.IdempotencyKey // ErrFormUsed if it was used before
}

// CreateCounterLink makes a link and returns its token, which is never shown again.
func (s *Service) CreateCounterLink(ctx context.Context, accountID int64, in CounterLinkCreate,
	now time.Time) (CounterLink, string, error) {
	name, err := app.CleanName("name", in.Name)
	if err != nil {
		return CounterLink{}, "", err
	}
	token := app.RandomToken()
	l, err := s.store.CreateCounterLink(ctx, CounterLink{
		AccountID: accountID, Name: name, BankAccountID: in.BankAccountID,
		ReceivingNumber: app.NormalizeAccountNumber(in.ReceivingNumber), ShowsTotal: in.ShowsTotal, CreatedAt: now,
	}, sha256.Sum256([]byte(token)), in.NewName, in.Key)
	return l, token, err
}

// CounterLink finds the link of a token. CodeNotFound doesn't show whether the link ever
// existed.
func (s *Service) CounterLink(ctx context.Context, token string) (CounterLink, error) {
	l, ok, err := s.store.CounterLinkByHash(ctx, sha256.Sum256([]byte(token)))
	if err == nil && !ok {
		err = app.NotFound("This link no longer works. Ask the shop owner for a new one.",
			"Đường dẫn này không còn dùng được. Hãy xin chủ cửa hàng đường dẫn mới.")
	}
	return l, err
}

// ErrNoCounterLink says that an id names no counter link.
var ErrNoCounterLink error = app.NotFound("There is no counter link with this id.", "Không có đường dẫn màn hình quầy với id này.")

// CounterScreen lists the money in of the last 24 hours that a counter shows, newest
// first by [app.Transaction.KnownAt], and returns the id of the transaction that was recorded
// last; 0: none. A statement brings old transfers after new ones, and a transfer without a
// time of day has its day's first second: so CounterScreen reads the last ones in the order
// of recording, more than it shows, and those in the order of time.
func (s *Service) CounterScreen(ctx context.Context, l CounterLink, now time.Time) (rows []app.Transaction, last int64, err error) {
	f := l.moneyIn(now)
	f.Page.Size = 10 * CounterRows
	recorded, err := s.ledger.Transactions(ctx, l.AccountID, f)
	if err != nil || len(recorded.Rows) == 0 {
		return nil, 0, err
	}
	last = recorded.Rows[0].ID
	f.Sort, f.UntilID, f.Page.Size = app.SortDateDesc, last, CounterRows
	happened, err := s.ledger.Transactions(ctx, l.AccountID, f)
	if err != nil {
		return nil, 0, err
	}
	rows = slices.Concat(recorded.Rows, happened.Rows)
	slices.SortFunc(rows, func(a, b app.Transaction) int {
		return cmp.Or(b.KnownAt().Compare(a.KnownAt()), cmp.Compare(b.ID, a.ID))
	})
	rows = slices.CompactFunc(rows, func(a, b app.Transaction) bool { return a.ID == b.ID })
	return rows[:min(len(rows), CounterRows)], last, nil
}

// CounterTransactions lists the money in of a counter that was recorded after the transaction
// with the id since, oldest first.
func (s *Service) CounterTransactions(ctx context.Context, l CounterLink, since int64, now time.Time) ([]app.Transaction, error) {
	f := l.moneyIn(now)
	f.SinceID = &since
	page, err := s.ledger.Transactions(ctx, l.AccountID, f)
	return page.Rows, err
}

// CounterMatches lists the money of a counter that was matched by hand in the last 24 hours,
// in the order in which it was matched.
func (s *Service) CounterMatches(ctx context.Context, l CounterLink, now time.Time) ([]Transfer, error) {
	return s.store.MatchedByHand(ctx, l.AccountID, l.BankAccountID, now.Add(-counterWindow))
}

func (l CounterLink) moneyIn(now time.Time) app.TransactionFilter {
	return app.TransactionFilter{BankAccountID: l.BankAccountID, Type: app.In, From: now.Add(-counterWindow),
		Page: app.Page{Number: 1, Size: CounterRows}}
}

// CounterTotal returns the money in of today of a counter.
func (s *Service) CounterTotal(ctx context.Context, l CounterLink, now time.Time) (total app.Amounts, err error) {
	today := app.DayOf(now, s.zone)
	rows, err := s.ledger.Days(ctx, l.AccountID, l.BankAccountID, today, today)
	for _, row := range rows {
		if row.Type == app.In {
			total = row.Amounts
		}
	}
	return total, err
}
