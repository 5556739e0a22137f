package dashboard

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/secondfactor"
	"baoco/web/wire"
)

// askToSignIn sends a visitor to the sign-in page, and back afterwards: to the page
// that they asked for, or to that of the form which they sent. A stream can't show
// another page: its page loads itself anew at 401.
func (s *Server) askToSignIn(v *visit, p page) {
	if strings.HasPrefix(v.URL.Path, livePath) {
		v.w.WriteHeader(http.StatusUnauthorized)
		return
	}
	query := url.Values{}
	if back := v.formPage(p); back != "/" {
		query.Set("back", back)
	}
	if v.Method == http.MethodPost {
		query.Set("unsaved", "1")
	}
	to := url.URL{Path: "/login", RawQuery: query.Encode()}
	http.Redirect(v.w, v.Request, to.String(), http.StatusSeeOther)
}

// formPage is the page at which an action's form stands: that of its row, else the one
// named new below the path of the action, the page at that path, or the nearest above it.
// Of a page it is the page.
func (v *visit) formPage(p page) string {
	if v.Method != http.MethodPost {
		return v.pathBack()
	}
	hasForm := func(other page) bool { return other.Method == http.MethodGet && other.Path == p.Path+"/new" }
	if slices.ContainsFunc(table, hasForm) {
		return p.Path + "/new"
	}
	return cmp.Or(p.kind.form, v.pathBack())
}

// signInForm is what the sign-in page shows. Unsaved says that the visitor sent a
// form after their session had ended; static/draft.js fills it in again.
type signInForm struct {
	Name, Back string
	Unsaved    bool
	AsksCode   bool // others have used up the turns of the name
	Place      passkeyPlace
}

func (s *Server) signInPage(v *visit) error {
	if v.user.ID != 0 {
		return s.redirect(v, localPath(v.URL.Query().Get("back")), app.Text{})
	}
	return s.showSignIn(v, signInForm{Back: localPath(v.URL.Query().Get("back")), Unsaved: v.URL.Query().Get("unsaved") == "1"}, nil)
}

func (s *Server) showSignIn(v *visit, form signInForm, wrong error) error {
	form.Place = placeOf(v)
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
	if err == nil {
		err = s.begin(v, u)
	}
	if err != nil {
		return s.showSignIn(v, form, err)
	}
	return s.redirect(v, form.Back, form.flash())
}

// flash is for the page after the sign-in.
func (f signInForm) flash() app.Text {
	if !f.Unsaved {
		return app.Text{}
	}
	return app.Text{
		EN: "You are signed in again. What you sent before was not saved: check it and send it again. Passwords and files must be entered anew.",
		VI: "Bạn đã đăng nhập lại. Nội dung vừa gửi chưa được lưu: hãy kiểm tra rồi gửi lại. Mật khẩu và tệp phải nhập lại.",
	}
}

