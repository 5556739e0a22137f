package access

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/passkey"
)

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
