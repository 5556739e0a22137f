package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"baoco/app"
	"baoco/app/password"
)

// Role decides what a user of the dashboard may do.
type Role string

// The roles. The table of package dashboard says which pages each of them sees.
const (
	RoleOwner      Role = "owner"      // everything
	RoleAccountant Role = "accountant" // reads and exports the money
	RoleDeveloper  Role = "developer"  // what comes in and goes out, without sums
	RoleCashier    Role = "cashier"    // the counter, and the money that came in today
)

// Roles are all roles, from the one that may do most.
var Roles = []Role{RoleOwner, RoleAccountant, RoleDeveloper, RoleCashier}

// Name is what people call the role.
func (r Role) Name() app.Text {
	switch r {
	case RoleOwner:
		return app.Text{EN: "Owner", VI: "Chủ cửa hàng"}
	case RoleAccountant:
		return app.Text{EN: "Accountant", VI: "Kế toán"}
	case RoleDeveloper:
		return app.Text{EN: "Developer", VI: "Lập trình viên"}
	}
	return app.Text{EN: "Cashier", VI: "Thu ngân"}
}

// User is a person who signs in to the dashboard of an account.
type User struct {
	ID           int64
	AccountID    int64
	Name         string // unique in the file
	Role         Role
	CreatedAt    time.Time
	LastSignInAt time.Time // zero: never
	// Generation is in every session of the user; a new one ends them all. It
	// is random, so that no other user ever has the same.
	Generation int64

	Limit BankAccountLimit

	SecondFactor bool // a code or a passkey is asked for after the password
	MustEnrol    bool // the account demands a second factor, and the user has none
}

// The length of a password in characters. The least is that of NIST SP 800-63B
// for a password without a second factor. The most limits the work of a
// sign-in.
const (
	minPassword = 10
	maxPassword = 200
)

// MaxUserName is how many bytes a name has at most, all of them ASCII.
const MaxUserName = 50

// UserCreate is a request to add a user.
type UserCreate struct {
	Name, Password string
	Role           Role
	Key            app.IdempotencyKey // ErrFormUsed where it was used before
}

// CreateUser adds a user to an account.
func (s *Service) CreateUser(ctx context.Context, accountID int64, in UserCreate, now time.Time) (User, error) {
	if err := in.check(); err != nil {
		return User{}, err
	}
	hash, err := hashPassword(ctx, in.Password)
	if err != nil {
		return User{}, err
	}
	return s.store.CreateUser(ctx, in.user(accountID, now), hash, in.Key)
}

func (in UserCreate) user(accountID int64, now time.Time) User {
	return User{AccountID: accountID, Name: in.Name, Role: in.Role, CreatedAt: now}
}

func (in UserCreate) check() error {
	var v app.Invalid
	v.Merge(checkUserName(in.Name))
	v.Merge(checkPassword(in.Password))
	v.Merge(checkRole(in.Role))
	return v.Err()
}

// ReadRole reads the name of a role. Cashiers were called viewers before.
func ReadRole(text string) Role {
	if text == "viewer" {
		return RoleCashier
	}
	return Role(text)
}

func checkRole(role Role) error {
	if !slices.Contains(Roles, role) {
		return app.InvalidField("role", "must be owner, accountant, developer or cashier", "phải là owner, accountant, developer hoặc cashier")
	}
	return nil
}

// GeneratePassword makes a password that can be dictated and typed: 20
// lower-case letters and digits, 100 bits.
func GeneratePassword() string { return strings.ToLower(rand.Text()[:20]) }

// checkUserName allows only names that nobody can mistake for another.
func checkUserName(name string) error {
	ok := name != "" && len(name) <= MaxUserName
	for i := range len(name) {
		c := name[i]
		ok = ok && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-' || c == '@')
	}
	if !ok {
		return app.InvalidField("name", "must be 1 to 50 lower-case letters, digits and . _ - @",
			"phải gồm 1 đến 50 chữ thường không dấu, chữ số và . _ - @")
	}
	return nil
}

func checkPassword(secret string) error {
	if n := utf8.RuneCountInString(secret); n < minPassword || n > maxPassword || !utf8.ValidString(secret) {
		return app.InvalidField("password", "must be 10 to 200 characters", "phải có từ 10 đến 200 ký tự")
	}
	return nil
}

