package dashboard

import (
	"encoding/base64"
	"errors"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/secondfactor"
	"baoco/app/vietqr"
)

// halfwayTime is how long a user may take for the second factor after the password.
const halfwayTime = 10 * time.Minute

// beginHalfway begins a halfway session of u, whose password was right, under a new token. A
// halfway session signs nobody in.
func (s *Server) beginHalfway(v *visit, u access.User, form signInForm) error {
	if err := errors.Join(s.sessions.Clear(v.Context()), s.sessions.RenewToken(v.Context())); err != nil {
		return err
	}
	s.describeSession(v, u)
	s.sessions.Put(v.Context(), "halfway", u.ID)
	s.sessions.Put(v.Context(), "back", form.Back)
	s.sessions.Put(v.Context(), "unsaved", form.Unsaved)
	s.sessions.SetDeadline(v.Context(), v.now.Add(halfwayTime))
	http.Redirect(v.w, v.Request, "/login/code", http.StatusSeeOther)
	return nil
}

// halfway is the user of a halfway session; zero if the session isn't halfway, or if the user
// has signed out everywhere meanwhile.
func (s *Server) halfway(v *visit) (access.User, error) {
	id := s.sessions.GetInt64(v.Context(), "halfway")
	if id == 0 {
		return access.User{}, nil
	}
	u, found, err := s.Services.Access.User(v.Context(), id)
	if err != nil || !found || u.Generation != s.sessions.GetInt64(v.Context(), "generation") {
		return access.User{}, err
	}
	return u, nil
}

func (s *Server) codePage(v *visit) error {
	u, err := s.halfway(v)
	if err != nil {
		return err
	}
	if u.ID == 0 {
		return s.redirect(v, "/login", app.Text{})
	}
	return s.showCode(v, u, nil)
}

// codeData is the page on which a user proves the second factor.
type codeData struct {
	signInForm // only its Place is set; the rest is in the session
	Passkeys   []access.Passkey
	Elsewhere  []string // the hosts of the passkeys that don't work here
}

func (s *Server) showCode(v *visit, u access.User, wrong error) (err error) {
	data := codeData{signInForm: signInForm{Place: placeOf(v)}}
	if data.Passkeys, err = s.Services.Access.Passkeys(v.Context(), u.ID); err != nil {
		return err
	}
	for _, p := range data.Passkeys {
		if p.Host != data.Place.Host && !slices.Contains(data.Elsewhere, p.Host) {
			data.Elsewhere = append(data.Elsewhere, p.Host)
		}
	}
	return s.render(v, wrong, pageHead{"code", "", app.Text{EN: "One more step", VI: "Còn một bước nữa"}}, data)
}

// enterCode signs the user of a halfway session in with a code.
func (s *Server) enterCode(v *visit) error {
	u, err := s.halfway(v)
	if err != nil {
		return err
	}
	if u.ID == 0 {
		return s.redirect(v, "/login", app.Text{})
	}
	device, err := s.Services.Access.KnownDevice(v.Context(), u.Name, s.devices(v.Request))
	if err != nil {
		return err
	}
	form := s.halfwayForm(v)
	if !s.throttle.byCode(u.ID, device, v.now) {
		err = errTooManyGuesses
	} else {
		err = s.Services.Access.CheckCode(v.Context(), u, v.PostFormValue("code"), v.now)
	}
	err = s.begin(v, u, err)
	if err != nil {
		return s.showCode(v, u, err)
	}
	return s.redirect(v, form.Back, form.flash())
}

// halfwayForm is the part of the sign-in form that beginHalfway stored.
func (s *Server) halfwayForm(v *visit) signInForm {
	return signInForm{Back: localPath(s.sessions.GetString(v.Context(), "back")), Unsaved: s.sessions.GetBool(v.Context(), "unsaved")}
}

// signInData is the page of the second factor and the sessions.
type signInData struct {
	Refused  string // the form that was refused
	Factor   access.SecondFactor
	Secret   string // of the app that is being set up
	Name     string // of the passkey that is being added
	QR       template.URL
	Passkeys []access.Passkey
	Place    passkeyPlace
	Sessions []access.Session
	Ask      confirmation
}

func (s *Server) showSignInSettings(v *visit, data signInData, wrong error) (err error) {
	if data.Factor, err = s.Services.Access.SecondFactor(v.Context(), v.user.ID); err != nil {
		return err
	}
	if !secondfactor.ValidSecret(data.Secret) {
		data.Secret = secondfactor.NewSecret()
	}
	code, err := vietqr.Code(secondfactor.Address(v.Request.Host, v.user.Name, data.Secret))
	if err != nil {
		return err
	}
	data.QR = template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(code.PNG()))
	if data.Passkeys, err = s.Services.Access.Passkeys(v.Context(), v.user.ID); err != nil {
		return err
	}
	data.Place = placeOf(v)
	if data.Sessions, err = s.Services.Access.Sessions(v.Context(), v.account.ID, v.user.ID, s.storedToken(v), v.now); err != nil {
		return err
	}
	data.Ask = otherSignOut(v)
	return s.render(v, wrong, pageHead{"sign-in", "settings", app.Text{EN: "Sign-in security", VI: "Bảo mật đăng nhập"}}, data)
}

