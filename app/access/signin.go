package access

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"baoco/app"
	"baoco/app/passkey"
	"baoco/app/password"
	"baoco/app/secondfactor"
)

// Session is a browser in which a user is signed in, or halfway: the password was
// right, and the second factor is still asked for.
type Session struct {
	ID         int64
	UserID     int64 // 0: nobody is signed in
	Generation int64 // of the user; the session has ended where the user has another
	Halfway    bool
	Agent      string // User-Agent of the browser
	Address    string // of the last request
	StartedAt  time.Time
	SeenAt     time.Time // about the last request
	EndAt      time.Time
	This       bool // it is the one in which the list is read
}

// SeenInterval is how exact SeenAt is.
const SeenInterval = time.Minute

// MaxAgent is how many bytes of a User-Agent are kept.
const MaxAgent = 300

// ErrNoSession says that an id names no session of the user.
var ErrNoSession error = app.NotFound("This session has ended already.", "Phiên đăng nhập này đã kết thúc.")

// A device is a browser in which a user has signed in before, as its token
// proves. To sign in still takes the password, but wrong passwords that others
// enter elsewhere can't use up the device's attempts.
//
// Only the browser keeps the token. It is random, and signed with the hash of
// the user's password over their id and generation. So it ends with the password,
// with signing out everywhere and with the user, and never belongs to another
// user.

// deviceNonce is the length of the random part of a token, in bytes.
const deviceNonce = 26

