package app

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

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
var ErrNoSession error = NotFound("This session has ended already.", "Phiên đăng nhập này đã kết thúc.")

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

// SecondFactor is what a user enters beside the password.
type SecondFactor struct {
	On            bool
	RecoveryCodes int // that are left
}

// TOTP is the authenticator app of a user.
type TOTP struct {
	Secret string
	Step   int64 // the last of which a code was used
}

// checkPresent refuses a password that isn't the user's present one.
func (s *Service) checkPresent(ctx context.Context, u User, present string) error {
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
		return InvalidField("present_password", "is incorrect", "không đúng")
	}
	return nil
}

// SetUpSecondFactor gives a user an authenticator app, in place of an earlier one, once
// a code proves that the app has the secret. It gives the recovery codes, which are
// never known again, and the user with a new generation: whoever signed in with the
// password alone is signed out.
func (s *Service) SetUpSecondFactor(ctx context.Context, u User, present, secret, code string, key IdempotencyKey, now time.Time) (User, []string, error) {
	if !secondfactor.ValidSecret(secret) {
		return u, nil, Refused(CodeValidation, Text{"This secret is not one that baoco made. Load the page again.", "Khoá bí mật này không phải do baoco tạo. Hãy tải lại trang."})
	}
	step, ok := secondfactor.Step(secret, code, 0, now)
	if !ok {
		return u, nil, errWrongCode
	}
	if err := s.checkPresent(ctx, u, present); err != nil {
		return u, nil, err
	}
	codes, hashes := newRecoveryCodes(u)
	u, err := s.store.SetTOTP(ctx, u, TOTP{secret, step}, hashes, key, now)
	return u, codes, err
}

// NewRecoveryCodes makes recovery codes in place of those that are left.
func (s *Service) NewRecoveryCodes(ctx context.Context, u User, present string, key IdempotencyKey, now time.Time) ([]string, error) {
	if err := s.checkPresent(ctx, u, present); err != nil {
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
	if err := s.checkPresent(ctx, u, present); err != nil {
		return u, err
	}
	account, err := s.store.Account(ctx, u.AccountID)
	if err == nil && account.NeedsSecondFactor {
		err = Refused(CodeConflict, Text{
			"The owner demands a second factor of everybody, so yours stays on. You can set up another app in place of this one.",
			"Chủ cửa hàng yêu cầu mọi người dùng bước xác thực thứ hai nên không tắt được. Bạn có thể cài ứng dụng khác thay cho ứng dụng này.",
		})
	}
	if err != nil {
		return u, err
	}
	return s.store.RemoveSecondFactor(ctx, u.AccountID, u.ID)
}

// DemandSecondFactor says whether every user of the account of u, who is an owner,
// must have a second factor. CodeConflict where u has none.
func (s *Service) DemandSecondFactor(ctx context.Context, u User, demand bool) error {
	if demand && !u.SecondFactor {
		return Refused(CodeConflict, Text{"Set up your own second factor first.", "Trước hết hãy bật bước xác thực thứ hai cho chính bạn."})
	}
	return s.store.SetNeedsSecondFactor(ctx, u.AccountID, demand)
}

// CheckCode checks a code of the app of u, or a recovery code, and uses it up.
func (s *Service) CheckCode(ctx context.Context, u User, code string, now time.Time) error {
	used := false
	if hash, ok := secondfactor.RecoveryHash(u.ID, code); ok {
		var err error
		if used, err = s.store.UseRecoveryCode(ctx, u, hash); err != nil {
			return err
		}
	} else {
		app, ok, err := s.store.TOTP(ctx, u.ID)
		if err != nil {
			return err
		}
		if step, right := secondfactor.Step(app.Secret, code, app.Step, now); ok && right {
			if used, err = s.store.UseTOTPStep(ctx, u.ID, step); err != nil {
				return err
			}
		}
	}
	if !used {
		s.store.NoteRefusedSignIn(ctx, u)
		return errWrongCode
	}
	return s.store.NoteSignIn(ctx, u, now)
}

var errWrongCode = InvalidField("code", "is wrong, or was used before. Check that the clock of your phone is right, and enter the next code",
	"không đúng hoặc đã được dùng. Hãy kiểm tra đồng hồ điện thoại rồi nhập mã tiếp theo")
