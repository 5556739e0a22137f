package dashboard

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/web/wire"
)

// signInForm is the sign-in page. Unsaved: the visitor sent a form after their session had
// ended; static/draft.js fills that form in again.
type signInForm struct {
	Name, Back string
	Unsaved    bool
	AsksCode   bool // others have used up the guesses under the name
	Place      passkeyPlace
	Shop       string // empty: the shop has no name, or there are several accounts
}

func (s *Server) signInPage(v *visit) error {
	if v.user.ID != 0 {
		return s.redirect(v, localPath(v.URL.Query().Get("back")), app.Text{})
	}
	return s.showSignIn(v, signInForm{Back: localPath(v.URL.Query().Get("back")), Unsaved: v.URL.Query().Get("unsaved") == "1"}, nil)
}

func (s *Server) showSignIn(v *visit, form signInForm, wrong error) error {
	form.Place = placeOf(v)
	accounts, err := s.Services.Ledger.Accounts(v.Context())
	if err != nil {
		return err
	}
	if len(accounts) == 1 {
		form.Shop = accounts[0].ShopName("")
	}
	return s.render(v, wrong, pageHead{"login", "", app.Text{EN: "Sign in", VI: "Đăng nhập"}}, form)
}

func (s *Server) signIn(v *visit) error {
	form := signInForm{Name: strings.ToLower(strings.TrimSpace(v.PostFormValue("name"))), Back: localPath(v.PostFormValue("back")),
		Unsaved: v.PostFormValue("unsaved") == "1"}
	u, proved, err := s.checkSignIn(v, form.Name, v.PostFormValue("password"), v.PostFormValue("code"))
	form.AsksCode = app.CodeOf(err) == app.CodeRateLimited
	if err == nil && u.SecondFactor && !proved {
		return s.beginHalfway(v, u, form)
	}
	err = s.begin(v, u, err)
	if err != nil {
		return s.showSignIn(v, form, err)
	}
	return s.redirect(v, form.Back, form.flash())
}

// flash is the flash for the page after the sign-in.
func (f signInForm) flash() app.Text {
	if !f.Unsaved {
		return app.Text{}
	}
	return app.Text{
		EN: "You are signed in again. What you sent before was not saved: check it and send it again. Passwords and files must be entered again.",
		VI: "Bạn đã đăng nhập lại. Nội dung vừa gửi chưa được lưu: hãy kiểm tra rồi gửi lại. Mật khẩu và tệp phải nhập lại.",
	}
}

// checkSignIn checks a name and a password within the throttle, and returns the
// user. proved says that the second factor was right too.
func (s *Server) checkSignIn(v *visit, name, secret, code string) (u access.User, proved bool, err error) {
	if len(name) > access.MaxUserName { // no user has so long a name
		return u, false, access.ErrSignIn
	}
	device, err := s.Services.Access.KnownDevice(v.Context(), name, s.devices(v.Request))
	if err != nil {
		return u, false, err
	}
	may := false
	if device != "" {
		may = s.throttle.onDevice(device, v.now)
	} else if may = s.throttle.byAddress(s.Client(v.Request), v.now); may && code != "" && s.throttle.byEarlyCode(name, code, v.now) {
		proved, err = s.Services.Access.ProveByCode(v.Context(), name, code, v.now)
	}
	if may && device == "" && !proved {
		may = s.throttle.byName(name, v.now)
	}
	switch {
	case err != nil:
	case !may:
		err = errTooManyGuesses
	case proved:
		u, err = s.Services.Access.SignInProved(v.Context(), name, secret, v.now)
	default:
		u, err = s.Services.Access.SignIn(v.Context(), name, secret, device != "", v.now)
	}
	return u, proved, err
}