// SetUpTime is how long a set-up link is valid.
const SetUpTime = 30 * time.Minute

// OpenSetUp makes the token of the link with which the first user is created,
// in place of an earlier token. It is empty where there is a user already.
func (s *Service) OpenSetUp(ctx context.Context, now time.Time) (token string, err error) {
	token = app.RandomToken()
	ok, err := s.store.SetUp(ctx, sha256.Sum256([]byte(token)), now.Add(SetUpTime))
	if !ok {
		token = ""
	}
	return token, err
}

// SetUpOpen reports whether a set-up token is valid.
func (s *Service) SetUpOpen(ctx context.Context, token string, now time.Time) (bool, error) {
	return s.store.SetUpOpen(ctx, sha256.Sum256([]byte(token)), now)
}

// SetUp creates the first user, the owner of account 1, and ends the token.
// CodeForbidden where the token isn't valid.
func (s *Service) SetUp(ctx context.Context, token, name, secret string, now time.Time) (User, error) {
	in := UserCreate{Name: name, Password: secret, Role: RoleOwner}
	if err := in.check(); err != nil {
		return User{}, err
	}
	// Without a valid token, spare the work of a hash.
	if open, err := s.SetUpOpen(ctx, token, now); err != nil || !open {
		if err == nil {
			err = ErrSetUpEnded
		}
		return User{}, err
	}
	hash, err := hashPassword(ctx, secret)
	if err != nil {
		return User{}, err
	}
	u, err := s.store.CreateFirstUser(ctx, in.user(app.DefaultAccountID, now), hash, sha256.Sum256([]byte(token)), now)
	if err == nil {
		err = s.store.NoteSignIn(ctx, u, now)
	}
	return u, err
}

// ErrSetUpEnded refuses a set-up link that was used or is too old.
var ErrSetUpEnded error = app.Refused(app.CodeForbidden, app.Text{
	EN: "This setup link has been used or is older than 30 minutes. If there is a user already, sign in; otherwise run for a new one: " +
		"baoco user set-up",
	VI: "Đường dẫn thiết lập này đã được dùng hoặc đã quá 30 phút. Nếu đã có người dùng, hãy đăng nhập; " +
		"nếu chưa, hãy chạy lệnh này để có đường dẫn mới: baoco user set-up",
})

// SignIn checks a name and a password. Whoever has a second factor is not signed in
// before CheckCode. known says that they come from a device
// of this user. CodeUnauthorized doesn't say which was wrong, and takes the
// same time for both. CodeRateLimited where too many strangers wait.
func (s *Service) SignIn(ctx context.Context, name, secret string, known bool, now time.Time) (User, error) {
	if utf8.RuneCountInString(secret) > maxPassword {
		return User{}, ErrSignIn
	}
	u, hash, ok, err := s.store.UserByName(ctx, name)
	if err != nil {
		return User{}, err
	}
	matches := password.MatchesStranger
	if known {
		matches = password.Matches
	}
	right, err := matches(ctx, hash, secret)
	if err != nil {
		return User{}, busy(err)
	}
	if !right || !ok {
		if ok {
			s.store.NoteRefusedSignIn(ctx, u)
		}
		return User{}, ErrSignIn
	}
	if u.SecondFactor {
		return u, nil
	}
	return u, s.store.NoteSignIn(ctx, u, now)
}

// ErrSignIn says that a name and a password are not those of a user.
var ErrSignIn error = app.Refused(app.CodeUnauthorized,
	app.Text{EN: "The username or password is incorrect.", VI: "Tên đăng nhập hoặc mật khẩu không đúng."})

func hashPassword(ctx context.Context, secret string) (string, error) {
	hash, err := password.Hash(ctx, secret)
	return hash, busy(err)
}

// busy is the refusal of somebody for whom the queue of passwords was too long;
// nil for a nil err.
func busy(err error) error {
	if err == nil {
		return nil
	}
	return app.Refused(app.CodeRateLimited, app.Text{
		EN: "Too many people are signing in at this moment. Try again in a few seconds.",
		VI: "Đang có quá nhiều người đăng nhập cùng lúc. Hãy thử lại sau vài giây.",
	})
}