// checkPasswordForOwner checks the visitor's password before somebody becomes an owner, or another
// owner gets a password: a stranger at a browser that was left open must not be able to take
// over the account.
func (s *Server) checkPasswordForOwner(v *visit, role access.Role) error {
	if role != access.RoleOwner {
		return nil
	}
	return s.withPassword(v, func(present string) error { return s.Services.Access.CheckPresent(v.Context(), v.user, present) })
}

// withPassword calls do with the present password that the form holds, within the throttle.
func (s *Server) withPassword(v *visit, do func(present string) error) error {
	if !s.throttle.bySignedIn(v.user.ID, v.now) {
		return errTooManyGuesses
	}
	return do(v.PostFormValue("present_password"))
}

// setUpSecondFactor turns on the second factor, or changes it to another app.
func (s *Server) setUpSecondFactor(v *visit) error {
	var codes []string
	secret := v.PostFormValue("secret")
	err := s.withPassword(v, func(present string) error {
		u, made, err := s.Services.Access.SetUpSecondFactor(v.Context(), v.user, access.SecondFactorCreate{
			Secret: secret, Code: v.PostFormValue("code"), Present: present, Key: v.form.key,
		}, v.now)
		codes = made
		return s.begin(v, u, err)
	})
	if err != nil {
		return s.showSignInSettings(v, signInData{Refused: "app", Secret: secret}, err)
	}
	v.user.SecondFactor, v.user.MustEnrol = true, false
	return s.showRecoveryCodes(v, codes)
}

func (s *Server) newRecoveryCodes(v *visit) error {
	var codes []string
	err := s.withPassword(v, func(present string) (err error) {
		codes, err = s.Services.Access.NewRecoveryCodes(v.Context(), v.user, present, v.form.key, v.now)
		return err
	})
	if err != nil {
		return s.showSignInSettings(v, signInData{Refused: "codes"}, err)
	}
	return s.showRecoveryCodes(v, codes)
}

func (s *Server) showRecoveryCodes(v *visit, codes []string) error {
	return s.showOnce(v, "settings", app.Text{EN: "Recovery codes", VI: "Mã khôi phục"}, secretPage{
		Lead: v.T("Print these codes or write them down. Each of them signs you in once, after your password, if you don’t "+
			"have your phone at hand.",
			"Hãy in hoặc chép lại các mã này. Khi không có điện thoại bên mình, mỗi mã dùng được một lần để đăng nhập, sau mật khẩu."),
		Label: v.T("Recovery codes", "Mã khôi phục"), Secret: strings.Join(codes, "\n"), Back: signInPath,
	})
}

func (s *Server) endSecondFactor(v *visit) error {
	err := s.withPassword(v, func(present string) error {
		u, err := s.Services.Access.EndSecondFactor(v.Context(), v.user, present)
		return s.begin(v, u, err)
	})
	if err != nil {
		return s.showSignInSettings(v, signInData{Refused: "off"}, err)
	}
	return s.redirect(v, signInPath, app.Text{EN: "The second factor is off.", VI: "Đã tắt bước xác thực thứ hai."})
}

// demandSecondFactor sets whether every user of the account must have a second factor.
func (s *Server) demandSecondFactor(v *visit) (err error) {
	demand := v.PostFormValue("demand") == "1"
	set := func(present string) error {
		return s.Services.Access.DemandSecondFactor(v.Context(), v.user, demand, present)
	}
	if demand {
		err = set("")
	} else {
		err = s.withPassword(v, set)
	}
	if err != nil {
		return s.showSignInSettings(v, signInData{Refused: "demand"}, err)
	}
	if demand {
		return s.redirect(v, signInPath,
			app.Text{EN: "Everybody must set up a second factor now.", VI: "Từ giờ mọi người đều phải bật bước xác thực thứ hai."})
	}
	return s.redirect(v, signInPath, app.Text{EN: "A second factor is no longer demanded.", VI: "Không còn yêu cầu bước xác thực thứ hai."})
}

func (s *Server) endOwnSession(v *visit) error {
	return s.endSession(v, v.user.ID, v.PathValue("id"), signInPath)
}

// otherSignOut asks before all other sessions of the visitor end.
func otherSignOut(v *visit) confirmation {
	return confirmation{
		Path: signInPath + "/others", Back: signInPath, section: "settings",
		Title: v.T("End all other sessions?", "Kết thúc mọi phiên khác?"),
		Texts: []string{v.T("Every browser but this one asks you to sign in again.",
			"Mọi trình duyệt khác sẽ yêu cầu bạn đăng nhập lại, trừ trình duyệt này.")},
		Button: v.T("End all other sessions", "Kết thúc mọi phiên khác"),
		done:   app.Text{EN: "All other sessions have ended.", VI: "Đã kết thúc mọi phiên khác."},
	}
}

func (s *Server) endOtherSessions(v *visit) error {
	c := otherSignOut(v)
	c.do = func() error {
		u, err := s.Services.Access.EndSessions(v.Context(), v.account.ID, v.user.ID)
		return s.begin(v, u, err)
	}
	return s.confirm(v, c)
}