// begin signs u in under a new token, so that a token that somebody else has put into the
// browser is useless. It drops the session before, since its flash may be for another
// user. The browser becomes a device of u. If the caller's check returned an error, refused
// has it: begin returns it and signs nobody in.
func (s *Server) begin(v *visit, u access.User, refused error) error {
	if refused != nil {
		return refused
	}
	if err := errors.Join(s.sessions.Clear(v.Context()), s.sessions.RenewToken(v.Context())); err != nil {
		return err
	}
	s.sessions.Put(v.Context(), "user", u.ID)
	s.describeSession(v, u)
	return s.rememberDevice(v, u)
}

func (s *Server) signOut(v *visit) error {
	if err := errors.Join(s.forgetPhone(v), s.sessions.Destroy(v.Context())); err != nil {
		return err
	}
	http.Redirect(v.w, v.Request, "/login", http.StatusSeeOther)
	return nil
}

type setUpForm struct {
	Token, Name string
}

func (s *Server) setUpPage(v *visit) error {
	open, err := s.Services.Access.SetUpOpen(v.Context(), v.PathValue("token"), v.now)
	if err == nil && !open {
		err = access.ErrSetUpEnded
	}
	if err != nil {
		return err
	}
	return s.showSetUp(v, setUpForm{Token: v.PathValue("token")}, nil)
}

func (s *Server) showSetUp(v *visit, form setUpForm, wrong error) error {
	return s.render(v, wrong, pageHead{"setup", "", app.Text{EN: "Welcome", VI: "Chào mừng"}}, form)
}

func (s *Server) setUp(v *visit) error {
	form := setUpForm{Token: v.PathValue("token"), Name: v.PostFormValue("name")}
	secret, err := repeatedPassword(v)
	var u access.User
	if err == nil {
		u, err = s.Services.Access.SetUp(v.Context(), form.Token, userName(form.Name), secret, v.now)
	}
	err = s.begin(v, u, err)
	if err != nil {
		return s.showSetUp(v, form, err)
	}
	return s.redirect(v, guidePath, app.Textf("Welcome! You sign in as %s. Next, link your first bank account.",
		"Chào mừng bạn! Bạn đăng nhập bằng tên %s. Tiếp theo, hãy liên kết tài khoản ngân hàng đầu tiên.", u.Name))
}

// repeatedPassword is the new password, which the form must have twice.
func repeatedPassword(v *visit) (string, error) {
	password := v.PostFormValue("password")
	if password != v.PostFormValue("password_again") {
		return "", app.Refused(app.CodeValidation, app.Text{EN: "The passwords do not match.", VI: "Hai mật khẩu không khớp nhau."})
	}
	return password, nil
}

// The cookie of a device holds the tokens of the users who signed in there last, with dots
// between them.
const (
	devicesKept    = 5 // users of one browser
	deviceLifetime = 400 * 24 * time.Hour
)

func deviceCookie(r *http.Request) string {
	if wire.Secure(r) {
		return "__Host-baoco-device"
	}
	return "baoco-device"
}

// devices are the device tokens that a browser sends, unchecked.
func (s *Server) devices(r *http.Request) []string {
	c, err := r.Cookie(deviceCookie(r))
	if err != nil || c.Value == "" {
		return nil
	}
	tokens := strings.Split(c.Value, ".")
	return tokens[:min(len(tokens), devicesKept)]
}

// rememberDevice makes the browser a device of u, who has just signed in there.
func (s *Server) rememberDevice(v *visit, u access.User) error {
	tokens := s.devices(v.Request)
	token, err := s.Services.Access.KnownDevice(v.Context(), u.Name, tokens)
	if err == nil && token == "" {
		token, err = s.Services.Access.NewDevice(v.Context(), u)
	}
	if err != nil {
		return err
	}
	tokens = append([]string{token}, slices.DeleteFunc(tokens, func(t string) bool { return t == token })...)
	http.SetCookie(v.w, &http.Cookie{
		Name: deviceCookie(v.Request), Value: strings.Join(tokens[:min(len(tokens), devicesKept)], "."), Path: "/",
		MaxAge: int(deviceLifetime / time.Second), HttpOnly: true, Secure: wire.Secure(v.Request), SameSite: http.SameSiteLaxMode,
	})
	return nil
}