// SetPassword changes a user's password, ends their sessions, and gives the
// user with the new generation. ErrFormUsed where key was used before.
func (s *Service) SetPassword(ctx context.Context, u User, secret string, key app.IdempotencyKey, now time.Time) (User, error) {
	if err := checkPassword(secret); err != nil {
		return User{}, err
	}
	hash, err := hashPassword(ctx, secret)
	if err != nil {
		return User{}, err
	}
	return s.store.SetPassword(ctx, u, hash, key, now)
}

// ChangePassword is SetPassword for a user who enters the present password.
func (s *Service) ChangePassword(ctx context.Context, u User, present, secret string, now time.Time) (User, error) {
	if err := s.CheckPresent(ctx, u, present); err != nil {
		return User{}, err
	}
	return s.SetPassword(ctx, u, secret, app.IdempotencyKey{}, now)
}

// SetRole changes what a user may do, and ends their sessions. CodeConflict for
// the last owner.
func (s *Service) SetRole(ctx context.Context, accountID, id int64, role Role) (User, error) {
	if err := checkRole(role); err != nil {
		return User{}, err
	}
	return s.store.SetRole(ctx, accountID, id, role)
}

// BankAccountLimit is which bank accounts a user sees; zero: all. IDs are ascending.
// Those of bank accounts that were unlinked since stay, and so does a receiving number that is
// no longer entered: nobody sees more because something was removed.
type BankAccountLimit struct {
	On              bool
	IDs             []int64
	ReceivingNumber string // the only one of the one bank account whose money is shown; empty: all money
}

// Equal tells whether two limits show the same.
func (l BankAccountLimit) Equal(other BankAccountLimit) bool {
	return l.On == other.On && slices.Equal(l.IDs, other.IDs) && l.ReceivingNumber == other.ReceivingNumber
}

// CanBeLimited tells whether users with a role can be limited to some bank accounts.
// Owners do everything. What developers see, such as the calls of providers, what was
// sent and the keys of the API, can't be cut by bank account.
func (r Role) CanBeLimited() bool { return r == RoleAccountant || r == RoleCashier }

// ErrNotLimited refuses to limit a user whose role sees what can't be cut.
var ErrNotLimited error = app.Conflict(
	"Only accountants and cashiers can be limited to some bank accounts. Owners do everything, and developers see what providers send and "+
		"what the shop gets.",
	"Chỉ giới hạn được kế toán và thu ngân theo tài khoản ngân hàng. Chủ cửa hàng làm được mọi việc, còn lập trình viên xem được dữ liệu "+
		"nhà cung cấp gửi đến và dữ liệu gửi cho cửa hàng.")

// ErrStillLimited refuses a role that can't be limited to a user who is.
var ErrStillLimited error = app.Conflict(
	"This user is limited to some bank accounts, and this role sees all of them. Let the user see all bank accounts first.",
	"Người này đang bị giới hạn theo tài khoản ngân hàng, mà vai trò này xem được mọi tài khoản. Hãy cho người này xem tất cả tài khoản "+
		"trước.")

type limitKey struct{}

// SeeingOnly gives a context in which the storage reads what a limit shows. The
// methods of Reader and Store that read bank accounts, transactions and sums ask it:
// what it doesn't show isn't there for them. The limit travels in the context so that
// no query on the way of a page can be without it.
func SeeingOnly(ctx context.Context, l BankAccountLimit) context.Context {
	return context.WithValue(ctx, limitKey{}, l)
}

// LimitOf is the limit of a context. Where none was named all is shown.
func LimitOf(ctx context.Context) BankAccountLimit {
	l, _ := ctx.Value(limitKey{}).(BankAccountLimit)
	return l
}

// ErrLastOwner refuses to leave an account without an owner.
var ErrLastOwner error = app.Conflict("This is the last owner. Make another user an owner first.",
	"Đây là chủ cửa hàng cuối cùng. Hãy chuyển một người dùng khác thành chủ cửa hàng trước.")

// ErrNoUser says that an id names no user.
var ErrNoUser error = app.NotFound("There is no user with this id.", "Không có người dùng với id này.")