// checkSignIn checks a name and a password within the throttle, and returns the
// user. proved says that the second factor was right too.
func (s *Server) checkSignIn(v *visit, name, secret, code string) (u access.User, proved bool, err error) {
	if len(name) > access.MaxUserName { // no user has such a name
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

// begin signs u in under a new token, so that a token that somebody else has put
// into the browser is worth nothing. Nothing of the session before is kept: its
// flash may be for another user. The browser becomes a device of u.
func (s *Server) begin(v *visit, u access.User) error {
	if err := errors.Join(s.sessions.Clear(v.Context()), s.sessions.RenewToken(v.Context())); err != nil {
		return err
	}
	s.sessions.Put(v.Context(), "user", u.ID)
	s.describeSession(v, u)
	return s.rememberDevice(v, u)
}

func (s *Server) signOut(v *visit) error {
	if err := s.sessions.Destroy(v.Context()); err != nil {
		return err
	}
	http.Redirect(v.w, v.Request, "/login", http.StatusSeeOther)
	return nil
}

// setUpForm is what the set-up page shows.
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
	form := setUpForm{Token: v.PathValue("token"), Name: strings.ToLower(strings.TrimSpace(v.PostFormValue("name")))}
	secret, err := repeatedPassword(v)
	var u access.User
	if err == nil {
		u, err = s.Services.Access.SetUp(v.Context(), form.Token, form.Name, secret, v.now)
	}
	if err == nil {
		err = s.begin(v, u)
	}
	if err != nil {
		return s.showSetUp(v, form, err)
	}
	return s.redirect(v, guidePath, app.Text{EN: "Welcome! Next, link your first bank account.",
		VI: "Chào mừng bạn! Tiếp theo, hãy liên kết tài khoản ngân hàng đầu tiên."})
}

// repeatedPassword is the new password that a form has twice.
func repeatedPassword(v *visit) (string, error) {
	password := v.PostFormValue("password")
	if password != v.PostFormValue("password_again") {
		return "", app.Refused(app.CodeValidation, app.Text{EN: "The passwords do not match.", VI: "Hai mật khẩu không khớp nhau."})
	}
	return password, nil
}

// The cookie of a device holds the tokens of the users who signed in there last,
// with a dot between them.
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

// devices are the tokens that a browser sends. They aren't checked yet.
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

// signInThrottle bounds how often a password can be guessed. Guessing is slow,
// and the owner of the password can sign in all the same:
//
//   - A stranger takes a token of their address first, and only then one of the
//     name. A name's bucket is six times an address's and fills four times as
//     fast, so that no single address can empty it.
//   - A device on which the user signed in before has a bucket of its own. The
//     guesses of others under the name, or from the same address, don't count
//     there.
//   - On a new device the code of the user's app, a recovery code or a passkey is as good:
//     who brings one takes no token of the name. A code of the app is one of a million of
//     which three count, so a name has a bucket for them, of which hardly anything comes
//     back: whoever knows the password can't try them all from many addresses. Where
//     strangers have emptied it, recovery codes and passkeys still count: nobody guesses them.
//
// So strangers have at most 80 guesses under one name within any minute and
// 28,860 within any day, however many addresses they have, and 15 and 7,210
// from one address. Each device adds 15 and 7,210 for whoever holds it. Of the app's
// codes before the password they have 2,440 within any day under one name.
type signInThrottle struct {
	addresses wire.Buckets[netip.Prefix]
	names     wire.Buckets[[sha256.Size]byte]
	early     wire.Buckets[[sha256.Size]byte] // codes before the password, by name
	devices   wire.Buckets[string]            // by the token of the device
	users     wire.Buckets[int64]
	codes     wire.Buckets[codeGuesser]
	passkeys  wire.Buckets[netip.Prefix]
}

var (
	addressPace = wire.Pace{Burst: 10, PerMinute: 5}
	namePace    = wire.Pace{Burst: 60, PerMinute: 20}
	devicePace  = addressPace
	earlyPace   = wire.Pace{Burst: 1000, PerMinute: 1}
)

func (t *signInThrottle) byAddress(client netip.Prefix, now time.Time) bool {
	_, _, may := t.addresses.Take(client, addressPace, now)
	return may
}

func (t *signInThrottle) byName(name string, now time.Time) bool {
	_, _, may := t.names.Take(sha256.Sum256([]byte(name)), namePace, now)
	return may
}

// byEarlyCode tells whether a code may be tried before the password.
func (t *signInThrottle) byEarlyCode(name, code string, now time.Time) bool {
	if secondfactor.IsRecoveryCode(code) {
		return true
	}
	_, _, may := t.early.Take(sha256.Sum256([]byte(name)), earlyPace, now)
	return may
}

func (t *signInThrottle) onDevice(token string, now time.Time) bool {
	_, _, may := t.devices.Take(token, devicePace, now)
	return may
}

// bySignedIn is for a signed-in user who is asked for the password once more.
func (t *signInThrottle) bySignedIn(userID int64, now time.Time) bool {
	_, _, may := t.users.Take(userID, devicePace, now)
	return may
}

var errTooManyGuesses = app.Refused(app.CodeRateLimited, app.Text{
	EN: "Too many attempts. Wait a minute, then try again.", VI: "Bạn đã thử quá nhiều lần. Hãy đợi một phút rồi thử lại.",
})
