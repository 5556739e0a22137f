package alert

import (
	"context"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/target"
	"baoco/app/webpush"
)

// Phone is a browser of a user that gets messages about payments, about what needs attention, or
// both, by Web Push. It ends with the user's sessions, and when its push service says that
// it is gone.
type Phone struct {
	ID, AccountID, UserID int64
	Name                  string // of the browser
	Lang                  app.Lang
	PhoneAddress
	CreatedAt time.Time

	Payments      bool // it rings for money in
	BankAccountID int64
	Least         int64 // smallest amount; 0: any
	Amounts       bool  // messages hold amounts and the last digits of the bank account
	Attention     bool  // it rings for what needs attention; of owners only
	// The times of day between which it doesn't ring, such as 22:00 and 06:30, in the zone
	// of the installation; empty: it always rings.
	QuietFrom, QuietTo string

	Conditions []Condition // of Attention, that it knows

	// As its user is now.
	Owner, Cashier bool
	Limited        bool    // to BankAccounts, and where there is one to money to ReceivingNumber
	BankAccounts   []int64 // nil where it isn't limited

	ReceivingNumber string
}

// PhoneAddress is where messages to a phone go, and what they are encrypted with. All but
// Origin is secret.
type PhoneAddress struct {
	Endpoint, P256dh, Auth string
	Origin                 string // of the dashboard in that browser, such as https://shop.vn
}

// OnPhone is the medium of phones in the audit log. It is no medium of a channel.
const OnPhone Medium = "phone"

// MaxPhones is how many phones a user has at most.
const MaxPhones = 5

// ErrNoPhone says that a user has no such phone.
var ErrNoPhone error = app.NotFound("There is no such phone.", "Không có điện thoại này.")

// ErrTooManyPhones says that a user has MaxPhones already.
var ErrTooManyPhones error = app.Refused(app.CodeConflict, app.Textf("You have %d phones already. Remove one first.",
	"Bạn đã có %d điện thoại. Hãy gỡ bớt một máy.", MaxPhones))

// PushKey is the public key by which push services know the account's messages. It is made
// when it is asked for first.
func (s *Service) PushKey(ctx context.Context, accountID int64) (string, error) {
	private, err := s.store.PushKey(ctx, accountID)
	if err != nil {
		return "", err
	}
	return webpush.PublicKey(private)
}

// maxEndpoint is the length of an endpoint in bytes. Those of Apple, Google and Mozilla have
// some 200.
const maxEndpoint = 1000

// AddPhone adds a browser that has subscribed, with the choices of p. Its push service is on
// the public internet, also where webhooks may go elsewhere. One that was added
// before keeps its choices where it is the same user's.
func (s *Service) AddPhone(ctx context.Context, p Phone) (Phone, error) {
	_, err := webpush.ReadBrowser(p.P256dh, p.Auth)
	if err != nil || len(p.Endpoint) > maxEndpoint || !strings.HasPrefix(p.Endpoint, "https://") ||
		new(target.Policy).CheckURL(p.Endpoint) != nil {
		return p, app.Refused(app.CodeValidation, app.Text{
			EN: "The browser gave no address of a push service on the internet. Load the page again.",
			VI: "Trình duyệt không cho địa chỉ dịch vụ thông báo trên internet. Hãy tải lại trang.",
		})
	}
	p.Name = app.CleanText(p.Name, 100)
	return s.store.AddPhone(ctx, p)
}

// ChangePhone changes for what a phone of a user rings, and when.
func (s *Service) ChangePhone(ctx context.Context, p Phone) error {
	var v app.Invalid
	if p.Least < 0 || p.Least > app.MaxAmount {
		v.Add("min_amount", "must be an amount", "phải là một số tiền")
	}
	for field, at := range map[string]string{"quiet_from": p.QuietFrom, "quiet_to": p.QuietTo} {
		if t, err := time.Parse("15:04", at); (err != nil || t.Format("15:04") != at) && p.QuietFrom+p.QuietTo != "" {
			v.Add(field, "must be a time of day such as 21:30", "phải là một giờ trong ngày, ví dụ 21:30")
		}
	}
	if err := v.Err(); err != nil {
		return err
	}
	if p.BankAccountID != 0 {
		banks, err := s.rooms.Ledger.BankAccounts(ctx, p.AccountID)
		if _, err = app.Find(banks, err, func(b app.BankAccount) bool { return b.ID == p.BankAccountID },
			app.ErrUnknownBankAccountID); err != nil {
			return err
		}
	}
	return s.store.ChangePhone(ctx, p)
}

// quiet tells whether the phone doesn't ring at a time of day.
func (p Phone) quiet(now time.Time, zone *time.Location) bool {
	at := now.In(zone).Format("15:04")
	if p.QuietFrom <= p.QuietTo {
		return p.QuietFrom <= at && at < p.QuietTo
	}
	return p.QuietFrom <= at || at < p.QuietTo
}
