package access

import (
	"context"
	"time"

	"baoco/app"
	"baoco/app/secondfactor"
)

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