func deviceToken(nonce string, u User, hash string) string {
	mac := hmac.New(sha256.New, []byte(hash))
	fmt.Fprintf(mac, "baoco device v1\n%d\n%d\n%s", u.ID, u.Generation, nonce)
	return nonce + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// NewDevice makes the token of a device on which u has just signed in.
func (s *Service) NewDevice(ctx context.Context, u User) (string, error) {
	now, hash, ok, err := s.store.UserByName(ctx, u.Name)
	if err == nil && (!ok || now.ID != u.ID || now.Generation != u.Generation) {
		err = ErrNoUser // removed or signed out at this moment
	}
	if err != nil {
		return "", err
	}
	return deviceToken(rand.Text(), u, hash), nil
}

// KnownDevice gives the token among tokens that belongs to a device of the user
// with this name; empty if there is none, or no such user.
func (s *Service) KnownDevice(ctx context.Context, name string, tokens []string) (string, error) {
	if len(tokens) == 0 {
		return "", nil
	}
	u, hash, ok, err := s.store.UserByName(ctx, name)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(tokens, func(token string) bool {
		return len(token) > deviceNonce && hmac.Equal([]byte(token), []byte(deviceToken(token[:deviceNonce], u, hash)))
	})
	if i < 0 || !ok {
		return "", nil
	}
	return tokens[i], nil
}

// SecondFactor is what a user has beside the password.
type SecondFactor struct {
	On            bool
	App           bool // an authenticator app
	RecoveryCodes int  // that are left
}

// TOTP is the authenticator app of a user.
type TOTP struct {
	Secret string
	Step   int64 // the last of which a code was used
}

// CheckPresent refuses a password that isn't the user's present one.
func (s *Service) CheckPresent(ctx context.Context, u User, present string) error {
	_, hash, ok, err := s.store.UserByName(ctx, u.Name)
	if err != nil {
		return err
	}
	if ok = ok && utf8.RuneCountInString(present) <= maxPassword; ok {
		ok, err = password.Matches(ctx, hash, present)
	}
	if err != nil {
		return busy(err)
	}
	if !ok {
		return app.InvalidField("present_password", "is incorrect", "không đúng")
	}
	return nil
}

// TOTPCreate is an authenticator app that a user sets up, with recovery codes.
type TOTPCreate struct {
	TOTP
	Codes [][32]byte         // the hashes of the recovery codes
	Key   app.IdempotencyKey // ErrFormUsed where it was used before
}

// SecondFactorCreate is an authenticator app as a user enters it.
type SecondFactorCreate struct {
	Secret, Code string
	Present      string             // the user's password
	Key          app.IdempotencyKey // ErrFormUsed where it was used before
}

// SetUpSecondFactor gives a user an authenticator app, in place of an earlier one, once
// a code proves that the app has the secret. It gives the recovery codes, which are
// never known again, and the user with a new generation: whoever signed in with the
// password alone is signed out.
func (s *Service) SetUpSecondFactor(ctx context.Context, u User, in SecondFactorCreate, now time.Time) (User, []string, error) {
	if !secondfactor.ValidSecret(in.Secret) {
		return u, nil, app.Refused(app.CodeValidation, app.Text{
			EN: "This secret is not one that baoco made. Load the page again.",
			VI: "Khoá bí mật này không phải do baoco tạo. Hãy tải lại trang.",
		})
	}
	step, ok := secondfactor.Step(in.Secret, in.Code, 0, now)
	if !ok {
		return u, nil, errWrongCode
	}
	if err := s.CheckPresent(ctx, u, in.Present); err != nil {
		return u, nil, err
	}
	codes, hashes := newRecoveryCodes(u)
	u, err := s.store.SetTOTP(ctx, u, TOTPCreate{TOTP: TOTP{in.Secret, step}, Codes: hashes, Key: in.Key}, now)
	return u, codes, err
}

// NewRecoveryCodes makes recovery codes in place of those that are left.
func (s *Service) NewRecoveryCodes(ctx context.Context, u User, present string, key app.IdempotencyKey, now time.Time) ([]string, error) {
	if err := s.CheckPresent(ctx, u, present); err != nil {
		return nil, err
	}
	codes, hashes := newRecoveryCodes(u)
	return codes, s.store.SetRecoveryCodes(ctx, u, hashes, key, now)
}

func newRecoveryCodes(u User) (codes []string, hashes [][32]byte) {
	codes = secondfactor.NewRecoveryCodes()
	for _, code := range codes {
		hash, _ := secondfactor.RecoveryHash(u.ID, code)
		hashes = append(hashes, hash)
	}
	return codes, hashes
}

// EndSecondFactor switches it off for a user who enters the password. CodeConflict
// where the account demands one.
func (s *Service) EndSecondFactor(ctx context.Context, u User, present string) (User, error) {
	if err := s.CheckPresent(ctx, u, present); err != nil {
		return u, err
	}
	account, err := s.ledger.Account(ctx, u.AccountID)
	if err == nil && account.NeedsSecondFactor {
		err = app.Conflict("The owner demands a second factor of everybody, so yours stays on. You can set up another app in place of this one.",
			"Chủ cửa hàng yêu cầu mọi người dùng bước xác thực thứ hai nên không tắt được. Bạn có thể cài ứng dụng khác thay cho ứng dụng này.")
	}
	if err != nil {
		return u, err
	}
	return s.store.RemoveSecondFactor(ctx, u.AccountID, u.ID)
}

// DemandSecondFactor says whether every user of the account of u, who is an owner,
// must have a second factor. CodeConflict where u has none; to end the demand u enters the
// password.
func (s *Service) DemandSecondFactor(ctx context.Context, u User, demand bool, present string) error {
	if !demand {
		if err := s.CheckPresent(ctx, u, present); err != nil {
			return err
		}
	}
	if demand && !u.SecondFactor {
		return app.Conflict("Set up your own second factor first.", "Trước hết hãy bật bước xác thực thứ hai cho chính bạn.")
	}
	return s.store.SetNeedsSecondFactor(ctx, u.AccountID, demand)
}

// CheckCode checks a code of the app of u, or a recovery code, and uses it up.
func (s *Service) CheckCode(ctx context.Context, u User, code string, now time.Time) error {
	used, err := s.useCode(ctx, u, code, now)
	if err != nil {
		return err
	}
	if !used {
		s.store.NoteRefusedSignIn(ctx, u)
		return errWrongCode
	}
	return s.store.NoteSignIn(ctx, u, now)
}

// useCode uses up a code of u; false where it is none.
func (s *Service) useCode(ctx context.Context, u User, code string, now time.Time) (bool, error) {
	if hash, ok := secondfactor.RecoveryHash(u.ID, code); ok {
		return s.store.UseRecoveryCode(ctx, u, hash)
	}
	app, ok, err := s.store.TOTP(ctx, u.ID)
	if err != nil {
		return false, err
	}
	if step, right := secondfactor.Step(app.Secret, code, app.Step, now); ok && right {
		return s.store.UseTOTPStep(ctx, u.ID, step)
	}
	return false, nil
}

// ProveByCode uses up a code of the user with a name before the password is known: so
// whoever has the app is told from the strangers who try passwords. false where the code is
// wrong, or there is no such user.
func (s *Service) ProveByCode(ctx context.Context, name, code string, now time.Time) (bool, error) {
	u, _, ok, err := s.store.UserByName(ctx, name)
	if err != nil || !ok || !u.SecondFactor {
		return false, err
	}
	return s.useCode(ctx, u, code, now)
}

// SignInProved is SignIn for who was right in ProveByCode: with the password they are signed
// in.
func (s *Service) SignInProved(ctx context.Context, name, secret string, now time.Time) (User, error) {
	u, err := s.SignIn(ctx, name, secret, true, now)
	if err == nil && u.SecondFactor {
		err = s.store.NoteSignIn(ctx, u, now)
	}
	return u, err
}

var errWrongCode = app.InvalidField("code",
	"is wrong, or was used before. Check that the clock of your phone is right, and enter the next code",
	"không đúng hoặc đã được dùng. Hãy kiểm tra đồng hồ điện thoại rồi nhập mã tiếp theo")

// Passkey is a key on a phone, computer or security key of a user, or in their password
// manager. It signs in by itself: whoever uses it has unlocked the device by a
// fingerprint, face or PIN. It belongs to the host that it was made for.
type Passkey struct {
	ID         int64
	UserID     int64
	Name       string
	Host       string
	CreatedAt  time.Time
	LastUsedAt time.Time // zero: never
	passkey.Credential
}

// MaxPasskeys is how many a user may have.
const MaxPasskeys = 10

// PasskeyCreate is a passkey that a browser has made.
type PasskeyCreate struct {
	Name    string
	Place   passkey.Place
	Answer  string             // of the browser
	Present string             // the user's password
	Key     app.IdempotencyKey // ErrFormUsed where it was used before
}

// The challenges for a new passkey of a user, and for signing in: anybody, or the user
// whose password was right.
func addingPasskey(userID int64) string { return "add " + strconv.FormatInt(userID, 10) }
func usingPasskey(userID int64) string  { return "use " + strconv.FormatInt(userID, 10) }

// NewPasskeyOptions is what a browser needs to make a passkey of u.
func (s *Service) NewPasskeyOptions(ctx context.Context, u User, place passkey.Place, now time.Time) (options any, err error) {
	has, err := s.passkeysAt(ctx, u, place)
	return passkey.CreationOptions(place, s.challenges.New(addingPasskey(u.ID), now), passkeyOwner(u), has), err
}

// PasskeyOptions is what a browser needs to sign in with a passkey: of u, whose password
// was right, or of anybody where u is zero.
func (s *Service) PasskeyOptions(ctx context.Context, u User, place passkey.Place, now time.Time) (options any, err error) {
	has, err := s.passkeysAt(ctx, u, place)
	return passkey.RequestOptions(place, s.challenges.New(usingPasskey(u.ID), now), has), err
}

func (s *Service) passkeysAt(ctx context.Context, u User, place passkey.Place) (has []passkey.Credential, err error) {
	list, err := s.store.Passkeys(ctx, u.ID)
	for _, p := range list {
		if p.Host == place.Host {
			has = append(has, p.Credential)
		}
	}
	return has, err
}

// passkeyOwner is what a device keeps of a user. A device has one passkey for each host
// and handle, so the handle differs between installations that share a host.
func passkeyOwner(u User) passkey.Owner {
	sum := sha256.Sum256(fmt.Appendf(nil, "baoco user v1\n%d\n%d\n%s", u.ID, u.CreatedAt.Unix(), u.Name))
	return passkey.Owner{Handle: sum[:16], Name: u.Name}
}

// AddPasskey adds a passkey to a user, who gets a new generation, as from
// SetUpSecondFactor. codes are the recovery codes of a user who had no second factor;
// others keep theirs.
func (s *Service) AddPasskey(ctx context.Context, u User, in PasskeyCreate, now time.Time) (_ User, codes []string, _ error) {
	name, err := app.CleanName("name", in.Name)
	if err == nil {
		err = s.CheckPresent(ctx, u, in.Present)
	}
	if err != nil {
		return u, nil, err
	}
	c, challenge, err := passkey.Created(in.Place, passkeyOwner(u), in.Answer)
	if err != nil {
		return u, nil, passkeyRefusal(err)
	}
	if !s.challenges.Use(challenge, addingPasskey(u.ID), now) {
		return u, nil, errPasskeyLate
	}
	codes, hashes := newRecoveryCodes(u)
	p := Passkey{UserID: u.ID, Name: name, Host: in.Place.Host, CreatedAt: now, Credential: c}
	u, first, err := s.store.AddPasskey(ctx, u, p, hashes, in.Key)
	if !first {
		codes = nil
	}
	return u, codes, err
}

// RenamePasskey gives a passkey of u another name.
func (s *Service) RenamePasskey(ctx context.Context, u User, id int64, name string) error {
	name, err := app.CleanName("name", name)
	if err != nil {
		return err
	}
	return s.store.RenamePasskey(ctx, u, id, name)
}

// EndPasskey removes a passkey of a user who enters the password, and signs them out
// elsewhere. CodeConflict where it is all that the user has of the second factor which
// the account demands.
func (s *Service) EndPasskey(ctx context.Context, u User, id int64, present string) (User, error) {
	if err := s.CheckPresent(ctx, u, present); err != nil {
		return u, err
	}
	return s.store.RemovePasskey(ctx, u, id)
}

// SignInPasskey signs in whose passkey has answered: u, whose password was right, or
// anybody where u is zero.
func (s *Service) SignInPasskey(ctx context.Context, u User, place passkey.Place, text string, now time.Time) (User, error) {
	answer, err := passkey.Read(text)
	if err != nil {
		return u, passkeyRefusal(err)
	}
	p, owner, ok, err := s.store.PasskeyByCredential(ctx, answer.ID)
	if err != nil {
		return u, err
	}
	if !ok || p.Host != place.Host || u.ID != 0 && u.ID != owner.ID {
		return u, errOtherPasskey
	}
	count, err := answer.Signed(place, passkeyOwner(owner), p.Credential)
	if err != nil {
		err = passkeyRefusal(err)
	} else if !s.challenges.Use(answer.Challenge, usingPasskey(u.ID), now) {
		err = errPasskeyLate
	} else if err = s.store.UsePasskey(ctx, p.ID, count, now); err == nil {
		return owner, s.store.NoteSignIn(ctx, owner, now)
	}
	s.store.NoteRefusedSignIn(ctx, owner)
	return u, err
}

func passkeyRefusal(err error) error {
	if errors.Is(err, passkey.ErrNotVerified) {
		return app.Refused(app.CodeUnauthorized, app.Text{
			EN: "Your device did not ask for a fingerprint, face or PIN. Set up a screen lock on it, then try again.",
			VI: "Thiết bị không hỏi vân tay, khuôn mặt hay mã PIN. Hãy bật khoá màn hình trên thiết bị rồi thử lại.",
		})
	}
	if errors.Is(err, passkey.ErrPlace) {
		return app.Refused(app.CodeUnauthorized, app.Text{
			EN: "This passkey was used at another address than this page’s. Check the address of the page: somebody may have copied it.",
			VI: "Passkey này được dùng ở địa chỉ khác với trang này. Hãy kiểm tra địa chỉ trang: có thể ai đó đã làm giả.",
		})
	}
	if errors.Is(err, passkey.ErrMoved) {
		return errPasskeyMoved
	}
	return app.Refused(app.CodeUnauthorized,
		app.Text{EN: "This passkey was not accepted. Try again.", VI: "Passkey không được chấp nhận. Hãy thử lại."})
}

var (
	errPasskeyLate = app.Refused(app.CodeUnauthorized, app.Text{
		EN: "This took longer than five minutes, or was sent twice. Try again.", VI: "Đã quá năm phút, hoặc yêu cầu bị gửi hai lần. Hãy thử lại.",
	})
	errPasskeyMoved = app.Refused(app.CodeUnauthorized, app.Text{
		EN: "This passkey was moved to a device or program of another kind since it was added, so it was not accepted. " +
			"Sign in another way, remove it, and add a new one.",
		VI: "Từ khi được thêm, passkey này đã được chuyển sang thiết bị hoặc chương trình loại khác nên không được chấp nhận. " +
			"Hãy đăng nhập bằng cách khác, xoá passkey này rồi thêm passkey mới.",
	})
	errOtherPasskey = app.Refused(app.CodeUnauthorized, app.Text{
		EN: "This passkey doesn’t belong to a user here. It may have been removed: use another way to sign in.",
		VI: "Passkey này không thuộc người dùng nào ở đây. Có thể nó đã bị xoá: hãy đăng nhập bằng cách khác.",
	})

	// ErrPasskeyCopied refuses a passkey whose count went back: somebody has another
	// copy of it.
	ErrPasskeyCopied error = app.Refused(app.CodeUnauthorized, app.Text{
		EN: "The count of this passkey went back: there may be a copy of it. It was not accepted. " +
			"Sign in another way, remove it, and add a new one.",
		VI: "Số đếm của passkey này bị lùi lại: có thể đã có bản sao. Lần đăng nhập này không được chấp nhận. " +
			"Hãy đăng nhập bằng cách khác, xoá passkey này rồi thêm passkey mới.",
	})
	// ErrNoPasskey says that an id names no passkey of the user.
	ErrNoPasskey error = app.NotFound("This passkey has been removed.", "Passkey này đã bị xoá.")
	// ErrSamePasskey refuses a passkey that is there already.
	ErrSamePasskey error = app.Refused(app.CodeAlreadyExists,
		app.Text{EN: "This passkey was added before.", VI: "Passkey này đã được thêm rồi."})
	// ErrTooManyPasskeys refuses more than MaxPasskeys.
	ErrTooManyPasskeys error = app.Refused(app.CodeLimitReached,
		app.Text{EN: "You have ten passkeys already. Remove one first.", VI: "Bạn đã có mười passkey. Hãy xoá bớt trước."})
	// ErrLastFactor refuses to remove all that a user has of a second factor which the
	// account demands.
	ErrLastFactor error = app.Conflict(
		"The owner demands a second factor of everybody, and this passkey is all that you have. Add another or an authenticator app first.",
		"Chủ cửa hàng yêu cầu mọi người dùng bước xác thực thứ hai, mà bạn chỉ có passkey này. Trước hết hãy thêm passkey khác hoặc ứng dụng "+
			"xác thực.")
)
